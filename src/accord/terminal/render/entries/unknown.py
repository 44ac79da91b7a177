"""Render unknown updates: named, and shown in full on demand.  Never dropped."""

from __future__ import annotations

from textual.strip import Strip

from accord.schema.struct import UnknownVariant
from accord.terminal.model.chat import Chat
from accord.terminal.model.labels.turn_activity import size_words
from accord.terminal.model.text.display_text import one_line
from accord.terminal.render.block import Block, CachedBlock, strip_of
from accord.terminal.render.json_lines import json_lines, json_text
from accord.terminal.render.markdown.inline import Run
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import shortened
from accord.transcript.unknown_variants import fields_of

# Members that are likely to be words for a user, in this order.
_WORDS = ("title", "text", "message", "name", "description", "content")


def unknown_line(variant: UnknownVariant, look: Look, what: str, indent: str = "") -> Strip:
    """One line: what it calls itself, and its first words where it has some."""
    palette = look.palette
    tag = one_line(variant.tag, 40) or "something"
    runs: list[Run] = [
        (f"{indent}{look.mark('◦', 'o')} ", palette.dim),
        (tag, palette.strong),
        (f"  {what}", palette.dim),
    ]
    members = fields_of(variant)
    said = next((members[key] for key in _WORDS if members.get(key)), "")
    runs.append(
        (f"  {one_line(said)}" if said else f"  {size_words(len(variant.raw))}", palette.dim)
    )
    return strip_of(*shortened(runs, look.width))


class UnknownBlock(CachedBlock[UnknownVariant]):
    """An update of a kind that we do not know."""

    is_foldable = True

    def lines(self, look: Look, chat: Chat) -> list[Strip]:
        del chat
        found = [unknown_line(self.entry, look, "unknown to this client")]
        if not self.folded:
            found += json_lines(self.entry.raw, look, indent="  ")
        return found

    def guess(self, look: Look) -> int:
        del look
        return 1 if self.folded else 12

    def text(self) -> str:
        return json_text(self.entry.raw)


def unknown_block(entry: UnknownVariant, chat: Chat) -> Block:
    """Any update that we do not know."""
    del chat
    return UnknownBlock(entry, folded=True)


__all__ = ["UnknownBlock", "unknown_block", "unknown_line"]

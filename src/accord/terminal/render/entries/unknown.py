"""Render unknown updates and entries: named, and shown in full on demand.  Never dropped."""

from __future__ import annotations

from textual.strip import Strip

from accord.schema.struct import UnknownVariant
from accord.terminal.model.chat import Chat, Entry
from accord.terminal.model.text.display_text import one_line
from accord.terminal.render.block import Block, CachedBlock
from accord.terminal.render.content.non_text_blocks import unknown_line
from accord.terminal.render.json_lines import json_lines, json_text
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import cut, strip_of


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


class GenericBlock(CachedBlock[Entry]):
    """The name of the kind and the first words of it."""

    def lines(self, look: Look, chat: Chat) -> list[Strip]:
        del chat
        mark = look.mark("◦ ", "o ")
        said = one_line(f"{type(self.entry).__name__} {self.entry!r}")
        return [strip_of((cut(mark + said, look.width), look.palette.dim))]


def generic_block(entry: Entry, chat: Chat) -> Block:
    """A block for an entry of an unknown type."""
    del chat
    return GenericBlock(entry)

"""Render unknown updates: named, and shown in full on demand.  Never dropped."""

from __future__ import annotations

from textual.strip import Strip

from accord.schema.struct import UnknownVariant
from accord.terminal.model.chat import Chat
from accord.terminal.render.block import Block, CachedBlock
from accord.terminal.render.content.content_block import unknown_line
from accord.terminal.render.json_lines import json_lines, json_text
from accord.terminal.render.render_options import Look


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

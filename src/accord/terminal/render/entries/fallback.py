"""Render an entry of an unknown type in one line."""

from __future__ import annotations

from textual.strip import Strip

from accord.terminal.model.chat import Chat, Entry
from accord.terminal.model.text.display_text import one_line
from accord.terminal.render.block import Block, CachedBlock
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import cut, strip_of


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

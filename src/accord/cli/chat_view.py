"""The screen of a conversation: everybody's printer, and the lines around the prompts."""

from __future__ import annotations

import os
from collections.abc import Sequence

from accord.terminal.plain.printing import Out, Printer
from accord.transcript import FileDiff


class ChatPrinter(Printer):
    """Writes a conversation to a stream; paths of files in `folder` are shown from there."""

    def __init__(self, out: Out, folder: str | None = None) -> None:
        super().__init__(out)
        self._folder = folder

    def _show_diff(self, diff: FileDiff, *, named: bool) -> None:
        inside = self._folder is not None and diff.path.startswith(f"{self._folder}{os.sep}")
        path = os.path.relpath(diff.path, self._folder) if inside else diff.path
        super()._show_diff(diff._replace(path=path), named=named)

    def _verbatim(self, first: str, text: str, style: str = "") -> None:
        """As it is, but for rulers such as `=====`, which are cut rather than continued."""
        width = self.width - len(first)
        lines = (line[:width] if len(set(line)) == 1 else line for line in text.splitlines())
        super()._verbatim(first, "\n".join(lines), style)

    def prompt(self, text: str) -> None:
        """What was asked, in a conversation where nobody sees it being typed."""
        self._plan = ()
        super().prompt(text)

    def suggest(self, title: str, sentences: Sequence[str]) -> None:
        """What a newcomer may say."""
        self._paragraph("", title, "dim")
        for sentence in sentences:
            self._verbatim("  ", sentence, "cyan")

    def invite(self, suggestion: str | None) -> None:
        """The place to write at, with what Enter alone would say; the cursor stays behind it."""
        # A plan of the next turn is shown as a whole, even if it is the same.
        self._plan = ()
        self._blank()
        if suggestion is not None:
            self._paragraph("", f"Enter: {suggestion}", "dim")
        self._out.write(self.paint("> ", "bold"))
        self._out.flush()

    def took(self, suggestion: str) -> None:
        """Enter was pressed: the sentence stands where it would have been written."""
        if self._out.isatty():
            # One line up, behind the mark, as if it had been typed.
            self._out.write(f"\x1b[A\r{self.paint('> ' + suggestion, 'bold')}\n")
            self._out.flush()


__all__ = ["ChatPrinter"]

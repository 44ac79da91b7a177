"""The form of a file: its final newline, its line endings, its byte order mark.  Pure.

Clients show and save files in forms of their own: some leave out the last newline of what they
read, and of these some add one to all that they save.  What counts is the file.

It must not know files or clients.
"""

from __future__ import annotations

from dataclasses import dataclass

BOM = "\ufeff"
OTHER_TEXT = "with different text"


def same_words(one: str, other: str) -> bool:
    """Whether two texts differ only in form."""
    return _words(one) == _words(other)


def _words(text: str) -> str:
    return text.lstrip(BOM).replace("\r", "").rstrip("\n")


def in_form_of(stored: str, shown: str) -> str:
    """The client's text of a file, in the form of the stored file.

    A byte order mark is there where the client shows one.
    """
    mark = BOM if shown.startswith(BOM) else ""
    bare = stored.removeprefix(BOM)
    if same_words(shown, stored):
        return mark + bare
    if _is_crlf(bare) and "\r" not in shown:
        shown = shown.replace("\n", "\r\n")
    if bare.endswith("\n") and shown and not shown.endswith("\n"):
        shown += "\r\n" if _is_crlf(bare) else "\n"
    return shown


def _is_crlf(text: str) -> bool:
    newlines = text.count("\n")
    return newlines > 0 and text.count("\r\n") == newlines


@dataclass(frozen=True, slots=True)
class Sending:
    """How to send a text so that the client saves it unchanged."""

    # It adds the last newline.
    bare_end: bool = False
    # It writes CRLF where the file has it.
    line_feeds: bool = False
    # It leaves out the byte order mark unless it is sent.
    mark: bool = False

    def adapted(self, goal: str) -> str:
        """The text to send for the text that should be saved."""
        text = goal if self.mark else goal.removeprefix(BOM)
        if self.line_feeds:
            text = text.replace("\r\n", "\n")
        if self.bare_end:
            text = text.removesuffix("\n")
        return text

    def corrected(self, goal: str, saved: str) -> Sending:
        """The corrected way after the client saved the text in another form."""
        ends = len(saved) - len(saved.rstrip("\r\n")), len(goal) - len(goal.rstrip("\r\n"))
        marks = len(saved) - len(saved.lstrip(BOM)), len(goal) - len(goal.lstrip(BOM))
        return Sending(
            bare_end=self.bare_end if ends[0] == ends[1] else ends[0] > ends[1],
            line_feeds="\r\r\n" in saved if _is_crlf(goal.removeprefix(BOM)) else self.line_feeds,
            mark=self.mark if marks[0] == marks[1] else marks[0] < marks[1],
        )


def difference(wanted: str, found: str) -> str | None:
    """The difference between two texts in words; None if there is none."""
    if wanted == found:
        return None
    if not same_words(wanted, found):
        return OTHER_TEXT
    if wanted.startswith(BOM) != found.startswith(BOM):
        return "without its byte order mark" if wanted.startswith(BOM) else "with a byte order mark"
    if wanted.replace("\r", "") == found.replace("\r", ""):
        return "with different line endings"
    return (
        "with different newlines at its end"
        if found.endswith("\n")
        else "without its final newline"
    )

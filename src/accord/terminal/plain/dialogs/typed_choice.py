"""Numbered lists, and the choice that a user types: a number, a name or the start of one."""

from __future__ import annotations

from collections.abc import Sequence

from accord.errors import AccordError
from accord.terminal.model.text.display_text import one_line
from accord.terminal.plain.display.chat_printer import ChatPrinter


def numbered(printer: ChatPrinter, title: str, rows: Sequence[tuple[str, str]]) -> None:
    """Print a title and numbered lines."""
    printer.said("", title)
    for number, (name, more) in enumerate(rows, 1):
        words = f"{one_line(name)}: {one_line(more)}" if more else one_line(name)
        printer.said(f"  {number:>2}  ", words)


def meant_value(said: str, pairs: Sequence[tuple[str, str]]) -> str:
    """Return the value with this number or name, or with a name that starts like this.

    Raises:
        AccordError: none matches, or several do.
    """
    if said.isdecimal() and 1 <= int(said) <= len(pairs):
        return pairs[int(said) - 1][0]
    lower = said.lower()
    for found in (
        [value for value, name in pairs if lower in (value.lower(), name.lower())],
        [value for value, name in pairs if name.lower().startswith(lower) and lower],
    ):
        if len(found) == 1:
            return found[0]
    names = ", ".join(one_line(name) for _, name in pairs)
    known = f"choose one of {names}" if names else "there is nothing to choose from"
    raise AccordError(f"Unknown value {one_line(said)!r}; {known}.")


def sentence(error: AccordError) -> str:
    """The message of an error as a sentence."""
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}"

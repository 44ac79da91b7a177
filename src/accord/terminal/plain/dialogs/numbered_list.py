"""Lists with numbers, and which of their lines is meant."""

from __future__ import annotations

from collections.abc import Sequence

from accord.errors import AccordError
from accord.terminal.model.text.display_text import one_line
from accord.terminal.plain.display.chat_printer import ChatPrinter


def numbered(printer: ChatPrinter, title: str, rows: Sequence[tuple[str, str]]) -> None:
    """A title, and lines that can be named by their number."""
    printer.said("", title)
    for number, (name, more) in enumerate(rows, 1):
        words = f"{one_line(name)}: {one_line(more)}" if more else one_line(name)
        printer.said(f"  {number:>2}  ", words)


def meant_value(said: str, pairs: Sequence[tuple[str, str]]) -> str:
    """The value that is meant by its number, by itself, by its name, or by its beginning.

    Raises:
        AccordError: none is, or several are.
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
    names = ", ".join(one_line(name) for _, name in pairs) or "nothing"
    raise AccordError(f"Unknown value {one_line(said)!r}; choose one of {names}.")


def sentence(error: AccordError) -> str:
    """What an error says, as a sentence of its own."""
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}"


__all__ = ["meant_value", "numbered", "sentence"]

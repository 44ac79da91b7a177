"""Markdown and wording of the offline brain's answers.  Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

ITEMS_SHOWN_MAX = 20
"""Lines of one list in an answer; the rest is counted."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Format a number with its noun: `1 file`, `2 files`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def as_sentence(note: str) -> str:
    """A note of a tool, `[like this]`, as a sentence."""
    bare = note.strip("[]")
    return f"{bare[:1].upper()}{bare[1:]}."


def listed(names: Sequence[str], shown_max: int = 6) -> str:
    """Format names as `a`, `b` and 3 more."""
    shown = [f"`{name}`" for name in names[:shown_max]]
    if len(names) > shown_max:
        return f"{', '.join(shown)} and {len(names) - shown_max} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def bullets(lines: Iterable[str], shown_max: int = ITEMS_SHOWN_MAX) -> str:
    """A list in Markdown, within its bound."""
    every = list(lines)
    shown = [f"- {line}" for line in every[:shown_max]]
    if len(every) > shown_max:
        shown.append(f"- … and {len(every) - shown_max:,} more")
    return "\n".join(shown)


def fenced(code: str, language: str = "") -> str:
    """Code in a block, however many backquotes it has."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"


def first_paragraph(text: str) -> str:
    """The first paragraph, in one line."""
    return " ".join(text.strip().split("\n\n")[0].split())


def first_sentence(text: str) -> str:
    """The first sentence of a docstring."""
    paragraph = first_paragraph(text)
    end = paragraph.find(". ")
    return paragraph if end < 0 else paragraph[: end + 1]


def around(text: str, line: int, before: int = 3, after: int = 3) -> str:
    """The lines around a line, numbered, with a mark at it."""
    lines = text.split("\n")
    first, last = max(line - before, 1), min(line + after, len(lines))
    width = len(str(last))
    return "\n".join(
        f"{'>' if number == line else ' '} {number:>{width}}  {lines[number - 1].rstrip()}"
        for number in range(first, last + 1)
    )

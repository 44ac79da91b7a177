"""Maps the colours of a command's output to colours that are readable in a theme.

This module does not know output or lines.  A command that prints in "black" or "white" does not
know the theme: on a background of nearly that colour its text would be invisible.

Invariants
    * The sixteen named colours are readable on the background of their theme.
    * Text on a requested background is readable on that background.
    * Exact colours are unchanged, unless the text would be unreadable.
"""

from __future__ import annotations

from dataclasses import dataclass

from rich.color import Color

from accord.terminal.model.text.output_lines import Colour, Ink
from accord.terminal.render.conversation_colours import CONTRAST, DARK, LIGHT, Palette

NAMED_MIN = 3.0
"""The least contrast of two named colours, which we choose."""
EXACT_MIN = 1.2
"""The least contrast of two exact colours."""
SEEN_MIN = 2.0
"""The least contrast of an exact colour with the background of the theme."""

_NAMED = 16


@dataclass(frozen=True, slots=True)
class Colours:
    """The background and text of a theme, and the named colours as text colours on it."""

    ground: str
    words: str
    named: tuple[str, ...]


COLOURS = {
    DARK: Colours(
        "#11151c",
        "#d6dde6",
        (
            *("#7d8590", "#f7768e", "#7ec97f", "#e6b450"),
            *("#7aa2f7", "#bb9af7", "#7dcfff", "#c3cad3"),
            *("#8b949e", "#ff8fa3", "#9ae09b", "#ffd27a"),
            *("#9bbcff", "#d0b4ff", "#a4e1ff", "#ffffff"),
        ),
    ),
    LIGHT: Colours(
        "#fbfcfd",
        "#1c2430",
        (
            *("#1c2430", "#b91c1c", "#15803d", "#a15c00"),
            *("#1d4ed8", "#7c3aed", "#0e6e8c", "#6b7280"),
            *("#5b6472", "#cc1f1f", "#137a3b", "#8f5600"),
            *("#2563eb", "#9333ea", "#0b7493", "#4b5563"),
        ),
    ),
    CONTRAST: Colours(
        "#000000",
        "#ffffff",
        (
            *("#b0b0b0", "#ff7070", "#00ff00", "#ffff00"),
            *("#8ab4ff", "#ff8cff", "#00ffff", "#e0e0e0"),
            *("#c0c0c0", "#ff9090", "#80ff80", "#ffff80"),
            *("#b0ccff", "#ffb0ff", "#80ffff", "#ffffff"),
        ),
    ),
}
# As backgrounds these are exact; the text colour is chosen for them.
_GROUNDS = {0: "#000000", 7: "#c3cad3", 8: "#4b5563", 15: "#ffffff"}


def colours_of(ink: Ink, palette: Palette) -> tuple[Color | None, Color | None]:
    """Return foreground and background; None is the theme's own."""
    colours = COLOURS.get(palette)
    if colours is None:
        return None, None
    ground = Color.parse(colours.ground)
    front = _colour(ink.front, colours.named)
    if ink.back is None:
        if front is not None and not _is_named(ink.front) and _contrast(front, ground) < SEEN_MIN:
            front = palette.dim.color
        return front, None
    back = _back(ink.back, colours.named)
    least = NAMED_MIN if _is_named(ink.front) or _is_named(ink.back) else EXACT_MIN
    words = Color.parse(colours.words)
    if _contrast(front or words, back) < least:
        front = max(ground, words, key=lambda one: _contrast(one, back))
    return front, back


def _is_named(colour: Colour) -> bool:
    return colour is None or (isinstance(colour, int) and colour < _NAMED)


def _colour(colour: Colour, named: tuple[str, ...]) -> Color | None:
    if colour is None:
        return None
    if isinstance(colour, tuple):
        return Color.from_rgb(*colour)
    return Color.parse(named[colour]) if colour < _NAMED else Color.from_ansi(colour)


def _back(colour: Colour, named: tuple[str, ...]) -> Color:
    if isinstance(colour, int) and colour in _GROUNDS:
        return Color.parse(_GROUNDS[colour])
    found = _colour(colour, named)
    assert found is not None
    return found


def _contrast(one: Color, other: Color) -> float:
    """The contrast of two colours by WCAG 2."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Color) -> float:
    red, green, blue = (_linear(value / 255) for value in colour.get_truecolor())
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(share: float) -> float:
    return share / 12.92 if share <= 0.03928 else float(((share + 0.055) / 1.055) ** 2.4)

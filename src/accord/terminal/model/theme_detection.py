"""Detects from the environment which theme fits the terminal: light, dark or without colours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

ThemeName: TypeAlias = Literal["accord-dark", "accord-light", "accord-contrast", "accord-none"]

# Of the sixteen colours of terminals: those on which dark text is read.
_LIGHT_BACKGROUNDS = frozenset({"7", "9", "10", "11", "12", "13", "14", "15"})


def theme_for(environ: Mapping[str, str]) -> ThemeName:
    """The theme that fits the terminal, as far as its variables tell."""
    if environ.get("NO_COLOR") or environ.get("TERM", "") in ("dumb", "unknown"):
        return "accord-none"
    # "foreground;background", sometimes with something between them.
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    return "accord-light" if background in _LIGHT_BACKGROUNDS else "accord-dark"

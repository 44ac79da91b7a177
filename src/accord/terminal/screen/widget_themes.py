"""The four themes of the terminal client, and the palette of the conversation that goes with each.

This module does not know any widget.

Invariants
    * Text of every theme stands out from every background of it by 4.5 to 1, in strong contrast
      by 7 to 1; a test counts it.
    * With "accord-none" no colour reaches the terminal, whatever a widget says.
"""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.filter import LineFilter, Monochrome, NoColor
from textual.theme import Theme

from accord.terminal.render.conversation_colours import CONTRAST, DARK, LIGHT, NONE, Palette

_PLAIN = "ansi_default"

ACCORD_DARK = Theme(
    name="accord-dark",
    primary="#7aa2f7",
    secondary="#7dcfff",
    accent="#7aa2f7",
    warning="#e6b450",
    error="#f7768e",
    success="#7ec97f",
    foreground="#d6dde6",
    background="#11151c",
    surface="#171c25",
    panel="#1e2530",
    dark=True,
    variables={
        "text": "#d6dde6",
        "text-muted": "#9aa5b1",
        "text-disabled": "#7f8a97",
        "border": "#5b76b3",
        "border-blurred": "#39434f",
        "block-cursor-background": "#2b3d63",
        "block-cursor-foreground": "#ffffff",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": "#222a38",
        "block-cursor-blurred-foreground": "#d6dde6",
        "button-color-foreground": "#0d1117",
        "input-selection-background": "#34507f",
        "scrollbar": "#39434f",
        "scrollbar-hover": "#4b5766",
        "scrollbar-active": "#5b76b3",
        "scrollbar-background": "#11151c",
        "footer-key-foreground": "#7aa2f7",
    },
)

ACCORD_LIGHT = Theme(
    name="accord-light",
    primary="#1d4ed8",
    secondary="#0e6e8c",
    accent="#1d4ed8",
    warning="#8a4f00",
    error="#b3181f",
    success="#12703a",
    foreground="#1c2430",
    background="#fbfcfd",
    surface="#f3f5f8",
    panel="#e9edf3",
    dark=False,
    variables={
        "text": "#1c2430",
        "text-muted": "#515b69",
        "text-disabled": "#626c7a",
        "border": "#7391d6",
        "border-blurred": "#b6bcc6",
        "block-cursor-background": "#cfdcf8",
        "block-cursor-foreground": "#10203f",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": "#e3e9f5",
        "block-cursor-blurred-foreground": "#1c2430",
        "button-color-foreground": "#ffffff",
        "input-selection-background": "#bcd2fb",
        "scrollbar": "#c3cad4",
        "scrollbar-hover": "#a5aebb",
        "scrollbar-active": "#7391d6",
        "scrollbar-background": "#fbfcfd",
        "footer-key-foreground": "#1d4ed8",
    },
)

ACCORD_CONTRAST = Theme(
    name="accord-contrast",
    primary="#00ffff",
    secondary="#ffffff",
    accent="#ffff00",
    warning="#ffff00",
    error="#ff8080",
    success="#00ff00",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#101010",
    dark=True,
    variables={
        "text": "#ffffff",
        "text-muted": "#d8d8d8",
        "text-disabled": "#bcbcbc",
        "border": "#ffffff",
        "border-blurred": "#bcbcbc",
        "block-cursor-background": "#ffff00",
        "block-cursor-foreground": "#000000",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": "#003a5c",
        "block-cursor-blurred-foreground": "#ffffff",
        "button-color-foreground": "#000000",
        "input-selection-background": "#005a8f",
        "scrollbar": "#bcbcbc",
        "scrollbar-hover": "#ffffff",
        "scrollbar-active": "#ffff00",
        "scrollbar-background": "#303030",
        "footer-key-foreground": "#00ffff",
    },
)

ACCORD_NONE = Theme(
    name="accord-none",
    primary=_PLAIN,
    secondary=_PLAIN,
    accent=_PLAIN,
    warning=_PLAIN,
    error=_PLAIN,
    success=_PLAIN,
    foreground=_PLAIN,
    background=_PLAIN,
    dark=True,
    ansi=True,
    variables={
        # Textual's own style sheet names these two, and has no default for them here.
        "ansi-background": _PLAIN,
        "ansi-foreground": _PLAIN,
        "text-muted": _PLAIN,
        "text-disabled": _PLAIN,
        "border": _PLAIN,
        "border-blurred": _PLAIN,
        "block-cursor-background": _PLAIN,
        "block-cursor-text-style": "bold reverse",
        "scrollbar": _PLAIN,
        "scrollbar-hover": _PLAIN,
        "scrollbar-active": _PLAIN,
        "scrollbar-background": _PLAIN,
        "footer-key-foreground": _PLAIN,
    },
)

THEMES: tuple[Theme, ...] = (ACCORD_DARK, ACCORD_LIGHT, ACCORD_CONTRAST, ACCORD_NONE)
# The names shown in the theme picker.
THEME_TEXTS: dict[str, str] = {
    "accord-dark": "Dark",
    "accord-light": "Light",
    "accord-contrast": "High contrast",
    "accord-none": "No colour",
}
_PALETTES = {
    "accord-dark": DARK,
    "accord-light": LIGHT,
    "accord-contrast": CONTRAST,
    "accord-none": NONE,
}


def palette_for(theme_name: str) -> Palette:
    """The palette of a theme; an unknown theme gets the dark one."""
    return _PALETTES.get(theme_name, DARK)


def register_themes(app: App[Any]) -> None:
    """Register the four themes with an app."""
    for theme in THEMES:
        app.register_theme(theme)


def apply_theme(app: App[Any], theme_name: str) -> None:
    """Apply a theme to an app.  Use this instead of setting `app.theme`.

    Raises:
        InvalidThemeError: there is no such theme.
    """
    app.theme = theme_name
    # Textual has no public hook for this.  It reads NO_COLOR only once, at the start, and then
    # turns colours into greys, which are colours too.
    filters: list[LineFilter] = app._filters  # pyright: ignore[reportPrivateUsage]
    filters[:] = [one for one in filters if not isinstance(one, Monochrome | NoColor)]
    if theme_name == ACCORD_NONE.name:
        filters.append(NoColor())

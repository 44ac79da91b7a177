"""The themes: legible, and one without any colour."""

from __future__ import annotations

import pytest
from rich.color import ColorType
from textual.color import Color
from textual.widgets import Static

from accord.terminal.model.theme_detection import ThemeName
from accord.terminal.render.conversation_colours import CONTRAST, DARK, LIGHT, NONE
from accord.terminal.screen.widget_themes import THEME_TEXTS, THEMES, apply_theme, palette_for
from tests.terminal.screen.harness.stage import Stage

BACKGROUNDS = ("background", "surface", "panel")
TEXTS = ("text", "text-muted", "foreground", "primary", "secondary", "accent")
STATES = ("warning", "error", "success", "text-warning", "text-error", "text-success")
# Of the palette: what is drawn as words.
WORDS = ("dim", "accent", "user", "thought", "heading", "link", "quote", "code", "success")
MORE_WORDS = ("warning", "error", "info", "running", "waiting")


def _luminance(color: Color) -> float:
    def linear(value: int) -> float:
        share = value / 255
        return share / 12.92 if share <= 0.03928 else ((share + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b)


def contrast(one: Color, other: Color) -> float:
    """The contrast of two colours by WCAG 2."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(
    ("name", "least"), [("accord-dark", 4.5), ("accord-light", 4.5), ("accord-contrast", 7.0)]
)
def test_text_stands_out_from_every_background(name: str, least: float) -> None:
    """WCAG 2: AA, and AAA in high contrast."""
    [theme] = [one for one in THEMES if one.name == name]
    colors = theme.to_color_system().generate()
    for ground in BACKGROUNDS:
        background = Color.parse(colors[ground])
        for text in (*TEXTS, *STATES):
            assert contrast(Color.parse(colors[text]), background) >= least, (text, ground)
    background = Color.parse(colors["background"])
    palette = palette_for(name)
    for text in (*WORDS, *MORE_WORDS):
        color = getattr(palette, text).color
        assert color is not None
        assert contrast(Color.from_rich_color(color), background) >= least, text
    cursor = contrast(
        Color.parse(colors["block-cursor-foreground"]),
        Color.parse(colors["block-cursor-background"]),
    )
    assert cursor >= least


def test_every_theme_has_its_palette_and_a_name_in_words() -> None:
    """Contract."""
    names: list[ThemeName] = ["accord-dark", "accord-light", "accord-contrast", "accord-none"]
    assert [theme.name for theme in THEMES] == names
    assert [palette_for(name) for name in names] == [DARK, LIGHT, CONTRAST, NONE]
    assert palette_for("nord") is DARK
    assert set(THEME_TEXTS) == set(names)


async def test_without_colour_no_colour_reaches_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Issue: a theme without colour; no-color.org."""
    monkeypatch.setenv("NO_COLOR", "1")
    box = Static("words", markup=False)
    box.styles.background = "red"
    box.styles.color = "blue"
    app = Stage(box, theme="accord-none")
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert not _colours(app)
        apply_theme(app, "accord-dark")
        await pilot.pause()
        assert _colours(app)
        apply_theme(app, "accord-none")
        await pilot.pause()
        assert not _colours(app)


def _colours(app: Stage) -> set[str]:
    found: set[str] = set()
    for strip in app.strips:
        for segment in strip:
            style = segment.style
            for color in () if style is None else (style.color, style.bgcolor):
                if color is not None and color.type is not ColorType.DEFAULT:
                    found.add(color.name)
    return found

"""The colours of a command's output on the screens of the themes."""

from __future__ import annotations

import pytest
from rich.color import Color as RichColor
from textual.color import Color

from accord.terminal.model.text.output_lines import Colour, Ink
from accord.terminal.render.conversation_colours import NONE
from accord.terminal.render.entries.output_colours import COLOURS, colours_of
from accord.terminal.screen.widget_themes import THEMES, palette_for
from tests.terminal.screen.test_widget_themes import contrast

SIXTEEN = range(16)
SCREENS = [theme for theme in THEMES if palette_for(theme.name) is not NONE]


def seen(front: RichColor | None, back: RichColor | None, theme: str) -> float:
    """The contrast of what is drawn."""
    [found] = [one for one in THEMES if one.name == theme]
    assert found.background is not None
    assert found.foreground is not None
    words = Color.parse(found.foreground) if front is None else Color.from_rich_color(front)
    ground = Color.parse(found.background) if back is None else Color.from_rich_color(back)
    return contrast(words, ground)


@pytest.mark.parametrize("theme", [theme.name for theme in SCREENS])
def test_every_named_colour_can_be_read(theme: str) -> None:
    """Ours: black output stays readable on a dark background, and white on a light one."""
    palette = palette_for(theme)
    least = 7.0 if theme == "accord-contrast" else 4.5
    for front in SIXTEEN:
        assert seen(*colours_of(Ink(front=front), palette), theme) >= least, front
    for back in SIXTEEN:
        for on_it in (None, *SIXTEEN):
            drawn = colours_of(Ink(front=on_it, back=back), palette)
            assert seen(*drawn, theme) >= 3, (on_it, back)


@pytest.mark.parametrize("theme", [theme.name for theme in SCREENS])
@pytest.mark.parametrize("colour", [16, 231, 232, 255, (0, 0, 0), (255, 255, 255), (20, 20, 24)])
def test_exact_colours_stay_unless_nothing_could_be_read(theme: str, colour: Colour) -> None:
    """Ours: what a command chose exactly is its matter, but it is to be seen."""
    palette = palette_for(theme)
    front, back = colours_of(Ink(front=colour), palette)
    assert back is None
    assert seen(front, back, theme) >= 2
    assert seen(*colours_of(Ink(front=colour, back=colour), palette), theme) >= 1.2
    asked = RichColor.from_rgb(10, 200, 30)
    assert colours_of(Ink(front=(10, 200, 30), back=(0, 0, 0)), palette)[0] == asked


def test_a_black_background_is_black() -> None:
    """Ours: a background is what it is called; the words on it are chosen."""
    for theme in SCREENS:
        _, back = colours_of(Ink(back=0), palette_for(theme.name))
        assert back == RichColor.parse("#000000")
    assert colours_of(Ink(front=0, back=7), NONE) == (None, None)


def test_the_tables_are_of_the_themes() -> None:
    """Contract: what stands out is counted on the background that is really there."""
    for theme in SCREENS:
        colours = COLOURS[palette_for(theme.name)]
        assert (colours.ground, colours.words) == (theme.background, theme.foreground)
        assert len(colours.named) == 16

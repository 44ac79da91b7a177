"""The palettes: all have all, and one has no colour at all."""

from __future__ import annotations

from dataclasses import fields

import pytest
from rich.style import Style

from accord.terminal.render.conversation_colours import CONTRAST, DARK, LIGHT, NONE, Palette
from accord.terminal.render.render_options import Look
from accord.terminal.render.syntax_colours import style_of


def test_without_colours_there_is_none() -> None:
    """Required: a theme without colour."""
    for field in fields(NONE):
        style = getattr(NONE, field.name)
        if isinstance(style, Style):
            assert style.color is None
            assert style.bgcolor is None


@pytest.mark.parametrize("palette", [DARK, LIGHT, CONTRAST, NONE], ids=lambda one: one.name)
def test_added_and_removed_look_different(palette: Palette) -> None:
    """Required: nothing is lost in any theme."""
    assert palette.added != palette.removed
    assert palette.error != palette.success


def test_code_is_coloured_by_its_foreground_alone() -> None:
    """What lies under code is the palette's matter."""
    from pygments.token import Keyword  # type: ignore[import-untyped]

    assert style_of(Keyword, DARK).color is not None
    assert style_of(Keyword, DARK).bgcolor is None
    assert style_of(Keyword, NONE) == Style.null()


def test_marks_are_ascii_where_they_must_be() -> None:
    """Required: dumb terminals."""
    plain, full = Look(80, NONE, unicode=False), Look(80, NONE)
    assert (full.mark("✓", "ok"), plain.mark("✓", "ok")) == ("✓", "ok")
    assert (plain.fold_mark(True) + plain.fold_mark(False)).isascii()
    assert full.fold_mark(True) != full.fold_mark(False)

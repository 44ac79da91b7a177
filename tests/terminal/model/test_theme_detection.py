"""The theme that fits the terminal."""

from __future__ import annotations

import pytest

from accord.terminal.model.theme_detection import theme_for


@pytest.mark.parametrize(
    ("environ", "theme"),
    [
        ({}, "accord-dark"),
        ({"NO_COLOR": "1", "COLORFGBG": "0;15"}, "accord-none"),
        ({"NO_COLOR": ""}, "accord-dark"),
        ({"TERM": "dumb"}, "accord-none"),
        ({"COLORFGBG": "0;15"}, "accord-light"),
        ({"COLORFGBG": "15;0"}, "accord-dark"),
        ({"COLORFGBG": "0;default;7"}, "accord-light"),
        ({"COLORFGBG": "rubbish"}, "accord-dark"),
    ],
)
def test_the_theme_follows_the_terminal(environ: dict[str, str], theme: str) -> None:
    """no-color.org, and what rxvt, Konsole and others set."""
    assert theme_for(environ) == theme

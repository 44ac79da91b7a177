"""The last gate before the terminal: only what the screen is made of passes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.terminal.model.bell_and_title import window_title
from accord.terminal.screen.app import AccordApp
from accord.terminal.screen.driver import ScreenDriver, screen_only

OURS = [
    *("\x1b[31m", "\x1b[0m", "\x1b[2;5H", "\x1b[?1049h", "\x1b[>1u", "\x1b[?2026$p", "words\r\n\t"),
    *("\x1b]2;title\x1b\\", "\x1b]22;pointer\x1b\\", "\x1b]52;c;eA==\x1b\\", "\x1b_Ga=d,i=1\x1b\\"),
]
FOREIGN = [
    *(
        "\x07",
        "\x00",
        "\x08",
        "\x0e",
        "\x7f",
        "\x9b2J",
        "\x9d0;x\x9c",
        "\x1bc",
        "\x1b(0",
        "\x1bPq\x1b\\",
    ),
    *("\x1b]0;owned\x07", "\x1b]8;;http://x\x1b\\", "\x1b]52;c;never ended", "\x1b"),
]
SEQUENCE = re.compile(
    r"\x1b(?:\[|\\|\](?:2|22|52);[^\x00-\x1f\x7f-\x9f]*\x1b\\|_G[^\x00-\x1f\x7f-\x9f]*\x1b\\)"
)


@given(st.lists(st.sampled_from(OURS + FOREIGN) | st.text(max_size=4)).map("".join))
def test_no_bell_and_no_foreign_sequence_passes(data: str) -> None:
    """Issue 12: six BEL bytes came out of the full screen; shut by a mechanism."""
    written = screen_only(data)
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]", written)
    for found in re.finditer("\x1b", written):
        assert SEQUENCE.match(written, found.start()), written[found.start() : found.start() + 20]


@pytest.mark.parametrize("data", [*OURS, "".join(OURS), window_title("● needs you")])
def test_the_screen_itself_passes_as_it_is(data: str) -> None:
    """Ours: what is drawn is not touched."""
    assert screen_only(data) == data


def test_what_textual_ends_with_a_bell_is_ended_otherwise() -> None:
    """Issue 12: a terminal that does not know the sequence rings for its end."""
    shape = screen_only("\x1b]22;pointer\x07text\x1b]52;c;eA==\a")
    assert shape == "\x1b]22;pointer\x1b\\text\x1b]52;c;eA==\x1b\\"


def test_the_app_writes_through_it_and_rings_by_itself_never(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Issue 12: Textual rings for errors of its own; the user has said whether they want that."""
    assert AccordApp.get_driver_class(AccordApp.__new__(AccordApp)) is ScreenDriver
    monkeypatch.setattr(ScreenDriver, "write", lambda *_: pytest.fail("it rang"))
    AccordApp.bell(AccordApp.__new__(AccordApp))

"""Lines for a terminal."""

import pytest

from accord.tracing.display.terminal_text import LiveText, duration, row_lines
from accord.tracing.display.timeline import timeline_of
from accord.tracing.recording_file import read_recording
from tests.tracing.samples import Tape, broken, hostile, prompt, talk


def lines_of(tape: Tape) -> list[str]:
    rows = timeline_of(read_recording(tape.lines).entries).rows
    return [line for row in rows for line in row_lines(row)]


def test_nothing_that_an_agent_says_commands_the_terminal() -> None:
    """Issue 4: nothing they print reaches the terminal unescaped."""
    for tape in (hostile(), broken(), talk()):
        for line in lines_of(tape):
            assert line.isprintable(), line
    assert any("⟨U+001B⟩]0;owned⟨U+0007⟩" in line for line in lines_of(hostile()))


def test_rules_and_lives_stand_below_their_rows() -> None:
    """Issue 4: --text shows the same."""
    text = "\n".join(lines_of(broken()))
    assert "✕ V1-TOOL-13: the final status of a tool call does not change" in text
    assert "pending" in text


def test_a_line_is_not_wider_than_the_terminal() -> None:
    """Ours: one row is one line."""
    rows = timeline_of(read_recording(hostile().lines).entries).rows
    assert all(len(line) <= 60 for row in rows for line in row_lines(row, width=60))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "…"), (0.0, "0"), (0.0123, "12.3 ms"), (1.5, "1.50 s"), (250.4, "250 s")],
)
def test_times_are_short(seconds: float | None, text: str) -> None:
    """Ours: people compare them at a glance."""
    assert duration(seconds) == text


def test_live_shows_a_row_when_it_is_known_and_the_end() -> None:
    """Issue 4: --follow for a live recording."""
    tape = Tape()
    tape.initialize()
    turn = tape.ask("client", "session/prompt", prompt("Hello"))
    tape.chunk("one ")
    tape.chunk("two")
    live = LiveText()
    shown = [line for raw in tape.lines[1:] for line in live.take(raw)]
    assert len(shown) == 5
    assert "Hello" in shown[4]
    assert ["one two" in line for line in live.settle()] == [True]
    assert list(live.settle()) == []
    tape.answer("agent", turn, {"stopReason": "end_turn"})
    tape.end()
    shown = [line for raw in tape.lines[8:] for line in live.take(raw)]
    assert "[end_turn]" in shown[0]
    assert "the agent exited" in shown[1]
    assert live.ended

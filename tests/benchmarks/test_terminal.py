"""What the benchmark of the terminal client measures with, without measuring anything."""

import sys
from pathlib import Path

import pytest

from accord.schema import v2
from accord.transcript import Message, Plan, Terminal, ToolCall, Transcript
from benchmarks.terminal import p95, verdict
from benchmarks.terminal_agent import END, markdown, past
from benchmarks.terminal_process import Program, resident_mb


@pytest.mark.parametrize("size", [300, 4_000, 30_000])
def test_the_text_that_is_streamed_is_as_long_as_told_and_shows_its_end(size: int) -> None:
    """The last words are what the clock waits for."""
    text = markdown(size)
    assert len(text) == size
    assert text.endswith(f"\n\n{END}")
    assert text.count(END) == 1


def test_the_session_that_is_opened_has_as_many_updates_of_all_kinds() -> None:
    """Demanded by the issue: a session of 20,000 updates, and not of one kind."""
    updates = list(past(421))
    assert len(updates) == 421
    transcript = Transcript("v2")
    for update in updates:
        transcript.apply(update)
    kinds = {type(entry) for entry in transcript.timeline}
    assert {Message, ToolCall, Plan, Terminal} >= kinds >= {Message, ToolCall}
    assert len(transcript.plans) == 1
    assert len(transcript.terminals) == 20
    assert isinstance(updates[-1], v2.AgentMessageChunk)


def test_a_program_is_typed_to_and_seen(tmp_path: Path) -> None:
    """Words are found however they are coloured."""
    script = r"read said; printf '\033[1mYou\033[0m said \033]0;title\007%s' $said; read end"
    program = Program(["sh", "-c", script], tmp_path, {})
    assert program.press("this\r") <= program.wait("You said this")
    assert program.cpu >= 0
    assert resident_mb(program.pid) > 0
    program.end()


def test_a_program_that_ends_too_early_is_told(tmp_path: Path) -> None:
    """No figure comes from a run that failed."""
    program = Program([sys.executable, "-c", "print('It broke.')"], tmp_path, {})
    with pytest.raises(SystemExit, match=r"It broke\."):
        program.wait("Ready")
    program.process.wait()


def test_a_bound_is_kept_or_not(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever runs it reads which."""
    assert verdict("a key", 49.0, 50.0, "ms")
    assert not verdict("a key", 51.0, 50.0, "ms")
    kept, missed = capsys.readouterr().out.splitlines()
    assert kept.endswith(" kept")
    assert missed.endswith("NOT KEPT")


def test_five_of_a_hundred_times_may_be_longer() -> None:
    """As the issue counts."""
    assert p95([time / 1e3 for time in range(1, 101)]) == pytest.approx(96)

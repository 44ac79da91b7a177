"""Answers are read on the event loop, from anything that a process may have as its input."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest

from accord.cli import typed_answers as module
from accord.cli.typed_answers import ATTEMPTS_MAX, LINE_BYTES_MAX, Answers
from tests.hang_limit import HANG_SECONDS

pytestmark = pytest.mark.anyio

Pipe = Callable[[bytes], tuple[Answers, int]]


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    """Answers from a pipe with these bytes in it, and the end to write more to."""
    opened: list[int] = []

    def make(given: bytes) -> tuple[Answers, int]:
        reading, writing = os.pipe()
        opened.extend((reading, writing))
        os.write(writing, given)
        return Answers(reading, is_terminal=False), writing

    yield make
    for descriptor in opened:
        try:
            os.close(descriptor)
        except OSError:
            pass


async def ask(answers: Answers) -> tuple[bool, list[str], list[str]]:
    put: list[str] = []
    shown: list[str] = []
    with anyio.fail_after(HANG_SECONDS):
        return await answers.yes(put.append, shown.append), put, shown


async def test_lines_that_come_together_answer_one_question_each(pipe: Pipe) -> None:
    """Newcomers: the answers of a pipe were not read."""
    answers, _ = pipe(b"y\nNO\nYes\n\n")
    said = [(await ask(answers))[0] for _ in range(4)]
    assert said == [True, False, True, False]


async def test_a_last_line_without_its_end_counts(pipe: Pipe) -> None:
    """Ours: `printf y | accord demo`."""
    answers, writing = pipe(b"y")
    os.close(writing)
    assert (await ask(answers))[0] is True
    assert (await ask(answers))[0] is False


async def test_unclear_words_are_asked_for_again_and_then_a_no(pipe: Pipe) -> None:
    """Ours: only a clear yes is a yes, and no question goes on for ever."""
    answers, _ = pipe(b"perhaps\n" * ATTEMPTS_MAX + b"y\n")
    agreed, put, shown = await ask(answers)
    assert agreed is False
    assert put == ["", *["Please answer y or n."] * (ATTEMPTS_MAX - 1)]
    assert shown == ["perhaps"] * ATTEMPTS_MAX


async def test_the_end_of_an_endless_line_is_no_answer(pipe: Pipe) -> None:
    """Ours: a line has a bound, and what is cut off of it is not a yes."""
    answers, writing = pipe(b"x" * LINE_BYTES_MAX)
    os.write(writing, b"x" * LINE_BYTES_MAX + b"\ny\n")
    agreed, _, shown = await ask(answers)
    assert agreed is True, "the next line"
    assert len(shown) == 2


async def test_a_silent_pipe_is_a_no_after_a_while(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: nobody is there, so nothing hangs."""
    monkeypatch.setattr(module, "SILENCE_SECONDS_MAX", 0.01)
    answers, _ = pipe(b"")
    agreed, _, shown = await ask(answers)
    assert (agreed, shown) == (False, ["no (no answer)"])


async def test_waiting_for_an_answer_can_be_cancelled(pipe: Pipe) -> None:
    """Newcomers: Ctrl-C hung until Enter, because a thread was reading."""
    answers, _ = pipe(b"")
    with anyio.move_on_after(0.01) as scope:
        await answers.line()
    assert scope.cancelled_caught


async def test_files_and_missing_descriptors_are_fine(tmp_path: Path) -> None:
    """Ours: a file cannot be waited for, and a closed input has nothing to say."""
    (tmp_path / "answers").write_text("y\n")
    descriptor = os.open(tmp_path / "answers", os.O_RDONLY)
    try:
        answers = Answers(descriptor, is_terminal=False)
        assert (await ask(answers))[0] is True
        assert (await ask(answers))[0] is False
    finally:
        os.close(descriptor)
    assert (await ask(Answers(None, is_terminal=False)))[0] is False
    assert (await ask(Answers(descriptor, is_terminal=False)))[0] is False


async def test_a_person_sees_what_they_typed_so_it_is_not_shown_again() -> None:
    """Ours: the terminal echoes it."""
    master, slave = os.openpty()
    try:
        answers = Answers(slave, is_terminal=True)
        os.write(master, b"y\n")
        assert await ask(answers) == (True, [""], [])
        os.write(master, b"\x04")
        agreed, _, shown = await ask(answers)
        assert (agreed, shown) == (False, ["no (no answer)"])
    finally:
        os.close(master)
        os.close(slave)

"""Into the log, then to the client: in one order, and all of it, whoever is cancelled."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Any

import anyio
import pytest

from accord.agent.session.updates import LogThenSend
from tests.hang_limit import HANG_SECONDS


class Writing:
    """A line that is being written until `done`."""

    def __init__(self, error: Exception | None = None) -> None:
        self.done = anyio.Event()
        self._error = error

    def __await__(self) -> Generator[Any, Any, None]:
        yield from self.done.wait().__await__()
        if self._error is not None:
            raise self._error


async def test_a_sender_cancelled_during_the_write_has_sent_it() -> None:
    """Ours, found by the simulator: the log had a line that no client was ever told."""
    first, told = LogThenSend(), list[str]()
    writing = Writing()
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first.then, writing, partial(told.append, "one"))
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await anyio.wait_all_tasks_blocked()
                assert told == []
                writing.done.set()
    assert told == ["one"]


async def test_two_who_wait_are_told_in_the_order_of_the_log() -> None:
    """Ours, found by the simulator: whoever loads the session later sees the same order."""
    first, told = LogThenSend(), list[str]()
    one, two = Writing(), Writing()
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first.then, one, partial(told.append, "one"))
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(first.then, two, partial(told.append, "two"))
            await anyio.wait_all_tasks_blocked()
            two.done.set()
            await anyio.wait_all_tasks_blocked()
            assert told == []
            one.done.set()
    assert told == ["one", "two"]


async def test_what_cannot_be_written_is_not_told_and_holds_nobody_up() -> None:
    """Ours: a full disk ends one line, not the session."""
    first, told = LogThenSend(), list[str]()
    broken, next_one = Writing(OSError("full")), Writing()
    broken.done.set()
    next_one.done.set()
    with anyio.fail_after(HANG_SECONDS):
        with pytest.raises(OSError, match="full"):
            await first.then(broken, partial(told.append, "one"))
        await first.then(next_one, partial(told.append, "two"))
    assert told == ["two"]

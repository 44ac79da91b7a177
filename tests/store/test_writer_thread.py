"""The thread that has the database: groups, failures among them, and its end."""

import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import pytest

from accord.errors import StoreError
from accord.store import writer_thread
from accord.store.writer_thread import Pending, Writer, tell
from tests.hang_limit import HANG_SECONDS


@pytest.fixture
async def writer(tmp_path: Path) -> AsyncIterator[Writer]:
    """A writer whose thread waits until it is let go: all that is queued is one group."""
    made = Writer(tmp_path / "s.sqlite3")
    await made.submit(nothing)
    yield made
    await made.aclose()


def nothing(db: sqlite3.Connection) -> None:
    """Work that does nothing."""


def keep(number: int) -> Callable[[sqlite3.Connection], int]:
    """Work that writes a row; 13 is refused after that."""

    def work(db: sqlite3.Connection) -> int:
        db.execute("INSERT INTO kept VALUES (?, 'x', x'')", (number,))
        if number == 13:
            raise ValueError("unlucky")
        return number

    return work


def rows(db: sqlite3.Connection) -> list[int]:
    """What was written."""
    return [number for (number,) in db.execute("SELECT session FROM kept ORDER BY session")]


def held(writer: Writer) -> threading.Event:
    """Keep the thread busy until the event is set, so that what comes next is one group."""
    began, go_on = threading.Event(), threading.Event()

    def wait(db: sqlite3.Connection) -> None:
        began.set()
        go_on.wait(HANG_SECONDS)

    writer.submit(wait, reads=True)
    began.wait(HANG_SECONDS)
    return go_on


async def test_work_that_fails_takes_nothing_with_it(writer: Writer) -> None:
    """Ours: the group is rolled back and done again one by one; the order stays."""
    go_on = held(writer)
    pending = [writer.submit(keep(number)) for number in (11, 12, 13, 14)]
    go_on.set()
    assert [await pending[0], await pending[1], await pending[3]] == [11, 12, 14]
    with pytest.raises(ValueError, match="unlucky"):
        await pending[2]
    assert await writer.submit(rows, reads=True) == [11, 12, 14]


async def test_a_group_has_a_bound(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: the first does not wait for a thousand others."""
    monkeypatch.setattr(writer_thread, "GROUP_MAX", 2)
    before, go_on = writer.commits, held(writer)
    pending = [writer.submit(keep(number)) for number in range(4)]
    go_on.set()
    for one in pending:
        await one
    assert writer.commits - before == 2


async def test_work_after_the_end_begins_anew(writer: Writer) -> None:
    """Ours: a closed store can be used again, also by callers that were not told."""
    go_on = held(writer)

    async def close() -> None:
        await writer.aclose()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(close)
        tasks.start_soon(close)
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        late = writer.submit(rows, reads=True)
        go_on.set()
        assert await late == []
    await writer.aclose()
    await writer.aclose()
    assert await writer.submit(rows, reads=True) == []


async def test_a_caller_that_is_gone_is_not_told(writer: Writer) -> None:
    """A loop that has ended takes no calls; the others are told."""

    class Ended:
        def call_soon_threadsafe(self, function: object) -> None:
            raise RuntimeError("closed")

    gone: Pending[None] = Pending(nothing)
    gone._loop = Ended()  # pyright: ignore[reportPrivateUsage]
    here: Pending[None] = Pending(nothing)
    for one in (gone, here):
        one.settle(None, None)
    tell((gone, here))
    await here


async def test_what_sqlite_says_is_explained(writer: Writer) -> None:
    """Ours: an error of the database is a StoreError, whatever it is."""

    def nonsense(db: sqlite3.Connection) -> None:
        db.execute("NONSENSE")

    with pytest.raises(StoreError, match="will not be written to"):
        await writer.submit(nonsense)


async def test_a_file_that_turns_out_damaged_is_not_written_to_by_closing_it(
    tmp_path: Path,
) -> None:
    """Issue 12: closing moved the log into a file that was said to be left as it is."""
    writer = Writer(tmp_path / "s.sqlite3")
    await writer.submit(keep(1))
    files = [tmp_path / f"s.sqlite3{suffix}" for suffix in ("", "-wal")]
    before = [file.read_bytes() for file in files]

    def damaged(db: sqlite3.Connection) -> None:
        raise sqlite3.DatabaseError("database disk image is malformed")

    with pytest.raises(StoreError, match="it will not be written to"):
        await writer.submit(damaged, reads=True)
    with pytest.raises(StoreError, match="it will not be written to"):
        await writer.submit(keep(2))
    await writer.aclose()
    assert [file.read_bytes() for file in files] == before


async def test_what_comes_then_is_done_whoever_waits(writer: Writer) -> None:
    """Ours: the gateway tells readers of an event, also if its writer was cancelled."""
    go_on, told = held(writer), list[int]()
    first, second, third = (writer.submit(keep(n), then=told.append) for n in (1, 2, 13))
    with anyio.CancelScope() as scope:
        scope.cancel()
        await second
    go_on.set()
    with pytest.raises(ValueError, match="unlucky"):
        await third
    await first
    assert told == [1, 2]


async def test_patient_work_waits_for_others_to_share_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: small pieces that come one by one; what cannot wait does not."""
    sleeps, go_on = threading.Event(), threading.Event()

    def sleep(seconds: float) -> None:
        assert 0 < seconds <= HANG_SECONDS
        sleeps.set()
        assert go_on.wait(HANG_SECONDS)

    monkeypatch.setattr(writer_thread, "sleep", sleep)
    writer = Writer(tmp_path / "s.sqlite3", group_seconds=HANG_SECONDS)
    await writer.submit(nothing, is_patient=True)
    assert not sleeps.is_set(), "nothing was committed before"
    await writer.submit(nothing)
    assert not sleeps.is_set(), "it is not patient"
    before = writer.commits
    first = writer.submit(keep(1), is_patient=True)
    assert sleeps.wait(HANG_SECONDS)
    second = writer.submit(keep(2), is_patient=True)
    third = writer.submit(keep(3))
    go_on.set()
    assert [await first, await second, await third] == [1, 2, 3]
    assert writer.commits == before + 1
    sleeps.clear()
    hold = held(writer)
    mixed = [writer.submit(keep(4), is_patient=True), writer.submit(keep(5))]
    hold.set()
    assert [await one for one in mixed] == [4, 5]
    assert not sleeps.is_set()
    await writer.aclose()

"""Two processes with one store: nothing is mixed up, and a session has one owner at a time."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from accord.errors import StoreError
from accord.schema import v2
from accord.store import SessionRecord
from accord.store.owner_process import Owner, is_alive, this_process
from accord.store.sqlite import SqliteStore
from tests.hang_limit import HANG_SECONDS

HOLDER = """
import sys, anyio
from accord.store import SessionRecord
from accord.store.sqlite import SqliteStore

async def main(path, name):
    store = SqliteStore(path)
    await store.create(SessionRecord(name, "/w"))
    print("has it", flush=True)
    await anyio.to_thread.run_sync(sys.stdin.readline)
    await store.release(name)
    print("released", flush=True)
    await anyio.to_thread.run_sync(sys.stdin.readline)

anyio.run(main, *sys.argv[1:])
"""
COUNTER = """
import sys, anyio
from accord.schema import v2
from accord.store import SessionRecord
from accord.store.sqlite import SqliteStore

async def main(path, name):
    store = SqliteStore(path)
    log = await store.create(SessionRecord(name, "/w"))
    for number in range(150):
        await log.append(v2.AgentMessage(message_id=str(number)))

anyio.run(main, *sys.argv[1:])
"""


@contextmanager
def running(program: str, *arguments: str) -> Generator[subprocess.Popen[str]]:
    """A Python program with pipes; it is dead afterwards."""
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def said_by(process: subprocess.Popen[str]) -> str:
    """The next line."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.fixture
def anyio_backend() -> str:
    """Processes are slow to start: one loop is enough."""
    return "asyncio"


async def test_a_session_has_one_owner_and_a_dead_one_is_none(tmp_path: Path) -> None:
    """Issue: the second is told, with pid; a dead owner's session is taken over at once."""
    path = tmp_path / "s.sqlite3"
    with running(HOLDER, str(path), "a") as other:
        assert said_by(other) == "has it"
        store = SqliteStore(path)
        record = SessionRecord("a", "/w", title="mine")
        for refused in (store.open("a"), store.delete("a"), store.put(record)):
            with pytest.raises(StoreError, match=f"pid {other.pid}") as raised:
                await refused
            assert raised.value.reason == "session_in_use"
            assert raised.value.details == {"sessionId": "a", "pid": other.pid}
        with pytest.raises(StoreError, match="in another process"):
            await store.keep("a", "history", b"x")
        holder = await store.holder("a")
        assert holder is not None
        assert holder.pid == other.pid
        # Reading and copying disturb nobody.
        assert await store.get("a") == SessionRecord("a", "/w")
        assert await store.read("a") is not None
        assert await store.fork("a", SessionRecord("b", "/w")) is not None
        other.kill()
        # Dead, but not collected: its number is still in the process table.
        os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
        assert await store.holder("a") is None
        assert await store.open("a") is not None
        await store.put(record)
        await store.aclose()


async def test_a_released_session_is_free(tmp_path: Path) -> None:
    """A process that goes on, and has closed the session, does not stand in the way."""
    path = tmp_path / "s.sqlite3"
    with running(HOLDER, str(path), "a") as other:
        assert said_by(other) == "has it"
        assert other.stdin is not None
        other.stdin.write("\n")
        other.stdin.flush()
        assert said_by(other) == "released"
        store = SqliteStore(path)
        assert await store.open("a") is not None
        await store.aclose()


async def test_four_processes_write_at_once(tmp_path: Path) -> None:
    """Issue: they do not corrupt each other; not when the file is made either."""
    path = tmp_path / "s.sqlite3"
    processes = [
        subprocess.Popen([sys.executable, "-c", COUNTER, str(path), f"s{number}"])
        for number in range(4)
    ]
    assert [process.wait(HANG_SECONDS) for process in processes] == [0, 0, 0, 0]
    store = SqliteStore(path)
    for number in range(4):
        log = await store.open(f"s{number}")
        assert log is not None
        assert [int(one.message_id) async for one in log.replay()] == list(range(150))
    await store.aclose()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


async def test_two_stores_of_one_process_are_two_owners(tmp_path: Path) -> None:
    """Ours: a mistake in one program is told like one of two programs."""
    first, second = SqliteStore(tmp_path / "s.sqlite3"), SqliteStore(tmp_path / "s.sqlite3")
    log = await first.create(SessionRecord("a", "/w"))
    with pytest.raises(StoreError, match=f"pid {os.getpid()}"):
        await second.open("a")
    await first.open("a")
    await first.release("a")
    with pytest.raises(StoreError, match="in another process"):
        await second.open("a")
    await first.release("a")
    await first.release("a")
    assert await second.open("a") is not None
    writing = log.append(v2.AgentMessage(message_id="late"))
    assert writing is not None
    with pytest.raises(StoreError, match="in another process"):
        await writing
    await second.aclose()
    await first.aclose()


def test_a_number_that_was_given_again_is_another_process() -> None:
    """Issue: the lease names the start time too."""
    mine = this_process()
    assert is_alive(mine, None)
    assert not is_alive(mine._replace(started=mine.started - 1), None)
    assert not is_alive(mine._replace(pid=2**22 + 1), None)


@pytest.mark.parametrize(
    ("used_at", "alive"),
    [
        (None, False),
        ("yesterday", False),
        ("2020-01-01T00:00:00.000Z", False),
        ("2020-01-01T00:00:00", False),
        ("2999-01-01T00:00:00.000Z", True),
    ],
)
def test_a_process_that_cannot_be_seen_has_an_hour(used_at: str | None, alive: bool) -> None:
    """Ours: in another container; after the hour it is told that it lost the session."""
    mine = this_process()
    boot = mine.place.split()[0]
    assert is_alive(mine._replace(place=f"{boot} elsewhere"), used_at) is alive
    assert not is_alive(mine._replace(place="another boot"), used_at)


@pytest.mark.parametrize(
    ("pid", "alive"),
    [(os.getpid(), True), (2**22 + 1, False), (1, True)],
    ids=["ours", "none", "of another user"],
)
def test_without_proc_a_process_that_answers_is_alive(
    monkeypatch: pytest.MonkeyPatch, pid: int, alive: bool
) -> None:
    """Systems without /proc do not tell the start time."""

    def none(*_: object, **__: object) -> object:
        raise FileNotFoundError

    def nowhere(_: str) -> bool:
        return False

    def answers(wanted: int, _: int) -> None:
        if wanted == 1:
            raise PermissionError
        if wanted != os.getpid():
            raise ProcessLookupError

    monkeypatch.setattr("builtins.open", none)
    monkeypatch.setattr("os.path.exists", nowhere)
    monkeypatch.setattr("os.kill", answers)
    place = this_process().place
    assert is_alive(Owner("t", pid, 0, place), None) is alive

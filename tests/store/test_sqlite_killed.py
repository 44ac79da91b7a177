"""kill -9 at any moment: what was said to be written is there, and the file opens."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from accord.store.sqlite import SqliteStore
from tests.hang_limit import HANG_SECONDS

KILLS = 200
WRITER = Path(__file__).with_name("doomed_writer.py")


@pytest.fixture
def writers() -> Generator[subprocess.Popen[str]]:
    """The program that forks writers."""
    with subprocess.Popen(
        [sys.executable, str(WRITER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        process.wait(HANG_SECONDS)


def killed_writer(writers: subprocess.Popen[str], path: Path, dice: random.Random) -> list[str]:
    """Let a writer write, kill it after some of its words, and return all of them."""
    assert writers.stdin is not None
    assert writers.stdout is not None
    writers.stdin.write(f"{path} {dice.randrange(10**9)}\n")
    writers.stdin.flush()
    pid = 0
    words: list[str] = []
    lives = dice.choice((0, 1, 3, 12, 40))
    # The child may speak before its parent has said who it is.
    while not pid or len(words) < lives:
        line = writers.stdout.readline().strip()
        assert line, "the writers' parent has ended"
        if line.startswith("pid "):
            pid = int(line.split()[1])
        else:
            assert line != "dead", words
            words.append(line)
    os.kill(pid, signal.SIGKILL)
    while (line := writers.stdout.readline().strip()) != "dead":
        words.append(line)
    return words


# The updates of a session are numbered, so its log is whole when count and numbers agree.
LOG = """
    SELECT count(*), max(seq), max(CAST(json_extract(CAST(data AS TEXT), '$.messageId') AS INTEGER))
    FROM events WHERE session = (SELECT number FROM sessions WHERE id = ?)
"""
VALUE = "SELECT value FROM kept WHERE session = (SELECT number FROM sessions WHERE id = ?)"


def number_in(db: sqlite3.Connection, name: str) -> int:
    """How far a session got, by what the file says; read without a store."""
    if name.startswith("kept:"):
        return int(db.execute(VALUE, (name.removeprefix("kept:"),)).fetchone()[0])
    count, last, number = db.execute(LOG, (name,)).fetchone()
    assert count == last == number, name
    return int(count)


def test_what_was_awaited_survives_two_hundred_kills(
    tmp_path: Path, writers: subprocess.Popen[str]
) -> None:
    """Issue: kill -9 at any moment, shown by killing 200 times during writes."""
    path = tmp_path / "s" / "sessions.sqlite3"
    dice = random.Random(7)
    said: dict[str, int] = {}
    for turn in range(KILLS):
        words = killed_writer(writers, path, dice)
        now = {name: int(number) for name, number in map(str.split, words)}
        found: dict[str, int] = {}
        # One that had no time to say anything may not even have made the file.
        if now:
            with closing(sqlite3.connect(path)) as db:
                found = {name: number_in(db, name) for name in now}
        lost = {name for name in now if found[name] < now[name]}
        assert not lost, f"after kill {turn + 1}"
        said |= now
    assert sum(said.values()) > KILLS
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    anyio.run(_all_open, path, said)


async def _all_open(path: Path, said: dict[str, int]) -> None:
    """Every owner is dead, so everything can be had at once."""
    store = SqliteStore(path)
    for name in {name.removeprefix("kept:") for name in said}:
        log = await store.open(name)
        assert log is not None
        numbers = [int(update.message_id) async for update in log.replay()]
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) >= said.get(name, 0)
        assert int(await store.kept(name, "number") or b"0") >= said.get(f"kept:{name}", 0)
    await store.aclose()

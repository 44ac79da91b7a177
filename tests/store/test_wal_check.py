"""A log with damage in its middle: told, left as it is, and saved by rescue."""

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from accord.errors import StoreError
from accord.schema import v2
from accord.store.database_file import open_file
from accord.store.rescue import rescue
from accord.store.session_store import SessionRecord
from accord.store.sqlite import SqliteStore
from accord.store.wal_check import has_content
from tests.store.damage import PAGE, overwritten, replaced, truncated

HEAD = 32
FRAME = 24 + PAGE
UPDATES = 12
OPENINGS = 40

Damage = Callable[[Path, Path], None]
"""Of the file and its log."""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose process was killed: one session is in its log alone."""
    path = tmp_path_factory.mktemp("killed") / "sessions.sqlite3"
    copy = path.with_name("copy.sqlite3")

    async def fill() -> None:
        store = SqliteStore(path)
        log = await store.create(SessionRecord("late", "/w", title="Late"))
        for number in range(UPDATES):
            text = v2.TextContent(text=f"update {number}")
            done = log.append(v2.AgentMessageChunk(message_id=f"m{number}", content=text))
            assert done is not None
            await done
        for suffix in ("", "-wal"):
            shutil.copy(f"{path}{suffix}", f"{copy}{suffix}")
        await store.aclose()

    anyio.run(fill)
    return copy


@pytest.fixture
def store(killed: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    path = tmp_path / "sessions.sqlite3"
    for suffix in ("", "-wal"):
        shutil.copy(f"{killed}{suffix}", f"{path}{suffix}")
    return path


def in_log(start: int, data: bytes) -> Damage:
    return lambda _, log: overwritten(start, data)(log)


def frame(number: int, at: int = 0) -> int:
    """Where a frame of the log begins."""
    return HEAD + number * FRAME + at


DAMAGES: dict[str, Damage] = {
    "the file is empty": lambda path, _: truncated(0)(path),
    "the file is gone": lambda path, _: path.unlink(),
    "head": in_log(0, bytes(6)),
    "salts of the head": in_log(16, b"\xff" * 8),
    "first frame": in_log(frame(0, 24), b"\xff" * 9),
    "page": in_log(frame(6, 4000), b"\xff" * 9),
    "page number": in_log(frame(6), b"\xff\xff\xff\xf0"),
    "salts": in_log(frame(6, 8), bytes(8)),
    "checksum": in_log(frame(6, 16), bytes(8)),
    "a whole frame": in_log(frame(6), bytes(FRAME)),
}


def content(path: Path) -> list[bytes | None]:
    files = (path, Path(f"{path}-wal"))
    return [one.read_bytes() if one.exists() else None for one in files]


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_in_the_log_is_told_and_nothing_is_thrown_away(store: Path, name: str) -> None:
    """Issue 12: SQLite takes the damage for the end; who listed the sessions deleted them."""
    DAMAGES[name](store, Path(f"{store}-wal"))
    before = content(store)
    for _ in range(2):
        with pytest.raises(StoreError, match=r"was not changed.*sessions rescue") as refused:
            open_file(store, "NORMAL")
        assert refused.value.reason == "store_damaged"
        assert str(store) in str(refused.value)
        assert content(store) == before


@pytest.mark.parametrize("name", DAMAGES)
def test_what_follows_the_damage_is_saved(store: Path, name: str) -> None:
    """Issue 12: rescue saves what is readable."""
    DAMAGES[name](store, Path(f"{store}-wal"))
    before = content(store)
    rescued = rescue(store)
    assert rescued.sessions == 1
    assert rescued.updates >= UPDATES - 1
    assert content(store) == before


@pytest.mark.parametrize("cut", [1000, FRAME, 2 * FRAME + 30])
def test_frames_that_were_never_finished_are_no_damage(store: Path, cut: int) -> None:
    """Ours: a log ends in the middle of a frame where the power was cut."""
    log = Path(f"{store}-wal")
    truncated(log.stat().st_size - cut)(log)
    open_file(store, "NORMAL").close()


def test_a_log_of_zeros_is_no_damage(store: Path) -> None:
    """Ours: nothing can be lost of it."""
    replaced(bytes(9999))(Path(f"{store}-wal"))
    open_file(store, "NORMAL").close()


def test_an_empty_log_beside_no_file_is_nothing(tmp_path: Path) -> None:
    """Ours: SQLite may leave one behind."""
    path = tmp_path / "sessions.sqlite3"
    log = Path(f"{path}-wal")
    log.touch()
    assert not has_content(str(log))
    open_file(path, "NORMAL").close()


def test_a_store_that_others_write_to_is_no_damaged_one(tmp_path: Path) -> None:
    """Ours: the log grows, and is started again, while somebody looks at it."""
    path = tmp_path / "sessions.sqlite3"
    open_file(path, "NORMAL").close()
    ended = threading.Event()

    def write() -> None:
        writer = sqlite3.connect(path, isolation_level=None, timeout=60)
        number = 0
        while not ended.is_set():
            number += 1
            writer.execute("INSERT INTO kept VALUES (1, ?, ?)", (str(number), os.urandom(30_000)))
            if number % 7 == 0:
                writer.execute("PRAGMA wal_checkpoint(RESTART)")
                writer.execute("DELETE FROM kept")
        writer.close()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(OPENINGS):
            open_file(path, "NORMAL").close()
    finally:
        ended.set()
        thread.join()

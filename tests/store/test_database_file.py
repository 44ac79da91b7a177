"""What can be wrong with the file of a store: each is said clearly, and nothing is overwritten."""

import errno
import os
import resource
import signal
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from accord.errors import StoreError
from accord.schema import v2
from accord.store import SessionRecord
from accord.store.database_file import open_file
from accord.store.migrations import APPLICATION_ID, SESSION_STORE, STEPS, bring_up_to_date
from accord.store.rescue import rescue
from accord.store.sqlite import SqliteStore
from accord.store.store_errors import explained


async def refused(path: Path, reason: str) -> str:
    """What a store at this path says about itself."""
    store = SqliteStore(path)
    said: set[str] = set()
    for ask in (store.list(None, None), store.get("a"), store.create(SessionRecord("a", "/w"))):
        with pytest.raises(StoreError) as raised:
            await ask
        assert raised.value.reason == reason
        said.add(str(raised.value))
    await store.aclose()
    assert len(said) == 1
    return said.pop()


@pytest.mark.parametrize("content", [b"garbage " * 1000, b"SQLite format 3\x00" + b"\x07" * 8000])
async def test_a_broken_file_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    """Issue: a clear error, and never overwritten."""
    path = tmp_path / "s.sqlite3"
    path.write_bytes(content)
    said = await refused(path, "store_damaged")
    assert str(path) in said
    assert "move it away" in said
    assert path.read_bytes() == content


async def test_a_newer_file_is_left_as_it_is(tmp_path: Path) -> None:
    """Issue: the same for a file of a later version."""
    path = tmp_path / "s.sqlite3"
    open_file(path, "NORMAL").close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    said = await refused(path, "store_newer")
    assert "its format is 99" in said
    assert path.read_bytes() == before


async def test_a_file_of_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    """Ours: a wrong path in a configuration must not cost anybody's data."""
    path = tmp_path / "s.sqlite3"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE bookmarks (url TEXT)")
        db.commit()
    before = path.read_bytes()
    assert "another program" in await refused(path, "store_damaged")
    assert path.read_bytes() == before


async def test_a_place_that_is_no_folder_is_told(tmp_path: Path) -> None:
    """Issue: a directory that cannot be written gives a clear error."""
    (tmp_path / "file").touch()
    said = await refused(tmp_path / "file" / "s.sqlite3", "store_unreachable")
    assert "ACCORD_STATE_DIR" in said
    (tmp_path / "folder").mkdir()
    assert "Is a directory" in await refused(tmp_path / "folder", "store_unreachable")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """Issue: the same, the usual way."""
    tmp_path.chmod(0o500)
    assert "Permission denied" in await refused(tmp_path / "s.sqlite3", "store_unreachable")


async def test_a_store_works_once_the_trouble_is_over(tmp_path: Path) -> None:
    """Issue: the agent goes on."""
    blocked = tmp_path / "state"
    blocked.touch()
    store = SqliteStore(blocked / "s.sqlite3")
    with pytest.raises(StoreError):
        await store.list(None, None)
    blocked.unlink()
    await store.create(SessionRecord("a", "/w"))
    await store.aclose()


@contextmanager
def small_files(most: int) -> Generator[None]:
    """No file of this process may grow beyond so many bytes."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.SIG_IGN
    old = signal.signal(signal.SIGXFSZ, handler)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, old)


async def test_without_space_an_update_fails_and_the_next_one_may_not(tmp_path: Path) -> None:
    """Issue: a full disk gives a clear error and the agent goes on; what was written stays."""
    path = tmp_path / "s.sqlite3"
    store = SqliteStore(path)
    log = await store.create(SessionRecord("a", "/w"))
    first = v2.AgentMessage(message_id="1")
    large = v2.AgentMessage(message_id="2", content=[v2.TextContent(text="x" * 2_000_000)])
    last = v2.AgentMessage(message_id="3")
    writing = log.append(first)
    assert writing is not None
    await writing
    with small_files(600_000):
        writing = log.append(large)
        assert writing is not None
        with pytest.raises(StoreError) as raised:
            await writing
        assert raised.value.reason in {"store_full", "store_unreachable"}
    writing = log.append(last)
    assert writing is not None
    await writing
    assert [update async for update in log.replay()] == [first, last]
    await store.aclose()


def test_a_full_disk_is_called_so(tmp_path: Path) -> None:
    """SQLite's code for it, by a store that may have only so many pages."""
    with closing(open_file(tmp_path / "s.sqlite3", "NORMAL")) as db:
        db.execute("PRAGMA max_page_count = 10")
        with pytest.raises(sqlite3.Error) as raised:
            db.execute("INSERT INTO kept VALUES (1, 'x', zeroblob(1000000))")
    error = explained(raised.value, tmp_path / "s.sqlite3")
    assert error.reason == "store_full"
    assert "no space left" in str(error)


def test_a_full_disk_is_called_so_wherever_it_is_met(tmp_path: Path) -> None:
    """Issue 12: one that had no room for the index of the log was called not writable."""
    index = sqlite3.OperationalError("disk I/O error")
    index.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    for error in (index, OSError(errno.ENOSPC, "x"), OSError(errno.EDQUOT, "x")):
        assert explained(error, tmp_path).reason == "store_full"


def test_an_old_file_is_brought_up_to_date_once(tmp_path: Path) -> None:
    """Issue: schema migrations; each step with its number, in one transaction."""
    path = tmp_path / "s.sqlite3"
    steps = (*STEPS, "CREATE TABLE extra (a); INSERT INTO extra VALUES (1)")
    newer = replace(SESSION_STORE, migrations=steps)
    with closing(open_file(path, "FULL")) as db:
        bring_up_to_date(db, str(path), newer)
        bring_up_to_date(db, str(path), newer)
        assert db.execute("SELECT * FROM extra").fetchall() == [(1,)]
        assert db.execute("PRAGMA user_version").fetchone() == (2,)
        assert db.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


def test_a_step_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    """Ours: half a migration would be worse than none."""
    path = tmp_path / "s.sqlite3"
    bad = replace(SESSION_STORE, migrations=(*STEPS, "CREATE TABLE extra (a); NONSENSE"))
    with closing(open_file(path, "NORMAL")) as db:
        with pytest.raises(sqlite3.Error):
            bring_up_to_date(db, str(path), bad)
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
        assert not db.execute("SELECT * FROM sqlite_master WHERE name = 'extra'").fetchall()


def test_a_file_that_somebody_holds_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: several processes make one file; SQLite itself does not wait everywhere."""
    path = tmp_path / "s.sqlite3"
    monkeypatch.setattr("accord.store.database_file.BUSY_SECONDS_MAX", 0.01)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="database is locked"):
            open_file(path, "NORMAL")
        monkeypatch.setattr("accord.store.database_file.BUSY_SECONDS_MAX", 5.0)

        def let_go(_: float) -> None:
            other.execute("ROLLBACK")

        monkeypatch.setattr("accord.store.database_file.sqlite3.connect", _impatient)
        monkeypatch.setattr("accord.store.database_file.time.sleep", let_go)
        open_file(path, "NORMAL").close()


_connect = sqlite3.connect


def _impatient(path: Path, **_: object) -> sqlite3.Connection:
    return _connect(path, timeout=0, isolation_level=None)


def test_a_file_that_is_writable_again_is_written_to(tmp_path: Path) -> None:
    """Issue 12: the log of a file that was read while it was read-only stayed read-only."""
    path = tmp_path / "s.sqlite3"
    open_file(path, "NORMAL").close()
    logs = [Path(f"{path}{suffix}") for suffix in ("-wal", "-shm")]
    for log in logs:
        log.touch()
        log.chmod(0o400)
    path.chmod(0o600)
    connection = open_file(path, "NORMAL")
    assert [log.stat().st_mode & 0o777 for log in logs] == [0o600, 0o600]
    connection.close()


@pytest.mark.parametrize("version", [0, -1])
def test_a_version_that_never_was_is_damage(tmp_path: Path, version: int) -> None:
    """Issue 12: a file that is left as it is gets no log beside it either."""
    path = tmp_path / "s.sqlite3"
    open_file(path, "NORMAL").close()
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(StoreError, match="was not changed"):
        open_file(path, "NORMAL")
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_pipe_is_no_store(tmp_path: Path) -> None:
    """Issue 12: rescue waited for somebody to write to it."""
    path = tmp_path / "s.sqlite3"
    os.mkfifo(path)
    with pytest.raises(StoreError, match="not a regular file"):
        rescue(path)
    with pytest.raises(StoreError, match="not a regular file"):
        open_file(path, "NORMAL")


@contextmanager
def half_created(path: Path) -> Generator[sqlite3.Connection]:
    """A store that another connection is creating; a part of its pages is in the file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as creator:
        creator.execute("PRAGMA page_size = 8192")
        # Pages are written before the commit when the cache is full.
        creator.execute("PRAGMA cache_size = 1")
        creator.execute("BEGIN")
        for statement in (*STEPS[0].split(";"), "PRAGMA user_version = 1"):
            creator.execute(statement)
        creator.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        creator.executemany(
            "INSERT INTO events VALUES (1, ?, 0, randomblob(9000))", [(seq,) for seq in range(9)]
        )
        assert path.stat().st_size > 0
        assert path.with_name(f"{path.name}-journal").exists()
        yield creator


def test_a_store_that_another_process_creates_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a half-written file is busy and not damaged."""
    path = tmp_path / "s.sqlite3"
    with half_created(path) as creator:
        with monkeypatch.context() as patched:
            patched.setattr("accord.store.database_file.BUSY_SECONDS_MAX", 0.01)
            with pytest.raises(StoreError, match="database is locked"):
                open_file(path, "NORMAL")
        creator.execute("COMMIT")
    with closing(open_file(path, "NORMAL")) as db:
        assert db.execute("SELECT count(*) FROM events").fetchone() == (9,)


def test_damage_that_was_a_write_of_another_process_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a file that is read without locks may change while it is read."""
    path = tmp_path / "s.sqlite3"
    open_file(path, "NORMAL").close()
    whole = path.read_bytes()
    path.write_bytes(whole[:8192])

    def finish(_: float) -> None:
        path.write_bytes(whole)

    monkeypatch.setattr("accord.store.database_file.time.sleep", finish)
    open_file(path, "NORMAL").close()


def test_a_store_whose_creator_was_killed_is_created(tmp_path: Path) -> None:
    """Ours: SQLite rolls back what was not committed; it is not damage."""
    path, copy = tmp_path / "s.sqlite3", tmp_path / "copy/s.sqlite3"
    copy.parent.mkdir()
    with half_created(path):
        for name in ("s.sqlite3", "s.sqlite3-journal"):
            (copy.parent / name).write_bytes((tmp_path / name).read_bytes())
    with closing(open_file(copy, "NORMAL")) as db:
        assert db.execute("SELECT count(*) FROM events").fetchone() == (0,)

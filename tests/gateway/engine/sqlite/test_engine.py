"""What the engine in a file does besides what every engine does."""

import asyncio
import sqlite3
import stat
import threading
from collections.abc import Callable
from contextlib import AsyncExitStack, closing
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from accord.errors import StoreError
from accord.gateway.engine.engine_errors import Fenced, NoSession
from accord.gateway.engine.interface import Lease, NewEvent, SnapshotPart
from accord.gateway.engine.sqlite import SqliteEngine, log_queries
from accord.gateway.engine.sqlite.gateway_file import place_of
from accord.store.database_file import open_file
from tests.gateway.engine.worlds import all_events, events, frames_of, record
from tests.hang_limit import HANG_SECONDS


async def owned(engine: SqliteEngine, session: str = "s", node: str = "a") -> Lease:
    """A new session with an owner."""
    await engine.create(record(session))
    return await engine.own(session, await engine.enter(node))


class Held:
    """The writer thread of an engine, busy until it is let go: what comes next is one group."""

    def __init__(self, engine: SqliteEngine) -> None:
        self._began, self._go_on = threading.Event(), threading.Event()
        engine._writer.submit(self._wait, reads=True)
        self._began.wait(HANG_SECONDS)

    def _wait(self, _: sqlite3.Connection) -> None:
        self._began.set()
        self._go_on.wait(HANG_SECONDS)

    def let_go(self) -> None:
        """Let the thread go on."""
        self._go_on.set()


async def change(engine: SqliteEngine, *statements: str) -> None:
    """Do something to the file that the engine would not do."""

    def work(db: sqlite3.Connection) -> None:
        for statement in statements:
            db.execute(statement)

    await engine._writer.submit(work)


async def test_the_files_are_private(tmp_path: Path) -> None:
    """Issue 17: what people say to agents is for nobody else."""
    path = tmp_path / "new" / "gateway.sqlite3"
    async with SqliteEngine(path) as engine:
        await owned(engine)
        names = {one.name for one in path.parent.iterdir()}
        assert names == {
            ".gateway.sqlite3.lock",
            *("gateway.sqlite3", "gateway.sqlite3-wal", "gateway.sqlite3-shm"),
        }
        for one in path.parent.iterdir():
            assert stat.S_IMODE(one.stat().st_mode) == 0o600, one
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_a_commit_waits_for_the_disk(tmp_path: Path) -> None:
    """Issue 17: full sync."""
    async with SqliteEngine(tmp_path / "g") as engine:

        def mode(db: sqlite3.Connection) -> tuple[int, str]:
            [synchronous] = db.execute("PRAGMA synchronous").fetchone()
            return synchronous, db.execute("PRAGMA journal_mode").fetchone()[0]

        assert await engine._writer.submit(mode, reads=True) == (2, "wal")


async def test_appends_of_many_sessions_share_a_commit(tmp_path: Path) -> None:
    """Issue 17: group commit."""
    async with SqliteEngine(tmp_path / "g") as engine:
        leases = [await owned(engine, f"s{number}") for number in range(20)]
        before, held = engine.commits, Held(engine)
        async with anyio.create_task_group() as tasks:
            for lease in leases:
                tasks.start_soon(engine.append, lease, events("a", "b"))
            await anyio.wait_all_tasks_blocked()
            held.let_go()
        assert engine.commits == before + 1


async def test_a_refused_append_costs_the_others_nothing(tmp_path: Path) -> None:
    """Ours: a group with an old owner in it is still one commit."""
    async with SqliteEngine(tmp_path / "g") as engine:
        old = await owned(engine)
        new = await engine.own("s", old.node)
        before, held = engine.commits, Held(engine)
        refused: list[Fenced] = []

        async def late() -> None:
            with pytest.raises(Fenced) as raised:
                await engine.append(old, events("late"))
            refused.append(raised.value)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(engine.append, new, events("a"))
            tasks.start_soon(late)
            tasks.start_soon(engine.append, new, events("b"))
            await anyio.wait_all_tasks_blocked()
            held.let_go()
        assert (len(refused), engine.commits) == (1, before + 1)
        assert sorted(await frames_of(engine)) == ["a", "b"]


@pytest.mark.parametrize("first", ["append", "own"])
async def test_the_order_of_an_append_and_a_take_over_decides(tmp_path: Path, first: str) -> None:
    """Issue 17: an append that was queued when another node took over."""
    now = 0.0
    async with SqliteEngine(tmp_path / "g", lease_clock=lambda: now) as engine:
        old = await owned(engine)
        other = await engine.enter("b")
        now += 100
        held = Held(engine)
        outcomes: dict[str, object] = {}

        async def append() -> None:
            try:
                outcomes["append"] = await engine.append(old, events("queued"))
            except Fenced as error:
                outcomes["append"] = error

        async def own() -> None:
            outcomes["own"] = await engine.own("s", other)

        async with anyio.create_task_group() as tasks:
            for work in (append, own) if first == "append" else (own, append):
                tasks.start_soon(work)
                await anyio.wait_all_tasks_blocked()
            held.let_go()
        new = outcomes["own"]
        assert isinstance(new, Lease)
        if first == "append":
            assert (outcomes["append"], new.last) == (1, 1)
        else:
            assert (type(outcomes["append"]), new.last) == (Fenced, 0)
        # Either way the new owner knows all that is there.
        assert (await engine.log_state("s")).last == new.last


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_task_that_is_cancelled_from_outside_stores_all_and_tells_readers(
    tmp_path: Path,
) -> None:
    """Ours: asyncio's own cancellation goes through the shield; the log is right all the same."""
    async with SqliteEngine(tmp_path / "g") as engine:
        lease = await owned(engine)
        held = Held(engine)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(engine.wait, "s", 0)
            writer = asyncio.ensure_future(engine.append(lease, events("a", "b")))
            await anyio.wait_all_tasks_blocked()
            writer.cancel()
            with pytest.raises(asyncio.CancelledError):
                await writer
            held.let_go()
        assert await frames_of(engine) == ["a", "b"]


async def test_a_cancelled_append_that_was_queued_returns(tmp_path: Path) -> None:
    """Ours: what has begun is finished, and its caller learns the number."""
    async with SqliteEngine(tmp_path / "g") as engine:
        lease = await owned(engine)
        held = Held(engine)
        told: list[int] = []

        async def append() -> None:
            told.append(await engine.append(lease, events("a", "b")))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(append)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
            held.let_go()
        assert told == [2]


async def test_an_append_that_waits_for_room_is_not_stored_if_cancelled(tmp_path: Path) -> None:
    """Ours: the bytes that wait for the disk are bounded."""
    async with SqliteEngine(tmp_path / "g", queued_bytes_max=1000) as engine:
        lease = await owned(engine)
        held = Held(engine)
        async with anyio.create_task_group() as outer:
            outer.start_soon(engine.append, lease, events("x" * 900))
            await anyio.wait_all_tasks_blocked()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(engine.append, lease, events("y" * 900))
                await anyio.wait_all_tasks_blocked()
                tasks.cancel_scope.cancel()
            outer.start_soon(engine.append, lease, events("z" * 900))
            await anyio.wait_all_tasks_blocked()
            held.let_go()
        assert [frame[0] for frame in await frames_of(engine)] == ["x", "z"]


async def test_a_closed_engine_is_not_opened_by_mistake(tmp_path: Path) -> None:
    """Ours: without its lock another process may have the file."""
    engine = SqliteEngine(tmp_path / "g")
    async with engine:
        lease = await owned(engine)
    for late in (engine.append(lease, events("a")), engine.get("s"), engine.enter("a")):
        with pytest.raises(StoreError, match="is closed"):
            await late
    async with engine:
        assert await engine.get("s") is not None


async def test_events_of_a_deleted_session_are_erased_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: others write in between; and what a crash left is erased by the next process."""
    path = tmp_path / "g"
    monkeypatch.setattr("accord.gateway.engine.sqlite.record_queries.TRIM_EVENTS", 3)

    def count(db: sqlite3.Connection) -> int:
        return int(db.execute("SELECT count(*) FROM events").fetchone()[0])

    async with SqliteEngine(path) as engine:
        await engine.append(await owned(engine), events("x" * 20_000) * 10)
        await engine.append(await owned(engine, "t"), events("t"))
        pages = path.stat().st_size
        before = engine.commits
        await engine.delete("s")
        assert engine.commits > before + 4
        assert await engine._writer.submit(count, reads=True) == 1
        await engine.delete("t")
        await engine.append(await owned(engine), events("x") * 5)
        # As if the process had ended before it was done.
        await change(
            engine,
            "DELETE FROM sessions",
            "INSERT INTO erased SELECT max(seq) FROM sqlite_sequence",
        )
    assert path.stat().st_size <= pages
    async with SqliteEngine(path) as engine:
        assert await engine._writer.submit(count, reads=True) == 0
        assert await engine._writer.submit(
            lambda db: db.execute("SELECT count(*) FROM erased").fetchone(), reads=True
        ) == (0,)


async def test_a_log_is_trimmed_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: one transaction removes a bounded number of events."""
    monkeypatch.setattr(log_queries, "TRIM_EVENTS", 4)
    async with SqliteEngine(tmp_path / "g") as engine:
        lease = await owned(engine)
        await engine.append(lease, events("x") * 20)
        await engine.extend_snapshot(lease, 20, b"", 10)
        before = engine.commits
        await engine.trim(lease, 18)
        assert engine.commits == before + 5
        assert (await engine.log_state("s")).first == 19
        assert len(await all_events(engine, "s", 18)) == 2


# ---- what can be wrong with the file


async def test_a_full_disk_is_explained_and_stores_nothing(tmp_path: Path) -> None:
    """Issue 17: as a store explains it; the log has no half of a group."""
    async with SqliteEngine(tmp_path / "g") as engine:
        lease = await owned(engine)
        await engine.append(lease, events("a"))
        await change(engine, "PRAGMA max_page_count = 1")
        with pytest.raises(StoreError, match=r"no space left for .*g; free some") as raised:
            await engine.append(lease, events("x" * 8000) * 20)
        assert raised.value.reason == "store_full"
        await change(engine, "PRAGMA max_page_count = 100000")
        assert await engine.append(lease, events("b")) == 2
        assert await frames_of(engine) == ["a", "b"]


def _garbage(path: Path) -> None:
    path.write_bytes(b"garbage " * 1000)


def _newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")


def _session_store(path: Path) -> None:
    path.unlink()
    open_file(path, "NORMAL").close()


def _no_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TABLE events")
        db.commit()


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("damage", "reason", "advice"),
    [
        (_garbage, "store_damaged", "is damaged or not a gateway's file .* move it away, with its"),
        (_newer, "store_newer", "update accord, or choose another folder"),
        (_session_store, "store_damaged", "of another program, .* or choose another folder$"),
        (_no_table, "store_damaged", "is damaged or not a gateway's file"),
        (_folder, "store_unreachable", "cannot store the gateway's sessions .*: Is a directory"),
    ],
)
async def test_a_file_that_cannot_be_used_is_explained_and_left_as_it_is(
    tmp_path: Path, damage: Callable[[Path], None], reason: str, advice: str
) -> None:
    """Issue 17: disk full and damaged files are explained as a store explains them."""
    path = tmp_path / "g"
    async with SqliteEngine(path) as engine:
        await owned(engine)
    damage(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(StoreError, match=advice) as raised:
        async with SqliteEngine(path):
            pass
    assert raised.value.reason == reason
    assert "accord sessions" not in str(raised.value)
    assert (path.read_bytes() if path.is_file() else b"") == before


@pytest.mark.parametrize(
    "statement",
    [
        f"DELETE FROM events WHERE place = {place_of(1, 2)}",
        f"DELETE FROM events WHERE place = {place_of(1, 3)}",
        f"UPDATE events SET frame = 'text' WHERE place = {place_of(1, 2)}",
        f"UPDATE events SET kind = x'ff' WHERE place = {place_of(1, 2)}",
        f"UPDATE events SET at = 'x' WHERE place = {place_of(1, 2)}",
        "UPDATE sessions SET epoch = 'x' WHERE id = 's'",
        "UPDATE sessions SET first = 9 WHERE id = 's'",
        "UPDATE sessions SET snapshot_seq = 'x' WHERE id = 's'",
    ],
)
async def test_a_damaged_log_is_told_and_never_a_hole(tmp_path: Path, statement: str) -> None:
    """Ours: what cannot be read is an error, in this session alone."""
    async with SqliteEngine(tmp_path / "g") as engine:
        lease = await owned(engine)
        await engine.append(lease, events("a", "b", "c"))
        await engine.append(await owned(engine, "t"), events("t"))
        await change(engine, statement)
        with pytest.raises(StoreError, match="session s is damaged") as raised:
            await engine.read_after("s", 0)
        assert raised.value.reason == "session_damaged"
        assert "accord sessions" not in str(raised.value)
        assert await frames_of(engine, "t") == ["t"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET members = '{'",
        "UPDATE records SET members = '[]'",
        """UPDATE records SET members = '{"eve": "root"}'""",
        "UPDATE records SET title = x'37'",
        "UPDATE records SET data = 'text'",
        "UPDATE records SET revision = 'x'",
    ],
)
async def test_a_damaged_record_gives_nobody_a_right(tmp_path: Path, statement: str) -> None:
    """Ours: what is not understood is an error, not a role."""
    async with SqliteEngine(tmp_path / "g") as engine:
        stored = await engine.create(record())
        await change(engine, statement)
        for ask in (engine.get("s"), engine.records(), engine.put(replace(stored, title="x"))):
            with pytest.raises(StoreError, match="session s is damaged"):
                await ask
        # It can still be deleted.
        assert await engine.delete("s")


async def test_a_lost_snapshot_is_told(tmp_path: Path) -> None:
    """Ours."""
    async with SqliteEngine(tmp_path / "g") as engine:
        lease = await owned(engine)
        await engine.append(lease, events("x"))
        await engine.extend_snapshot(lease, 1, b"x", 10)
        assert await engine.snapshot_after("s", 0) == SnapshotPart(1, 1, b"x")
        await change(engine, "DELETE FROM snapshots")
        with pytest.raises(StoreError, match="its snapshot is missing"):
            await engine.snapshot_after("s", 0)


async def test_a_log_has_as_many_events_as_have_a_place(tmp_path: Path) -> None:
    """Ours: the next session's events are not where this one's would be."""
    from accord.gateway.engine.engine_errors import LogFull
    from accord.gateway.engine.sqlite.gateway_file import SEQ_MAX

    async with SqliteEngine(tmp_path / "g") as engine:
        lease = await owned(engine)
        await change(engine, f"UPDATE sessions SET first = {SEQ_MAX}, last = {SEQ_MAX - 1}")
        assert await engine.append(lease, events("last")) == SEQ_MAX
        with pytest.raises(LogFull):
            await engine.append(lease, events("one more"))
        assert [one.frame for one in (await engine.read_after("s", SEQ_MAX - 1)).events] == [
            b"last"
        ]


async def test_a_large_frame_comes_back_as_it_was(tmp_path: Path) -> None:
    """Ours: a frame has up to 32 MiB."""
    frame = bytes(range(256)) * (128 * 1024)
    async with SqliteEngine(tmp_path / "g") as engine:
        lease = await owned(engine)
        await engine.append(lease, [NewEvent("large", frame)])
        [event] = (await engine.read_after("s", 0)).events
        assert event.frame == frame


async def test_a_second_engine_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    """Issue 17: one process has the file; the other is told which."""
    path = tmp_path / "g"
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(SqliteEngine(path))
        lease = await owned(engine)
        with pytest.raises(StoreError, match="is in use by another gateway"):
            await stack.enter_async_context(SqliteEngine(path))
        # The one that was refused did not take the lock with it.
        with pytest.raises(StoreError, match="is in use by another gateway"):
            await stack.enter_async_context(SqliteEngine(path))
        assert await engine.append(lease, events("a")) == 1
    async with SqliteEngine(path) as engine:
        with pytest.raises(NoSession):
            await engine.log_state("t")

"""Sessions in a file: what it keeps, for whom, and what it says when it cannot."""

import sqlite3
import stat
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.errors import StoreError
from accord.schema import v2
from accord.schema.struct import UnknownVariant
from accord.store import SessionLog, SessionRecord, session_store
from accord.store.session_store import BadCursor
from accord.store.sqlite import SqliteStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be; its folder is not there yet."""
    return tmp_path / "state" / "sessions.sqlite3"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    """An open store."""
    opened = SqliteStore(path, page_sessions=2)
    yield opened
    await opened.aclose()


def chunk(text: str, message_id: str = "m") -> v2.AgentMessageChunk:
    """One piece of an answer."""
    return v2.AgentMessageChunk(message_id=message_id, content=v2.TextContent(text=text))


async def add(log: SessionLog | None, *updates: Any) -> None:
    """Append and wait."""
    assert log is not None
    for update in updates:
        writing = log.append(update)
        assert writing is not None
        await writing


async def updates_of(log: SessionLog | None) -> list[Any]:
    """What a replay gives."""
    assert log is not None
    return [update async for update in log.replay()]


def change(path: Path, statement: str, *values: object) -> None:
    """Do something to the file that a store would not do."""
    with sqlite3.connect(path) as db:
        db.execute(statement, values)
    db.close()


async def test_a_session_is_there_for_the_next_process(path: Path) -> None:
    """Issue: sessions outlive processes, with all that the record says."""
    record = SessionRecord(
        "a",
        "/w",
        ("/x", "/y"),
        title="t",
        updated_at="2026-01-01T00:00:00.000Z",
        options={"mode": "ask", "fast": True},
        titled_by_user=True,
        system_prompt="be brief",
        system_prompt_overrides=True,
        tokens={"input": 3},
        turn_open=True,
    )
    first = SqliteStore(path)
    call = v2.ToolCallUpdate(tool_call_id="c", title="look", status="completed", content=None)
    unknown = UnknownVariant("sessionUpdate", "_mine", b'{"sessionUpdate":"_mine","a":1e400}')
    await add(await first.create(record), chunk("one"), call, unknown)
    await first.keep("a", "history", b"\x00\xff")
    await first.aclose()
    second = SqliteStore(path)
    assert await second.get("a") == record
    assert await updates_of(await second.open("a")) == [chunk("one"), call, unknown]
    assert await second.kept("a", "history") == b"\x00\xff"
    assert await second.kept("a", "other") is None
    await second.aclose()


async def test_what_is_unknown_is_none_and_stays_so(store: SqliteStore) -> None:
    """As in memory: nothing comes back that was deleted."""
    record = SessionRecord("a", "/w")
    assert await store.get("a") is None
    assert await store.open("a") is None
    assert await store.read("a") is None
    assert await store.holder("a") is None
    assert await store.fork("a", SessionRecord("b", "/w")) is None
    assert not await store.delete("a")
    await store.put(record)
    await store.keep("a", "history", b"x")
    await store.release("a")
    assert await store.get("a") is None
    log = await store.create(record)
    await store.keep("a", "history", b"x")
    assert await store.delete("a")
    await add(log, chunk("late"))
    assert await store.get("a") is None
    await store.create(replace(record, session_id="b"))
    assert await store.kept("b", "history") is None


async def test_an_id_is_used_once(store: SqliteStore) -> None:
    """A log must not get a second owner by a mistake of the caller."""
    await store.create(SessionRecord("a", "/w"))
    with pytest.raises(StoreError, match="session a already exists or existed") as raised:
        await store.create(SessionRecord("a", "/w"))
    assert raised.value.reason == "session_exists"


async def test_only_the_user_can_read_it(path: Path) -> None:
    """Issue: permissions 0700 and 0600, also of SQLite's own files; a looser file is closed."""
    path.parent.mkdir(mode=0o700)
    path.touch(mode=0o644)
    store = SqliteStore(path)
    await store.create(SessionRecord("a", "/w"))
    files = sorted(path.parent.iterdir())
    assert [file.name for file in files] == [
        "sessions.sqlite3",
        "sessions.sqlite3-shm",
        "sessions.sqlite3-wal",
    ]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    await store.aclose()


async def test_a_folder_that_is_made_is_the_users_alone(path: Path, store: SqliteStore) -> None:
    """Issue: 0700; and no file is touched before there is a reason."""
    assert not path.parent.exists()
    await store.create(SessionRecord("a", "/w"))
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_chunks_in_flight_share_commits(store: SqliteStore) -> None:
    """Issue: group commit; and the log has the order of the calls."""
    log = await store.create(SessionRecord("a", "/w"))
    before = store.commits
    kinds = [chunk(str(number), message_id=str(number)) for number in range(500)]
    pending = [log.append(update) for update in kinds]
    async with anyio.create_task_group() as tasks:
        for one in pending:
            assert one is not None
            tasks.start_soon(_wait, one)
    assert store.commits - before < 100
    assert await updates_of(log) == kinds


async def _wait(one: Any) -> None:
    await one


async def test_giving_up_the_wait_does_not_undo_it(store: SqliteStore) -> None:
    """A cancelled turn may leave an update that was not sent; never one that was sent and lost."""
    log = await store.create(SessionRecord("a", "/w"))
    with anyio.CancelScope() as scope:
        scope.cancel()
        await add(log, chunk("one"))
    await add(log, v2.AgentMessage(message_id="n"))
    assert await updates_of(log) == [chunk("one"), v2.AgentMessage(message_id="n")]


async def test_a_replay_is_in_slices_and_ends_where_it_began(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs go on over the slices; what is added meanwhile is for whoever adds it."""
    monkeypatch.setattr("accord.store.sqlite.SLICE_UPDATES", 2)
    log = await store.create(SessionRecord("a", "/w"))
    await add(log, *(chunk(text) for text in "abcde"), chunk("x", "n"))
    seen = []
    async for update in log.replay():
        seen.append(update)
        await add(log, chunk("late"))
    assert seen == [chunk("abcde"), chunk("x", "n")]
    await store.create(SessionRecord("b", "/w"))
    assert await updates_of(await store.open("b")) == []


async def test_a_list_keeps_its_place_while_sessions_come_and_go(store: SqliteStore) -> None:
    """Issue: list with stable cursor and cwd filter."""
    for number in range(6):
        await store.create(SessionRecord(f"s{number}", f"/w/{number % 2}", archived=number > 3))
    first = await store.list(None, None)
    assert [record.session_id for record in first.sessions] == ["s5", "s4"]
    await store.create(SessionRecord("new", "/w/0"))
    await store.delete("s4")
    await store.delete("s3")
    second = await store.list(None, first.next_cursor)
    assert [record.session_id for record in second.sessions] == ["s2", "s1"]
    third = await store.list(None, second.next_cursor)
    assert ([record.session_id for record in third.sessions], third.next_cursor) == (["s0"], None)
    even = await store.list("/w/0", None, archived=False)
    assert [record.session_id for record in even.sessions] == ["new", "s2"]
    assert [one.session_id for one in (await store.list(None, None, True)).sessions] == ["s5"]


@pytest.mark.parametrize(
    "cursor", ["", "below:", "below:x", "3", "below:99", "below:-1", "below:²"]
)
async def test_a_cursor_that_we_did_not_give_is_refused(store: SqliteStore, cursor: str) -> None:
    """As in memory."""
    await store.create(SessionRecord("a", "/w"))
    with pytest.raises(BadCursor):
        await store.list(None, cursor)


async def test_a_fork_has_its_own_future(store: SqliteStore) -> None:
    """Issue: fork; values go with it."""
    log = await store.create(SessionRecord("a", "/w"))
    await add(log, chunk("one"))
    await store.keep("a", "history", b"1")
    fork = await store.fork("a", SessionRecord("b", "/v", title="copy"))
    await add(fork, chunk("two", "n"))
    await add(log, chunk("three", "n"))
    await store.keep("a", "history", b"2")
    assert await updates_of(fork) == [chunk("one"), chunk("two", "n")]
    assert await updates_of(log) == [chunk("one"), chunk("three", "n")]
    assert await store.kept("b", "history") == b"1"


async def test_a_value_has_a_bound(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in memory."""
    monkeypatch.setattr(session_store, "KEPT_BYTES_MAX", 3)
    with pytest.raises(ValueError, match="the limit is 3"):
        await store.keep("a", "history", b"abcd")


async def test_a_pruned_session_says_so(store: SqliteStore) -> None:
    """Issue: loading a pruned session says which in `data.reason`."""
    old = "2026-01-01T00:00:00.000Z"
    for name in ("gone", "kept", "open"):
        await store.create(SessionRecord(name, "/w", title=name, updated_at=old))
    await store.create(SessionRecord("young", "/w", updated_at="2026-03-01T00:00:00.000Z"))
    for name in ("gone", "kept", "young"):
        await store.release(name)
    moment = datetime(2026, 2, 1, tzinfo=UTC)
    assert await store.prune(moment, keep=4) == []
    await store.put(SessionRecord("kept", "/w", updated_at="2026-02-02T00:00:00.000Z"))
    assert await store.prune(moment) == ["gone"]
    for ask in (store.get, store.open, store.read):
        with pytest.raises(StoreError, match="was pruned at") as raised:
            await ask("gone")
        assert raised.value.reason == "session_pruned"
    listed = [
        *(await store.list(None, None)).sessions,
        *(await store.list(None, "below:3")).sessions,
    ]
    assert {record.session_id for record in listed} == {"kept", "open", "young"}
    assert not await store.delete("gone")
    assert await store.get("gone") is None


async def test_a_damaged_session_leaves_the_others_alone(path: Path, store: SqliteStore) -> None:
    """Issue: a damaged session says so, and the others still open."""
    for name in ("bad update", "bad record", "strange", "good"):
        await add(await store.create(SessionRecord(name, "/w", title=name)), chunk("x"))
    change(path, "UPDATE events SET data = x'7b22' WHERE session = 1")
    change(path, "UPDATE sessions SET rest = '[' WHERE number = 2")
    change(path, "UPDATE events SET data = CAST('[1]' AS BLOB) WHERE session = 3")
    for name in ("bad update", "bad record"):
        with pytest.raises(StoreError, match="other sessions are not affected") as raised:
            await store.open(name)
        assert raised.value.reason == "session_damaged"
        assert raised.value.details == {"sessionId": name, "path": str(path)}
    with pytest.raises(StoreError, match="damaged"):
        await store.read("bad update")
    with pytest.raises(StoreError, match="damaged"):
        await store.get("bad record")
    with pytest.raises(StoreError, match="damaged"):
        await updates_of(await store.open("strange"))
    assert await updates_of(await store.open("good")) == [chunk("x")]
    titles = [one.title for one in (await store.list(None, "below:4")).sessions]
    assert titles == ["strange", "bad record"]
    assert await store.delete("bad record")


async def test_what_is_too_long_ago_is_counted_in_any_time_zone(store: SqliteStore) -> None:
    """A caller's clock may have another zone than the records."""
    used = datetime(2026, 1, 1, 12, tzinfo=UTC)
    await store.create(SessionRecord("a", "/w", updated_at="2026-01-01T12:00:00.000Z"))
    await store.release("a")
    east = timezone(timedelta(hours=5))
    assert await store.prune(used.astimezone(east)) == []
    assert await store.prune((used + timedelta(seconds=1)).astimezone(east)) == ["a"]


async def test_what_is_deleted_is_not_in_the_file_any_more(path: Path) -> None:
    """Ours: forgotten means forgotten, and the space is given back."""
    store = SqliteStore(path)
    for name in ("a", "b"):
        log = await store.create(SessionRecord(name, "/w", updated_at="2020-01-01T00:00:00.000Z"))
        for number in range(50):
            await add(log, chunk(f"secret of {name} " * 500, str(number)))
        await store.release(name)
    await store.aclose()
    full = path.stat().st_size
    await store.delete("a")
    await store.prune(datetime(2021, 1, 1, tzinfo=UTC))
    await store.aclose()
    assert b"secret of" not in path.read_bytes()
    assert path.stat().st_size < full / 4


async def test_a_damaged_page_costs_one_session(path: Path, store: SqliteStore) -> None:
    """Issue: damage on the disk itself leaves the other sessions alone."""
    for name in ("bad", "good"):
        log = await store.create(SessionRecord(name, "/w"))
        for number in range(200):
            await add(log, chunk(f"{name} " * 50, str(number)))
        await store.release(name)
    await store.aclose()
    data = bytearray(path.read_bytes())
    page = (data.index(b'"bad bad', len(data) // 4) // 8192) * 8192
    data[page : page + 8192] = b"\x00" * 8192
    path.write_bytes(data)
    with pytest.raises(StoreError) as raised:
        await store.open("bad")
    assert raised.value.reason == "session_damaged"
    assert len(await updates_of(await store.open("good"))) == 200


async def test_a_damaged_value_is_its_session_s_damage(path: Path, store: SqliteStore) -> None:
    """Found in review: the whole store was said to be damaged, and to be moved away."""
    for name in ("bad", "good"):
        await store.create(SessionRecord(name, "/w"))
        await store.keep(name, "history", f"{name} ".encode() * 20_000)
        await store.release(name)
    await store.aclose()
    data = bytearray(path.read_bytes())
    # The second page of the value: the first one has the key.
    page = (data.index(b"bad bad", data.index(b"bad bad") + 16384) // 8192) * 8192
    data[page : page + 8192] = b"\xff" * 8192
    path.write_bytes(data)
    with pytest.raises(StoreError) as raised:
        await store.kept("bad", "history")
    assert raised.value.reason == "session_damaged"
    assert await store.kept("good", "history") == b"good " * 20_000

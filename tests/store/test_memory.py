"""Sessions in memory: what every store must do, shown on this one."""

from dataclasses import replace

import pytest

from accord.store import MemoryStore, SessionLog, SessionRecord, memory, session_store
from accord.store.session_store import BadCursor


async def updates_of(log: SessionLog | None) -> list[object]:
    """What a replay gives."""
    assert log is not None
    return [update async for update in log.replay()]


async def filled(count: int, *, page_sessions: int = 50) -> MemoryStore:
    """A store with numbered sessions, the last the newest."""
    store = MemoryStore(page_sessions=page_sessions)
    for number in range(count):
        await store.create(SessionRecord(f"s{number}", f"/w/{number % 2}"))
    return store


async def pages(store: MemoryStore, cwd: str | None = None) -> list[list[str]]:
    """The ids of all pages."""
    found: list[list[str]] = []
    cursor: str | None = None
    while True:
        page = await store.list(cwd, cursor)
        found.append([record.session_id for record in page.sessions])
        cursor = page.next_cursor
        if cursor is None:
            return found


async def test_a_session_comes_and_goes_with_its_log() -> None:
    """The store's invariant."""
    store = MemoryStore()
    record = SessionRecord("a", "/w", title="t")
    log = await store.create(record)
    assert log.append("one") is None
    log.append("two")
    assert await store.get("a") == record
    assert await updates_of(await store.open("a")) == ["one", "two"]
    assert await store.delete("a")
    assert not await store.delete("a")
    assert await store.get("a") is None
    assert await store.open("a") is None


async def test_a_record_is_replaced_only_where_there_is_one() -> None:
    """A session that was deleted does not come back."""
    store = MemoryStore()
    record = SessionRecord("a", "/w")
    await store.put(record)
    assert await store.get("a") is None
    await store.create(record)
    await store.put(replace(record, title="new"))
    assert await store.get("a") == SessionRecord("a", "/w", title="new")


async def test_a_replay_is_what_was_there_when_it_began() -> None:
    """Updates that come meanwhile are sent by whoever makes them."""
    store = MemoryStore()
    log = await store.create(SessionRecord("a", "/w"))
    log.append(1)
    seen: list[object] = []
    async for update in log.replay():
        seen.append(update)
        if len(seen) < 5:
            log.append(2)
    assert seen == [1]


async def test_a_fork_has_the_same_past_and_a_future_of_its_own() -> None:
    """The old one is not touched."""
    store = MemoryStore()
    log = await store.create(SessionRecord("a", "/w"))
    log.append(1)
    fork = await store.fork("a", SessionRecord("b", "/w"))
    assert fork is not None
    log.append(2)
    fork.append(3)
    assert await updates_of(await store.open("a")) == [1, 2]
    assert await updates_of(await store.open("b")) == [1, 3]
    assert await store.fork("unknown", SessionRecord("c", "/w")) is None
    assert await store.get("c") is None


async def test_sessions_are_listed_newest_first_page_by_page() -> None:
    """Each exactly once."""
    store = await filled(7, page_sessions=3)
    assert await pages(store) == [["s6", "s5", "s4"], ["s3", "s2", "s1"], ["s0"]]
    assert await pages(store, "/w/1") == [["s5", "s3", "s1"]]
    assert await pages(store, "/nowhere") == [[]]
    assert await pages(await filled(6, page_sessions=3)) == [["s5", "s4", "s3"], ["s2", "s1", "s0"]]


@pytest.mark.parametrize("cursor", ["", "x", "below:", "below:x", "after:s1", "below:-1"])
async def test_a_cursor_that_this_store_did_not_make_is_refused(cursor: str) -> None:
    """Never an arbitrary page."""
    with pytest.raises(BadCursor):
        await (await filled(3)).list(None, cursor)


async def test_a_cursor_stays_good_when_sessions_come_and_go() -> None:
    """Ours: a listing is not broken off because its last session was deleted."""
    store = await filled(6, page_sessions=2)
    page = await store.list(None, None)
    await store.delete("s4")
    await store.create(SessionRecord("new", "/w"))
    page = await store.list(None, page.next_cursor)
    assert [record.session_id for record in page.sessions] == ["s3", "s2"]


async def test_a_very_long_log_gives_up_its_oldest_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue: everything has a bound."""
    monkeypatch.setattr(memory, "LOG_UPDATES_MAX", 10)
    store = MemoryStore()
    log = await store.create(SessionRecord("a", "/w"))
    for number in range(100):
        log.append(number)
    kept = await updates_of(log)
    assert 5 <= len(kept) <= 10
    assert kept == list(range(100 - len(kept), 100))


async def test_a_value_is_kept_beside_the_log() -> None:
    """What a model knows is not an update, and still belongs to the session."""
    store = MemoryStore()
    await store.create(SessionRecord("a", "/w"))
    assert await store.kept("a", "history") is None
    await store.keep("a", "history", b"one")
    await store.keep("a", "history", b"two")
    assert await store.kept("a", "history") == b"two"
    await store.fork("a", SessionRecord("b", "/w"))
    await store.keep("a", "history", b"three")
    assert await store.kept("b", "history") == b"two"
    await store.delete("a")
    assert await store.kept("a", "history") is None


async def test_nothing_is_kept_for_an_unknown_session_nor_beyond_the_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A deleted session does not come back; a value has a bound."""
    store = MemoryStore()
    await store.keep("gone", "history", b"one")
    await store.create(SessionRecord("gone", "/w"))
    assert await store.kept("gone", "history") is None
    monkeypatch.setattr(session_store, "KEPT_BYTES_MAX", 3)
    await store.keep("gone", "history", b"abc")
    with pytest.raises(ValueError, match="the limit is 3"):
        await store.keep("gone", "history", b"abcd")
    assert await store.kept("gone", "history") == b"abc"

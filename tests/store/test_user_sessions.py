"""One store, several users: each has sessions of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from accord import MemoryStore, SessionStore, SqliteStore
from accord.store import SessionRecord
from accord.store.user_sessions import OWNER, OwnedSessions

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SessionStore]:
    if request.param == "memory":
        yield MemoryStore(page_sessions=2)
        return
    kept = SqliteStore(tmp_path / "sessions.db")
    try:
        yield kept
    finally:
        await kept.aclose()


async def test_a_session_exists_for_its_owner_only(store: SessionStore) -> None:
    ann, bob = OwnedSessions(store, "ann"), OwnedSessions(store, "bob")
    record = SessionRecord("s", "/tmp", title="mine")
    log = await ann.create(record)
    assert await ann.get("s") == record
    assert await bob.get("s") is None
    assert await bob.open("s") is None
    assert await bob.fork("s", SessionRecord("t", "/tmp")) is None
    assert await bob.delete("s") is False
    await bob.put(SessionRecord("s", "/tmp", title="stolen"))
    await bob.keep("s", "note", b"x")
    assert await bob.kept("s", OWNER) is None
    assert await ann.kept("s", "note") is None
    kept = await ann.get("s")
    assert kept is not None
    assert kept.title == "mine"
    assert log is not None


async def test_a_list_has_own_sessions_only_over_all_pages(store: SessionStore) -> None:
    ann, bob = OwnedSessions(store, "ann"), OwnedSessions(store, "bob")
    for number in range(9):
        await (ann if number % 3 else bob).create(SessionRecord(f"s{number}", "/tmp", title="t"))
    await store.create(SessionRecord("nobody's", "/tmp", title="t"))
    for user, expected in ((ann, {1, 2, 4, 5, 7, 8}), (bob, {0, 3, 6})):
        found: set[str] = set()
        cursor: str | None = None
        while True:
            page = await user.list(None, cursor)
            found |= {one.session_id for one in page.sessions}
            cursor = page.next_cursor
            if cursor is None:
                break
        assert found == {f"s{number}" for number in expected}


async def test_an_owner_stays_the_owner_and_forks_are_theirs(store: SessionStore) -> None:
    ann = OwnedSessions(store, "ann")
    await ann.create(SessionRecord("s", "/tmp", title="t"))
    await ann.keep("s", OWNER, b"bob")
    assert await ann.fork("s", SessionRecord("t", "/tmp", title="t")) is not None
    assert await ann.get("t") is not None
    assert await OwnedSessions(store, "bob").get("t") is None
    await ann.release("t")
    assert await ann.delete("t") is True
    assert await ann.get("t") is None

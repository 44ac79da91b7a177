"""What every engine promises about the records of sessions."""

from dataclasses import replace

import pytest

from accord.gateway.engine.engine_errors import Conflict, NoSession, SessionExists
from accord.gateway.engine.interface import SessionRecord
from accord.gateway.engine.limits import MEMBERS_MAX, PAGE_SESSIONS_MAX, RECORD_DATA_BYTES_MAX
from accord.store.session_store import BadCursor
from tests.gateway.engine.worlds import START, World, events, record


async def test_a_record_comes_back_as_it_was(world: World) -> None:
    """Issue 17: id, agent, principal, members with roles, folder, title, times, version, state."""
    given = SessionRecord(
        session="s",
        agent="tidy",
        principal="ann",
        members={"bob": "viewer", "cy": "admin"},
        cwd="/w/ü",
        protocol_version=1,
        title="Tidy up",
        agent_session="their id",
        state="turn",
        data=b'{"modes": []}',
    )
    stored = await world.engine.create(given)
    assert stored == replace(given, created_at=START, updated_at=START, revision=stored.revision)
    assert stored.revision != 0
    assert await world.engine.get("s") == stored
    await world.restart()
    assert await world.engine.get("s") == stored
    assert await world.engine.get("t") is None
    assert await world.engine.get("\ud83d") is None


async def test_an_id_is_used_once_at_a_time(world: World) -> None:
    """Ours: two clients cannot make one session."""
    await world.engine.create(record("s"))
    with pytest.raises(SessionExists, match="'s'"):
        await world.engine.create(record("s", agent="another"))
    assert await world.engine.delete("s")
    assert not await world.engine.delete("s")
    assert not await world.engine.delete("\ud83d")
    assert await world.engine.get("s") is None
    await world.engine.create(record("s", agent="another"))


async def test_a_record_changes_only_if_nobody_else_changed_it(world: World) -> None:
    """Issue 17: compare-and-set by revision."""
    first = await world.engine.create(record())
    world.now += 5
    second = await world.engine.put(replace(first, title="new", created_at=1.0))
    assert second == replace(first, title="new", updated_at=START + 5, revision=second.revision)
    with pytest.raises(Conflict) as raised:
        await world.engine.put(replace(first, title="mine"))
    assert raised.value.revision == second.revision
    assert await world.engine.get("s") == second
    assert (await world.engine.put(second)).revision not in (first.revision, second.revision)
    with pytest.raises(NoSession):
        await world.engine.put(replace(first, session="t"))


@pytest.mark.parametrize(
    "change",
    [
        {"session": ""},
        {"title": "x" * 5000},
        {"cwd": "\ud83d"},
        {"agent_session": "\udfff"},
        {"principal": 7},
        {"members": {"bob": "owner"}},
        {"members": {"\ud83d": "viewer"}},
        {"members": {str(number): "viewer" for number in range(MEMBERS_MAX + 1)}},
        {"data": bytes(RECORD_DATA_BYTES_MAX + 1)},
        {"data": "{}"},
        {"protocol_version": 2**31},
    ],
    ids=lambda change: next(iter(change)),
)
async def test_a_record_that_cannot_be_stored_is_refused(
    world: World, change: dict[str, object]
) -> None:
    """Ours: before it reaches a storage; the engine goes on."""
    first = await world.engine.create(record("other"))
    bad = replace(record(), **change)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"\w"):
        await world.engine.create(bad)
    with pytest.raises(ValueError, match=r"\w"):
        await world.engine.put(bad)
    assert (await world.engine.put(first)).session == "other"


async def pages(world: World, *, limit: int = 2, **which: str) -> list[list[str]]:
    """All pages of a listing."""
    found: list[list[str]] = []
    cursor = None
    while True:
        page = await world.engine.records(cursor=cursor, limit=limit, **which)
        found.append([one.session for one in page.records])
        if page.next_cursor is None:
            return found
        cursor = page.next_cursor


async def test_a_principal_sees_what_it_owns_or_is_a_member_of(world: World) -> None:
    """Issue 17: list by principal, in pages, newest first."""
    for number, (owner, members) in enumerate(
        [("ann", []), ("bob", ["ann"]), ("bob", []), ("ann", ["ann"]), ("cy", ["ann", "bob"])]
    ):
        await world.engine.create(
            record(f"s{number}", principal=owner, members=dict.fromkeys(members, "viewer"))
        )
    assert await pages(world, principal="ann") == [["s4", "s3"], ["s1", "s0"]]
    assert await pages(world, principal="bob") == [["s4", "s2"], ["s1"]]
    assert await pages(world) == [["s4", "s3"], ["s2", "s1"], ["s0"]]
    assert await pages(world, principal="nobody") == [[]]
    assert await pages(world, principal="\ud83d") == [[]]
    # A former member no longer sees it; a new member does.
    found = await world.engine.get("s1")
    assert found is not None
    await world.engine.put(replace(found, members={"cy": "editor"}))
    assert await pages(world, principal="ann") == [["s4", "s3"], ["s0"]]
    assert await pages(world, principal="cy") == [["s4", "s1"]]


async def test_sessions_are_found_by_their_state(world: World) -> None:
    """Issue 17: after a crash, the sessions whose turn was cut off."""
    for number in range(6):
        await world.engine.create(
            record(f"s{number}", state="turn" if number % 2 else "idle", principal=f"p{number % 3}")
        )
    assert await pages(world, state="turn") == [["s5", "s3"], ["s1"]]
    assert await pages(world, state="turn", principal="p2") == [["s5"]]


async def test_pages_do_not_shift(world: World) -> None:
    """Ours: sessions that come and go while somebody turns the pages."""
    for number in range(4):
        await world.engine.create(record(f"s{number}"))
    first = await world.engine.records(limit=2)
    await world.engine.create(record("new"))
    await world.engine.delete("s2")
    second = await world.engine.records(cursor=first.next_cursor, limit=2)
    assert [one.session for one in second.records] == ["s1", "s0"]
    assert second.next_cursor is None


async def test_a_listing_refuses_what_it_cannot_read(world: World) -> None:
    """Ours: a cursor of somebody else, and pages without a bound."""
    for cursor in ("", "below:", "below:x", "below:99", f"below:{'9' * 30}", "\ud83d"):
        with pytest.raises(BadCursor):
            await world.engine.records(cursor=cursor)
    for limit in (0, PAGE_SESSIONS_MAX + 1):
        with pytest.raises(ValueError, match="a page has"):
            await world.engine.records(limit=limit)


async def test_a_deleted_session_takes_everything_with_it(world: World) -> None:
    """Ours: the next session with this id begins with nothing."""
    lease = await world.owned()
    await world.engine.append(lease, events("secret") * 10)
    await world.engine.extend_snapshot(lease, 10, b"secret", 10)
    await world.engine.delete("s")
    with pytest.raises(NoSession):
        await world.engine.append(lease, events("late"))
    await world.engine.create(record(principal="bob"))
    assert await world.engine.log_state("s") == (1, 0, 0, None)
    assert await world.engine.snapshot_after("s", 0) is None
    assert await world.engine.owner("s") is None
    assert await pages(world, principal="ann") == [[]]

"""What every engine promises about logs."""

import anyio
import pytest

from accord.gateway.engine.engine_errors import Fenced, Gap, LogFull, NoSession
from accord.gateway.engine.interface import Event, Lease, NewEvent, SnapshotPart
from accord.gateway.engine.limits import (
    EVENT_OVERHEAD_BYTES,
    GROUP_EVENTS_MAX,
    PAGE_BYTES_MAX,
    PAGE_EVENTS_MAX,
    SNAPSHOT_PART_BYTES_MAX,
)
from tests.gateway.engine.worlds import (
    LOG_BYTES_MAX,
    START,
    World,
    all_events,
    events,
    frames_of,
    gone_node,
)


async def test_events_are_numbered_from_one(world: World) -> None:
    """Issue 17: append with epoch, read after."""
    lease = await world.owned()
    assert await world.engine.append(lease, [NewEvent("prompt", b"\x00\xff")]) == 1
    world.now += 1.5
    assert await world.engine.append(lease, events("b", "c")) == 3
    page = await world.engine.read_after("s", 0)
    assert page.events == (
        Event(1, lease.epoch, "prompt", b"\x00\xff", START),
        Event(2, lease.epoch, "update", b"b", START + 1.5),
        Event(3, lease.epoch, "update", b"c", START + 1.5),
    )
    assert (page.first, page.last) == (1, 3)
    assert [event.seq for event in (await world.engine.read_after("s", 1, 1)).events] == [2]
    assert (await world.engine.read_after("s", 3)).events == ()


async def test_an_empty_log_begins_with_the_event_that_comes(world: World) -> None:
    """Ours: a reader may be there before the first event."""
    await world.owned()
    assert await world.engine.read_after("s", 0) == ((), 1, 0)
    assert await world.engine.log_state("s") == (1, 0, 0, None)


async def test_what_is_stored_outlives_the_process(world: World) -> None:
    """Issue 17: sessions outlive restarts; epochs go on growing."""
    lease = await world.owned()
    await world.engine.append(lease, events("a", "b"))
    await world.engine.extend_snapshot(lease, 1, b"one", 10)
    await world.restart()
    assert await frames_of(world.engine) == ["a", "b"]
    assert await world.engine.snapshot_after("s", 0) == SnapshotPart(1, 1, b"one")
    # The old process is gone, and nobody has to wait for its time to pass.
    again = await world.engine.own("s", await world.engine.enter("a"))
    assert again.epoch > lease.epoch
    assert again.last == 2
    assert await world.engine.append(again, events("c")) == 3
    with pytest.raises(Fenced):
        await world.engine.append(lease, events("late"))


async def test_a_session_that_does_not_exist_has_no_log(world: World) -> None:
    """Ours: one error for it, everywhere; also for an id that cannot be stored."""
    lease = await world.owned()
    lost = Lease("t", lease.node, lease.epoch, 0)
    for session in ("t", "\ud83d"):
        for ask in (
            world.engine.read_after(session, 0),
            world.engine.wait(session, 0),
            world.engine.log_state(session),
            world.engine.snapshot_after(session, 0),
            world.engine.own(session, lease.node),
            world.engine.owner(session),
        ):
            with pytest.raises(NoSession):
                await ask
    for change in (
        world.engine.append(lost, events("a")),
        world.engine.extend_snapshot(lost, 1, b"", 10),
        world.engine.trim(lost, 0),
    ):
        with pytest.raises(NoSession, match="'t'"):
            await change


async def test_a_group_has_bounds(world: World) -> None:
    """Ours: everything is bounded; what is refused leaves no trace."""
    lease = await world.owned()
    for group in (
        [],
        events("x") * (GROUP_EVENTS_MAX + 1),
        [NewEvent("k" * 65, b"")],
        [NewEvent("\ud83d", b"")],
        [NewEvent("text", "text")],  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match=r"event|frame"):
            await world.engine.append(lease, group)
    assert (await world.engine.log_state("s")).last == 0
    assert await world.engine.append(lease, events("x") * GROUP_EVENTS_MAX) == GROUP_EVENTS_MAX


async def test_a_page_has_bounds(world: World) -> None:
    """Issue 17: a reader far behind reads in bounded pages."""
    lease = await world.owned()
    for _ in range(4):
        await world.engine.append(lease, events("x") * 60)
    page = await world.engine.read_after("s", 0, 100)
    assert (len(page.events), page.last) == (100, 240)
    assert len(await all_events(world.engine)) == 240
    for limit in (0, PAGE_EVENTS_MAX + 1):
        with pytest.raises(ValueError, match="a page has"):
            await world.engine.read_after("s", 0, limit)


async def test_a_page_of_large_events_is_shorter(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: the bytes of a page are bounded, and one event is always there."""
    assert PAGE_BYTES_MAX < 32 * 1024 * 1024
    for module in ("memory", "sqlite.log_queries"):
        monkeypatch.setattr(f"accord.gateway.engine.{module}.PAGE_BYTES_MAX", 10)
    lease = await world.owned()
    await world.engine.append(lease, events("x" * 50, "y" * 6, "z" * 6, "a"))
    pages = [await world.engine.read_after("s", after) for after in (0, 1, 3)]
    assert [len(page.events) for page in pages] == [1, 2, 1]


async def test_a_full_log_says_so_and_trimming_makes_room(world: World) -> None:
    """Issue 17: a named bound on the size of a log."""
    lease = await world.owned()
    frame = "x" * (LOG_BYTES_MAX // 2 - EVENT_OVERHEAD_BYTES)
    await world.engine.append(lease, events(frame))
    await world.engine.append(lease, events(frame))
    assert (await world.engine.log_state("s")).size_bytes == LOG_BYTES_MAX
    with pytest.raises(LogFull, match=f"{LOG_BYTES_MAX} of at most {LOG_BYTES_MAX}"):
        await world.engine.append(lease, events("one more"))
    await world.engine.extend_snapshot(lease, 1, b"state", 10)
    await world.engine.trim(lease, 1)
    assert await world.engine.log_state("s") == (2, 2, LOG_BYTES_MAX // 2, 1)
    assert await world.engine.append(lease, events("one more")) == 3


async def test_a_reader_of_trimmed_events_gets_a_gap(world: World) -> None:
    """Issue 17: never a silent hole; the snapshot and what follows it are the way on."""
    lease = await world.owned()
    await world.engine.append(lease, events(*"abcdef"))
    await world.engine.extend_snapshot(lease, 4, b"abcd", 10)
    await world.engine.trim(lease, 3)
    await world.engine.trim(lease, 2)
    for after in (0, 2):
        with pytest.raises(Gap, match="starts at event 4") as gap:
            await world.engine.read_after("s", after)
        assert (gap.value.first, gap.value.last) == (4, 6)
    assert await frames_of(world.engine, after=3) == ["d", "e", "f"]
    found = await world.engine.snapshot_after("s", 0)
    assert found == SnapshotPart(1, 4, b"abcd")
    assert await frames_of(world.engine, after=found.seq) == ["e", "f"]
    await world.engine.extend_snapshot(lease, 6, b"ef", 10)
    await world.engine.trim(lease, 6)
    assert await world.engine.log_state("s") == (7, 6, 0, 6)
    assert await world.engine.read_after("s", 6) == ((), 7, 6)
    assert await world.engine.append(lease, events("g")) == 7
    # The number of an event is never used again.
    assert await frames_of(world.engine, after=6) == ["g"]


async def test_a_reader_from_the_future_gets_a_gap(world: World) -> None:
    """Ours: such a number is not from this log, and waiting for it would skip events."""
    lease = await world.owned()
    await world.engine.append(lease, events("a"))
    for ask in (world.engine.read_after("s", 2), world.engine.wait("s", 2)):
        with pytest.raises(Gap, match="has events 1 to 1, nothing after 2"):
            await ask
    for ask in (world.engine.read_after("s", -1), world.engine.wait("s", -1)):
        with pytest.raises(ValueError, match="negative"):
            await ask


async def test_a_snapshot_covers_events_that_exist(world: World) -> None:
    """Ours: it does not go back, and nothing is trimmed that it does not cover."""
    lease = await world.owned()
    assert await world.engine.snapshot_after("s", 0) is None
    await world.engine.append(lease, events(*"abc"))
    with pytest.raises(ValueError, match="no snapshot covers"):
        await world.engine.trim(lease, 1)
    for seq in (0, 4):
        with pytest.raises(ValueError, match=f"event 1 to 3, not {seq}"):
            await world.engine.extend_snapshot(lease, seq, b"", 10)
    await world.engine.extend_snapshot(lease, 2, b"x", 10)
    for seq in (1, 2):
        with pytest.raises(ValueError, match=f"event 3 to 3, not {seq}"):
            await world.engine.extend_snapshot(lease, seq, b"", 10)
    with pytest.raises(ValueError, match="no snapshot covers event 3"):
        await world.engine.trim(lease, 3)
    with pytest.raises(ValueError, match="the limit is"):
        await world.engine.extend_snapshot(lease, 3, bytes(SNAPSHOT_PART_BYTES_MAX + 1), 10)
    assert await world.engine.snapshot_after("s", 1) == SnapshotPart(1, 2, b"x")


async def test_a_snapshot_is_read_part_by_part_and_has_a_bound(world: World) -> None:
    """Ours: the oldest parts go, the newest one stays; a session of any length fits in memory."""
    lease = await world.owned()
    await world.engine.append(lease, events(*"abcdefg"))
    for seq, size in ((2, 4), (3, 3), (4, 3), (6, 4)):
        await world.engine.extend_snapshot(lease, seq, bytes(size), 10)
    parts = [await world.engine.snapshot_after("s", seq) for seq in range(7)]
    oldest, middle, newest = (
        SnapshotPart(first, seq, bytes(size))
        for first, seq, size in ((3, 3, 3), (4, 4, 3), (5, 6, 4))
    )
    assert parts == [oldest, oldest, oldest, middle, newest, newest, None]
    await world.engine.extend_snapshot(lease, 7, bytes(11), 10)
    assert await world.engine.snapshot_after("s", 0) == SnapshotPart(7, 7, bytes(11))
    with pytest.raises(ValueError, match="negative"):
        await world.engine.snapshot_after("s", -1)


async def test_an_old_owner_cannot_change_anything(world: World) -> None:
    """Issue 17: fencing; the new owner has seen all that the old one stored."""
    old = await world.owned()
    await world.engine.append(old, events("a"))
    new = await world.taken_over(old)
    assert new.epoch > old.epoch
    assert new.last == 1
    for change in (
        world.engine.append(old, events("late")),
        world.engine.extend_snapshot(old, 1, b"late", 10),
        world.engine.trim(old, 0),
    ):
        with pytest.raises(Fenced, match=f"under epoch {old.epoch}; its epoch is {new.epoch}"):
            await change
    assert await world.engine.append(new, events("b")) == 2
    assert await frames_of(world.engine) == ["a", "b"]


async def test_appends_at_once_are_in_order_and_whole(world: World) -> None:
    """Ours: groups of one session do not mix, and many sessions do not disturb each other."""
    leases = [await world.owned(f"s{number}") for number in range(5)]

    async def write(lease: Lease, group: int) -> None:
        await world.engine.append(lease, events(*(f"{group}.{part}" for part in range(3))))

    async with anyio.create_task_group() as tasks:
        for group in range(8):
            for lease in leases:
                tasks.start_soon(write, lease, group)
    for lease in leases:
        found = await frames_of(world.engine, lease.session)
        groups = [found[start : start + 3] for start in range(0, 24, 3)]
        assert sorted(groups) == [[f"{group}.{part}" for part in range(3)] for group in range(8)]


async def test_take_over_and_appends_at_once_leave_one_order(world: World) -> None:
    """Issue 17: of what an old owner has queued, nothing comes after the new epoch."""
    old = await world.owned()
    world.lease_now += 20
    node = await world.engine.enter("b")
    told: list[int] = []
    taken: list[Lease] = []

    async def write(number: int) -> None:
        try:
            told.append(await world.engine.append(old, events(str(number))))
        except Fenced:
            pass

    async def take_over() -> None:
        taken.append(await world.engine.own("s", node))

    async with anyio.create_task_group() as tasks:
        for number in range(10):
            tasks.start_soon(write, number)
        tasks.start_soon(take_over)
        for number in range(10, 20):
            tasks.start_soon(write, number)
    [new] = taken
    # What the new owner knows of is all there is, and all that was acknowledged.
    assert (await world.engine.log_state("s")).last == new.last == len(told)
    await world.engine.append(new, events("new"))
    epochs = [event.epoch for event in await all_events(world.engine)]
    assert epochs == [old.epoch] * new.last + [new.epoch]


async def test_time_that_has_passed_does_not_fence(world: World) -> None:
    """nodes.md: a lapse ends nothing as long as nobody has taken over."""
    lease = await world.owned()
    world.lease_now += 1000
    assert await world.engine.append(lease, events("a")) == 1
    await world.engine.renew(lease.node)
    assert await world.engine.append(lease, events("b")) == 2


async def test_a_wait_ends_with_the_next_event(world: World) -> None:
    """Issue 17: wait; a reader is woken by what it waits for, and by nothing else."""
    lease = await world.owned()
    other = await world.owned("t")
    assert await world.engine.append(lease, events("a")) == 1
    assert await world.engine.wait("s", 0) == 1
    woken: list[tuple[int, int]] = []

    async def reader(after: int) -> None:
        woken.append((after, await world.engine.wait("s", after)))

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(reader, 1)
        await anyio.wait_all_tasks_blocked()
        await world.engine.append(other, events("elsewhere"))
        await world.engine.extend_snapshot(lease, 1, b"", 10)
        await anyio.wait_all_tasks_blocked()
        assert woken == []
        await world.engine.append(lease, events("b", "c"))
        await anyio.wait_all_tasks_blocked()
        assert woken == [(1, 3)] * 3
        tasks.start_soon(reader, 3)
        await world.engine.append(lease, events("d"))
    assert woken[3:] == [(3, 4)]


async def test_a_reader_follows_without_missing_anything(world: World) -> None:
    """Ours: wait and read, while events come as fast as they can."""
    lease = await world.owned()
    count = 200
    found: list[str] = []

    async def follow() -> None:
        while len(found) < count:
            await world.engine.wait("s", len(found))
            page = await world.engine.read_after("s", len(found), 7)
            assert page.events
            found.extend(event.frame.decode() for event in page.events)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow)
        tasks.start_soon(follow_until, world, count)
        for start in range(0, count, 4):
            await world.engine.append(lease, events(*map(str, range(start, start + 4))))
    assert found == list(map(str, range(count)))


async def follow_until(world: World, count: int) -> None:
    """A second reader, which only waits."""
    last = 0
    while last < count:
        newer = await world.engine.wait("s", last)
        assert newer > last
        last = newer


async def test_a_wait_ends_when_its_session_is_deleted(world: World) -> None:
    """Ours: nobody waits for ever."""
    await world.owned()
    refused: list[NoSession] = []

    async def reader() -> None:
        with pytest.raises(NoSession) as raised:
            await world.engine.wait("s", 0)
        refused.append(raised.value)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reader)
        await anyio.wait_all_tasks_blocked()
        assert await world.engine.delete("s")
    assert len(refused) == 1
    # Another session with this id has another log.
    lease = await world.owned()
    assert await world.engine.append(lease, events("new")) == 1
    assert await world.engine.wait("s", 0) == 1


async def test_an_append_of_a_cancelled_task_is_whole_or_not_there(world: World) -> None:
    """Issue 17: and the log tells which."""
    lease = await world.owned()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await world.engine.append(lease, events("a", "b"))
    before = (await world.engine.log_state("s")).last
    assert before in (0, 2)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(world.engine.append, lease, events("c", "d"))
        await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    after = (await world.engine.log_state("s")).last
    assert after - before in (0, 2)
    # A reader is told of it, and the next one continues.
    if after:
        assert await world.engine.wait("s", 0) == after
    assert await world.engine.append(lease, events("e")) == after + 1
    assert len(await all_events(world.engine)) == after + 1


async def test_a_reader_that_is_cancelled_leaves_nothing_behind(world: World) -> None:
    """Ours: neither a wait nor a page."""
    lease = await world.owned()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(world.engine.wait, "s", 0)
        tasks.start_soon(world.engine.read_after, "s", 0)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert world.engine._watch.waiting == 0  # type: ignore[attr-defined]
    await world.engine.append(lease, events("a"))
    assert await frames_of(world.engine) == ["a"]


async def test_a_lease_of_nobody_is_fenced(world: World) -> None:
    """Ours: an epoch that was never given is refused like an old one."""
    await world.owned()
    for epoch in (0, 999):
        with pytest.raises(Fenced):
            await world.engine.append(Lease("s", gone_node(), epoch, 0), events("a"))

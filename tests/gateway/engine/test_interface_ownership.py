"""What every engine promises about the owners of sessions."""

import pytest

from accord.gateway.engine.engine_errors import Fenced, NodeReplaced, OwnedElsewhere
from tests.gateway.engine.worlds import LEASE_SECONDS, World, events, gone_node, record


async def test_a_session_has_one_owner(world: World) -> None:
    """Issue 17: own; a second node is told who has it, and how long."""
    lease = await world.owned()
    world.lease_now += 4
    other = await world.engine.enter("b")
    with pytest.raises(OwnedElsewhere, match="owned by node 'a'") as raised:
        await world.engine.own("s", other)
    assert (raised.value.node, raised.value.seconds_left) == ("a", LEASE_SECONDS - 4)
    assert await world.engine.owner("s") == ("a", lease.epoch, LEASE_SECONDS - 4)


async def test_a_node_that_renews_keeps_its_sessions(world: World) -> None:
    """Issue 17: renew; one call for all sessions of a node."""
    lease = await world.owned()
    other = await world.engine.enter("b")
    for _ in range(5):
        world.lease_now += LEASE_SECONDS - 1
        assert await world.engine.renew(lease.node) == LEASE_SECONDS
    with pytest.raises(OwnedElsewhere):
        await world.engine.own("s", other)


async def test_a_node_whose_time_has_passed_is_replaced(world: World) -> None:
    """Issue 17: take over; the old owner hears of it when it comes back."""
    old = await world.owned()
    world.lease_now += LEASE_SECONDS
    assert await world.engine.owner("s") is None
    new = await world.engine.own("s", await world.engine.enter("b"))
    assert new.epoch > old.epoch
    # It may go on as a node, but its session is gone.
    assert await world.engine.renew(old.node) == LEASE_SECONDS
    owner = await world.engine.owner("s")
    assert owner is not None
    assert owner.node == "b"
    with pytest.raises(OwnedElsewhere):
        await world.engine.own("s", old.node)


async def test_a_late_node_gets_back_what_nobody_took(world: World) -> None:
    """Ours: a machine that slept goes on."""
    lease = await world.owned()
    world.lease_now += 10 * LEASE_SECONDS
    await world.engine.renew(lease.node)
    assert await world.engine.owner("s") == ("a", lease.epoch, LEASE_SECONDS)


async def test_a_node_that_starts_again_voids_its_leases(world: World) -> None:
    """Issue 17: an incarnation; nobody waits for the old one's time to pass."""
    old = await world.owned()
    again = await world.engine.enter("a")
    assert again != old.node
    assert await world.engine.owner("s") is None
    for late in (world.engine.renew(old.node), world.engine.own("s", old.node)):
        with pytest.raises(NodeReplaced, match="'a' has left or was started again"):
            await late
    new = await world.engine.own("s", again)
    assert new.epoch > old.epoch
    with pytest.raises(Fenced):
        await world.engine.append(old, events("late"))


async def test_a_node_that_leaves_frees_its_sessions(world: World) -> None:
    """Ours: a gateway that drains does not make others wait."""
    lease = await world.owned()
    await world.engine.leave(lease.node)
    await world.engine.leave(lease.node)
    await world.engine.leave(gone_node())
    assert await world.engine.owner("s") is None
    with pytest.raises(NodeReplaced):
        await world.engine.renew(lease.node)
    await world.engine.own("s", await world.engine.enter("b"))


async def test_a_released_session_is_free(world: World) -> None:
    """Issue 17: release; after it the lease is worth nothing."""
    lease = await world.owned()
    await world.engine.release(lease)
    assert await world.engine.owner("s") is None
    with pytest.raises(Fenced, match=f"no longer owned under epoch {lease.epoch}$"):
        await world.engine.append(lease, events("late"))
    new = await world.engine.own("s", await world.engine.enter("b"))
    # A second release of the old lease takes nothing from the new owner.
    await world.engine.release(lease)
    assert await world.engine.append(new, events("a")) == 1
    assert (await world.engine.owner("s")) is not None


async def test_an_owner_that_owns_again_gets_a_new_epoch(world: World) -> None:
    """Ours: two tasks of one node do not both believe that they own it."""
    old = await world.owned()
    new = await world.engine.own("s", old.node)
    assert new.epoch > old.epoch
    with pytest.raises(Fenced):
        await world.engine.append(old, events("late"))
    await world.engine.release(old)
    assert await world.engine.append(new, events("a")) == 1


async def test_epochs_grow_also_after_a_session_was_deleted(world: World) -> None:
    """Ours: an old owner must not write into another session that has the same id."""
    old = await world.owned()
    await world.engine.delete("s")
    await world.engine.release(old)
    await world.engine.create(record())
    with pytest.raises(Fenced):
        await world.engine.append(old, events("late"))
    new = await world.engine.own("s", old.node)
    assert new.epoch > old.epoch
    with pytest.raises(Fenced):
        await world.engine.append(old, events("late"))


async def test_owning_renews_the_node(world: World) -> None:
    """Ours: a lease that is new is not about to end."""
    lease = await world.owned()
    world.lease_now += LEASE_SECONDS + 1
    await world.engine.own("s", lease.node)
    owner = await world.engine.owner("s")
    assert owner is not None
    assert owner.seconds_left == LEASE_SECONDS


async def test_a_restart_frees_everything_at_once(world: World) -> None:
    """Issue 17: after kill -9 and a restart the old leases are void."""
    lease = await world.owned()
    await world.restart()
    assert await world.engine.owner("s") is None
    with pytest.raises(NodeReplaced):
        await world.engine.renew(lease.node)
    await world.engine.own("s", await world.engine.enter("b"))

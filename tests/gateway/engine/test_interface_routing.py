"""What every engine promises about messages to the owner of a session."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.abc import TaskGroup

from accord.gateway.engine import local_messages
from accord.gateway.engine.engine_errors import (
    HandlerFailed,
    NoOwner,
    OwnerBusy,
    OwnerLost,
    RoutingError,
)
from accord.gateway.engine.interface import Lease, NewEvent, Node
from accord.gateway.engine.limits import MESSAGE_BYTES_MAX
from tests.gateway.engine.worlds import LEASE_SECONDS, World


async def echo(session: str, message: bytes) -> bytes:
    """Answer with what came."""
    return f"{session}: ".encode() + message


@asynccontextmanager
async def served(
    world: World, node: Node, handler: Callable[[str, bytes], Awaitable[bytes]] = echo
) -> AsyncIterator[TaskGroup]:
    """A node that answers messages during the block; the group can end it."""
    async with anyio.create_task_group() as tasks:
        await tasks.start(world.engine.serve, node, handler)
        yield tasks
        tasks.cancel_scope.cancel()


async def test_a_message_gets_the_answer_of_the_owner(world: World) -> None:
    """Issue 17: send to owner."""
    lease = await world.owned()
    async with served(world, lease.node):
        assert await world.engine.send_to_owner("s", b"hello") == b"s: hello"


async def test_without_an_owner_there_is_an_error_at_once(world: World) -> None:
    """Issue 17: NoOwner, for each way not to have one."""
    lease = await world.owned()
    with pytest.raises(NoOwner, match="no node owns session 's'"):
        await world.engine.send_to_owner("s", b"nobody serves")
    async with served(world, lease.node):
        with pytest.raises(NoOwner):
            await world.engine.send_to_owner("unknown", b"")
        world.lease_now += LEASE_SECONDS
        with pytest.raises(NoOwner):
            await world.engine.send_to_owner("s", b"too late")
        await world.engine.renew(lease.node)
        await world.engine.send_to_owner("s", b"again")
        await world.engine.release(lease)
        with pytest.raises(NoOwner):
            await world.engine.send_to_owner("s", b"released")
        again = await world.engine.own("s", lease.node)
        await world.engine.send_to_owner("s", b"again")
        await world.engine.leave(again.node)
        with pytest.raises(NoOwner):
            await world.engine.send_to_owner("s", b"left")
    with pytest.raises(NoOwner):
        await world.engine.send_to_owner("s", b"no longer served")


async def test_messages_follow_the_session(world: World) -> None:
    """Issue 17: after a take-over the new owner gets them."""
    old = await world.owned()

    async def first(session: str, message: bytes) -> bytes:
        return b"first"

    async with served(world, old.node, first):
        assert await world.engine.send_to_owner("s", b"") == b"first"
        new = await world.taken_over(old)
        async with served(world, new.node):
            await world.engine.renew(old.node)
            assert await world.engine.send_to_owner("s", b"x") == b"s: x"


async def test_a_handler_that_fails_fails_its_message_alone(world: World) -> None:
    """Ours: as it would between machines."""
    lease = await world.owned()

    async def fussy(session: str, message: bytes) -> bytes:
        if message == b"bad":
            raise ValueError("no such thing")
        return message

    async with served(world, lease.node, fussy):
        with pytest.raises(HandlerFailed, match=r"failed: ValueError\('no such thing'\)"):
            await world.engine.send_to_owner("s", b"bad")
        assert await world.engine.send_to_owner("s", b"good") == b"good"


async def test_a_sender_that_is_cancelled_does_not_stop_the_handler(world: World) -> None:
    """Ours: a message was delivered once, whether or not anybody waits for the answer."""
    lease = await world.owned()
    began, go_on, done = anyio.Event(), anyio.Event(), anyio.Event()

    async def slow(session: str, message: bytes) -> bytes:
        began.set()
        await go_on.wait()
        done.set()
        return b""

    async with served(world, lease.node, slow), anyio.create_task_group() as senders:
        senders.start_soon(world.engine.send_to_owner, "s", b"")
        await began.wait()
        senders.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            go_on.set()
            await done.wait()


async def test_an_owner_that_ends_tells_its_senders(world: World) -> None:
    """Issue 17: every open request gets one clear error."""
    lease = await world.owned()
    began = anyio.Event()
    errors: list[RoutingError] = []

    async def endless(session: str, message: bytes) -> bytes:
        began.set()
        await anyio.sleep_forever()
        return b""

    async def send() -> None:
        with pytest.raises(OwnerLost, match="ended before it answered") as raised:
            await world.engine.send_to_owner("s", b"")
        errors.append(raised.value)

    async with (
        anyio.create_task_group() as senders,
        served(world, lease.node, endless) as service,
    ):
        senders.start_soon(send)
        senders.start_soon(send)
        await began.wait()
        await anyio.wait_all_tasks_blocked()
        service.cancel_scope.cancel()
    assert len(errors) == 2
    with pytest.raises(NoOwner):
        await world.engine.send_to_owner("s", b"")


async def test_messages_have_bounds(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: their size, and how many wait for one node."""
    monkeypatch.setattr(local_messages, "UNANSWERED_MAX", 2)
    lease = await world.owned()
    go_on = anyio.Event()

    async def slow(session: str, message: bytes) -> bytes:
        await go_on.wait()
        return b""

    async with served(world, lease.node, slow), anyio.create_task_group() as senders:
        for _ in range(2):
            senders.start_soon(world.engine.send_to_owner, "s", b"")
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(OwnerBusy, match="overloaded"):
            await world.engine.send_to_owner("s", b"")
        go_on.set()
    with pytest.raises(ValueError, match="the limit is"):
        await world.engine.send_to_owner("s", bytes(MESSAGE_BYTES_MAX + 1))


async def test_a_handler_may_use_the_engine(world: World) -> None:
    """Ours: what a message asks for is appended to the log by its handler."""
    lease: Lease = await world.owned()

    async def store(session: str, message: bytes) -> bytes:
        seq = await world.engine.append(lease, [NewEvent("prompt", message)])
        return str(seq).encode()

    async with served(world, lease.node, store):
        assert await world.engine.send_to_owner("s", b"one") == b"1"
        assert await world.engine.send_to_owner("s", b"two") == b"2"


async def test_a_node_is_served_once(world: World) -> None:
    """Ours: a second service for the same node is a mistake of the caller."""
    lease = await world.owned()
    async with served(world, lease.node):
        with pytest.raises(ValueError, match="served already"):
            await world.engine.serve(lease.node, echo)
        assert await world.engine.send_to_owner("s", b"x") == b"s: x"

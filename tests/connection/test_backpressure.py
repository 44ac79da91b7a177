"""Backpressure both ways."""

from __future__ import annotations

from typing import Any

import anyio

from accord.connection import IncomingRequest, Limits
from accord.connection.limits import FRAMES_AT_ONCE, YIELD_MESSAGES_MAX
from accord.transport.transport import BACKLOG_BYTES_LOW, Ended
from tests.connection.raw_peer import SECONDS, Role, connected

PIECE = b'{"text":"%b"}' % (b"x" * 10_000)


async def test_a_sender_waits_while_the_peer_takes_nothing() -> None:
    """Issue: `say` waits over the backlog, then everything arrives in order."""
    limits = Limits(backlog_bytes=BACKLOG_BYTES_LOW + 100_000)
    async with connected(limits=limits) as (connection, peer):
        peer.transport.pause()
        sent = 0

        async def stream() -> None:
            nonlocal sent
            for number in range(200):
                await connection.notify("update", b'{"n":%d,"text":%b}' % (number, PIECE))
                sent += 1

        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:
                for _ in range(3):
                    tasks.start_soon(stream)
                await anyio.wait_all_tasks_blocked()
                assert sent * len(PIECE) <= limits.backlog_bytes + len(PIECE)
                peer.transport.resume()
            await peer.until(lambda: len(peer.messages) == 600)


async def test_a_sender_that_never_waits_gives_way_to_others() -> None:
    """Issue: so that a cancel can be read."""
    async with connected() as (connection, _):
        scope = anyio.CancelScope()
        sent = 0

        async def stream() -> None:
            nonlocal sent
            with scope:
                while True:
                    await connection.notify("update", b"{}")
                    sent += 1

        async def stop() -> None:
            scope.cancel()

        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(stream)
                tasks.start_soon(stop)
    assert sent <= 2 * YIELD_MESSAGES_MAX


async def test_a_sender_learns_of_the_end_while_it_waits() -> None:
    """Issue 3: none with a hang."""
    from accord.errors import ConnectionLost

    async with connected(limits=Limits(backlog_bytes=BACKLOG_BYTES_LOW)) as (connection, peer):
        peer.transport.pause()
        ends: list[str] = []

        async def stream() -> None:
            try:
                while True:
                    await connection.notify("update", PIECE)
            except ConnectionLost as error:
                ends.append(error.message)

        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(stream)
                tasks.start_soon(stream)
                await anyio.wait_all_tasks_blocked()
                await peer.transport.aclose()
    assert ends == ["the peer closed the connection"] * 2


async def test_a_full_consumer_stops_the_reading_but_not_while_somebody_calls() -> None:
    """Design: no deadlock from a call inside the loop; a background call does not count."""
    role = Role()
    async with connected(role) as (connection, peer):
        connection.reading.hold()
        peer.send(peer.update(1))
        await anyio.wait_all_tasks_blocked()
        assert role.notifications == []
        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:

                async def in_background() -> None:
                    await connection.call("slow", b"{}", background=True)

                tasks.start_soon(in_background)
                slow = await peer.asked("slow")
                await anyio.wait_all_tasks_blocked()
                assert role.notifications == []

                async def answer() -> None:
                    question = await peer.asked("read")
                    peer.send(peer.update(2), {"id": question["id"], "result": {}})

                tasks.start_soon(answer)
                await connection.call("read", b"{}")
                assert [params["n"] for _, params in role.notifications] == [1, 2]
                peer.send(peer.update(3), {"id": slow["id"], "result": {}})
                await anyio.wait_all_tasks_blocked()
                assert len(role.notifications) == 2
                connection.reading.unhold()
            assert len(role.notifications) == 3


async def test_a_peer_that_takes_no_answers_is_not_heard_until_it_does() -> None:
    """A fault of others: answers pile up in memory without a bound."""
    role = Role()
    served = 0

    def ask(request: IncomingRequest) -> Any:
        nonlocal served
        served += 1
        return PIECE

    role.methods["ask"] = ask
    async with connected(role, Limits(pending_requests=40)) as (_, peer):
        peer.transport.pause()
        for number in range(200):
            peer.request(number, "ask")
            await anyio.wait_all_tasks_blocked()
        assert served < 60
        peer.transport.resume()
        await peer.until(lambda: len(peer.messages) == 200)
        assert [one["id"] for one in peer.messages] == list(range(200))


def many(count: int) -> bytes:
    """Notifications in one piece."""
    line = '{"jsonrpc":"2.0","method":"update","params":{"n":%d}}\n'
    return "".join(line % number for number in range(count)).encode()


async def test_others_run_while_a_large_chunk_is_handled() -> None:
    """Issue: nothing hangs; a chunk of very many frames is handled in order, piece by piece."""
    role = Role()
    role.methods["ping"] = lambda request: b"{}"
    async with connected(role) as (connection, peer):
        seen_between: list[int] = []

        async def watch() -> None:
            while len(role.notifications) < 5 * FRAMES_AT_ONCE:
                seen_between.append(len(role.notifications))
                await anyio.lowlevel.checkpoint()

        async with anyio.create_task_group() as tasks:
            with anyio.fail_after(SECONDS):
                tasks.start_soon(watch)
                connection.data_received(many(5 * FRAMES_AT_ONCE))
                connection.data_received(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        assert [params["n"] for _, params in role.notifications] == list(range(5 * FRAMES_AT_ONCE))
        # How often depends on the loop: once for each piece, at least one of which came between.
        assert len(seen_between) >= 4
        assert len(set(seen_between)) >= 2
        await peer.answer(1)


async def test_the_end_does_not_overtake_what_is_left_of_a_chunk() -> None:
    """Issue: everything that came before the end is handled before it."""
    role = Role()
    async with connected(role) as (connection, _):
        connection.data_received(many(3 * FRAMES_AT_ONCE))
        connection.ended(Ended("gone", clean=True))
        assert len(role.notifications) == 3 * FRAMES_AT_ONCE
    assert len(role.losses) == 1

"""A connection that is cut, with a server that can continue it: every step of the extension."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from accord.transport.resume.extension_messages import (
    TAKEN_OVER,
    connection_frame,
    received_frame,
)
from accord.transport.websocket.client import SILENT_STARTS_MAX
from tests.hang_limit import HANG_SECONDS
from tests.transport.websocket.scripted_server import QUICK, Script, connected, cut, serving

ID = "c1"
# Long enough not to be reached.
PATIENT = replace(QUICK, grace_seconds=HANG_SECONDS)


def in_turn(*scripts: Script) -> Script:
    """The first socket gets the first script, and so on."""
    left = iter(scripts)

    async def script(server: ServerConnection) -> None:
        await next(left)(server)

    return script


def asked(server: ServerConnection) -> dict[str, str]:
    """What the upgrade asked for."""
    assert server.request is not None
    query = parse_qs(urlsplit(server.request.path).query)
    return {name: value for name, [value] in query.items()}


async def greet(server: ServerConnection, received: int = 0) -> None:
    """Send the first frame of a server that resumes."""
    await server.send(connection_frame(ID, received).decode())


async def received(server: ServerConnection) -> str:
    """The next frame that is not one of the extension."""
    while True:
        message = await server.recv()
        assert isinstance(message, str)
        if "_accord/" not in message:
            return message


def cut_after(*sends: str, takes: int = 0) -> Script:
    """Greet, send, take some frames, and cut."""

    async def script(server: ServerConnection) -> None:
        await greet(server)
        for message in sends:
            await server.send(message)
        for _ in range(takes):
            await received(server)
        cut(server)

    return script


async def test_a_cut_connection_continues_where_it_was() -> None:
    """Ours: each side says how much it has, and gets the rest."""
    first_taken = anyio.Event()
    seen: list[str] = []

    async def first(server: ServerConnection) -> None:
        assert asked(server) == {"accord-resume": "new"}
        await greet(server)
        await server.send("one")
        seen.append(await received(server))
        first_taken.set()
        await received(server)
        cut(server)

    async def second(server: ServerConnection) -> None:
        assert asked(server) == {"accord-resume": ID, "accord-received": "1"}
        # The second frame of the client was read, but not handled.
        await greet(server, received=1)
        await server.send("two")
        seen.append(await received(server))
        seen.append(await received(server))
        await server.send("three")
        await server.wait_closed()

    async with (
        serving(in_turn(first, second)) as url,
        connected(url, limits=PATIENT) as (transport, receiver),
    ):
        transport.write(b"a\n")
        await receiver.until(lambda: receiver.data == b"one\n")
        assert transport.resumes
        await first_taken.wait()
        transport.write(b"b\n")
        await receiver.until(lambda: b"two\n" in receiver.data)
        transport.write(b"c\n")
        await receiver.until(lambda: b"three\n" in receiver.data)
        assert receiver.data == b"one\ntwo\nthree\n"
        assert seen == ["a", "b", "c"]
        assert not receiver.ends


async def test_what_is_written_while_the_network_is_gone_waits() -> None:
    """Ours: senders wait too, once it is much."""
    may_come_back = anyio.Event()
    seen: list[str] = []

    async def hold(server: ServerConnection, request: Request) -> None:
        if "received" in request.path:
            await may_come_back.wait()

    async def second(server: ServerConnection) -> None:
        await greet(server)
        while True:
            seen.append(await received(server))

    async with (
        serving(in_turn(cut_after("gone"), second), process_request=hold, max_size=None) as url,
        connected(url, limits=PATIENT) as (transport, receiver),
    ):
        await receiver.until(lambda: receiver.data)
        while transport.backlog == 0:
            await anyio.lowlevel.checkpoint()
            transport.write(b"%d\n" % len(seen))
        transport.write(b"x" * 2_000_000 + b"\n")
        waited = True
        with anyio.move_on_after(0.05):
            await transport.drain()
            waited = False
        assert waited
        may_come_back.set()
        with anyio.fail_after(HANG_SECONDS):
            await transport.drain()
            while not seen or len(seen[-1]) < 2_000_000:
                await anyio.sleep(0.001)
        assert set(seen[:-1]) == {"0"}


@pytest.mark.parametrize(("frames", "seconds"), [(2, HANG_SECONDS), (1000, 0.01)])
async def test_frames_are_acknowledged_by_number_and_by_time(frames: int, seconds: float) -> None:
    """Ours: the server's memory depends on it."""
    limits = replace(PATIENT, acknowledge_frames=frames, acknowledge_seconds=seconds)

    async def script(server: ServerConnection) -> None:
        await greet(server)
        for count in (2, 4):
            await server.send("one")
            await server.send("two")
            while await server.recv() != received_frame(count).decode():
                pass
        await server.send("done")
        await server.wait_closed()

    async with serving(script) as url, connected(url, limits=limits) as (_, receiver):
        await receiver.until(lambda: b"done" in receiver.data)


async def test_a_sender_waits_for_acknowledgements() -> None:
    """Ours: so that what is kept never reaches its bound and becomes a gap."""
    limits = replace(PATIENT, kept_bytes=2_000_000)
    acknowledge = anyio.Event()

    async def script(server: ServerConnection) -> None:
        await greet(server)
        await server.send("go")
        for _ in range(3):
            await received(server)
        await acknowledge.wait()
        await server.send(received_frame(3).decode())
        await server.wait_closed()

    async with (
        serving(script, max_size=None) as url,
        connected(url, limits=limits) as (transport, receiver),
    ):
        await receiver.until(lambda: receiver.data)
        for _ in range(3):
            transport.write(b"x" * 600_000 + b"\n")
        waited = True
        with anyio.move_on_after(0.05):
            await transport.drain()
            waited = False
        assert waited
        acknowledge.set()
        with anyio.fail_after(HANG_SECONDS):
            await transport.drain()
        assert transport.backlog == 0


async def _say(server: ServerConnection, frame: bytes) -> None:
    await server.send(frame.decode())
    await server.wait_closed()


def saying(frame: bytes) -> Script:
    """Begin with this frame."""
    return lambda server: _say(server, frame)


def closing(code: int, reason: str) -> Script:
    """Close at once."""
    return lambda server: server.close(code, reason)


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (closing(1008, "gap"), "messages were lost"),
        (closing(1008, "unknown connection"), "no longer has this connection"),
        (closing(1008, "too many"), "code 1008: too many"),
        (closing(1000, ""), "code 1000"),
        (saying(connection_frame(ID, 0)), "messages were lost"),
        (saying(connection_frame(ID, 99)), "messages were lost"),
        (saying(connection_frame("other", 3)), "does not continue"),
        (saying(b"plain"), "does not continue"),
    ],
)
async def test_what_cannot_be_continued_ends_and_says_so(second: Script, words: str) -> None:
    """Ours: a gap is said, never hidden."""
    limits = replace(PATIENT, kept_bytes=0)
    async with (
        serving(in_turn(cut_after("one", takes=3), second)) as url,
        connected(url, limits=limits) as (transport, receiver),
    ):
        transport.write(b"a\nb\nc\n")
        ended = await receiver.end()
        assert words in ended.reason
        assert receiver.data == b"one\n"
        if "lost" in words or "longer" in words:
            assert "session/load" in ended.reason


async def test_an_acknowledgement_of_what_was_never_sent_ends_the_connection() -> None:
    """Ours: the two sides have lost count of each other."""

    async def script(server: ServerConnection) -> None:
        await greet(server)
        await server.send(received_frame(7).decode())
        await server.wait_closed()

    async with serving(script) as url, connected(url, limits=PATIENT) as (_, receiver):
        assert "never sent: 7" in (await receiver.end()).reason


async def test_frames_that_only_mention_the_extension_are_delivered_and_counted() -> None:
    """Ours: an agent may quote it."""
    quoted = '{"method":"session/update","params":{"text":"_accord/received"}}'
    later = '{"method":"_accord/later","params":{}}'

    async def second(server: ServerConnection) -> None:
        assert asked(server)["accord-received"] == "2"
        await greet(server)
        await server.send("there")
        await server.wait_closed()

    async with (
        serving(in_turn(cut_after(quoted, later, quoted), second)) as url,
        connected(url, limits=PATIENT) as (_, receiver),
    ):
        await receiver.until(lambda: b"there" in receiver.data)
        assert receiver.data.decode().splitlines() == [quoted, quoted, "there"]


def _refusing(statuses: list[HTTPStatus]) -> Callable[..., Awaitable[Response | None]]:
    """Refuse to continue with these statuses, one after the other."""

    async def refuse(server: ServerConnection, request: Request) -> Response | None:
        if "accord-received" in request.path and statuses:
            return server.respond(statuses.pop(0), "no\n")
        return None

    return refuse


async def test_a_server_that_is_not_ready_is_asked_again() -> None:
    """Ours: a restart takes a moment."""

    async def second(server: ServerConnection) -> None:
        await greet(server)
        await server.send("back")
        await server.wait_closed()

    statuses = [HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.BAD_GATEWAY]
    async with (
        serving(in_turn(cut_after("one"), second), process_request=_refusing(statuses)) as url,
        connected(url, limits=PATIENT) as (_, receiver),
    ):
        await receiver.until(lambda: b"back" in receiver.data)
    assert not statuses


@pytest.mark.parametrize("status", [HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND])
async def test_a_server_that_refuses_us_is_not_asked_again(status: HTTPStatus) -> None:
    """Ours: credentials do not get better by waiting."""
    statuses = [status]
    async with (
        serving(cut_after("one"), process_request=_refusing(statuses)) as url,
        connected(url, limits=PATIENT) as (_, receiver),
    ):
        ended = await receiver.end()
        assert f"status {status.value}" in ended.reason
    assert not statuses


async def test_after_the_grace_time_the_connection_is_given_up() -> None:
    """Ours: the server has dropped it by then."""
    limits = replace(QUICK, grace_seconds=0.05, reconnect_seconds_min=0.01)
    statuses = [HTTPStatus.SERVICE_UNAVAILABLE] * 100_000
    async with (
        serving(cut_after("one"), process_request=_refusing(statuses)) as url,
        connected(url, limits=limits) as (transport, receiver),
    ):
        ended = await receiver.end()
        assert "session/load" in ended.reason
        assert "status 503" in ended.reason
        assert not ended.clean
        # Nothing happens any more.
        transport.write(b"late\n")
        await transport.drain()
        transport.pause()
        transport.resume()


async def test_a_server_that_is_gone_for_good_is_said_in_whole_sentences() -> None:
    """Ours: what happened, why it could not be mended, and what to do."""
    limits = replace(QUICK, grace_seconds=0.05, reconnect_seconds_min=0.01)
    servers = contextlib.AsyncExitStack()
    url = await servers.enter_async_context(serving(cut_after("one")))
    async with connected(url, limits=limits) as (_, receiver):
        await servers.aclose()
        ended = await receiver.end()
    assert "is the server running there?  Connect again and load the session" in ended.reason


async def test_closing_while_the_network_is_gone_does_not_wait_for_it() -> None:
    """Ours: a program can always end."""
    refused = anyio.Event()

    async def refuse(server: ServerConnection, request: Request) -> Response | None:
        if "accord-received" in request.path:
            refused.set()
            return server.respond(HTTPStatus.SERVICE_UNAVAILABLE, "no\n")
        return None

    limits = replace(PATIENT, reconnect_seconds_max=HANG_SECONDS, reconnect_seconds_min=0.01)
    async with (
        serving(cut_after("one"), process_request=refuse) as url,
        connected(url, limits=limits) as (transport, receiver),
    ):
        await refused.wait()
        await transport.aclose()
        assert (await receiver.end()).reason == "closed here"


async def test_closing_at_the_moment_of_a_cut_opens_no_other_socket() -> None:
    """Ours: it would keep the connection at the server, where nobody needs it any more."""
    seen: list[str] = []

    async def script(server: ServerConnection) -> None:
        seen.append(asked(server)["accord-resume"])
        await greet(server)
        await server.send("one")
        await server.wait_closed()

    async with serving(script) as url, connected(url, limits=PATIENT) as (transport, receiver):
        await receiver.until(lambda: receiver.data)
        assert transport._socket is not None
        transport._socket.abort("the network is gone")
        await transport.aclose()
        assert (await receiver.end()).reason == "closed here"
        # A later client: whoever came before it has been served by then.
        async with connected(url) as (_, later):
            await later.until(lambda: later.data)
        assert seen == ["new", "new"]


async def test_too_much_that_waits_for_the_network_ends_the_connection() -> None:
    """Ours: the bound has a name."""
    limits = replace(PATIENT, backlog_bytes=1000, reconnect_seconds_min=HANG_SECONDS)
    limits = replace(limits, reconnect_seconds_max=HANG_SECONDS)
    async with (
        serving(cut_after("one")) as url,
        connected(url, limits=limits) as (transport, receiver),
    ):
        await receiver.until(lambda: receiver.data)
        while not receiver.ends:
            transport.write(b"x" * 100 + b"\n")
            await anyio.lowlevel.checkpoint()
        assert "limit backlog_bytes" in receiver.ends[0].reason


async def test_a_connection_that_is_cut_before_the_first_frame_starts_again() -> None:
    """Ours: nothing can have been lost, and nothing is handled twice on a new connection."""
    seen: list[str] = []

    async def first(server: ServerConnection) -> None:
        await received(server)
        cut(server)

    async def second(server: ServerConnection) -> None:
        assert asked(server) == {"accord-resume": "new"}
        seen.append(await received(server))
        await server.send("plain")
        await server.wait_closed()

    async with (
        serving(in_turn(first, second)) as url,
        connected(url, limits=PATIENT) as (transport, receiver),
    ):
        transport.write(b"initialize\n")
        await receiver.until(lambda: receiver.data == b"plain\n")
        assert seen == ["initialize"]
        assert not transport.resumes


async def test_a_server_that_never_says_anything_is_not_tried_for_ever() -> None:
    """Ours: a broken server is told soon."""
    starts = 0

    async def script(server: ServerConnection) -> None:
        nonlocal starts
        starts += 1
        cut(server)

    async with serving(script) as url, connected(url, limits=PATIENT) as (_, receiver):
        await receiver.end()
    assert starts == SILENT_STARTS_MAX


async def test_a_socket_that_an_earlier_attempt_displaced_is_opened_again() -> None:
    """Ours: an upgrade that reaches the server late takes over, though nobody waits for it."""

    async def displaced(server: ServerConnection) -> None:
        await greet(server)
        await server.send("one")
        await server.close(1008, TAKEN_OVER)

    async def second(server: ServerConnection) -> None:
        await greet(server)
        await server.send("two")
        await server.wait_closed()

    async with (
        serving(in_turn(displaced, second)) as url,
        connected(url, limits=PATIENT) as (_, receiver),
    ):
        await receiver.until(lambda: receiver.data == b"one\ntwo\n" or receiver.ends)
        assert not receiver.ends


async def test_a_pause_survives_a_cut() -> None:
    """Ours: a full consumer gets nothing over the new socket either."""
    coming_back, may_come_back, sent = anyio.Event(), anyio.Event(), anyio.Event()

    async def hold(_: ServerConnection, request: Request) -> None:
        if "accord-received" in request.path:
            coming_back.set()
            await may_come_back.wait()

    async def second(server: ServerConnection) -> None:
        await greet(server)
        await server.send("two")
        sent.set()
        await server.wait_closed()

    async with (
        serving(in_turn(cut_after("one"), second), process_request=hold) as url,
        connected(url, limits=PATIENT) as (transport, receiver),
    ):
        await coming_back.wait()
        transport.pause()
        may_come_back.set()
        await sent.wait()
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        assert receiver.data == b"one\n"
        transport.resume()
        await receiver.until(lambda: receiver.data == b"one\ntwo\n")


def test_a_program_need_not_start_its_loop_with_anyio() -> None:
    """Ours: callbacks run outside of tasks, where anyio cannot see what loop it is in."""

    async def second(server: ServerConnection) -> None:
        await greet(server)
        await server.send("two")
        await server.wait_closed()

    async def main() -> None:
        async with (
            serving(in_turn(cut_after("one"), second)) as url,
            connected(url, limits=PATIENT) as (_, receiver),
        ):
            await receiver.until(lambda: receiver.data == b"one\ntwo\n")

    asyncio.run(main())

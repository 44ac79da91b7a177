"""The client's WebSocket, with servers that know nothing of resuming."""

from __future__ import annotations

import asyncio
import gc

import anyio
import pytest
import trio
from websockets.asyncio.server import ServerConnection
from websockets.server import ServerProtocol

from accord.errors import LocalProtocolError
from accord.transport.remote_address import parse_address
from accord.transport.remote_limits import RemoteLimits
from accord.transport.websocket.client import WebSocketTransport
from tests.hang_limit import HANG_SECONDS
from tests.transport.collector import Collecting
from tests.transport.websocket.scripted_server import connected, cut, serving

MIB = 1024 * 1024


async def echo(server: ServerConnection) -> None:
    """Send every message back."""
    async for message in server:
        await server.send(message)


async def test_lines_become_text_frames_and_frames_become_lines() -> None:
    """TR-WS: one message per text frame."""
    seen: list[str | bytes] = []

    async def script(server: ServerConnection) -> None:
        async for message in server:
            seen.append(message)
            await server.send(message)

    async with serving(script) as url, connected(url) as (transport, receiver):
        transport.write(b'{"a":1}\n')
        transport.write(b'{"b":2}\n{"c":3}\n{"d"')
        transport.write(b":4")
        transport.write(b"}\n")
        await receiver.until(lambda: receiver.data.count(b"\n") == 4)
        assert bytes(receiver.data) == b'{"a":1}\n{"b":2}\n{"c":3}\n{"d":4}\n'
        assert seen == ['{"a":1}', '{"b":2}', '{"c":3}', '{"d":4}']
        assert not transport.resumes


@pytest.mark.rule("TR-HTTP-16")
async def test_binary_frames_are_ignored_and_fragments_are_joined() -> None:
    """RFD: text frames only; RFC 6455: a message may come in fragments."""

    async def script(server: ServerConnection) -> None:
        await server.send(b"binary")
        await server.send(iter(["one ", "message"]))
        await server.send(iter([b"more ", b"binary"]))
        await server.ping()
        await server.send("pretty\n  printed")
        await server.wait_closed()

    async with serving(script) as url, connected(url) as (_, receiver):
        await receiver.until(lambda: b"printed\n" in receiver.data)
        assert bytes(receiver.data) == b"one message\npretty   printed\n"


async def test_what_comes_with_the_response_to_the_upgrade_is_delivered() -> None:
    """Ours: one packet may hold both."""

    async def serve_raw(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        protocol = ServerProtocol()
        while not (events := protocol.events_received()):
            protocol.receive_data(await reader.read(1000))
        protocol.send_response(protocol.accept(events[0]))  # type: ignore[arg-type]
        protocol.send_text(b"first")
        protocol.send_text(b"second")
        writer.write(b"".join(protocol.data_to_send()))
        await reader.read()
        writer.close()

    server = await asyncio.start_server(serve_raw, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    limits = RemoteLimits(close_seconds=0)
    async with server, connected(f"ws://127.0.0.1:{port}", limits=limits) as (_, receiver):
        await receiver.until(lambda: b"second" in receiver.data)
        assert bytes(receiver.data) == b"first\nsecond\n"


async def test_large_messages_go_both_ways() -> None:
    """Ours: up to the limit, in whatever parts they are written."""
    size = 8 * MIB
    async with serving(echo, max_size=None) as url, connected(url) as (transport, receiver):
        for _ in range(8):
            transport.write(b"x" * MIB)
        transport.write(b"\n")
        await receiver.until(lambda: len(receiver.data) == size + 1)


async def test_a_burst_arrives_in_order() -> None:
    """Ours: what is gathered does not overtake."""
    async with serving(echo) as url, connected(url) as (transport, receiver):
        expected = b"".join(b'{"n":%d}\n' % number for number in range(5000))
        for line in expected.splitlines(keepends=True):
            transport.write(line)
        await receiver.until(lambda: len(receiver.data) >= len(expected))
        assert receiver.data == expected


async def test_a_paused_transport_delivers_nothing() -> None:
    """Ours: a full consumer stops the server."""
    sent = anyio.Event()

    async def script(server: ServerConnection) -> None:
        await server.recv()
        await server.send("now")
        sent.set()
        await server.wait_closed()

    async with serving(script) as url, connected(url) as (transport, receiver):
        transport.pause()
        transport.write(b"go\n")
        await sent.wait()
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        assert not receiver.data
        transport.resume()
        await receiver.until(lambda: receiver.data == b"now\n")


async def test_a_sender_waits_for_a_server_that_does_not_read() -> None:
    """Ours: back-pressure instead of memory."""
    go_on = anyio.Event()
    seen = bytearray()

    async def script(server: ServerConnection) -> None:
        await go_on.wait()
        async for message in server:
            seen.extend(str(message).encode())

    async with serving(script, max_size=None, max_queue=1) as url, connected(url) as (transport, _):
        for _ in range(64):
            transport.write(b"x" * (MIB // 2) + b"\n")
        assert transport.backlog > MIB
        waited = False
        with anyio.move_on_after(0.05):
            await transport.drain()
            waited = True
        assert not waited
        go_on.set()
        with anyio.fail_after(HANG_SECONDS):
            await transport.drain()
        assert transport.backlog <= MIB


@pytest.mark.parametrize(
    ("code", "reason", "words", "clean"),
    [
        (1000, "", "closed the connection (code 1000)", True),
        (1001, "restart", "code 1001: restart", True),
        (1008, "limit", "code 1008: limit", False),
        (1011, "", "code 1011", False),
    ],
)
async def test_a_server_that_closes_says_why(
    code: int, reason: str, words: str, clean: bool
) -> None:
    """TR-WS: the close codes of the SDK."""

    async def script(server: ServerConnection) -> None:
        await server.send("hello")
        await server.close(code, reason)

    async with serving(script) as url, connected(url) as (_, receiver):
        ended = await receiver.end()
        assert receiver.data == b"hello\n"
        assert words in ended.reason
        assert url in ended.reason
        assert ended.clean is clean


async def test_a_cut_is_the_end_without_the_extension() -> None:
    """Ours: a plain server cannot continue, and frames must not be sent twice."""

    async def script(server: ServerConnection) -> None:
        await server.send("hello")
        await server.recv()
        cut(server)

    async with serving(script) as url, connected(url) as (transport, receiver):
        await receiver.until(lambda: receiver.data)
        transport.write(b"{}\n")
        ended = await receiver.end()
        assert not ended.clean
        assert "cut" in ended.reason or "reset" in ended.reason


async def test_too_long_a_message_ends_the_connection_and_names_the_limit() -> None:
    """LIM-03."""
    closed: list[int | None] = []

    async def script(server: ServerConnection) -> None:
        await server.send("good")
        await server.send("x" * 2000)
        await server.wait_closed()
        closed.append(server.close_code)

    limits = RemoteLimits(message_bytes=1000)
    async with serving(script) as url, connected(url, limits=limits) as (_, receiver):
        ended = await receiver.end()
        assert receiver.data == b"good\n"
        assert "limit message_bytes = 1000" in ended.reason
    assert closed == [1009]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\xc1\x01a", 1002),  # a reserved bit
        (b"\x83\x01a", 1002),  # an unknown opcode
        (b"\x81\x81\x00\x00\x00\x00a", 1002),  # masked, as only a client may
        (b"\x80\x01a", 1002),  # a continuation of nothing
        (b"\x89\x7e\x00\x80" + b"a" * 128, 1002),  # a long ping
        (b"\x88\x01a", 1002),  # a close code of one byte
    ],
)
async def test_a_server_that_breaks_a_rule_of_websocket_is_left(data: bytes, code: int) -> None:
    """RFC 6455: what is malformed fails the connection, and what came before it counts."""
    closed: list[int | None] = []

    async def script(server: ServerConnection) -> None:
        await server.send("good")
        server.transport.write(data)
        await server.wait_closed()
        closed.append(server.close_code)

    async with serving(script) as url, connected(url) as (_, receiver):
        ended = await receiver.end()
        assert receiver.data == b"good\n"
        assert "broke a rule of WebSocket" in ended.reason
        assert not ended.clean
    assert closed == [code]


async def test_closing_says_goodbye() -> None:
    """Ours: the server learns that nobody comes back."""
    closed: list[int | None] = []

    async def script(server: ServerConnection) -> None:
        await server.wait_closed()
        closed.append(server.close_code)

    async with serving(script) as url, connected(url) as (transport, receiver):
        transport.write(b"last words\n")
        await transport.aclose()
        assert (await receiver.end()).clean
        await transport.aclose()
    assert closed == [1000]


async def test_a_server_that_does_not_say_goodbye_is_left_after_a_while() -> None:
    """Ours: closing has a bound."""

    async def script(server: ServerConnection) -> None:
        server.transport.pause_reading()
        await server.wait_closed()

    limits = RemoteLimits(close_seconds=0.05)
    async with (
        serving(script, close_timeout=0.1) as url,
        connected(url, limits=limits) as (transport, receiver),
    ):
        await transport.aclose()
        assert (await receiver.end()).reason == "closed here"


async def test_a_silent_server_is_pinged_and_then_given_up() -> None:
    """Ours: half-open connections are found."""
    limits = RemoteLimits(keep_alive_seconds=0.02, silence_seconds=0.1)

    async def script(server: ServerConnection) -> None:
        await server.send("hello")
        server.transport.pause_reading()
        await server.wait_closed()

    async with (
        serving(script, close_timeout=0.1) as url,
        connected(url, limits=limits) as (_, receiver),
    ):
        assert "the server was silent for 0.1 s" in (await receiver.end()).reason


async def test_a_server_that_answers_pings_is_alive() -> None:
    """Ours: it may have nothing to say."""
    limits = RemoteLimits(keep_alive_seconds=0.01, silence_seconds=0.1)
    async with serving(echo) as url, connected(url, limits=limits) as (transport, receiver):
        await anyio.sleep(0.3)
        transport.write(b"there?\n")
        await receiver.until(lambda: receiver.data == b"there?\n")


async def test_while_reading_is_paused_silence_means_nothing() -> None:
    """Ours: a consumer may be full for long."""
    limits = RemoteLimits(keep_alive_seconds=0.01, silence_seconds=0.05)
    async with serving(echo) as url, connected(url, limits=limits) as (transport, receiver):
        transport.pause()
        await anyio.sleep(0.2)
        transport.resume()
        transport.write(b"there?\n")
        await receiver.until(lambda: receiver.data == b"there?\n")


async def test_a_server_that_takes_nothing_is_given_up() -> None:
    """Ours: although it still speaks."""
    limits = RemoteLimits(keep_alive_seconds=0.01, silence_seconds=5, stall_seconds=0.1)

    async def script(server: ServerConnection) -> None:
        await server.send("hello")
        server.transport.pause_reading()
        await server.wait_closed()

    async with (
        serving(script, close_timeout=0.1) as url,
        connected(url, limits=limits) as (transport, receiver),
    ):
        await receiver.until(lambda: receiver.data)
        transport.write(b"x" * 32 * MIB + b"\n")
        assert "read nothing for 0.1 s" in (await receiver.end()).reason


def test_other_event_loops_are_refused_clearly() -> None:
    """Ours: a WebSocket sits on asyncio; HTTP does not."""

    async def start() -> None:
        async with anyio.create_task_group() as tasks:
            await WebSocketTransport(parse_address("ws://127.0.0.1:9")).start(Collecting(), tasks)

    with pytest.raises(BaseExceptionGroup) as caught:
        trio.run(start)
    assert caught.group_contains(LocalProtocolError, match="needs asyncio.*use http:")


@pytest.mark.parametrize("rounds", range(16))
async def test_a_start_that_is_cancelled_leaves_no_socket(rounds: int) -> None:
    """Ours: asyncio loses sockets when its race between addresses is cancelled."""
    async with serving(echo) as url:
        for host in ("127.0.0.1", "localhost"):
            address = parse_address(url.replace("127.0.0.1", host))
            transport = WebSocketTransport(address, limits=RemoteLimits())
            async with anyio.create_task_group() as tasks:
                start = asyncio.create_task(transport.start(Collecting(), tasks))
                for _ in range(rounds):
                    await asyncio.sleep(0)
                start.cancel()
                await asyncio.wait([start])
                await transport.aclose()
                tasks.cancel_scope.cancel()
            del start, transport
            for _ in range(3):
                await asyncio.sleep(0)
            gc.collect()

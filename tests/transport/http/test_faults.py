"""What servers and networks do wrong, and what becomes of the connection."""

from __future__ import annotations

import contextlib
from typing import Any

import anyio
import pytest

from accord.errors import ConnectFailed
from accord.transport.http.client import HttpTransport
from accord.transport.http.connections import h2_connection
from accord.transport.remote_address import parse_address
from accord.transport.remote_limits import RemoteLimits
from tests.transport.collector import Collecting
from tests.transport.http.acp_script import AcpScript, Json
from tests.transport.http.conversation import connected
from tests.transport.http.scripted_server import H2Served, ServedRequest, serve

VERSIONS = pytest.mark.parametrize("version", ["h2", "http/1.1"])
QUICK = RemoteLimits(keep_alive_seconds=0.05, silence_seconds=0.1, stall_seconds=0.1)


def refusing(method: str, status: int, body: bytes = b"", *, session: bool = False) -> Any:
    """A step before the handler that refuses requests of one verb, after `initialize`."""

    async def before(request: ServedRequest) -> bool:
        is_meant = request.method == method and b'"initialize"' not in request.body
        if session and "acp-session-id" not in request.headers:
            is_meant = False
        if is_meant:
            await request.answer(status, body)
        return is_meant

    return before


@VERSIONS
@pytest.mark.parametrize("status", [400, 405, 413, 415, 429, 500, 501, 502, 503])
async def test_a_refused_request_fails_alone(version: str, status: int) -> None:
    """RFD streamable-http: with the status and the body, and the next one works."""
    script = AcpScript()
    script.before = refusing("POST", status, b"no" * 10_000)
    async with serve(script, version) as server, connected(server.port) as talk:
        answer = await talk.call("session/new")
        assert answer["error"]["code"] == -32603
        assert answer["error"]["data"]["status"] == status
        assert answer["error"]["data"]["body"] == "no" * 4096
        script.before = None
        assert "result" in await talk.call("session/new")


@VERSIONS
@pytest.mark.parametrize("status", [401, 403, 404, 410])
async def test_some_refusals_end_the_connection(version: str, status: int) -> None:
    """RFD streamable-http."""
    script = AcpScript()
    script.before = refusing("POST", status)
    async with serve(script, version) as server, connected(server.port) as talk:
        talk.begin("session/new")
        end = await talk.end()
        assert f"status {status}" in end.reason
        assert not end.clean


async def test_a_refused_notification_ends_the_connection() -> None:
    """RFD streamable-http: nobody else would learn of it."""
    script = AcpScript()
    script.before = refusing("POST", 500)
    async with serve(script) as server, connected(server.port) as talk:
        talk.send(method="session/cancel", params={})
        assert "status 500" in (await talk.end()).reason


async def test_a_conflict_fails_the_session_until_it_is_attached_again() -> None:
    """RFD streamable-http: 409."""
    script = AcpScript()
    async with serve(script) as server, connected(server.port) as talk:
        await talk.call("session/new")
        await talk.call("session/new")
        script.before = refusing("POST", 409, session=True)
        first = await talk.call("session/prompt", sessionId="s1")
        assert first["error"]["data"]["status"] == 409
        script.before = None
        count = len(script.messages)
        assert "error" in await talk.call("session/prompt", sessionId="s1")
        assert len(script.messages) == count
        assert "result" in await talk.call("session/prompt", sessionId="s2")
        script.stream("s1").reader = None
        assert "result" in await talk.call("session/load", sessionId="s1")
        assert "result" in await talk.call("session/prompt", sessionId="s1")


@pytest.mark.parametrize("status", [400, 404, 406, 409, 500])
async def test_a_refused_session_stream_fails_the_session_alone(status: int) -> None:
    """RFD streamable-http."""
    script = AcpScript()
    script.before = refusing("GET", status, session=True)
    async with serve(script) as server, connected(server.port) as talk:
        await talk.call("session/new")
        answer = await talk.call("session/prompt", sessionId="s1")
        assert answer["error"]["data"]["status"] == status
        talk.send(method="session/cancel", params={"sessionId": "s1"})
        assert "result" in await talk.call("session/new")


@pytest.mark.parametrize("status", [401, 404, 409, 500])
async def test_a_refused_connection_stream_ends_the_connection(status: int) -> None:
    """RFD streamable-http."""
    script = AcpScript()
    script.before = refusing("GET", status)
    async with serve(script) as server, connected(server.port) as talk:
        assert str(status) in (await talk.end()).reason


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (401, b"", "requires credentials (status 401)"),
        (404, b"", "no ACP endpoint at this path"),
        (307, b"", "redirects"),
        (200, b"hello", "not valid"),
        (200, b'{"jsonrpc":"2.0","id":7,"result":{}}', "not valid"),
        (200, b'{"jsonrpc":"2.0","id":1,"result":{}}', "no valid Acp-Connection-Id"),
    ],
)
async def test_a_server_that_is_no_agent_is_explained(status: int, body: bytes, said: str) -> None:
    """Ours: the reason says what to do."""

    async def handle(request: ServedRequest) -> None:
        await request.answer(status, body)

    async with serve(handle) as server, connected(server.port, initialize=False) as talk:
        talk.begin("initialize")
        assert said in (await talk.end()).reason


async def test_an_initialize_that_fails_can_be_tried_again() -> None:
    """RFD streamable-http: 500 has a JSON-RPC error in its body."""
    script = AcpScript()
    error = b'{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}'

    async def fail_once(request: ServedRequest) -> bool:
        script.before = None
        await request.answer(500, error)
        return True

    script.before = fail_once
    async with serve(script) as server, connected(server.port, initialize=False) as talk:
        assert (await talk.call("initialize"))["error"]["message"] == "no"
        assert "result" in await talk.call("initialize")


@VERSIONS
async def test_a_cut_connection_ends_the_transport(version: str) -> None:
    """RFD streamable-http: without the extension there is nothing to continue with."""
    script = AcpScript()
    async with serve(script, version) as server, connected(server.port) as talk:
        await script.until(lambda: script.stream().reader)
        await server.abort_all()
        end = await talk.end()
        assert "is lost" in end.reason
        talk.send(method="_x")
        await talk.transport.drain()


async def test_nobody_listens() -> None:
    """Ours: the error says so."""
    async with serve(AcpScript()) as server:
        pass
    transport = HttpTransport(parse_address(f"http://127.0.0.1:{server.port}/acp"))
    async with anyio.create_task_group() as tasks:
        with pytest.raises(ConnectFailed, match="nothing listens"):
            await transport.start(Collecting(), tasks)
        await transport.aclose()


async def test_what_is_held_at_the_end_is_delivered_first() -> None:
    """The transport's interface: a pause delays, and loses nothing."""
    script = AcpScript()
    async with serve(script) as server, connected(server.port) as talk:
        await script.until(lambda: script.stream().reader)
        talk.transport.pause()
        reader = script.stream().reader
        assert reader is not None
        await reader.send(b'data: {"method":"_last"}\n\n')
        await reader.connection.stream.aclose()
        await anyio.wait_all_tasks_blocked()
        assert not talk.heard.ends
        talk.transport.resume()
        await talk.end()
        assert talk.messages[-1] == {"method": "_last"}


@VERSIONS
@pytest.mark.parametrize("session_id", ["a\r\nx: y", "é", "", " a", "x" * 1025])
async def test_a_session_id_that_is_no_header_is_not_sent(version: str, session_id: str) -> None:
    """Security: what a server calls its sessions cannot add headers to our requests."""
    script = AcpScript()

    def name_it(message: Json) -> None:
        script.push({"id": message["id"], "result": {"sessionId": session_id}})

    async with serve(script, version) as server, connected(server.port) as talk:
        script.react = name_it
        await talk.call("session/new")
        script.react = script.answer
        if session_id:
            for method in ("session/prompt", "session/load"):
                answer = await talk.call(method, sessionId=session_id)
                assert "header" in answer["error"]["data"]["body"]
        assert "result" in await talk.call("session/new")


async def test_a_server_cannot_open_streams_without_end() -> None:
    """Ours: every bound has a name."""
    script = AcpScript()
    limits = RemoteLimits(session_streams=3)
    async with serve(script) as server, connected(server.port, limits=limits) as talk:
        for number in range(10):
            script.push({"id": 1000 + number, "result": {"sessionId": f"x{number}"}})
        await talk.count(11)
        answer = await talk.call("session/prompt", sessionId="x9")
        assert "session_streams" in answer["error"]["data"]["body"]
        assert [r.method for r in server.requests].count("GET") == 3
        assert "result" in await talk.call("session/prompt", sessionId="x0")


# ---- HTTP/2


async def test_a_server_that_sends_and_never_reads_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours: answers to its PINGs would wait here without end."""
    monkeypatch.setattr(h2_connection, "BACKLOG_BYTES_MAX", 100_000)
    script = AcpScript()
    async with serve(script) as server, connected(server.port) as talk:
        served = server.connections[0]
        assert isinstance(served, H2Served)
        served.reads.cancel()
        ping = b"\0\0\x08\x06\0\0\0\0\0" + bytes(8)
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            while not talk.heard.ends:
                await served.send_raw(ping * 1000)
        await talk.end()
        assert "reads nothing" in talk.heard.ends[0].reason


async def test_a_request_that_was_reset_fails_alone() -> None:
    """RFC 9113, 8.7."""
    script = AcpScript()

    async def reset(request: ServedRequest) -> bool:
        if b"_reset" in request.body:
            await request.reset()
        return b"_reset" in request.body

    script.before = reset
    async with serve(script) as server, connected(server.port) as talk:
        assert "gave up" in (await talk.call("_reset"))["error"]["message"]
        assert "result" in await talk.call("session/new")
        talk.send(method="_reset")
        assert "gave up" in (await talk.end()).reason


async def test_a_request_that_was_refused_unseen_is_sent_again() -> None:
    """RFC 9113, 8.7: REFUSED_STREAM means that nothing was done."""
    script = AcpScript()

    async def refuse_once(request: ServedRequest) -> bool:
        if request.method == "POST" and b"initialize" not in request.body:
            script.before = None
            await request.reset(7)
            return True
        return False

    script.before = refuse_once
    async with serve(script) as server, connected(server.port) as talk:
        assert "result" in await talk.call("session/new")
        assert len(script.messages) == 1


async def test_a_server_that_takes_nothing_yet_is_waited_for_on_one_connection() -> None:
    """RFC 9113, 6.5.2: no request may be sent, and more connections would wait in the same way."""
    script = AcpScript()
    async with (
        serve(script, streams_max=0) as server,
        connected(server.port, initialize=False) as talk,
    ):
        talk.begin("initialize", protocolVersion=1)
        await server.until(lambda: server.connections)
        (served,) = server.connections
        assert isinstance(served, H2Served)
        await server.until(lambda: served.acknowledged)
        assert not server.requests
        await served.allow(2)
        await talk.heard.until(lambda: talk.messages)
        assert len(server.connections) == 1


async def test_after_goaway_streams_go_on_and_requests_go_elsewhere() -> None:
    """RFC 9113, 6.8: to `h2` a GOAWAY is the end of everything."""
    script = AcpScript()
    async with serve(script) as server, connected(server.port) as talk:
        await talk.call("session/new")
        await talk.call("session/prompt", sessionId="s1")
        served = server.connections[0]
        assert isinstance(served, H2Served)
        await served.goaway(2**31 - 1)
        script.push({"method": "_after"})
        await talk.count(4)
        assert (await talk.call("session/prompt", sessionId="s1"))["result"] == {}
        assert len(server.connections) == 2
        script.push({"method": "_still"}, "s1")
        await talk.heard.until(lambda: talk.messages[-1].get("method") == "_still")


async def test_requests_that_goaway_leaves_out_are_sent_again() -> None:
    """RFC 9113, 6.8: what is above the last stream was not looked at."""
    script = AcpScript()

    async def go_away(request: ServedRequest) -> bool:
        if b"session/new" in request.body and len(server.connections) == 1:
            served = server.connections[0]
            assert isinstance(served, H2Served)
            await served.goaway(request.stream_id - 2)  # type: ignore[attr-defined]
            return True
        return False

    script.before = go_away
    async with serve(script) as server, connected(server.port) as talk:
        assert "result" in await talk.call("session/new")
        assert len(server.connections) == 2


async def test_a_silent_server_is_found_by_ping() -> None:
    """Issue 16: a half-open connection is found."""
    script = AcpScript()
    async with serve(script) as server, connected(server.port, limits=QUICK) as talk:
        served = server.connections[0]
        assert isinstance(served, H2Served)
        await served.pinged.wait()
        served.is_silent = True
        assert "the server was silent for 0.1 s" in (await talk.end()).reason


async def test_a_server_that_answers_pings_lives() -> None:
    """Issue 16: an idle connection is not a dead one."""
    script = AcpScript()
    limits = RemoteLimits(keep_alive_seconds=0.01, silence_seconds=1e9)
    async with serve(script) as server, connected(server.port, limits=limits) as talk:
        served = server.connections[0]
        assert isinstance(served, H2Served)
        while served.pings < 3:
            served.pinged = anyio.Event()
            await served.pinged.wait()
        assert "result" in await talk.call("session/new")


async def test_a_server_that_answers_no_post_is_given_up() -> None:
    """Issue 16: a server that stalls."""
    script = AcpScript()

    async def hang(request: ServedRequest) -> bool:
        if b"session/new" in request.body:
            await anyio.sleep_forever()
        return False

    script.before = hang
    limits = RemoteLimits(stall_seconds=0.05)
    async with serve(script) as server, connected(server.port, limits=limits) as talk:
        talk.begin("session/new")
        assert "did not answer for 0.05 s" in (await talk.end()).reason


@pytest.mark.parametrize(
    "junk",
    [
        b"\0\0\x04\0\0\0\0\0\0abcd",  # DATA on stream 0
        b"\0\0\x04\x08\0\0\0\0\0\0\0\0\0",  # a window of 0
        b"\0\0\x01\x01\x04\0\0\0\x01\xff",  # broken header compression
        b"\xff\xff\xff\0\0\0\0\0\x01",  # a frame of 16 MiB
        b"\0\0\x05\x06\0\0\0\0\0hello",  # a PING of five bytes
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
    ],
)
async def test_broken_frames_end_the_connection(junk: bytes) -> None:
    """Issue 16: broken h2 frames."""
    script = AcpScript()
    async with serve(script) as server, connected(server.port) as talk:
        served = server.connections[0]
        assert isinstance(served, H2Served)
        await served.send_raw(junk)
        assert "broke a rule of HTTP/2" in (await talk.end()).reason


# ---- HTTP/1.1


@pytest.mark.parametrize(
    "answer",
    [
        b"hello\r\n\r\n",
        b"HTTP/1.1 202 OK\r\n x\r\n\r\n",
        b"HTTP/1.1 202\r\ncontent-length: x\r\n\r\n",
    ],
)
async def test_broken_answers_end_the_connection(answer: bytes) -> None:
    """Issue 16: bad input of HTTP/1.1."""
    script = AcpScript()

    async def break_it(request: ServedRequest) -> bool:
        if b"session/new" in request.body:
            await request.connection.stream.send(answer)
            await anyio.sleep_forever()
        return False

    script.before = break_it
    async with serve(script, "http/1.1") as server, connected(server.port) as talk:
        talk.begin("session/new")
        assert "is lost" in (await talk.end()).reason


async def test_a_silent_stream_of_a_server_that_sends_comments_is_lost() -> None:
    """Issue 16: HTTP/1.1 has no PING; a server that sends comments and stops is gone."""
    script = AcpScript()
    async with (
        serve(script, "http/1.1") as server,
        connected(server.port, limits=RemoteLimits(silence_seconds=0.05)) as talk,
    ):
        await script.until(lambda: script.stream().reader)
        reader = script.stream().reader
        assert reader is not None
        await reader.send(b":\n\n")
        assert "was silent for" in (await talk.end()).reason


async def test_a_quiet_server_without_comments_lives() -> None:
    """RFD streamable-http: liveness is the implementer's; not every server sends comments."""
    script = AcpScript()
    async with (
        serve(script, "http/1.1") as server,
        connected(server.port, limits=RemoteLimits(silence_seconds=0.01)) as talk,
    ):
        await script.until(lambda: script.stream().reader)
        await anyio.sleep(0.05)
        assert "result" in await talk.call("session/new")

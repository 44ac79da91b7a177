"""The client's transport against a scripted server, over HTTP/2 and HTTP/1.1."""

from __future__ import annotations

import anyio
import pytest

from accord.transport.remote_limits import RemoteLimits
from tests.transport.http.acp_script import AcpScript
from tests.transport.http.conversation import connected
from tests.transport.http.scripted_server import ServedRequest, serve

VERSIONS = pytest.mark.parametrize("version", ["h2", "http/1.1"])


@pytest.mark.rule("TR-HTTP-17")
@VERSIONS
async def test_messages_go_out_and_come_in(version: str) -> None:
    """RFD streamable-http: the whole way of a session."""
    script = AcpScript()
    async with serve(script, version) as server, connected(server.port) as talk:
        assert talk.transport.http_version == {"h2": "HTTP/2"}.get(version, "HTTP/1.1")
        new = await talk.call("session/new", cwd="/")
        assert new["result"] == {"sessionId": "s1"}
        assert (await talk.call("session/prompt", sessionId="s1"))["result"] == {}
        script.push({"method": "session/update", "params": {"sessionId": "s1"}}, "s1")
        script.push({"method": "_x/y"})
        await talk.count(5)
        script.push({"id": "a", "method": "fs/read_text_file", "params": {"sessionId": "s1"}}, "s1")
        await talk.count(6)
        talk.send(id="a", result={})
        await script.until(lambda: len(script.messages) == 3)
        assert script.headers[-1]["acp-session-id"] == "s1"
        assert script.headers[-1]["acp-protocol-version"] == "1"
        assert "accord-message" not in script.headers[-1]
        assert script.headers[0]["accord-resume"] == "1"
        await talk.transport.aclose()
        await script.deleted.wait()
    assert talk.heard.ends[0].clean


@VERSIONS
async def test_order_is_kept_without_numbers(version: str) -> None:
    """RFD streamable-http: POSTs overtake each other unless the sender waits."""
    script = AcpScript()
    under_way = most = 0

    async def slow(request: ServedRequest) -> bool:
        nonlocal under_way, most
        if request.method == "POST":
            under_way += 1
            most = max(most, under_way)
            await anyio.lowlevel.checkpoint()
            under_way -= 1
        return False

    script.before = slow
    async with serve(script, version) as server, connected(server.port) as talk:
        for number in range(50):
            talk.send(method="_count", params={"number": number})
        await script.until(lambda: len(script.messages) == 50)
    assert [message["params"]["number"] for message in script.messages] == list(range(50))
    assert most == 1


@pytest.mark.rule("TR-HTTP-03")
@VERSIONS
async def test_cookies_come_back(version: str) -> None:
    """TR-HTTP-03."""
    script = AcpScript()
    script.cookie = "route=abc; Path=/"
    async with serve(script, version) as server, connected(server.port) as talk:
        await talk.call("session/new")
    assert script.headers[1]["cookie"] == "route=abc"
    assert {r.headers.get("cookie") for r in server.requests[1:]} == {"route=abc"}


async def test_headers_of_the_caller_go_with_every_request() -> None:
    """RFD streamable-http: credentials on every POST, GET and DELETE."""
    script = AcpScript()
    headers = (("Authorization", "Bearer t"), ("Cookie", "mine=1"))
    async with serve(script) as server, connected(server.port, headers=headers) as talk:
        await talk.call("session/new")
    assert {r.method for r in server.requests} == {"POST", "GET", "DELETE"}
    assert {r.headers["authorization"] for r in server.requests} == {"Bearer t"}
    assert {r.headers["cookie"] for r in server.requests} == {"mine=1"}


@VERSIONS
async def test_a_post_beside_many_idle_streams_is_answered(version: str) -> None:
    """Issue 16: httpx never finishes a POST beside two idle streams on one connection."""
    script = AcpScript()
    async with serve(script, version) as server, connected(server.port) as talk:
        for number in range(1, 31):
            await talk.call("session/new")
            await talk.call("session/prompt", sessionId=f"s{number}")
        await script.until(lambda: len(script.streams) == 31)
        assert (await talk.call("session/prompt", sessionId="s7"))["result"] == {}
        assert len(server.connections) == 1 or version != "h2"


async def test_more_streams_than_the_server_allows_take_another_connection() -> None:
    """Issue 16: at the limit of streams, other clients wait for ever."""
    script = AcpScript()
    async with serve(script, streams_max=10) as server, connected(server.port) as talk:
        for number in range(1, 9):
            await talk.call("session/new")
            await talk.call("session/prompt", sessionId=f"s{number}")
        assert len(server.connections) > 1
        assert (await talk.call("session/prompt", sessionId="s1"))["result"] == {}


@pytest.mark.parametrize("window", [1000, 65_535, 1 << 20])
async def test_a_large_message_waits_for_the_servers_credit(window: int) -> None:
    """RFC 9113, 5.2."""
    script = AcpScript()
    async with serve(script, window_bytes=window) as server, connected(server.port) as talk:
        text = "x" * 300_000
        talk.send(method="_large", params={"text": text})
        await talk.transport.drain()
        await script.until(lambda: script.messages)
        assert script.messages[0]["params"]["text"] == text
        script.push({"method": "_large", "params": {"text": text}})
        await talk.count(2)
        assert not talk.heard.ends
        assert talk.messages[1]["params"]["text"] == text
        await talk.heard.until(lambda: talk.transport.backlog == 0)


@VERSIONS
async def test_a_paused_transport_bounds_what_arrives(version: str) -> None:
    """Issue 16: a reader that stalls costs less than 64 MiB, and POSTs are answered."""
    script = AcpScript()
    async with serve(script, version) as server, connected(server.port) as talk:
        await talk.call("session/new")
        await talk.call("session/prompt", sessionId="s1")
        before = len(talk.heard.data)
        talk.transport.pause()
        text = "x" * 100_000
        count = 300
        for _ in range(count):
            script.push({"method": "session/update", "params": {"text": text}}, "s1")
        # The server is stuck when it has sent what it may; others are served all the same.
        await anyio.wait_all_tasks_blocked()
        for _ in range(20):
            talk.send(method="_more", params={"sessionId": "s1"})
        await script.until(lambda: len(script.messages) == 22)
        assert len(talk.heard.data) == before
        sent = script.stream("s1").is_sent
        assert sent < count, "the server could send everything"
        talk.transport.resume()
        await talk.count(3 + count)
        assert len(talk.messages) == 3 + count


async def test_a_server_that_ends_the_connection_stream_ends_the_connection() -> None:
    """RFD streamable-http."""
    script = AcpScript()
    async with serve(script) as server, connected(server.port) as talk:
        await script.until(lambda: script.stream().reader)
        reader = script.stream().reader
        assert reader is not None
        await reader.send(b"", is_last=True)
        end = await talk.end()
        assert not end.clean
        assert "the server ended it" in end.reason


async def test_a_session_stream_that_ends_fails_its_requests_and_is_opened_again() -> None:
    """RFD streamable-http: the next message for the session opens the stream again."""
    script = AcpScript()
    async with serve(script) as server, connected(server.port) as talk:
        await talk.call("session/new")
        await talk.call("session/prompt", sessionId="s1")
        script.react = lambda message: None
        request = talk.begin("session/prompt", sessionId="s1")
        await script.until(lambda: len(script.messages) == 3)
        log = script.stream("s1")
        assert log.reader is not None
        await log.reader.send(b"", is_last=True)
        answer = await talk.answer_to(request)
        assert answer["error"]["code"] == -32603
        assert "stream of the session ended" in answer["error"]["message"]
        script.react, log.reader = script.answer, None
        assert (await talk.call("session/prompt", sessionId="s1"))["result"] == {}
        assert [r.method for r in server.requests].count("GET") == 3


async def test_streams_of_closed_sessions_are_closed_when_there_are_many() -> None:
    """Ours: a stream that nobody needs takes a place of the server's; the last may come back."""
    script = AcpScript()
    async with serve(script) as server, connected(server.port) as talk:
        for number in range(1, 11):
            await talk.call("session/new")
            await talk.call("session/close", sessionId=f"s{number}")
        for session_id in ("s1", "s2"):
            reader = script.stream(session_id).reader
            assert reader is not None
            await reader.is_gone.wait()
        assert "result" in await talk.call("session/load", sessionId="s10")
        reader = script.stream("s9").reader
        assert reader is not None
        await reader.send(b"", is_last=True)
        assert "result" in await talk.call("session/prompt", sessionId="s10")
        assert server.connections


@pytest.mark.parametrize("count", [1, 3])
async def test_events_that_are_no_objects_are_skipped(count: int) -> None:
    """RFD streamable-http."""
    script = AcpScript()
    async with serve(script) as server, connected(server.port) as talk:
        await script.until(lambda: script.stream().reader)
        reader = script.stream().reader
        assert reader is not None
        await reader.send(b":\n\ndata: []\n\ndata: 5\n\ndata:\n\ndata: {\ndata: }\n\n" * count)
        await talk.count(1 + count)
        assert talk.messages[1:] == [{}] * count
        assert server.connections


async def test_an_event_over_the_limit_ends_the_connection() -> None:
    """LIM-03: the error names the limit."""
    script = AcpScript()
    limits = RemoteLimits(message_bytes=1000)
    async with serve(script) as server, connected(server.port, limits=limits) as talk:
        script.push({"method": "_large", "params": {"text": "x" * 1000}})
        assert "message_bytes, 1000 bytes" in (await talk.end()).reason


async def test_the_first_message_must_be_initialize() -> None:
    """RFD streamable-http: the server would answer 400."""
    async with (
        serve(AcpScript()) as server,
        connected(server.port, initialize=False) as talk,
    ):
        answer = await talk.call("session/new")
        assert "initialize" in answer["error"]["message"]
        talk.send(method="_x")
        assert "result" in await talk.call("initialize")


async def test_a_message_in_parts_is_sent_whole() -> None:
    """The transport's interface: large frames are written in parts."""
    script = AcpScript()
    async with serve(script) as server, connected(server.port) as talk:
        for part in (b'{"method"', b':"_a"', b'}\n{"method":"_b"}\n\n{"met', b'hod":"_c"}\n'):
            talk.transport.write(part)
        talk.transport.write(b'not json\n{"id":null,"error":{"code":-32700,"message":""}}\n')
        await script.until(lambda: len(script.messages) == 3)
        assert [one["method"] for one in script.messages] == ["_a", "_b", "_c"]

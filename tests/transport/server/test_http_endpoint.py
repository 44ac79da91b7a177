"""Streamable HTTP against a real server on real sockets: what goes where, and every refusal."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from accord import RemoteLimits
from tests.hang_limit import HANG_SECONDS
from tests.transport.server.asgi_servers import SERVERS
from tests.transport.server.raw_http import (
    INITIALIZE,
    NEW_SESSION,
    Json,
    RawClient,
    Response,
    closed,
    prompt,
)
from tests.transport.server.raw_http2 import RawHttp2Client
from tests.transport.server.served_agent import echo_agent, serving

pytestmark = pytest.mark.anyio

MIB = 1024 * 1024


async def opened(port: int, resumes: bool = False) -> RawClient:
    client = RawClient(port)
    await client.initialize({"accord-resume": "1"} if resumes else None)
    return client


async def new_session(client: RawClient) -> str:
    while True:
        async with client.stream() as connection:
            # A moment after a reader has gone, the server still has it.
            if connection.head.status == 409:
                continue
            assert (await client.post(NEW_SESSION)).status == 202
            answer = (await connection.until(1))[-1]
            session_id: str = answer["result"]["sessionId"]
            return session_id


@pytest.mark.rule("TR-HTTP-06")
async def test_initialize_is_answered_in_the_body_and_names_the_connection() -> None:
    async with serving() as served:
        response = await RawClient(served.port).initialize()
        assert response.headers["content-type"] == "application/json"
        assert response.json["id"] == 0
        assert response.json["result"]["protocolVersion"] == 1
        assert len(response.headers["acp-connection-id"]) == 32


@pytest.mark.rule("TR-HTTP-07", "TR-HTTP-11")
async def test_answers_come_on_the_stream_of_the_header_and_updates_on_the_sessions() -> None:
    async with serving() as served:
        client = await opened(served.port)
        async with client.stream() as connection:
            taken = await client.post(NEW_SESSION)
            assert (taken.status, taken.body) == (202, b"")
            session_id = (await connection.until(1))[-1]["result"]["sessionId"]
            header = {"acp-session-id": session_id}
            async with client.stream(header) as session:
                assert session.head.headers["content-type"] == "text/event-stream"
                assert session.head.headers["x-accel-buffering"] == "no"
                assert (await client.post(prompt(session_id, "hi"), header)).status == 202
                seen = await session.until(2)
                assert seen[-1]["result"] == {"stopReason": "end_turn"}
                assert {one["params"]["sessionId"] for one in seen[:-1]} == {session_id}
                load = {"sessionId": session_id, "cwd": "/tmp", "mcpServers": []}
                message = {"jsonrpc": "2.0", "id": 3, "method": "session/load", "params": load}
                assert (await client.post(message, header)).status == 202
                answer = await connection.until(3)
                assert [one.get("id") for one in answer] == [3]


async def test_what_comes_before_its_stream_is_kept_until_the_stream_is_opened() -> None:
    """RFD: the server buffers until the client has opened the session's stream."""
    async with serving() as served:
        client = await opened(served.port)
        session_id = await new_session(client)
        header = {"acp-session-id": session_id}
        assert (await client.post(prompt(session_id, "hi"), header)).status == 202
        async with client.stream(header) as session:
            seen = await session.until(2)
            texts = [one["params"]["update"].get("content") for one in seen[:-1]]
            assert {"type": "text", "text": "hi"} in texts


async def test_a_session_that_is_loaded_without_the_header_replays_on_the_connection() -> None:
    """Official Python SDK: it opens the session's stream when `session/load` was answered."""
    async with serving() as served:
        first = await opened(served.port)
        session_id = await new_session(first)
        header = {"acp-session-id": session_id}
        async with first.stream(header) as session:
            await first.post(prompt(session_id, "remember"), header)
            await session.until(2)
        await first.request("DELETE")
        second = await opened(served.port)
        load = {"sessionId": session_id, "cwd": "/tmp", "mcpServers": []}
        message = {"jsonrpc": "2.0", "id": 3, "method": "session/load", "params": load}
        async with second.stream() as connection:
            assert (await second.post(message)).status == 202
            seen = await connection.until(3)
            assert any("remember" in json.dumps(one) for one in seen[:-1])


async def test_the_answer_to_a_load_follows_the_history_where_a_client_resumes() -> None:
    """The extension: on one stream, so that no cut can put the answer before the history."""
    async with serving() as served:
        client = await opened(served.port, resumes=True)
        session_id = await new_session(client)
        header = {"acp-session-id": session_id}
        load = {"sessionId": session_id, "cwd": "/tmp", "mcpServers": []}
        message = {"jsonrpc": "2.0", "id": 3, "method": "session/load", "params": load}
        async with client.stream(header) as session:
            await client.post(prompt(session_id, "remember"), header)
            await session.until(2)
            assert (await client.post(message, header)).status == 202
            seen = await session.until(3)
            assert any("remember" in json.dumps(one) for one in seen[:-1])


@pytest.mark.rule("TR-HTTP-12")
async def test_delete_ends_the_connection_and_its_streams() -> None:
    async with serving() as served:
        client = await opened(served.port)
        async with client.stream() as connection:
            assert (await client.request("DELETE")).status == 202
            await connection.ended()
        assert (await client.post(NEW_SESSION)).status == 404
        assert (await client.request("DELETE")).status == 404
        assert served.open_connections == 0


@pytest.mark.rule("TR-HTTP-14")
async def test_a_stream_has_one_reader() -> None:
    async with serving() as served:
        client = await opened(served.port)
        async with client.stream() as first, client.stream() as second:
            assert (first.head.status, second.head.status) == (200, 409)


# ---- what is refused, and that the next request works


@dataclass(frozen=True)
class Wrong:
    """A request that must be refused, and how."""

    status: int
    method: str = "POST"
    body: Any = field(default_factory=lambda: NEW_SESSION)
    headers: Mapping[str, str | None] = field(default_factory=dict)
    path: str = "/acp"

    async def send(self, client: RawClient) -> Response:
        body = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        if self.method != "POST":
            body = b""
        headers = {"content-type": "application/json", **self.headers}
        return await client.request(self.method, headers, body, self.path)


NO_ID = {"acp-connection-id": None}
EVENTS = {"accept": "text/event-stream"}
WITHOUT_ID = {key: value for key, value in INITIALIZE.items() if key != "id"}

WRONG = {
    "another verb": Wrong(405, "PUT"),
    "HEAD": Wrong(405, "HEAD"),
    "OPTIONS": Wrong(405, "OPTIONS"),
    "another path": Wrong(404, path="/other"),
    "no content type": Wrong(415, headers={"content-type": None}),
    "text": Wrong(415, headers={"content-type": "text/plain"}),
    "a form": Wrong(415, headers={"content-type": "application/x-www-form-urlencoded"}),
    "not JSON": Wrong(400, body=b"{"),
    "nothing": Wrong(400, body=b""),
    "not UTF-8": Wrong(400, body=b'{"jsonrpc":"2.0","method":"\xff"}'),
    "a number": Wrong(400, body=7),
    "a string": Wrong(400, body="x"),
    "an empty array": Wrong(400, body=[]),
    "an array": Wrong(400, body=[NEW_SESSION]),
    "an array of initialize": Wrong(400, body=[INITIALIZE], headers=NO_ID),
    "no connection": Wrong(400, headers=NO_ID),
    "an unknown connection": Wrong(404, headers={"acp-connection-id": "0" * 32}),
    "an empty connection": Wrong(404, headers={"acp-connection-id": ""}),
    "a long connection": Wrong(400, headers={"acp-connection-id": "0" * 1025}),
    "a long session": Wrong(400, headers={"acp-session-id": "s" * 1025}),
    "a prompt without its header": Wrong(400, body=prompt("s", "x")),
    "a prompt with another header": Wrong(
        400, body=prompt("s", "x"), headers={"acp-session-id": "t"}
    ),
    "initialize again": Wrong(400, body=INITIALIZE),
    "initialize without an id": Wrong(400, body=WITHOUT_ID, headers=NO_ID),
    "initialize with null": Wrong(400, body={**INITIALIZE, "id": None}, headers=NO_ID),
    "GET without a type": Wrong(406, "GET", headers={"accept": None}),
    "GET of JSON": Wrong(406, "GET", headers={"accept": "application/json"}),
    "GET without a connection": Wrong(400, "GET", headers={**EVENTS, **NO_ID}),
    "GET of an unknown connection": Wrong(
        404, "GET", headers={**EVENTS, "acp-connection-id": "f" * 32}
    ),
    "GET with a bad event": Wrong(400, "GET", headers={**EVENTS, "last-event-id": "x"}),
    "GET of events that are gone": Wrong(410, "GET", headers={**EVENTS, "last-event-id": "7"}),
    "DELETE without a connection": Wrong(400, "DELETE", headers=NO_ID),
    "DELETE of an unknown connection": Wrong(
        404, "DELETE", headers={"acp-connection-id": "f" * 32}
    ),
    "a body of 33 MiB": Wrong(413, body=b" " * (33 * MIB)),
}

RULES = {
    "no content type": pytest.mark.rule("TR-HTTP-04"),
    "GET of JSON": pytest.mark.rule("TR-HTTP-05"),
    "no connection": pytest.mark.rule("TR-HTTP-08"),
    "an unknown connection": pytest.mark.rule("TR-HTTP-08"),
    "a prompt without its header": pytest.mark.rule("TR-HTTP-09"),
    "a prompt with another header": pytest.mark.rule("TR-HTTP-09"),
    "an array": pytest.mark.rule("TR-HTTP-13"),
}


@pytest.mark.parametrize(
    "wrong",
    [pytest.param(wrong, id=name, marks=RULES.get(name, ())) for name, wrong in WRONG.items()],
)
@pytest.mark.parametrize("client_class", [RawClient, RawHttp2Client])
async def test_a_wrong_request_gets_its_status_and_the_next_one_works(
    wrong: Wrong, client_class: type[RawClient]
) -> None:
    async with serving() as served:
        client = client_class(served.port)
        await client.initialize()
        assert (await wrong.send(client)).status == wrong.status
        assert await new_session(client)


@pytest.mark.parametrize("server", SERVERS)
async def test_the_answer_to_a_preflight_has_no_length(server: str) -> None:
    """RFC 9110, 8.6: with status 204 there is none."""
    headers = {"origin": "https://a.example", "access-control-request-method": "POST"}
    async with SERVERS[server](echo_agent().asgi(origins=["https://a.example"])) as port:
        response = await RawClient(port).request("OPTIONS", headers)
        assert response.status == 204
        assert "content-length" not in response.headers


async def test_an_array_is_answered_as_the_sdk_answers_it() -> None:
    async with serving() as served:
        client = await opened(served.port)
        response = await client.post([NEW_SESSION])
        assert response.json["error"]["code"] == -32600
        assert response.json["id"] is None


async def test_a_body_without_a_length_is_cut_at_the_limit() -> None:
    """A chunked body says nothing of its length."""
    async with serving(limits=RemoteLimits(message_bytes=1000)) as served:
        client = await opened(served.port)
        chunk = b"3e8\r\n" + b" " * 1000 + b"\r\n"
        headers = {
            "content-type": "application/json",
            "content-length": None,
            "transfer-encoding": "chunked",
        }
        response = await client.request("POST", headers, chunk * 3 + b"0\r\n\r\n")
        assert response.status == 413
        assert await new_session(client)


async def test_a_broken_chunk_is_a_bad_request() -> None:
    """Issue 16: status 499 is never sent."""
    async with serving() as served:
        client = await opened(served.port)
        headers = {
            "content-type": "application/json",
            "content-length": None,
            "transfer-encoding": "chunked",
        }
        response = await client.request("POST", headers, b"2\r\n{}\r\nnot a length\r\n")
        assert response.status == 400
        assert await new_session(client)


async def test_a_slow_body_is_given_up() -> None:
    async with serving(limits=RemoteLimits(body_seconds=0.05)) as served:
        client = await opened(served.port)
        headers = {"content-type": "application/json", "content-length": "100"}
        response = await client.request("POST", headers, b"{")
        assert response.status == 408
        assert await new_session(client)


async def test_a_deeply_nested_message_is_refused_by_the_agent() -> None:
    """LIM-01: the connection lives on."""
    async with serving() as served:
        client = await opened(served.port)
        deep = b'{"jsonrpc":"2.0","id":9,"method":"session/list","params":{"_meta":%b%b}}'
        async with client.stream() as connection:
            assert (await client.post(deep % (b"[" * 10_000, b"]" * 10_000))).status == 202
            answer = await connection.message()
            assert answer["error"]["code"] == -32600
        assert await new_session(client)


async def test_an_object_that_is_not_a_message_is_answered_on_the_stream() -> None:
    async with serving() as served:
        client = await opened(served.port)
        async with client.stream() as connection:
            for _ in range(3):
                assert (await client.post({})).status == 202
                assert (await connection.message())["error"]["code"] == -32600


async def test_a_message_over_several_lines_is_one_message() -> None:
    async with serving() as served:
        client = await opened(served.port)
        async with client.stream() as connection:
            assert (await client.post(json.dumps(NEW_SESSION, indent=2).encode())).status == 202
            assert (await connection.until(1))[-1]["result"]["sessionId"]


# ---- resume


async def test_a_reader_that_comes_back_gets_what_it_has_not_seen() -> None:
    async with serving() as served:
        client = await opened(served.port, resumes=True)
        session_id = await new_session(client)
        header: Json = {"acp-session-id": session_id}
        async with client.stream(header) as session:
            await client.post(prompt(session_id, "flood 20"), header)
            while session.last_id != "7":
                await session.message()
        async with client.stream({**header, "last-event-id": "7"}) as session:
            first = await session.message()
            assert session.last_id == "8"
            rest = [first, *await session.until(2)]
        said = "".join(one["params"]["update"]["content"]["text"] for one in rest[:-1])
        assert "19:x" in said


async def test_a_second_reader_of_a_resuming_client_takes_over() -> None:
    async with serving() as served:
        client = await opened(served.port, resumes=True)
        async with client.stream() as first, client.stream() as second:
            assert second.head.status == 200
            await first.ended()
            await client.post(NEW_SESSION)
            assert (await second.until(1))[-1]["result"]


async def test_numbered_posts_are_handled_in_order_and_once() -> None:
    async with serving() as served:
        client = await opened(served.port, resumes=True)
        async with client.stream() as connection:
            async with asyncio.timeout(HANG_SECONDS), asyncio.TaskGroup() as posts:
                for number in (3, 1, 2, 2, 1):
                    message = {**NEW_SESSION, "id": 100 + number}
                    sent = client.post(message, {"accord-message": str(number)})
                    posts.create_task(sent)
            ids = [(await connection.message())["id"] for _ in range(3)]
            assert ids == [101, 102, 103]
            await client.post({**NEW_SESSION, "id": 104}, {"accord-message": "4"})
            assert (await connection.message())["id"] == 104


async def test_a_refused_message_takes_its_number() -> None:
    async with serving() as served:
        client = await opened(served.port, resumes=True)
        refused = await client.post(prompt("s", "x"), {"accord-message": "1"})
        assert refused.status == 400
        async with client.stream() as connection:
            assert (await client.post(NEW_SESSION, {"accord-message": "2"})).status == 202
            assert (await connection.until(1))[-1]["result"]


async def test_a_client_that_stays_away_is_forgotten() -> None:
    async with serving(limits=RemoteLimits(grace_seconds=0.05)) as served:
        client = await opened(served.port)
        async with asyncio.timeout(HANG_SECONDS):
            while served.open_connections:
                await asyncio.sleep(0)
        assert (await client.post(NEW_SESSION)).status == 404


async def test_kept_events_are_bounded_and_a_gap_is_said() -> None:
    async with serving(limits=RemoteLimits(kept_bytes=5000)) as served:
        client = await opened(served.port, resumes=True)
        session_id = await new_session(client)
        header: Json = {"acp-session-id": session_id}
        async with client.stream(header) as session:
            await client.post(prompt(session_id, "flood 50"), header)
            await session.until(2)
        response = await client.request("GET", {**header, **EVENTS, "last-event-id": "1"})
        assert response.status == 410
        assert response.json["error"]["data"] == {"reason": "gap"}


async def test_a_second_server_in_the_same_program_has_connections_of_its_own() -> None:
    async with serving() as one, serving() as other:
        client = await opened(one.port)
        stranger = RawClient(other.port, dict(client.headers))
        assert (await stranger.post(NEW_SESSION)).status == 404


# ---- what is not even a request


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = b"\0\0\0\4\0\0\0\0\0"
BROKEN = {
    "noise": b"\0\1\2\3 noise \xff\xfe\r\n\r\n",
    "TLS on the plain port": b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + bytes(500) + b"\r\n\r\n",
    "a head of 70 kB": b"GET /acp HTTP/1.1\r\nx: " + b"a" * 70_000,
    "a header without a name": b"GET /acp HTTP/1.1\r\n: x\r\n\r\n",
    "an upgrade without a key": b"GET /acp HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\r\n",
    "an upgrade without a host": b"GET /acp HTTP/1.1\r\nUpgrade: websocket\r\n\r\n",
    "two lengths": b"POST /acp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n"
    b"Content-Length: 2\r\n\r\nxx",
    "HTTP/2 without settings": PREFACE + b"\0\0\4\1\4\0\0\0\1ABCD",
    "a frame of HTTP/2 that is too long": PREFACE + SETTINGS + b"\xff\xff\xff\1\4\0\0\0\1",
    "broken headers of HTTP/2": PREFACE + SETTINGS + b"\0\0\4\1\5\0\0\0\1\xff\xff\xff\xff",
    "data of no stream of HTTP/2": PREFACE + SETTINGS + b"\0\0\1\0\0\0\0\0\0x",
    "a window of HTTP/2 that overflows": PREFACE
    + SETTINGS
    + b"\0\0\4\x08\0\0\0\0\0\x7f\xff\xff\xff" * 2,
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
async def test_bytes_that_are_no_request_end_their_connection_only(data: bytes) -> None:
    async with serving() as served, asyncio.timeout(HANG_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(data)
        with contextlib.suppress(ConnectionError):
            await reader.read()
        await closed(writer)
        assert await new_session(await opened(served.port))

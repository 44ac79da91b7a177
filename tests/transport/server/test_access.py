"""Who may use a served agent: hosts, origins, credentials, and whose connection it is."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from accord import LocalProtocolError, MemoryStore, bearer_tokens
from accord.transport.remote_limits import RemoteLimits
from accord.transport.server.request_guard import (
    LOOPBACK_HOSTS,
    guard_of,
    is_loopback,
    without_port,
)
from accord.transport.server.requests import RemoteRequest
from tests.transport.server.raw_http import INITIALIZE, NEW_SESSION, UPGRADE, RawClient, prompt
from tests.transport.server.served_agent import Served, echo_agent, serving

TOKENS = {"secret-of-ann": "ann", "secret-of-bob": "bob"}
ANN = {"authorization": "Bearer secret-of-ann"}
BOB = {"authorization": "Bearer secret-of-bob"}

EVENTS = {"accept": "text/event-stream"}

FOREIGN: dict[str, tuple[Mapping[str, str], int]] = {
    "a page of another site": ({"origin": "https://evil.example"}, 403),
    "a page without an origin": ({"origin": "null"}, 403),
    "a page on another port": ({"origin": "http://127.0.0.1:1"}, 403),
    "a page of a file": ({"origin": "file://"}, 403),
    "a name that was rebound": ({"host": "evil.example"}, 421),
    "a name that begins like ours": ({"host": "localhost.evil.example"}, 421),
    "no name": ({"host": ""}, 421),
    "two names": ({"host": "localhost, evil.example"}, 421),
    "another computer behind a proxy": ({"x-forwarded-for": "192.0.2.1"}, 403),
}


async def upgrade_status(served: Served, headers: Mapping[str, str]) -> int:
    """The status of an upgrade with these headers; 101 if it went well."""
    named = {name: value for name, value in headers.items() if name != "host"}
    host = headers.get("host", f"127.0.0.1:{served.port}")
    raw = RawClient(served.port)
    return (await raw.request("GET", {**UPGRADE, **named, "host": host})).status


@pytest.mark.anyio
@pytest.mark.parametrize(("headers", "status"), FOREIGN.values(), ids=FOREIGN)
async def test_what_is_foreign_is_refused_by_every_verb(
    headers: Mapping[str, str], status: int
) -> None:
    """Ours: before anything of a body is parsed, and on WebSocket as well."""
    async with serving() as served:
        client = RawClient(served.port)
        for method in ("POST", "GET", "DELETE", "OPTIONS"):
            assert (await client.request(method, headers, b"not even JSON")).status == status
        assert await upgrade_status(served, headers) == status
        assert served.open_connections == 0
        assert (await client.initialize()).status == 200


@pytest.mark.anyio
async def test_a_page_of_the_server_itself_and_a_named_origin_are_served() -> None:
    async with serving(origins=["https://app.example"]) as served:
        client = RawClient(served.port)
        own = await client.post(INITIALIZE, {"origin": f"http://127.0.0.1:{served.port}"})
        named = await client.post(INITIALIZE, {"origin": "https://app.example"})
        assert (own.status, named.status) == (200, 200)
        assert "access-control-allow-origin" not in own.headers
        assert named.headers["access-control-allow-origin"] == "https://app.example"
        asked = {"origin": "https://app.example", "access-control-request-method": "POST"}
        assert (await client.request("OPTIONS", asked)).status == 204
        assert await upgrade_status(served, {"origin": "https://app.example"}) == 101


@pytest.mark.anyio
@pytest.mark.rule("TR-HTTP-21")
async def test_every_request_is_authorised_and_ids_are_not_credentials() -> None:
    async with serving(auth=bearer_tokens(TOKENS)) as served:
        ann = RawClient(served.port, dict(ANN))
        await ann.initialize()
        connection = {"acp-connection-id": ann.headers["acp-connection-id"]}
        events = {"accept": "text/event-stream"}
        for credentials, status in (({}, 401), ({"authorization": "Bearer x"}, 401), (BOB, 404)):
            other = RawClient(served.port, {**connection, **credentials})
            assert (await other.post(NEW_SESSION)).status == status
            assert (await other.request("GET", events)).status == status
            assert (await other.request("DELETE")).status == status
        assert (await ann.post(NEW_SESSION)).status == 202


@pytest.mark.anyio
async def test_an_upgrade_needs_credentials_and_its_connection_belongs_to_its_user() -> None:
    async with serving(auth=bearer_tokens(TOKENS)) as served:
        url = f"ws://127.0.0.1:{served.port}/acp"
        with pytest.raises(InvalidStatus) as refused:
            await connect(url, compression=None)
        assert refused.value.response.status_code == 401
        async with connect(
            f"{url}?accord-resume=new", additional_headers=ANN, compression=None
        ) as socket:
            said = json.loads(await socket.recv())["params"]
            back = f"{url}?accord-resume={said['connectionId']}&accord-received=0"
            async with connect(back, additional_headers=BOB, compression=None) as stranger:
                await stranger.wait_closed()
                assert (stranger.close_code, stranger.close_reason) == (1008, "unknown connection")
            await socket.send(json.dumps(INITIALIZE))
            assert json.loads(await socket.recv())["result"]


@pytest.mark.anyio
@pytest.mark.rule("TR-HTTP-20")
async def test_a_user_sees_and_loads_their_own_sessions_only() -> None:
    store = MemoryStore()
    async with serving(echo_agent(store=store), auth=bearer_tokens(TOKENS)) as served:
        ann, bob = RawClient(served.port, dict(ANN)), RawClient(served.port, dict(BOB))
        await ann.initialize()
        await bob.initialize()
        async with ann.stream() as connection:
            await ann.post(NEW_SESSION)
            session_id = (await connection.until(1))[-1]["result"]["sessionId"]
            header = {"acp-session-id": session_id}
            await ann.post(prompt(session_id, "hi"), header)
            async with ann.stream(header) as session:
                await session.until(2)
        params = {"sessionId": session_id, "cwd": "/tmp", "mcpServers": []}
        asked = {"session/load": -32002, "session/resume": -32002, "session/list": None}
        header = {"acp-session-id": session_id}
        async with bob.stream(header) as stolen:
            await ann.post(prompt(session_id, "private", 30), header)
            async with ann.stream(header) as own:
                await own.until(30)
            # Of the session of somebody else, a stream has the refusal of the prompt alone.
            await bob.post(prompt(session_id, "mine", 31), header)
            seen = await stolen.until(31)
            assert [one.get("id") for one in seen] == [31]
            assert seen[-1]["error"]["code"] == -32002
        async with bob.stream() as connection:
            for number, (method, code) in enumerate(asked.items(), start=10):
                about = {} if code is None else params
                message = {"jsonrpc": "2.0", "id": number, "method": method, "params": about}
                await bob.post(message)
                answer = (await connection.until(number))[-1]
                if code is None:
                    assert answer["result"]["sessions"] == []
                else:
                    assert answer["error"]["code"] == code
            delete = {"jsonrpc": "2.0", "id": 20, "method": "session/delete", "params": params}
            await bob.post(delete)
            await connection.until(20)
        assert await store.get(session_id) is not None


NOT_NAMES = (None, False, True, 0, 1, "", "\ud800", b"ann", ("ann",), {"name": "ann"}, 1.5)


@pytest.mark.anyio
@pytest.mark.parametrize("answer", NOT_NAMES, ids=repr)
@pytest.mark.parametrize("waits", [False, True])
async def test_an_auth_function_lets_nobody_in_but_by_a_name(answer: Any, waits: bool) -> None:
    """Issue 16: whatever else it returns, also False and True, refuses on every way in."""

    async def later(request: RemoteRequest) -> Any:
        return answer

    async with serving(auth=later if waits else lambda _: answer) as served:
        client = RawClient(served.port, {"acp-connection-id": "x", **EVENTS})
        for method in ("POST", "GET", "DELETE"):
            assert (await client.request(method, {}, b"")).status == 401
        assert await upgrade_status(served, {}) == 401
        assert served.open_connections == 0


@pytest.mark.anyio
async def test_an_auth_function_that_fails_refuses_and_its_log_has_no_token(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Ours: the text of a KeyError is the token that was not found."""

    def broken(request: RemoteRequest) -> str:
        known: dict[str | None, str] = {}
        return known[request.bearer_token]

    async with serving(auth=broken) as served:
        assert (await RawClient(served.port).post(INITIALIZE, ANN)).status == 401
        assert await upgrade_status(served, ANN) == 401
    assert "KeyError at test_access.py" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.anyio
@pytest.mark.parametrize("waits", [False, True])
async def test_an_auth_function_that_waits_for_what_was_cancelled_refuses(
    waits: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: requests may share one lookup, which ends with the request that began it."""
    lookup: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    lookup.cancel()

    async def shared(request: RemoteRequest) -> str:
        return await lookup

    async with serving(auth=shared if waits else lambda _: lookup.result()) as served:
        client = RawClient(served.port, {"acp-connection-id": "x", **EVENTS, **ANN})
        for method in ("POST", "GET", "DELETE"):
            assert (await client.request(method, {}, b"")).status == 401
        assert await upgrade_status(served, ANN) == 401
    assert caplog.text.count("the auth function failed (CancelledError") == 4


@pytest.mark.anyio
@pytest.mark.parametrize("is_stubborn", [False, True])
async def test_an_auth_function_that_does_not_answer_refuses_in_time(
    is_stubborn: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: a directory server that hangs must not keep requests open for ever."""
    released = asyncio.Event()

    async def hangs(request: RemoteRequest) -> str:
        while is_stubborn and not released.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await released.wait()
        await released.wait()
        raise KeyError("secret-of-ann")

    async with serving(auth=hangs, limits=RemoteLimits(auth_seconds=0.05)) as served:
        client = RawClient(served.port, {"acp-connection-id": "x", **EVENTS, **ANN})
        for method in ("POST", "GET", "DELETE"):
            assert (await client.request(method, {}, b"")).status == 401
        assert await upgrade_status(served, ANN) == 401
        assert served.open_connections == 0
        released.set()
        await anyio.wait_all_tasks_blocked()
        gc.collect()
    assert caplog.text.count("did not answer within 0.05 s (the limit auth_seconds)") == 4
    assert "secret" not in caplog.text


@pytest.mark.anyio
async def test_a_token_that_is_revoked_ends_what_it_allowed() -> None:
    """Issue 16: every request is authorised on its own, also on a connection that was allowed."""
    users = dict(TOKENS)
    async with serving(auth=lambda request: users.get(request.bearer_token or "")) as served:
        ann = RawClient(served.port, dict(ANN))
        await ann.initialize()
        assert (await ann.post(NEW_SESSION)).status == 202
        url = f"ws://127.0.0.1:{served.port}/acp"
        async with connect(
            f"{url}?accord-resume=new", additional_headers=ANN, compression=None
        ) as socket:
            said = json.loads(await socket.recv())["params"]
            socket.transport.abort()
        del users["secret-of-ann"]
        for method in ("POST", "GET", "DELETE"):
            assert (await ann.request(method, EVENTS)).status == 401
        back = f"{url}?accord-resume={said['connectionId']}&accord-received=0"
        with pytest.raises(InvalidStatus):
            await connect(back, additional_headers=ANN, compression=None)


@pytest.mark.anyio
async def test_an_auth_function_may_wait_and_sees_the_request() -> None:
    seen: list[RemoteRequest] = []

    async def ask(request: RemoteRequest) -> str | None:
        seen.append(request)
        return "ann"

    async with serving(auth=ask) as served:
        assert (await RawClient(served.port).post(INITIALIZE, ANN)).status == 200
        (request,) = seen
        assert (request.method, request.path, request.bearer_token) == (
            "POST",
            "/acp",
            "secret-of-ann",
        )
        assert "secret" not in repr(request)
        assert "secret" not in repr(replace(request, query="token=secret"))


@pytest.mark.parametrize(
    "options",
    [
        {"hosts": "localhost"},
        {"hosts": ["https://a.example"]},
        {"hosts": ["*.example"]},
        {"hosts": ["a.example/acp"]},
        {"hosts": ["::1"]},
        {"hosts": [""]},
        {"origins": "https://a.example"},
        {"origins": ["a.example"]},
        {"origins": ["https://*.example"]},
        {"origins": ["https://a.example/"]},
        {"hosts": ["*"]},
        {"path": "/acp?x=y"},
        {"path": "/acp#x"},
        {"path": "/a/../acp"},
        {"path": "/a//acp"},
        {"path": "/an acp"},
        {"path": "/äcp"},
        {"path": "/a%20b"},
    ],
)
def test_options_that_would_not_protect_are_refused(options: dict[str, object]) -> None:
    """Ours: nor is a path served that no client can ask for."""
    with pytest.raises(LocalProtocolError):
        echo_agent().asgi(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "served"),
    [("/acp", "/acp"), ("a/b/", "/a/b"), ("/", "/"), ("", "/"), ("/v1.0", "/v1.0")],
)
def test_a_path_is_served_with_or_without_its_slashes(path: str, served: str) -> None:
    assert echo_agent().asgi(path=path).path == served


@pytest.mark.parametrize(
    "tokens", [{}, {"": "ann"}, {"x": ""}, {"two words": "ann"}, {"wörd": "ann"}, {"line\n": "ann"}]
)
def test_tokens_and_names_can_be_sent_and_are_never_empty(tokens: dict[str, str]) -> None:
    with pytest.raises(LocalProtocolError):
        bearer_tokens(tokens)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("192.168.0.1", False),
        ("::ffff:192.168.0.1", False),
        ("0.0.0.0", False),
        ("example.com", False),
        (None, True),
    ],
)
def test_loopback_addresses_are_told_from_others(address: str | None, expected: bool) -> None:
    assert is_loopback(address) is expected


@given(st.sampled_from(LOOPBACK_HOSTS), st.integers(0, 65535))
def test_a_port_does_not_change_a_host(host: str, port: int) -> None:
    assert without_port(host) == without_port(f"{host}:{port}") == host


@pytest.mark.parametrize(
    ("origin", "is_encrypted", "is_own"),
    [
        ("http://localhost:1", False, True),
        ("https://localhost:1", False, True),
        ("https://localhost:1", True, True),
        ("http://localhost:1", True, False),
        ("ws://localhost:1", False, False),
    ],
)
def test_a_page_without_tls_is_foreign_to_a_server_with_it(
    origin: str, is_encrypted: bool, is_own: bool
) -> None:
    """Ours: anybody on the way could have written it."""
    headers = {"host": "localhost:1", "origin": origin}
    asked = RemoteRequest("GET", "/acp", "", headers, "127.0.0.1", is_encrypted=is_encrypted)
    assert (guard_of(None, None, has_auth=False).refusal(asked) is None) is is_own


@given(st.text(max_size=30), st.text(max_size=30))
def test_a_strange_host_or_origin_is_never_served(host: str, origin: str) -> None:
    """Ours: whatever it looks like, only what is listed comes in."""
    guard = guard_of(None, None, has_auth=False)
    asked = RemoteRequest("POST", "/acp", "", {"host": host, "origin": origin}, "127.0.0.1")
    if guard.refusal(asked) is None:
        assert without_port(host.lower()) in LOOPBACK_HOSTS
        assert origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")

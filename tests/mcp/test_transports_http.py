"""Servers behind an address: streamable HTTP, and SSE, which is older."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.mcp.server_spec import ServerSpec, Transport
from accord.mcp.servers import McpServers
from tests.mcp.conftest import HttpServer, connected, the_status

TOKEN = "abc-token-xyz"


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Iterator[HttpServer]:
    """A server with a password, over the transport that the test names."""
    server = HttpServer(sse=request.param == "sse", token=TOKEN)
    server.start()
    yield server
    server.stop()


def at(server: HttpServer, transport: Transport, token: str = TOKEN) -> ServerSpec:
    """The spec of a server in a thread."""
    headers = {"Authorization": f"Bearer {token}"}
    return ServerSpec(name="net", transport=transport, url=server.url, headers=headers)


async def cancel_a_call(servers: McpServers) -> None:
    scope = anyio.CancelScope()

    async def progressed(*_: Any) -> None:
        scope.cancel()

    with scope:
        await servers.call("net", "wait", on_progress=progressed)
    assert scope.cancelled_caught
    while (await servers.call("net", "cancelled")).text != "1":
        pass


@pytest.mark.parametrize(
    ("served", "transport"), [("http", "http"), ("sse", "sse")], indirect=["served"]
)
async def test_a_server_behind_an_address_is_used_with_its_headers(
    tmp_path: Path, served: HttpServer, transport: Transport
) -> None:
    """Issue: streamable HTTP, SSE (deprecated, still), with headers."""
    async with connected(at(served, transport), cwd=tmp_path) as servers:
        assert the_status(servers).error is None
        result = await servers.call("net", "add", {"a": 1, "b": 2})
        assert (result.ok, result.structured) == (True, {"total": 3})
        heard: list[float] = []

        async def progressed(done: float, _total: float | None, _message: str | None) -> None:
            heard.append(done)

        assert (await servers.call("net", "slow", on_progress=progressed)).text == "done"
        assert heard == [1, 2]
        await cancel_a_call(servers)
        assert (await servers.read_resource("memo://today", "net")).text == "write tests"


@pytest.mark.parametrize(
    ("served", "transport"), [("http", "http"), ("sse", "sse")], indirect=["served"]
)
async def test_a_refusal_names_the_status_and_nobody_sees_the_token(
    tmp_path: Path, served: HttpServer, transport: Transport, caplog: pytest.LogCaptureFixture
) -> None:
    """Issue: credentials are never shown, neither in errors nor in logs."""
    wrong = "not-the-token"
    with caplog.at_level(logging.DEBUG):
        async with connected(at(served, transport, wrong), cwd=tmp_path) as servers:
            assert the_status(servers).error == "it answered with HTTP status 401"
            assert servers.tools == []
    ours = [one for one in caplog.records if not one.name.startswith("uvicorn")]
    assert ours
    assert not any(wrong in one.getMessage() for one in ours)


async def test_an_address_where_nobody_listens_says_so(tmp_path: Path) -> None:
    """Issue: a failing one is reported; what is not an address is another sentence."""
    nobody = ServerSpec(name="none", transport="http", url="http://127.0.0.1:9/mcp?key=abcd-secret")
    nonsense = ServerSpec(name="odd", transport="http", url="gopher:example")
    async with connected(nobody, nonsense, cwd=tmp_path) as servers:
        assert [one.state for one in servers.status] == ["failed", "failed"]
        first, second = (one.error for one in servers.status)
        assert first is not None
        assert first.startswith("it cannot be reached")
        assert "abcd-secret" not in first
        assert second == "its address is not a reachable URL"


@pytest.mark.parametrize("served", ["http"], indirect=True)
async def test_a_server_that_was_started_anew_is_connected_again(
    tmp_path: Path, served: HttpServer
) -> None:
    """Issue: reconnect.  A call that the server never saw is sent again by itself."""
    async with connected(at(served, "http"), cwd=tmp_path) as servers:
        assert (await servers.call("net", "add", {"a": 1, "b": 2})).ok
        port = served.port
        await anyio.to_thread.run_sync(served.stop)
        gone = await servers.call("net", "add", {"a": 1, "b": 2})
        assert not gone.ok
        assert "cannot be reached" in gone.text
        again = HttpServer(token=TOKEN, port=port)
        await anyio.to_thread.run_sync(again.start)
        try:
            assert (await servers.call("net", "add", {"a": 1, "b": 2})).ok
            await anyio.to_thread.run_sync(again.stop)
            third = HttpServer(token=TOKEN, port=port)
            await anyio.to_thread.run_sync(third.start)
            again = third
            # It does not know the session, so it has done nothing.
            assert (await servers.call("net", "add", {"a": 2, "b": 2})).structured == {"total": 4}
        finally:
            await anyio.to_thread.run_sync(again.stop)

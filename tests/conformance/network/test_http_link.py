"""A link to a server, on both backends: lines go out as requests, and what comes is lines."""

from __future__ import annotations

import pytest

from accord.conformance.frames.raw_peer import ErrorOf, Gone
from accord.conformance.network.address import RemoteServer, read_address
from accord.conformance.network.http_caller import CONNECTION
from accord.conformance.network.http_link import HttpLink
from accord.conformance.run.program import NotStarted, connected
from tests.defects.servers.server import SmallServer, served
from tests.hang_limit import HANG_SECONDS


def server_at(port: int, scheme: str) -> RemoteServer:
    return RemoteServer(read_address(f"{scheme}://127.0.0.1:{port}/acp"))


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_a_whole_turn_passes(scheme: str) -> None:
    async with (
        served(SmallServer(print)) as port,
        connected(server_at(port, scheme), HANG_SECONDS) as program,
    ):
        peer = program.peer
        assert "result" in await peer.call("initialize", {"protocolVersion": 1})
        made = await peer.call("session/new", {})
        session = made["result"]["sessionId"]
        answer = await peer.call("session/prompt", {"sessionId": session, "prompt": []})
        assert answer["result"] == {"stopReason": "end_turn"}
        assert [one.params["sessionId"] for one in peer.received("session/update")] == [session]
        await program.close_input()
        assert await program.ended(HANG_SECONDS) == 0
        with pytest.raises(Gone):
            await peer.call("session/new", {})


async def test_a_refusal_by_a_status_is_an_error_that_names_it() -> None:
    async with (
        served(SmallServer(print)) as port,
        connected(server_at(port, "http"), HANG_SECONDS) as program,
    ):
        error = ErrorOf(await program.peer.call("session/new", {}))
        assert error["code"] == -32600
        assert error.is_status
        assert "400" in error["message"]
        await program.peer.call("initialize", {"protocolVersion": 1})
        assert not ErrorOf(await program.peer.call("_unknown")).is_status


async def test_leaving_ends_the_connection_of_the_server() -> None:
    server = SmallServer(print)
    async with served(server) as port:
        async with connected(server_at(port, "http"), HANG_SECONDS) as program:
            await program.peer.call("initialize", {"protocolVersion": 1})
            assert isinstance(program.link, HttpLink)
            assert program.link.caller.headers[CONNECTION] in server.connections
        assert server.connections == {}


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_a_server_that_is_not_there_cannot_be_judged(scheme: str) -> None:
    async with served(SmallServer(print)) as port:
        pass
    with pytest.raises(NotStarted, match=str(port)):
        async with connected(server_at(port, scheme), HANG_SECONDS):
            raise AssertionError

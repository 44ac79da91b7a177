"""HTTP/2 as the kit speaks it, with a server that is not the kit's."""

from __future__ import annotations

import json

import pytest

from accord.conformance.frames.raw_peer import Unanswered
from accord.conformance.network.address import RemoteServer, read_address
from accord.conformance.network.http_caller import CONNECTION, HttpCaller, speaks_http1
from tests.conformance.network.test_http_link import server_at
from tests.defects.servers.server import SmallServer, served
from tests.hang_limit import HANG_SECONDS
from tests.transport.server.raw_http import INITIALIZE
from tests.transport.server.served_agent import serving


@pytest.fixture
def anyio_backend() -> str:
    """Our server runs on asyncio."""
    return "asyncio"


def caller_at(port: int) -> HttpCaller:
    server = RemoteServer(read_address(f"http://127.0.0.1:{port}/acp"))
    return HttpCaller(server, patience=HANG_SECONDS, is_http2=True)


async def test_requests_and_streams_go_over_http2() -> None:
    """TR-HTTP-02: a server may speak nothing else."""
    async with serving() as running:
        caller = caller_at(running.port)
        answer = await caller.post(INITIALIZE)
        assert (answer.words[0], answer.status) == ("HTTP/2", 200)
        caller.headers[CONNECTION] = answer.header(CONNECTION) or ""
        async with caller.stream() as stream:
            assert stream.head.content_type == "text/event-stream"
            # More than the window of a connection.
            big = {"jsonrpc": "2.0", "id": 7, "method": "_x", "params": {"a": "x" * 300_000}}
            assert (await caller.post(big)).status == 202
            async for event in stream.events():
                assert json.loads(event.data)["id"] == 7
                break
        assert (await caller.request("DELETE")).status == 202


async def test_a_server_without_http2_does_not_answer_it() -> None:
    async with served(SmallServer(print)) as port:
        caller = HttpCaller(server_at(port, "http"), patience=HANG_SECONDS, is_http2=True)
        with pytest.raises(Unanswered):
            await caller.post(INITIALIZE)
        assert await speaks_http1(caller.server.address)

"""Logins of clients of the draft at a gateway on a real socket."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.errors import RequestError
from accord.gateway.clients.authenticate_requests import DraftLogins
from accord.transport.memory import memory_pair
from accord.transport.remote_transport import remote_transport
from tests.gateway.served_gateway import key_of, served_gateway
from tests.hang_limit import HANG_SECONDS
from tests.proxy.wires import Wire
from tests.transport.server.raw_http import RawClient

pytestmark = pytest.mark.anyio

INITIALIZE = {
    "protocolVersion": 1,
    "capabilities": {},
    "clientInfo": {"name": "drafty", "version": "1"},
}


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


@asynccontextmanager
async def draft_client(port: int, scheme: str, token: str) -> AsyncIterator[Wire]:
    """Connect a raw client of the draft."""
    transport: Any = remote_transport(f"{scheme}://127.0.0.1:{port}/acp", token=token)()
    async with anyio.create_task_group() as tasks:
        wire = Wire(transport)
        await transport.start(wire, tasks)
        wire.request(0, "initialize", INITIALIZE)
        assert "capabilities" in (await wire.hear())["result"]
        yield wire
        await transport.aclose()
        tasks.cancel_scope.cancel()


def login(secret: str, method: str = "api_key") -> dict[str, Any]:
    return {"method": method, "credentials": {"apiKey": secret}}


@pytest.mark.rule("D26-05")
@pytest.mark.parametrize("scheme", ["ws", "http"])
async def test_a_login_is_checked_by_the_gateway(scheme: str) -> None:
    """dialect.md, 3.2: the keys of the configuration, and nobody becomes somebody else."""
    async with served_gateway() as port, draft_client(port, scheme, key_of("ann")) as wire:
        answers = {
            "ann": {"success": True},
            "bob": {"success": False, "error": "The credentials were refused"},
            "eve": {"success": False, "error": "The credentials were refused"},
        }
        for name, answer in answers.items():
            wire.request(name, "authenticate", login(key_of(name)))
            assert (await wire.hear())["result"] == answer
        wire.request("bad", "authenticate", {"method": "api_key"})
        assert (await wire.hear())["error"]["code"] == -32602
        # About an account of the agent, which needs none.
        wire.request("own", "authenticate", login("x", "custom"))
        assert (await wire.hear())["result"] == {"success": True}
        wire.request("new", "session/new", {"workingDirectory": "/tmp"})
        assert (await wire.hear())["result"]["sessionId"]


async def test_without_a_header_nobody_comes_as_far_as_a_login() -> None:
    """transports.md, 7: credentials are checked on every request; a connection's id is none."""
    async with served_gateway() as port:
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE}
        answer = await RawClient(port).request("POST", {}, json.dumps(body).encode())
        assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")


LINES = [
    b'{"jsonrpc":"2.0","id":1,"method":"authenticate","params":{"method":"api_key"}}',
    b'{"jsonrpc":"2.0","id":2,"method":"authenticate","params":{"method":"custom"}}',
    b'{"jsonrpc":"2.0","id":3,"method":"authenticate","params":{"method":["api_key"]}}',
    b'{"jsonrpc":"2.0","method":"authenticate","params":{"method":"api_key"}}',
    b'{"jsonrpc":"2.0","id":4,"method":"authenticate","params":[]}',
    b'{"jsonrpc":"2.0","id":5,"method":"x","params":{"said":"authenticate"}}',
    b'["authenticate"]',
    b'"authenticate" and no JSON',
    b"{}",
]


@given(st.lists(st.sampled_from(range(len(LINES))), max_size=8), st.integers(1, 200))
async def test_everything_but_logins_goes_on_as_it_came(picked: list[int], size: int) -> None:
    """Ours: any split of the bytes, in their order; each login gets one answer."""

    async def refuse(params: object) -> dict[str, Any]:
        del params
        raise RequestError.invalid_params("no", "$")

    with anyio.fail_after(HANG_SECONDS):
        near, far = memory_pair()
        async with anyio.create_task_group() as tasks:
            inner: Any = DraftLogins(near, refuse, lambda _: None)
            inside, outside = Wire(inner), Wire(far)
            await inner.start(inside, tasks)
            await far.start(outside, tasks)
            data = b"".join(LINES[at] + b"\n" for at in picked)
            for start in range(0, len(data), size):
                far.write(data[start : start + size])
            passed = [LINES[at] for at in picked if at]
            assert [await inside.line() for _ in passed] == passed
            for _ in range(picked.count(0)):
                assert (await outside.hear())["error"]["code"] == -32602
            tasks.cancel_scope.cancel()

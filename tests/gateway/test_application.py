"""The pages of a gateway, as an ASGI server calls for them."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import pytest

from accord.gateway.access.access import Access
from accord.gateway.agents.hosted_agent import HostedAgent
from accord.gateway.agents.in_process import in_process
from accord.gateway.application import ALIVE, METRICS, READY, WELL_KNOWN, GatewayApplication
from accord.gateway.configuration.agent_settings import AgentSettings
from accord.gateway.configuration.config_file import GatewayConfig
from accord.gateway.engine.memory import MemoryDisk, MemoryEngine
from accord.gateway.gateway import Gateway
from tests.gateway.gateway_process import TOKEN
from tests.gateway.hosting import echoing_agent

pytestmark = pytest.mark.anyio


async def asked(application: GatewayApplication, method: str, path: str) -> tuple[Any, bytes]:
    """Ask for a page; return the start of the answer and its body."""
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.disconnect"}

    headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {TOKEN}".encode())]
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "scheme": "http",
    }
    await application(scope, receive, send)
    bodies = [one["body"] for one in sent if one["type"] == "http.response.body"]
    return sent[0], b"".join(bodies)


@pytest.mark.parametrize("path", [ALIVE, READY, METRICS, WELL_KNOWN, "/login"])
async def test_head_is_get_without_the_body(path: str) -> None:
    """RFC 9110, 9.3.2; granian sends what it is given over HTTP/2."""
    settings = AgentSettings(name="echo", command=("echo",))
    hosted = HostedAgent(settings, in_process(echoing_agent()))
    access = Access(GatewayConfig(agents={"echo": settings}), token=TOKEN)
    async with Gateway({"echo": hosted}, MemoryEngine(MemoryDisk())) as gateway:
        application = GatewayApplication(gateway, access=access)
        start, body = await asked(application, "GET", path)
        head_start, head_body = await asked(application, "HEAD", path)
        assert body
        assert head_body == b""
        assert (head_start["status"], head_start["headers"]) == (start["status"], start["headers"])

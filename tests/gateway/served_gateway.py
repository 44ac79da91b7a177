"""A gateway on a real socket, with two users and an agent of the library."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from accord import RemoteServer
from accord.gateway.access.access import Access
from accord.gateway.access.api_keys import digest_of
from accord.gateway.agents.hosted_agent import HostedAgent
from accord.gateway.agents.in_process import in_process
from accord.gateway.application import GatewayApplication
from accord.gateway.configuration.agent_settings import AgentSettings
from accord.gateway.configuration.config_file import GatewayConfig
from accord.gateway.configuration.listener import ListenerSettings
from accord.gateway.configuration.users import User
from accord.gateway.engine.memory import MemoryDisk, MemoryEngine
from accord.gateway.gateway import Gateway
from tests.gateway.hosting import echoing_agent
from tests.hang_limit import HANG_SECONDS


def key_of(name: str) -> str:
    return f"accord_key-of-{name}-0123456789"


@asynccontextmanager
async def served_gateway(*, versions: Iterable[int] = (1, 2), **options: Any) -> AsyncIterator[int]:
    """A gateway with two users on a port of this machine; `options` are settings of its agent."""
    settings = AgentSettings(name="echo", command=("echo",), **options)
    users = {
        name: User(
            name=name,
            display_name=name.title(),
            rights={"*": "editor"},
            keys=(digest_of(key_of(name)),),
        )
        for name in ("ann", "bob")
    }
    config = GatewayConfig(
        agents={"echo": settings}, users=users, oauth=None, listener=ListenerSettings()
    )
    hosted = HostedAgent(settings, in_process(echoing_agent(versions=versions)))
    with anyio.fail_after(HANG_SECONDS):
        async with Gateway({"echo": hosted}, MemoryEngine(MemoryDisk())) as gateway:
            application = GatewayApplication(gateway, access=Access(config))
            async with RemoteServer(application, host="127.0.0.1", port=0) as server:
                yield server.port

"""Connections to a gateway that are cut at random places: nothing is lost, doubled or reordered.

As `tests/transport/random_cuts.py` does it without a gateway: the agent counts behind a gateway
with a file, over WebSocket and HTTP.  `python -m tests.gateway.durability.cuts --cuts 100000`.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from accord import Agent, RemoteServer
from accord.gateway.access.access import Access
from accord.gateway.agents.hosted_agent import HostedAgent
from accord.gateway.agents.in_process import in_process
from accord.gateway.application import GatewayApplication
from accord.gateway.configuration.agent_settings import AgentSettings
from accord.gateway.configuration.config_file import GatewayConfig
from accord.gateway.engine.sqlite import SqliteEngine
from accord.gateway.gateway import Gateway
from tests.gateway.durability.gateway_program import NO_LIMITS, TOKEN
from tests.transport.random_cuts import LIMITS, report_cuts


@asynccontextmanager
async def served_by_gateway(agent: Agent) -> AsyncGenerator[int]:
    """Serve an agent behind a gateway with a file, and return the port."""
    settings = AgentSettings(name="counting", command=("in process",))
    access = Access(GatewayConfig(agents={settings.name: settings}), token=TOKEN)
    hosted = HostedAgent(settings, in_process(agent))
    with tempfile.TemporaryDirectory() as folder:
        engine = SqliteEngine(Path(folder) / "gateway.sqlite3")
        async with Gateway({settings.name: hosted}, engine, limits=NO_LIMITS) as gateway:
            application = GatewayApplication(gateway, access=access, limits=LIMITS)
            async with application, RemoteServer(application) as server:
                yield server.port


if __name__ == "__main__":
    report_cuts(__doc__, served_by_gateway, TOKEN)

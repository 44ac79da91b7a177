"""A gateway on a real port with a real file: `gateway_program.py FILE PORT JOURNAL`.

It hosts the journaling agent in both versions, as `v1` and `v2`, and says `port N` once it listens.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio

from accord import RemoteLimits
from accord.gateway.access.access import Access
from accord.gateway.agents.hosted_agent import HostedAgent
from accord.gateway.application import GatewayApplication
from accord.gateway.configuration.agent_settings import AgentSettings
from accord.gateway.configuration.config_file import GatewayConfig
from accord.gateway.configuration.limits import UNLIMITED, PrincipalLimits
from accord.gateway.engine.sqlite import SqliteEngine
from accord.gateway.gateway import Gateway
from accord.transport.server.listener.remote_server import RemoteServer
from accord.transport.subprocess import SubprocessTransport
from accord.transport.transport import Transport
from tests.hang_limit import HANG_SECONDS

TOKEN = "accord_token-of-the-durability-tests"
AGENT = Path(__file__).with_name("journaling_agent.py")
NO_LIMITS = PrincipalLimits(
    connections=UNLIMITED,
    sessions=UNLIMITED,
    processes=UNLIMITED,
    frames_per_second=UNLIMITED,
    bytes_per_second=UNLIMITED,
)
# A machine may be so busy that a client which is there takes nothing for a while.
LIMITS = replace(RemoteLimits(), stall_seconds=HANG_SECONDS)


def _started(settings: AgentSettings, folders: Sequence[str]) -> Transport:
    return SubprocessTransport(settings.command, cwd=folders[0] if folders else None)


async def serve(path: Path, port: int, journal: str) -> None:
    """Serve until killed."""
    settings = {
        version: AgentSettings(
            name=version, command=(sys.executable, "-S", str(AGENT), version[1:], journal)
        )
        for version in ("v1", "v2")
    }
    agents = {name: HostedAgent(one, partial(_started, one)) for name, one in settings.items()}
    access = Access(GatewayConfig(agents=settings), token=TOKEN)
    async with Gateway(agents, SqliteEngine(path), limits=NO_LIMITS) as gateway:
        application = GatewayApplication(gateway, access=access, limits=LIMITS)
        async with application, RemoteServer(application, port=port) as server:
            print(f"port {server.port}", flush=True)
            await anyio.sleep_forever()


if __name__ == "__main__":
    anyio.run(serve, Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])

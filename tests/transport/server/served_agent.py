"""An agent that is served in this process on a real socket, for clients that are real or raw."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from accord import Agent, RemoteLimits, Turn
from accord.transport.server.application import RemoteApplication
from accord.transport.server.listener.remote_server import RemoteServer


@dataclass
class Served:
    """Where an agent is served, and the application behind it."""

    port: int
    application: RemoteApplication

    @property
    def open_connections(self) -> int:
        return len(self.application.connections)


def echo_agent(**options: Any) -> Agent:
    """An agent that says what it is told; `flood N` says N chunks of 1 kB."""
    agent = Agent("echo", version="1.0.0", **options)

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        verb, _, count = turn.text.partition(" ")
        if verb == "flood":
            for number in range(int(count)):
                await turn.say(f"{number}:" + "x" * 1000)
        else:
            await turn.say(turn.text)

    return agent


@asynccontextmanager
async def serving(
    agent: Agent | None = None, *, limits: RemoteLimits | None = None, **options: Any
) -> AsyncIterator[Served]:
    """Serve an agent on a free port."""
    application = (agent or echo_agent()).asgi(limits=limits, **options)
    async with RemoteServer(application) as server:
        yield Served(server.port, application)


__all__ = ["Served", "echo_agent", "serving"]

"""An agent of the library that runs in the gateway's own process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anyio.abc import TaskGroup

from accord.gateway.agents.hosted_agent import Connect
from accord.transport.memory import memory_pair
from accord.transport.transport import Receiver, Transport

if TYPE_CHECKING:
    from accord.agent.agent import Agent


class InProcessTransport:
    """A transport to an agent that is served from `start` until `aclose`."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._near, self._far = memory_pair()

    @property
    def backlog(self) -> int:
        """Bytes that the agent has not taken yet."""
        return self._near.backlog

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """Start to serve, and to deliver what the agent says."""
        tasks.start_soon(self._agent.serve, self._far, name="agent")
        await self._near.start(receiver, tasks)

    def write(self, data: bytes) -> None:
        self._near.write(data)

    async def drain(self) -> None:
        await self._near.drain()

    def pause(self) -> None:
        self._near.pause()

    def resume(self) -> None:
        self._near.resume()

    async def aclose(self) -> None:
        """End the agent's connection; what it works on is cancelled."""
        await self._near.aclose()


def in_process(agent: Agent) -> Connect:
    """Return what serves an agent object; the folders of a session are told by its client."""

    def connect(folders: Sequence[str]) -> Transport:
        del folders
        return InProcessTransport(agent)

    return connect

"""The processes of all hosted agents, each for one principal.

What always holds
    * No process outlives the pool.
    * No principal has more processes than its limit allows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import anyio
from anyio.abc import TaskGroup

from accord.gateway.access.limits import LimitReached, Usage
from accord.gateway.agents.agent_process import AgentProcess
from accord.gateway.agents.hosted_agent import HostedAgent

MakeRoom = Callable[[str], Awaitable[bool]]
"""Ends a process of a principal that can be done without for now; returns whether there was one."""


class ProcessPool:
    """Starts processes, and ends all of them in the end."""

    def __init__(self, usage: Usage, make_room: MakeRoom) -> None:
        self._starts: Counter[str] = Counter()
        self._usage = usage
        self._make_room = make_room
        self._processes: dict[AgentProcess, str] = {}

    def count(self, agent: str) -> int:
        """Return how many processes of an agent run."""
        return list(self._processes.values()).count(agent)

    def starts(self, agent: str) -> int:
        """Return how many processes of an agent were started until now."""
        return self._starts[agent]

    async def start(
        self,
        principal: str,
        agent: HostedAgent,
        initialize: Mapping[str, Any],
        folders: Sequence[str],
        tasks: TaskGroup,
        ended: Callable[[AgentProcess], None] = lambda _: None,
    ) -> AgentProcess:
        """Start a process for a session in these folders, and initialize it.

        Raises:
            RequestError: the principal has as many processes as it may have, and needs all.
            RequestFailed: the agent does not answer `initialize`, or refuses it.
            SpawnFailed: it cannot be started.
        """
        held = await self._room(principal) if agent.has_processes else None

        def gone(process: AgentProcess) -> None:
            if held is not None:
                held.release()
            self._processes.pop(process, None)
            ended(process)

        try:
            process = await agent.start(initialize, folders, tasks, gone)
        except BaseException:
            if held is not None:
                held.release()
            raise
        if process.why is None:
            self._processes[process] = agent.name
        self._starts[agent.name] += 1
        return process

    async def _room(self, principal: str) -> Any:
        while True:
            try:
                return self._usage.take(principal, "processes")
            except LimitReached as reached:
                if not await self._make_room(principal):
                    raise reached.request_error() from None

    async def aclose(self) -> None:
        """Leave none of them running."""
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as tasks:
                for process in list(self._processes):
                    tasks.start_soon(process.aclose)


__all__ = ["ProcessPool"]

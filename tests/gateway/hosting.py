"""A gateway in memory, with agents of the library behind it and people in front of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskGroup

from accord import Agent, Client, Permissions
from accord.client import Extensions
from accord.gateway.access.principal import Principal
from accord.gateway.agents.hosted_agent import HostedAgent
from accord.gateway.configuration.agent_settings import AgentSettings
from accord.gateway.engine.memory import MemoryDisk, MemoryEngine
from accord.gateway.engine.sqlite.engine import SqliteEngine
from accord.gateway.gateway import Gateway
from accord.transport.memory import MemoryTransport, memory_pair
from accord.transport.transport import Transport
from tests.hang_limit import HANG_SECONDS
from tests.proxy.wires import Wire

GATEWAYS_OWN = ("closed", "presence", "members", "settled", "primary", "turn")


class Hosting:
    """One gateway with one agent; `processes` counts how often the agent was started."""

    def __init__(
        self,
        agent: Agent,
        tasks: TaskGroup,
        disk: MemoryDisk | Path,
        options: Mapping[str, Any],
        grace_seconds: float,
    ) -> None:
        self.agent = agent
        self.role = "editor"
        """What whoever connects may do with the agent."""
        self.tasks = tasks
        self.processes: list[MemoryTransport] = []
        self.hosted = HostedAgent(AgentSettings(name="test", command=(), **options), self._start)
        engine = SqliteEngine(disk) if isinstance(disk, Path) else MemoryEngine(disk)
        self.gateway = Gateway({"test": self.hosted}, engine, grace_seconds=grace_seconds)
        self.stack = AsyncExitStack()

    def _start(self, folders: Sequence[str]) -> Transport:
        del folders
        near, far = memory_pair()
        self.processes.append(far)
        self.tasks.start_soon(self._serve, far)
        return near

    async def _serve(self, transport: MemoryTransport) -> None:
        await self.agent.serve(transport)

    async def kill(self) -> None:
        """End the newest process, as a crash would."""
        await self.processes[-1].aclose()

    def connect(self, name: str) -> MemoryTransport:
        """Return the client's end of a new connection."""
        ours, theirs = memory_pair()
        rights: Any = {"*": self.role}
        principal = Principal(name=name, display_name=name.title(), rights=rights)
        self.tasks.start_soon(self.gateway.serve, ours, principal, self.hosted)
        return theirs

    async def client(
        self, principal: str, *, version: int = 2, heard: list[Any] | None = None, **options: Any
    ) -> Client:
        """Connect somebody with our own client."""
        options.setdefault("permissions", Permissions.allow_all())
        extensions = options.pop("extensions", Extensions())
        if heard is not None:
            for name in GATEWAYS_OWN:
                method = f"_accord.session/{name}"

                async def note(params: dict[str, Any], method: str = method) -> None:
                    heard.append((method.rpartition("/")[2], params))

                extensions.notification(method)(note)
        connecting = Client.connect(
            self.connect(principal),
            versions=(version,),
            extensions=extensions,
            **options,
        )
        return await self.stack.enter_async_context(connecting)

    async def raw(self, principal: str, *, version: int = 1, **capabilities: Any) -> Wire:
        """Connect somebody with a raw wire, and initialize."""
        transport = self.connect(principal)
        wire = Wire(transport)
        await transport.start(wire, self.tasks)
        if version == 1:
            params: dict[str, Any] = {"protocolVersion": 1, "clientCapabilities": capabilities}
        else:
            info = {"name": "raw", "version": "1"}
            params = {"protocolVersion": 2, "info": info, "capabilities": capabilities}
        wire.request("init", "initialize", params)
        answer = await wire.hear()
        wire.first = answer["result"]
        return wire


@asynccontextmanager
async def hosting(
    agent: Agent,
    *,
    disk: MemoryDisk | None = None,
    grace_seconds: float = 600.0,
    **options: Any,
) -> AsyncIterator[Hosting]:
    """Host an agent of the library in memory."""
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            one = Hosting(agent, tasks, disk or MemoryDisk(), options, grace_seconds)
            async with one.gateway, one.stack:
                yield one
            tasks.cancel_scope.cancel()


def echoing_agent(**options: Any) -> Agent:
    """An agent that repeats what it is told; some words make it do more."""
    agent = Agent("test", version="1.0", **options)

    @agent.on_prompt
    async def answer(turn: Any) -> None:
        if "ask" in turn.text:
            async with turn.tool_call("Delete it", kind="delete") as call:
                allowed = await call.ask("really?")
            await turn.say("allowed" if allowed else "denied")
            return
        if "wait" in turn.text:
            await turn.say("waiting")
            await anyio.sleep_forever()
        if "read" in turn.text:
            await turn.say(await turn.read_text("notes.txt"))
            return
        await turn.say(f"you said {turn.text}")

    return agent

"""A conversation with the offline brain, over a real connection.

The variants are what clients differ in: the version, and whether files and terminals are theirs.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord import Client, Elicitations, PermissionRequest, Permissions
from accord.agent import Agent, Turn
from accord.agent.session.agent_session import AgentSession
from accord.builtin.modes import MODES
from accord.builtin.offline.intent_dispatch import COMMANDS, OfflineBrain
from accord.builtin.offline.prompt.message import read_message
from accord.builtin.tools.toolbox import Toolbox
from accord.builtin.workspace import Workspace, open_workspace
from accord.client import Session
from accord.store import MemoryStore
from accord.transcript.items.tool_call import ToolCall
from accord.transport.memory import memory_pair
from tests.hang_limit import HANG_SECONDS

VARIANTS = ("v1", "v1 with files and terminals", "v2")
everywhere = pytest.mark.parametrize("variant", VARIANTS)


class Talk:
    """One session.  `allow` is what the user says to every question of permission."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.allow = True
        # What is refused though the rest is allowed: requests with this in their reason.
        self.refused = ""
        self.asked: list[PermissionRequest] = []
        self.workspaces: dict[str, Workspace] = {}
        self.session: Session
        self.client: Client
        self.mcp: Any = None
        self._calls_seen = 0

    async def decide(self, request: PermissionRequest) -> bool:
        self.asked.append(request)
        return self.allow and not (self.refused and self.refused in (request.reason or ""))

    async def say(self, *prompt: Any) -> str:
        """A whole turn; what the agent answered."""
        self.asked.clear()
        self._calls_seen = len(self.session.transcript.tool_calls)
        with anyio.fail_after(HANG_SECONDS):
            reply = await self.session.ask(*prompt)
        assert reply.stop_reason == "end_turn"
        return reply.text

    @property
    def calls(self) -> list[ToolCall]:
        """The tool calls of the last turn."""
        return list(self.session.transcript.tool_calls[self._calls_seen :])

    def kinds(self) -> list[str]:
        """Their kinds."""
        return [call.kind for call in self.calls]

    def diffs(self) -> list[str]:
        """The files that the last turn showed diffs of."""
        return [Path(diff.path).name for call in self.calls for diff in call.diffs]

    def plan(self) -> list[str]:
        """The statuses of the plan, in order."""
        plans = self.session.transcript.plans
        return [entry.status for plan in plans for entry in plan.entries]

    async def serve(self, turn: Turn) -> str | None:
        workspace = await self.workspace(turn.session)
        return await OfflineBrain().turn(
            turn, read_message(turn.prompt), Toolbox(turn, workspace), workspace
        )

    async def workspace(self, session: AgentSession) -> Workspace:
        if session.id not in self.workspaces:
            self.workspaces[session.id] = await open_workspace(session)
            self.workspaces[session.id].mcp = self.mcp
        return self.workspaces[session.id]


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Put files into a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@asynccontextmanager
async def talking(
    folder: Path,
    variant: str = "v2",
    *,
    elicitation: Elicitations | None = None,
    store: MemoryStore | None = None,
    mcp: Any = None,
    load: str | None = None,
) -> AsyncIterator[Talk]:
    """A session in a folder."""
    talk = Talk(folder)
    talk.mcp = mcp
    agent = Agent("offline", version="1", accepts=("embedded_context",), store=store)
    for mode in MODES:
        agent.offer.add_mode(mode)
    agent.on_prompt(talk.serve)
    ours, theirs = memory_pair()
    own = variant == "v1 with files and terminals"
    options: dict[str, Any] = {} if elicitation is None else {"elicitation": elicitation}
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(agent.serve, theirs)
        async with Client.connect(
            ours,
            permissions=Permissions.ask(talk.decide),
            files=own,
            terminals=own,
            versions=(2,) if variant == "v2" else (1,),
            **options,
        ) as client:
            talk.client = client
            if load is None:
                talk.session = await client.new_session(cwd=folder)
            else:
                talk.session = await client.load_session(load, cwd=folder)
            yield talk
        tasks.cancel_scope.cancel()


__all__ = ["COMMANDS", "VARIANTS", "Talk", "everywhere", "talking", "write"]

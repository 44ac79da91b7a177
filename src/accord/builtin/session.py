"""One session of the built-in agent: its workspace, its servers, and the brain that answers it.

What always holds
    * A prompt waits for the session's MCP servers, within a bound.
    * A part that could not be set up is reported once, with the first answer.
    * Slash commands are answered by the offline brain, whichever model is chosen.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from accord.builtin.folder_checks import faults_of
from accord.builtin.offline.intent_dispatch import OfflineBrain
from accord.builtin.offline.prompt.message import read_message
from accord.builtin.options_and_commands import MCP_COMMANDS
from accord.builtin.session_model import SessionModel
from accord.builtin.tools.toolbox import Toolbox
from accord.builtin.user_setup import OFFLINE
from accord.builtin.workspace import Workspace, open_workspace
from accord.errors import ConfigError

if TYPE_CHECKING:
    from accord.agent.agent import Agent
    from accord.agent.session.agent_session import AgentSession
    from accord.agent.turn import Turn
    from accord.builtin.user_setup import Setup
    from accord.mcp.servers import McpServers


SERVERS_SECONDS_MAX = 60.0
"""How long servers may take until the commands for their tools are shown anyway."""
TITLE_CHARACTERS_MAX = 60


class Conversation:
    """One session.  Guards: each problem is reported once."""

    def __init__(
        self,
        agent: Agent,
        session: AgentSession,
        setup: Setup,
        ask_servers: Callable[[], Awaitable[None]],
    ) -> None:
        self.session = session
        # Whether the client knows the session, or is about to.
        self.is_open = False
        self._agent = agent
        self._setup = setup
        self._model = SessionModel(agent, session, setup, ask_servers, self._tell)
        self._problems_told = 0
        self._told_servers: set[str] = set()
        self._told_folders: set[str] = set()
        self._faults: list[str] = []
        self._workspace: Workspace | None = None

    @property
    def workspace(self) -> Workspace:
        """The state that the tools share."""
        assert self._workspace is not None, "the conversation was not opened"
        return self._workspace

    async def open(self) -> None:
        """Restore the workspace of an earlier process, and connect the servers."""
        self._workspace = await open_workspace(self.session)
        await self.surroundings_changed()

    async def surroundings_changed(self) -> None:
        """Take up folders and servers that the client has changed."""
        for fault in await faults_of(self.session.roots[1:]):
            if fault not in self._told_folders:
                self._told_folders.add(fault)
                self._faults.append(f"The session continues without this folder: {fault}.")
        configured = self._setup.config.mcp_servers
        before: McpServers | None = self.workspace.mcp
        if not (self.session.mcp_servers or configured or before):
            await self.session.hide_commands(*MCP_COMMANDS, announce=False)
            return
        from accord.mcp.servers import connect_session

        servers = await connect_session(self.session, configured, before)
        if servers is not before:
            self.workspace.mcp = servers
            await self.session.hide_commands(*MCP_COMMANDS, announce=False)
            self.session.start_soon(self._show_server_commands, servers)

    async def _show_server_commands(self, servers: McpServers) -> None:
        await servers.settled(SERVERS_SECONDS_MAX)
        if self.workspace.mcp is servers and servers.specs:
            await self.session.hide_commands(announce=True)

    async def offer_models(self) -> None:
        """Offer models that were found since, and select the one that the session had."""
        await self._model.offer(announce=self.is_open)

    # ---- prompts

    async def answer(self, turn: Turn) -> str | None:
        """Answer a prompt; return the stop reason."""
        message = read_message(turn.prompt)
        asked = message.text
        if self.session.title is None:
            await turn.set_title(title_of(asked))
        servers: McpServers | None = self.workspace.mcp
        if servers is not None:
            from accord.builtin.models.packages import provide_packages

            with suppress(ConfigError):
                # Each server reports why it cannot be used.
                await provide_packages(turn, "mcp")
            await servers.settled()
        is_command = self._agent.offer.command_in(asked) is not None
        chosen = OFFLINE if is_command else await self._model.chosen(turn)
        await self._tell_problems(turn)
        if chosen == OFFLINE:
            tools = Toolbox(turn, self.workspace)
            return await OfflineBrain().turn(turn, message, tools, self.workspace)
        return await self._ask_model(turn, chosen)

    async def _ask_model(self, turn: Turn, chosen: object) -> str | None:
        choice = await self._model.usable(turn, chosen)
        if choice is None:
            return None
        from accord.builtin.llm.brain import ModelBrain

        tools = Toolbox(turn, self.workspace)
        return await ModelBrain(choice).turn(turn, tools, self.workspace)

    async def _tell_problems(self, turn: Turn) -> None:
        problems = self._setup.problems[self._problems_told :]
        self._problems_told = len(self._setup.problems)
        problems += self._faults
        self._faults.clear()
        servers: McpServers | None = self.workspace.mcp
        if servers is not None and not self.session.features.notices:
            # Clients with notices were told when it happened.
            for status in servers.status:
                if status.error is not None and status.name not in self._told_servers:
                    self._told_servers.add(status.name)
                    problems.append(f"MCP server {status.name} cannot be used: {status.error}")
        for problem in problems:
            await self._tell(turn, problem)

    async def _tell(self, turn: Turn, problem: str) -> None:
        if self.session.features.notices:
            await turn.notice("warning", problem)
        else:
            await turn.say(f"Note: {problem}")


def title_of(text: str) -> str:
    """The title of a session that begins with this prompt."""
    words = " ".join(text.split())
    if len(words) <= TITLE_CHARACTERS_MAX:
        return words or "Untitled"
    head = words[: TITLE_CHARACTERS_MAX - 1]
    return f"{head.rpartition(' ')[0] or head}…"

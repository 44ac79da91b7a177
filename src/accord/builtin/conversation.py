"""One session of the built-in agent: its workspace, its servers, and who answers its prompts.

What always holds
    * A prompt waits for the session's MCP servers, within a bound.
    * What could not be set up is told once, with the first answer.
    * Slash commands are answered by the offline brain, whichever model is chosen.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from accord.builtin.brain.offline.brain import OfflineBrain
from accord.builtin.logins import require_key
from accord.builtin.offering import MCP_COMMANDS, model_option
from accord.builtin.setup import OFFLINE
from accord.builtin.tools.toolbox import Toolbox
from accord.builtin.workspace import Workspace, open_workspace
from accord.errors import ConfigError

if TYPE_CHECKING:
    from accord.agent.agent import Agent
    from accord.agent.options import OptionValue
    from accord.agent.session import AgentSession
    from accord.agent.turn import Turn
    from accord.builtin.setup import Setup
    from accord.mcp.servers import McpServers

TITLE_CHARACTERS_MAX = 60

SERVERS_SECONDS_MAX = 60.0
"""How long servers may take until the commands for their tools are shown anyway."""


class Conversation:
    """Guards: its problems are told once."""

    def __init__(self, agent: Agent, session: AgentSession, setup: Setup) -> None:
        self.session = session
        self._agent = agent
        self._setup = setup
        self._untold = list(setup.problems)
        self._told_servers: set[str] = set()
        self._misses_model = False
        self._workspace: Workspace | None = None

    @property
    def workspace(self) -> Workspace:
        """What the tools know of the session."""
        assert self._workspace is not None, "the conversation was not opened"
        return self._workspace

    async def open(self) -> None:
        """Find what an earlier process left, and connect the servers."""
        self._workspace = await open_workspace(self.session)
        await self.surroundings_changed()

    async def surroundings_changed(self) -> None:
        """The client may have sent other servers."""
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
        """Show models that were found since, and take up the one that the session had."""
        option = model_option(self._setup)
        if option == self._agent.offer.options["model"]:
            return
        self._agent.offer.options["model"] = option
        stored = self.session.record.options.get("model")
        now = self.session.options["model"]
        value = stored if stored is not None and option.accepts(stored) else now
        await self.session.set_option("model", value, announce=True)

    # ---- prompts

    async def answer(self, turn: Turn, *, offline: bool = False) -> str | None:
        """Answer a prompt; the result is the stop reason."""
        if self.session.title is None:
            await turn.set_title(title_of(turn.text))
        servers: McpServers | None = self.workspace.mcp
        if servers is not None:
            from accord.builtin.packages import provide_packages

            with suppress(ConfigError):
                # Each server says itself why it cannot be used.
                await provide_packages(turn, "mcp")
            await servers.settled()
        chosen = OFFLINE if offline else await self._chosen_model(turn)
        await self._tell_problems(turn)
        if chosen == OFFLINE:
            tools = Toolbox(turn, self.workspace)
            return await OfflineBrain().turn(turn, tools, self.workspace)
        return await self._ask_model(turn, chosen)

    async def _chosen_model(self, turn: Turn) -> OptionValue:
        """What the session is set to; a stored one may be of a server that was not asked yet."""
        stored = self.session.record.options.get("model")
        if stored is not None and stored != turn.options["model"]:
            await self._setup.local_servers_asked.wait()
            if stored != (now := turn.options["model"]) and not self._misses_model:
                self._misses_model = True
                self._untold.append(f"The model {stored} is not there now; {now} answers instead.")
        return turn.options["model"]

    async def _ask_model(self, turn: Turn, chosen: object) -> str | None:
        choice = self._setup.choice(chosen)
        if choice is None:
            await turn.say(
                f"The model `{chosen}` is not to be found any more. Choose another one, or "
                "`offline`, in the model picker."
            )
            return None
        require_key(self._agent, choice, terminals=turn.session.wire.features.terminal_login)
        from accord.builtin.brain.model.brain import ModelBrain

        tools = Toolbox(turn, self.workspace)
        return await ModelBrain(choice).turn(turn, tools, self.workspace)

    async def _tell_problems(self, turn: Turn) -> None:
        notices = self.session.wire.features.notices
        problems, self._untold = self._untold, []
        servers: McpServers | None = self.workspace.mcp
        if servers is not None and not notices:
            # Who takes notices was told when it happened.
            for status in servers.status:
                if status.error is not None and status.name not in self._told_servers:
                    self._told_servers.add(status.name)
                    problems.append(f"MCP server {status.name} cannot be used: {status.error}")
        for problem in problems:
            if notices:
                await turn.notice("warning", problem)
            else:
                await turn.say(f"Note: {problem}")


def title_of(text: str) -> str:
    """A name for a session that begins with this prompt."""
    words = " ".join(text.split())
    if len(words) <= TITLE_CHARACTERS_MAX:
        return words or "Untitled"
    head = words[: TITLE_CHARACTERS_MAX - 1]
    return f"{head.rpartition(' ')[0] or head}…"

"""One session of the built-in agent: its workspace, its servers, and who answers its prompts.

What always holds
    * A prompt waits for the session's MCP servers, within a bound.
    * What could not be set up is told once, with the first answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.builtin.brain.offline.brain import OfflineBrain
from accord.builtin.offering import MCP_COMMANDS
from accord.builtin.tools.toolbox import Toolbox
from accord.builtin.workspace import Workspace, open_workspace

if TYPE_CHECKING:
    from accord.agent.session import AgentSession
    from accord.agent.turn import Turn
    from accord.builtin.setup import Setup

TITLE_CHARACTERS_MAX = 60


def load() -> None:
    """Load what the first prompt needs, now that nobody waits."""


class Conversation:
    """Guards: its problems are told once."""

    def __init__(self, session: AgentSession, setup: Setup) -> None:
        self.session = session
        self._setup = setup
        self._untold = list(setup.problems)
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
        await self.session.hide_commands(*MCP_COMMANDS, announce=False)

    async def answer(self, turn: Turn, *, offline: bool = False) -> str | None:
        """Answer a prompt; the result is the stop reason."""
        if self.session.title is None:
            await turn.set_title(title_of(turn.text))
        await self._tell_problems(turn)
        brain = OfflineBrain()
        return await brain.turn(turn, Toolbox(turn, self.workspace), self.workspace)

    async def _tell_problems(self, turn: Turn) -> None:
        problems, self._untold = self._untold, []
        for problem in problems:
            if self.session.wire.features.notices:
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

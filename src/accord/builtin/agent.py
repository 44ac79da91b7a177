"""`build_agent`: the built-in agent, assembled from tools, brains, servers and a store.

What always holds
    * Before `initialize` is answered nothing is loaded that the answer does not need: no store, no
      brain, no servers.  `options_and_commands.py` and the rest load behind the answer.
    * The session's options choose its brain for each prompt.
    * No session is opened in a folder in which nothing could be read.
    * A part that could not be set up (the store, a server, the configuration, a second folder) is
      reported once in every session, and the session continues.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from anyio import move_on_after

from accord.agent.agent import Agent
from accord.builtin.agent_settings import AgentSettings
from accord.version import __version__

if TYPE_CHECKING:
    from accord.agent.session.agent_session import AgentSession
    from accord.agent.turn import Turn
    from accord.builtin.session import Conversation
    from accord.builtin.user_setup import Setup

NAME = "accord"
TITLE = "Accord"

LIST_SECONDS = 1.0
"""How long a session waits for servers to list their models; its prompts wait longer."""


def build_agent(settings: AgentSettings | None = None) -> Agent:
    """Build the built-in agent, ready to serve."""
    return BuiltIn(settings or AgentSettings()).agent


class BuiltIn:
    """One process's built-in agent.  Guards: one conversation per session that is served."""

    def __init__(self, settings: AgentSettings) -> None:
        self.settings = settings
        self.conversations: dict[AgentSession, Conversation] = {}
        self._setup: Setup | None = None
        is_set_up = _is_set_up(settings)
        self.agent = Agent(
            NAME,
            version=__version__,
            title=TITLE,
            accepts=self.setup.accepts() if is_set_up else ("embedded_context",),
            mcp=("http", "sse"),
            unstable=True,
            early_v2=settings.early_v2,
            session_models=settings.session_models,
        )
        self.agent.accept_system_prompt(override=True)
        self.agent.on_initialized(self._prepare)
        self.agent.check_folder(self._check_folder)
        self.agent.on_session(self._begin)
        self.agent.on_prompt(self._answer)
        if is_set_up:
            from accord.builtin.model_login import add_logins

            add_logins(self.agent, self.setup)

    @property
    def setup(self) -> Setup:
        """The user's setup, read on first use."""
        if self._setup is None:
            from accord.builtin.user_setup import Setup

            self._setup = Setup(self.settings)
        return self._setup

    def _prepare(self) -> None:
        """Load the rest after the answer to `initialize` and before the first session."""
        from importlib import import_module

        from accord.builtin.options_and_commands import declare

        # Imports the brain and the tools too, while the client reads the answer.
        import_module("accord.builtin.session")
        self.agent.store = self.setup.open_store()
        declare(self.agent, self.setup, self._command)

    async def _check_folder(self, path: str) -> None:
        from accord.builtin.folder_checks import check_folder

        await check_folder(path)

    async def _begin(self, session: AgentSession) -> None:
        from accord.builtin.session import Conversation

        known = self.conversations.get(session)
        if known is not None:
            await known.surroundings_changed()
            return
        conversation = Conversation(self.agent, session, self.setup, self._ask_servers)
        await conversation.open()
        self.conversations[session] = conversation

        async def forget() -> None:
            self.conversations.pop(session, None)

        session.on_close(forget)
        session.start_soon(self._ask_servers)
        # The answer names the model, unless a server is slow: then an update does.
        with move_on_after(LIST_SECONDS):
            await self._ask_servers()
        conversation.is_open = True

    async def _ask_servers(self) -> None:
        """Ask the servers for their models, once, and offer what they have."""
        if await self.setup.ask_servers():
            for conversation in list(self.conversations.values()):
                await conversation.offer_models()

    async def _answer(self, turn: Turn) -> str | None:
        return await self.conversations[turn.session].answer(turn)

    async def _command(self, turn: Turn, argument: str) -> str | None:
        """Run a slash command with the offline brain, whichever model is chosen."""
        return await self.conversations[turn.session].answer(turn)


def _is_set_up(settings: AgentSettings) -> bool:
    """Whether the answer to `initialize` may depend on what the user has set up.

    Cheap, and wrong on the safe side only: most users have neither a key nor a file.
    """
    environ = settings.environ
    if settings.model is not None or "ACCORD_MODEL" in environ:
        return True
    if any(name.endswith("_API_KEY") for name in environ):
        return True
    folder = environ.get("ACCORD_CONFIG_DIR")
    if folder is None:
        if sys.platform != "linux":
            return True
        base = environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
        folder = os.path.join(base, "accord")
    names = ("config.toml", "credentials.json")
    return any(os.path.exists(os.path.join(folder, name)) for name in names)

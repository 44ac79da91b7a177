"""What the user has set up: the configuration, the models that can be had, the store.

What always holds
    * A mistake of the user's, such as a wrong key in the configuration, never ends the agent: it is
      one of `problems`, and the default stands in its place.
    * `models` are those that can be chosen now; a server on this machine that answers adds its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from accord.builtin.models.finding import default_choice, find_models
from accord.discovery.config import Config, load_config
from accord.errors import ConfigError
from accord.machine.logs import logger
from accord.store import MemoryStore

if TYPE_CHECKING:
    from accord.agent.agent import PromptType
    from accord.builtin.agent import AgentSettings
    from accord.builtin.models.choice import ModelChoice
    from accord.store import SessionStore

_log = logger("accord.builtin")

OFFLINE = "offline"
IN_MEMORY = "This conversation is kept in memory and ends with the agent's process."


class Setup:
    """Of one process."""

    def __init__(self, settings: AgentSettings) -> None:
        self.settings = settings
        self.problems: list[str] = []
        self.config = self._load()
        self.models: dict[str, ModelChoice] = {}
        self.default: ModelChoice | None = None
        self._local: list[ModelChoice] = []
        # Set when the servers on this machine have answered, or had their time to.
        self.local_servers_asked = anyio.Event()
        self.look_for_models()

    def _load(self) -> Config:
        try:
            config = load_config()
        except ConfigError as error:
            self._trouble(f"The configuration was not read: {error}")
            return Config()
        for warning in config.warnings:
            self._trouble(warning)
        return config

    def _trouble(self, sentence: str) -> None:
        _log.warning("%s", sentence)
        self.problems.append(sentence)

    # ---- models

    def look_for_models(self) -> None:
        """Read the keys anew: a login happens in another process."""
        environ, named = self.settings.environ, self.settings.model
        try:
            found = find_models(self.config, environ, named=named)
        except ConfigError as error:
            self._trouble(f"No models were looked for: {error}")
            return
        self.default = default_choice(found, self.config, environ, named=named)
        self.models = {choice.value: choice for choice in (*found, *self._local)}

    async def ask_local_servers(self) -> bool:
        """Ask the servers on this machine for theirs, once; True when there are some."""
        from accord.builtin.models.probing import probe_models

        self._local = await probe_models(self.config, self.settings.environ)
        for choice in self._local:
            self.models.setdefault(choice.value, choice)
        return bool(self._local)

    def choice(self, value: object) -> ModelChoice | None:
        """The model of an option's value, with its key if there is one by now."""
        if not isinstance(value, str) or value == OFFLINE:
            return None
        choice = self.models.get(value)
        if choice is None or not choice.is_usable:
            self.look_for_models()
            choice = self.models.get(value)
        return choice

    def accepts(self) -> tuple[PromptType, ...]:
        """What prompts may be made of beside text and links: what the model to begin with takes."""
        from accord.builtin.models.accepting import accepted_content

        return tuple(sorted(accepted_content(self.default)))

    # ---- the store

    def open_store(self) -> SessionStore:
        """The user's sessions; a store in memory where theirs cannot be opened."""
        if self.settings.in_memory:
            return MemoryStore()
        from accord.builtin.keeping import Substitute, open_store
        from accord.discovery.places import store_file

        try:
            path = self.settings.store_file or store_file()
        except ConfigError as error:
            self._trouble(f"Sessions are not stored: {error}. {IN_MEMORY}")
            return MemoryStore()
        store = open_store(path)
        if isinstance(store, Substitute):
            self._trouble(f"Sessions are not stored: {store.problem}. {IN_MEMORY}")
        return store


__all__ = ["OFFLINE", "Setup"]

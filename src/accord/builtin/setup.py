"""What the user has set up: the configuration, the models that can be had, the store.

What always holds
    * A mistake of the user's, such as a wrong key in the configuration, never ends the agent: it is
      one of `problems`, and the default stands in its place.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from accord.discovery.config import Config, load_config
from accord.errors import ConfigError
from accord.store import MemoryStore

if TYPE_CHECKING:
    from accord.agent.agent import Agent, PromptType
    from accord.builtin.agent import AgentSettings
    from accord.store import SessionStore

_log = logging.getLogger("accord.builtin")

OFFLINE = "offline"
IN_MEMORY = "This conversation is kept in memory and ends with the agent's process."


class Setup:
    """Of one process."""

    def __init__(self, settings: AgentSettings) -> None:
        self.settings = settings
        self.problems: list[str] = []
        self.config = self._load()
        self.models = self._find_models()

    def _load(self) -> Config:
        try:
            config = load_config()
        except ConfigError as error:
            self._trouble(f"The configuration was not read: {error}")
            return Config()
        for warning in config.warnings:
            self._trouble(warning)
        return config

    def _find_models(self) -> list[object]:
        return []

    def _trouble(self, sentence: str) -> None:
        _log.warning("%s", sentence)
        self.problems.append(sentence)

    # ---- for the answer to `initialize`

    def accepts(self) -> tuple[PromptType, ...]:
        """What prompts may be made of, beside text and links."""
        return ("embedded_context",)

    def add_logins(self, agent: Agent) -> None:
        """Offer the logins that are missing."""

    # ---- behind it

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

"""What the user has set up: the configuration, the models that can be had, the store.

What always holds
    * A mistake in the configuration never ends the agent: it becomes one of `problems`, and the
      default applies.
    * `models` are those that can be chosen now; servers that answer add their own.
    * Where a model was set up and the offline brain answers all the same, `problems` says why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from accord.builtin.models.available_models import (
    default_choice,
    find_models,
    is_guess,
    named_model,
    servers_to_ask,
)
from accord.builtin.models.packages import can_be_had, missing_words
from accord.builtin.models.providers import AUTO_DETECTED
from accord.builtin.models.server_addresses import wrong_addresses
from accord.configuration.config_file import Config, load_config
from accord.errors import ConfigError
from accord.machine.redacted_logs import logger
from accord.store import MemoryStore

if TYPE_CHECKING:
    from accord.agent.agent import PromptType
    from accord.builtin.agent_settings import AgentSettings
    from accord.builtin.models.providers import ModelChoice
    from accord.store import SessionStore

_log = logger("accord.builtin")

OFFLINE = "offline"
NO_MODEL = "Until then I work without a model."


class Setup:
    """The user's setup, as one process reads it."""

    def __init__(self, settings: AgentSettings) -> None:
        self.settings = settings
        self.problems: list[str] = []
        self.config = self._load()
        self.models: dict[str, ModelChoice] = {}
        self.default: ModelChoice | None = None
        self._listed: list[ModelChoice] = []
        # A model that the user named and no server has.
        self._unknown: str | None = None
        self._asking = anyio.Lock()
        self._has_asked = False
        for sentence in wrong_addresses(settings.environ):
            self._report(sentence)
        self.look_for_models()

    def _load(self) -> Config:
        try:
            config = load_config()
        except ConfigError as error:
            self._report(f"The configuration could not be read: {error}")
            return Config()
        for warning in config.warnings:
            self._report(warning)
        return config

    def _report(self, sentence: str) -> None:
        if sentence not in self.problems:
            _log.warning("%s", sentence)
            self.problems.append(sentence)

    # ---- models

    @property
    def is_named(self) -> bool:
        """Whether the user named a model, or `offline`."""
        environ, named = self.settings.environ, self.settings.model
        return named_model(self.config, environ, named) is not None

    @property
    def is_undecided(self) -> bool:
        """Whether the servers' answers may still change the default model."""
        environ = self.settings.environ
        if named_model(self.config, environ, self.settings.model) == OFFLINE:
            return False
        has_key = self.default is not None and self.default.key is not None
        return not has_key or bool(servers_to_ask(self.config, environ))

    def others(self, choice: ModelChoice) -> list[str]:
        """Other providers that the user has set up."""
        groups = [
            one.group
            for one in self.models.values()
            if one.found != AUTO_DETECTED and one.group != choice.group
        ]
        return [] if self.is_named else list(dict.fromkeys(groups))

    def look_for_models(self) -> None:
        """Read the keys again: a login happens in another process."""
        environ, named, listed = self.settings.environ, self.settings.model, self._listed
        try:
            found = find_models(self.config, environ, named=named, listed=listed)
        except ConfigError as error:
            self._report(f"Could not look for models: {error}")
            return
        self.default = default_choice(found, self.config, environ, named=named, listed=listed)
        if self._unknown is not None:
            self.default = None
            found = [choice for choice in found if choice.value != self._unknown]
        self.models = {choice.value: choice for choice in found}
        if self.default is not None and not self.is_named and not can_be_had():
            # A user who named a model is told when it is asked.
            self._report(f"{missing_words(self.default)} {NO_MODEL}")
            self.default = None

    async def ask_servers(self) -> bool:
        """Ask the named and the local servers for their models, once; later callers wait.

        Returns True for the call that asked.
        """
        async with self._asking:
            if self._has_asked:
                return False
            from accord.builtin.models.model_servers import probe_models

            listings = await probe_models(self.config, self.settings.environ)
            self._has_asked = True
            self._listed = [choice for listing in listings for choice in listing.choices]
            self.look_for_models()
            if self.default is None and not self.is_named:
                for listing in listings:
                    if listing.problem is not None:
                        self._report(f"{listing.problem} {NO_MODEL}")
            self._drop_guess([listing.server for listing in listings])
            return True

    def _drop_guess(self, asked: list[ModelChoice]) -> None:
        """Drop a name that was guessed to be an Ollama model and is not one."""
        wish, guess = self.settings.model, self.default
        if guess is None or not is_guess(self.config, self.settings.environ, wish):
            return
        is_listed = any(one.value == guess.value for one in self._listed)
        if not is_listed and any(one.base_url == guess.base_url for one in asked):
            self._unknown = guess.value
            self.look_for_models()
            self._report(
                f"There is no model {guess.model!r}: no server lists it. Name it with its provider,"
                f" as in `openai:{guess.model}`, or choose another. {NO_MODEL}"
            )

    def choice(self, value: object) -> ModelChoice | None:
        """The model for an option's value, with its key if there is one now."""
        if not isinstance(value, str) or value == OFFLINE:
            return None
        choice = self.models.get(value)
        if choice is None or not choice.is_usable:
            self.look_for_models()
            choice = self.models.get(value)
        return choice

    def accepts(self) -> tuple[PromptType, ...]:
        """The content that prompts may have beside text and links, by the default model."""
        from accord.builtin.models.accepted_content import accepted_content

        return tuple(sorted(accepted_content(self.default)))

    # ---- the store

    def open_store(self) -> SessionStore:
        """Open the user's store, or one in memory if that cannot be opened."""
        if self.settings.in_memory:
            return MemoryStore()
        from accord.builtin.fallback_store import IN_MEMORY, FallbackStore, open_store
        from accord.configuration.user_paths import store_file

        try:
            path = self.settings.store_file or store_file()
        except ConfigError as error:
            self._report(f"Sessions are not saved: {error}. {IN_MEMORY}")
            return MemoryStore()
        store = open_store(path)
        if isinstance(store, FallbackStore):
            self._report(f"Sessions are not saved: {store.problem}. {IN_MEMORY}")
        return store

"""`ModelBrain`: answers prompts with a language model.

The model library is imported with the first prompt, in a thread.

What always holds
    * A turn that is cancelled ends at once; what was said until then is remembered.
    * Whatever a model does, the session goes on: a failure is a sentence in the client's error.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import anyio

from accord.builtin.llm.model_request import RetryPolicy
from accord.builtin.models.api_keys import Credentials
from accord.builtin.models.model_loader import LoadedModel, load_model
from accord.builtin.models.packages import provide_packages
from accord.builtin.models.providers import ModelChoice
from accord.errors import ConfigError, RequestError

if TYPE_CHECKING:
    from accord.agent.turn import Turn
    from accord.builtin.tools.toolbox import Toolbox
    from accord.builtin.workspace import Workspace

LOAD_FAILED: Final = -32603
CLOSE_SECONDS: Final = 2.0


class ModelBrain:
    """Answers with one model; the session's options say how long it thinks, and its limits."""

    def __init__(
        self,
        choice: ModelChoice,
        *,
        load: Callable[[ModelChoice], Awaitable[LoadedModel]] = load_model,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.choice = choice
        self._load = load
        self._retry = retry or RetryPolicy()

    async def turn(self, turn: Turn, tools: Toolbox, workspace: Workspace) -> str | None:
        """Answer a prompt; the result is the stop reason.

        Raises:
            RequestError: the model could not be asked; the message says why and what to do.
        """
        choice = self.choice
        if not choice.is_usable:
            # A login in a terminal is another process; it may have happened since.
            choice = replace(choice, key=Credentials().key(choice.provider), found="login")
        if not choice.is_usable:
            raise RequestError.authentication_required(
                f"{choice.group} needs a key. {choice.about.ways_to_key()}"
            )
        try:
            await provide_packages(turn, "models")
            loaded = await self._load(choice)
        except ConfigError as error:
            data = {"reason": "model_missing"}
            raise RequestError(LOAD_FAILED, str(error), data) from None
        from accord.builtin.llm.agent_loop import Run

        async with _connected(loaded):
            run = await Run.open(turn, tools, loaded, self._retry)
            return await run.answer()


@asynccontextmanager
async def _connected(loaded: LoadedModel) -> AsyncGenerator[None]:
    """Open the model's connections; they are closed even if the turn is cancelled."""
    await loaded.model.__aenter__()
    try:
        yield
    finally:
        with anyio.move_on_after(CLOSE_SECONDS, shield=True):
            await loaded.model.__aexit__(None, None, None)

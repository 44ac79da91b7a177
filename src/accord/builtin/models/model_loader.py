"""From a choice to a model that can be asked.  The only place that knows providers' classes.

pydantic-ai takes up to two seconds to import, so this happens in a thread, and only when a model
was chosen.

What always holds
    * Nothing here is printed: stdout is the wire.
    * A model that was loaded is kept, a few of them; its connections are opened and closed by
      whoever enters it.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, get_args

import anyio

from accord.builtin.models.packages import missing_words
from accord.builtin.models.providers import ModelChoice
from accord.builtin.models.server_addresses import OLLAMA_ADDRESS
from accord.builtin.models.token_limits import ANTHROPIC_TOKENS, LARGE_ANSWERS, context_window
from accord.errors import ConfigError

if TYPE_CHECKING:
    from pydantic_ai.models import Model

LOADED_MAX: Final = 8
# A model that thinks may be silent for minutes.
SILENCE_SECONDS: Final = 300.0

_NO_KEY: Final = "none"
# Retries are ours, since the user is told of them.
_EVERYWHERE: Final[Mapping[str, Any]] = {
    "cache": True,
    "max_retries": 0,
    "timeout": SILENCE_SECONDS,
}


@dataclass(frozen=True)
class LoadedModel:
    """A model, and what every request to it says."""

    model: Model
    choice: ModelChoice
    context_window: int
    settings: Mapping[str, Any] = field(default_factory=dict)


_loaded: OrderedDict[ModelChoice, LoadedModel] = OrderedDict()


async def load_model(choice: ModelChoice) -> LoadedModel:
    """The model of a choice, loaded once.

    Raises:
        ConfigError: the packages for models, or for this provider, are not installed.
    """
    known = _loaded.get(choice)
    if known is None:
        known = await anyio.to_thread.run_sync(_load, choice, abandon_on_cancel=True)
        _loaded[choice] = known
        while len(_loaded) > LOADED_MAX:
            _loaded.popitem(last=False)
    return known


def _load(choice: ModelChoice) -> LoadedModel:
    try:
        with warnings.catch_warnings():
            # Compiler warnings about packages do not belong in the user's log.
            warnings.simplefilter("ignore", SyntaxWarning)
            return _build(choice)
    except ImportError:
        raise ConfigError(missing_words(choice)) from None


def _build(choice: ModelChoice) -> LoadedModel:
    import pydantic_ai

    pydantic_ai.BANNER_ENABLED = False
    # Import it in this thread too, so that the event loop does not wait for it.
    import_module("pydantic_ai.direct")
    model, settings = _BUILDERS[choice.provider](choice)
    return LoadedModel(model, choice, context_window(choice, model), {**_EVERYWHERE, **settings})


def _key(choice: ModelChoice) -> str:
    # The libraries look into the environment for a key that is missing; ours is the only one.
    return _NO_KEY if choice.key is None else choice.key.reveal()


def _openai(choice: ModelChoice) -> tuple[Model, dict[str, Any]]:
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(
        base_url=choice.base_url or "https://api.openai.com/v1", api_key=_key(choice)
    )
    api = choice.api or ("responses" if choice.base_url is None else "chat")
    if api == "chat":
        return OpenAIChatModel(choice.model, provider=provider), {}
    _build_events()
    # Nothing of the conversation stays with the provider.
    settings = {"openai_store": False, "openai_reasoning_summary": "auto"}
    return OpenAIResponsesModel(choice.model, provider=provider), settings


def _build_events() -> None:
    """Have the types of a streamed answer built now, in this thread.

    Else the first event builds them, and the loop stands still for half a second.
    """
    from openai.types import responses
    from pydantic import BaseModel

    members = get_args(responses.ResponseStreamEvent)
    items = get_args(responses.ResponseOutputItem)
    for union in (*members[:1], *items[:1]):
        for one in get_args(union):
            if isinstance(one, type) and issubclass(one, BaseModel):
                one.model_rebuild()


def _anthropic(choice: ModelChoice) -> tuple[Model, dict[str, Any]]:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(base_url=choice.base_url, api_key=_key(choice))
    large = bool(LARGE_ANSWERS.match(choice.model))
    settings = {"max_tokens": ANTHROPIC_TOKENS} if large else {}
    return AnthropicModel(choice.model, provider=provider), settings


def _google(choice: ModelChoice) -> tuple[Model, dict[str, Any]]:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(base_url=choice.base_url, api_key=_key(choice))
    return GoogleModel(choice.model, provider=provider), {}


def _ollama(choice: ModelChoice) -> tuple[Model, dict[str, Any]]:
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    base_url = choice.base_url or OLLAMA_ADDRESS
    provider = OllamaProvider(base_url=base_url, api_key=_key(choice))
    return OllamaModel(choice.model, provider=provider), {}


_BUILDERS = {
    "openai": _openai,
    "anthropic": _anthropic,
    "google": _google,
    "ollama": _ollama,
}

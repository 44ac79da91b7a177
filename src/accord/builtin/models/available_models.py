"""Which models this user can choose: from the configuration, the environment, and stored keys.

Cheap: it reads variables and at most one small file.  Servers are asked for their models by
`model_servers.py`; what they answered comes in here as `listed`.

What always holds
    * What the user named comes first, whether or not its key is there.
    * A model is listed once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from accord.builtin.models.api_keys import Credentials
from accord.builtin.models.providers import PROVIDERS, ModelChoice, Provider, Secret
from accord.builtin.models.server_addresses import OLLAMA_ADDRESS, named_address
from accord.configuration.config_file import Config, ModelSettings

MODEL_VARIABLE = "ACCORD_MODEL"

KNOWN_MODELS: dict[str, tuple[str, ...]] = {
    "anthropic": ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"),
    "openai": ("gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-luna"),
    "google": ("gemini-4-argon", "gemini-3.8-flash", "gemini-2.5-pro"),
}
"""Of each provider, the models that are offered if no server lists its own; the first is best."""

_COMPATIBLE = frozenset({"openai", "ollama"})
"""Providers whose servers have models of their own; others stand in front of the provider's."""

_NO_CHAT = re.compile(
    r"embed|rerank|whisper|\btts|transcribe|dall-e|moderation|realtime|-image|sora|\bbge-",
    re.IGNORECASE,
)
"""Models that servers list beside those that answer prompts."""


def find_models(
    config: Config,
    environ: Mapping[str, str],
    *,
    named: str | None = None,
    credentials: Credentials | None = None,
    listed: Sequence[ModelChoice] = (),
) -> list[ModelChoice]:
    """All models that can be chosen, the preferred one first.

    `named` is what a command line says; it wins over the variable, which wins over the file.
    `listed` are the models of servers that were asked.
    """
    keys = credentials or Credentials()
    found: dict[str, ModelChoice] = {}
    wanted = named_choice(config, environ, named=named, credentials=keys, listed=listed)
    if wanted is not None:
        found[wanted.value] = wanted
    for provider in PROVIDERS.values():
        key, source = _key(provider, config.model, environ, keys)
        address = named_address(provider, config.model, environ)
        if key is None and address is None:
            continue
        # A login may have happened since the server was asked.
        own = [
            replace(choice, key=key, found=source or choice.found)
            for choice in listed
            if address is not None and (choice.provider, choice.base_url) == (provider.id, address)
        ]
        if not own and (address is None or provider.id not in _COMPATIBLE):
            known = KNOWN_MODELS.get(provider.id, ())
            own = [ModelChoice(provider.id, one, address, key, source) for one in known]
        for choice in own:
            found.setdefault(choice.value, choice)
    for choice in listed:
        found.setdefault(choice.value, choice)
    return list(found.values())


def named_choice(
    config: Config,
    environ: Mapping[str, str],
    *,
    named: str | None = None,
    credentials: Credentials | None = None,
    listed: Sequence[ModelChoice] = (),
) -> ModelChoice | None:
    """The model that the user named, if they did: `provider:model`, or a model alone."""
    name = named_model(config, environ, named)
    if not name or name == "offline":
        return None
    window = config.model.context_window
    known = _listed_as(name, listed)
    if known is not None:
        return replace(known, context_window=window)
    provider, model = _split(name, config.model, environ)
    key, source = _key(provider, config.model, environ, credentials or Credentials())
    address = named_address(provider, config.model, environ)
    if address is None and provider.id == "ollama":
        address = OLLAMA_ADDRESS
    return ModelChoice(provider.id, model, address, key, source, context_window=window)


def named_model(config: Config, environ: Mapping[str, str], named: str | None) -> str | None:
    """The model that the user named, or `offline`; None if they named none."""
    return named or environ.get(MODEL_VARIABLE) or config.model.name


def is_guess(config: Config, environ: Mapping[str, str], named: str | None) -> bool:
    """Whether a model was named in words that say nothing about whose it is.

    It is then taken for one of Ollama's, which is wrong where Ollama does not list it.
    """
    name = named_model(config, environ, named)
    if not name or name == "offline" or config.model.provider is not None:
        return False
    provider, model = _split(name, config.model, environ)
    is_bare = model == name and provider.id == "ollama"
    return is_bare and named_address(provider, config.model, environ) is None


def default_choice(
    choices: list[ModelChoice],
    config: Config,
    environ: Mapping[str, str],
    *,
    named: str | None,
    listed: Sequence[ModelChoice] = (),
) -> ModelChoice | None:
    """The model to begin with: the one that was named, else the first that has a key or is listed.

    None is offline: by wish, or because there is none.
    """
    name = named_model(config, environ, named)
    if name == "offline":
        return None
    if name:
        return choices[0] if choices else None
    servers = {(choice.provider, choice.base_url) for choice in listed}
    for choice in choices:
        server = (choice.provider, choice.base_url)
        if server not in servers and choice.key is not None:
            return choice
        if server in servers:
            same = [one for one in choices if (one.provider, one.base_url) == server]
            best = _best(same)
            if best is not None:
                return best
    return None


def _best(choices: list[ModelChoice]) -> ModelChoice | None:
    """Of one server's models the one to begin with.

    One that we know, else one of the provider's family, else the first that answers prompts.
    """
    chatting = [choice for choice in choices if answers_prompts(choice.model)]
    known = KNOWN_MODELS.get(choices[0].provider, ())
    for choice in chatting:
        if choice.model in known:
            return choice
    for choice in chatting:
        if known and choice.model.startswith(known[0].partition("-")[0]):
            return choice
    return chatting[0] if chatting else None


def answers_prompts(model: str) -> bool:
    """Whether a model of this name is one to talk to, as far as the name tells."""
    return not _NO_CHAT.search(model)


def servers_to_ask(
    config: Config, environ: Mapping[str, str], *, credentials: Credentials | None = None
) -> dict[str, ModelChoice]:
    """Servers that the user named and whose models must be asked for, by address.

    The choices have no model yet.
    """
    keys = credentials or Credentials()
    asked: dict[str, ModelChoice] = {}
    for provider in PROVIDERS.values():
        address = named_address(provider, config.model, environ)
        if address is not None:
            key, source = _key(provider, config.model, environ, keys)
            asked[address] = ModelChoice(provider.id, "", address, key, source or "set by you")
    return asked


def _listed_as(name: str, listed: Sequence[ModelChoice]) -> ModelChoice | None:
    """The model of a server that goes by this name, with or without whose it is."""
    return next((one for one in listed if name in (one.value, one.model)), None)


def _split(name: str, settings: ModelSettings, environ: Mapping[str, str]) -> tuple[Provider, str]:
    head, colon, rest = name.partition(":")
    if colon and head in PROVIDERS:
        return PROVIDERS[head], rest
    if settings.provider is not None and settings.provider in PROVIDERS:
        return PROVIDERS[settings.provider], name
    return PROVIDERS[_guessed(name, settings, environ)], name


def _guessed(model: str, settings: ModelSettings, environ: Mapping[str, str]) -> str:
    """Guess the provider of a model from its name and from what is set."""
    if settings.base_url is not None:
        return "openai"
    if model.startswith("claude"):
        return "anthropic"
    if model.startswith("gemini"):
        return "google"
    if model.startswith(("gpt-", "o1", "o3", "o4", "chatgpt")) and "oss" not in model:
        return "openai"
    has_address = {one: named_address(PROVIDERS[one], settings, environ) for one in _COMPATIBLE}
    return "openai" if has_address["openai"] and not has_address["ollama"] else "ollama"


def _key(
    provider: Provider, settings: ModelSettings, environ: Mapping[str, str], keys: Credentials
) -> tuple[Secret | None, str]:
    """The key for a provider and where it came from.

    A login wins over the environment: it was made for this program, and is how a person gets past
    a variable with an old key.
    """
    owner = settings.provider or ("openai" if settings.base_url is not None else provider.id)
    own = settings.api_key_env if owner == provider.id else None
    if own is not None and environ.get(own, "").strip():
        return Secret(environ[own].strip()), f"key from {own}"
    stored = keys.key(provider.id)
    if stored is not None:
        return stored, "key from a login"
    for variable in provider.key_variables:
        text = environ.get(variable, "").strip()
        if text:
            return Secret(text), f"key from {variable}"
    return None, ""

"""Which models this user can choose: from the configuration, the environment, and stored keys.

Cheap: it reads variables and at most one small file.  Servers on this computer are asked by
`probing.py`.

What always holds
    * What the user named comes first, whether or not its key is there.
    * A model is listed once.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from accord.builtin.models.choice import PROVIDERS, ModelChoice, Provider
from accord.builtin.models.credentials import Credentials
from accord.builtin.models.secret import Secret
from accord.discovery.config import Config, ModelSettings

MODEL_VARIABLE = "ACCORD_MODEL"

_ASKED = frozenset({"openai", "ollama"})
"""Providers whose servers are asked for their models."""


def find_models(
    config: Config,
    environ: Mapping[str, str],
    *,
    named: str | None = None,
    credentials: Credentials | None = None,
) -> list[ModelChoice]:
    """All models that are known without asking anybody, the preferred one first.

    `named` is what a command line says; it wins over the variable, which wins over the file.
    """
    keys = credentials or Credentials()
    found: dict[str, ModelChoice] = {}
    wanted = named_choice(config, environ, named=named, credentials=keys)
    if wanted is not None:
        found[wanted.value] = wanted
    for provider in PROVIDERS.values():
        key, source = _key(provider, config.model, environ, keys)
        address = _address(provider, config.model, environ)
        if key is None and address is None:
            continue
        # A server that speaks as OpenAI does has models of its own, which it is asked for; one that
        # speaks as Anthropic or Google does stands in front of theirs.
        has_own = address is not None and provider.id in _ASKED
        for model in () if has_own else provider.models:
            choice = ModelChoice(provider.id, model, address, key, source)
            found.setdefault(choice.value, choice)
    return list(found.values())


def named_choice(
    config: Config,
    environ: Mapping[str, str],
    *,
    named: str | None = None,
    credentials: Credentials | None = None,
) -> ModelChoice | None:
    """The model that the user named, if they did: `provider:model`, or a model alone."""
    name = named or environ.get(MODEL_VARIABLE) or config.model.name
    if not name or name == "offline":
        return None
    provider, model = _split(name, config.model)
    key, source = _key(provider, config.model, environ, credentials or Credentials())
    address = _address(provider, config.model, environ)
    window = config.model.context_window
    return ModelChoice(provider.id, model, address, key, source, context_window=window)


def default_choice(
    choices: list[ModelChoice], config: Config, environ: Mapping[str, str], *, named: str | None
) -> ModelChoice | None:
    """The model to begin with: the one that was named, else the first that has a key.

    None is offline: by wish, or because there is none.
    """
    name = named or environ.get(MODEL_VARIABLE) or config.model.name
    if name == "offline":
        return None
    if name:
        return choices[0] if choices else None
    return next((choice for choice in choices if choice.key is not None), None)


def servers_to_ask(
    config: Config, environ: Mapping[str, str], *, credentials: Credentials | None = None
) -> dict[str, ModelChoice]:
    """Servers that the user named and whose models must be asked for, by address.

    The choices have no model yet.
    """
    keys = credentials or Credentials()
    asked: dict[str, ModelChoice] = {}
    for provider in PROVIDERS.values():
        address = _address(provider, config.model, environ)
        if address is not None and provider.id in _ASKED:
            key, _ = _key(provider, config.model, environ, keys)
            asked[address] = ModelChoice(provider.id, "", address, key, "named by you")
    return asked


def _split(name: str, settings: ModelSettings) -> tuple[Provider, str]:
    head, colon, rest = name.partition(":")
    if colon and head in PROVIDERS:
        return PROVIDERS[head], rest
    if settings.provider is not None and settings.provider in PROVIDERS:
        return PROVIDERS[settings.provider], name
    return PROVIDERS[_guessed(name, settings)], name


def _guessed(model: str, settings: ModelSettings) -> str:
    """Whose model it is, by its name."""
    if settings.base_url is not None:
        return "openai"
    if model.startswith("claude"):
        return "anthropic"
    if model.startswith("gemini"):
        return "google"
    if model.startswith(("gpt-", "o1", "o3", "o4", "chatgpt")) and "oss" not in model:
        return "openai"
    return "ollama"


def _key(
    provider: Provider, settings: ModelSettings, environ: Mapping[str, str], keys: Credentials
) -> tuple[Secret | None, str]:
    """The key for a provider and where it came from.

    A login wins over the environment: it was made for this program, and is how a person gets past
    a variable with an old key.
    """
    own = settings.api_key_env if settings.provider in (None, provider.id) else None
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


def _address(provider: Provider, settings: ModelSettings, environ: Mapping[str, str]) -> str | None:
    """Where the provider's server is, unless it is the provider's own."""
    if settings.base_url is not None and (settings.provider or "openai") == provider.id:
        return settings.base_url.rstrip("/")
    for variable in provider.address_variables:
        text = environ.get(variable, "").strip()
        if text:
            return full_address(text, provider)
    return None


def full_address(text: str, provider: Provider) -> str:
    """An address as people write it (`host`, `host:port`, a URL) as the model library wants it."""
    url = text.rstrip("/") if "://" in text else f"http://{text.rstrip('/')}"
    parts = urlsplit(url)
    if provider.id != "ollama":
        return url
    named = parts.hostname or "127.0.0.1"
    # What a server listens on is no address to call.
    host = "127.0.0.1" if named == "0.0.0.0" else f"[{named}]" if ":" in named else named
    port = parts.port or (11434 if parts.scheme == "http" else 443)
    path = parts.path.rstrip("/") or provider.path
    return f"{parts.scheme}://{host}:{port}{path}"


__all__ = [
    "MODEL_VARIABLE",
    "default_choice",
    "find_models",
    "full_address",
    "named_choice",
    "servers_to_ask",
]

"""Where servers of models are: as the user wrote it, or where they usually listen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from accord.builtin.models.providers import PROVIDERS, Provider
from accord.configuration.config_file import ModelSettings

OLLAMA_ADDRESS: Final = "http://127.0.0.1:11434/v1"
"""Where Ollama listens unless it is told otherwise."""

# Where servers usually listen: Ollama, llama.cpp's server, LM Studio.
LOOPBACK: Final[Mapping[str, str]] = {
    OLLAMA_ADDRESS: "ollama",
    "http://127.0.0.1:8080/v1": "openai",
    "http://127.0.0.1:1234/v1": "openai",
}


def named_address(
    provider: Provider, settings: ModelSettings, environ: Mapping[str, str]
) -> str | None:
    """Where the user said that the server is; None where it is the provider's own."""
    if settings.base_url is not None and (settings.provider or "openai") == provider.id:
        return settings.base_url.rstrip("/")
    for variable in provider.address_variables:
        text = environ.get(variable, "").strip()
        if text and is_address(text):
            address = full_address(text, provider)
            return None if urlsplit(address).hostname == provider.own_host else address
    return None


def wrong_addresses(environ: Mapping[str, str]) -> list[str]:
    """Sentences about variables that should have an address, and have something else."""
    return [
        f"{variable} is {environ[variable]!r}, which is not an address, so it is ignored."
        for provider in PROVIDERS.values()
        for variable in provider.address_variables
        if environ.get(variable, "").strip() and not is_address(environ[variable].strip())
    ]


def is_address(text: str) -> bool:
    """Whether a text is `host`, `host:port` or a URL of HTTP."""
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        # Ollama takes `:PORT` too.
        return parts.scheme in ("http", "https") and (parts.port or parts.hostname) is not None
    except ValueError:
        return False


def full_address(text: str, provider: Provider) -> str:
    """An address as people write it (`host`, `host:port`, a URL) as the model library wants it."""
    url = text.rstrip("/") if "://" in text else f"http://{text.rstrip('/')}"
    parts = urlsplit(url)
    if provider.id != "ollama":
        return url
    named = parts.hostname or "127.0.0.1"
    # A wildcard address is for listening, not for connecting.
    host = "127.0.0.1" if named == "0.0.0.0" else f"[{named}]" if ":" in named else named
    port = parts.port or (11434 if parts.scheme == "http" else 443)
    path = parts.path.rstrip("/") or provider.path
    return f"{parts.scheme}://{host}:{port}{path}"

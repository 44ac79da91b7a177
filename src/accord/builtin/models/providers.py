"""A model that the user can choose, and what its provider is called and needs.

It must not know how models are found or talked to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from accord.machine.redaction.secret_patterns import MARK


class Secret:
    """A key that never shows in a `repr` or a log; `reveal` is the only way to read it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the key in plain text."""
        return self._text

    def __repr__(self) -> str:
        return f"Secret({MARK})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider of models."""

    id: str
    name: str
    key_variables: tuple[str, ...]
    address_variables: tuple[str, ...]
    needs_key: bool
    # Where a person gets a key.
    key_page: str | None = None
    # What follows the address in a server that is compatible.
    path: str = ""
    # The provider's own server: an address that names it changes nothing.
    own_host: str | None = None
    # Where a server lists its models, below its address, and what it must be sent for that.
    list_path: str = "/models"
    key_header: str = "Authorization"
    headers: tuple[tuple[str, str], ...] = ()

    def ways_to_key(self, *, another: bool = False) -> str:
        """How a person gives the agent a key, in a sentence."""
        return (
            f"Set {'another ' if another else ''}{self.key_variables[0]} before the agent starts,"
            f" or run `accord agent --login {self.id}` in a terminal."
        )


PROVIDERS: Final[dict[str, Provider]] = {
    provider.id: provider
    for provider in (
        Provider(
            "anthropic",
            "Anthropic",
            ("ANTHROPIC_API_KEY",),
            ("ANTHROPIC_BASE_URL",),
            True,
            "https://platform.claude.com/settings/keys",
            own_host="api.anthropic.com",
            list_path="/v1/models",
            key_header="x-api-key",
            headers=(("anthropic-version", "2023-06-01"),),
        ),
        Provider(
            "openai",
            "OpenAI",
            ("OPENAI_API_KEY",),
            ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
            True,
            "https://platform.openai.com/api-keys",
            own_host="api.openai.com",
        ),
        Provider(
            "google",
            "Google Gemini",
            ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            ("GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"),
            True,
            "https://aistudio.google.com/apikey",
            own_host="generativelanguage.googleapis.com",
            list_path="/v1beta/models",
            key_header="x-goog-api-key",
        ),
        Provider(
            "ollama", "Ollama", ("OLLAMA_API_KEY",), ("OLLAMA_HOST",), needs_key=False, path="/v1"
        ),
    )
}
"""In the order in which one is preferred when several have a key."""

AUTO_DETECTED: Final = "auto-detected on this computer"
"""How a model was found that nobody named, nor its server."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """One model.  `value` names it in options, configuration and on the command line."""

    provider: str
    model: str
    base_url: str | None = None
    key: Secret | None = field(default=None, repr=False)
    # Where it was found, in a few words for the user.
    found: str = ""
    context_window: int | None = None
    # The server's address, where it is one of several of the same provider.
    server: str | None = None
    # OpenAI has two ways to be spoken to; None is the one that fits the server.
    api: str | None = None

    @property
    def value(self) -> str:
        """What it is chosen by."""
        return f"{self.provider}{f'@{self.server}' if self.server else ''}:{self.model}"

    @property
    def about(self) -> Provider:
        """The provider of the model."""
        return PROVIDERS[self.provider]

    @property
    def group(self) -> str:
        """Under which heading it is listed, and what it is called in sentences."""
        where = self.server or urlsplit(self.shown_address).netloc
        if not where:
            return self.about.name
        # A compatible server is not OpenAI.
        name = "OpenAI-compatible server" if self.provider == "openai" else self.about.name
        return f"{name} ({where})"

    @property
    def shown_address(self) -> str:
        """Where its server is, without a password that may stand in it."""
        parts = urlsplit(self.base_url or "")
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    @property
    def is_usable(self) -> bool:
        """Whether nothing is missing; a server of the user's own may want no key."""
        return self.key is not None or not self.about.needs_key or self.base_url is not None

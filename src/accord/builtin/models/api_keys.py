"""Keys that the user pasted: a private file, and the login that fills it.

What always holds
    * The file is the user's alone (0600), at every moment old or new as a whole.
    * A file that cannot be read gives no keys and is never overwritten.
    * A key is shown nowhere: not when it is typed, not in an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

from accord.builtin.models.providers import PROVIDERS, Provider, Secret
from accord.configuration.user_paths import credentials_file, replace_file
from accord.errors import ConfigError

KEY_CHARACTERS_MAX: Final = 4096
FILE_BYTES_MAX: Final = 1 << 20


class Credentials:
    """The keys in a file, read again for each use: a login is another process."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path

    @property
    def path(self) -> Path:
        """The file that holds the keys."""
        return credentials_file() if self._path is None else self._path

    def key(self, provider: str) -> Secret | None:
        """The key for a provider; none where the file is missing or cannot be read."""
        try:
            key = self._read().get(provider)
        except ConfigError:
            return None
        return None if key is None else Secret(key)

    def providers(self) -> list[str]:
        """The providers that have a key."""
        try:
            return sorted(self._read())
        except ConfigError:
            return []

    def keep(self, provider: str, key: str) -> None:
        """Store a key.

        Raises:
            ConfigError: it is not a key, or the file there is not one of ours.
        """
        key = key.strip()
        if not key:
            raise ConfigError("an empty line is not a key; nothing was stored")
        if len(key) > KEY_CHARACTERS_MAX or not key.isascii() or any(c.isspace() for c in key):
            raise ConfigError("that does not look like a key; nothing was stored")
        self._write({**self._read(), provider: key})

    def forget(self, provider: str | None = None) -> bool:
        """Remove a key, or all; False when there was none."""
        keys = self._read()
        left = {} if provider is None else {k: v for k, v in keys.items() if k != provider}
        if left == keys:
            return False
        self._write(left)
        return True

    def _read(self) -> dict[str, str]:
        path = self.path
        try:
            if path.stat().st_size > FILE_BYTES_MAX:
                raise ConfigError(f"{path} is too large to be a file of keys")
            found = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            # Its content is not shown: it may be a key.
            raise ConfigError(f"{path} cannot be read as keys; fix or remove it") from None
        if not isinstance(found, dict):
            raise ConfigError(f"{path} cannot be read as keys; fix or remove it")
        return {name: key for name, key in found.items() if isinstance(key, str) and key}

    def _write(self, keys: dict[str, str]) -> None:
        path = self.path
        try:
            replace_file(path, json.dumps(keys, indent=2, sort_keys=True) + "\n")
        except OSError as error:
            raise ConfigError(f"{path} cannot be written: {error.strerror}") from None


def login(
    provider_id: str,
    *,
    ask: Callable[[str], str],
    say: Callable[[str], None],
    credentials: Credentials | None = None,
) -> bool:
    """Let the user paste a key in a terminal; True when it was stored.

    `ask` shows a line and reads one without showing it, such as `getpass.getpass`.
    """
    provider = provider_named(provider_id)
    kept = credentials or Credentials()
    if provider.key_page:
        say(f"Create a key for {provider.name} at {provider.key_page}")
    try:
        kept.keep(provider.id, ask(f"Paste the key for {provider.name} (it is not shown): "))
    except (EOFError, KeyboardInterrupt):
        say("Nothing was stored.")
        return False
    except ConfigError as error:
        say(f"{error}.")
        return False
    say(f"The key for {provider.name} is stored in {kept.path}, which only you can read.")
    return True


def provider_named(provider_id: str) -> Provider:
    """The provider of an id.

    Raises:
        ConfigError: there is none; the message names those there are.
    """
    provider = PROVIDERS.get(provider_id)
    if provider is None:
        known = ", ".join(PROVIDERS)
        raise ConfigError(f"there is no provider {provider_id!r}; known providers: {known}")
    return provider

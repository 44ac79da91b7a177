"""API keys and the token of `--token`: made at random, known by their hash.

The hash is SHA-256 without a salt.  That is enough for keys of 256 random bits, which nobody can
guess however fast they try; a slow hash, as for passwords, would cost every request its time.
What always holds: keys are compared by their digests, in the same time for every key.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import Final, NamedTuple

KEY_BYTES: Final = 32
TOKEN_CHARS_MIN: Final = 16
"""A shorter token can be guessed by trying."""
PREFIX: Final = "accord_"
"""By which tools that look for secrets in code recognise a key."""


class ApiKey(NamedTuple):
    """A new key for its user, and the hash for the configuration."""

    key: str
    hash: str


def new_api_key() -> ApiKey:
    """Make a key at random."""
    key = new_token()
    return ApiKey(key, f"sha256:{digest_of(key).hex()}")


def new_token() -> str:
    """Make a bearer token at random."""
    return PREFIX + secrets.token_urlsafe(KEY_BYTES)


def digest_of(secret: str) -> bytes:
    """Return what is kept of a secret."""
    return hashlib.sha256(secret.encode()).digest()


class KeyRing:
    """The users of all known keys."""

    def __init__(self, owners: Mapping[bytes, str]) -> None:
        self._owners = dict(owners)

    def owner(self, digest: bytes) -> str | None:
        """Return whose key this is; None if nobody's."""
        found = None
        for known, name in self._owners.items():
            if hmac.compare_digest(known, digest):
                found = name
        return found


__all__ = ["TOKEN_CHARS_MIN", "ApiKey", "KeyRing", "digest_of", "new_api_key", "new_token"]

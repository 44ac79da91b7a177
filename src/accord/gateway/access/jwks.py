"""The public keys of an issuer (RFC 7517), and which of them may check a token.  Pure.

What always holds
    * A key checks the algorithms of its own type and curve only, and only the one that it names, if
      it names one.  So neither `none` nor a public key as the secret of HS256 is possible.
    * A key that is private, too short, or made for something else is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from jwt import PyJWK
from jwt.exceptions import PyJWTError

from accord.gateway.configuration.oauth import ALGORITHMS

KEYS_MAX: Final = 100
KID_CHARS_MAX: Final = 256


class BadKeys(Exception):
    """The document is not a set of keys."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """One key with one algorithm."""

    kid: str | None
    algorithm: str
    key: PyJWK = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeySet:
    """The keys that can be used."""

    keys: tuple[PublicKey, ...] = ()

    def choose(self, kid: str | None, algorithm: str) -> PublicKey | None:
        """Return the key for a token; without a kid there must be only one that fits."""
        fitting = [key for key in self.keys if key.algorithm == algorithm]
        if kid is None:
            return fitting[0] if len(fitting) == 1 else None
        return next((key for key in fitting if key.kid == kid), None)


def read_key_set(document: bytes, algorithms: Iterable[str]) -> KeySet:
    """Read a JWKS document, as far as its keys fit one of the algorithms.

    Raises:
        BadKeys: it is not one, or has too many keys.
    """
    try:
        found = json.loads(document)
    except (ValueError, RecursionError):
        raise BadKeys("the keys are not JSON") from None
    entries = found.get("keys") if isinstance(found, dict) else None
    if not isinstance(entries, list):
        raise BadKeys("the document has no list of keys")
    if len(entries) > KEYS_MAX:
        raise BadKeys(f"there are more than {KEYS_MAX} keys")
    wanted = tuple(algorithms)
    keys = [
        key
        for entry in entries
        if isinstance(entry, dict) and _is_for_signatures(entry)
        for name in wanted
        if (key := _public_key(entry, name)) is not None
    ]
    return KeySet(tuple(keys))


def _is_for_signatures(entry: Mapping[str, Any]) -> bool:
    uses, operations = entry.get("use", "sig"), entry.get("key_ops", ["verify"])
    kid = entry.get("kid")
    return (
        uses == "sig"
        and isinstance(operations, list)
        and "verify" in operations
        and "d" not in entry
        and (kid is None or isinstance(kid, str))
    )


def _public_key(entry: Mapping[str, Any], algorithm: str) -> PublicKey | None:
    kind, curve = ALGORITHMS[algorithm]
    if entry.get("kty") != kind or (curve is not None and entry.get("crv") != curve):
        return None
    if entry.get("alg", algorithm) != algorithm:
        return None
    try:
        key = PyJWK(dict(entry), algorithm)
        if key.Algorithm.check_key_length(key.key) is not None:
            return None
    except (PyJWTError, ValueError, TypeError, OverflowError):
        return None
    return PublicKey(entry.get("kid"), algorithm, key)


__all__ = ["KID_CHARS_MAX", "BadKeys", "KeySet", "PublicKey", "read_key_set"]

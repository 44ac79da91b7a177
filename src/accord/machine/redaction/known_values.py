"""Values that are secrets wherever they stand: from the environment, or learnt on the way.  No I/O.

What always holds: the values that were learnt are bounded; the oldest are forgotten first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from accord.machine.redaction.secret_patterns import (
    GUESSED_CHARACTERS_MIN,
    IGNORED,
    KNOWN_NAMES,
    looks_secret,
    names_secret,
)

KNOWN_CHARACTERS_MIN: Final = 8
"""Shorter values are words that stand in every text."""

LEARNT_MAX: Final = 256
"""Values that are remembered from a conversation; the oldest are forgotten first."""
LEARNT_CHARACTERS_MAX: Final = 4096

# What these hold is a secret and nothing else, as names such as CREDENTIAL_HELPER do not say.
_HOLDS_SECRET = re.compile(
    r"(?:passw(?:or)?d|passphrase|token|secret|apikey|(?:access|private)key)$"
)


def is_known_value(name: str, value: str) -> bool:
    """Whether a value is a secret wherever it stands, given the variable or option that has it.

    A value that is one plain word or a path may stand in any text for other reasons; it counts
    only under a name that is known to hold a key.
    """
    if name in KNOWN_NAMES:
        return len(value) >= KNOWN_CHARACTERS_MIN
    if not names_secret(name):
        return False
    if looks_secret(value):
        return True
    small = re.sub(r"[\W_]", "", name).lower()
    is_word = value.isalpha() and (value[1:].islower() or value.isupper())
    is_harmless = is_word or value.startswith(("/", "./", "~", "$"))
    is_long = len(value) >= GUESSED_CHARACTERS_MIN
    return is_long and not is_harmless and _HOLDS_SECRET.search(small) is not None


def secret_values(environ: Mapping[str, str]) -> frozenset[str]:
    """The values in an environment that no output may show."""
    return frozenset(value for name, value in environ.items() if is_known_value(name, value))


class KnownValues:
    """Values that are secrets wherever they occur."""

    def __init__(self, values: Iterable[str]) -> None:
        # Each with its forms in JSON, where some characters are escaped.
        self._values: dict[str, tuple[bytes, ...]] = {}
        # Those that were learnt, the oldest first.
        self._learnt: dict[str, None] = {}
        self.longest = 0
        for value in values:
            self._add(value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def is_in(self, frame: bytes) -> bool:
        """Whether a frame contains one of them."""
        return any(form in frame for forms in self._values.values() for form in forms)

    def learn(self, value: str) -> None:
        """Add a value that a conversation showed to be secret."""
        if not KNOWN_CHARACTERS_MIN <= len(value) <= LEARNT_CHARACTERS_MAX:
            return
        if value in self._values and value not in self._learnt:
            return
        self._learnt.pop(value, None)
        self._learnt[value] = None
        self._add(value)
        if len(self._learnt) > LEARNT_MAX:
            oldest = next(iter(self._learnt))
            del self._learnt[oldest], self._values[oldest]

    def _add(self, value: str) -> None:
        # Texts are searched without invisible characters.
        value = IGNORED.sub("", value)
        if value and value not in self._values:
            forms = {json.dumps(value, ensure_ascii=way)[1:-1] for way in (False, True)}
            self._values[value] = tuple(one.encode("utf-8", "surrogatepass") for one in forms)
            self.longest = max(self.longest, len(value))

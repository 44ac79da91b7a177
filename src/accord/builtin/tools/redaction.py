"""Secrets: which variables no command inherits, and which values no output shows.  No I/O.

It must not know tools.

What always holds
    * Masking a stream piece by piece gives what masking the whole gives, so that no cut between
      two pieces lets a part of a secret through.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

SECRET_PATTERNS = (
    "*API_KEY*",
    "*APIKEY*",
    "*_KEY",
    "*_TOKEN",
    "TOKEN",
    "*_PAT",
    "*SECRET*",
    "*PASSWORD*",
    "*PASSWD*",
    "*PASSPHRASE*",
    "*CREDENTIAL*",
    "*PRIVATE_KEY*",
    "*ACCESS_KEY*",
    "*[Aa][Uu][Tt][Hh]_[Tt][Oo][Kk][Ee][Nn]*",
    "*authToken*",
    "*api_key*",
    "*_token",
    "*password*",
    "*secret*",
)
"""Names of variables that hold secrets, as shell patterns; commands do not inherit them."""

KNOWN_NAMES = frozenset(
    {
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "OPENROUTER_API_KEY",
        "MISTRAL_API_KEY",
        "GROQ_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "NPM_TOKEN",
        "PYPI_TOKEN",
        "HF_TOKEN",
    }
)
"""Variables whose values are secrets whatever they look like."""

MASK = "[secret]"

KNOWN_CHARACTERS_MIN = 8
"""Shorter values are words that stand in every text."""

GUESSED_CHARACTERS_MIN = 12
"""The same for values that only their variable's name makes suspicious."""


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name is kept from commands."""
    return name in KNOWN_NAMES or any(fnmatchcase(name, pattern) for pattern in SECRET_PATTERNS)


def secret_values(environ: Mapping[str, str]) -> frozenset[str]:
    """The values in an environment that no output may show.

    A value that is one plain word or a path may stand in any text for other reasons; it counts
    only under a name that is known to hold a key.
    """
    found: set[str] = set()
    for name, value in environ.items():
        if name in KNOWN_NAMES:
            if len(value) >= KNOWN_CHARACTERS_MIN:
                found.add(value)
        elif is_secret_name(name) and _looks_secret(value):
            found.add(value)
    return frozenset(found)


def _looks_secret(value: str) -> bool:
    return (
        len(value) >= GUESSED_CHARACTERS_MIN
        and not value.startswith(("/", "./", "~"))
        and any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
    )


class Redactor:
    """Hides given values in texts and streams."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # The longest first: of two that begin alike the longer one is the one that is meant.
        self._secrets = sorted({one for one in secrets if one}, key=lambda one: (-len(one), one))
        joined = "|".join(map(re.escape, self._secrets))
        self._pattern = re.compile(joined) if joined else None

    def text(self, text: str) -> str:
        """The text with every secret masked."""
        return text if self._pattern is None else self._pattern.sub(MASK, text)

    def stream(self) -> StreamRedactor:
        """For output that comes in pieces."""
        return StreamRedactor([one.encode("utf-8", "surrogateescape") for one in self._secrets])


class StreamRedactor:
    """Masks a stream of bytes; what may be the beginning of a secret waits for what follows."""

    def __init__(self, secrets: list[bytes]) -> None:
        self._secrets = secrets
        joined = b"|".join(map(re.escape, secrets))
        self._pattern = re.compile(joined) if joined else None
        self._longest = max(map(len, secrets), default=0)
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """What can be shown now."""
        if self._pattern is None:
            return data
        data = self._held + data
        shown: list[bytes] = []
        position = 0
        while True:
            begun = self._begun(data, position)
            match = self._pattern.search(data, position)
            if match is None or match.start() >= begun:
                break
            shown += (data[position : match.start()], MASK.encode())
            position = match.end()
        shown.append(data[position:begun])
        self._held = data[begun:]
        return b"".join(shown)

    def finish(self) -> bytes:
        """What was waiting, when nothing more comes."""
        held, self._held = self._held, b""
        return held if self._pattern is None else self._pattern.sub(MASK.encode(), held)

    def _begun(self, data: bytes, position: int) -> int:
        """Where a secret begins whose end has not come yet; the data's end where none does."""
        for start in range(max(position, len(data) - self._longest + 1), len(data)):
            rest = data[start:]
            if any(len(one) > len(rest) and one.startswith(rest) for one in self._secrets):
                return start
        return len(data)

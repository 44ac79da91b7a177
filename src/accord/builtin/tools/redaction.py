"""Secrets: values that no output shows.  No I/O.

It must not know tools, nor what makes a value a secret.

What always holds
    * Masking a stream piece by piece gives what masking the whole gives, so that no cut between
      two pieces lets a part of a secret through.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from accord.machine.secrets import MARK

MASK = MARK


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

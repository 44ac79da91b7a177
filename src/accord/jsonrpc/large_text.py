"""A result that is one large text: encoded part by part, so that the first parts travel meanwhile.

Must not know: methods, or where the parts go.
Always holds: the parts together are the frame of the whole result, one line of valid JSON; none is
given out before it is certain that all of them fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final

from accord.jsonrpc.envelope import Id, json_id, json_text

LARGE_CHARACTERS: Final = 256 * 1024
"""A shorter text is encoded sooner than anybody could make use of its beginning."""

PART_CHARACTERS: Final = 64 * 1024
"""So much is encoded at once: little enough for each part to use the memory of the one before."""

ESCAPED_BYTES_MAX: Final = 6
"""What one ASCII character can become."""


class TextResult:
    """An object with one member, a text that is ASCII: the encoding of another may fail halfway."""

    __slots__ = ("_member", "_text")

    def __init__(self, member: str, text: str) -> None:
        self._member = member
        self._text = text

    @classmethod
    def of(cls, member: str, text: str) -> TextResult | None:
        """The result with this text; None where it should be encoded whole."""
        return cls(member, text) if len(text) >= LARGE_CHARACTERS and text.isascii() else None

    def whole(self) -> bytes:
        """The result in one piece."""
        return b"{%b:%b}" % (json_text(self._member), json_text(self._text))

    def parts(self, request_id: Id, bytes_max: int) -> Iterator[bytes] | None:
        """The parts of the frame that answers a request with this; None where it is too long."""
        text, behind = self._text, b'"}}'
        before = b'{"jsonrpc":"2.0","id":%b,"result":{%b:"' % (
            json_id(request_id),
            json_text(self._member),
        )
        if not _fits(text, bytes_max - len(before) - len(behind)):
            return None
        encoded = (_encoded(text, start) for start in range(0, len(text), PART_CHARACTERS))
        return chain((before,), encoded, (behind,))


def _fits(text: str, bytes_max: int) -> bool:
    """Whether a text has no more bytes than this when it is encoded.

    As much of it is encoded as is needed to be certain, and thrown away: to keep it would cost
    more than to encode it again, since fresh memory is dear.
    """
    start, encoded_bytes = 0, 0
    while encoded_bytes + ESCAPED_BYTES_MAX * (len(text) - start) > bytes_max:
        encoded_bytes += len(_encoded(text, start))
        start = min(start + PART_CHARACTERS, len(text))
        if encoded_bytes + len(text) - start > bytes_max:
            return False
    return True


def _encoded(text: str, start: int) -> bytes:
    return json_text(text[start : start + PART_CHARACTERS])[1:-1]

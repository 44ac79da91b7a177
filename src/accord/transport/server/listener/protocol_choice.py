"""What a new connection wants, from its first bytes.  Pure.

HTTP/2 begins with a preface, and HTTP/1.1 with a request.  Only a GET can ask for a WebSocket.
"""

from __future__ import annotations

import re
from typing import Final, Literal

Choice = Literal["http", "websocket"]

_GET: Final = b"GET "
_HEAD_END: Final = b"\r\n\r\n"
_UPGRADE: Final = re.compile(rb"\r\nupgrade[ \t]*:[^\r\n]*websocket", re.IGNORECASE)


def choose_protocol(head: bytes) -> Choice | None:
    """Return what the client wants; None while its first bytes do not say so yet."""
    if not head.startswith(_GET):
        return None if _GET.startswith(head) else "http"
    end = head.find(_HEAD_END)
    if end < 0:
        return None
    return "websocket" if _UPGRADE.search(head, 0, end) else "http"


def head_length(head: bytes) -> int:
    """Return how long the request's head is, with the blank line at its end."""
    return head.index(_HEAD_END) + len(_HEAD_END)


__all__ = ["choose_protocol", "head_length"]

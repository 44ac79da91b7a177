"""What a new connection wants, from its first bytes.  Pure.

HTTP/2 begins with a preface, and HTTP/1.1 with a request.  Only a GET can ask for a WebSocket.
Nothing is chosen before the preface or the request's head is complete, so that the listener's time
limit holds for all of them.
"""

from __future__ import annotations

import re
from typing import Final, Literal

Choice = Literal["http", "websocket"]

_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_HEAD_END: Final = b"\r\n\r\n"
_METHOD: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+( |\Z)")
_GET_UPGRADE: Final = re.compile(
    rb"GET .*?\r\n(?i:upgrade)[ \t]*:[^\r\n]*(?i:websocket)", re.DOTALL
)


def choose_protocol(head: bytes) -> Choice | None:
    """Return what the client wants; None while its first bytes do not say so yet."""
    start = head[: len(_PREFACE)]
    if _PREFACE.startswith(start):
        return "http" if start == _PREFACE else None
    if not _METHOD.match(head):
        # Not a request: the HTTP server answers that at once.
        return "http" if head else None
    end = head.find(_HEAD_END)
    if end < 0:
        return None
    return "websocket" if _GET_UPGRADE.match(head, 0, end) else "http"


def head_length(head: bytes) -> int:
    """Return how long the request's head is, with the blank line at its end."""
    return head.index(_HEAD_END) + len(_HEAD_END)


__all__ = ["choose_protocol", "head_length"]

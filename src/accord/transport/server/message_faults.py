"""The faults of text that is not a JSON-RPC message.  Pure."""

from __future__ import annotations

from typing import Final, NamedTuple

from accord.jsonrpc.envelope import Id, json_id, json_text
from accord.jsonrpc.error_codes import INVALID_REQUEST, PARSE_ERROR
from accord.jsonrpc.json_depth import is_deeper
from accord.jsonrpc.malformed_frames import is_utf8, is_whole

# Deeper objects are left to the agent, whose limit it is.
DEPTH_MAX: Final = 128
NO_BATCHES: Final = "JSON-RPC batches are not supported"


class Fault(NamedTuple):
    """The code of the error, its message, and whether the text is an object after all."""

    code: int
    message: str
    is_object: bool = False


NOT_JSON: Final = Fault(PARSE_ERROR, "Parse error")
ARRAY: Final = Fault(INVALID_REQUEST, NO_BATCHES)
NOT_AN_OBJECT: Final = Fault(INVALID_REQUEST, "Invalid request")
NOT_A_MESSAGE: Final = Fault(INVALID_REQUEST, "Invalid request", is_object=True)


def fault_of(text: bytes) -> Fault | None:
    """Say what is wrong with a text in which `read_keys` finds no message.

    None is an object that is nested too deeply, which the agent answers with its id.
    """
    # Nothing is built of the text: 32 MiB of `[{},{},…` would become a gigabyte of objects.
    start = text.lstrip()[:1]
    if not is_utf8(text) or not is_whole(text):
        return NOT_JSON
    if start == b"[":
        return ARRAY
    if start != b"{":
        return NOT_AN_OBJECT
    return None if is_deeper(text, DEPTH_MAX) else NOT_A_MESSAGE


def error_message(request_id: Id, code: int, message: str) -> bytes:
    """Return a JSON-RPC error."""
    return b'{"jsonrpc":"2.0","id":%b,"error":{"code":%d,"message":%b}}' % (
        json_id(request_id),
        code,
        json_text(message),
    )


__all__ = ["ARRAY", "NOT_JSON", "Fault", "error_message", "fault_of"]

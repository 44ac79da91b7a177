"""What surrounds every message: one Struct to read it, and functions that write frames.

Must not know: methods, pending calls, or what params and results mean; those stay encoded.
Always holds: a frame written here is one line of valid JSON, if what was handed in was valid
JSON; an id is written with the JSON type that it came with.
"""

from collections.abc import Iterable
from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

Id = int | str | None
"""A request id.  Null is legal in v1 only, and there only discouraged."""

ID_MIN: Final = -(2**63)
ID_MAX: Final = 2**63 - 1

WireId = Annotated[int, msgspec.Meta(ge=ID_MIN, le=ID_MAX)] | str | None

NO_PARAMS: Final = Raw(b"{}")
"""What stands for params that were not sent: reads as an empty object, and can be told by `is`."""

ABSENT: Final = Raw()
"""A result or error that was not sent; falsy, which no JSON text is."""


class Envelope(msgspec.Struct, frozen=True, gc=False):
    """The members of any JSON-RPC message, each still optional and most still encoded."""

    jsonrpc: str | UnsetType = UNSET
    id: WireId | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: Raw = NO_PARAMS
    result: Raw = ABSENT
    error: Raw = ABSENT


class StrictEnvelope(Envelope, frozen=True, gc=False, forbid_unknown_fields=True):
    """The same, where a member that JSON-RPC does not know makes it none."""


def unknown_member(members: Iterable[str]) -> str | None:
    """Why a message is refused that has a member which JSON-RPC does not know."""
    unknown = set(members).difference(Envelope.__struct_fields__)
    return f"unknown member {min(unknown)!r}" if unknown else None


class ErrorObject(msgspec.Struct, frozen=True, gc=False):
    """The `error` member of a response that keeps to the rules."""

    code: int
    message: str
    data: Raw = ABSENT


decode_envelope = msgspec.json.Decoder(Envelope).decode
decode_strictly = msgspec.json.Decoder(StrictEnvelope).decode
decode_error = msgspec.json.Decoder(ErrorObject).decode
_encode = msgspec.json.encode
LINE_FEED: Final = 10
CARRIAGE_RETURN: Final = 13


def json_text(text: str) -> bytes:
    """JSON of any Python string; lone surrogates, which UTF-8 cannot carry, become U+FFFD."""
    try:
        return _encode(text)
    except UnicodeEncodeError:
        return _encode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def json_id(request_id: Id) -> bytes:
    """JSON of an id: 7 stays a number, "7" a string."""
    if isinstance(request_id, str):
        return json_text(request_id)
    return b"null" if request_id is None else b"%d" % request_id


def one_line(frame: bytes) -> bytes:
    """The same JSON without raw line breaks, which valid JSON has between tokens only."""
    # Asked by number: for a byte string, CPython takes four times as long.
    if LINE_FEED in frame or CARRIAGE_RETURN in frame:
        return frame.replace(b"\n", b" ").replace(b"\r", b" ")
    return frame


def request_frame(request_id: Id, method: str, params: bytes | Raw | None) -> bytes:
    """A request; `params` is JSON already, or None to leave the member out."""
    if params is None:
        return b'{"jsonrpc":"2.0","id":%b,"method":%b}' % (json_id(request_id), json_text(method))
    return one_line(
        b'{"jsonrpc":"2.0","id":%b,"method":%b,"params":%b}'
        % (json_id(request_id), json_text(method), params)
    )


def notification_frame(method: str, params: bytes | Raw | None) -> bytes:
    """A notification; `params` is JSON already, or None to leave the member out."""
    if params is None:
        return b'{"jsonrpc":"2.0","method":%b}' % json_text(method)
    return one_line(b'{"jsonrpc":"2.0","method":%b,"params":%b}' % (json_text(method), params))


def notification_head(method: str) -> bytes:
    """What the frame of a notification begins with; its params and a brace follow."""
    return b'{"jsonrpc":"2.0","method":%b,"params":' % json_text(method)


def result_frame(request_id: Id, result: bytes | Raw) -> bytes:
    """The answer to a request that went well; `result` is JSON already."""
    return one_line(b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (json_id(request_id), result))


def result_parts(
    request_id: Id, result: bytes, bytes_max: int
) -> tuple[bytes, bytes, bytes] | None:
    """`result_frame` without a copy of the result.

    None where line breaks must come out of it, or where it is longer than that.
    """
    before, behind = b'{"jsonrpc":"2.0","id":%b,"result":' % json_id(request_id), b"}"
    if len(before) + len(result) + len(behind) > bytes_max:
        return None
    if LINE_FEED in result or CARRIAGE_RETURN in result:
        return None
    return before, result, behind


def error_frame(request_id: Id, code: int, message: str, data: bytes | Raw | None = None) -> bytes:
    """The answer to a request that failed; `data` is JSON already."""
    if data is None:
        return b'{"jsonrpc":"2.0","id":%b,"error":{"code":%d,"message":%b}}' % (
            json_id(request_id),
            code,
            json_text(message),
        )
    return one_line(
        b'{"jsonrpc":"2.0","id":%b,"error":{"code":%d,"message":%b,"data":%b}}'
        % (json_id(request_id), code, json_text(message), data)
    )

"""The second look at frames that the fast decoder refused or that must be refused as a whole.

Says of any bytes whether they are a message after all, and if not, what kind of fault this is and
whether an answer is due.
Must not know: pending calls, or how many bad lines came before; the peer judges by those.
Always holds: `salvage` returns for every input.  A bad notification or answer is never given a
verdict by which it would be answered.
"""

import enum
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw

from accord.jsonrpc.envelope import (
    ABSENT,
    ID_MAX,
    ID_MIN,
    NO_PARAMS,
    Envelope,
    Id,
    WireId,
    unknown_member,
)
from accord.jsonrpc.error_codes import INVALID_REQUEST, PARSE_ERROR
from accord.jsonrpc.json_depth import is_deeper, shallow_members, shallow_pairs, too_deep
from accord.schema.codec import repair_surrogates


class Verdict(enum.Enum):
    """What to do about a fault."""

    BLANK = "nothing but whitespace: skip"
    NOISE = "no message at all: answer the first in a row only"
    ARRAY = "an array: answer once, or process as a batch"
    OBJECT = "a message of JSON-RPC without any content: answer each"
    REFUSED = "a bad request: answer with its id"
    MUTE = "an id and nothing else: fails our call of that id, else a bad request"
    ANSWERS = "a bad answer: fails our call of that id, and is never answered"
    DROPPED = "a bad notification, or an answer to nobody: never answered"


class Fault(msgspec.Struct, frozen=True, gc=False):
    """Why a frame is not a message, and what follows from that."""

    verdict: Verdict
    code: int
    reason: str
    id: Id = None


class Repaired(Envelope, frozen=True, gc=False):
    """A message that could be read only by tolerating what `note` says."""

    note: str | None = None


BLANK: Final = Fault(Verdict.BLANK, PARSE_ERROR, "blank line")

# What Windows programs put before their first line; JSON texts must not have it, readers may
# ignore it.
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


def is_utf8(frame: bytes) -> bool:
    """Whether the bytes are UTF-8; the decoder does not check what it leaves encoded."""
    try:
        frame.decode()
    except UnicodeDecodeError:
        return False
    return True


def is_whole(text: bytes) -> bool:
    """Whether this is one complete JSON text, rather than the beginning of one."""
    try:
        msgspec.json.decode(repair_surrogates(text), type=Raw)
    except msgspec.DecodeError:
        return False
    except RecursionError:
        # Too deep to be seen through: it has an end if it ends like one.
        return text.rstrip().endswith((b"}", b"]"))
    return True


def salvage(frame: bytes, depth_max: int, *, strict: bool = False) -> Envelope | Fault:
    """The message in a frame that the fast decoder refused, or what is wrong with it.

    With `strict`, members that JSON-RPC does not know are refused too.
    """
    text = frame.removeprefix(BYTE_ORDER_MARK).strip(b" \t\r\n")
    if not text:
        return BLANK
    if not is_utf8(text):
        return Fault(Verdict.NOISE, PARSE_ERROR, "not UTF-8")
    text = repair_surrogates(text)
    try:
        msgspec.json.decode(text, type=Raw)
    except RecursionError:
        is_deep, is_readable = True, False
    except msgspec.DecodeError as error:
        return Fault(Verdict.NOISE, PARSE_ERROR, f"not JSON: {error}")
    else:
        is_deep, is_readable = is_deeper(text, depth_max), True
    if text[:1] == b"[":
        if is_deep:
            return Fault(Verdict.REFUSED, INVALID_REQUEST, too_deep(depth_max))
        return Fault(Verdict.ARRAY, INVALID_REQUEST, "an array is not a message")
    if text[:1] != b"{":
        return Fault(Verdict.NOISE, INVALID_REQUEST, "a bare value is not a message")
    members = _members(text) if is_readable else _shallow_members(text)
    message = _message(members)
    if isinstance(message, Envelope):
        if is_deep:
            return refusal(message, too_deep(depth_max))
        unknown = unknown_member(members) if strict else None
        if unknown is not None:
            return refusal(message, unknown)
    return message


def ids_answered(frame: bytes) -> list[Id]:
    """All ids that an answer names, of whatever text begins like one; else none.

    For answers that are broken, or name two ids: somebody waits for one of these.
    """
    ids: list[Id] = []
    is_answer = False
    for key, value in shallow_pairs(frame.removeprefix(BYTE_ORDER_MARK).strip(b" \t\r\n")):
        if key == b'"id"':
            found = _read_id(Raw(value))
            if isinstance(found, int | str):
                ids.append(found)
        elif key == b'"method"':
            return []
        else:
            is_answer = is_answer or key in (b'"result"', b'"error"')
    return ids if is_answer else []


def _read_id(member: Raw) -> Any:
    """An id, where 3.0 is 3, as it is for peers whose language has one kind of number."""
    exact = read_member(WireId, member)
    number = read_member(float, member) if exact is BAD else BAD
    if isinstance(number, float) and number.is_integer() and ID_MIN <= number <= ID_MAX:
        return int(number)
    return exact


def refusal(message: Envelope, reason: str) -> Fault:
    """The fault that refuses a readable message, by what kind of message it is."""
    has_outcome = bool(message.result) or bool(message.error)
    if message.id is UNSET:
        is_message = message.method is not UNSET or has_outcome
        verdict = Verdict.DROPPED if is_message else _neither(message.jsonrpc)
        return Fault(verdict, INVALID_REQUEST, reason)
    if has_outcome:
        verdict = Verdict.ANSWERS
    elif message.method is not UNSET:
        verdict = Verdict.REFUSED
    else:
        verdict = _neither(message.jsonrpc) if message.id is None else Verdict.MUTE
    return Fault(verdict, INVALID_REQUEST, reason, message.id)


def _neither(version: object) -> Verdict:
    """An object that is neither a request nor an answer.

    Without its version it may be any JSON that somebody printed, such as a line of a log.
    """
    return Verdict.OBJECT if version == "2.0" else Verdict.NOISE


_members = msgspec.json.Decoder(dict[str, Raw]).decode


def _shallow_members(text: bytes) -> dict[str, Raw]:
    members: dict[str, Raw] = {}
    for key, value in shallow_members(text).items():
        name = read_member(str, Raw(key))
        if isinstance(name, str):
            members[name] = Raw(value)
    return members


def _message(members: dict[str, Raw]) -> Envelope | Fault:
    """Put an object's members together as a message where their types allow it."""
    request_id = read_member(WireId, members.get("id"))
    method = read_member(str, members.get("method"))
    version = read_member(str, members.get("jsonrpc"))
    has_outcome = "result" in members or "error" in members
    note = None
    if request_id is BAD and has_outcome and "method" not in members:
        request_id = _read_id(members["id"])
        note = "the answer writes its id with a fraction"
    if request_id is BAD:
        reason = "the id is neither a string nor a whole number of 64 bits"
        if has_outcome:
            return Fault(Verdict.DROPPED, INVALID_REQUEST, reason)
        if "method" in members:
            return Fault(Verdict.REFUSED, INVALID_REQUEST, reason)
        return Fault(_neither(version), INVALID_REQUEST, reason)
    if method is BAD and not has_outcome:
        reason = "the method is not a string"
        if request_id is UNSET:
            return Fault(Verdict.DROPPED, INVALID_REQUEST, reason)
        return Fault(Verdict.REFUSED, INVALID_REQUEST, reason, request_id)
    return Repaired(
        UNSET if version is BAD else version,
        request_id,
        UNSET if method is BAD else method,
        members.get("params", NO_PARAMS),
        members.get("result", ABSENT),
        members.get("error", ABSENT),
        note,
    )


class _Bad:
    """The type of BAD: a member that is there and has the wrong type."""


BAD: Final = _Bad()


def read_member(wanted: Any, member: Raw | None) -> Any:
    """A member of the wanted type, UNSET where it is missing, BAD where it is something else."""
    if member is None:
        return UNSET
    try:
        return msgspec.json.decode(member, type=wanted)
    except msgspec.DecodeError:
        return BAD


def read_object(member: Raw) -> dict[str, Raw]:
    """The members of an object, each still encoded; of anything else there are none."""
    try:
        return _members(member)
    except msgspec.DecodeError:
        return {}

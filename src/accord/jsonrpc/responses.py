"""Read the outcome of a response, even a malformed one.

Must not know: which calls are pending.
Always holds: every response gives one event that settles the call, so that no caller waits for
ever for an answer that came in a bad shape.
"""

from msgspec import Raw

from accord.jsonrpc.envelope import Envelope, decode_error
from accord.jsonrpc.error_codes import INTERNAL_ERROR, text_of
from accord.jsonrpc.events import CallAnswered, CallFailed
from accord.jsonrpc.malformed_frames import read_member, read_object
from accord.schema.codec import repair_surrogates


def settled(call_id: int, message: Envelope, note: str | None) -> CallAnswered | CallFailed:
    """The end of our call: exactly one of result and error counts, a null error being none."""
    result, error = message.result, message.error
    if not error or bytes(error) == b"null":
        if result:
            return CallAnswered(call_id, result, note)
        return malformed(call_id, "the answer has neither result nor error", error, note)
    if result and bytes(result) != b"null":
        return malformed(call_id, "the answer has both result and error", error, note)
    code, text, data = read_error(error)
    if code is None:
        return malformed(call_id, "the error in the answer is malformed", error, note)
    if data is error:
        note = joined(note, "the error in the answer is malformed")
    return CallFailed(call_id, code, text, data, False, note)


def malformed(
    call_id: int, reason: str, error: Raw | None = None, note: str | None = None
) -> CallFailed:
    """Our call failed because its answer cannot be used."""
    return CallFailed(call_id, INTERNAL_ERROR, reason, error or None, True, note)


def joined(note: str | None, more: str) -> str:
    """Two notes in one."""
    return more if note is None else f"{note}; {more}"


def read_error(error: Raw) -> tuple[int | None, str, Raw | None]:
    """Code, message and data of an error member; the code is None where there is none.

    Of a malformed one as much is taken as can be read, and the whole of it becomes the data.
    """
    try:
        good = decode_error(error)
    except ValueError:
        return _read_malformed(error)
    data = good.data if good.data and bytes(good.data) != b"null" else None
    return good.code, good.message, data


def _read_malformed(error: Raw) -> tuple[int | None, str, Raw | None]:
    whole = Raw(repair_surrogates(bytes(error)))
    members = read_object(whole)
    code: object = read_member(int | float, members.get("code"))
    text: object = read_member(str, members.get("message") if members else whole)
    known_code = None
    # Some languages know no whole numbers and write -32000.0.
    if isinstance(code, int | float) and code == int(code):
        known_code = int(code)
    known_text = text if isinstance(text, str) and text else text_of(known_code or INTERNAL_ERROR)
    return known_code, known_text, error

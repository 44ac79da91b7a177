"""How turns of the draft end: stop reasons, and the result of one that its agent broke off.

A failure after the turn began is a result there, and no error of the request.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

from accord.jsonrpc.error_codes import INTERNAL_ERROR
from accord.translate.draft.conversion.meta_restore import keep_all
from accord.translate.draft.error_codes import to_draft_error
from accord.translate.message import Failure, Json, Key, Result

STOP_CANCELLED: Final = "cancelled"
STOP_ERROR: Final = "error"
STOPS_TO_DRAFT: Final = MappingProxyType(
    {
        "end_turn": "end_turn",
        "cancelled": "cancelled",
        "max_tokens": "max_tokens",
        "max_turn_requests": "max_tokens",
        "refusal": "end_turn",
    }
)
# "error" is missing on purpose: officially it is not a stop reason but a failed request.
STOPS_FROM_DRAFT: Final = MappingProxyType(
    {"end_turn": "end_turn", "cancelled": "cancelled", "max_tokens": "max_tokens"}
)


def to_draft_stop(reason: str) -> str:
    """An official stop reason as the draft has it; a word that nobody knows is an end."""
    return STOPS_TO_DRAFT.get(reason, "end_turn")


def gone(why: str) -> Failure:
    """The failure of whatever an agent was asked that is gone."""
    return Failure(0, INTERNAL_ERROR, why, {"reason": "agent_gone"})


def failed_turn(key: Key, failure: Failure) -> Result:
    """The end of a turn that failed after it began, with the failure as it was."""
    error: Json = {"code": failure.code, "message": failure.message}
    if failure.data is not None:
        error["data"] = failure.data
    result: Json = {"stopReason": STOP_ERROR}
    keep_all(result, {"error": error})
    return Result(key, result)


def is_error(value: Any) -> bool:
    """Whether an agent of ours says so that its turn failed after it began."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("code"), int)
        and isinstance(value.get("message"), str)
    )


def error_to_draft(error: Json) -> Json:
    """The error of a turn in the draft's numbers."""
    code, data = to_draft_error(error["code"], error.get("data"), named_session=True)
    said: Json = {"code": code, "message": error["message"]}
    return said if data is None else {**said, "data": data}


def cancelled_turn(key: Key) -> Result:
    """The end of a turn that was being cancelled, whatever else became of it."""
    return Result(key, {"stopReason": STOP_CANCELLED})

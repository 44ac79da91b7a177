"""The ends of turns in the draft: stop reasons, and the results of turns that failed.

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
    """Convert an official stop reason to the draft; an unknown one becomes a normal end."""
    return STOPS_TO_DRAFT.get(reason, "end_turn")


def gone(why: str) -> Failure:
    """Make the failure of requests to an agent that is gone."""
    return Failure(0, INTERNAL_ERROR, why, {"reason": "agent_gone"})


def failed_turn(key: Key, failure: Failure) -> Result:
    """Make the result of a turn that failed after it began, with its failure."""
    error: Json = {"code": failure.code, "message": failure.message}
    if failure.data is not None:
        error["data"] = failure.data
    result: Json = {"stopReason": STOP_ERROR}
    keep_all(result, {"error": error})
    return Result(key, result)


def is_error(value: Any) -> bool:
    """Whether an agent of ours reports by this that its turn failed after it began."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("code"), int)
        and isinstance(value.get("message"), str)
    )


def error_to_draft(error: Json) -> Json:
    """Convert the error of a turn to the draft's codes."""
    code, data = to_draft_error(error["code"], error.get("data"), named_session=True)
    said: Json = {"code": code, "message": error["message"]}
    return said if data is None else {**said, "data": data}


def cancelled_turn(key: Key) -> Result:
    """Make the result of a cancelled turn, however it ended."""
    return Result(key, {"stopReason": STOP_CANCELLED})

"""The result of a turn of the draft that its agent did not complete.

A failure after the turn began is a result there, and no error of the request.
"""

from __future__ import annotations

from typing import Any, Final

from accord.jsonrpc.error_codes import INTERNAL_ERROR
from accord.translate.draft.conversion.meta_restore import keep_all
from accord.translate.draft.value_tables import STOP_ERROR, to_draft_error
from accord.translate.message import Failure, Json, Key, Result

STOP_CANCELLED: Final = "cancelled"


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

"""From an exception in a handler to the error that the peer is told.

Our own errors carry their text.  What nobody foresaw becomes a generic -32603 with an id, and its
traceback goes to stderr with that id, so that a person can bring the two together.
"""

import contextlib
import os
import sys
import traceback
from typing import TYPE_CHECKING, Any

from accord.errors import AccordError, ConnectionLost, RequestError, RequestFailed, StoreError
from accord.schema.codec import Invalid, encode

if TYPE_CHECKING:
    from accord.connection.dialect import Manners

INTERNAL_ERROR = -32603
INVALID_PARAMS = -32602
# A session that was thrown away is one that does not exist; one that others have is in a state
# that does not allow this now.  Whatever else a store cannot do is an internal matter.
STORE_CODES = {"session_pruned": -32002, "session_in_use": -32056}


def error_for(error: BaseException, method: str) -> tuple[int, str, Any]:
    """The code, message and data to answer with."""
    match error:
        case RequestError():
            return error.code, error.message, error.data
        case Invalid():
            data = {"path": error.path, "reason": error.reason}
            return INVALID_PARAMS, f"Invalid params: {error.reason} at {error.path}", data
        case RequestFailed():
            # The peer's own error must not come back to it as if this request were at fault.
            nested: dict[str, Any] = {"method": error.method, "code": error.code}
            return INTERNAL_ERROR, f"{error.method} failed: {error.message}", nested
        case ConnectionLost():
            return INTERNAL_ERROR, error.message, None
        case StoreError():
            known = {"reason": error.reason, **error.details}
            return STORE_CODES.get(error.reason, INTERNAL_ERROR), str(error), known
        case AccordError():
            report(error, f"accord: while handling {method}")
            return INTERNAL_ERROR, str(error), None
        case _:
            return unforeseen(error, method)


def encoded_error_for(
    error: BaseException, method: str, manners: "Manners | None" = None
) -> tuple[int, str, bytes | None]:
    """The same with its data as JSON text; data that has no such form is a bug like any other."""
    code, message, data = error_for(error, method)
    if manners is not None:
        code, data = manners.error_out(method, code, data)
    if data is None:
        return code, message, None
    try:
        return code, message, encode(data)
    except Exception as problem:  # noqa: BLE001 - whatever it was, the peer gets an answer
        code, message, data = unforeseen(problem, method)
        return code, message, encode(data)


def unforeseen(error: BaseException, method: str) -> tuple[int, str, Any]:
    """Report an exception on stderr and return what the peer may know of it: only an id."""
    correlation_id = os.urandom(8).hex()
    report(error, f"accord: error {correlation_id} while handling {method}")
    return INTERNAL_ERROR, "Internal error", {"correlationId": correlation_id}


def report(error: BaseException, heading: str) -> None:
    """Show an exception with its traceback on stderr, for whoever wrote the handler."""
    from accord.machine.console.control_characters import visible
    from accord.machine.logs import log_redactor

    text = "".join(traceback.format_exception(error))
    # A stderr that is gone must not cost the peer its answer.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(visible(log_redactor().line(f"{heading}\n{text}")))
        sys.stderr.flush()

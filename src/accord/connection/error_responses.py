"""Maps an exception in a handler to the error that the peer gets.

Our own errors keep their text.  An unexpected exception becomes a generic -32603 with an id, and
its traceback is printed on stderr with the same id.
"""

import contextlib
import os
import sys
import traceback
from typing import TYPE_CHECKING, Any

from accord.errors import AccordError, ConnectionLost, RequestError, RequestFailed, StoreError
from accord.schema.codec import Invalid, encode

if TYPE_CHECKING:
    from accord.connection.dialect import Dialect

INTERNAL_ERROR = -32603
INVALID_PARAMS = -32602
# A pruned session does not exist any more; a session in use does not allow the request now.  Every
# other failure of a store is an internal error.
STORE_CODES = {"session_pruned": -32002, "session_in_use": -32056}


def error_for(error: BaseException, method: str) -> tuple[int, str, Any]:
    """Return the code, message and data of the answer."""
    match error:
        case RequestError():
            return error.code, error.message, error.data
        case Invalid():
            data = {"path": error.path, "reason": error.reason}
            return INVALID_PARAMS, f"Invalid params: {error.reason} at {error.path}", data
        case RequestFailed():
            # The peer's own error must not look as if this request were at fault.
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
    error: BaseException, method: str, dialect: "Dialect | None" = None
) -> tuple[int, str, bytes | None]:
    """Return the same with the data as JSON text; data that cannot be encoded is a bug."""
    code, message, data = error_for(error, method)
    if dialect:
        code, data = dialect.error_out(method, code, data)
    if data is None:
        return code, message, None
    try:
        return code, message, encode(data)
    except Exception as problem:  # noqa: BLE001 - whatever it was, the peer gets an answer
        code, message, data = unforeseen(problem, method)
        return code, message, encode(data)


def unforeseen(error: BaseException, method: str) -> tuple[int, str, Any]:
    """Report an exception on stderr and return an error that tells the peer only its id.

    Of a time-out it is also told that it was one: some dialects have a number for it.
    """
    correlation_id = os.urandom(8).hex()
    report(error, f"accord: error {correlation_id} while handling {method}")
    data = {"correlationId": correlation_id}
    if isinstance(error, TimeoutError):
        data["reason"] = "timeout"
    return INTERNAL_ERROR, "Internal error", data


def report(error: BaseException, heading: str) -> None:
    """Print an exception with its traceback on stderr, for the author of the handler."""
    from accord.machine.console.control_characters import visible
    from accord.machine.redacted_logs import log_redactor

    text = "".join(traceback.format_exception(error))
    # The peer gets its answer even if stderr is closed.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(visible(log_redactor().line(f"{heading}\n{text}")))
        sys.stderr.flush()

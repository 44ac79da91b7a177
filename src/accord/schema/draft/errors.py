"""Error codes of the 2026-02 draft.

The numbers overlap with the official versions and mean other things there: -32000 is a missing
session here and a missing login there.  A code must never cross between them unmapped.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """An error code, its name, and its meaning."""

    code: int
    name: str
    meaning: str


_ROWS = (
    ErrorCode(-32700, "parse_error", "the text is not JSON"),
    ErrorCode(-32600, "invalid_request", "the JSON is not a request"),
    ErrorCode(-32601, "method_not_found", "nobody handles the method"),
    ErrorCode(-32602, "invalid_params", "the parameters do not fit the method"),
    ErrorCode(-32603, "internal_error", "the peer failed for a reason of its own"),
    ErrorCode(-32000, "session_not_found", "there is no session of that id"),
    ErrorCode(-32001, "authentication_required", "log in first"),
    ErrorCode(-32002, "permission_denied", "the user said no"),
    ErrorCode(-32003, "operation_cancelled", "the work was cancelled"),
    ErrorCode(-32004, "resource_not_found", "there is no such file or resource"),
    ErrorCode(-32005, "resource_access_denied", "the resource is there and out of bounds"),
    ErrorCode(-32006, "invalid_session_state", "the session cannot do that now"),
    ErrorCode(-32007, "capability_not_supported", "a capability that this needs is missing"),
    ErrorCode(-32008, "rate_limited", "too many requests; wait and try again"),
    ErrorCode(-32009, "timeout", "the work took too long"),
)

CODES: dict[int, ErrorCode] = {row.code: row for row in _ROWS}

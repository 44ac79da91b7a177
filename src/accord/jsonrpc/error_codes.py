"""The error codes of JSON-RPC, of ACP, and our own, each with its short text.

Must not know: which method answers with which code, or the other meanings that the 2026-02 draft
gives to some of these numbers (`translate/` maps those).
Always holds: every constant here has an entry in `TEXTS`, and an unknown code still has a text.
"""

from __future__ import annotations

from typing import Final

# JSON-RPC 2.0
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603

# ACP
REQUEST_CANCELLED: Final = -32800
AUTH_REQUIRED: Final = -32000
RESOURCE_NOT_FOUND: Final = -32002
UNSUPPORTED_PROTOCOL_VERSION: Final = -32022

# Ours, in the range that ACP leaves to implementations.  Each travels with a `data.reason`, and
# peers should go by that reason first.
PERMISSION_DENIED: Final = -32052
ACCESS_DENIED: Final = -32055
INVALID_SESSION_STATE: Final = -32056
RATE_LIMITED: Final = -32058
TIMED_OUT: Final = -32059

TEXTS: Final[dict[int, str]] = {
    PARSE_ERROR: "Parse error",
    INVALID_REQUEST: "Invalid request",
    METHOD_NOT_FOUND: "Method not found",
    INVALID_PARAMS: "Invalid params",
    INTERNAL_ERROR: "Internal error",
    REQUEST_CANCELLED: "Request cancelled",
    AUTH_REQUIRED: "Authentication required",
    RESOURCE_NOT_FOUND: "Resource not found",
    UNSUPPORTED_PROTOCOL_VERSION: "Unsupported protocol version",
    PERMISSION_DENIED: "Permission denied",
    ACCESS_DENIED: "Access denied",
    INVALID_SESSION_STATE: "Invalid session state",
    RATE_LIMITED: "Rate limited",
    TIMED_OUT: "Timed out",
}


def text_of(code: int) -> str:
    """Return the short text of a code; unknown codes are generic errors."""
    return TEXTS.get(code, f"Error {code}")

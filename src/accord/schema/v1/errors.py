"""The JSON-RPC error object, where it appears inside messages."""

from typing import TypeAlias

from accord.schema.struct import UNSET, BareStruct, E, Int32, Omit, Raw

# The protocol names some codes and allows every other one.
ErrorCode: TypeAlias = Int32

ERROR_CODES: dict[str, int] = {
    "Parse error": -32700,
    "Invalid request": -32600,
    "Method not found": -32601,
    "Invalid params": -32602,
    "Internal error": -32603,
    "Request cancelled": -32800,
    "Authentication required": -32000,
    "Resource not found": -32002,
}


class Error(BareStruct, frozen=True, kw_only=True):
    """Why a request, or a piece of work, failed."""

    code: ErrorCode
    message: str
    data: E[Omit[Raw]] = UNSET

"""The error codes that rules name; those that only the draft has are in its checks."""

from __future__ import annotations

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
NO_METHOD = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
CANCELLED = -32800
LOGIN_NEEDED = -32000
NOT_FOUND = -32002
UNSUPPORTED_VERSION = -32022

# Codes in the range for implementations that the protocol itself uses.
TAKEN = frozenset({LOGIN_NEEDED, NOT_FOUND, UNSUPPORTED_VERSION})
# Codes of the official protocol that have no meaning in the draft.
OFFICIAL_ONLY = frozenset({UNSUPPORTED_VERSION, CANCELLED})

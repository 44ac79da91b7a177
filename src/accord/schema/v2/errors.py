"""The error object of v2 and the two shapes of `data` that the protocol itself defines.

Must not know: which request an error answers, and what our own exceptions are called.
"""

from typing import Literal, TypeAlias

from accord.schema.struct import UNSET, BareStruct, E, Int32, Omit, Raw, WireStruct
from accord.schema.v2.identifiers import ProtocolVersion, SessionId

# Any other int32 is legal too.
ErrorCode: TypeAlias = Int32
PredefinedErrorCode: TypeAlias = Literal[
    -32700, -32600, -32601, -32602, -32603, -32800, -32000, -32002, -32022
]

# Which shape it has depends on the code, so it stays JSON text until somebody has looked at that.
ErrorData: TypeAlias = Raw


class Error(BareStruct, frozen=True, kw_only=True):
    """What failed: the code decides, the message is one sentence for people."""

    code: ErrorCode
    message: str
    data: E[Omit[ErrorData]] = UNSET


class SessionNotFoundErrorData(WireStruct, frozen=True, kw_only=True):
    """`data` of -32002 when the resource that is missing is a session."""

    session_id: SessionId


class UnsupportedProtocolVersionErrorData(WireStruct, frozen=True, kw_only=True):
    """`data` of -32022: what was asked for, and what would have been possible."""

    requested: ProtocolVersion
    supported: list[ProtocolVersion]

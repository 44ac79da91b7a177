"""Stopping work: a session's turn, or one request."""

from accord.schema.struct import WireStruct
from accord.schema.v1.identifiers import RequestId


class CancelNotification(WireStruct, frozen=True, kw_only=True):
    """Stop the turn of a session; the prompt is answered with `cancelled`."""

    session_id: str


class CancelRequestNotification(WireStruct, frozen=True, kw_only=True):
    """Stop one request that the sender made; it is still answered."""

    request_id: RequestId

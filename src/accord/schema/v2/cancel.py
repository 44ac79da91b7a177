"""Cancelling: a session's foreground work, or one request of one's own.

Cancelling a tool call or a terminal stands with those.
"""

from accord.schema.struct import WireStruct
from accord.schema.v2.identifiers import RequestId, SessionId


class CancelSessionNotification(WireStruct, frozen=True, kw_only=True):
    """Stop the foreground work of a session and withdraw prompts that are still held."""

    session_id: SessionId


class CancelRequestNotification(WireStruct, frozen=True, kw_only=True):
    """The sender no longer needs the answer to a request that it made."""

    request_id: RequestId

"""JSON-RPC 2.0 and its framings, without I/O.

Start with `peer.py`; `events.py` is all that it can say, `framing.py` what is around frames.
"""

from accord.jsonrpc.envelope import NO_PARAMS, Id
from accord.jsonrpc.events import (
    Batch,
    BlankSkipped,
    CallAnswered,
    CallFailed,
    Event,
    FrameRejected,
    NotificationReceived,
    RequestReceived,
    SingleEvent,
    StrayAnswer,
)
from accord.jsonrpc.framing import (
    FRAME_BYTES_MAX,
    ContentLength,
    DetectedFraming,
    FrameTooLong,
    Framing,
    Lines,
    Splitter,
    detect,
    splitter_for,
)
from accord.jsonrpc.json_depth import DEPTH_MAX
from accord.jsonrpc.peer import PENDING_MAX, Peer

__all__ = [
    "DEPTH_MAX",
    "FRAME_BYTES_MAX",
    "NO_PARAMS",
    "PENDING_MAX",
    "Batch",
    "BlankSkipped",
    "CallAnswered",
    "CallFailed",
    "ContentLength",
    "DetectedFraming",
    "Event",
    "FrameRejected",
    "FrameTooLong",
    "Framing",
    "Id",
    "Lines",
    "NotificationReceived",
    "Peer",
    "RequestReceived",
    "SingleEvent",
    "Splitter",
    "StrayAnswer",
    "detect",
    "splitter_for",
]

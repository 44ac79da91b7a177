"""v2 as its first pages had it, served where `Agent(early_v2=True)` asks for it.

A prompt is answered when its turn is over, with the stop reason; everything else is today's v2.
"""

from __future__ import annotations

from accord.agent.serving.early_v2.wire import EarlyWire
from accord.agent.serving.v2.requests import V2Serving
from accord.agent.serving.wire import Features
from accord.agent.session.session import AgentSession
from accord.connection import IncomingRequest
from accord.errors import RequestError
from accord.schema import v2
from accord.schema.codec import encode, to_python
from accord.schema.struct import UNSET


class EarlyServing(V2Serving):
    """One client that was written to the first pages about v2."""

    def _wire(self, features: Features) -> EarlyWire:
        return EarlyWire(features)

    def _tell_withdrawn(self, request: IncomingRequest) -> None:
        request.settle(encode({"stopReason": "cancelled"}))

    def _tell_begun(self, request: IncomingRequest, message_id: str) -> None:
        """Nobody is answered yet."""

    def _tell_over(self, request: IncomingRequest, session: AgentSession) -> None:
        ended = session.state_update()
        if isinstance(ended.error, v2.Error):
            data = None if ended.error.data is UNSET else to_python(encode(ended.error.data))
            request.settle(RequestError(ended.error.code, ended.error.message, data))
        else:
            request.settle(encode({"stopReason": ended.stop_reason}))

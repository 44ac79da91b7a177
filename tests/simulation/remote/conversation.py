"""What is said over a remote connection, frame by frame: nothing lost, doubled or reordered.

Over WebSocket all frames have one order.  Over HTTP those of the client have one, and those of the
agent one for each stream: the connection's own, and one for each session.
"""

import json
from collections import deque
from typing import Any

from accord.transport.transport import Ended, Transport
from tests.simulation.event_log import Chronicle
from tests.simulation.frame_checks import Conversation, Watched
from tests.simulation.remote.network import Network
from tests.simulation.remote.plan import RemotePlan

# A cancelled turn ends within this, also if its client was away.
CANCEL_SECONDS = 150.0
# Limits below this are too short for a slow network.
HASTY_SECONDS = 5.0
# The ends that a client is told of, by a word of each.
_SAID = (
    "load the session",
    "lost",
    "no longer has",
    "not restored",
    "cannot connect",
    "did not",
    "limit",
    "waits",
)


class RemoteConversation(Conversation):
    """Guards: a frame arrives only where it is the next one."""

    def __init__(
        self, chronicle: Chronicle, name: str, network: Network, plan: RemotePlan, now: Any
    ) -> None:
        super().__init__(chronicle, name, now, "lines", plan.life.limits.pending_requests)
        self.cancel_seconds = CANCEL_SECONDS
        self._network = network
        self._plan = plan
        self._is_http = plan.transport != "websocket"
        # Frames on their way to the agent, and to the client by their stream.
        self._to_agent: deque[bytes] = deque()
        self._to_client: dict[str | None, deque[bytes]] = {}
        # The methods and sessions of the client's requests.
        self._scopes: dict[Any, str | None] = {}
        self._heard_by_agent: list[bytes] = []
        # Whether the client has an answer, so that the connection can be continued.
        self._is_begun = False
        self._agent: Watched | None = None
        # Whether this world itself closes the connection, and what the client was told.
        self.is_closing = False
        self.end: Ended | None = None

    # ---- both ends

    def agent_end(self, transport: Transport) -> Watched:
        """Watch a new connection at the server; one before it had nothing but a lost start."""
        if self._agent is not None:
            self._agent.muted = self._agent.is_stale = True
            self._start_again()
        self._agent = Watched(transport, self, "agent")
        return self._agent

    def _start_again(self) -> None:
        began = [json.loads(frame).get("method") for frame in self._heard_by_agent]
        if began and began != ["initialize"]:
            self._wrong(f"the client began again although {began} had been heard")
        self._to_agent.extendleft(reversed(self._heard_by_agent))
        self._heard_by_agent.clear()
        self._to_client.clear()
        for frame in self._to_agent:
            message = json.loads(frame)
            if "id" in message and "method" in message:
                self.open["client"][message["id"]] = message

    def client_ended(self, why: Ended) -> None:
        """The client is told that the connection is over."""
        self.end = why
        if self.is_closing or why.reason == "closed here":
            return
        self._chronicle.broken = True
        if self._plan.must_survive and self._is_begun:
            self._wrong(f"the connection must outlive this: {why.reason}")
        limits = self._plan.limits
        is_hasty = limits.grace_seconds < HASTY_SECONDS or limits.early_seconds < HASTY_SECONDS
        if not self._network.troubles and not is_hasty:
            self._wrong(f"nothing was done to the network, and yet: {why.reason}")
        if not any(word in why.reason for word in _SAID):
            self._wrong(f"the client is not told what was lost: {why.reason}")

    # ---- frames

    def _message(self, side: str, message: dict[str, Any]) -> None:
        frame = json.dumps(message).encode()
        if side == "client":
            self._to_agent.append(frame)
            if "method" in message and "id" in message:
                self._scopes[message["id"]] = self._scope_of(message)
        else:
            stream = self._stream_of(message) if self._is_http else None
            self._to_client.setdefault(stream, deque()).append(frame)
        if self._plan.dialect != "draft":
            super()._message(side, message)
            return
        other = "client" if side == "agent" else "agent"
        if "method" in message:
            if "id" in message:
                self.open[side][message["id"]] = message
        elif self.open[other].pop(message.get("id"), None) is None:
            self._wrong(f"the {side} answered twice or unasked: {frame[:200]!r}")

    def _scope_of(self, request: dict[str, Any]) -> str | None:
        params = request.get("params")
        if not isinstance(params, dict):
            return None
        session_id: str | None = params.get("sessionId")
        return session_id

    def _stream_of(self, message: dict[str, Any]) -> str | None:
        if "method" in message:
            params = message.get("params")
            return params.get("sessionId") if isinstance(params, dict) else None
        return self._scopes.get(message.get("id"))

    def took(self, side: str, data: bytes, is_behind: bool) -> None:
        """Frames are whole here: a remote transport never splits them."""
        self.arrived[side] += len(data)
        for line in data.splitlines():
            message = json.loads(line)
            frame = json.dumps(message).encode()
            self._is_begun = self._is_begun or side == "client"
            if side == "agent":
                expected = self._to_agent
                self._heard_by_agent.append(frame)
            else:
                stream = self._stream_of(message) if self._is_http else None
                expected = self._to_client.get(stream, deque())
            if not expected or expected[0] != frame:
                due = expected[0][:150] if expected else None
                self._wrong(f"the {side} received {line[:150]!r} where {due!r} was due")
            else:
                expected.popleft()
        if side == "agent" and self._plan.dialect != "draft":
            self._agent_hears(data, is_behind)

    def check_at_rest(self) -> None:
        """Everything that was sent has arrived, and nothing is open."""
        self.arrived = {"agent": len(self.sent["client"]), "client": len(self.sent["agent"])}
        super().check_at_rest()
        left = [frame[:150] for queue in self._to_client.values() for frame in queue]
        left += [frame[:150] for frame in self._to_agent]
        if left:
            self._wrong(f"at rest, {len(left)} frames have not arrived, the first is {left[0]!r}")


class WatchedClient(Watched):
    """The client's end."""

    def ended(self, why: Ended) -> None:
        """Tell what was said about it."""
        conversation = self._conversation
        assert isinstance(conversation, RemoteConversation)
        conversation.client_ended(why)
        super().ended(why)


__all__ = ["RemoteConversation", "WatchedClient"]

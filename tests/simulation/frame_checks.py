"""Sits between a connection and its transport and judges what passes, frame by frame.

What must hold of every conversation
    * What arrives is what was sent: in order, nothing lost while both ends live, nothing twice.
    * A request has one answer at most, and an answer has a request.
    * A request is refused over the bound only while so many are open before it, and one of them
      was taken back: whoever asks keeps the bound by itself, and forgets what it took back.
    * Nothing is said about a turn after its end; pieces of text are in order; states and the
      statuses of tool calls go the ways that the protocol has, and end with the turn.
"""

import json
import re
from collections.abc import Callable
from itertools import takewhile
from typing import Any

from anyio.abc import TaskGroup

from accord.connection import connection
from accord.transport.transport import Ended, Receiver, Transport
from tests.simulation.event_log import Chronicle, check_order, tokens_in

FINAL = frozenset({"completed", "failed", "cancelled"})
_RANK = {"pending": 0, "in_progress": 1, "paused": 1, **dict.fromkeys(FINAL, 2)}
# A cancelled turn ends within this, whatever its handler does: three seconds, and the time that a
# slow client takes for what was said before.
CANCEL_SECONDS = 12.0
_HEADER = re.compile(rb"Content-Length: ([0-9]+)\r\n\r\n")
_STATES = {
    "idle": ("idle", "running"),
    "running": ("running", "requires_action", "idle"),
    "requires_action": ("requires_action", "running", "idle"),
}


def split_lines(data: bytes) -> tuple[list[bytes], bytes]:
    """Whole frames, and the rest."""
    *lines, rest = data.split(b"\n")
    return lines, rest


def split_by_length(data: bytes) -> tuple[list[bytes], bytes]:
    """The same, where headers say how long a frame is."""
    frames: list[bytes] = []
    while (match := _HEADER.match(data)) is not None:
        end = match.end() + int(match.group(1))
        if end > len(data):
            break
        frames.append(data[match.end() : end])
        data = data[end:]
    return frames, data


class Told:
    """What an agent has told of one session on one connection."""

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self.statuses: dict[str, str] = {}
        # The prompt that a tool call belongs to; its title begins with it.
        self.owners: dict[str, str] = {}
        self.state = "idle"
        # Prompts that are open: their text by the id of their request.
        self.prompts: dict[Any, str] = {}
        self.prompted: list[str] = []
        self.over: set[str] = set()
        # In v2: those that the agent has answered, and whose work it has not ended.
        self.inserted: list[str] = []


class Conversation:
    """Both directions of one connection."""

    def __init__(
        self,
        chronicle: Chronicle,
        name: str,
        now: Callable[[], float],
        framing: str,
        pending_max: int,
    ) -> None:
        self._chronicle = chronicle
        self._pending_max = pending_max
        self._split = split_lines if framing == "lines" else split_by_length
        self._now = now
        self._unheard = b""
        self._heard: dict[str, list[str]] = {}
        self._name = name
        self.sent = {"agent": bytearray(), "client": bytearray()}
        self.arrived = {"agent": 0, "client": 0}
        self._rest = {"agent": b"", "client": b""}
        # Requests without an answer, by the side that sent them.
        self.open: dict[str, dict[Any, dict[str, Any]]] = {"agent": {}, "client": {}}
        self._asked: dict[str, set[Any]] = {"agent": set(), "client": set()}
        self._taken_back: dict[str, set[Any]] = {"agent": set(), "client": set()}
        self.told: dict[str, Told] = {}
        self.version = 0
        self.replaying: set[str] = set()
        self.frames = 0
        self.cancel_seconds = CANCEL_SECONDS
        # Told when so many have been sent.
        self.alarm: tuple[int, Callable[[], None]] | None = None

    def _wrong(self, what: str) -> None:
        self._chronicle.wrong(f"{self._name}: {what}")

    # ---- bytes

    def wrote(self, side: str, data: bytes) -> None:
        """One side sends."""
        self.sent[side] += data
        whole = self._rest[side] + bytes(data)
        frames, self._rest[side] = self._split(whole)
        for line in frames:
            self.frames += 1
            try:
                message = json.loads(line)
            except ValueError:
                self._wrong(f"the {side} sent no JSON: {line[:200]!r}")
                return
            self._message(side, message)
        if self.alarm is not None and self.frames >= self.alarm[0]:
            _, ring = self.alarm
            self.alarm = None
            ring()

    def took(self, side: str, data: bytes, is_behind: bool) -> None:
        """One side receives what the other sent; it may be behind with what came before."""
        other = "client" if side == "agent" else "agent"
        at = self.arrived[side]
        expected = self.sent[other][at : at + len(data)]
        if expected != data:
            self._wrong(f"the {side} received at {at} other bytes than were sent: {data[:200]!r}")
        self.arrived[side] += len(data)
        if side == "agent":
            self._agent_hears(data, is_behind)

    def _agent_hears(self, data: bytes, is_behind: bool) -> None:
        lines, self._unheard = self._split(self._unheard + data)
        # A large chunk is handled piece by piece, and what is known here is what the first does.
        at_once: int = 0 if is_behind else vars(connection)["FRAMES_AT_ONCE"]
        for number, line in enumerate(lines):
            if b'"session/prompt"' in line:
                params = json.loads(line)["params"]
                heard = self._heard.setdefault(params["sessionId"], [])
                heard.append(params["prompt"][0]["text"])
            elif b'"session/cancel"' in line and number < at_once:
                session_id = json.loads(line)["params"]["sessionId"]
                told = self.told.setdefault(session_id, Told())
                waiting = [one for one in self._heard.get(session_id, []) if one not in told.over]
                self._chronicle.cancel_came(waiting, self._now())

    def _ended(self, told: Told, text: str) -> None:
        """A turn is over; if it was cancelled, not too late."""
        told.over.add(text)
        at = self._chronicle.stopped_at.get(text)
        if at is not None and self._now() - at > self.cancel_seconds:
            self._wrong(f"{text} ended {self._now() - at:g} s after its cancel")

    # ---- messages

    def _message(self, side: str, message: dict[str, Any]) -> None:
        other = "client" if side == "agent" else "agent"
        if "method" in message:
            if "id" in message:
                self._request(side, message)
            elif message["method"] == "session/update":
                self._update(message["params"])
            elif message["method"] == "$/cancel_request":
                self._taken_back[side].add(message["params"]["requestId"])
            elif message["method"] == "session/cancel":
                stops = self._chronicle.stops
                session_id = message["params"]["sessionId"]
                stops[session_id] = stops.get(session_id, 0) + 1
                self._chronicle.first_stop.setdefault(session_id, self._now())
            return
        before = takewhile(lambda one: one != message.get("id"), self.open[other])
        self._check_refusal(other, message, set(before))
        request = self.open[other].pop(message.get("id"), None)
        if request is None:
            known = message.get("id") in self._asked[other]
            what = "answered twice" if known else "answered what was never asked"
            self._wrong(f"the {side} {what}: {json.dumps(message)[:200]}")
            return
        if request["method"] == "initialize":
            self.version = message.get("result", {}).get("protocolVersion", 0)
        elif request["method"] in ("session/load", "session/resume"):
            self.replaying.discard(request["params"]["sessionId"])
        elif request["method"] == "session/prompt":
            self._prompt_answered(request, message)

    def _check_refusal(self, asker: str, message: dict[str, Any], before: set[Any]) -> None:
        """An answer to one who asks; these requests came before it and are open."""
        data = message.get("error", {}).get("data")
        if not isinstance(data, dict) or data.get("reason") != "too_many_requests":
            return
        if len(before) < self._pending_max or not before & self._taken_back[asker]:
            what = f"{len(before)} are open, at most {self._pending_max}"
            self._wrong(f"a request of the {asker} was refused over the bound: {what}")

    def _request(self, side: str, message: dict[str, Any]) -> None:
        request_id = message["id"]
        if request_id in self._asked[side]:
            self._wrong(f"the {side} used the id {request_id} twice")
        self._asked[side].add(request_id)
        self.open[side][request_id] = message
        method, params = message["method"], message.get("params") or {}
        if method == "session/prompt":
            told = self.told.setdefault(params["sessionId"], Told())
            text = params["prompt"][0]["text"]
            told.prompts[request_id] = text
            told.prompted.append(text)
            told.over.discard(text)
            stopped = self._chronicle.stops.get(params["sessionId"], 0)
            if stopped > self._chronicle.stops_before.get(text, stopped):
                self._wrong(f"{text} was sent behind the cancel that was meant for it")
        elif method in ("session/load", "session/resume"):
            self.replaying.add(params["sessionId"])
            self.told.setdefault(params["sessionId"], Told())

    def _prompt_answered(self, request: dict[str, Any], message: dict[str, Any]) -> None:
        told = self.told[request["params"]["sessionId"]]
        text = told.prompts.pop(request["id"])
        if self.version == 1 or "error" in message:
            self._ended(told, text)
        else:
            told.inserted.append(text)
        if self.version == 1:
            own = [one for call, one in told.statuses.items() if told.owners.get(call) == text]
            if any(status not in FINAL for status in own):
                self._wrong(f"the turn {text} has ended, its tool calls have not: {own}")

    # ---- updates

    def _update(self, params: dict[str, Any]) -> None:
        told = self.told.setdefault(params["sessionId"], Told())
        if params["sessionId"] in self.replaying:
            return
        update = params["update"]
        match update["sessionUpdate"]:
            case "agent_message_chunk":
                self._said(told, [update["content"]])
            case "agent_message":
                self._said(told, update.get("content") or [])
            case "tool_call" | "tool_call_update":
                self._tool_call(told, update)
            case "state_update":
                self._state(told, update)

    def _said(self, told: Told, blocks: list[dict[str, Any]]) -> None:
        for block in blocks:
            for token in tokens_in(block.get("text", "")):
                told.tokens.append(token)
                key = token[1:].partition(".")[0]
                if key in told.over:
                    self._wrong(f"{token} was said after the end of its turn")
                elif self.version == 2 and told.state == "idle":
                    self._wrong(f"{token} was said while the session is idle")

    def _tool_call(self, told: Told, update: dict[str, Any]) -> None:
        status = update.get("status")
        before = told.statuses.get(update["toolCallId"])
        if before is None and "title" not in update:
            self._wrong(f"a tool call was patched before it was made: {update}")
        if "title" in update:
            told.owners.setdefault(update["toolCallId"], update["title"].partition(" ")[0])
        if status is None:
            return
        if before is not None and (before in FINAL or _RANK[status] < _RANK[before]):
            self._wrong(f"a tool call went from {before} to {status}")
        told.statuses[update["toolCallId"]] = status

    def _state(self, told: Told, update: dict[str, Any]) -> None:
        if update["state"] not in _STATES[told.state]:
            self._wrong(f"the state went from {told.state} to {update['state']}")
        if update["state"] == "idle" and told.state != "idle":
            left = [call for call, status in told.statuses.items() if status not in FINAL]
            if left:
                self._wrong(f"the session is idle and its tool calls {left} are not")
            if not update.get("stopReason"):
                self._wrong("an idle without a reason ended a turn")
            for text in told.inserted:
                self._ended(told, text)
            told.inserted.clear()
        told.state = update["state"]

    # ---- at rest

    def check_at_rest(self) -> None:
        """Nobody is doing anything, so nothing may be open."""
        for side, requests in self.open.items():
            for request in requests.values():
                self._wrong(f"the {side} got no answer to {json.dumps(request)[:300]}")
        for session_id, told in self.told.items():
            left = {call: one for call, one in told.statuses.items() if one not in FINAL}
            if left:
                self._wrong(f"at rest, with tool calls open in {session_id}: {left}")
            if told.state != "idle":
                self._wrong(f"at rest, and {session_id} is {told.state}")
        for side, other in (("agent", "client"), ("client", "agent")):
            if self.arrived[side] != len(self.sent[other]):
                lost = len(self.sent[other]) - self.arrived[side]
                self._wrong(f"at rest, {lost} bytes have not arrived at the {side}")

    def check_order(self) -> None:
        """Pieces of text are in the order in which they were made."""
        for told in self.told.values():
            check_order(self._chronicle, f"{self._name} on the wire", told.tokens)


class Watched:
    """A transport that tells a `Conversation` what passes."""

    def __init__(self, inner: Transport, conversation: Conversation, side: str) -> None:
        self.inner = inner
        self._conversation = conversation
        self._side = side
        self._receiver: Receiver | None = None
        # A process that is dead does not write.
        self.muted = False
        # Another connection has taken the place of this one.
        self.is_stale = False
        self._ended = 0

    @property
    def backlog(self) -> int:
        """Of the transport inside."""
        return self.inner.backlog

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """Begin."""
        self._receiver = receiver
        await self.inner.start(self, tasks)

    def write(self, data: bytes) -> None:
        """Note it and pass it on."""
        if not self.muted:
            self._conversation.wrote(self._side, data)
            self.inner.write(data)

    async def drain(self) -> None:
        """Of the transport inside."""
        await self.inner.drain()

    def pause(self) -> None:
        """Of the transport inside."""
        self.inner.pause()

    def resume(self) -> None:
        """Of the transport inside."""
        self.inner.resume()

    async def aclose(self) -> None:
        """Of the transport inside."""
        await self.inner.aclose()

    def data_received(self, data: bytes) -> None:
        """Note it and pass it on."""
        if self._ended:
            self._conversation._wrong("bytes came after the end")
        if not self.is_stale:
            self._conversation.took(self._side, data, bool(getattr(self._receiver, "_unread", ())))
        assert self._receiver is not None
        self._receiver.data_received(data)

    def ended(self, why: Ended) -> None:
        """Once."""
        self._ended += 1
        if self._ended > 1:
            self._conversation._wrong("the end was told twice")
        assert self._receiver is not None
        self._receiver.ended(why)

"""Plays one side of a recording to a program, and compares the program's messages.

The player waits for a recorded message of the other side if its own next message depends on it:
requests, answers, the end of a turn.  Other messages may arrive at any time; at the end all of them
are compared with the recording (`replay_comparison.py`).

Must not know pipes or processes: it gets a function to send and a function to receive.

What always holds
    * It never waits longer than `patience`, and answers every request.
    * New ids of the other side are used in the messages that it sends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from accord.schema.codec import encode
from accord.schema.method import CANCEL_REQUEST
from accord.tracing.frames import Frame, RequestMatcher, Speaker, read_frame
from accord.tracing.recording_file import Entry
from accord.tracing.replay_comparison import MessageLines, differences, generated_ids, renamed

NOT_RECORDED = -32601
_OTHER: dict[Speaker, Speaker] = {"client": "agent", "agent": "client"}

Receive = Callable[[float], "bytes | None"]
"""Waits this many seconds for a frame; None if none arrived, or none will."""


@dataclass(frozen=True, slots=True)
class Step:
    """One frame of the recording."""

    time: float
    speaker: Speaker
    raw: bytes
    frame: Frame
    answered: str | None


@dataclass
class Outcome:
    """The diff, empty if everything was as recorded, and why the replay stopped early."""

    diff: list[str] = field(default_factory=list)
    broken_off: str | None = None

    @property
    def same(self) -> bool:
        """Whether the other side behaved as recorded."""
        return not self.diff and self.broken_off is None


def script_of(entries: Iterable[Entry]) -> list[Step]:
    """Return the frames of a recording; answers have the method of their request."""
    pairing = RequestMatcher()
    steps: list[Step] = []
    for entry in entries:
        if entry.kind == "frame" and entry.speaker is not None:
            frame = read_frame(entry.raw)
            asked = pairing.pair(entry.number, entry.time, entry.speaker, frame)
            answered = asked.method if asked and frame.kind in ("answer", "error") else None
            steps.append(Step(entry.time, entry.speaker, entry.raw, frame, answered))
    return steps


class Player:
    """Plays a script once."""

    def __init__(
        self,
        script: list[Step],
        role: Speaker,
        *,
        send: Callable[[bytes], None],
        receive: Receive,
        wait: Callable[[float], None],
        speed: float = 0.0,
        patience: float = 30.0,
    ) -> None:
        """Create a player; `speed` 0 means no delays, 1 as recorded; `patience` is in seconds."""
        self._script = script
        self._ours: Speaker = role
        self._send, self._receive, self._wait = send, receive, wait
        self._speed, self._patience = speed, patience
        self._recorded, self._now = MessageLines(), MessageLines()
        self._inbox: list[Frame] = []
        self._ids: dict[str, Any] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._asked: dict[str, str] = {}

    def play(self) -> Outcome:
        """Play the whole script."""
        outcome = Outcome()
        before = self._script[0].time if self._script else 0.0
        for at, step in enumerate(self._script):
            if step.speaker != self._ours:
                self._recorded.take(step.frame, step.raw, step.answered)
                if outcome.broken_off is None and self._gates(step.frame):
                    outcome.broken_off = self._meet(step, self._script[at + 1 :])
            elif outcome.broken_off is None:
                if self._speed > 0:
                    self._wait(max(0.0, step.time - before) / self._speed)
                outcome.broken_off = self._say(step)
            before = step.time
        return outcome

    def finish(self, outcome: Outcome) -> Outcome:
        """Take the last messages of the other side, and make the diff."""
        while (raw := self._receive(0.0)) is not None:
            self._arrived(raw, [])
        outcome.diff = list(differences(self._recorded, self._now))
        return outcome

    def rest(self, seconds: float) -> None:
        """Keep answering until nothing arrives for this time."""
        while (raw := self._receive(seconds)) is not None:
            self._arrived(raw, [])

    # ---- receiving

    def _gates(self, frame: Frame) -> bool:
        """Whether our next message may depend on this frame."""
        if frame.kind in ("request", "answer", "error"):
            return True
        if frame.kind != "notification":
            return False
        if self._ours == "agent":
            return True
        update = frame.update
        return update is not None and update[0] == "state_update" and "state" in update[1]

    def _meet(self, step: Step, later: list[Step]) -> str | None:
        """Wait for the message of a step; return a sentence if it does not arrive."""
        found = next((one for one in self._inbox if self._matches(step.frame, one)), None)
        while found is None:
            raw = self._receive(self._patience)
            if raw is None:
                return f"timed out waiting for {self._described(step)}"
            arrived = self._arrived(raw, [step, *later])
            if arrived is not None and self._matches(step.frame, arrived):
                found = arrived
        self._met(step.frame, found)
        return None

    def _met(self, recorded: Frame, frame: Frame) -> None:
        self._inbox.remove(frame)
        if recorded.kind == "request":
            self._ids[repr(recorded.id)] = frame.id
        for key, then, now in generated_ids(recorded.message, frame.message):
            self._names[key, then] = now

    def _arrived(self, raw: bytes, expected: list[Step]) -> Frame | None:
        """Take a frame; refuse a request that the recording does not have, so nothing hangs."""
        frame = read_frame(raw)
        answered = self._asked.get(repr(frame.id)) if frame.kind in ("answer", "error") else None
        self._now.take(frame, raw, answered)
        if frame.kind == "request" and not any(
            step.speaker != self._ours and step.frame.method == frame.method for step in expected
        ):
            error = {"code": NOT_RECORDED, "message": "not in the recording"}
            self._try_send({"jsonrpc": "2.0", "id": frame.id, "error": error})
            return None
        self._inbox.append(frame)
        return frame

    def _matches(self, recorded: Frame, frame: Frame) -> bool:
        if recorded.kind in ("answer", "error"):
            return frame.kind in ("answer", "error") and frame.id == recorded.id
        if frame.kind != recorded.kind or frame.method != recorded.method:
            return False
        session = recorded.session_id
        if session is not None and frame.session_id is not None:
            known = self._names.get(("sessionId", session))
            if known is not None and known != frame.session_id:
                return False
        then, now = recorded.update, frame.update
        if then is None or now is None:
            return then is now
        return then[0] == now[0] and then[1].get("state") == now[1].get("state")

    def _described(self, step: Step) -> str:
        frame = step.frame
        if step.answered is not None:
            return f"the answer to {step.answered}"
        update = frame.update
        return f"the {frame.kind} {frame.method if update is None else update[0]}"

    # ---- sending

    def _say(self, step: Step) -> str | None:
        frame = step.frame
        if frame.kind in ("noise", "batch", "blank"):
            return self._try_raw(step.raw)
        message: dict[str, Any] = renamed(dict(frame.message), self._names)
        if frame.kind == "request":
            self._asked[repr(frame.id)] = frame.method or ""
        elif frame.kind in ("answer", "error") and repr(frame.id) in self._ids:
            message["id"] = self._ids.pop(repr(frame.id))
        elif frame.method == CANCEL_REQUEST and isinstance(message.get("params"), dict):
            params = message["params"]
            if self._ours == "agent" and repr(params.get("requestId")) in self._ids:
                params["requestId"] = self._ids[repr(params.get("requestId"))]
        return self._try_send(message)

    def _try_send(self, message: dict[str, Any]) -> str | None:
        return self._try_raw(encode(message))

    def _try_raw(self, raw: bytes) -> str | None:
        try:
            self._send(raw)
        except OSError as error:
            return f"the {_OTHER[self._ours]} does not accept more data: {error.strerror}"
        return None

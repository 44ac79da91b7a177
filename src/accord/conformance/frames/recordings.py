"""Recordings for tests: their frames, and one side played again.

Reads the files of `accord record`.  Must not know: the recorder.  A line that cannot be read is
left out; a file that is not a recording is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from accord.conformance.frames.error_codes import NO_METHOD
from accord.conformance.frames.raw_peer import Message, RawPeer, Reply

Side = Literal["client", "agent"]


class NotARecording(Exception):
    """The file was not made by `accord record`."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The messages of a recording in their order, each with its sender."""

    messages: tuple[tuple[Side, Message], ...]

    def of(self, side: Side, method: str | None = None) -> list[Message]:
        """Return the messages of one side, with this method if one is given."""
        return [
            message
            for speaker, message in self.messages
            if speaker == side and (method is None or message.get("method") == method)
        ]

    def answers(self, side: Side) -> dict[str, list[Message]]:
        """Return the answers of one side in order, by the method of the request."""
        asked: dict[str, str] = {}
        found: dict[str, list[Message]] = {}
        for speaker, message in self.messages:
            key = json.dumps(message.get("id"))
            if "method" in message:
                if speaker != side and "id" in message:
                    asked[key] = str(message["method"])
            elif speaker == side and key in asked:
                found.setdefault(asked.pop(key), []).append(message)
        return found


def read_recorded(path: str | Path) -> Recorded:
    """Read the messages of a file.

    Raises:
        NotARecording: it is not a recording.
    """
    head, *lines = Path(path).read_text("utf-8", "replace").splitlines() or [""]
    if _object(head).get("format") != "accord-recording":
        raise NotARecording(f"{path} is not a recording of accord record")
    return Recorded(tuple(_messages(lines)))


def _messages(lines: list[str]) -> Iterator[tuple[Side, Message]]:
    for line in lines:
        entry = _object(line)
        speaker, frame = entry.get("from"), entry.get("frame")
        if (speaker == "client" or speaker == "agent") and isinstance(frame, str):
            message = _object(frame)
            if message:
                yield speaker, message


def _object(text: str) -> Message:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


async def play_client(recorded: Recorded, peer: RawPeer) -> list[Message]:
    """Play the client of a recording to an agent, and return the agent's answers.

    Requests wait for their answers.  What the agent asks is answered as it was then, in the order
    of its requests per method.  Sessions have new names now: they are put in place of the old ones.

    Raises:
        Unanswered: the agent did not answer in time, or is gone.
    """
    old_names = _session_names(recorded)
    names: dict[str, str] = {}
    _answer_as_recorded(recorded, peer)
    came: list[Message] = []
    for message in recorded.of("client"):
        method = message.get("method")
        if not isinstance(method, str):
            continue
        params = _renamed(message.get("params"), names)
        if "id" not in message:
            await peer.notify(method, params)
            continue
        answer = await peer.call(method, params)
        came.append(answer)
        made = answer.get("result")
        if method == "session/new" and isinstance(made, dict) and old_names:
            names[old_names.pop(0)] = str(made.get("sessionId"))
    return came


def _session_names(recorded: Recorded) -> list[str]:
    made = recorded.answers("agent").get("session/new", [])
    results = [one.get("result") for one in made]
    return [str(one.get("sessionId")) for one in results if isinstance(one, dict)]


def _answer_as_recorded(recorded: Recorded, peer: RawPeer) -> None:
    for method, answers in recorded.answers("client").items():
        waiting = list(answers)

        async def respond(_params: Message, waiting: list[Message] = waiting) -> Reply | None:
            if not waiting:
                return Reply.refused(NO_METHOD, "the recording has no further answer")
            answer = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            return Reply(answer.get("result"), answer.get("error"))

        peer.responders[method] = respond


def _renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {
            key: names.get(one, one)
            if key == "sessionId" and isinstance(one, str)
            else _renamed(one, names)
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [_renamed(one, names) for one in value]
    return value

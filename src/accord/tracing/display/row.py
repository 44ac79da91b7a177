"""One row of a displayed recording, and the texts in it.

Must not know how rows are made; see `timeline.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from accord.tracing.frames import Frame
from accord.tracing.validation.validator import Problem

RowKind = Literal[
    "turn",
    "call",
    "permission",
    "stream",
    "tool",
    "terminal",
    "update",
    "note",
    "answer",
    "stderr",
    "noise",
    "gap",
    "end",
]

TITLE_CHARACTERS_MAX = 300
FINAL = frozenset({"completed", "failed", "cancelled", "denied"})


@dataclass(slots=True)
class Row:
    """An event of the recording with all of its frames.

    It grows while the recording is read: `frames` are the numbers of its entries, `end` is None
    while it is open, `steps` are the statuses of a tool call with their times.
    """

    index: int
    kind: RowKind
    start: float
    speaker: str | None = None
    session: str | None = None
    method: str | None = None
    title: str = ""
    status: str = ""
    end: float | None = None
    turn: int | None = None
    frames: list[int] = field(default_factory=list)
    steps: list[tuple[float, str]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def seconds(self) -> float | None:
        """The duration; None while the row is open."""
        return None if self.end is None else max(0.0, self.end - self.start)

    def extend_title(self, text: str) -> None:
        """Append text of a stream."""
        if len(self.title) < TITLE_CHARACTERS_MAX:
            self.title = one_line(self.title + text)


def one_line(text: str) -> str:
    """Return the beginning of a text on one line."""
    text = text[: 2 * TITLE_CHARACTERS_MAX].replace("\n", " ")
    return text if len(text) <= TITLE_CHARACTERS_MAX else f"{text[: TITLE_CHARACTERS_MAX - 1]}…"


def text_of(content: Any) -> str:
    """Return the text of content blocks at any depth."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(map(text_of, content))
    if isinstance(content, dict):
        kind, text = content.get("type"), content.get("text")
        if isinstance(text, str):
            return text
        if isinstance(content.get("content"), dict | list | str):
            return text_of(content["content"])
        if kind == "resource_link":
            return f"[{content.get('uri') or content.get('name')}]"
        return f"[{kind}]" if isinstance(kind, str) else ""
    return ""


def describe_request(frame: Frame) -> str:
    """Describe a request in a few words."""
    params = frame.params
    for key in ("path", "command", "title", "message", "cwd", "modeId", "configId", "uri"):
        value = params.get(key)
        if isinstance(value, str):
            words = [value, *_strings(params.get("args"))]
            return one_line(" ".join(words))
    call = params.get("toolCall")
    if isinstance(call, dict):
        return one_line(str(call.get("title") or call.get("toolCallId") or ""))
    for key in ("protocolVersion", "terminalId", "toolCallId", "requestId", "methodId"):
        if key in params:
            return one_line(f"{key} {params[key]}")
    return ""


def describe_answer(frame: Frame) -> str:
    """Describe an answer in a few words."""
    if frame.kind == "error":
        error = frame.message.get("error")
        if isinstance(error, dict):
            return one_line(f"error {error.get('code')}: {error.get('message')}")
        return "error"
    result = frame.result
    outcome = result.get("outcome")
    if isinstance(outcome, dict):
        return one_line(str(outcome.get("optionId") or outcome.get("outcome") or ""))
    if isinstance(result.get("granted"), bool):
        return "granted" if result["granted"] else "denied"
    for key in ("stopReason", "action", "terminalId", "exitCode", "sessionId", "protocolVersion"):
        if isinstance(result.get(key), str | int):
            return one_line(f"{result[key]}" if key != "exitCode" else f"exit {result[key]}")
    return "ok"


def describe_update(kind: str, update: Mapping[str, Any]) -> str:
    """Describe an update that is neither a chunk nor a tool call."""
    for key in ("state", "currentModeId", "modeId", "title", "message", "status"):
        value = update.get(key)
        if isinstance(value, str):
            extra = update.get("stopReason")
            return one_line(f"{value} ({extra})" if isinstance(extra, str) else value)
    entries = update.get("entries", update.get("steps"))
    if isinstance(entries, list):
        done = sum(isinstance(one, dict) and one.get("status") == "completed" for one in entries)
        return f"{done} of {len(entries)} done"
    commands = update.get("availableCommands", update.get("commands"))
    if isinstance(commands, list):
        return f"{len(commands)} commands"
    return one_line(text_of(update.get("content")))


def _strings(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []

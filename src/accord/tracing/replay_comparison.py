"""Turns the messages of one side into lines that can be compared with a recording.

Generated ids (of sessions, tool calls, terminals, messages) are numbered in the order of their
first use, times and `_meta` are omitted, and a stream of chunks is one text, so that two runs of
the same program are equal.

Must not know connections.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator
from typing import Any

from accord.machine.redaction.secret_patterns import MARK
from accord.tracing.display.row import text_of
from accord.tracing.frames import Frame

GENERATED = frozenset(
    {
        "sessionId",
        "toolCallId",
        "terminalId",
        "messageId",
        "planId",
        "elicitationId",
        "requestId",
    }
)
OMITTED = frozenset({"_meta", "timestamp", "createdAt", "updatedAt"})


class MessageLines:
    """The lines of one side.  Guards: a generated id gets one number."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}
        self._blocks: list[list[str]] = []
        self._stream: tuple[str, str] | None = None
        self._text = ""

    def take(self, frame: Frame, raw: bytes, answered: str | None = None) -> None:
        """Add a frame; `answered` is the method of the request that it answers."""
        update = frame.update
        if update is not None and update[0].endswith("message_chunk"):
            key = (update[0], self._name("sessionId", frame.session_id or ""))
            if self._stream != key:
                self._close()
                self._stream = key
            self._text += text_of(update[1].get("content", update[1].get("text")))
            return
        if frame.kind == "blank":
            return
        self._close()
        if frame.kind in ("noise", "batch"):
            self._blocks.append([frame.kind, f"  {raw.decode('utf-8', 'replace')}"])
            return
        name = f"{frame.kind} to {answered}" if answered else f"{frame.kind} {frame.method or ''}"
        content = {
            key: value
            for key, value in frame.message.items()
            if key not in ("jsonrpc", "id", "method")
        }
        text = json.dumps(self._plain("", content), indent=2, sort_keys=True, ensure_ascii=False)
        self._blocks.append([name.strip(), *(f"  {line}" for line in text.splitlines())])

    def lines(self) -> list[str]:
        self._close()
        return [line for block in self._blocks for line in block]

    def _close(self) -> None:
        if self._stream is not None:
            kind, session = self._stream
            lines = (f"  {line}" for line in self._text.splitlines() or [""])
            self._blocks.append([f"{kind} in {session}", *lines])
            self._stream, self._text = None, ""

    def _plain(self, key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {
                name: self._plain(name, member)
                for name, member in value.items()
                if name not in OMITTED
            }
        if isinstance(value, list):
            return [self._plain(key, item) for item in value]
        if key in GENERATED and isinstance(value, str | int):
            return self._name(key, str(value))
        return value

    def _name(self, key: str, value: str) -> str:
        name = self._names.get((key, value))
        if name is None:
            self._counts[key] = self._counts.get(key, 0) + 1
            name = self._names[key, value] = f"{key} {self._counts[key]}"
        return name


def differences(recorded: MessageLines, now: MessageLines) -> Iterator[str]:
    """Yield a unified diff; a removed secret in the recording equals anything."""
    before, after = recorded.lines(), now.lines()
    before, after = _without_redacted(before, after)
    yield from difflib.unified_diff(before, after, "recorded", "now", lineterm="")


def _without_redacted(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    """Replace recorded lines with a removed secret by the lines that match them now."""
    if not any(MARK in line for line in before):
        return before, after
    changed = list(before)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag == "replace" and i_end - i == j_end - j:
            for offset in range(i_end - i):
                if _fits(before[i + offset], after[j + offset]):
                    changed[i + offset] = after[j + offset]
    return changed, after


def _fits(pattern: str, line: str) -> bool:
    """Whether a line matches a recorded one, with any text for a removed secret."""
    parts = pattern.split(MARK)
    if len(parts) == 1 or not line.startswith(parts[0]) or not line.endswith(parts[-1]):
        return False
    at = len(parts[0])
    for part in parts[1:-1]:
        at = line.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return at <= len(line) - len(parts[-1])


def generated_ids(recorded: Any, now: Any, key: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield generated ids in two values: the key, the recorded id, the current id."""
    if isinstance(recorded, dict) and isinstance(now, dict):
        for name, member in recorded.items():
            if name in now:
                yield from generated_ids(member, now[name], name)
    elif isinstance(recorded, list) and isinstance(now, list):
        for one, other in zip(recorded, now, strict=False):
            yield from generated_ids(one, other, key)
    elif _is_name(key) and isinstance(recorded, str) and isinstance(now, str):
        yield key, recorded, now


def renamed(value: Any, names: dict[tuple[str, str], str], key: str = "") -> Any:
    """Return a value with the ids that are in use now."""
    if isinstance(value, dict):
        return {name: renamed(member, names, name) for name, member in value.items()}
    if isinstance(value, list):
        return [renamed(item, names, key) for item in value]
    if isinstance(value, str) and _is_name(key):
        return names.get((key, value), value)
    return value


def _is_name(key: str) -> bool:
    return key in GENERATED or key == "optionId"


def lines_of(frames: Iterable[tuple[Frame, bytes, str | None]]) -> MessageLines:
    """Return the lines of all frames of one side."""
    lines = MessageLines()
    for frame, raw, answered in frames:
        lines.take(frame, raw, answered)
    return lines

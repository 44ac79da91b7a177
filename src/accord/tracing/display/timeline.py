"""Turns the entries of a recording into rows: a request with its answer, a stream, a tool call.

Must not know how rows are shown.

What always holds
    * Every entry belongs to exactly one row; rows are in the order of their first entries.
    * The work per entry does not grow with the recording.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from accord.tracing.display.row import (
    FINAL,
    Row,
    RowKind,
    describe_answer,
    describe_request,
    describe_update,
    one_line,
    text_of,
)
from accord.tracing.frames import Frame, OpenRequest, RequestMatcher, read_frame
from accord.tracing.recording_file import Entry
from accord.tracing.validation.validator import Problem, Validator

_USER_REQUESTS = frozenset({"session/request_permission", "elicitation/create"})
_TOOL_UPDATES = frozenset({"tool_call", "tool_call_update", "tool_call_content_chunk"})


@dataclass
class _Open:
    """The open rows of one session."""

    last: Row | None = None
    stream: tuple[object, ...] | None = None
    turn: Row | None = None
    tools: dict[str, Row] = field(default_factory=dict)
    terminals: dict[str, Row] = field(default_factory=dict)


class Timeline:
    """The rows and problems of all entries so far."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.problems: list[Problem] = []
        self.sessions: list[str] = []
        self._validator = Validator()
        self._pairing = RequestMatcher()
        self._asked: dict[int, Row] = {}
        self._session: dict[str | None, _Open] = {}
        self._stderr: Row | None = None

    @property
    def dialect(self) -> str:
        """The dialect of the conversation."""
        return self._validator.dialect

    def feed(self, entry: Entry) -> Row:
        """Take an entry; return the row that it created or extended."""
        if entry.kind == "stderr":
            return self._take_stderr(entry)
        self._stderr = None
        if entry.kind != "frame" or entry.speaker is None:
            return self._take_event(entry)
        frame = read_frame(entry.raw)
        row = self._take_frame(entry, frame)
        row.frames.append(entry.number)
        found = self._validator.judge(entry.number, entry.time, entry.speaker, entry.raw, frame)
        if found:
            row.problems += found
            self.problems += found
        return row

    def _add(self, kind: RowKind, entry: Entry, **facts: Any) -> Row:
        row = Row(len(self.rows), kind, entry.time, entry.speaker, **facts)
        self.rows.append(row)
        state = self._session.get(row.session)
        if state is not None:
            if state.turn is not None and kind != "turn":
                row.turn = state.turn.index
            state.last, state.stream = row, None
        return row

    def _state(self, session: str | None) -> _Open:
        state = self._session.get(session)
        if state is None:
            state = self._session[session] = _Open()
            if session is not None:
                self.sessions.append(session)
        return state

    # ---- other entries

    def _take_stderr(self, entry: Entry) -> Row:
        text = entry.raw.decode("utf-8", "replace")
        row = self._stderr
        if row is None:
            row = self._stderr = self._add("stderr", entry, title=one_line(text))
        else:
            row.extend_title(f" {text}")
        row.end = entry.time
        row.frames.append(entry.number)
        return row

    def _take_event(self, entry: Entry) -> Row:
        detail = entry.detail
        if entry.kind == "end":
            how = detail.get("signal") or f"exit code {detail.get('code')}"
            row = self._add("end", entry, title=f"the agent exited: {how}")
        elif entry.kind == "gap":
            title = f"{detail.get('bytes')} bytes of {detail.get('from')} are missing"
            row = self._add("gap", entry, title=one_line(f"{title}: {detail.get('why')}"))
        else:
            title = f"unreadable line: {detail.get('why')}"
            row = self._add("gap", entry, title=one_line(title))
        row.end = entry.time
        row.frames.append(entry.number)
        return row

    # ---- frames

    def _take_frame(self, entry: Entry, frame: Frame) -> Row:
        assert entry.speaker is not None
        if frame.kind == "batch" and frame.entries and self._validator.takes_arrays:
            *rows, last = [self._take_frame(entry, part) for part in frame.entries]
            for one in rows:
                if one is not last and entry.number not in one.frames:
                    one.frames.append(entry.number)
            return last
        asked = self._pairing.pair(entry.number, entry.time, entry.speaker, frame)
        if asked is not None and frame.kind == "request":
            return self._take_request(entry, frame, asked)
        if frame.kind in ("answer", "error"):
            row = None if asked is None else self._asked.pop(asked.serial, None)
            return self._take_answer(entry, frame, row)
        if frame.kind == "notification":
            return self._take_notification(entry, frame)
        title = frame.why or "an array" if frame.kind != "blank" else "a blank line"
        text = one_line(entry.raw.decode("utf-8", "replace"))
        return self._add("noise", entry, title=text or title, status=title, end=entry.time)

    def _take_request(self, entry: Entry, frame: Frame, asked: OpenRequest) -> Row:
        session, method = frame.session_id, frame.method
        state = self._state(session)
        kind: RowKind = "permission" if method in _USER_REQUESTS else "call"
        title = describe_request(frame)
        if method == "session/prompt":
            kind = "turn"
            title = one_line(text_of(frame.params.get("prompt", frame.params.get("content"))))
        row = self._add(kind, entry, session=session, method=method, title=title)
        if kind == "turn" and state.turn is None:
            state.turn = row
        self._asked[asked.serial] = row
        return row

    def _take_answer(self, entry: Entry, frame: Frame, row: Row | None) -> Row:
        if row is None:
            title = describe_answer(frame)
            return self._add("answer", entry, title=title, status="no such request", end=entry.time)
        row.status = describe_answer(frame)
        if row.session is None and frame.session_id is not None:
            row.session = frame.session_id
            self._state(frame.session_id)
        state = self._state(row.session)
        if row.kind == "turn" and frame.kind == "answer" and "stopReason" not in frame.result:
            # In v2 this only accepts the prompt; the turn ends with the idle state.
            row.status = "accepted"
        else:
            row.end = entry.time
            if state.turn is row:
                state.turn = None
        state.stream = None
        return row

    def _take_notification(self, entry: Entry, frame: Frame) -> Row:
        update = frame.update
        session = frame.session_id
        if update is None:
            row = self._add("note", entry, session=session, method=frame.method, end=entry.time)
            row.title = describe_request(frame)
            return row
        kind, content = update
        state = self._state(session)
        if kind in _TOOL_UPDATES:
            return self._take_tool(entry, session, state, kind, content)
        if kind in ("terminal_update", "terminal_output_chunk"):
            return self._take_terminal(entry, session, state, content)
        if kind.endswith("_chunk"):
            return self._take_chunk(entry, session, state, kind, content)
        row = self._add("update", entry, session=session, method=kind, end=entry.time)
        row.title = describe_update(kind, content)
        if kind == "state_update" and content.get("state") == "idle" and state.turn is not None:
            state.turn.end = entry.time
            reason = content.get("stopReason")
            state.turn.status = reason if isinstance(reason, str) else "idle"
            state.turn = None
        return row

    def _take_chunk(
        self, entry: Entry, session: str | None, state: _Open, kind: str, content: Mapping[str, Any]
    ) -> Row:
        key = (kind, str(content.get("messageId")))
        row = state.last
        if row is None or state.stream != key:
            row = self._add("stream", entry, session=session, method=kind)
            state.stream = key
        row.extend_title(text_of(content.get("content", content.get("text"))))
        row.end = entry.time
        return row

    def _take_tool(
        self, entry: Entry, session: str | None, state: _Open, kind: str, content: Mapping[str, Any]
    ) -> Row:
        call_id = str(content.get("toolCallId", content.get("id")))
        row = state.tools.get(call_id)
        if row is None:
            row = self._add("tool", entry, session=session, method="tool_call", title=call_id)
            row.status = "pending" if kind != "tool_call_content_chunk" else ""
            row.steps.append((entry.time, row.status))
            state.tools[call_id] = row
        state.stream = None
        title, status = content.get("title", content.get("name")), content.get("status")
        if isinstance(title, str) and title:
            row.title = one_line(title)
        if isinstance(status, str):
            if status != row.status:
                row.steps.append((entry.time, one_line(status)))
            row.status = one_line(status)
            row.end = entry.time if status in FINAL else None
        return row

    def _take_terminal(
        self, entry: Entry, session: str | None, state: _Open, content: Mapping[str, Any]
    ) -> Row:
        terminal_id = str(content.get("terminalId"))
        row = state.terminals.get(terminal_id)
        if row is None:
            row = self._add("terminal", entry, session=session, method="terminal")
            row.title = terminal_id
            state.terminals[terminal_id] = row
        state.stream = None
        command, status = content.get("command"), content.get("exitStatus")
        if isinstance(command, str):
            row.title = one_line(command)
        if isinstance(status, dict):
            row.status = f"exit {status.get('exitCode', status.get('signal'))}"
            row.end = entry.time
        return row


def timeline_of(entries: Iterable[Entry]) -> Timeline:
    """Return the timeline of all entries."""
    timeline = Timeline()
    for entry in entries:
        timeline.feed(entry)
    return timeline

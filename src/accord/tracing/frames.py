"""Classifies frames: request, notification, answer, or not JSON-RPC at all.

Must not know files, clocks or rows.

What always holds
    * Any bytes give a `Frame`; bytes that cannot be read are of the kind `noise`, with a reason.
    * An answer and its request have the same `pair`, the number of the request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from accord.schema.codec import Invalid, to_python
from accord.schema.method import SESSION_UPDATE

Speaker = Literal["client", "agent"]
Kind = Literal["request", "notification", "answer", "error", "batch", "noise", "blank"]

OPEN_MAX = 4096
"""Open requests of one side; beyond that the oldest is forgotten."""

ENTRIES_MAX = 1024
"""How many entries of an array are read."""

_NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Frame:
    """One parsed frame.

    `message` is the plain value of an object; `why` is the reason for `noise`.  `entries` are the
    entries of an array, which is of the kind `batch`.
    """

    kind: Kind
    method: str | None = None
    id: Any = None
    message: Mapping[str, Any] = field(default_factory=dict)
    why: str | None = None
    entries: tuple[Frame, ...] = ()

    @property
    def params(self) -> Mapping[str, Any]:
        """The params, or {} if they are not an object."""
        params = self.message.get("params")
        return params if isinstance(params, dict) else _NOTHING

    @property
    def result(self) -> Mapping[str, Any]:
        """The result, or {} if it is not an object."""
        result = self.message.get("result")
        return result if isinstance(result, dict) else _NOTHING

    @property
    def session_id(self) -> str | None:
        """The session id in the params or the result."""
        for source in (self.params, self.result):
            session_id = source.get("sessionId")
            if isinstance(session_id, str):
                return session_id
        return None

    @property
    def update(self) -> tuple[str, Mapping[str, Any]] | None:
        """The kind and the content of a `session/update`, in any version."""
        if self.method != SESSION_UPDATE:
            return None
        params = self.params
        update = params.get("update")
        if isinstance(update, dict):
            kind = update.get("sessionUpdate")
            return (kind, update) if isinstance(kind, str) else None
        kind, data = params.get("type"), params.get("data")
        return (kind, data) if isinstance(kind, str) and isinstance(data, dict) else None


_BLANK = Frame("blank")


def read_frame(raw: bytes) -> Frame:
    """Parse and classify a frame."""
    try:
        value = to_python(raw)
    except Invalid:
        if not raw.strip():
            return _BLANK
        return Frame("noise", why=_why_not_json(raw))
    if isinstance(value, list):
        return Frame("batch", entries=tuple(map(_read_value, value[:ENTRIES_MAX])))
    return _read_value(value)


def _read_value(value: Any) -> Frame:
    if not isinstance(value, dict):
        return Frame("noise", why="JSON, but not an object")
    method, has_id = value.get("method"), "id" in value
    if isinstance(method, str) and "result" not in value and "error" not in value:
        if has_id:
            return Frame("request", method, value["id"], value)
        return Frame("notification", method, None, value)
    if "error" in value:
        return Frame("error", None, value.get("id"), value)
    if "result" in value:
        return Frame("answer", None, value.get("id"), value)
    return Frame("noise", None, value.get("id"), value, "neither a request nor an answer")


def _why_not_json(raw: bytes) -> str:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return "not UTF-8"
    return "not JSON"


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """A request that is not answered yet.

    `number` is that of its frame, which requests of one array share; `serial` is unique.
    """

    number: int
    method: str
    time: float
    session_id: str | None
    serial: int = 0


class RequestMatcher:
    """Finds the request of each answer.  Guards: a request is answered once."""

    def __init__(self) -> None:
        self._open: dict[Speaker, dict[object, OpenRequest]] = {"client": {}, "agent": {}}
        self._count = 0

    def pair(self, number: int, time: float, speaker: Speaker, frame: Frame) -> OpenRequest | None:
        """Return the request that this frame is or answers; None for other frames."""
        if frame.kind == "request":
            return self._ask(number, time, speaker, frame)
        if frame.kind in ("answer", "error"):
            asked = self._open["agent" if speaker == "client" else "client"]
            return asked.pop(_key(frame.id), None)
        return None

    def is_open(self, speaker: Speaker, request_id: object) -> bool:
        """Whether a request of this side and id waits for its answer."""
        return _key(request_id) in self._open[speaker]

    def open_requests(self, speaker: Speaker) -> tuple[OpenRequest, ...]:
        """Return the open requests of this side, oldest first."""
        return tuple(self._open[speaker].values())

    def _ask(self, number: int, time: float, speaker: Speaker, frame: Frame) -> OpenRequest:
        self._count += 1
        asked = OpenRequest(number, frame.method or "", time, frame.session_id, self._count)
        waiting = self._open[speaker]
        waiting[_key(frame.id)] = asked
        if len(waiting) > OPEN_MAX:
            del waiting[next(iter(waiting))]
        return asked


def _key(request_id: object) -> object:
    """Tell 7 and "7" apart, and accept values that cannot be ids."""
    return (type(request_id).__name__, repr(request_id))

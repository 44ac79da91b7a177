"""JSON-RPC 2.0 over lines for the programs of this folder, with threads and nothing else.

Requests run on the reading thread in their order; a handler that waits for the peer returns a
`Later`, whose work runs on a thread of its own.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any

Json = dict[str, Any]
NESTING_MAX = 128

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
CANCELLED = -32800
AUTH_REQUIRED = -32000
NOT_FOUND = -32002


class RpcError(Exception):
    """What a handler raises to answer with an error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class Withdrawn(Exception):
    """The wait for an answer ended, because the work that asked was cancelled."""


@dataclass
class Later:
    """The rest of a request, to be run on its own thread; None as its result: already answered."""

    work: Callable[[], Json | None]


@dataclass
class Work:
    """Something that can be cancelled while it waits for the peer."""

    cancelled: threading.Event = field(default_factory=threading.Event)
    started: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)
    waits: list[queue.SimpleQueue[Json | None]] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)

    def cancel(self) -> None:
        self.cancelled.set()
        for waiting in list(self.waits):
            waiting.put(None)


def as_line(message: Json) -> str:
    return json.dumps(message, ensure_ascii=False)


class Peer:
    """One end of a connection."""

    def __init__(
        self,
        reader: IO[bytes],
        writer: IO[bytes],
        on_request: Callable[[Json], Json | Later],
        on_notification: Callable[[Json], None],
    ) -> None:
        self.reader, self.writer = reader, writer
        self.on_request, self.on_notification = on_request, on_notification
        self.writing = threading.Lock()
        self.open: dict[int, queue.SimpleQueue[Json | None]] = {}
        self.last_id = 0
        self.in_bad_run = False
        self.bad_runs_end = True
        """Whether a good message makes the next bad line worth an answer."""
        self.null_ids = True
        """Whether a request may have the id null, as in version 1."""
        self.before_send: Callable[[Json], Json] = lambda message: message
        self.to_text: Callable[[Json], str] = as_line

    def send(self, message: Json) -> None:
        message = self.before_send({"jsonrpc": "2.0", **message})
        line = self.to_text(message).encode("utf-8", "replace")
        with self.writing:
            self.writer.write(line + b"\n")
            self.writer.flush()

    def notify(self, method: str, params: Json) -> None:
        self.send({"method": method, "params": params})

    def fail(self, request_id: Any, code: int, message: str, data: Any = None) -> None:
        error: Json = {"code": code, "message": message}
        if data is not None:
            error["data"] = data
        self.send({"id": request_id, "error": error})

    def call(
        self, method: str, params: Json, work: Work | None = None, seconds: float | None = None
    ) -> Json:
        """Send a request and wait for its answer, for the end of the work or for some seconds."""
        answer: queue.SimpleQueue[Json | None] = queue.SimpleQueue()
        with self.writing:
            self.last_id += 1
            own_id = self.last_id
            self.open[own_id] = answer
        if work is not None:
            work.waits.append(answer)
            work.calls.append(own_id)
            if work.cancelled.is_set():
                answer.put(None)
        self.send({"id": own_id, "method": method, "params": params})
        try:
            came = answer.get(timeout=seconds)
        except queue.Empty:
            came = None
        if work is not None:
            work.waits.remove(answer)
            if came is not None:
                work.calls.remove(own_id)
        if came is None:
            raise Withdrawn
        if "error" in came:
            error = came["error"] if isinstance(came["error"], dict) else {}
            raise RpcError(error.get("code", -32603), str(error.get("message", "")))
        result = came.get("result")
        return result if isinstance(result, dict) else {}

    def serve(self) -> None:
        """Read until the peer closes; then end whatever still waits."""
        for line in self.reader:
            if line.strip():
                self.take(line)
        for answer in list(self.open.values()):
            answer.put(None)

    def take(self, line: bytes) -> None:
        try:
            message = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
        except RecursionError:
            self.fail(None, INVALID_REQUEST, "The message is nested too deeply.")
            return
        except ValueError:
            if not self.in_bad_run:
                self.in_bad_run = True
                self.fail(None, PARSE_ERROR, "The line is not JSON.")
            return
        if not isinstance(message, dict):
            if isinstance(message, list) or not self.in_bad_run:
                self.in_bad_run = not isinstance(message, list)
                self.take_other(message)
            return
        self.in_bad_run = self.in_bad_run and not self.bad_runs_end
        self.take_object(message)

    def take_other(self, message: Any) -> None:
        """Refuse what is JSON, but no object."""
        self.fail(None, INVALID_REQUEST, "A message is one JSON object.")

    def take_object(self, message: Json) -> None:
        request_id = message.get("id")
        if "method" not in message and ("result" in message) != ("error" in message):
            waiting = self.open.pop(request_id, None) if type(request_id) is int else None
            if waiting is not None:
                waiting.put(message)
            return
        good_id = type(request_id) in (int, str) or (request_id is None and self.null_ids)
        if "id" in message and not good_id:
            self.fail(None, INVALID_REQUEST, "The id is neither a string nor an integer.")
        elif message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
            self.fail(request_id, INVALID_REQUEST, "This is not a JSON-RPC 2.0 message.")
        elif "id" not in message:
            self.on_notification(message)
        elif _depth_is_over(message, NESTING_MAX):
            self.fail(request_id, INVALID_REQUEST, "The message is nested too deeply.")
        else:
            self.answer(message)

    def answer(self, message: Json) -> None:
        try:
            result = self.on_request(message)
        except RpcError as error:
            self.fail(message["id"], error.code, error.message, error.data)
            return
        if isinstance(result, Later):
            threading.Thread(target=self.finish, args=(message, result.work), daemon=True).start()
        else:
            self.send({"id": message["id"], "result": result})

    def finish(self, message: Json, work: Callable[[], Json | None]) -> None:
        try:
            result = work()
        except RpcError as error:
            self.fail(message["id"], error.code, error.message, error.data)
            return
        if result is not None:
            self.send({"id": message["id"], "result": result})


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _depth_is_over(value: Any, bound: int) -> bool:
    layer, depth = [value], 0
    while layer:
        depth += 1
        if depth > bound:
            return True
        below: list[Any] = []
        for item in layer:
            inner = item.values() if isinstance(item, dict) else item
            below += [each for each in inner if isinstance(each, dict | list)]
        layer = below
    return False


def need(params: Json, key: str, kind: type | tuple[type, ...]) -> Any:
    """A required member of the right type, or -32602."""
    value = params.get(key)
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if not isinstance(value, kind) or (isinstance(value, bool) and bool not in kinds):
        raise RpcError(INVALID_PARAMS, f"`{key}` is missing or has the wrong type.")
    return value


def log(text: str) -> None:
    """Say something to whoever reads standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()

"""One end of a JSON-RPC conversation over standard input and output, in plain Python.

The correct peers of this folder are built on it, and the broken ones override one thing of theirs.
It must know nothing of Accord: a kit that shared code with what it judges would prove nothing.
It imports little, since a process is started for every check.
A handler returns a result or a generator; a generator yields a Call to ask the other side, or HOLD
to wait until somebody throws into it.  There is one thread but for what a client's processes need.
"""

import json
import os
import re
import sys
import threading
from collections.abc import Generator
from typing import Any, BinaryIO, NamedTuple

Json = dict[str, Any]

DEPTH_MAX = 128
OPEN_MAX = 1_024
LINE_BYTES_MAX = 32 * 2**20
_READABLE_ID = re.compile(rb'"id"\s*:\s*(-?\d+|"[^"\\]*")')


class Refused(Exception):
    """The answer is an error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error: Json = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


class Stopped(Exception):
    """Thrown into work that is to end now."""


class Call(NamedTuple):
    """What work yields to ask the other side."""

    method: str
    params: Json


HOLD = Call("", {})
Work = Generator[Call, Any, Any]


class Task:
    """One request that is being worked on, or (with the id "") our own script."""

    def __init__(self, request_id: int | str, method: str, params: Json, work: Work) -> None:
        self.id = request_id
        self.method = method
        self.params = params
        self.work = work
        self.asked: Any = None
        self.begun = False


def new_name() -> str:
    return os.urandom(16).hex()


def output_of(command: list[str], cwd: str) -> bytes:
    """What a command says.  It is imported here: few peers run one, and all have to start."""
    from subprocess import run

    return run(command, cwd=cwd, capture_output=True, check=False).stdout


def line_of(message: Json) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode() + b"\n"


def bad_params(reason: str) -> Refused:
    return Refused(-32602, f"Invalid params: {reason}")


def depth(line: bytes) -> int:
    """How deep the brackets of a line nest, strings left out."""
    if line.count(b"[") + line.count(b"{") <= DEPTH_MAX:
        return 0
    deepest = level = 0
    in_string = escaped = False
    for byte in line:
        if in_string:
            if escaped:
                escaped = False
            elif byte == 0x5C:
                escaped = True
            elif byte == 0x22:
                in_string = False
        elif byte == 0x22:
            in_string = True
        elif byte in (0x5B, 0x7B):
            level += 1
            deepest = max(deepest, level)
        elif byte in (0x5D, 0x7D):
            level -= 1
    return deepest


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _is_id(value: Any) -> bool:
    return isinstance(value, (int, str)) and not isinstance(value, bool)


class Peer:
    """Reads lines, calls `request_*` and `notification_*` methods by their method's name."""

    answers_bad_lines = True
    open_max = OPEN_MAX

    def __init__(self, reader: BinaryIO | None = None, writer: BinaryIO | None = None) -> None:
        self.reader = reader or sys.stdin.buffer
        self.writer = writer or sys.stdout.buffer
        self.lock = threading.Lock()
        self.tasks: dict[int | str, Task] = {}
        self.asked: dict[Any, Task] = {}
        self.last_id = 0
        self.in_bad_run = False
        self.ended = False

    # What goes out.

    def write(self, line: bytes) -> None:
        with self.lock:
            try:
                self.writer.write(line)
                self.writer.flush()
            except (BrokenPipeError, ValueError):
                self.ended = True

    def send(self, message: Json) -> None:
        self.write(line_of(message))

    def notify(self, method: str, params: Json) -> None:
        self.send({"method": method, "params": params})

    def answer(self, request_id: Any, result: Any) -> None:
        self.send({"id": request_id, "result": result})

    def refuse(self, request_id: Any, error: Json) -> None:
        self.send({"id": request_id, "error": error})

    def new_id(self) -> Any:
        self.last_id += 1
        return self.last_id

    # What comes in.

    def run(self) -> None:
        self.run_on()
        self.end()

    def run_on(self) -> None:
        """Read to the end."""
        while not self.ended:
            line = self.reader.readline(LINE_BYTES_MAX + 1)
            if len(line) > LINE_BYTES_MAX:
                self.too_long()
                break
            if not line:
                break
            self.receive(line)

    def too_long(self) -> None:
        print(f"a line is longer than line_bytes_max = {LINE_BYTES_MAX}", file=sys.stderr)

    def end(self) -> None:
        """The other side is gone, or the script is done."""

    def receive(self, line: bytes) -> None:
        if not line.strip():
            return
        if depth(line) > DEPTH_MAX:
            self.too_deep(line)
            return
        try:
            message = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
        except (ValueError, RecursionError):
            self.bad_line(-32700, "Parse error")
            return
        if isinstance(message, list):
            self.in_bad_run = False
            self.batch(message)
        elif isinstance(message, dict):
            self.in_bad_run = False
            self.dispatch(message)
        else:
            self.bad_line(-32600, "Invalid request")

    def too_deep(self, line: bytes) -> None:
        found = _READABLE_ID.search(line)
        if b'"method"' in line and found is None:
            return
        self.refuse(
            json.loads(found[1]) if found else None,
            {"code": -32600, "message": f"nested deeper than depth_max = {DEPTH_MAX}"},
        )

    def bad_line(self, code: int, message: str) -> None:
        if not self.in_bad_run:
            self.refuse(None, {"code": code, "message": message})
        self.in_bad_run = True

    def batch(self, _entries: list[Any]) -> None:
        self.refuse(None, {"code": -32600, "message": "Invalid request: an array"})

    def dispatch(self, message: Json) -> None:
        request_id = message.get("id")
        readable = request_id if _is_id(request_id) else None
        if "method" not in message:
            self.answered(message)
        elif message.get("jsonrpc") != "2.0" or not isinstance(message["method"], str):
            self.refuse(readable, {"code": -32600, "message": "Invalid request"})
        elif "id" not in message:
            self.notified(message["method"], message.get("params", {}))
        elif readable is None:
            self.refuse(None, {"code": -32600, "message": "Invalid request: its id"})
        else:
            self.requested(readable, message["method"], message.get("params", {}))

    def notified(self, method: str, params: Any) -> None:
        handler = self.handler("notification", method)
        if handler is not None and isinstance(params, dict):
            try:
                handler(params)
            except (Refused, KeyError, TypeError, AttributeError):
                return

    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        if len(self.tasks) >= self.open_max:
            data = {"reason": "too_many_requests"}
            refused = Refused(-32603, "too many requests are open", data)
            self.refuse(request_id, refused.error)
            return
        try:
            self.before(method, params)
            handler = self.handler("request", method)
            if handler is None:
                raise Refused(-32601, "Method not found", {"method": method})
            if not isinstance(params, dict):
                raise bad_params("params is not an object")
            result = handler(params)
        except Refused as refused:
            self.refuse(request_id, refused.error)
            return
        except (TypeError, KeyError, AttributeError, ValueError):
            self.refuse(request_id, bad_params("a value of a wrong type").error)
            return
        if isinstance(result, Generator):
            task = Task(request_id, method, params, result)
            self.tasks[request_id] = task
            self.started(task)
        else:
            self.answer(request_id, result)

    def before(self, method: str, params: Any) -> None:
        """Refuse what may not come now."""

    def started(self, task: Task) -> None:
        self.step(task)

    def handler(self, kind: str, method: str) -> Any:
        name = re.sub(r"[/.]", "_", method).lstrip("$_")
        return getattr(self, f"{kind}_{name}", None)

    def answered(self, message: Json) -> None:
        key = message.get("id")
        task = self.asked.pop(key, None) if isinstance(key, (int, float, str)) else None
        if task is None:
            return
        task.asked = None
        if isinstance(message.get("error"), dict):
            error = message["error"]
            self.step(task, Refused(error.get("code", 0), str(error.get("message", ""))))
        else:
            self.step(task, None, message.get("result"))

    # Work.

    def step(self, task: Task, error: Exception | None = None, value: Any = None) -> None:
        task.begun = True
        try:
            wanted = task.work.throw(error) if error is not None else task.work.send(value)
        except StopIteration as end:
            self.finish(task, end.value, None)
        except Refused as refused:
            self.finish(task, None, refused.error)
        except Stopped:
            self.finish(task, None, {"code": -32800, "message": "Request cancelled"})
        else:
            if wanted is not HOLD:
                task.asked = self.new_id()
                self.asked[task.asked] = task
                request = {"id": task.asked, "method": wanted.method, "params": wanted.params}
                self.send(request)

    def finish(self, task: Task, result: Any, error: Json | None) -> None:
        self.tasks.pop(task.id, None)
        if task.id == "":
            self.ended = True
        elif error is not None:
            self.refuse(task.id, error)
        else:
            self.answer(task.id, result)

    def stop(self, task: Task) -> None:
        """End this work by an exception, whatever it waits for."""
        if task.asked is not None:
            self.asked.pop(task.asked, None)
            task.asked = None
        self.step(task, Stopped())

    def notification_cancel_request(self, params: Json) -> None:
        task = self.tasks.get(params.get("requestId", ""))
        if task is not None and task.id != "":
            self.stop(task)


def absolute(path: Any, name: str) -> str:
    if not isinstance(path, str) or not path or not os.path.isabs(path):
        raise bad_params(f"{name} must be an absolute path")
    return path

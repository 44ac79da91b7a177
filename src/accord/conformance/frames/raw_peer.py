"""A raw JSON-RPC peer over two byte streams: one line is one frame, and every frame is kept.

It shares no code with the library's own peer, so that a mistake there is not repeated here.  What
comes in is kept as bytes first and understood second; nothing that a judged program sends raises.

What always holds: every wait has a bound, and so has everything that is kept.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

from accord.conformance.frames.error_codes import INVALID_PARAMS, NO_METHOD
from accord.conformance.time_limits import ANSWER_SECONDS, GRACE_SECONDS, QUIET_SECONDS, STARTING

# The bounds of one frame and of all frames of a check: beyond them the program is cut off.
FRAME_BYTES_MAX = 64 * 1024 * 1024
FRAMES_MAX = 20_000
CONVERSATION_BYTES_MAX = 256 * 1024 * 1024
# Longer lines of the kit are meant to exceed every limit.
SENT_BYTES_PARSED_MAX = 16 * 1024 * 1024

# An unknown method: a program that runs answers it with an error.
ALIVE_METHOD = "_accord_check/alive"

# The key of the HTTP status in an error that stands for one.
STATUS = "httpStatus"

Message = dict[str, Any]
Responder = Callable[[Message], Awaitable["Reply | None"]]


# How much of an unexpected result is shown.
ANSWER_CHARACTERS = 300


class Unanswered(Exception):
    """The program did not act in time; the message says what was expected."""


class Gone(Unanswered):
    """The program closed its output or ended while something was waited for."""


class NotReady(Unanswered):
    """The program did not reach the checked behaviour; another check judges the steps before it."""


class WrongIdType(NotReady):
    """The program answered, but with an id of another type than the request's.

    That ids come back as they were is a rule of its own, which monitors judge.
    """


class NotAsked(NotReady):
    """The check ends early, for a reason that is not a fault of the program.

    Either it has said of its open rules what there is to say, or an earlier check has failed where
    this one would.
    """


class TooLate(NotAsked):
    """The checked behaviour was over too early; on a quieter machine it may not be."""


class LoginNeeded(NotAsked):
    """The agent requires a login for sessions, and the scenario has none."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a responder: a result, or an error.

    `sent` is set once the answer is written, for what may only follow it.
    """

    result: Any = None
    error: Message | None = None
    sent: anyio.Event | None = None

    @staticmethod
    def refused(code: int, message: str, data: Any = None) -> Reply:
        error: Message = {"code": code, "message": message}
        return Reply(error=error if data is None else error | {"data": data})


@dataclass(frozen=True, slots=True)
class Frame:
    """One line, in the order in which lines were sent and received.

    `sent` is true for what the kit sent.  `message` is the parsed value, whatever JSON it is;
    `flaw` says why there is none, and `unanswered` why a request of the kit has no answer, where
    one had to come; `ended` says that the program ended instead.
    """

    at: float
    sent: bool
    raw: bytes
    message: Any = None
    flaw: str = ""
    unanswered: str = ""
    ended: bool = False

    @property
    def object(self) -> Message:
        """The message; an empty object if the line is not one."""
        return self.message if isinstance(self.message, dict) else {}

    @property
    def method(self) -> str | None:
        """The method of a request or notification."""
        name = self.object.get("method")
        return name if isinstance(name, str) else None

    @property
    def is_request(self) -> bool:
        return self.method is not None and "id" in self.object

    @property
    def is_notification(self) -> bool:
        return self.method is not None and "id" not in self.object

    @property
    def is_response(self) -> bool:
        return self.method is None and ("result" in self.object or "error" in self.object)

    @property
    def params(self) -> Message:
        """The params, or an empty object."""
        params = self.object.get("params")
        return params if isinstance(params, dict) else {}


def _set_event() -> anyio.Event:
    event = anyio.Event()
    event.set()
    return event


@dataclass(slots=True)
class RawPeer:
    """The kit's side of a conversation with the judged program."""

    reading: ByteReceiveStream
    writing: ByteSendStream
    frames: list[Frame] = field(default_factory=list)
    responders: dict[str, Responder] = field(default_factory=dict)
    closed: anyio.Event = field(default_factory=anyio.Event)
    patience: float = ANSWER_SECONDS
    # Called with the method of each request first; it may refuse to send it.
    gate: Callable[[str], None] = lambda method: None
    # Called with the id of each request without an answer; by default it is noted.
    gave_up: Callable[[Any, Unanswered], None] | None = None
    # A method that the program must know, and whether it leaves unknown ones unanswered.
    known_method: str = ""
    ignores_unknown: bool = False
    _changed: anyio.Event = field(default_factory=anyio.Event)
    _began: float = field(default_factory=time.monotonic)
    _last_id: int = 0
    _received_bytes: int = 0
    _tasks: Any = None
    _reading: anyio.Event = field(default_factory=_set_event)

    def hold_reading(self) -> None:
        """Stop reading, as a slow peer does."""
        self._reading = anyio.Event()

    def go_on_reading(self) -> None:
        self._reading.set()

    async def pump(self) -> None:
        """Read until the program closes its output.  Run it in its own task group."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            buffer = bytearray()
            try:
                while self._has_room(len(buffer)):
                    await self._reading.wait()
                    chunk = await self.reading.receive(65_536)
                    self._received_bytes += len(chunk)
                    buffer += chunk
                    if b"\n" in chunk:
                        self._take_lines(buffer)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                if buffer:
                    self._keep(bytes(buffer), "the last line has no newline")
            finally:
                self.closed.set()
                self._wake()

    def _has_room(self, waiting: int) -> bool:
        """Whether the program may send more; beyond the bound it is cut off."""
        return (
            waiting <= FRAME_BYTES_MAX
            and len(self.frames) < FRAMES_MAX
            and self._received_bytes < CONVERSATION_BYTES_MAX
        )

    def _take_lines(self, buffer: bytearray) -> None:
        *lines, rest = bytes(buffer).split(b"\n")
        for line in lines:
            self._keep(line, "")
        buffer[:] = rest

    def _keep(self, raw: bytes, flaw: str) -> None:
        message: Any = None
        try:
            message = json.loads(raw.decode("utf-8"))
        except UnicodeDecodeError:
            flaw = flaw or "not UTF-8"
        except (ValueError, RecursionError):
            flaw = flaw or "not JSON"
        self._take(Frame(time.monotonic() - self._began, False, raw, message, flaw))
        # Entries of an array are messages too; the array itself is kept before them.
        for entry in message if isinstance(message, list) else []:
            if isinstance(entry, dict) and "method" in entry:
                self._take(replace(self.frames[-1], raw=json.dumps(entry).encode(), message=entry))
        self._wake()

    def _take(self, frame: Frame) -> None:
        self.frames.append(frame)
        if frame.is_request and self._tasks is not None:
            self._tasks.start_soon(self._respond, frame)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def _respond(self, frame: Frame) -> None:
        responder = self.responders.get(frame.method or "")
        if responder is None:
            reply: Reply | None = Reply.refused(NO_METHOD, "Method not found")
        else:
            reply = await _served(responder, frame.params)
        if reply is None:
            return
        body = {"error": reply.error} if reply.error is not None else {"result": reply.result}
        await self.send({"jsonrpc": "2.0", "id": frame.object.get("id"), **body})
        if reply.sent is not None:
            reply.sent.set()

    async def send_raw(self, raw: bytes) -> None:
        """Write these bytes unchanged.  A program that does not read loses them."""
        self._note_sent(raw)
        await self._write(raw)

    def _note_sent(self, raw: bytes) -> None:
        message: Any = None
        flaw = "too long to look into" if len(raw) > SENT_BYTES_PARSED_MAX else ""
        try:
            message = None if flaw else json.loads(raw)
        except (ValueError, RecursionError):
            flaw = "not JSON"
        self.frames.append(Frame(time.monotonic() - self._began, True, raw, message, flaw))

    async def _write(self, raw: bytes) -> None:
        if self.closed.is_set():
            return
        with anyio.move_on_after(self.patience):
            try:
                await self.writing.send(raw)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass

    async def send_long(self, head: bytes, piece: bytes, count: int, tail: bytes) -> bool:
        """Write a line with this many equal pieces, of which only the head is kept.

        Returns whether the connection was still there when it was written.
        """
        at = time.monotonic() - self._began
        self.frames.append(Frame(at, True, head, flaw="too long to look into"))
        try:
            with anyio.move_on_after(self.patience):
                await self.writing.send(head)
                for _ in range(count):
                    await self.writing.send(piece)
                await self.writing.send(tail)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            return False
        return True

    async def send(self, message: Any) -> None:
        """Write one message as one line."""
        await self.send_raw(_line(message))

    async def notify(self, method: str, params: Message | None = None) -> None:
        message: Message = {"jsonrpc": "2.0", "method": method}
        await self.send(message if params is None else message | {"params": params})

    async def ask(self, method: str, params: Any = None, *, id: Any = None) -> Any:  # noqa: A002
        """Send a request without waiting, and return its id."""
        self.gate(method)
        if id is None:
            self._last_id += 1
            id = self._last_id  # noqa: A001
        message: Message = {"jsonrpc": "2.0", "id": id, "method": method}
        await self.send(message if params is None else message | {"params": params})
        return id

    async def ask_at_once(self, method: str, params: Sequence[Any]) -> list[Any]:
        """Send several requests of one method in one piece, and return their ids."""
        self.gate(method)
        ids = list(range(self._last_id + 1, self._last_id + 1 + len(params)))
        self._last_id = ids[-1]
        lines: list[bytes] = []
        for name, one in zip(ids, params, strict=True):
            message = {"jsonrpc": "2.0", "id": name, "method": method, "params": one}
            lines.append(_line(message))
            self._note_sent(lines[-1])
        await self._write(b"".join(lines))
        return ids

    async def answer_to(
        self,
        id: Any,  # noqa: A002
        *,
        timeout: float | None = None,
        since: int = 0,
    ) -> Message:
        """Wait for the response to a request, from frame number `since` on.

        Raises:
            Unanswered: none came in time, or the program is gone.
            WrongIdType: one came with the id as another type; no other will come.
        """

        def fits(frame: Frame) -> bool:
            got = frame.object.get("id")
            return frame.is_response and (same(got, id) or self._means(got, id))

        what = f"an answer to {self._asked(id)}"
        try:
            frame = await self.expect(fits, what, since=since, timeout=timeout)
        except Unanswered as error:
            (self.gave_up or self.note_unanswered)(id, error)
            raise
        if not same(frame.object.get("id"), id):
            raise WrongIdType(f"the answer to {self._asked(id)} has an id of another type")
        return frame.object

    def _asked(self, id: Any) -> str:  # noqa: A002
        """Return the method of the request with this id, for messages."""
        at = self.place_of(id)
        return str(self.frames[at].method) if at is not None else f"request {as_json(id)}"

    def note_unanswered(self, id: Any, error: Unanswered) -> None:  # noqa: A002
        """Note that this request got no answer, and needs one."""
        at = self.place_of(id)
        if at is not None:
            gone = isinstance(error, Gone)
            self.frames[at] = replace(self.frames[at], unanswered=str(error), ended=gone)

    def place_of(self, id: Any) -> int | None:  # noqa: A002
        """Return the number of the frame of this request."""
        for at, one in enumerate(self.frames):
            if one.sent and one.is_request and same(one.object["id"], id):
                return at
        return None

    def silence(self, since: int) -> float:
        """Return the seconds without a frame, at most since frame number `since`."""
        heard = [one.at for one in self.frames[since:] if not one.sent]
        return time.monotonic() - self._began - max([self.frames[since].at, *heard])

    def _means(self, got: Any, asked: Any) -> bool:
        """Whether this is the id of a request in another JSON type, and of no other request."""
        if isinstance(got, (dict, list)) or got is None or str(got) != str(asked):
            return False
        return not any(
            one.sent and one.is_request and same(one.object["id"], got) for one in self.frames
        )

    async def call(
        self, method: str, params: Any = None, *, timeout: float | None = None
    ) -> Message:
        """Send a request, wait for its response, and return it whole.

        Raises:
            Unanswered: none came in time, or the program is gone.
        """
        return await self.answer_to(await self.ask(method, params), timeout=timeout)

    async def expect(
        self,
        fits: Callable[[Frame], bool],
        what: str,
        *,
        since: int = 0,
        timeout: float | None = None,
    ) -> Frame:
        """Wait for the first frame from number `since` on that fits.

        Raises:
            Unanswered: none came in time, or the program is gone.
        """
        seconds = self.patience if timeout is None else timeout
        if timeout is None and not any(not frame.sent for frame in self.frames[:1_000]):
            # The program has sent nothing yet, and may still be starting.
            seconds *= STARTING
        at = since
        # On a busy machine the time may be over before the received bytes were read.
        for wait in (seconds, GRACE_SECONDS):
            with anyio.move_on_after(wait):
                while True:
                    while at < len(self.frames):
                        frame = self.frames[at]
                        at += 1
                        if not frame.sent and fits(frame):
                            return frame
                    if self.closed.is_set():
                        raise Gone(f"the program ended its output before {what} came")
                    await self._changed.wait()
        raise Unanswered(f"{what} did not come within {seconds:g} s")

    async def quiet(self, seconds: float = QUIET_SECONDS) -> list[Frame]:
        """Return what arrives during a time in which nothing is sent."""
        start = len(self.frames)
        with anyio.move_on_after(seconds):
            await self.closed.wait()
        return [frame for frame in self.frames[start:] if not frame.sent]

    async def probe(self) -> None:
        """Wait until the program answers a request, if only with an error.

        One that leaves unknown methods unanswered is asked by `known_method`, if there is one.

        Raises:
            Unanswered: it answers nothing in time, or is gone.
        """
        if not self.ignores_unknown:
            try:
                await self.call(ALIVE_METHOD, {})
                return
            except WrongIdType:
                return
            except Gone:
                raise
            except Unanswered:
                if not self.known_method:
                    raise
        with suppress(WrongIdType):
            await self.call(self.known_method, {})
        self.ignores_unknown = True

    async def settled(self) -> list[Frame]:
        """Return what else arrives until the program answers a request, or ends.

        A program that reads its messages in order has then dealt with all that was sent before.
        """
        start = len(self.frames)
        try:
            await self.probe()
            await self.quiet(GRACE_SECONDS)
        except Unanswered:
            pass
        came = self.frames[start:]
        probes = (ALIVE_METHOD, self.known_method)
        names = [one.object.get("id") for one in came if one.sent and one.method in probes]

        def answers_probe(one: Frame) -> bool:
            got = one.object.get("id")
            own = any(same(got, name) or self._means(got, name) for name in names)
            return one.is_response and own

        return [one for one in came if not one.sent and not answers_probe(one)]

    def place_of_answer(self, id: Any) -> int:  # noqa: A002
        """Return the number of frames up to the response to this request, itself included."""
        for at, frame in enumerate(self.frames):
            answers = not frame.sent and frame.is_response
            if answers and same(frame.object.get("id"), id):
                return at + 1
        return len(self.frames)

    def received(self, method: str | None = None) -> list[Frame]:
        """Return the frames of the program so far, those with this method if one is given."""
        return [
            frame
            for frame in self.frames
            if not frame.sent and (method is None or frame.method == method)
        ]


def _line(message: Any) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


async def _served(responder: Responder, params: Message) -> Reply | None:
    try:
        return await responder(params)
    except (TypeError, ValueError, KeyError, AttributeError, OSError) as error:
        # The program sent params that the responder cannot use.
        return Reply.refused(INVALID_PARAMS, f"Invalid params: {type(error).__name__}")


def as_json(value: Any) -> str:
    """Return a value as JSON."""
    return json.dumps(value, ensure_ascii=False, default=str)


def brief(answer: Message) -> str:
    """Describe an answer in a few words without ids, so that equal ones read the same."""
    error = answer.get("error")
    if isinstance(error, dict):
        return f"error {as_json(error.get('code'))}: {error.get('message')}"
    text = as_json(answer.get("result", error))
    return text if len(text) <= ANSWER_CHARACTERS else f"{text[:ANSWER_CHARACTERS]} …"


class ErrorOf(dict[str, Any]):
    """The error in an answer, empty if it has none.  As evidence it shows the whole answer."""

    def __init__(self, answer: Message) -> None:
        error = answer.get("error")
        super().__init__(error if isinstance(error, dict) else {})
        self.answer = answer

    @property
    def is_status(self) -> bool:
        """Whether a server refused the request by an HTTP status, without a JSON-RPC code."""
        data = self.get("data")
        return isinstance(data, dict) and STATUS in data


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal in value and JSON type: `7` is not `"7"`, and true is not 1."""
    return type(left) is type(right) and left == right

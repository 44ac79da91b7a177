"""A connection to a judged server over Streamable HTTP, as a stream of lines.

It does what a client has to: headers, cookies, a stream for the connection and for each session,
one POST after the other, DELETE at the end.  A server that refuses a message by a status has
answered it: a JSON-RPC error in the response's body is handed on as it is, and a request without
one gets an error that names the status.

What always holds: `arrivals` has every message in the order in which it came, with its stream.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import TaskGroup

from accord.conformance.frames.raw_peer import STATUS, Message, Unanswered, as_json
from accord.conformance.network.event_stream import Event
from accord.conformance.network.http1 import Answer, fits_header
from accord.conformance.network.http_caller import (
    CONNECTION,
    EVENTS_TYPE,
    SESSION,
    VERSION,
    HttpCaller,
)
from accord.conformance.network.line_stream import LineStream
from accord.conformance.time_limits import QUIET_SECONDS, STARTING

# Methods that need the header of a session, even if their params lack it.
SESSION_METHODS = frozenset(
    f"session/{name}"
    for name in (
        *("cancel", "close", "delete", "fork", "load", "prompt", "resume"),
        *("set_config_option", "set_mode", "set_model"),
    )
)
# The codes that stand for a status: for an invalid request, and for any other refusal.
BAD_REQUEST, REFUSED = -32600, -32603
# How many sessions may have a stream.
STREAMS_MAX = 256
ACCEPTED = (200, 202)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message of the server: how it arrived, the session of its stream, and its kind."""

    via: str
    session: str | None
    message: Any


class HttpLink(LineStream):
    """One connection.  `run` carries what is sent until the end."""

    def __init__(self, caller: HttpCaller, tasks: TaskGroup) -> None:
        super().__init__()
        self.caller = caller
        self.arrivals: list[Arrival] = []
        self.answers: list[tuple[bytes, Answer]] = []
        self.flaws: list[str] = []
        # Faults in the form of events.
        self.event_flaws: list[str] = []
        self.over = anyio.Event()
        self._tasks = tasks
        self._streams: set[str | None] = set()
        # The session of the stream on which a request of the server arrived, by its id.
        self._asked_in: dict[Any, str | None] = {}
        # Ids of `session/load`, and how many messages each session's stream has brought.
        self._loads: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        # Whether there is a connection, which DELETE would end.
        self._is_open = False

    async def run(self) -> None:
        while (line := await self.outgoing()) is not None:
            try:
                await self._carry(line)
            except Unanswered as error:
                self.flaws.append(str(error))
                await self._refuse(_parsed(line), str(error))
        await self.leave()

    async def _carry(self, line: bytes) -> None:
        message = _parsed(line)
        is_first = message.get("method") == "initialize" and not self._is_open
        session = None if is_first else self._session_of(message)
        if session is not None:
            await self._open_stream(session)
            if message.get("method") == "session/load":
                self._loads[_key(message.get("id"))] = session
        headers = {SESSION: session} if session is not None else {}
        wait = STARTING * self.caller.patience if is_first else None
        answer = await self.caller.post(line, headers, seconds=wait)
        self.answers.append((line, answer))
        if is_first and answer.status == 200:
            await self._begin(answer)
        elif answer.status not in ACCEPTED:
            await self._refused(message, answer)
        elif answer.body.strip() and _is_message(answer.body):
            await self._arrive("response", None, answer.body)

    async def _begin(self, answer: Answer) -> None:
        connection = answer.header(CONNECTION)
        hello = _parsed(answer.body)
        if connection is not None:
            self._is_open = True
            self.caller.headers[CONNECTION] = connection
            result = hello.get("result")
            version = result.get("protocolVersion") if isinstance(result, dict) else None
            if isinstance(version, int):
                self.caller.headers[VERSION] = str(version)
            await self._open_stream(None)
        await self._arrive("response", None, answer.body)

    def _session_of(self, message: Message) -> str | None:
        """Return the session for the header of this message, if a header can have it."""
        if "method" not in message:
            name: Any = self._asked_in.get(_key(message.get("id")))
        else:
            params = message.get("params")
            name = params.get("sessionId") if isinstance(params, dict) else None
        return name if fits_header(name) else None

    async def _open_stream(self, session: str | None) -> None:
        """Open a stream once, and wait until the server has opened it or refused."""
        if session in self._streams or len(self._streams) >= STREAMS_MAX or not self._is_open:
            return
        self._streams.add(session)
        opened = anyio.Event()
        self._tasks.start_soon(self._read_stream, session, opened)
        with anyio.move_on_after(self.caller.patience):
            await opened.wait()

    async def _read_stream(self, session: str | None, opened: anyio.Event) -> None:
        headers = {} if session is None else {SESSION: session}
        try:
            async with self.caller.stream(headers) as stream:
                opened.set()
                if stream.head.status != 200 or stream.head.content_type != EVENTS_TYPE:
                    self.flaws.append(f"a stream got status {stream.head.status}")
                    return
                async for event in stream.events():
                    self._look_at(event)
                    await self._arrive("stream", session, event.data)
                self.flaws += stream.flaws
        except Unanswered as error:
            self.flaws.append(str(error))
        finally:
            opened.set()
            self._streams.discard(session)
            if session is None:
                self.over.set()
                self.ended()

    def _look_at(self, event: Event) -> None:
        if event.name not in ("", "message"):
            self.event_flaws.append(f"an event is named {event.name!r}")
        if not _is_message(event.data):
            text = event.data[:100].decode("utf-8", "backslashreplace")
            self.event_flaws.append(f"the data of an event is not one message: {text}")

    async def _arrive(self, via: str, session: str | None, raw: bytes) -> None:
        message = _parsed(raw)
        self.arrivals.append(Arrival(via, session, message))
        if "method" in message and "id" in message:
            self._asked_in[_key(message["id"])] = session
        result = message.get("result")
        name = result.get("sessionId") if isinstance(result, dict) else None
        if fits_header(name):
            await self._open_stream(name)
        loaded = self._loads.pop(_key(message.get("id")), None) if "method" not in message else None
        if session is not None:
            self._counts[session] = self._counts.get(session, 0) + 1
        if loaded is not None and session is None:
            self._tasks.start_soon(self._arrive_after, loaded, raw)
        else:
            await self.arrived(raw)

    async def _arrive_after(self, session: str, raw: bytes) -> None:
        """Pass on the answer to `session/load` once the stream of its session is quiet.

        It comes on another stream than the history, so their order cannot be seen.
        """
        before = -1
        while before != self._counts.get(session, 0):
            before = self._counts.get(session, 0)
            await anyio.sleep(QUIET_SECONDS)
        await self.arrived(raw)

    async def _refused(self, message: Message, answer: Answer) -> None:
        if _is_message(answer.body):
            await self._arrive("response", None, answer.body)
        elif answer.content_type != EVENTS_TYPE:
            text = answer.body[:300].decode("utf-8", "replace")
            await self._refuse(message, f"HTTP status {answer.status}: {text}", answer.status)

    async def _refuse(self, message: Message, reason: str, status: int = 0) -> None:
        if "method" in message and "id" in message:
            error: Message = {"code": BAD_REQUEST if status == 400 else REFUSED, "message": reason}
            error["data"] = {STATUS: status}
            answer = {"jsonrpc": "2.0", "id": message["id"], "error": error}
            await self.arrived(as_json(answer).encode())

    async def leave(self) -> None:
        """End the connection, if there is one."""
        if self._is_open:
            self._is_open = False
            with anyio.move_on_after(self.caller.patience):
                try:
                    await self.caller.request("DELETE")
                except Unanswered as error:
                    self.flaws.append(str(error))
        self.over.set()
        self.ended()


@asynccontextmanager
async def http_link(caller: HttpCaller) -> AsyncGenerator[HttpLink]:
    """Open a link that is ended on leaving."""
    async with anyio.create_task_group() as tasks:
        link = HttpLink(caller, tasks)
        tasks.start_soon(link.run)
        try:
            yield link
        finally:
            with anyio.CancelScope(shield=True):
                await link.leave()
            tasks.cancel_scope.cancel()


def _parsed(raw: bytes) -> Message:
    """Parse the object in these bytes; empty if there is none."""
    try:
        message = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _is_message(raw: bytes) -> bool:
    return "jsonrpc" in _parsed(raw)


def _key(name: Any) -> str:
    """Return an id as a key; other types than text and number are allowed."""
    return as_json(name)

"""One connection of a client over Streamable HTTP to the kit's server.

The kit reads what the client POSTs and writes lines, which go on the stream that each belongs to.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import anyio

from accord.conformance.frames.raw_peer import Message, as_json
from accord.conformance.network.http1 import fits_header
from accord.conformance.network.http_link import SESSION_METHODS
from accord.conformance.network.line_stream import LineStream
from accord.conformance.time_limits import ANSWER_SECONDS, STARTING

# How many lines may wait for a stream that is not open yet.
WAITING_MAX = 20_000


@dataclass(slots=True)
class ServedStream:
    """The lines that wait for the reader of one stream, and whether it has one."""

    lines: deque[bytes] = field(default_factory=lambda: deque(maxlen=WAITING_MAX))
    has_reader: bool = False
    changed: anyio.Event = field(default_factory=anyio.Event)


class ServedHttp(LineStream):
    """Guards: each line goes on exactly one stream, in order."""

    def __init__(self, connection_id: str) -> None:
        super().__init__()
        self.id = connection_id
        self.is_over = False
        self.attached = anyio.Event()
        self.streams: dict[str | None, ServedStream] = {}
        # The session of each request: where to answer the client's, where ours was sent.
        self._asked_here: dict[str, str | None] = {}
        self._asked_there: dict[str, str | None] = {}
        self._first: str | None = None
        self._answer: bytes | None = None
        self._answered = anyio.Event()

    # What the client sends.

    async def initialize(self, body: bytes, name: Any) -> bytes | None:
        """Pass on the first message, and return its answer; None if there is none."""
        self._first = as_json(name)
        await self.arrived(body)
        with anyio.move_on_after(STARTING * ANSWER_SECONDS):
            await self._answered.wait()
        return self._answer

    async def take(self, body: bytes, message: Message, session: str | None) -> None:
        """Pass on a message that arrived with this session in its header."""
        if "method" in message and "id" in message:
            where = None if message["method"] == "session/load" else session
            self._asked_here[as_json(message["id"])] = where
        await self.arrived(body)

    def session_of(self, message: Message) -> str | None:
        """Return the session of a message of the client; `?` if it names none."""
        if "method" not in message:
            # An error without an id does not show its request.
            name = message.get("id")
            return None if name is None else self._asked_there.get(as_json(name))
        params = message.get("params")
        session = params.get("sessionId") if isinstance(params, dict) else None
        if fits_header(session):
            return str(session)
        return "?" if message.get("method") in SESSION_METHODS else None

    # What the kit says.

    async def send(self, item: bytes) -> None:
        await super().send(item)
        while self.to_carry.lines:
            self.route(self.to_carry.lines.popleft())

    def route(self, line: bytes) -> None:
        """Add a line to its stream."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            self.put(None, line)
            return
        name = as_json(message.get("id"))
        if "method" not in message:
            if name == self._first:
                self._first, self._answer = None, line
                self._answered.set()
                return
            self.put(self._asked_here.pop(name, None), line)
            return
        params = message.get("params")
        session = params.get("sessionId") if isinstance(params, dict) else None
        session = session if fits_header(session) else None
        if "id" in message:
            self._asked_there[name] = session
        self.put(session, line)

    def put(self, session: str | None, line: bytes) -> None:
        stream = self.streams.setdefault(session, ServedStream())
        stream.lines.append(line)
        stream.changed.set()

    async def aclose(self) -> None:
        self.end()
        await super().aclose()

    # Streams.

    def attach(self, session: str | None) -> bool:
        """Attach a reader to a stream, unless it has one."""
        stream = self.streams.setdefault(session, ServedStream())
        if stream.has_reader:
            return False
        stream.has_reader = True
        self.attached.set()
        return True

    def detach(self, session: str | None) -> None:
        self.streams[session].has_reader = False

    async def wait_for_reader(self, seconds: float) -> None:
        """End the connection unless its stream gets a reader again in this time."""
        with anyio.move_on_after(seconds):
            while not self.is_over and not self.streams[None].has_reader:
                self.attached = anyio.Event()
                await self.attached.wait()
        if not self.streams[None].has_reader:
            self.end()

    async def next_for(self, session: str | None) -> bytes | None:
        """Return the next line of a stream; None when the connection has ended."""
        stream = self.streams[session]
        while not stream.lines:
            if self.is_over:
                return None
            stream.changed = anyio.Event()
            await stream.changed.wait()
        return stream.lines.popleft()

    def end(self) -> None:
        """End the connection: streams end, and nothing more arrives."""
        self.is_over = True
        self.attached.set()
        self._answered.set()
        self.ended()
        for stream in self.streams.values():
            stream.changed.set()

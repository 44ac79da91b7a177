"""ACP over HTTP as a server speaks it, scripted, with and without the resume extension."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio

from tests.transport.http.scripted_server import ServedRequest

Json = dict[str, Any]


class StreamLog:
    """The events of one stream, all of which are kept, and its reader."""

    def __init__(self) -> None:
        self.events: list[bytes] = []
        self.reader: ServedRequest | None = None
        self.is_sent = 0
        self.more = anyio.Event()

    def push(self, message: Json) -> None:
        self.events.append(json.dumps(message).encode())
        self.more.set()
        self.more = anyio.Event()


class AcpScript:
    """Handles requests; tests push messages and look at what came.

    `react` is called with each message, in order.  By default `session/new` makes a session and
    every other request is answered with an empty result on the right stream.
    """

    def __init__(self, *, resumes: bool = False) -> None:
        self.resumes = resumes
        self.messages: list[Json] = []
        self.headers: list[dict[str, str]] = []
        self.streams: dict[str | None, StreamLog] = {}
        self.react: Callable[[Json], None] = self.answer
        self.deleted = anyio.Event()
        self.news = anyio.Event()
        # Called before a request is handled: True if it was dealt with.
        self.before: Callable[[ServedRequest], Any] | None = None
        self.cookie = ""
        # Events up to this number are no longer kept.
        self.forgotten = 0
        self._early: dict[int, Json] = {}
        self.count = 0
        self.sessions = 0

    def stream(self, session_id: str | None = None) -> StreamLog:
        return self.streams.setdefault(session_id, StreamLog())

    def push(self, message: Json, session_id: str | None = None) -> None:
        self.stream(session_id).push({"jsonrpc": "2.0", **message})

    def answer(self, message: Json) -> None:
        if "method" not in message or "id" not in message:
            return
        session_id = message.get("params", {}).get("sessionId")
        result: Json = {}
        if message["method"] == "session/new":
            self.sessions += 1
            result = {"sessionId": f"s{self.sessions}"}
        if message["method"] == "session/load":
            session_id = None
        self.push({"id": message["id"], "result": result}, session_id)

    async def until(self, true: Callable[[], object]) -> None:
        while not true():
            await self.news.wait()

    def tell(self) -> None:
        """Wake those who wait in `until`."""
        self.news.set()
        self.news = anyio.Event()

    async def __call__(self, request: ServedRequest) -> None:
        if self.before is not None and await self.before(request):
            return
        handlers = {"POST": self._post, "GET": self._get, "DELETE": self._delete}
        if request.method in handlers:
            await handlers[request.method](request)
        else:
            await request.answer(405)

    async def _post(self, request: ServedRequest) -> None:
        message: Json = json.loads(request.body)
        self.headers.append(request.headers)
        if message.get("method") == "initialize":
            result = {"protocolVersion": 1, "agentCapabilities": {}}
            body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
            more = {"accord_resume": "1"} if self.resumes else {}
            if self.cookie:
                more["set_cookie"] = self.cookie
            await request.answer(
                200, body, content_type="application/json", acp_connection_id="c1", **more
            )
            self.tell()
            return
        assert request.headers["acp-connection-id"] == "c1"
        if self.resumes:
            self.take(int(request.headers["accord-message"]), message)
        else:
            self._handle(message)
        await request.answer(202)

    def take(self, number: int, message: Json) -> None:
        """In the order of their numbers, each once."""
        if number > self.count:
            self._early[number] = message
        while self.count + 1 in self._early:
            self.count += 1
            self._handle(self._early.pop(self.count))

    def _handle(self, message: Json) -> None:
        self.messages.append(message)
        self.react(message)
        self.tell()

    async def _get(self, request: ServedRequest) -> None:
        log = self.stream(request.headers.get("acp-session-id"))
        if self.resumes:
            if "last-event-id" in request.headers:
                log.is_sent = int(request.headers["last-event-id"])
            if log.is_sent < self.forgotten:
                body = {"error": {"code": -32000, "message": "gone", "data": {"reason": "gap"}}}
                await request.answer(410, json.dumps(body).encode())
                return
        elif log.reader is not None:
            await request.answer(409)
            return
        log.reader = request
        await request.begin(200, content_type="text/event-stream")
        self.tell()
        while log.reader is request and not request.is_gone.is_set():
            if log.is_sent == len(log.events):
                await log.more.wait()
                continue
            log.is_sent += 1
            data = log.events[log.is_sent - 1]
            head = b"id: %d\n" % log.is_sent if self.resumes else b""
            await request.send(head + b"data: %b\n\n" % data)

    async def _delete(self, request: ServedRequest) -> None:
        await request.answer(202)
        self.deleted.set()


__all__ = ["AcpScript", "Json"]

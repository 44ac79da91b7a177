"""The server: paths to formats, answers to bytes, and a record of all that was asked.

What always holds
    * It listens on loopback only.
    * A key is never in the record.
    * Closing it ends answers that hang.
"""

import contextlib
import gzip
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.fake_llm import catalogue, request_parser, simple_formats
from tests.fake_llm.anthropic_format import anthropic_events, anthropic_whole
from tests.fake_llm.directives import Action, Dropped, Usage, perform, usage_of
from tests.fake_llm.openai_responses_format import ResponseSpeaker
from tests.fake_llm.request_parser import Json, Request

DEFAULT = "Hello from the fake model."
TITLE = "Fake title"

_SECRET_HEADERS = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
_GARBAGE = "<html>the dog ate it</html>"


class FakeLLM(ThreadingHTTPServer):
    """The server.  `requests` is a list of {"path", "headers", "body", "reply"}."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self,
        port: int = 0,
        *,
        log: str | None = None,
        default: str = DEFAULT,
        title: str = TITLE,
        models: list[str] | None = None,
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.default, self.title = default, title
        self.models = models or list(catalogue.MODELS)
        # What the responses format keeps between requests.
        self.kept: dict[str, list[Any]] = {}
        self.failures: Counter[str] = Counter()
        # A status that requests without tools are answered with, such as those for a summary.
        self.refuses_plain: int | None = None
        self.requests: list[Json] = []
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._log = None if log is None else Path(log)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """Its address, without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def asked(self) -> list[Json]:
        """The bodies of all requests to a model, in order."""
        return [one["body"] for one in self.requests if isinstance(one["reply"], list)]

    def note(self, path: str, headers: dict[str, str], body: Any, reply: Any) -> None:
        """Record a request."""
        shown = {
            key: "…" if key.lower() in _SECRET_HEADERS else value for key, value in headers.items()
        }
        record = {"path": path, "reply": reply, "headers": shown, "body": body}
        with self._lock:
            self.requests.append(record)
            if self._log is not None:
                line = json.dumps({"t": round(time.time(), 3), **record})
                with self._log.open("a", encoding="utf-8") as log:
                    log.write(line + "\n")

    def fails_still(self, directive: str) -> bool:
        """Whether a `flaky` directive has failures left; each question takes one."""
        with self._lock:
            self.failures[directive] += 1
            return self.failures[directive] <= int(directive.split()[0])

    def server_close(self) -> None:
        """Stop listening, and end what hangs."""
        self.closing.set()
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that have disconnected."""


@contextlib.contextmanager
def serve(port: int = 0, **options: Any) -> Iterator[FakeLLM]:
    """A server in a thread of its own, for as long as the block runs."""
    server = FakeLLM(port, **options)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FakeLLM

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's word
        pass

    def do_HEAD(self) -> None:
        self._json({})

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.server.note(path, dict(self.headers), None, "GET")
        self._json(catalogue.answer(path, self.server.models))

    def do_POST(self) -> None:
        path = urlsplit(self.path).path
        body = self._body()
        server = self.server
        request = self._read(path, body)
        if request is None:
            server.note(path, dict(self.headers), body, "other")
            self._json(catalogue.counted(path))
            return
        actions = request_parser.plan(request, server.default, server.title)
        summary = [action.summary() for action in actions]
        server.note(path, dict(self.headers), body, summary)
        try:
            if not self._failed(request, actions):
                self._answer(request, actions, body)
        except Dropped:
            self.close_connection = True
            with contextlib.suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)
        except (BrokenPipeError, ConnectionResetError):
            server.note(path, {}, None, "client went away")
            self.close_connection = True

    def _body(self) -> Json:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            raw = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            raw = gzip.decompress(raw)
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {"_list": body}

    def _read(self, path: str, body: Json) -> Request | None:
        if path.endswith("/chat/completions"):
            return request_parser.read_chat(body)
        if path.endswith("/responses"):
            return request_parser.read_responses(body, self._items(body))
        if path.endswith("/messages"):
            return request_parser.read_anthropic(body)
        if "enerateContent" in path:
            return request_parser.read_gemini(body, path)
        if path.endswith(("/api/chat", "/api/generate")):
            return request_parser.read_chat(body, "ollama")
        return None

    def _items(self, body: Json) -> list[Any]:
        items = body.get("input") or []
        if isinstance(items, str):
            items = [{"type": "message", "role": "user", "content": items}]
        return self.server.kept.get(body.get("previous_response_id") or "", []) + items

    # ---- answering

    def _failed(self, request: Request, actions: list[Action]) -> bool:
        """Answer with the failure that was asked for, if one was."""
        if self.server.refuses_plain is not None and not request.tools:
            self._error(request, self.server.refuses_plain, "no tools, no answer")
            return True
        for action in actions:
            if action.kind == "error":
                code, _, message = (action.text or "500").partition(" ")
                self._error(request, int(code), message or "fake error")
                return True
            if action.kind == "flaky" and self.server.fails_still(action.text):
                _, code, wait, *rest = action.text.split(None, 3)
                message = rest[0] if rest else "fake error"
                self._error(request, int(code), message, {"Retry-After": wait})
                return True
            if action.kind == "garbage":
                self._send(_GARBAGE.encode(), 200, "text/html")
                return True
        return False

    def _error(
        self, request: Request, code: int, message: str, headers: dict[str, str] | None = None
    ) -> None:
        value = catalogue.error(request.form, code, message)
        self._send(json.dumps(value).encode(), code, "application/json", headers)

    def _answer(self, request: Request, actions: list[Action], body: Json) -> None:
        usage = usage_of(actions)
        if not request.stream:
            self._json(self._whole(request, actions, usage, body))
            return
        lines = self._lines(request, actions, usage, body)
        kind = "application/x-ndjson" if request.form == "ollama" else "text/event-stream"
        if request.form == "gemini" and "alt=sse" not in self.path:
            kind, lines = "application/json", iter([_as_list(lines)])
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        for line in lines:
            data = line.encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _lines(
        self, request: Request, actions: list[Action], usage: Usage, body: Json
    ) -> Iterator[str]:
        """A streamed answer as it goes over the wire."""
        pieces = perform(actions, self.server.closing)
        if request.form == "chat":
            for event in simple_formats.chat_events(request, pieces, usage):
                yield f"data: {json.dumps(event)}\n\n"
            yield "data: [DONE]\n\n"
        elif request.form == "gemini":
            for event in simple_formats.gemini_events(request, pieces, usage):
                yield f"data: {json.dumps(event)}\r\n\r\n"
        elif request.form == "ollama":
            for event in simple_formats.ollama_events(request, pieces, usage):
                yield json.dumps(event) + "\n"
        else:
            events = (
                anthropic_events(request, pieces, usage)
                if request.form == "anthropic"
                else self._responses(request, actions, usage, body)
            )
            for event in events:
                yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"

    def _responses(
        self, request: Request, actions: list[Action], usage: Usage, body: Json
    ) -> Iterator[Json]:
        speaker = ResponseSpeaker(request, body.get("tools") or [])
        yield from speaker.events(perform(actions, self.server.closing), usage)
        self.server.kept[speaker.id] = self._items(body) + speaker.output

    def _whole(self, request: Request, actions: list[Action], usage: Usage, body: Json) -> Json:
        pieces = perform(actions, self.server.closing)
        if request.form == "responses":
            *_, last = self._responses(request, actions, usage, body)
            whole: Json = last["response"]
            return whole
        make = {
            "chat": simple_formats.chat_whole,
            "anthropic": anthropic_whole,
            "gemini": simple_formats.gemini_whole,
            "ollama": simple_formats.ollama_whole,
        }[request.form]
        return make(request, pieces, usage)

    def _json(self, value: Any) -> None:
        self._send(json.dumps(value).encode(), 200, "application/json")

    def _send(
        self, data: bytes, status: int, kind: str, headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _as_list(lines: Iterator[str]) -> str:
    """Gemini without server-sent events: one JSON list."""
    return "[" + ",".join(line[len("data: ") :].strip() for line in lines) + "]"

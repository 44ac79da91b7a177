"""A small client over HTTP or WebSocket, and those made of it that break one rule each.

`network_clients.py TRANSPORT RULE URL` is the program that the kit starts.  It initializes, opens a
session, prompts, answers what it is asked, and ends its connection.
"""

from __future__ import annotations

import http.client
import json
import sys
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.defects.catalogue import Catalogue

HTTP = Catalogue()
WEBSOCKET = Catalogue()
Json = dict[str, Any]
SECONDS = 60


class SmallClient:
    """The steps of a client, over whatever `open`, `send` and `close` are."""

    def __init__(self, url: str) -> None:
        self.url = urlsplit(url)
        self.changed = threading.Condition()
        self.answers: dict[int, Json] = {}
        self.over = False

    def run(self) -> None:
        hello: Json = {"protocolVersion": 1, "clientCapabilities": {}}
        self.call(1, "initialize", hello)
        made = self.call(2, "session/new", {"cwd": str(Path.cwd()), "mcpServers": []})
        session = made["result"]["sessionId"]
        block = {"type": "text", "text": "hello"}
        self.call(3, "session/prompt", {"sessionId": session, "prompt": [block]})
        self.close()

    def call(self, name: int, method: str, params: Json) -> Json:
        self.send({"jsonrpc": "2.0", "id": name, "method": method, "params": params})
        with self.changed:
            assert self.changed.wait_for(lambda: name in self.answers or self.over, SECONDS)
        return self.answers[name]

    def received(self, message: Json, session: str | None) -> None:
        if "method" not in message:
            with self.changed:
                self.answers[message["id"]] = message
                self.changed.notify_all()
        elif "id" in message:
            known = message["method"] == "session/request_permission"
            outcome = {"result": {"outcome": {"outcome": "cancelled"}}}
            unknown = {"error": {"code": -32601, "message": "Method not found"}}
            answer = {"jsonrpc": "2.0", "id": message["id"], **(outcome if known else unknown)}
            self.send(answer, session)

    def ended(self) -> None:
        with self.changed:
            self.over = True
            self.changed.notify_all()

    def send(self, message: Json, session: str | None = None) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class HttpClient(SmallClient):
    """Over Streamable HTTP, one network connection for each request."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.headers: dict[str, str] = {}
        self.lock = threading.Lock()

    def request(self, method: str, headers: Json, body: bytes | None = None) -> Any:
        link = http.client.HTTPConnection(str(self.url.hostname), self.url.port or 80)
        link.request(method, self.url.path, body, {**self.headers, **headers})
        return link.getresponse()

    def post_headers(self, message: Json, session: str | None) -> dict[str, str]:
        params = message.get("params")
        named = params.get("sessionId") if isinstance(params, dict) else None
        headers = {"Content-Type": "application/json"}
        belongs_to = named or session
        return {**headers, "Acp-Session-Id": belongs_to} if belongs_to else headers

    def body(self, message: Json) -> bytes:
        return json.dumps(message).encode()

    def send(self, message: Json, session: str | None = None) -> None:
        headers = self.post_headers(message, session)
        with self.lock:
            response = self.request("POST", headers, self.body(message))
        text = response.read()
        if message.get("method") == "initialize":
            self.begin(response)
            self.received(json.loads(text), None)

    def begin(self, response: Any) -> None:
        self.headers["Acp-Connection-Id"] = response.headers["Acp-Connection-Id"]
        self.headers["Acp-Protocol-Version"] = "1"
        self.headers["Cookie"] = response.headers["Set-Cookie"].partition(";")[0]
        self.open_stream(None)

    def open_stream(self, session: str | None) -> None:
        headers = {"Accept": "text/event-stream"}
        headers |= {"Acp-Session-Id": session} if session else {}
        response = self.request("GET", headers)
        threading.Thread(target=self.read_stream, args=(response, session), daemon=True).start()

    def read_stream(self, response: Any, session: str | None) -> None:
        while line := response.readline():
            if line.startswith(b"data: "):
                self.take(json.loads(line[6:]), session)
        if session is None:
            self.ended()

    def take(self, message: Json, session: str | None) -> None:
        result = message.get("result")
        name = result.get("sessionId") if isinstance(result, dict) else None
        if name:
            self.open_stream(name)
        self.received(message, session)

    def close(self) -> None:
        self.request("DELETE", {}).read()


class WebSocketClient(SmallClient):
    """Over WebSocket."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        from websockets.sync.client import connect

        self.socket = connect(url, compression=None)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        for frame in self.socket:
            self.frame(frame)
        self.ended()

    def frame(self, frame: str | bytes) -> None:
        if isinstance(frame, str):
            self.received(json.loads(frame), None)

    def send(self, message: Json, session: str | None = None) -> None:
        self.socket.send(json.dumps(message))

    def close(self) -> None:
        self.socket.close()


@HTTP.breaks("TR-CLIENT-01")
class PostsText(HttpClient):
    def post_headers(self, message: Json, session: str | None) -> dict[str, str]:
        headers = super().post_headers(message, session)
        late = "result" in message or "error" in message
        return {**headers, "Content-Type": "text/plain"} if late else headers


@HTTP.breaks("TR-CLIENT-02")
class AnswersWithoutItsConnection(HttpClient):
    def send(self, message: Json, session: str | None = None) -> None:
        if "method" in message:
            super().send(message, session)
            return
        kept = self.headers.pop("Acp-Connection-Id")
        super().send(message, session)
        self.headers["Acp-Connection-Id"] = kept


@HTTP.breaks("TR-CLIENT-03")
class AnswersWithoutTheSession(HttpClient):
    def received(self, message: Json, session: str | None) -> None:
        super().received(message, None)


@HTTP.breaks("TR-CLIENT-04")
class OpensItsStreamTwice(HttpClient):
    def open_stream(self, session: str | None) -> None:
        super().open_stream(session)
        if session is None:
            self.request("GET", {"Accept": "text/event-stream"}).read()


@HTTP.breaks("TR-CLIENT-05")
class LeavesWithoutAWord(HttpClient):
    def close(self) -> None:
        pass


@HTTP.breaks("TR-HTTP-03")
class ForgetsCookies(HttpClient):
    def begin(self, response: Any) -> None:
        super().begin(response)
        del self.headers["Cookie"]


@HTTP.breaks("TR-HTTP-17")
class KeepsItsVersionToItself(HttpClient):
    def begin(self, response: Any) -> None:
        super().begin(response)
        del self.headers["Acp-Protocol-Version"]


@WEBSOCKET.breaks("TR-HTTP-16")
class ReadsBinaryFrames(WebSocketClient):
    def frame(self, frame: str | bytes) -> None:
        self.received(json.loads(frame), None)


@HTTP.breaks("TR-HTTP-01")
class SpeaksOnlyHttp(HttpClient):
    """Ends at once with any other URL."""

    def __init__(self, url: str) -> None:
        if not url.startswith("http"):
            raise SystemExit("only HTTP is supported")
        super().__init__(url)


@WEBSOCKET.breaks("TR-HTTP-01")
class SpeaksOnlyWebSocket(WebSocketClient):
    def __init__(self, url: str) -> None:
        if not url.startswith("ws"):
            raise SystemExit("only WebSocket is supported")
        super().__init__(url)


def main(transport: str, rule: str, url: str) -> None:
    """Run the client that breaks a rule over a transport, or a right one."""
    catalogue = HTTP if transport == "http" else WEBSOCKET
    right = HttpClient if url.startswith("http") else WebSocketClient
    wanted = catalogue.get(rule, right)
    # Over the other transport it is right, unless there is no other.
    is_own = issubclass(wanted, right) or rule == "TR-HTTP-01"
    (wanted if is_own else right)(url).run()


if __name__ == "__main__":
    main(*sys.argv[1:])

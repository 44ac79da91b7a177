"""A small server that keeps every rule of HTTP and WebSocket which the kit can see.

The broken ones are made of it by overriding one thing.  Its agent answers a prompt with one
message, and has sessions that can be loaded by the user who made them.
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import ByteStream, TaskGroup
from anyio.streams.tls import TLSListener

from accord.conformance.frames.raw_peer import Message, RawPeer, Reply
from accord.conformance.network.http1 import Head, head_bytes
from accord.conformance.network.http_listener import HttpListener, Response, Seen, serve_websocket
from accord.conformance.network.line_stream import LineStream
from accord.conformance.network.served_connection import ServedHttp

OWN_HOSTS = ("127.0.0.1", "localhost")
INVALID_PARAMS = -32602
MESSAGE_BYTES_MAX = 32 * 2**20


@dataclass(slots=True)
class SmallAgent:
    """One connection's agent."""

    peer: RawPeer
    user: str
    # Session -> its user, of all connections.
    sessions: dict[str, str]
    initialized: bool = False

    def serve(self) -> None:
        self.peer.responders |= {
            "initialize": self.initialize,
            "session/new": self.new,
            "session/load": self.load,
            "session/prompt": self.prompt,
        }

    async def initialize(self, params: Message) -> Reply:
        if self.initialized:
            return Reply.refused(-32600, "a connection is initialized once")
        self.initialized = True
        return Reply({"protocolVersion": 1, "agentCapabilities": {"loadSession": True}})

    async def new(self, params: Message) -> Reply:
        name = f"session-{len(self.sessions)}"
        self.sessions[name] = self.user
        return Reply({"sessionId": name})

    def owns(self, name: str) -> bool:
        return self.sessions.get(name) == self.user

    async def load(self, params: Message) -> Reply:
        if not self.owns(params["sessionId"]):
            return Reply.refused(INVALID_PARAMS, "no such session")
        return Reply({})

    async def prompt(self, params: Message) -> Reply:
        content = {"type": "text", "text": "hello"}
        update = {"sessionUpdate": "agent_message_chunk", "content": content}
        session = params["sessionId"]
        await self.peer.notify("session/update", {"sessionId": session, "update": update})
        return Reply({"stopReason": "end_turn"})


@dataclass(slots=True)
class SmallServer(HttpListener):
    """Serves the small agent.  With `users` (token -> name) a bearer token is needed."""

    users: dict[str, str] = field(default_factory=dict)
    tasks: TaskGroup | None = None
    sessions: dict[str, str] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    agent: type[SmallAgent] = SmallAgent

    def begin(self, link: LineStream, user: str) -> None:
        assert self.tasks is not None
        peer = RawPeer(link, link)
        self.agent(peer, user, self.sessions).serve()
        self.tasks.start_soon(peer.pump)

    # Who may.

    def user_of(self, head: Head) -> str | None:
        token = (head.header("authorization") or "").removeprefix("Bearer ")
        return self.users.get(token) if self.users else ""

    def refusal(self, head: Head) -> Response | None:
        host = (head.header("host") or "").rpartition(":")[0]
        if host not in OWN_HOSTS or head.header("origin") is not None:
            return Response(403, b"Forbidden")
        return Response(401, b"Who are you?") if self.user_of(head) is None else None

    async def respond(self, seen: Seen) -> Response:
        refused = self.refusal(seen.head)
        return refused or await HttpListener.respond(self, seen)

    def get(self, seen: Seen) -> Any:
        return self.refusal(seen.head) or HttpListener.get(self, seen)

    async def post(self, seen: Seen) -> Response:
        if len(seen.body) > MESSAGE_BYTES_MAX:
            return Response(413, b"The message is too long")
        return await HttpListener.post(self, seen)

    async def initialize(self, seen: Seen, message: Message) -> Response:
        self.connected = lambda link: self.begin(link, str(self.user_of(seen.head)))
        response = await HttpListener.initialize(self, seen, message)
        for name, value in response.headers:
            if name == "Acp-Connection-Id":
                self.owners[value] = str(self.user_of(seen.head))
        return response

    def find(self, seen: Seen) -> ServedHttp | Response:
        found = HttpListener.find(self, seen)
        if isinstance(found, ServedHttp) and self.owners.get(found.id) != self.user_of(seen.head):
            return Response(404, b"Unknown Acp-Connection-Id")
        return found

    # WebSocket.

    upgrade_headers: dict[str, str] | None = None

    async def upgrade(self, stream: ByteStream, head: Head, rest: bytes) -> None:
        refused = self.refusal(head)
        if refused is not None:
            await stream.send(
                head_bytes(f"HTTP/1.1 {refused.status} No", [("Content-Length", "0")])
            )
            return
        user = str(self.user_of(head))
        await serve_websocket(
            stream,
            head,
            rest,
            lambda link: self.begin_socket(link, user),
            self.binary_frames,
            self.upgrade_headers,
        )

    def begin_socket(self, link: Any, user: str) -> None:
        self.begin(FirstInitialize(link), user)


class FirstInitialize(LineStream):
    """A socket that is closed when its first message is not `initialize`, and checks each one."""

    def __init__(self, link: Any) -> None:
        self.link = link
        self.is_open = False

    async def receive(self, max_bytes: int = 65_536) -> bytes:
        line = await self.link.receive(max_bytes)
        if not self.is_open and b'"initialize"' not in line[:2_000]:
            self.link.protocol.send_close(1002)
            await self.link.flush()
            raise anyio.EndOfStream
        self.is_open = True
        return await self.checked(line)

    async def checked(self, line: bytes) -> bytes:
        """Answer here what is not a message; the agent's peer only skips it."""
        text = line.strip()
        code = -32700 if text == b"{" else -32600 if not text.startswith((b"{", b"[")) else 0
        if code:
            error = b'{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":"bad"}}\n' % code
            await self.link.send(error)
        return line

    async def send(self, item: bytes) -> None:
        await self.link.send(item)

    async def aclose(self) -> None:
        await self.link.aclose()


@contextlib.asynccontextmanager
async def served(server: SmallServer, tls: ssl.SSLContext | None = None) -> AsyncGenerator[int]:
    """Serve on a free port of this machine, which comes back."""
    listener: Any = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    if tls is not None:
        listener = TLSListener(listener, tls, standard_compatible=False)
    async with listener, anyio.create_task_group() as tasks:
        server.tasks = tasks
        tasks.start_soon(listener.serve, server.serve)
        yield port
        server.end()
        tasks.cancel_scope.cancel()

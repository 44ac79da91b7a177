"""The ASGI application: a guard, authorisation, and then the endpoint or the WebSocket.

It needs no framework, and runs on every ASGI server that uses asyncio.  Connections live in this
process, so a server must run it in one process, or send each client to the same one.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Iterable
from types import TracebackType

from accord.errors import LocalProtocolError
from accord.machine.redacted_logs import logger
from accord.transport.remote_limits import RemoteLimits
from accord.transport.server.answers import (
    WRONG_METHOD,
    Header,
    HttpAnswer,
    text_answer,
    without_body,
)
from accord.transport.server.authorization import UNAUTHORIZED, AuthHook, principal_of
from accord.transport.server.connections import Connections, Serve
from accord.transport.server.http_endpoint import Endpoint
from accord.transport.server.request_guard import Refusal, guard_of
from accord.transport.server.requests import Receive, RemoteRequest, Scope, Send, read_request
from accord.transport.server.websocket.asgi_socket import serve_websocket

_log = logger("accord.transport")

DEFAULT_PATH = "/acp"
NOT_FOUND = Refusal(404, "Not found")
UNKNOWN_SENDER = Refusal(
    UNAUTHORIZED, "Credentials are missing or were refused", (("www-authenticate", "Bearer"),)
)
PREFLIGHT = Refusal(204, "")
"""The answer to a browser that asks for a page whether it may send a request."""
# Between the slashes of a path: what stands in a URL without being encoded.
_SEGMENT = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@-]+\Z")

# What a web page of another origin may send and see.
_CORS = (
    ("access-control-allow-methods", "DELETE, GET, POST"),
    (
        "access-control-allow-headers",
        ", ".join(
            (
                *("accept", "authorization", "content-type", "last-event-id"),
                *("accord-message", "accord-resume"),
                *("acp-connection-id", "acp-protocol-version", "acp-session-id"),
            )
        ),
    ),
    ("access-control-expose-headers", "accord-resume, acp-connection-id"),
    ("access-control-max-age", "600"),
)


class RemoteApplication:
    """An agent at a URL.  Mount it into an ASGI application, or give it to an ASGI server.

    As an async context manager it ends its connections at the end, for a program whose server
    does not tell mounted applications that it shuts down.
    """

    def __init__(
        self,
        serve: Serve,
        *,
        auth: AuthHook | None = None,
        origins: Iterable[str] | None = None,
        hosts: Iterable[str] | None = None,
        path: str = DEFAULT_PATH,
        limits: RemoteLimits | None = None,
    ) -> None:
        self.limits = (limits or RemoteLimits()).checked()
        self.path = _checked_path(path)
        self.guard = guard_of(hosts, origins, has_auth=auth is not None)
        self.connections = Connections(serve, self.limits)
        # Whether TLS ends in front of the ASGI server, in this program.
        self.is_encrypted = False
        self._auth = auth
        self._endpoint = Endpoint(self.connections, self.limits)

    async def __aenter__(self) -> RemoteApplication:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End every connection; new ones are refused."""
        await self.connections.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, one WebSocket, or the server's own life."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        request = read_request(scope, is_encrypted=self.is_encrypted)
        await self.serve(request, await self.admit(request), scope, receive, send)

    async def serve(
        self,
        request: RemoteRequest,
        admitted: str | Refusal,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Answer one request, or one WebSocket, of this principal, or refuse it."""
        if request.is_websocket:
            await serve_websocket(
                self.connections, self.limits, request, admitted, scope, receive, send
            )
            return
        if request.method == "HEAD":
            send = without_body(send)
        answer = await self._answer(request, admitted, receive, send)
        if answer is not None:
            # A client that does not read its answer does not keep the request for ever.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.limits.stall_seconds):
                    await answer.send(send, self._cors(request))

    async def admit(self, request: RemoteRequest) -> str | Refusal:
        """Return the principal of a request, or why the request is refused."""
        refusal = self.guard.refusal(request)
        if refusal is not None:
            _log.info("a request was refused: %s", refusal.reason)
            return refusal
        if request.path != self.path:
            return NOT_FOUND
        if self.is_preflight(request):
            return PREFLIGHT
        principal = await principal_of(self._auth, request, self.limits.auth_seconds)
        if principal is None:
            return UNKNOWN_SENDER
        return principal

    def connections_at(self, path: str) -> Connections:
        """Return the connections to the agent; there is one path."""
        del path
        return self.connections

    async def _answer(
        self, request: RemoteRequest, admitted: str | Refusal, receive: Receive, send: Send
    ) -> HttpAnswer | None:
        if isinstance(admitted, Refusal):
            return text_answer(admitted.status, admitted.reason, *admitted.headers)
        match request.method:
            case "POST":
                return await self._endpoint.post(request, admitted, receive)
            case "GET":
                return await self._endpoint.get(
                    request, admitted, receive, send, self._cors(request)
                )
            case "DELETE":
                return await self._endpoint.delete(request, admitted)
            case _:
                return WRONG_METHOD

    def is_preflight(self, request: RemoteRequest) -> bool:
        """Whether a browser asks for a page whether it may send a request."""
        return (
            request.method == "OPTIONS"
            and "access-control-request-method" in request.headers
            and self.guard.allows(request.headers.get("origin", ""))
        )

    def _cors(self, request: RemoteRequest) -> tuple[Header, ...]:
        origin = request.headers.get("origin", "")
        if not self.guard.allows(origin):
            return ()
        return (
            ("access-control-allow-origin", origin),
            ("access-control-allow-credentials", "true"),
            ("vary", "Origin"),
            *_CORS,
        )

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self.aclose()
                await send({"type": "lifespan.shutdown.complete"})
                return


def _checked_path(path: str) -> str:
    """Return a path that stands in a URL as it is.

    Raises:
        LocalProtocolError: no request could have it, or a client would send it otherwise.
    """
    checked = "/" + path.strip("/")
    segments = checked[1:].split("/")
    if checked != "/" and not all(_SEGMENT.match(one) and one.strip(".") for one in segments):
        raise LocalProtocolError(
            f"a path is one as in a URL, such as /acp or /agents/tidy, and needs no %: {path!r}"
        )
    return checked


__all__ = ["DEFAULT_PATH", "NOT_FOUND", "PREFLIGHT", "UNKNOWN_SENDER", "RemoteApplication"]

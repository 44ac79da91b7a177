"""A request as the guard, the authorisation and the endpoints see it, its body, and ASGI types."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from accord.transport.remote_limits import RemoteLimits

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RemoteRequest:
    """One HTTP request or WebSocket upgrade, for an `auth` function.

    Header names are in lower case.  A header that was sent several times has all of its values,
    joined by commas.  `client` is the address of the client, as far as the server knows it.  Its
    `repr` shows neither the headers nor the query, which may hold credentials.
    """

    method: str
    path: str
    query: str = field(repr=False)
    headers: dict[str, str] = field(repr=False)
    client: str | None = None
    is_websocket: bool = False
    is_encrypted: bool = False

    @property
    def bearer_token(self) -> str | None:
        """The token of the `Authorization` header, if it has one."""
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() or None if scheme.lower() == "bearer" else None


class BodyRefused(Exception):
    """The body of a request is too long or too slow, or its client is gone."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


# It is sent if the client is still there: its body was malformed.
CLIENT_GONE = 400
TOO_LONG = 413
TOO_SLOW = 408
NO_ROOM = 503


def read_request(scope: Scope, *, is_encrypted: bool = False) -> RemoteRequest:
    """Read what an ASGI server says about a request.

    `is_encrypted` if TLS ends in front of that server, in this program.
    """
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    client: Any = scope.get("client")
    return RemoteRequest(
        method=scope.get("method", "GET"),
        path=path_below_mount(scope),
        query=scope.get("query_string", b"").decode("latin-1"),
        headers=headers,
        client=str(client[0]) if client else None,
        is_websocket=scope["type"] == "websocket",
        is_encrypted=is_encrypted or scope.get("scheme") in ("https", "wss"),
    )


def path_below_mount(scope: Scope) -> str:
    """Return the path without the place where the application is mounted."""
    path: str = scope["path"]
    return "/" + path.removeprefix(scope.get("root_path", "")).strip("/")


class Bodies:
    """The bodies that a server reads at the same time.

    Guards: together they hold at most `bodies_bytes`.
    """

    def __init__(self, limits: RemoteLimits) -> None:
        self._limits = limits
        self.held_bytes = 0

    async def read(self, request: RemoteRequest, receive: Receive) -> bytes:
        """Read the whole body of a request.

        Raises:
            BodyRefused: it is over a limit, or the client is gone.
        """
        body = bytearray()
        try:
            await self._read(request, receive, body)
            return bytes(body)
        finally:
            self.held_bytes -= len(body)

    def _add(self, body: bytearray, piece: bytes) -> None:
        # One buffer: as many small pieces would need many times their size.
        body += piece
        self.held_bytes += len(piece)
        if self.held_bytes > self._limits.bodies_bytes:
            raise BodyRefused(NO_ROOM, "Too many large messages at once (bodies_bytes)")

    async def _read(self, request: RemoteRequest, receive: Receive, body: bytearray) -> None:
        limits = self._limits
        too_long = BodyRefused(
            TOO_LONG, f"The message is longer than message_bytes, {limits.message_bytes} bytes"
        )
        # A body that is a little too long is read to its end: over HTTP/1.1, an answer that comes
        # while the client still sends is lost with the connection.
        bytes_max = limits.message_bytes * 2
        declared = request.headers.get("content-length", "")
        # More digits are over any limit, and costly to turn into a number.
        if declared.isdecimal() and int(declared[:20]) > bytes_max:
            raise too_long
        size = 0
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(limits.body_seconds) as patience:
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise BodyRefused(CLIENT_GONE, "The body is malformed, or ended early")
                    piece: bytes = message.get("body", b"")
                    size += len(piece)
                    is_last = not message.get("more_body", False)
                    if size <= limits.message_bytes:
                        self._add(body, piece)
                    elif is_last or size > bytes_max:
                        raise too_long
                    if is_last:
                        return
                    patience.reschedule(began + limits.body_seconds_for(size))
        except TimeoutError:
            raise BodyRefused(
                TOO_SLOW, f"The message took longer than body_seconds, {limits.body_seconds:g} s"
            ) from None


__all__ = [
    "Bodies",
    "BodyRefused",
    "Headers",
    "Message",
    "Receive",
    "RemoteRequest",
    "Scope",
    "Send",
    "path_below_mount",
    "read_request",
]

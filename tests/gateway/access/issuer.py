"""An identity provider for tests: keys, tokens, and its documents on a real HTTP server."""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Any

import anyio
import jwt
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.tls import TLSListener
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

ISSUER = "https://issuer.example"
AUDIENCE = "accord"
Json = dict[str, Any]


@cache
def private_key(kind: str, number: int = 0) -> Any:
    """A key that is made once per test run; `number` tells several of a kind apart."""
    if kind.startswith("RSA"):
        size = int(kind[3:] or 2048)
        return rsa.generate_private_key(65537, size)
    if kind == "Ed25519":
        return ed25519.Ed25519PrivateKey.generate()
    return ec.generate_private_key(ec.SECP384R1() if kind == "P-384" else ec.SECP256R1())


def public_jwk(key: Any, kid: str | None = "k1", **members: object) -> Json:
    """The entry of a private key in a set of keys."""
    if isinstance(key, rsa.RSAPrivateKey):
        found = RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    elif isinstance(key, ed25519.Ed25519PrivateKey):
        found = OKPAlgorithm.to_jwk(key.public_key(), as_dict=True)
    else:
        found = ECAlgorithm.to_jwk(key.public_key(), as_dict=True)
    found.pop("key_ops", None)
    return {**found, **({} if kid is None else {"kid": kid}), **members}


def key_set(*entries: object) -> bytes:
    return json.dumps({"keys": entries}).encode()


def now() -> int:
    """The time of day, which tokens are made for."""
    return int(datetime.now(UTC).timestamp())


def claims(**changes: object) -> Json:
    """The claims of a valid token; None leaves one out."""
    made = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "ann",
        "name": "Ann",
        "scope": "openid accord:codex",
        "iat": now() - 10,
        "exp": now() + 3600,
        **changes,
    }
    return {name: value for name, value in made.items() if value is not None}


def token(
    key: Any = None,
    algorithm: str = "RS256",
    kid: object = "k1",
    headers: Mapping[str, object] | None = None,
    **changes: object,
) -> str:
    """A signed token."""
    made = {**({} if kid is None else {"kid": kid}), **(headers or {})}
    key = private_key("RSA") if key is None else key
    return jwt.encode(claims(**changes), key, algorithm, headers=made)


def raw_token(header: object, payload: object, signature: bytes = b"x") -> str:
    """A token of any three parts, as no library would make it."""

    def part(value: object) -> str:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        return base64.urlsafe_b64encode(data).decode().rstrip("=")

    return f"{part(header)}.{part(payload)}.{part(signature)}"


class DocumentServer:
    """Serves documents by path, and counts who asks; a missing one is answered with 404."""

    def __init__(self) -> None:
        self.documents: dict[str, bytes] = {}
        self.heads: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def handle(self, stream: ByteStream) -> None:
        """Answer one request, and close."""
        async with stream:
            request = b""
            while b"\r\n\r\n" not in request:
                request += await stream.receive()
            path = request.split(b" ")[1].decode()
            self.asked.append(path)
            body = self.documents.get(path)
            head = self.heads.get(path)
            if head is None:
                status = b"404 Not Found" if body is None else b"200 OK"
                head = b"HTTP/1.1 %b\r\ncontent-length: %d\r\n\r\n" % (status, len(body or b""))
            try:
                await stream.send(head + (body or b""))
            except anyio.BrokenResourceError:
                pass


@asynccontextmanager
async def document_server(tls: ssl.SSLContext | None = None) -> AsyncIterator[DocumentServer]:
    """Serve documents on loopback."""
    server = DocumentServer()
    listener: Any = await anyio.create_tcp_listener(local_host="127.0.0.1")
    server.port = listener.extra(SocketAttribute.local_port)
    if tls is not None:
        listener = TLSListener(listener, tls, standard_compatible=False)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, server.handle)
        yield server
        tasks.cancel_scope.cancel()


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

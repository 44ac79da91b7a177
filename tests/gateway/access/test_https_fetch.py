"""The issuer's documents over a real socket: bounds, TLS, and what is not followed."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from anyio.abc import ByteStream

from accord.gateway.access import https_fetch
from accord.gateway.access.https_fetch import DOCUMENT_BYTES_MAX, FetchFailed, fetch
from tests.gateway.access.issuer import DocumentServer, document_server
from tests.machine.certificates import make_certificate


async def test_a_document_comes_over_plain_http_from_this_computer() -> None:
    """Issue 17: https only, except loopback."""
    async with document_server() as server:
        server.documents["/keys?tenant=1"] = b'{"keys": []}'
        assert await fetch(f"{server.url}/keys?tenant=1") == b'{"keys": []}'


async def test_a_document_comes_over_https_with_a_valid_certificate_only(tmp_path: Path) -> None:
    """Ours: whoever can replace the keys can be anybody."""
    certificate = make_certificate(tmp_path)
    async with document_server(certificate.server_context()) as server:
        server.documents["/keys"] = b"{}"
        url = f"https://localhost:{server.port}/keys"
        assert await fetch(url, tls=certificate.client_context()) == b"{}"
        with pytest.raises(FetchFailed, match="no valid certificate"):
            await fetch(url)


CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"


async def test_an_answer_may_come_in_chunks_or_end_with_its_connection() -> None:
    """RFC 9112: both are common."""
    async with document_server() as server:
        server.heads["/chunks"] = CHUNKED
        server.heads["/end"] = b"HTTP/1.1 200 OK\r\n\r\n{}"
        assert await fetch(f"{server.url}/chunks") == b"{}"
        assert await fetch(f"{server.url}/end") == b"{}"


LONG = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b"
ANSWERS: dict[str, tuple[bytes, str]] = {
    "missing": (b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "status 404"),
    "elsewhere": (
        b"HTTP/1.1 302 Found\r\nlocation: http://evil.example/\r\ncontent-length: 0\r\n\r\n",
        "status 302",
    ),
    "too long": (
        LONG % (DOCUMENT_BYTES_MAX + 1, b"x" * (DOCUMENT_BYTES_MAX + 1)),
        "sends more than",
    ),
    "too long without saying so": (
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (DOCUMENT_BYTES_MAX + 1),
        "sends more than",
    ),
    "cut off": (LONG % (100, b"{"), "closed the connection"),
    "nothing": (b"", "closed the connection"),
    "another protocol": (b"SSH-2.0-x\r\n\r\n", "does not answer in HTTP"),
    "long headers": (b"HTTP/1.1 200 OK\r\na: " + b"x" * 100_000, "too long"),
}


@pytest.mark.parametrize(("answer", "reason"), ANSWERS.values(), ids=ANSWERS)
async def test_any_other_answer_is_a_failure(answer: bytes, reason: str) -> None:
    """Issue 17: size limit; network failures refuse with a log, not a crash."""
    async with document_server() as server:
        server.heads["/keys"] = answer
        with pytest.raises(FetchFailed, match=reason):
            await fetch(f"{server.url}/keys")


@pytest.mark.parametrize(
    "url",
    ["http://192.0.2.1/keys", "ws://127.0.0.1/keys", "file:///etc/passwd", "https://a:b@c/", "x"],
)
async def test_other_urls_are_not_fetched(url: str) -> None:
    """Issue 17: https only; the password of a URL is not shown."""
    with pytest.raises(FetchFailed) as failed:
        await fetch(url)
    assert "a:b" not in str(failed.value)


async def test_a_server_that_is_not_there_is_a_failure() -> None:
    """Issue 17."""
    async with document_server() as server:
        url = f"{server.url}/keys"
    with pytest.raises(FetchFailed, match="cannot be reached"):
        await fetch(url)


@pytest.mark.parametrize("name", ["issuer.invalid", f"{'a' * 70}.example", "a..b"])
async def test_a_name_that_does_not_exist_is_a_failure(name: str) -> None:
    """Issue 17: nor one that cannot exist."""
    with pytest.raises(FetchFailed, match="cannot be reached"):
        await fetch(f"https://{name}/keys")


async def test_a_server_that_closes_within_the_handshake_is_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Issue 17."""

    class Closing(DocumentServer):
        async def handle(self, stream: ByteStream) -> None:
            async with stream:
                await stream.receive()

    monkeypatch.setattr("tests.gateway.access.issuer.DocumentServer", Closing)
    async with document_server() as server:
        with pytest.raises(FetchFailed, match=r"closed the connection|cannot be reached|valid"):
            await fetch(f"https://127.0.0.1:{server.port}/keys")


async def test_a_server_that_says_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 17: time limit."""
    monkeypatch.setattr(https_fetch, "FETCH_SECONDS_MAX", 0.05)

    class Silent(DocumentServer):
        async def handle(self, stream: ByteStream) -> None:
            async with stream:
                await anyio.sleep_forever()

    monkeypatch.setattr("tests.gateway.access.issuer.DocumentServer", Silent)
    async with document_server() as server:
        with pytest.raises(FetchFailed, match="took longer"):
            await fetch(f"{server.url}/keys")

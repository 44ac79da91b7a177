"""HTTP/1.1 as the kit reads it, whatever pieces it comes in."""

from __future__ import annotations

import anyio
import pytest
from anyio.abc import ByteReceiveStream
from hypothesis import given
from hypothesis import strategies as st

from accord.conformance.network.http1 import BadHttp, HttpReader, cookie_pairs, fits_header


class Pieces(ByteReceiveStream):
    """A stream that gives its bytes in pieces, and ends."""

    def __init__(self, data: bytes, size: int = 1) -> None:
        self.data = data
        self.size = size

    async def receive(self, max_bytes: int = 65_536) -> bytes:
        if not self.data:
            raise anyio.EndOfStream
        part, self.data = self.data[: self.size], self.data[self.size :]
        return part

    async def aclose(self) -> None:
        pass


CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"
)
LENGTH = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 5\r\nSet-Cookie: a=b; Path=/\r\n\r\nabcde"
UNTIL_END = b"HTTP/1.1 200 OK\r\n\r\nabcde"
NO_BODY = b"HTTP/1.1 204 No Content\r\n\r\n"


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize(
    ("data", "body"),
    [(CHUNKED, b"abcde"), (LENGTH, b"abcde"), (UNTIL_END, b"abcde"), (NO_BODY, b"")],
)
async def test_a_response_is_read_in_any_pieces(data: bytes, body: bytes, size: int) -> None:
    reader = HttpReader(Pieces(data, size))
    head = await reader.head()
    assert head is not None
    assert await reader.body(head, of_response=True) == body
    assert await reader.head() is None


async def test_requests_follow_each_other() -> None:
    data = (
        b"POST /acp HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}GET /acp HTTP/1.1\r\nAccept: x\r\n\r\n"
    )
    reader = HttpReader(Pieces(data, 5))
    first = await reader.head()
    assert first is not None
    assert (first.words[0], await reader.body(first, of_response=False)) == ("POST", b"{}")
    second = await reader.head()
    assert second is not None
    assert (second.words[0], second.header("accept")) == ("GET", "x")


async def whole_response(data: bytes) -> bytes:
    reader = HttpReader(Pieces(data, 1_000))
    head = await reader.head()
    assert head is not None
    return await reader.body(head, of_response=True)


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 hello\r\n\r\n",
        b"HTTP/1.1 200",
        b"x" * 70_000,
        b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab",
    ],
)
async def test_what_is_not_http_is_said(data: bytes) -> None:
    """Ours: whatever a judged program sends is a finding, never a crash."""
    with pytest.raises(BadHttp):
        await whole_response(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    async def read() -> None:
        reader = HttpReader(Pieces(data, 7))
        try:
            head = await reader.head()
            if head is not None:
                await reader.body(head, of_response=data.startswith(b"HTTP"))
        except BadHttp:
            pass

    anyio.run(read)


async def test_cookies_are_read_without_their_attributes() -> None:
    head = await HttpReader(Pieces(LENGTH, 100)).head()
    assert head is not None
    assert cookie_pairs(head) == {"a": "b"}


@pytest.mark.parametrize("text", ["", " ", "é", "a\nb", 5, None])
def test_not_every_id_fits_a_header(text: object) -> None:
    assert not fits_header(text)
    assert fits_header("session-1")

"""Answers in HTTP/1.1: any split, anything malformed, and what `h11` makes of the same bytes."""

from __future__ import annotations

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.transport.http.connections.h1_response import (
    BadResponse,
    ResponseEnd,
    ResponseHead,
    ResponseReader,
)

Seen = tuple[int, list[tuple[str, str]], bytes, bool] | str
HEADERS = st.lists(
    st.tuples(
        st.sampled_from(["acp-connection-id", "x", "set-cookie", "connection"]),
        st.sampled_from(["a", "keep-alive", "close", "a=b; Path=/"]),
    ),
    max_size=4,
)
PIECES = st.lists(st.binary(min_size=1, max_size=50), max_size=6)


def read(pieces: list[bytes], *, finish: bool = False) -> Seen:
    """The whole of one answer."""
    reader = ResponseReader()
    reader.expect()
    head: ResponseHead | None = None
    body = b""
    try:
        for piece in pieces:
            for event in reader.feed(piece):
                if isinstance(event, bytes):
                    body += event
                elif isinstance(event, ResponseHead):
                    head = event
                else:
                    assert head is not None
                    return (head.status, head.headers, body, event.is_reusable)
        for event in reader.finish() if finish else []:
            assert isinstance(event, ResponseEnd)
            assert head is not None
            return (head.status, head.headers, body, event.is_reusable)
    except BadResponse:
        return "bad"
    return "open"


def by_h11(data: bytes) -> Seen:
    """The same by `h11`."""
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method="GET", target="/", headers=[("host", "x")]))
    client.send(h11.EndOfMessage())
    client.receive_data(data)
    client.receive_data(b"")
    head: h11.Response | None = None
    body = b""
    try:
        while True:
            event = client.next_event()
            if isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                assert head is not None
                headers = [(name.decode(), value.decode("latin-1")) for name, value in head.headers]
                return (head.status_code, headers, body, client.their_state is h11.DONE)
            elif isinstance(event, h11.ConnectionClosed):
                return "bad"
    except h11.RemoteProtocolError:
        return "bad"


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[begin:end] for begin, end in zip(edges, edges[1:], strict=False)]  # noqa: RUF007


def written(
    status: int, headers: list[tuple[str, str]], chunks: list[bytes], form: str, version: str
) -> bytes:
    lines = [f"HTTP/{version} {status} OK", *(f"{name}: {value}" for name, value in headers)]
    body = b"".join(chunks)
    if form == "chunked":
        lines.append("Transfer-Encoding: chunked")
        body = b"".join(b"%x;a=b\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
        body += b"0\r\nx: y\r\n\r\n"
    elif form == "length":
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


@given(
    st.sampled_from([200, 202, 204, 304, 404, 500]),
    HEADERS,
    PIECES,
    st.sampled_from(["chunked", "length", "until close"]),
    st.sampled_from(["1.0", "1.1"]),
    st.lists(st.integers(0, 1000), max_size=8),
)
def test_any_split_is_read_as_h11_reads_it(
    status: int,
    headers: list[tuple[str, str]],
    chunks: list[bytes],
    form: str,
    version: str,
    places: list[int],
) -> None:
    """RFC 9112."""
    if status in (204, 304):
        chunks = []
        form = "length" if form == "chunked" else form
    if form == "chunked":
        version = "1.1"
    data = written(status, headers, chunks, form, version)
    found = read(cut(data, places), finish=True)
    known = by_h11(data)
    assert isinstance(found, tuple)
    assert isinstance(known, tuple)
    assert found[:3] == known[:3]
    if form == "until close" and status not in (204, 304):
        assert not found[3]
    elif version == "1.1":
        # `h11` lets no connection of HTTP/1.0 be used again.
        assert found[3] == known[3]


@given(st.binary(max_size=300), st.lists(st.integers(0, 1000), max_size=4))
def test_no_bytes_make_it_fail_otherwise(data: bytes, places: list[int]) -> None:
    """Ours: bad input is one exception."""
    for prefix in (b"", b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"):
        read(cut(prefix + data, places), finish=True)


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 999 OK\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\na b: c\r\n\r\n",
        b"HTTP/1.1 200 OK\r\na: b\0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"1" * 2000,
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n" + b"x" * 70_000,
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nab",
        b"x" * 70_000,
        b"HTTP/1.1 200 OK\r\na: " + b"b" * 70_000 + b"\r\n\r\n",
    ],
)
def test_malformed_answers_are_refused(data: bytes) -> None:
    """RFC 9112, and the limits on headers."""
    reader = ResponseReader()
    reader.expect()
    with pytest.raises(BadResponse):
        reader.feed(data)


def test_an_answer_that_nobody_asked_for_is_refused() -> None:
    """RFC 9112, 9.2."""
    with pytest.raises(BadResponse):
        ResponseReader().feed(b"HTTP/1.1 408 Timeout\r\n\r\n")


def test_informational_answers_are_skipped_and_a_cut_one_is_told() -> None:
    """RFC 9110, 15.2."""
    reader = ResponseReader()
    assert reader.finish() == []
    reader.expect()
    assert reader.feed(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202\r\nconte") == []
    with pytest.raises(BadResponse):
        reader.finish()
    assert reader.feed(b"nt-length: 0\r\n\r\n") == [
        ResponseHead(202, [("content-length", "0")]),
        ResponseEnd(is_reusable=True),
    ]

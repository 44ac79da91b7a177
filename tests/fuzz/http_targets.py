"""Fuzz targets for what a server sends over HTTP: events, answers, frames, message keys."""

from __future__ import annotations

from collections.abc import Iterator

from accord.transport.cookies import Cookies
from accord.transport.http.connections.h1_response import BadResponse, ResponseReader
from accord.transport.http.connections.h2_frames import FrameFilter, FrameTooLong, GoAway
from accord.transport.http.event_stream import EventReader, EventTooLong, StreamEvent
from accord.transport.http.message_routes import may_have_id, read_keys
from accord.transport.request_headers import fits_header

BYTES_MAX = 256


def _pieces(data: bytes) -> Iterator[bytes]:
    """The data in pieces of the size that its first byte says."""
    size = data[0] % 17 + 1 if data else 1
    for at in range(1, len(data), size):
        yield data[at : at + size]


def events(data: bytes) -> None:
    """Any split of a stream gives the same events, none of them too long."""
    reader, found = EventReader(event_bytes_max=BYTES_MAX), list[StreamEvent]()
    try:
        for piece in _pieces(data):
            found += reader.feed(piece)
        assert found == EventReader(event_bytes_max=BYTES_MAX).feed(data[1:])
    except EventTooLong:
        return
    assert all(0 < len(event.data) <= BYTES_MAX for event in found)


def answers(data: bytes) -> None:
    """Bad answers raise one exception."""
    for head in (
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200\r\ntransfer-encoding: chunked\r\n\r\n",
    ):
        reader = ResponseReader(header_bytes_max=BYTES_MAX)
        reader.expect()
        try:
            reader.feed(head)
            for piece in _pieces(data):
                reader.feed(piece)
            reader.finish()
        except BadResponse:
            pass


def frames(data: bytes) -> None:
    """What is not a GOAWAY passes unchanged, except for an unfinished head or GOAWAY."""
    reader, passed, count = FrameFilter(frame_bytes_max=BYTES_MAX), b"", 0
    try:
        for piece in _pieces(data):
            for part in reader.feed(piece):
                if isinstance(part, GoAway):
                    count += 1
                else:
                    passed += part
    except FrameTooLong:
        return
    assert count or data[1:].startswith(passed)


def keys(data: bytes) -> None:
    """Routing reads anything, and a quick look misses no id."""
    found = read_keys(data)
    if found is not None and found.kind != "notification":
        assert may_have_id(data)
    cookies = Cookies()
    cookies.store(data.decode("latin-1"))
    assert cookies.header() == "" or fits_header(cookies.header())


HTTP_TARGETS = {"events": events, "answers": answers, "frames": frames, "keys": keys}

__all__ = ["HTTP_TARGETS"]

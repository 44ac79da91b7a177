"""GOAWAY comes out of the stream of frames, and everything else stays as it was."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.transport.http.connections.h2_frames import (
    FrameFilter,
    FrameTooLong,
    GoAway,
    begins_with_settings,
)

FRAMES = st.lists(
    st.tuples(st.sampled_from([0, 1, 4, 6, 7, 8, 99]), st.binary(max_size=20), st.integers(0, 99))
)


def frame(kind: int, payload: bytes, stream_id: int = 0) -> bytes:
    return (
        struct.pack(">I", len(payload))[1:]
        + bytes([kind, 0])
        + struct.pack(">I", stream_id)
        + payload
    )


def go_away(last_stream_id: int, code: int, text: bytes = b"") -> bytes:
    return frame(7, struct.pack(">II", last_stream_id, code) + text)


def is_go_away(kind: int, payload: bytes) -> bool:
    return kind == 7 and len(payload) >= 8


@given(FRAMES, st.lists(st.integers(0, 1000), max_size=10))
def test_any_split_gives_the_same(frames: list[tuple[int, bytes, int]], places: list[int]) -> None:
    """RFC 9113, 4.1 and 6.8."""
    data = b"".join(frame(*one) for one in frames)
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    reader = FrameFilter(frame_bytes_max=100)
    found: list[bytes | GoAway] = []
    for begin, end in zip(edges, edges[1:], strict=False):  # noqa: RUF007
        found += reader.feed(data[begin:end])
    passed = b"".join(one for one in found if isinstance(one, bytes))
    assert passed == b"".join(frame(*one) for one in frames if not is_go_away(*one[:2]))
    assert [one for one in found if isinstance(one, GoAway)] == [
        GoAway(int.from_bytes(payload[:4], "big") & 0x7FFFFFFF, int.from_bytes(payload[4:8], "big"))
        for kind, payload, _ in frames
        if is_go_away(kind, payload)
    ]


def test_the_order_is_kept() -> None:
    """RFC 9113, 6.8."""
    first, last = frame(0, b"a", 1), frame(0, b"b", 1)
    reader = FrameFilter(frame_bytes_max=100)
    assert reader.feed(first + go_away(5, 2, b"why") + last) == [first, GoAway(5, 2), last]


def test_a_long_frame_is_refused_at_its_head() -> None:
    """RFC 9113, 4.2: `h2` would wait for all of it."""
    with pytest.raises(FrameTooLong):
        FrameFilter(frame_bytes_max=100).feed(frame(0, b"x" * 101)[:9])


@pytest.mark.parametrize(
    ("data", "speaks"),
    [
        (b"", None),
        (b"H", None),
        (b"HTTP", None),
        (b"HTTP/1.1", False),
        (b"HTTP/1.1 400 Bad Request", False),
        (frame(4, b""), True),
        (frame(4, b"")[:8], None),
        (frame(0, b"hello", 1), False),
        (b"SSH-2.0-OpenSSH", False),
    ],
)
def test_a_server_of_http_2_begins_with_settings(data: bytes, speaks: bool | None) -> None:
    """RFC 9113, 3.4."""
    assert begins_with_settings(data) is speaks

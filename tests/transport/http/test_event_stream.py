"""Server-sent events: any stream, cut anywhere."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.transport.http.event_stream import (
    KEEP_ALIVE,
    EventReader,
    EventTooLong,
    StreamEvent,
    encode_event,
)

LINES = st.one_of(
    st.sampled_from([b"", b"", b":", b": hello", b"data:", b"data", b"event: x", b"retry: 5"]),
    st.binary(max_size=8).map(lambda value: b"data: " + re.sub(rb"[\r\n]", b"", value)),
    st.binary(max_size=4).map(lambda value: b"id:" + re.sub(rb"[\r\n]", b"", value)),
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


def by_the_book(stream: bytes) -> list[StreamEvent]:
    """The events of a whole stream, line by line as the HTML standard has it."""
    events: list[StreamEvent] = []
    data: list[bytes] = []
    event_id: bytes | None = None
    lines = re.split(rb"\r\n|\n|\r", stream.removeprefix(b"\xef\xbb\xbf"))
    for line in lines[:-1]:
        if line == b"":
            if b"\n".join(data):
                events.append(StreamEvent(b"\n".join(data), event_id))
            data, event_id = [], None
            continue
        name, _, value = line.partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
        elif name == b"id" and b"\0" not in value:
            event_id = value.removeprefix(b" ")
    return events


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(stream), *(place % (len(stream) + 1) for place in places)})
    return [stream[begin:end] for begin, end in pairwise(edges)]


@given(
    st.lists(st.tuples(LINES, ENDS), max_size=30),
    st.lists(st.integers(0, 1000), max_size=20),
    st.booleans(),
)
def test_any_split_gives_the_events_of_the_standard(
    lines: list[tuple[bytes, bytes]], places: list[int], mark: bool
) -> None:
    """HTML standard, 9.2.6."""
    stream = (b"\xef\xbb\xbf" if mark else b"") + b"".join(line + end for line, end in lines)
    # A lone CR at the very end may be the half of a CR LF, and is a line end all the same.
    reader = EventReader()
    found = [event for piece in cut(stream, places) for event in reader.feed(piece)]
    assert found == by_the_book(stream)


@given(st.lists(st.binary(min_size=1, max_size=40)), st.lists(st.integers(0, 1000), max_size=9))
def test_what_is_written_is_read(frames: list[bytes], places: list[int]) -> None:
    """Ours: the writer and the reader are for each other; line breaks become LF."""
    stream = b"".join(
        encode_event(frame, number or None) + KEEP_ALIVE for number, frame in enumerate(frames)
    )
    reader = EventReader()
    found = [event for piece in cut(stream, places) for event in reader.feed(piece)]
    assert found == [
        StreamEvent(re.sub(rb"\r\n|\r", b"\n", frame), b"%d" % number if number else None)
        for number, frame in enumerate(frames)
    ]
    assert reader.has_comments or not frames


def test_an_event_over_the_limit_ends_the_stream() -> None:
    """LIM-03: nothing of it is kept, and the error names the limit."""
    reader = EventReader(event_bytes_max=10)
    assert reader.feed(b"data: 0123456789\n\n") == [StreamEvent(b"0123456789", None)]
    with pytest.raises(EventTooLong, match="message_bytes, 10 bytes"):
        reader.feed(b"data: 01234567890\n\n")


def test_an_event_that_never_ends_is_not_kept_for_ever() -> None:
    """LIM-03: the limit holds before the end of the event is seen."""
    reader = EventReader(event_bytes_max=1000)

    def feed_for_ever() -> None:
        while True:
            reader.feed(b"x" * 1000)

    with pytest.raises(EventTooLong):
        feed_for_ever()


def test_a_long_event_in_many_pieces_is_read_in_linear_time() -> None:
    """Ours: 16 MiB in pieces of one HTTP/2 frame."""
    reader, piece = EventReader(), b"x" * 16384
    assert reader.feed(b"id: 7\ndata: ") == []
    for _ in range(1024):
        assert reader.feed(piece) == []
    [event] = reader.feed(b"\n\n")
    assert event == StreamEvent(piece * 1024, b"7")

"""Server-sent events as the kit reads them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.conformance.network.event_stream import Event, EventReader

STREAM = (
    b"\xef\xbb\xbf: a comment\n\ndata: one\n\nevent: odd\r\ndata:two\r\ndata: lines\r\n\r\n"
    b"id: 7\ndata: three\r\rretry: 5\n\n"
)
EVENTS = [Event(b"one"), Event(b"two\nlines", "odd"), Event(b"three", "", "7")]


@given(st.lists(st.integers(0, len(STREAM)), max_size=6))
def test_events_are_the_same_in_any_pieces(cuts: list[int]) -> None:
    reader = EventReader()
    edges = [0, *sorted(cuts), len(STREAM)]
    found = [
        event
        for start, end in itertools.pairwise(edges)
        for event in reader.feed(STREAM[start:end])
    ]
    assert found == EVENTS


@pytest.mark.parametrize("data", [b"data: half\n", b"event: x\n\n", b":\n\n"])
def test_what_is_not_a_whole_event_is_none(data: bytes) -> None:
    assert EventReader().feed(data) == []

"""Frames as a client reads and writes them, against the package `websockets` as the judge."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

from accord.transport.websocket.frames import FrameReader, FrameWriter

BYTES_MAX = 70_000
SIZES = st.sampled_from([0, 1, 125, 126, 127, 65535, 65536])
TEXTS = st.binary(max_size=200) | SIZES.map(lambda size: b"x" * size)


def _fragments(parts: list[bytes]) -> list[Frame]:
    last = len(parts) - 1
    return [
        Frame(Opcode.CONT if at else Opcode.TEXT, part, fin=at == last)
        for at, part in enumerate(parts)
    ]


WHOLE = TEXTS.map(lambda text: [Frame(Opcode.TEXT, text)])
CONTROL = st.binary(max_size=125).map(lambda data: [Frame(Opcode.PING, data)])
BINARY = TEXTS.map(lambda data: [Frame(Opcode.BINARY, data)])
FRAGMENTED = st.lists(st.binary(max_size=50), min_size=2, max_size=4).map(_fragments)
STREAMS = st.lists(st.one_of(WHOLE, WHOLE, CONTROL, BINARY, FRAGMENTED), max_size=12)


def _cut(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    return [data[a:b] for a, b in itertools.pairwise(places)]


def _in_order(reader: FrameReader, chunks: list[bytes]) -> list[tuple[str, bytes]]:
    out: list[tuple[str, bytes]] = []
    for chunk in chunks:
        for found in reader.feed(chunk):
            if isinstance(found, bytes):
                out.append(("other", found))
            else:
                assert found
                out += [("text", text) for text in found]
    return out


@given(STREAMS, st.lists(st.integers(0, 10**6), max_size=20))
def test_any_split_of_a_stream_gives_the_same_frames(
    stream: list[list[Frame]], cuts: list[int]
) -> None:
    """Ours: text messages come out bare, everything else as it was sent."""
    frames = [frame for frames in stream for frame in frames]
    data = b"".join(frame.serialize(mask=False) for frame in frames)
    expected = [
        ("text", bytes(frame.data))
        if frame.opcode is Opcode.TEXT and frame.fin
        else ("other", frame.serialize(mask=False))
        for frame in frames
    ]
    assert _in_order(FrameReader(BYTES_MAX), _cut(data, cuts)) == expected


@given(st.binary(max_size=300), st.lists(st.integers(0, 10**6), max_size=20))
def test_bytes_that_are_no_frames_do_not_depend_on_their_split_either(
    data: bytes, cuts: list[int]
) -> None:
    """Ours: what is malformed is judged by the package, which gets it whole."""
    whole = _in_order(FrameReader(50), [data])
    assert _in_order(FrameReader(50), _cut(data, cuts)) == whole
    for kind, frame in whole:
        assert kind == "text" or frame in data


@pytest.mark.parametrize("length", [51, 126, 70000])
def test_a_message_over_the_limit_ends_the_reading_at_its_header(length: int) -> None:
    """LIM-03: nothing of it is kept, and the package closes with 1009."""
    reader = FrameReader(50)
    good = Frame(Opcode.TEXT, b"good").serialize(mask=False)
    long = Frame(Opcode.TEXT, b"x" * length).serialize(mask=False)
    [texts, header] = reader.feed(good + long)
    assert texts == [b"good"]
    assert isinstance(header, bytes)
    judge = ClientProtocol(parse_uri("ws://a/"), state=OPEN, max_size=50)
    judge.receive_data(header)
    assert judge.close_sent is not None
    assert judge.close_sent.code == 1009
    assert reader.feed(good) == []


def test_a_text_inside_of_a_fragmented_message_is_left_to_the_judge() -> None:
    """RFC 6455, 5.4: that is an error, and the package closes over it."""
    reader = FrameReader(BYTES_MAX)
    frames = [
        Frame(Opcode.TEXT, b"a", fin=False),
        Frame(Opcode.PING, b""),
        Frame(Opcode.TEXT, b"b"),
    ]
    data = b"".join(frame.serialize(mask=False) for frame in frames)
    assert reader.feed(data) == [frame.serialize(mask=False) for frame in frames]


def test_a_masked_text_is_left_to_the_judge() -> None:
    """RFC 6455, 5.1: a server must not mask."""
    frame = Frame(Opcode.TEXT, b"abc").serialize(mask=True)
    assert FrameReader(BYTES_MAX).feed(frame) == [frame]


@given(st.lists(TEXTS, max_size=10))
def test_a_server_reads_what_the_writer_makes(messages: list[bytes]) -> None:
    """RFC 6455: as `websockets` judges it."""
    judge = ServerProtocol(state=OPEN, max_size=None)
    judge.receive_data(FrameWriter().encode(messages))
    frames = judge.events_received()
    assert [frame.data for frame in frames if isinstance(frame, Frame)] == messages
    assert judge.parser_exc is None


def test_masks_are_fresh() -> None:
    """RFC 6455, 10.3: a mask must not be predictable from the one before."""
    writer = FrameWriter()
    masks = {writer.encode([b"\0" * 4])[6:] for _ in range(3000)}
    assert len(masks) > 2900

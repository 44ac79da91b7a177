"""The pure parts of the listener: the choice of the protocol, frames, and faults."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode

from accord.transport.http.message_routes import read_keys
from accord.transport.server.answers import fault_of
from accord.transport.server.listener.protocol_choice import choose_protocol, head_length
from accord.transport.server.peer_liveness import is_gone, keep_alive, tcp_info
from accord.transport.server.websocket.frames import (
    Found,
    OtherFrame,
    ServerFrameReader,
    TooLongFrame,
    encode_texts,
)

UPGRADE = b"GET /acp HTTP/1.1\r\nHost: x\r\nUPGRADE : WebSocket\r\nA: b\r\n\r\n"
HEADS = {
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "http"),
    "POST": (b"POST /acp HTTP/1.1\r\nUpgrade: websocket\r\n\r\n", "http"),
    "GET": (b"GET /acp HTTP/1.1\r\nAccept: text/event-stream\r\n\r\n", "http"),
    "upgrade": (UPGRADE, "websocket"),
    "upgrade in a body": (b"GET / HTTP/1.1\r\n\r\n\r\nUpgrade: websocket\r\n\r\n", "http"),
    "upgrade in a value": (b"GET / HTTP/1.1\r\nX: upgrade: websocket\r\n\r\n", "http"),
    "TLS on the plain port": (b"\x16\x03\x01", "http"),
}


@pytest.mark.parametrize(("head", "expected"), HEADS.values(), ids=HEADS)
def test_the_first_bytes_choose_and_never_change_their_mind(head: bytes, expected: str) -> None:
    choices = [choose_protocol(head[:length]) for length in range(len(head) + 1)]
    assert choices[-1] == expected
    decided = choices.index(expected)
    assert set(choices[:decided]) <= {None}
    assert set(choices[decided:]) == {expected}


def test_the_head_ends_at_its_blank_line() -> None:
    assert UPGRADE[: head_length(UPGRADE + b"more")] == UPGRADE


@given(st.binary(max_size=300))
def test_any_bytes_have_a_choice_or_none_yet(data: bytes) -> None:
    assert choose_protocol(data) in ("http", "websocket", None)


MESSAGES = st.lists(
    st.tuples(
        st.sampled_from([Opcode.TEXT, Opcode.BINARY, Opcode.PING, Opcode.PONG]),
        st.one_of(st.binary(max_size=100), st.binary(min_size=120, max_size=130)),
    ),
    max_size=8,
)


def fed(reader: ServerFrameReader, stream: bytes, places: list[int]) -> list[Found]:
    edges = sorted({0, len(stream), *(place % (len(stream) + 1) for place in places)})
    return [found for begin, end in pairwise(edges) for found in reader.feed(stream[begin:end])]


@given(MESSAGES, st.lists(st.integers(0, 10_000), max_size=20))
def test_any_split_of_a_stream_gives_the_same_frames(
    messages: list[tuple[Opcode, bytes]], places: list[int]
) -> None:
    stream = b""
    expected: list[Found] = []
    for opcode, data in messages:
        cut = data[:125] if opcode in (Opcode.PING, Opcode.PONG) else data
        frame = Frame(opcode, cut).serialize(mask=True)
        stream += frame
        if opcode is Opcode.TEXT:
            expected.append(cut)
        elif opcode is not Opcode.PONG:
            expected.append(OtherFrame(frame))
    assert fed(ServerFrameReader(1000), stream, places) == expected


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=10))
def test_any_bytes_are_frames_of_some_kind(data: bytes, places: list[int]) -> None:
    """Ours: what is broken is handed on, and no more is held than a frame."""
    assert fed(ServerFrameReader(64), data, places) == ServerFrameReader(64).feed(data)


@pytest.mark.parametrize("length", [101, 1 << 16, 1 << 40])
def test_a_long_message_is_found_by_its_header(length: int) -> None:
    if length == 101:
        header = bytes((0x81, 0x80 | 101))
    else:
        header = bytes((0x81, 0xFF)) + length.to_bytes(8, "big")
    reader = ServerFrameReader(100)
    assert reader.feed(header) == [TooLongFrame()]
    assert reader.feed(b"anything") == []


@given(st.lists(st.text(max_size=70_000).map(str.encode), max_size=3))
def test_frames_that_are_written_are_read_by_the_package(messages: list[bytes]) -> None:
    expected = b"".join(Frame(Opcode.TEXT, one).serialize(mask=False) for one in messages)
    assert encode_texts(messages) == expected


def info(unacknowledged: int, milliseconds: int) -> bytes:
    """What the kernel says of a connection, with these two numbers in their places."""
    numbers = [0] * 13
    numbers[4], numbers[12] = unacknowledged, milliseconds
    return struct.pack("=8x13I", *numbers)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (info(3, 30_000), True),
        (info(3, 29_999), False),
        (info(0, 99_999), False),
        (b"", False),
    ],
)
def test_a_peer_that_acknowledges_nothing_is_gone(seen: bytes, expected: bool) -> None:
    """Issue 16: a half-open connection is found within 30 s, also where nobody pings."""
    assert is_gone(seen, 30.0) is expected


def test_a_peer_that_does_not_read_is_not_gone() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        server, _ = listener.accept()
        with client, server:
            keep_alive(server, 15.0, 30.0)
            server.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    server.send(b"x" * 65536)
            assert len(tcp_info(server)) >= 60
            assert not is_gone(tcp_info(server), 30.0)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
)


@given(JSON)
def test_every_value_is_a_message_or_has_a_fault(value: object) -> None:
    text = json.dumps(value).encode()
    if read_keys(text) is None:
        fault = fault_of(text)
        assert fault is not None
        assert fault.code == -32600
        assert fault.is_object == isinstance(value, dict)


@given(st.binary(max_size=50))
def test_every_text_has_a_fault_or_keys(text: bytes) -> None:
    if read_keys(text) is None:
        assert fault_of(text) is not None

"""An HTTP/2 connection that is sent anything ends, and never fails otherwise."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.transport.http.connections.exchange import CollectedExchange, Exchange, Headers, Loss
from accord.transport.http.connections.h2_connection import H2Connection
from accord.transport.remote_address import parse_address
from accord.transport.remote_limits import RemoteLimits

ADDRESS = parse_address("http://127.0.0.1/acp")
SETTINGS = b"\0\0\0\x04\0\0\0\0\0"
FRAMES = st.lists(
    st.tuples(
        st.integers(0, 11),
        st.sampled_from([0, 1, 4, 5, 8, 0x20, 0x25, 0xFF]),
        st.sampled_from([0, 1, 2, 3, 5, 7, 2**31 - 1]),
        st.one_of(
            st.binary(max_size=30),
            # Headers that h2 understands, and some that it must not.
            st.sampled_from([b"\x88", b"\x88\x88", b"\x89", b"\x82", b"\x0f\x0d\x01\x35", b"\x3f"]),
        ),
    ),
    max_size=12,
)


def frame(kind: int, flags: int, stream_id: int, payload: bytes) -> bytes:
    size = struct.pack(">I", len(payload))[1:]
    return size + bytes([kind, flags]) + struct.pack(">I", stream_id) + payload


class Wire:
    """A socket that only remembers."""

    def __init__(self) -> None:
        self.written = b""
        self.backlog = 0
        self.later_calls: list[Callable[[], None]] = []
        self.is_closed = False
        self.driver: Any = self

    def start(self, receiver: object) -> None: ...

    def write(self, data: bytes) -> None:
        self.written += data

    def close(self) -> None:
        self.is_closed = True

    def soon(self, callback: Callable[[], None]) -> None:
        self.later_calls.append(callback)

    def later(self, seconds: float, callback: Callable[[], None]) -> None: ...

    def run(self) -> None:
        while self.later_calls:
            self.later_calls.pop(0)()


class Owner:
    def __init__(self) -> None:
        self.lost = 0

    def room_made(self) -> None: ...

    def connection_lost(self, connection: object) -> None:
        self.lost += 1


class Stream(Exchange):
    """Counts what it is told, and checks the order."""

    is_stream = True

    def __init__(self) -> None:
        super().__init__("GET", [])
        self.ends = 0
        self.statuses: list[int] = []

    def answered(self, status: int, headers: Headers) -> None:
        assert not self.ends
        self.statuses.append(status)
        assert len(self.statuses) == 1

    def data_received(self, data: bytes) -> None:
        assert not self.ends

    def ended(self) -> None:
        self.ends += 1

    def lost(self, loss: Loss) -> None:
        self.ends += 1


async def begun(wire: Wire, owner: Owner) -> H2Connection:
    connection = H2Connection(wire, ADDRESS, RemoteLimits(), owner)  # type: ignore[arg-type]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: connection.open(is_agreed=True))
        await anyio.wait_all_tasks_blocked()
        connection.data_received(SETTINGS)
    return connection


def check_any_frames(frames: list[tuple[int, int, int, bytes]], pauses: list[bool]) -> None:
    async def run() -> None:
        wire, owner = Wire(), Owner()
        connection = await begun(wire, owner)
        stream, answers = Stream(), list[object]()
        connection.request(stream)
        connection.request(
            CollectedExchange(
                "POST",
                [],
                b"{}",
                on_answer=answers.append,
                on_loss=answers.append,
                body_bytes_max=9,
            )
        )
        for number, one in enumerate(frames):
            if number < len(pauses):
                (connection.pause if pauses[number] else connection.resume)()
            if not wire.is_closed:
                connection.data_received(frame(*one))
            wire.run()
        connection.resume()
        wire.run()
        if not wire.is_closed:
            connection.stream_ended("over")
        wire.run()
        assert stream.ends == 1
        assert len(answers) == 1
        assert owner.lost == 1

    anyio.run(run)


@given(FRAMES, st.lists(st.booleans(), max_size=12))
def test_any_frames_end_each_exchange_exactly_once(
    frames: list[tuple[int, int, int, bytes]], pauses: list[bool]
) -> None:
    """Issue 16: broken h2 frames; and the promise of `exchange.py`."""
    check_any_frames(frames, pauses)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"

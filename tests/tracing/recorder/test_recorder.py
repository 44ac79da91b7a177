"""The way to the scribe and the pumps; tests/cli/commands/test_record.py tests all of it."""

import os
import threading
from functools import partial

from accord.tracing.recorder.byte_pump import BytePump
from accord.tracing.recorder.recording_writer import packets
from accord.tracing.recorder.writer_pipe import WriterPipe, pack
from tests.hang_limit import HANG_SECONDS


def read_all(reading: int) -> list[tuple[str, float, bytes]]:
    read = partial(os.read, reading, 65536)
    found = [packet for packet in packets(read) if packet is not None]
    os.close(reading)
    return found


def test_a_packet_is_in_the_pipe_when_put_returns() -> None:
    """Ours: kill -9 loses nothing that was passed on."""
    reading, writing = os.pipe()
    line = WriterPipe(writing, lambda: None)
    line.put("client", 1.0, b"hello")
    assert os.read(reading, 1000) == pack("client", 1.0, b"hello")
    line.start()
    line.close(HANG_SECONDS)
    os.close(reading)


def test_what_does_not_fit_waits_in_order_and_what_is_too_much_is_a_gap() -> None:
    """Issue 4: a slow disk must not slow the session."""
    reading, writing = os.pipe()
    line = WriterPipe(writing, lambda: None, bytes_max=1_000_000)
    line.start()
    chunk = b"x" * 100_000
    for _ in range(40):
        line.put("agent", 1.0, chunk)
    found: list[tuple[str, float, bytes]] = []
    reader = threading.Thread(target=lambda: found.extend(read_all(reading)))
    line.put("client", 2.0, b"y" * 5_000_000)
    reader.start()
    line.close(HANG_SECONDS)
    reader.join(HANG_SECONDS)
    kept = [data for source, _, data in found if source == "agent"]
    gaps = {source: int(data) for source, _, data in found if source.startswith("gap-")}
    assert 5 < len(kept) < 40
    assert len(kept) * 100_000 + gaps["gap-agent"] == 4_000_000
    assert gaps["gap-client"] == 5_000_000


def test_after_a_gap_recording_goes_on_where_it_is() -> None:
    """Issue 4: the same."""
    reading, writing = os.pipe()
    line = WriterPipe(writing, lambda: None, bytes_max=10)
    line.put("agent", 1.0, b"x" * 11)
    line.put("agent", 2.0, b"short")
    line.start()
    line.close(HANG_SECONDS)
    assert read_all(reading) == [("gap-agent", 2.0, b"11"), ("agent", 2.0, b"short")]


def test_a_dead_scribe_is_told_once_and_nothing_else_happens() -> None:
    """Issue 4: never the reason that a session breaks."""
    reading, writing = os.pipe()
    told = threading.Event()
    line = WriterPipe(writing, told.set)
    line.start()
    os.close(reading)
    for _ in range(5):
        line.put("agent", 1.0, b"x")
    assert told.wait(HANG_SECONDS)
    line.close(HANG_SECONDS)


def test_a_pump_passes_on_and_closes_what_it_was_given() -> None:
    """Issue 4: bytes pass untouched."""
    from_us, to_pump = os.pipe()
    from_pump, to_us = os.pipe()
    seen: list[bytes] = []
    pump = BytePump(from_us, to_us, lambda at, data: seen.append(data))
    os.set_blocking(from_us, False)
    os.set_blocking(to_us, False)
    pump.thread.start()
    sent = os.urandom(500_000)
    writer = threading.Thread(target=_write_all, args=(to_pump, sent))
    writer.start()
    got = b""
    while chunk := os.read(from_pump, 65536):
        got += chunk
    writer.join(HANG_SECONDS)
    pump.thread.join(HANG_SECONDS)
    os.close(from_pump)
    assert got == sent == b"".join(seen)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.close(descriptor)

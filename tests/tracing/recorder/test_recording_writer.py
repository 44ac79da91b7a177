"""From what passed to what is written."""

import json
import os
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.machine.redaction.redactor import Redactor
from accord.tracing.recorder.recording_writer import (
    FrameStream,
    ReadAhead,
    RecordingWriter,
    packets,
    write_recording,
)
from accord.tracing.recorder.writer_pipe import pack
from tests.hang_limit import HANG_SECONDS


def frames(stream: FrameStream, *chunks: bytes) -> list[bytes | int]:
    return [frame for chunk in chunks for frame in stream.feed(chunk)]


@given(st.lists(st.binary(min_size=1, max_size=30).filter(lambda one: b"\n" not in one)), st.data())
def test_any_split_gives_the_same_frames(lines: list[bytes], data: st.DataObject) -> None:
    """Ours: a pipe cuts where it likes."""
    whole = b"{}\n" + b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    chunks = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert frames(FrameStream(), *chunks) == [b"{}", *lines]


def test_frames_behind_headers_are_frames_too() -> None:
    """Contradiction 1: some peers still send Content-Length."""
    assert frames(
        FrameStream(), b"Content-Length: 2\r\n\r\n{}Content-", b"Length: 2\r\n\r\n[]"
    ) == [
        b"{}",
        b"[]",
    ]


def test_a_frame_that_is_too_long_costs_itself_alone() -> None:
    """Style: everything has a bound; what is left out is counted."""
    stream = FrameStream(frame_bytes_max=10)
    assert frames(stream, b"{}\n", b"x" * 11, b"yyy\n{}\n") == [b"{}", 10, 3, b"{}"]
    assert frames(stream, b"z" * 20 + b"\n", b"{}\n") == [10, b"{}"]


def test_after_a_gap_the_next_line_is_a_frame_again() -> None:
    """Ours: what is missing must not make nonsense of what is there."""
    stream = FrameStream()
    assert frames(stream, b'{"a":') == []
    stream.lose()
    assert frames(stream, b'rest of another"}\n{}\n') == [17, b"{}"]


class Written:
    """A scribe whose lines are kept."""

    def __init__(self, redactor: Redactor | None = None) -> None:
        self.lines: list[dict[str, Any]] = []
        self.scribe = RecordingWriter(lambda line: self.lines.append(json.loads(line)), redactor)


def test_numbers_of_pairs_are_numbers_of_lines() -> None:
    """docs/reference/recording-format.md: `pair` is the line of the request."""
    written = Written()
    written.scribe.take("stderr", 0.0, b"hello\n")
    written.scribe.take("client", 0.1, b'{"id":1,"method":"a"}\n{"id":2,"method":"b"}\n')
    written.scribe.take(
        "agent", 0.2, b'{"id":2,"result":1}\n{"id":1,"result":1}\n{"id":3,"result":1}\n'
    )
    assert [line.get("pair") for line in written.lines] == [None, 2, 3, 3, 2, None]
    assert [line.get("method") for line in written.lines] == [None, "a", "b", "b", "a", None]


def test_a_gap_and_the_end_are_lines() -> None:
    """Issue 4: what could not be kept is said."""
    written = Written()
    written.scribe.take("gap-agent", 0.1, b"123")
    written.scribe.take("gap-stderr", 0.1, b"5")
    written.scribe.take("client", 0.2, b'{"method":"a"}')
    written.scribe.take("stderr", 0.2, b"no line end")
    written.scribe.take("end", 0.3, b"-1")
    gap, other, frame, stderr, end = written.lines
    assert (gap["gap"]["from"], gap["gap"]["bytes"]) == ("agent", 123)
    assert other["gap"]["from"] == "stderr"
    assert frame["method"] == "a"
    assert stderr["text"] == "no line end"
    assert end["end"] == {"code": -1}


def test_a_line_on_stderr_that_never_ends_is_written_in_parts() -> None:
    """Style: everything has a bound."""
    written = Written()
    for _ in range(3):
        written.scribe.take("stderr", 0.0, b"x" * 70_000)
    assert [len(line["text"]) for line in written.lines] == [70_000] * 3


def test_the_command_is_written_without_its_secrets() -> None:
    """Issue 4."""
    written = Written(Redactor())
    written.scribe.head(started="now", command=["a", "--token", "abc"], program="p")
    assert written.lines[0]["command"] == ["a", "--token", "[secret]"]
    assert written.lines[0]["redacted"] is True


def test_packets_survive_any_reading_of_the_pipe() -> None:
    """Ours: a pipe hands out what it has."""
    data = pack("client", 0.5, b"one") + pack("stderr", 0.6, b"") + pack("end", 1.0, b"0")
    pieces = iter([bytes([byte]) for byte in data[:20]] + [data[20:], b""])
    found = [packet for packet in packets(lambda: next(pieces)) if packet is not None]
    assert found == [("client", 0.5, b"one"), ("stderr", 0.6, b""), ("end", 1.0, b"0")]


def test_reading_ahead_keeps_the_order_and_the_bound() -> None:
    """Style: everything has a bound; a slow disk fills the pipe in the end."""
    reading, writing = os.pipe()
    ahead = ReadAhead(reading, bytes_max=1000)
    sent = os.urandom(300_000)
    writer = threading.Thread(target=_write_and_close, args=(writing, sent))
    writer.start()
    got = b""
    while chunk := ahead.read():
        got += chunk
    writer.join(HANG_SECONDS)
    os.close(reading)
    assert got == sent


def _write_and_close(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.close(descriptor)


def test_a_full_disk_ends_the_writing_with_its_error() -> None:
    """Issue 4: the recorder is told, and goes on."""
    reading, writing = os.pipe()
    os.write(writing, pack("client", 0.5, b"{}\n"))
    os.close(writing)
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        with pytest.raises(OSError, match="space"):
            write_recording(reading, full, started="", command=[], program="", redactor=None)
    finally:
        os.close(full)
        os.close(reading)

"""Writes a recording: chunks of bytes become frames, frames become lines of a file.

It runs in a process of its own, so that parsing, redaction and a slow disk do not slow the session
down.  A pipe brings it the forwarded bytes.

What always holds
    * Secrets are removed, also those split over many frames, unless they are to be kept.  The file
      may therefore lag behind by a bounded number of lines; see
      `machine/redaction/conversation_redactor.py`.
    * A line is written whole or, on a full disk, is the last one.
    * Everything that was forwarded has a line: a frame, a text, or a gap.
    * It reads ahead up to a limit; beyond that the pipe fills, and the recorder counts what it
      cannot send.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias, cast

from accord.jsonrpc import FRAME_BYTES_MAX, FrameTooLong, splitter_for
from accord.machine.redaction.conversation_redactor import ConversationRedactor
from accord.machine.redaction.redactor import Redactor
from accord.tracing.frames import RequestMatcher, Speaker, read_frame
from accord.tracing.recorder.writer_pipe import PACKET, SOURCES
from accord.tracing.recording_file import end_line, frame_line, gap_line, header_line, stderr_line

READ_BYTES = 1 << 18
AHEAD_BYTES_MAX = 64 << 20
"""How much is read from the pipe ahead of writing, so that the recorder need not keep it."""


class ReadAhead:
    """Reads a pipe in a thread.  Guards: the order of its bytes, and the limit."""

    def __init__(self, descriptor: int, bytes_max: int = AHEAD_BYTES_MAX) -> None:
        self._descriptor = descriptor
        self._bytes_max = bytes_max
        self._chunks: list[bytes] = []
        self._bytes = 0
        self._ended = False
        self._changed = threading.Condition()
        threading.Thread(target=self._run, daemon=True).start()

    def read(self) -> bytes:
        """Return everything since the last call, waiting for some; empty at the end."""
        with self._changed:
            while not self._chunks and not self._ended:
                self._changed.wait()
            data = b"".join(self._chunks)
            self._chunks, self._bytes = [], 0
            self._changed.notify()
            return data

    def _run(self) -> None:
        while chunk := os.read(self._descriptor, READ_BYTES):
            with self._changed:
                while self._bytes >= self._bytes_max:
                    self._changed.wait()
                self._chunks.append(chunk)
                self._bytes += len(chunk)
                self._changed.notify()
        with self._changed:
            self._ended = True
            self._changed.notify()


def packets(read: Callable[[], bytes]) -> Iterator[tuple[str, float, bytes] | None]:
    """Yield the packets of a pipe, and None whenever all so far were yielded."""
    buffer = bytearray()
    while chunk := read():
        buffer += chunk
        at = 0
        while len(buffer) - at >= PACKET.size:
            source, time, size = PACKET.unpack_from(buffer, at)
            end = at + PACKET.size + size
            if len(buffer) < end:
                break
            yield SOURCES[source], time, bytes(buffer[at + PACKET.size : end])
            at = end
        del buffer[:at]
        yield None


STDERR_LINE_BYTES_MAX = 1 << 16
"""A longer line on stderr is written in parts."""

LINES_AT_ONCE = 1000
"""How many lines are written together when very many arrive."""


class FrameStream:
    """Splits one direction into frames.  Guards: a long or lost frame affects no other."""

    def __init__(self, frame_bytes_max: int = FRAME_BYTES_MAX) -> None:
        self._frame_bytes_max = frame_bytes_max
        self._splitter = splitter_for(None, frame_bytes_max=frame_bytes_max)
        self._skipping = False

    def feed(self, chunk: bytes) -> Iterator[bytes | int]:
        """Yield frames, and the number of bytes that had to be skipped."""
        while chunk:
            if self._skipping:
                skipped, end, chunk = chunk.partition(b"\n")
                yield len(skipped)
                self._skipping = not end
                continue
            try:
                yield from self._splitter.feed(chunk)
            except FrameTooLong as error:
                yield from error.frames
                # Only its beginning is lost so far; the rest of its line follows.
                yield self._frame_bytes_max
                after = chunk.rpartition(b"\n")
                self.lose()
                self._skipping = not after[1] or bool(after[2])
            return

    def lose(self) -> None:
        """Continue with the next line, because something is missing here."""
        self._splitter = splitter_for(None, frame_bytes_max=self._frame_bytes_max)
        self._skipping = True

    def finish(self) -> Iterator[bytes]:
        """Yield the last frame, if only its line break is missing."""
        if not self._skipping:
            yield from self._splitter.finish()


_Line: TypeAlias = Callable[[bytes], bytes]
"""Makes the line of a redacted frame or text."""


class RecordingWriter:
    """Turns packets into lines.  Call `close` after the last one."""

    def __init__(self, write: Callable[[bytes], None], redactor: Redactor | None) -> None:
        self._write = write
        self._redactor = redactor
        self._conversation: ConversationRedactor[_Line] | None = None
        if redactor is not None:
            self._conversation = ConversationRedactor(redactor)
        self._streams: dict[Speaker, FrameStream] = {
            "client": FrameStream(),
            "agent": FrameStream(),
        }
        self._stderr = b""
        self._pairing = RequestMatcher()
        self._number = 0

    def head(self, *, started: str, command: list[str], program: str) -> None:
        """Write the first line."""
        if self._redactor is not None:
            command = self._redactor.words(command)
        self._write(
            header_line(
                started=started,
                command=command,
                redacted=self._redactor is not None,
                program=program,
            )
        )

    def take(self, source: str, time: float, data: bytes) -> None:
        """Write the lines of one packet."""
        if source == "stderr":
            self._take_stderr(time, data)
        elif source == "end":
            self._finish(time, data.decode())
        elif source.startswith("gap-"):
            name = source.removeprefix("gap-")
            if name != "stderr":
                self._streams[cast("Speaker", name)].lose()
            self.gap(time, name, int(data), "the recorder could not keep up")
        else:
            speaker = cast("Speaker", source)
            for frame in self._streams[speaker].feed(data):
                self.frame(time, speaker, frame)

    def frame(self, time: float, speaker: Speaker, frame: bytes | int) -> None:
        """Write a frame, or a gap for a frame that was too long."""
        if isinstance(frame, int):
            if frame:
                self.gap(time, speaker, frame, "a frame was too long")
            return
        read = read_frame(frame)
        facts: dict[str, Any] = {"kind": read.kind}
        if read.method is not None:
            facts["method"] = self._clean(read.method)
        asked = self._pairing.pair(self._number + 1, time, speaker, read)
        if asked is not None:
            facts["pair"] = asked.number
            if asked.number <= self._number:
                facts["method"] = self._clean(asked.method)
        self._number += 1

        def line(raw: bytes) -> bytes:
            return frame_line(time, speaker, raw, facts=facts)

        if self._conversation is None:
            self._write(line(frame))
        else:
            self._put(self._conversation.frame(line, speaker, frame))

    def gap(self, time: float, source: str, lost_bytes: int, why: str) -> None:
        self._other(gap_line(time, source, lost_bytes, why))

    def _take_stderr(self, time: float, data: bytes) -> None:
        *lines, self._stderr = (self._stderr + data).split(b"\n")
        if len(self._stderr) > STDERR_LINE_BYTES_MAX:
            lines.append(self._stderr)
            self._stderr = b""
        for line in lines:
            self._stderr_line(time, line)

    def _stderr_line(self, time: float, line: bytes) -> None:
        self._number += 1
        if self._conversation is None:
            self._write(stderr_line(time, line))
        else:
            self._put(self._conversation.stderr(partial(stderr_line, time), line))

    def _finish(self, time: float, how: str) -> None:
        for speaker, stream in self._streams.items():
            for frame in stream.finish():
                self.frame(time, speaker, frame)
        if self._stderr:
            self._stderr_line(time, self._stderr)
            self._stderr = b""
        is_code = how.lstrip("-").isdigit()
        self._other(end_line(time, int(how) if is_code else None, None if is_code else how))

    def close(self) -> None:
        """Write the lines that redaction has held back."""
        if self._conversation is not None:
            self._put(self._conversation.finish())

    def _clean(self, text: str) -> str:
        return text if self._redactor is None else self._redactor.text(text)

    def _other(self, line: bytes) -> None:
        self._number += 1
        if self._conversation is None:
            self._write(line)
        else:
            self._put(self._conversation.other(lambda raw: raw, line))

    def _put(self, ready: list[tuple[_Line, bytes]]) -> None:
        for line, raw in ready:
            self._write(line(raw))


def write_recording(
    pipe: int,
    file: int,
    *,
    started: str,
    command: list[str],
    program: str,
    redactor: Redactor | None,
) -> None:
    """Write packets to a file until the pipe ends.

    Raises:
        OSError: the file cannot be written.
    """
    waiting: list[bytes] = []
    writer = RecordingWriter(waiting.append, redactor)
    writer.head(started=started, command=command, program=program)
    _write_all(file, waiting)
    for packet in packets(ReadAhead(pipe).read):
        if packet is not None:
            writer.take(*packet)
        if packet is None or len(waiting) >= LINES_AT_ONCE:
            _write_all(file, waiting)
    writer.close()
    _write_all(file, waiting)


def _write_all(file: int, waiting: list[bytes]) -> None:
    data = memoryview(b"".join(waiting))
    waiting.clear()
    while data:
        data = data[os.write(file, data) :]

"""From a stream of bytes to frames and back: one line each, or behind a Content-Length header.

Must not know: what is in a frame, beyond whether a last line is a whole JSON text.
Always holds: any split of a stream gives the same frames; a frame that arrives in many pieces is
copied once; no more than one frame of at most `frame_bytes_max` is kept.  Noise between frames
comes out as frames of its own, so that the peer judges it by the one rule for noise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Final, Literal, Protocol

from accord.jsonrpc.malformed_frames import is_whole

FRAME_BYTES_MAX: Final = 32 * 1024 * 1024
"""The longest frame that is accepted; a longer one ends the connection."""

HEADER_BYTES_MAX: Final = 8 * 1024
"""The longest header line that is waited for; longer text without a line end is noise."""

COPIED_BYTES_MAX: Final = 64 * 1024
"""Larger frames are sent in parts: a copy would cost more than another write."""

_LINE_FEED: Final = 0x0A

Framing = Literal["lines", "content-length"]


class FrameTooLong(Exception):
    """The peer sends a frame over the limit.  Nothing of it was kept, and the stream is lost.

    `frames` are the good frames before it that have not been handed out yet.
    """

    def __init__(self, frame_bytes_max: int, frames: list[bytes]) -> None:
        super().__init__(f"a frame is longer than frame_bytes_max, {frame_bytes_max} bytes")
        self.frame_bytes_max = frame_bytes_max
        self.frames = frames


class Splitter(Protocol):
    """What all framings can do."""

    @property
    def lost_bytes(self) -> int:
        """After `finish`: how many bytes at the end are not a whole message."""
        ...

    @property
    def line_end(self) -> bytes | None:
        """What is sent behind each frame; None if the framing adds more than that."""
        ...

    def feed(self, chunk: bytes) -> list[bytes]:
        """The frames that this chunk completes.

        Raises:
            FrameTooLong: the stream cannot go on.
        """
        ...

    def finish(self) -> list[bytes]:
        """The frame, if any, that the end of the stream completes."""
        ...

    def encode(self, frame: bytes) -> bytes:
        """The bytes to send for a frame."""
        ...

    def in_parts(self, frame: bytes) -> tuple[bytes, ...]:
        """The same bytes, in parts where copying the frame would cost more; none if it is empty."""
        ...

    def encode_all(self, frames: list[bytes]) -> bytes:
        """The bytes to send for several frames, one behind the other."""
        ...

    def encode_lines(self, lines: bytes) -> bytes:
        """The bytes to send for several frames, each of which is a line and ends like one."""
        ...

    def encode_parts(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """The bytes to send for a frame in parts, which are handed on as they are.

        Where the framing allows it, each before the next one is asked for.
        """
        ...


class Lines:
    """One frame per line.

    Blank lines and carriage returns stay in; for JSON and for the peer they are whitespace, and
    taking them out here would cost every frame.
    """

    line_end = b"\n"

    def __init__(self, *, frame_bytes_max: int = FRAME_BYTES_MAX) -> None:
        self._frame_bytes_max = frame_bytes_max
        # Grows where it is, and gives its bytes away without a copy: of a large frame that is half
        # of what reading it costs.
        self._held = BytesIO()
        self._held_bytes = 0
        self.lost_bytes = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes, without their line ends."""
        may_exceed = self._held_bytes + len(chunk) > self._frame_bytes_max
        # Asked by number, because that is by far the quickest way to find that there is none.
        frames = chunk.split(b"\n") if _LINE_FEED in chunk else [chunk]
        tail = frames.pop()
        if frames and self._held_bytes:
            self._held.write(frames[0])
            frames[0] = self._take()
        if tail:
            self._held.write(tail)
            self._held_bytes += len(tail)
        if may_exceed:
            self._enforce_limit(frames)
        return frames

    def finish(self) -> list[bytes]:
        """The last line if it lacks only its line end."""
        tail = self._take()
        if is_whole(tail):
            return [tail]
        self.lost_bytes = len(tail.strip())
        return []

    def encode(self, frame: bytes) -> bytes:
        """The frame and its line end; frames of `envelope.py` have no line break inside."""
        return frame + b"\n"

    def in_parts(self, frame: bytes) -> tuple[bytes, ...]:
        """The frame and its line end, in one part or in two."""
        if len(frame) > COPIED_BYTES_MAX:
            return frame, b"\n"
        return (frame + b"\n",) if frame else ()

    def encode_all(self, frames: list[bytes]) -> bytes:
        """All frames, each with its line end."""
        return b"\n".join(frames) + b"\n" if frames else b""

    def encode_lines(self, lines: bytes) -> bytes:
        """The lines as they are."""
        return lines

    def encode_parts(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """The parts, one by one, and the line end."""
        yield from parts
        yield b"\n"

    def _take(self) -> bytes:
        whole = self._held.getvalue()
        self._held = BytesIO()
        self._held_bytes = 0
        return whole

    def _enforce_limit(self, frames: list[bytes]) -> None:
        for index, frame in enumerate(frames):
            if len(frame) > self._frame_bytes_max:
                self._take()
                raise FrameTooLong(self._frame_bytes_max, frames[:index])
        if self._held_bytes > self._frame_bytes_max:
            self._take()
            raise FrameTooLong(self._frame_bytes_max, frames)


# At the end of a line, whatever is before it: text that was printed without a line end then costs
# itself only, and not the frame behind it.  `X-Content-Length` is another header.
_LENGTH: Final = re.compile(rb"(?<!-)content-length[ \t]*:[ \t]*([0-9]+)[ \t]*\Z", re.IGNORECASE)
_HEADER_OF: Final = b"Content-Length: %d\r\n\r\n"
_HEADER: Final = re.compile(rb"(?!content-length[ \t]*:)[A-Za-z0-9_-]+[ \t]*:", re.IGNORECASE)


class ContentLength:
    """Each frame behind a block of headers of which `Content-Length` counts its bytes.

    Other headers are ignored.  A malformed header line, a bad length, and a block without a
    length come out as a frame of noise each, and the search for a header starts again.
    """

    line_end = None

    def __init__(self, *, frame_bytes_max: int = FRAME_BYTES_MAX) -> None:
        self._frame_bytes_max = frame_bytes_max
        self._pieces: list[bytes] = []
        self._held_bytes = 0
        self._length: int | None = None  # said by the current block of headers
        self._other_header: bytes | None = None  # seen in the current block
        self._body_bytes: int | None = None  # None while headers are read
        self.lost_bytes = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The bodies, and the noise, that this chunk completes."""
        self._pieces.append(chunk)
        self._held_bytes += len(chunk)
        if self._body_bytes is not None and self._held_bytes < self._body_bytes:
            return []
        data = self._take()
        frames: list[bytes] = []
        at = 0
        while True:
            if self._body_bytes is not None:
                end = at + self._body_bytes
                if end > len(data):
                    break
                frames.append(data[at:end])
                self._body_bytes = None
                at = end
                continue
            end = data.find(b"\n", at, at + HEADER_BYTES_MAX + 1)
            if end >= 0:
                self._read_line(data[at:end].rstrip(b"\r"), frames)
                at = end + 1
            elif len(data) - at > HEADER_BYTES_MAX:
                # Cut at a fixed width, not where a chunk happens to end, so that the same stream
                # gives the same noise however it was split.
                frames.append(data[at : at + HEADER_BYTES_MAX])
                at += HEADER_BYTES_MAX
            else:
                break
        if at < len(data):
            self._pieces = [data[at:]]
            self._held_bytes = len(data) - at
        return frames

    def finish(self) -> list[bytes]:
        """Return the rest, if it is a whole message without a header."""
        tail = self._take()
        if self._body_bytes is None and is_whole(tail):
            return [tail]
        self.lost_bytes = len(tail.strip())
        return []

    def encode(self, frame: bytes) -> bytes:
        """A header that counts bytes, not characters, and the frame."""
        return _HEADER_OF % len(frame) + frame

    def in_parts(self, frame: bytes) -> tuple[bytes, ...]:
        """The header and the frame, in one part or in two."""
        if len(frame) > COPIED_BYTES_MAX:
            return _HEADER_OF % len(frame), frame
        return (self.encode(frame),) if frame else ()

    def encode_all(self, frames: list[bytes]) -> bytes:
        """All frames, each behind its header."""
        return b"".join([self.encode(frame) for frame in frames])

    def encode_lines(self, lines: bytes) -> bytes:
        """Each line behind its header."""
        return self.encode_all(lines.split(b"\n")[:-1])

    def encode_parts(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """The header, for which all parts must be there, and the parts."""
        known = tuple(parts)
        yield _HEADER_OF % sum(map(len, known))
        yield from known

    def _read_line(self, line: bytes, frames: list[bytes]) -> None:
        if length := _LENGTH.search(line):
            if before := line[: length.start()].strip():
                frames.append(before)
            # More digits than this are over any limit, and costly to turn into a number.
            self._length = int(length.group(1).lstrip(b"0")[:20] or b"0")
            if self._length > self._frame_bytes_max:
                raise FrameTooLong(self._frame_bytes_max, frames)
        elif not line.strip():
            if self._length is None and self._other_header is not None:
                frames.append(self._other_header)
            self._body_bytes, self._length, self._other_header = self._length, None, None
        elif _HEADER.match(line):
            self._other_header = line
        else:
            frames.append(line)
            self._length, self._other_header = None, None

    def _take(self) -> bytes:
        whole = b"".join(self._pieces)
        self._pieces = []
        self._held_bytes = 0
        return whole


_HEADER_STARTS: Final = (b"content-length:", b"content-type:")


def detect(head: bytes) -> Framing | None:
    """Which framing a stream has that begins like this; None while it could be either."""
    start = head.lstrip()[:16].lower()
    if start.startswith(_HEADER_STARTS):
        return "content-length"
    if any(header.startswith(start) for header in _HEADER_STARTS):
        return None
    return "lines"


class DetectedFraming:
    """Takes the framing of the first bytes that arrive, for good, and answers in the same."""

    def __init__(self, *, frame_bytes_max: int = FRAME_BYTES_MAX) -> None:
        self._frame_bytes_max = frame_bytes_max
        self._head = b""
        self._splitter: Splitter = Lines(frame_bytes_max=frame_bytes_max)
        self._encoder: Splitter | None = None
        self.framing: Framing | None = None

    @property
    def lost_bytes(self) -> int:
        """As for the framing that was found."""
        return self._splitter.lost_bytes

    @property
    def line_end(self) -> bytes | None:
        """The line ending of the framing in use."""
        return self._chosen().line_end

    def feed(self, chunk: bytes) -> list[bytes]:
        """As for the framing that was found; nothing while that is open."""
        if self.framing is not None:
            return self._splitter.feed(chunk)
        self._head = (self._head + chunk).lstrip()
        self.framing = detect(self._head)
        if self.framing is None:
            return []
        if self.framing == "content-length":
            self._splitter = ContentLength(frame_bytes_max=self._frame_bytes_max)
        head, self._head = self._head, b""
        return self._splitter.feed(head)

    def finish(self) -> list[bytes]:
        """Return the rest of the stream; one too short to detect its framing is read as lines."""
        return self._splitter.feed(self._head) + self._splitter.finish()

    def encode(self, frame: bytes) -> bytes:
        """As for the framing that was found; lines while that is open, and then for good."""
        return self._chosen().encode(frame)

    def in_parts(self, frame: bytes) -> tuple[bytes, ...]:
        return self._chosen().in_parts(frame)

    def encode_all(self, frames: list[bytes]) -> bytes:
        return self._chosen().encode_all(frames)

    def encode_lines(self, lines: bytes) -> bytes:
        return self._chosen().encode_lines(lines)

    def encode_parts(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        return self._chosen().encode_parts(parts)

    def _chosen(self) -> Splitter:
        if self._encoder is None:
            self._encoder = self._splitter
        return self._encoder


def splitter_for(
    framing: Framing | None, *, frame_bytes_max: int = FRAME_BYTES_MAX
) -> Lines | ContentLength | DetectedFraming:
    """A new splitter of a framing, or one that detects it."""
    if framing == "lines":
        return Lines(frame_bytes_max=frame_bytes_max)
    if framing == "content-length":
        return ContentLength(frame_bytes_max=frame_bytes_max)
    return DetectedFraming(frame_bytes_max=frame_bytes_max)

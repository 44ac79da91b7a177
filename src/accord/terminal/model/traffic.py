"""All frames exchanged with an agent, up to a limit: recorded, paired and saved.

This module does not know any screen.  Arriving frames are only stored; their kind, and which
request they answer, is determined on demand.

Invariants
    * Frames have numbers from 1 on, in the order of the wire; the oldest go when there are too
      many or they take too much, and how many went is known.
    * `item(number)` takes the same time however many there are.
    * What is saved is a recording as `accord record` writes it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from time import monotonic
from typing import Literal, TypeAlias

from accord.machine.clock import now as time_of_day
from accord.tracing.frames import Kind, RequestMatcher, Speaker, read_frame
from accord.tracing.recorder.recording_writer import FrameStream, RecordingWriter
from accord.version import __version__

Way: TypeAlias = Literal["sent", "received"]
ItemKind: TypeAlias = Kind | Literal["gap", "end"]

FRAMES_MAX = 50_000
BYTES_MAX = 32 * 1024 * 1024
"""The maximum size of all kept frames together."""

FRAME_BYTES_MAX = 8 * 1024 * 1024
"""The content of a longer frame is not kept."""

_SPEAKERS: dict[Way, Speaker] = {"sent": "client", "received": "agent"}
_METHODS_MAX = 512


class Item:
    """One frame.  `kind` and what follows it are known once `Traffic.catch_up` was called."""

    __slots__ = (
        "detail",
        "kind",
        "latency",
        "lost",
        "method",
        "number",
        "pair",
        "raw",
        "session",
        "time",
        "way",
    )

    def __init__(self, number: int, time: float, way: Way, raw: bytes, lost: int = 0) -> None:
        self.number = number
        # Seconds since the traffic began.
        self.time = time
        self.way: Way = way
        self.raw = raw
        # Bytes of a frame that was too long to be kept.
        self.lost = lost
        self.kind: ItemKind | None = None
        # Of an answer: the method that it answers.
        self.method = ""
        # Of an update: its kind.
        self.detail = ""
        self.session: str | None = None
        # The number of the answer to this request, or of the request that this answers.
        self.pair: int | None = None
        # Seconds between the two, known by both.
        self.latency: float | None = None

    @property
    def size(self) -> int:
        """The size in bytes."""
        return len(self.raw) + self.lost

    @property
    def is_error(self) -> bool:
        """Whether something is wrong with it."""
        return self.kind in ("error", "noise", "gap")


class Traffic:
    """Guards the invariants of this module."""

    def __init__(
        self,
        *,
        clock: Callable[[], float] = monotonic,
        frames_max: int = FRAMES_MAX,
        bytes_max: int = BYTES_MAX,
    ) -> None:
        self._clock = clock
        self._began = clock()
        self._started = time_of_day()
        self._frames_max = frames_max
        self._bytes_max = bytes_max
        self._items: list[Item] = []
        # Where the kept ones begin in the list; it is shortened now and then, not each time.
        self._start = 0
        self._bytes = 0
        self._next = 1
        self._read = 1
        self._gone: dict[Way, int] = {"sent": 0, "received": 0}
        self._streams: dict[Way, FrameStream] = {}
        self._pairing = RequestMatcher()
        self._forget_streams()
        # The agent's command, for readers of the saved file.
        self.command: Sequence[str] = ()
        # Called for new frames while a view is open.
        self.on_change: Callable[[], None] | None = None

    def _forget_streams(self) -> None:
        self._streams = {
            "sent": FrameStream(FRAME_BYTES_MAX),
            "received": FrameStream(FRAME_BYTES_MAX),
        }

    # ---- recording

    def record(self, way: Way, data: bytes) -> None:
        """Record a frame; the client's option `traffic` calls this."""
        if data:
            self._split(way, data)
        else:
            self._end()
        if self.on_change is not None:
            self.on_change()

    def _split(self, way: Way, data: bytes) -> None:
        now = self._clock() - self._began
        for frame in self._streams[way].feed(data):
            if not isinstance(frame, int):
                if frame and not frame.isspace():
                    self._add(now, way, frame)
            elif frame:
                self._lose(now, way, frame)

    def _end(self) -> None:
        """The conversation is over; another may begin, with ids of its own."""
        now = self._clock() - self._began
        for way, stream in self._streams.items():
            for frame in stream.finish():
                self._add(now, way, frame)
        self._forget_streams()
        self._add(now, "received", b"").kind = "end"

    def _lose(self, now: float, way: Way, lost: int) -> None:
        last = self._items[-1] if len(self) else None
        if last is not None and last.lost and last.way == way:
            last.lost += lost
            return
        self._add(now, way, b"", lost).kind = "gap"

    def _add(self, now: float, way: Way, raw: bytes, lost: int = 0) -> Item:
        item = Item(self._next, now, way, raw, lost)
        self._next += 1
        self._items.append(item)
        self._bytes += len(raw)
        while len(self) > self._frames_max or (self._bytes > self._bytes_max and len(self) > 1):
            self._drop()
        return item

    def _drop(self) -> None:
        oldest = self._items[self._start]
        self._bytes -= len(oldest.raw)
        self._gone[oldest.way] += oldest.size
        self._start += 1
        if self._start > 1024 and self._start * 2 > len(self._items):
            del self._items[: self._start]
            self._start = 0

    # ---- reading

    def __len__(self) -> int:
        return len(self._items) - self._start

    @property
    def first(self) -> int:
        """The number of the oldest that is kept."""
        return self._next - len(self)

    @property
    def next(self) -> int:
        """The number of the next frame; it shows whether there are new ones."""
        return self._next

    def item(self, number: int) -> Item | None:
        """The frame with this number, if it is kept."""
        at = number - self.first
        return self._items[self._start + at] if 0 <= at < len(self) else None

    def items(self, start: int = 0) -> Iterator[Item]:
        """The frames from a number on, oldest first."""
        at = self._start + max(start - self.first, 0)
        return islice(self._items, at, None)

    def catch_up(self) -> None:
        """Find out what the frames are that came since."""
        for item in self.items(self._read):
            self._understand(item)
        self._read = self._next

    def _understand(self, item: Item) -> None:
        if item.kind == "end":
            self._pairing = RequestMatcher()
        if item.kind is not None:
            return
        frame = read_frame(item.raw)
        item.kind, item.session = frame.kind, frame.session_id
        item.method = (frame.method or "")[:_METHODS_MAX]
        item.detail = frame.update[0][:_METHODS_MAX] if frame.update is not None else ""
        asked = self._pairing.pair(item.number, item.time, _SPEAKERS[item.way], frame)
        if asked is None or frame.kind == "request":
            return
        item.pair, item.latency = asked.number, item.time - asked.time
        item.method = asked.method[:_METHODS_MAX]
        item.session = asked.session_id or item.session
        request = self.item(asked.number)
        if request is not None:
            request.pair, request.latency = item.number, item.latency
            request.session = item.session

    # ---- saving

    def save(self, path: str | os.PathLike[str], *, redact: bool = True) -> int:
        """Write a recording to a new file that only the user can read; how many frames it has.

        Blocks: call it in a thread.  With `redact` secrets are taken out.

        Raises:
            OSError: it cannot be written, or there is such a file already.
        """
        from accord.machine.redaction.redactor import Redactor

        # A copy, because the conversation continues.
        items, gone = list(self.items()), dict(self._gone)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:

            def write(line: bytes) -> None:
                file.write(line)

            writer = RecordingWriter(write, Redactor.of_environment() if redact else None)
            writer.head(
                started=self._started.isoformat(timespec="microseconds").replace("+00:00", "Z"),
                command=list(self.command),
                program=f"accord {__version__}",
            )
            for way, lost in gone.items():
                if lost:
                    writer.gap(0.0, _SPEAKERS[way], lost, "too old, not kept")
            frames = 0
            for item in items:
                if item.kind != "end":
                    frames += item.kind != "gap"
                    writer.frame(item.time, _SPEAKERS[item.way], item.lost or item.raw)
            writer.close()
        return frames

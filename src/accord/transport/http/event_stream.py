"""Server-sent events, without I/O: a reader and a writer.

Invariants
    * Any split of a stream gives the same events.
    * A byte is looked at a bounded number of times, however many pieces an event arrives in.
    * No more than one event of at most `event_bytes_max` is kept.
"""

from io import BytesIO
from typing import Final, NamedTuple

EVENT_BYTES_MAX: Final = 32 * 1024 * 1024
KEEP_ALIVE: Final = b":\n\n"
"""A comment, which readers skip."""

# What an event may have besides its data: field names, an id, comments.
_OTHER_BYTES_MAX: Final = 64 * 1024
_CARRIAGE_RETURN: Final = 13
_LINE_FEED: Final = 10
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class EventTooLong(Exception):
    """The server sends an event over the limit; the stream cannot go on."""

    def __init__(self, event_bytes_max: int) -> None:
        super().__init__(f"an event is longer than message_bytes, {event_bytes_max} bytes")
        self.event_bytes_max = event_bytes_max


class StreamEvent(NamedTuple):
    """The data of one event, and its id if it has one."""

    data: bytes
    id: bytes | None


class EventReader:
    """Finds the events in a stream of bytes.

    Line ends are CR LF, LF or CR.  Comments, unknown fields and events without data are skipped.
    """

    def __init__(self, *, event_bytes_max: int = EVENT_BYTES_MAX) -> None:
        self._event_bytes_max = event_bytes_max
        self._held = BytesIO()
        self._held_bytes = 0
        # Whether what is held ends with a line end, so that another one ends the event.
        self._line_is_over = False
        self._skips_line_feed = False
        self._begins = True
        self._head = b""
        self.has_comments = False

    def feed(self, chunk: bytes) -> list[StreamEvent]:
        """Return the events that this chunk completes.

        Raises:
            EventTooLong: the stream cannot go on.
        """
        if self._begins:
            chunk = self._without_mark(chunk)
        if self._skips_line_feed and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._skips_line_feed = False
        if _CARRIAGE_RETURN in chunk:
            self._skips_line_feed = chunk[-1] == _CARRIAGE_RETURN
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if not chunk:
            return []
        if self._line_is_over and chunk[0] == _LINE_FEED:
            blocks = [b"", *chunk[1:].split(b"\n\n")]
        else:
            blocks = chunk.split(b"\n\n")
        tail = blocks.pop()
        if blocks and self._held_bytes:
            self._held.write(blocks[0])
            blocks[0] = self._take()
        if tail:
            self._held.write(tail)
            self._held_bytes += len(tail)
        self._line_is_over = self._held_bytes > 0 and chunk[-1] == _LINE_FEED
        limit = self._event_bytes_max + _OTHER_BYTES_MAX
        if self._held_bytes > limit or any(len(block) > limit for block in blocks):
            raise EventTooLong(self._event_bytes_max)
        return self._events(blocks)

    def _without_mark(self, chunk: bytes) -> bytes:
        """Drop a byte order mark at the start of the stream."""
        chunk = self._head + chunk
        if len(chunk) < len(_BYTE_ORDER_MARK) and _BYTE_ORDER_MARK.startswith(chunk):
            self._head = chunk
            return b""
        self._begins, self._head = False, b""
        return chunk.removeprefix(_BYTE_ORDER_MARK)

    def _take(self) -> bytes:
        whole = self._held.getvalue()
        self._held = BytesIO()
        self._held_bytes = 0
        return whole

    def _events(self, blocks: list[bytes]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for block in blocks:
            # Nearly every event is written in one of these two ways.
            if block.startswith(b"data: ") and _LINE_FEED not in block:
                event = StreamEvent(block[6:], None)
            else:
                before, found, data = block.partition(b"\ndata: ")
                if (
                    found
                    and before.startswith(b"id: ")
                    and _LINE_FEED not in data
                    and _LINE_FEED not in before
                ):
                    event = StreamEvent(data, before[4:])
                else:
                    event = self._read_fields(block)
            if len(event.data) > self._event_bytes_max:
                raise EventTooLong(self._event_bytes_max)
            if event.data:
                events.append(event)
        return events

    def _read_fields(self, block: bytes) -> StreamEvent:
        data: list[bytes] = []
        event_id: bytes | None = None
        for line in block.split(b"\n"):
            name, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if not name:
                self.has_comments = self.has_comments or line != b""
            elif name == b"data":
                data.append(value)
            elif name == b"id" and b"\0" not in value:
                event_id = value
        return StreamEvent(b"\n".join(data), event_id)


def encode_event(data: bytes, event_id: int | None = None) -> bytes:
    """Return the bytes of one event."""
    if _LINE_FEED in data or _CARRIAGE_RETURN in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\n", b"\ndata: ")
    if event_id is None:
        return b"data: %b\n\n" % data
    return b"id: %d\ndata: %b\n\n" % (event_id, data)


__all__ = [
    "EVENT_BYTES_MAX",
    "KEEP_ALIVE",
    "EventReader",
    "EventTooLong",
    "StreamEvent",
    "encode_event",
]

"""Server-sent events: the bytes of a stream become events.  Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

# The bound of one event.
EVENT_BYTES_MAX = 64 * 1024 * 1024


class LongEvent(Exception):
    """An event has no end."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event that has data; `name` is its field `event`."""

    data: bytes
    name: str = ""
    id: str | None = None


@dataclass(slots=True)
class EventReader:
    """Reads bytes as they arrive, and returns complete events.

    Lines may end with CRLF, LF or CR; comments and unknown fields are skipped.
    """

    held: bytes = b""
    _begun: bool = False
    _data: list[bytes] = field(default_factory=list)
    _name: str = ""
    _id: str | None = None

    def feed(self, chunk: bytes) -> list[Event]:
        """Return the events that these bytes complete.

        Raises:
            LongEvent: one is longer than anybody's limit.
        """
        text = self.held + chunk
        if not self._begun and len(text) >= 3:
            self._begun = True
            text = text.removeprefix(b"\xef\xbb\xbf")
        # A CR at the end may be half of a line break.
        cut = len(text) - text.endswith(b"\r")
        whole = text[:cut].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = whole.split(b"\n")
        self.held = rest + text[cut:]
        if len(self.held) + sum(map(len, self._data)) > EVENT_BYTES_MAX:
            raise LongEvent
        events = [self._line(line) for line in lines]
        return [one for one in events if one is not None]

    def _line(self, line: bytes) -> Event | None:
        if not line:
            event = Event(b"\n".join(self._data), self._name, self._id) if self._data else None
            self._data, self._name = [], ""
            return event
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._name = value.decode("utf-8", "replace")
        elif name == b"id":
            self._id = value.decode("utf-8", "replace")
        return None

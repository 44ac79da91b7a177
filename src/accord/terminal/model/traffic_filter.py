"""Filter and search the traffic, and format one frame.

This module does not know any screen.

Invariants
    * `numbers` are those of the kept frames that pass the filter, in order.
    * Taking in new frames takes no longer when there are many old ones.
    * While it is paused, nothing is added; frames that are too old are still dropped.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

from accord.schema.codec import Invalid, to_python
from accord.terminal.model.traffic import Item, Traffic, Way

PRETTY_BYTES_MAX = 1024 * 1024
"""Only the beginning of a longer frame is shown, unformatted."""

PRETTY_LINES_MAX = 5000
DEPTH_MAX = 200
"""The most levels that are indented; a deeper frame is shown unchanged."""
PRETTY_STRING_MAX = 8000
"""Characters of one string that are shown."""

_WAYS: dict[str, Way] = {"sent": "sent", "out": "sent", "received": "received", "in": "received"}
_KINDS = {
    "request": ("request",),
    "requests": ("request",),
    "answer": ("answer", "error"),
    "answers": ("answer", "error"),
    "notification": ("notification",),
    "notifications": ("notification",),
    "noise": ("noise", "gap"),
    "waiting": ("request",),
}


@dataclass(frozen=True, slots=True)
class Filter:
    """Which frames are wanted; all that is given must hold."""

    way: Way | None = None
    kinds: tuple[str, ...] = ()
    method: str = ""
    session: str = ""
    errors: bool = False
    waiting: bool = False
    words: tuple[bytes, ...] = ()

    @classmethod
    def read(cls, text: str) -> Filter:
        """From words such as `sent error method:session/prompt session:s1 hello`."""
        found: dict[str, Any] = {}
        words: list[bytes] = []
        for word in text.split():
            small = word.lower()
            name, colon, value = small.partition(":")
            if small in _WAYS:
                found["way"] = _WAYS[small]
            elif small in ("error", "errors"):
                found["errors"] = True
            elif small in _KINDS:
                found["kinds"] = _KINDS[small]
                found["waiting"] = small == "waiting"
            elif colon and name == "method":
                found["method"] = value
            elif colon and name == "session":
                found["session"] = word.partition(":")[2]
            else:
                words.append(small.encode())
        return cls(**found, words=tuple(words))

    @property
    def is_empty(self) -> bool:
        """Whether the filter lets every frame pass."""
        return self == Filter()

    def passes(self, item: Item) -> bool:
        """Whether this frame is wanted."""
        if self.way is not None and item.way != self.way:
            return False
        if self.kinds and item.kind not in self.kinds:
            return False
        if self.errors and not item.is_error:
            return False
        if self.waiting and item.pair is not None:
            return False
        if self.method and self.method not in f"{item.method} {item.detail}".lower():
            return False
        if self.session and not (item.session or "").startswith(self.session):
            return False
        return not self.words or _has_all(item, self.words)


def _has_all(item: Item, words: tuple[bytes, ...]) -> bool:
    raw, method = item.raw.lower(), item.method.lower().encode()
    return all(word in raw or word in method for word in words)


class TrafficView:
    """Guards the invariants of this module."""

    def __init__(self, traffic: Traffic) -> None:
        self.traffic = traffic
        self.numbers: list[int] = []
        self.paused = False
        self._filter = Filter()
        self._seen = 0

    @property
    def filter(self) -> Filter:
        """The filter that is applied."""
        return self._filter

    def choose(self, wanted: Filter) -> None:
        """Apply another filter to all frames."""
        self._filter = wanted
        end = self._seen
        self.traffic.catch_up()
        items = self.traffic.items()
        self.numbers = [one.number for one in items if one.number < end and wanted.passes(one)]
        self.update()

    def update(self) -> bool:
        """Add new frames; return whether anything changed."""
        traffic = self.traffic
        gone = bisect_left(self.numbers, traffic.first)
        del self.numbers[:gone]
        if self.paused or self._seen == traffic.next:
            return bool(gone)
        traffic.catch_up()
        before = len(self.numbers)
        passes, add = self._filter.passes, self.numbers.append
        for item in traffic.items(self._seen):
            if passes(item):
                add(item.number)
        self._seen = traffic.next
        if self._filter.waiting:
            # What was answered meanwhile waits no more.
            left = [one for one in self.numbers if self._is_open(one)]
            gone += len(self.numbers) - len(left)
            self.numbers = left
        return bool(gone) or len(self.numbers) != before

    def _is_open(self, number: int) -> bool:
        item = self.traffic.item(number)
        return item is not None and item.pair is None

    def index_of(self, number: int) -> int | None:
        """Return the index of a frame in `numbers`."""
        at = bisect_left(self.numbers, number)
        return at if at < len(self.numbers) and self.numbers[at] == number else None

    def find(self, text: str, start: int, step: int = 1) -> int | None:
        """The next place in `numbers` from `start` on, round about, whose frame has this text."""
        words = (text.lower().encode(),)
        count = len(self.numbers)
        for distance in range(count):
            at = (start + distance * step) % count
            item = self.traffic.item(self.numbers[at])
            if item is not None and _has_all(item, words):
                return at
        return None


def pretty(item: Item) -> str:
    """The frame for reading: indented, and cut where it is very long."""
    if item.lost:
        return f"{item.lost} bytes: too long to keep"
    raw = item.raw
    if len(raw) > PRETTY_BYTES_MAX:
        shown = raw[:PRETTY_STRING_MAX].decode("utf-8", "replace")
        return f"{shown}…\n({len(raw)} bytes, too many to show; you can save them)"
    try:
        text = json.dumps(_shortened(to_python(raw), DEPTH_MAX), indent=2, ensure_ascii=False)
    except (Invalid, RecursionError):
        text = raw.decode("utf-8", "replace")
    lines = text.split("\n", PRETTY_LINES_MAX)
    if len(lines) > PRETTY_LINES_MAX:
        more = lines[-1].count("\n") + 1
        lines[-1] = f"… {more} more lines"
    return "\n".join(lines)


def _shortened(value: Any, depth: int) -> Any:
    """Return the value with long texts shortened; too deep nesting is refused."""
    if isinstance(value, str) and len(value) > PRETTY_STRING_MAX:
        return f"{value[:PRETTY_STRING_MAX]}… ({len(value) - PRETTY_STRING_MAX} more characters)"
    if not isinstance(value, list | dict):
        return value
    if not depth:
        raise RecursionError
    if isinstance(value, list):
        return [_shortened(one, depth - 1) for one in value]
    return {key: _shortened(one, depth - 1) for key, one in value.items()}

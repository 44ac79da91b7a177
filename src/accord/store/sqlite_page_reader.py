"""Reads the rows of a SQLite file page by page, without SQLite.

For files that SQLite refuses: it needs the schema and the whole tree above a row to reach it, but
each page lists its own rows.  So damage costs only the rows that it affects.

Pure: bytes in, rows out.  It must not know what the rows mean.

What always holds: no content raises an error.  What cannot be read is counted, not guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

MAGIC = b"SQLite format 3\0"
PAGE_BYTES_DEFAULT = 8192
"""The page size of our own stores, used if the header is damaged."""

HEADER_BYTES = 100
LOG_MAGICS = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
LOG_HEADER_BYTES = 32
FRAME_HEADER_BYTES = 24
TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR = 0x0D, 0x0A, 0x02

Value = int | float | str | bytes | None


class StoredRow(NamedTuple):
    """One row.  `rowid` is None in tables without row ids."""

    rowid: int | None
    values: tuple[Value, ...]


class Damage(Exception):
    """A row or a page that cannot be read."""


class _File:
    """The pages of a file, with the newer versions in its log."""

    def __init__(self, data: bytes, log: bytes) -> None:
        self._data = data
        self.page_bytes = _page_bytes(data)
        # SQLite may reserve a few bytes at the end of each page for extensions; ours reserves none.
        self.usable = self.page_bytes
        pages_max = (len(data) + len(log)) // self.page_bytes + 1
        written = _committed(log, self.page_bytes)
        # A larger number is damage: every page was written at least once.
        self._written = {number: page for number, page in written if number <= pages_max}
        self.count = max(-(-len(data) // self.page_bytes), *self._written, 0)

    def page(self, number: int) -> bytes:
        if number in self._written:
            return self._written[number]
        start = (number - 1) * self.page_bytes
        page = self._data[start : start + self.page_bytes] if number > 0 else b""
        if len(page) < self.page_bytes:
            raise Damage(f"page {number} is incomplete")
        return page


def _page_bytes(data: bytes) -> int:
    said = int.from_bytes(data[16:18], "big")
    said = 65536 if said == 1 else said
    is_sensible = data.startswith(MAGIC) and 512 <= said <= 65536 and said & (said - 1) == 0
    return said if is_sensible else PAGE_BYTES_DEFAULT


def _committed(log: bytes, page_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield the pages of all finished transactions in the log, oldest first.

    A damaged frame costs its own page.  Frames from before the log was restarted have other salts,
    as do frames with a damaged header.
    """
    step = FRAME_HEADER_BYTES + page_bytes
    starts = range(LOG_HEADER_BYTES, len(log) - step + 1, step)
    heads = [log[at : at + FRAME_HEADER_BYTES] for at in starts]
    salts = log[16:24]
    if not any(head[8:16] == salts for head in heads):
        # The header of the log is damaged; the first frame was written after it.
        salts = log[LOG_HEADER_BYTES + 8 : LOG_HEADER_BYTES + 16]
    waiting: list[tuple[int, bytes]] = []
    for at, head in zip(starts, heads, strict=True):
        if head[8:16] != salts:
            continue
        waiting.append((int.from_bytes(head[0:4], "big"), log[at + FRAME_HEADER_BYTES : at + step]))
        if any(head[4:8]):
            yield from waiting
            waiting = []


def read_rows(data: bytes, log: bytes = b"") -> Iterator[StoredRow | Damage]:
    """Yield every row in the order of the pages; `log` is the `-wal` file.

    A row that cannot be read is yielded as Damage.
    """
    file = _File(data, log)
    for number in range(1, file.count + 1):
        try:
            page = file.page(number)
        except Damage as damage:
            yield damage
            continue
        start = HEADER_BYTES if number == 1 else 0
        kind = page[start]
        if kind in (TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR):
            yield from _rows_of(file, page, start, kind)


def _rows_of(file: _File, page: bytes, start: int, kind: int) -> Iterator[StoredRow | Damage]:
    count = int.from_bytes(page[start + 3 : start + 5], "big")
    pointers = start + (12 if kind == INDEX_INTERIOR else 8)
    if pointers + 2 * count > len(page):
        yield Damage("the header of a page")
        return
    for index in range(count):
        at = int.from_bytes(page[pointers + 2 * index : pointers + 2 * index + 2], "big")
        try:
            yield _row(file, page, at, kind)
        except (Damage, ValueError, IndexError, OverflowError) as error:
            yield error if isinstance(error, Damage) else Damage(str(error))


def _row(file: _File, page: bytes, at: int, kind: int) -> StoredRow:
    if kind == INDEX_INTERIOR:
        at += 4
    size, at = _varint(page, at)
    rowid = None
    if kind == TABLE_LEAF:
        rowid, at = _varint(page, at)
    return StoredRow(rowid, _values(_payload(file, page, at, size, kind)))


def _payload(file: _File, page: bytes, at: int, size: int, kind: int) -> bytes:
    usable = file.usable
    if size > file.count * file.page_bytes:
        raise Damage("a row larger than the file")
    most = usable - 35 if kind == TABLE_LEAF else (usable - 12) * 64 // 255 - 23
    if size <= most:
        return _exactly(page[at : at + size], size)
    least = (usable - 12) * 32 // 255 - 23
    local = least + (size - least) % (usable - 4)
    local = local if local <= most else least
    parts = [_exactly(page[at : at + local], local)]
    following = int.from_bytes(_exactly(page[at + local : at + local + 4], 4), "big")
    left = size - local
    while left > 0:
        # Each step takes a part of a size that the file bounds, so that a cycle ends too.
        more = file.page(following)
        part = more[4 : 4 + min(left, usable - 4)]
        parts.append(part)
        left -= len(part)
        following = int.from_bytes(more[:4], "big")
    return b"".join(parts)


def _exactly(data: bytes, size: int) -> bytes:
    if len(data) != size:
        raise Damage("a row outside its page")
    return data


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for index in range(8):
        byte = data[at + index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + index + 1
    value = value << 8 | data[at + 8]
    return (value - (1 << 64) if value >> 63 else value), at + 9


def _values(record: bytes) -> tuple[Value, ...]:
    head, at = _varint(record, 0)
    if not at <= head <= len(record):
        raise Damage("the header of a row")
    kinds: list[int] = []
    while at < head:
        kind, at = _varint(record, at)
        kinds.append(kind)
    values: list[Value] = []
    for kind in kinds:
        value, at = _value(record, at, kind)
        values.append(value)
    return tuple(values)


def _value(record: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind == 0:
        return None, at
    if kind in (8, 9):
        return kind - 8, at
    if 1 <= kind <= 6:
        size = (1, 2, 3, 4, 6, 8)[kind - 1]
        return int.from_bytes(_exactly(record[at : at + size], size), "big", signed=True), at + size
    if kind == 7:
        # No table of ours has such a value.
        return 0.0, at + 8
    if kind < 12:
        raise Damage("a value of an invalid type")
    size = (kind - 12) // 2
    data = _exactly(record[at : at + size], size)
    return (data if kind % 2 == 0 else data.decode("utf-8")), at + size

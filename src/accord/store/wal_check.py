"""Finds finished transactions in the write-ahead log that SQLite would discard.

SQLite reads a log up to the first invalid frame, takes that for the end, and deletes the log when
the file is closed.  That is right for the last frames before a power cut.  If finished transactions
follow, it is damage, and their content would be lost silently.

What always holds: nothing is written, and other processes that use the store are not disturbed.
"""

from __future__ import annotations

import os
import struct
from typing import BinaryIO, NamedTuple

from accord.store.sqlite_page_reader import FRAME_HEADER_BYTES, LOG_HEADER_BYTES, LOG_MAGICS

HEAD = struct.Struct("=IIIBBHII2I8s2I")
"""The header of SQLite's index of the log (`-shm`), which is there twice."""

LOOKS_MAX = 20
PIECE_BYTES = 1024 * 1024


class _Index(NamedTuple):
    """The valid part of the log, according to SQLite."""

    frames: int
    checksum: tuple[int, int]
    salts: bytes


def has_content(log: str) -> bool:
    """Whether there is a log with anything but zeros."""
    try:
        with open(log, "rb") as file:
            while piece := file.read(PIECE_BYTES):
                if piece.count(0) < len(piece):
                    return True
    except OSError:
        # Usually there is none.
        pass
    return False


def lost_transactions(path: str) -> str | None:
    """Return what is wrong with the log of a store; None if nothing is.

    A connection that has read from the store must be open, so that the index is up to date.
    """
    try:
        with open(f"{path}-wal", "rb") as log, open(f"{path}-shm", "rb") as index:
            return _look(log, index)
    except OSError:
        # No log, or no index of it: SQLite discarded nothing.
        return None


def _look(log: BinaryIO, index: BinaryIO) -> str | None:
    for _ in range(LOOKS_MAX):
        head = _at(log, 0, LOG_HEADER_BYTES)
        if len(head) < LOG_HEADER_BYTES:
            return None
        page_bytes = int.from_bytes(head[8:12], "big")
        if not _is_header(head):
            damage = "the header of its log is damaged"
        else:
            known = _index(index)
            if known is None or known.salts != head[16:24]:
                # Another process restarts the log, or no process has read it: nothing to compare.
                return None
            last = _last_commit(log, known, page_bytes)
            if last is None or _is_frame(log, known, head, page_bytes):
                return None
            damage = f"its log is damaged before transaction {last}"
        # If another process has written in the meantime, look again.
        if _at(log, 0, LOG_HEADER_BYTES) == head:
            return damage
    return None


def _at(file: BinaryIO, start: int, size: int) -> bytes:
    return os.pread(file.fileno(), size, start)


def _is_header(head: bytes) -> bool:
    if head[:4] not in LOG_MAGICS:
        return False
    return struct.unpack(">II", head[24:32]) == _checksum((0, 0), head[:24], _order(head))


def _order(head: bytes) -> str:
    """Return the byte order of the checksums of a log."""
    return ">" if head[3] & 1 else "<"


def _index(file: BinaryIO) -> _Index | None:
    data = _at(file, 0, 2 * HEAD.size)
    if len(data) < 2 * HEAD.size or data[: HEAD.size] != data[HEAD.size :]:
        return None
    *_, frames, _pages, first, second, salts, _sum, _sum_2 = HEAD.unpack(data[: HEAD.size])
    return _Index(frames, (first, second), salts)


def _last_commit(log: BinaryIO, known: _Index, page_bytes: int) -> int | None:
    """Return the last frame that ends a transaction and that SQLite does not know.

    The first of them does not count: it may be written before the rest of its transaction.
    """
    step = FRAME_HEADER_BYTES + page_bytes
    count = (os.fstat(log.fileno()).st_size - LOG_HEADER_BYTES) // step
    for number in range(count, known.frames + 1, -1):
        head = _at(log, LOG_HEADER_BYTES + (number - 1) * step, FRAME_HEADER_BYTES)
        if head[8:16] == known.salts and any(head[4:8]):
            return number
    return None


def _is_frame(log: BinaryIO, known: _Index, head: bytes, page_bytes: int) -> bool:
    """Whether the frame after those that SQLite knows is valid: then a process is writing."""
    start = LOG_HEADER_BYTES + known.frames * (FRAME_HEADER_BYTES + page_bytes)
    frame = _at(log, start, FRAME_HEADER_BYTES + page_bytes)
    if frame[8:16] != known.salts:
        return False
    order = _order(head)
    # The index of a restarted log has the checksum of the previous one.
    seed = known.checksum if known.frames else struct.unpack(">II", head[24:32])
    computed = _checksum(seed, frame[:8], order)
    computed = _checksum(computed, frame[FRAME_HEADER_BYTES:], order)
    return struct.unpack(">II", frame[16:24]) == computed


def _checksum(seed: tuple[int, ...], data: bytes, order: str) -> tuple[int, int]:
    first, second = seed
    for one, two in struct.iter_unpack(f"{order}II", data):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + two + first) & 0xFFFFFFFF
    return first, second

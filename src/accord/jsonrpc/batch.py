"""Arrays of messages, for peers of an earlier draft of v2.  Off unless asked for.

Must not know: how a single message is judged; the peer does that, entry by entry.
Always holds: a batch is answered by at most one array, after the last of its requests is settled,
with one answer per request and per bad entry and none per notification.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Raw

from accord.jsonrpc.envelope import Id
from accord.schema.codec import repair_surrogates

BATCH_ENTRIES_MAX: Final = 1024
"""Entries of one array; each may need an answer that is held until the last is there."""

_entries = msgspec.json.Decoder(list[Raw]).decode


def entries_of(frame: bytes) -> list[bytes]:
    """The entries of a frame that is known to be an array."""
    return [bytes(entry) for entry in _entries(repair_surrogates(frame))]


def array_frame(answers: list[bytes]) -> bytes:
    """The one frame that carries these answers."""
    return b"[" + b",".join(answers) + b"]"


class OpenBatches:
    """Batches with requests that still run, by the ids of those requests.

    Invariant: an id is here exactly as long as its request, which came in a batch, is unanswered.
    """

    def __init__(self) -> None:
        self._by_id: dict[Id, _OpenBatch] = {}

    def open(self, ready: list[bytes], waiting: list[Id]) -> None:
        """Hold the answers that are ready until those of the waiting ids are there."""
        batch = _OpenBatch(ready, len(waiting))
        for request_id in waiting:
            self._by_id[request_id] = batch

    def __contains__(self, request_id: Id) -> bool:
        return request_id in self._by_id

    def settle(self, request_id: Id, answer: bytes) -> bytes:
        """The frame to send now: the answer itself, the whole array, or nothing yet (empty)."""
        batch = self._by_id.pop(request_id, None)
        return answer if batch is None else batch.settle(answer)


class _OpenBatch:
    def __init__(self, ready: list[bytes], waiting_count: int) -> None:
        self._ready = ready
        self._waiting_count = waiting_count

    def settle(self, answer: bytes) -> bytes:
        self._ready.append(answer)
        self._waiting_count -= 1
        return b"" if self._waiting_count else array_frame(self._ready)


__all__ = ["BATCH_ENTRIES_MAX", "OpenBatches", "array_frame", "entries_of"]

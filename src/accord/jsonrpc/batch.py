"""Arrays of messages, as v2 allows them.

Must not know: how a single message is judged; the peer does that, entry by entry.
Always holds: a batch is answered by at most one array, after the last of its requests is settled,
with one answer per request and per bad entry and none per notification.  What the held answers of
all batches take together is bounded.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Raw

from accord.jsonrpc.envelope import Id
from accord.jsonrpc.malformed_frames import BYTE_ORDER_MARK
from accord.schema.codec import repair_surrogates

BATCH_ENTRIES_MAX: Final = 1024
"""Entries of one array; each may need an answer that is held until the last is there."""

REFUSAL_BYTES: Final = 256
"""What an answer takes that says no more than a code, if the id is of a usual length."""

_entries = msgspec.json.Decoder(list[Raw]).decode


def entries_of(frame: bytes) -> list[bytes]:
    """The entries of a frame that is known to be an array."""
    text = frame.removeprefix(BYTE_ORDER_MARK)
    return [bytes(entry) for entry in _entries(repair_surrogates(text))]


def array_frame(answers: list[bytes]) -> bytes:
    """The one frame that carries these answers."""
    return b"[" + b",".join(answers) + b"]"


class OpenBatches:
    """Batches with requests that still run, by the ids of those requests.

    Invariant: an id is here exactly as long as its request, which came in a batch, is unanswered.
    `bytes_max` is what the answers of one array may take, and those of all that are held.
    """

    def __init__(self, bytes_max: int) -> None:
        self.by_id: dict[Id, OpenBatch] = {}
        """The batch that an open request came in; empty nearly always."""
        self._bytes_max = bytes_max
        self._bytes_held = 0

    def open(self, ready: list[bytes], waiting: list[Id]) -> None:
        """Hold the answers that are ready until those of the waiting ids are there."""
        batch = OpenBatch(ready, len(waiting))
        for request_id in waiting:
            self.by_id[request_id] = batch
        if waiting:
            self._bytes_held += batch.bytes_held

    def has_room_for(self, request_id: Id, answer: bytes) -> bool:
        """Whether an answer can be sent, or held until the rest of its batch is there."""
        if request_id not in self.by_id:
            return True
        # So much is left for the others, which can at least be refused.
        kept = REFUSAL_BYTES * (len(self.by_id) - 1)
        return self._bytes_held + len(answer) + kept <= self._bytes_max

    def settle(self, request_id: Id, answer: bytes) -> bytes:
        """The frame to send now: the answer itself, the whole array, or nothing yet (empty)."""
        batch = self.by_id.pop(request_id, None)
        if batch is None:
            return answer
        self._bytes_held += batch.add(answer)
        if batch.waiting_count:
            return b""
        self._bytes_held -= batch.bytes_held
        return array_frame(batch.ready)


class OpenBatch:
    """A batch whose answer is not sent yet, which is so while `waiting_count` is above 0."""

    def __init__(self, ready: list[bytes], waiting_count: int) -> None:
        self.ready = ready
        self.waiting_count = waiting_count
        # Each with a comma or a bracket.
        self.bytes_held = sum(map(len, ready)) + len(ready)

    def add(self, answer: bytes) -> int:
        """One more is ready; how many bytes it takes."""
        self.ready.append(answer)
        self.waiting_count -= 1
        self.bytes_held += len(answer) + 1
        return len(answer) + 1

"""One end of a JSON-RPC 2.0 conversation, without I/O.

Frames go in and events come out; calls and answers go in and frames to send come out.  Both ends
of ACP are this class: an agent calls its client as often as the reverse.

Must not know: any method of ACP, how frames travel, or who waits for what.

Always holds
    * `receive` never raises for bad input.  Bad input is an event.
    * An id is pending from `call` until exactly one CallAnswered or CallFailed names it, or the
      owner gives it up by `abandon` or `fail_all`.
    * A request is unanswered from its event until exactly one `answer` or `refuse`; another
      request with the same id is refused meanwhile and leaves the first alone.
    * Neither a notification nor an answer is ever answered, and of bad lines in a row only the
      first is.
    * No clock, no lock, no task, no log: two runs over the same input are identical.
"""

from collections.abc import Iterable

import msgspec
from msgspec import UNSET, Raw

from accord.errors import LocalProtocolError
from accord.jsonrpc.batch import BATCH_ENTRIES_MAX, OpenBatch, OpenBatches, array_frame, entries_of
from accord.jsonrpc.envelope import (
    Envelope,
    Id,
    decode_envelope,
    decode_strictly,
    error_frame,
    notification_frame,
    request_frame,
    result_frame,
    result_parts,
)
from accord.jsonrpc.error_codes import INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, text_of
from accord.jsonrpc.events import (
    Batch,
    BlankSkipped,
    CallFailed,
    Event,
    FrameRejected,
    NotificationReceived,
    RequestReceived,
    SingleEvent,
    StrayAnswer,
)
from accord.jsonrpc.framing import FRAME_BYTES_MAX
from accord.jsonrpc.json_depth import DEPTH_MAX, is_deeper, too_deep
from accord.jsonrpc.large_text import TextResult
from accord.jsonrpc.malformed_frames import (
    Fault,
    Repaired,
    Verdict,
    ids_answered,
    is_utf8,
    refusal,
    salvage,
)
from accord.jsonrpc.pending_calls import PENDING_MAX, PendingCalls
from accord.jsonrpc.responses import joined, malformed, read_error, settled

_BLANK = BlankSkipped()
# What a message, blank space or a byte order mark begins with.
_MAY_BEGIN = frozenset((b"{", b"[", b" ", b"\t", b"\r", b"\xef"))
_TOO_MANY = b'{"reason":"too_many_requests"}'
_UNVERSIONED = 'jsonrpc is not "2.0"'

NULL_ID_VERSIONS = frozenset({1})
BATCH_VERSIONS = frozenset({2})


class Peer:
    """Guards the two sets of open requests: ours that are pending, and theirs unanswered."""

    def __init__(
        self,
        *,
        version: int = 1,
        accept_batches: bool = False,
        strict: bool = False,
        depth_max: int = DEPTH_MAX,
        pending_max: int = PENDING_MAX,
        frame_bytes_max: int = FRAME_BYTES_MAX,
    ) -> None:
        self._batches_wanted = accept_batches
        self.set_version(version)
        self._strict = strict
        self._decode = decode_strictly if strict else decode_envelope
        self._frame_bytes_max = frame_bytes_max
        self._depth_max = depth_max
        # Each level takes two bytes, so that a shorter frame cannot be too deep.
        self._shallow_bytes_max = 2 * depth_max
        self._pending_max = pending_max
        self._pending = PendingCalls()
        self._unanswered: set[Id] = set()
        self._batches = OpenBatches(frame_bytes_max)
        self._batch_of = self._batches.by_id
        self._is_in_batch = False
        # Bad lines since the last good frame.  Set it to 0 when a good frame was read elsewhere.
        self.noise_count = 0

    def set_version(self, version: int) -> None:
        """Read by the rules of this version from now on: null as an id is v1's, arrays are v2's.

        With `accept_batches` arrays are read in v1 too.
        """
        self._null_ids_allowed = version in NULL_ID_VERSIONS
        self._accept_batches = self._batches_wanted or version in BATCH_VERSIONS

    # Outgoing messages

    @property
    def can_call(self) -> bool:
        """Whether one more call fits; else wait until a pending one is settled."""
        return len(self._pending) < self._pending_max

    @property
    def pending_count(self) -> int:
        """How many of our calls wait for their answer."""
        return len(self._pending)

    @property
    def unanswered_count(self) -> int:
        """How many of the peer's requests wait for our answer."""
        return len(self._unanswered)

    def is_unanswered(self, request_id: Id) -> bool:
        """Whether a request of the peer with this id still waits for our answer."""
        return request_id in self._unanswered

    def batch_of(self, request_id: Id) -> OpenBatch | None:
        """The batch that an unanswered request came in; None for one that came alone."""
        return self._batch_of.get(request_id)

    def call(self, method: str, params: bytes | Raw | None) -> tuple[int, bytes]:
        """A new request: its id, which is never used again, and its frame.

        Raises:
            LocalProtocolError: too many calls are pending; see `can_call`.  Or the frame is too
                long.
        """
        if len(self._pending) >= self._pending_max:
            raise LocalProtocolError(f"{self._pending_max} calls are pending already")
        call_id = self._pending.next_id
        frame = self.checked(request_frame(call_id, method, params), method)
        self._pending.open()
        return call_id, frame

    def notify(self, method: str, params: bytes | Raw | None) -> bytes:
        """The frame of a notification.

        Raises:
            LocalProtocolError: it is too long.
        """
        return self.checked(notification_frame(method, params), method)

    def checked(self, frame: bytes, what: str) -> bytes:
        """A frame that may be sent.

        Raises:
            LocalProtocolError: it is longer than a peer with our own limit would take.
        """
        if len(frame) > self._frame_bytes_max:
            raise LocalProtocolError(
                f"{what} is too long to be sent: {len(frame)} bytes"
                f" (limit frame_bytes = {self._frame_bytes_max})"
            )
        return frame

    def answer(self, request_id: Id, result: bytes | Raw) -> bytes:
        """The frame that answers the peer's request; empty if it waits for the rest of its batch.

        Raises:
            LocalProtocolError: no such request is open, or it was answered already.  Or the
                answer is too long, alone or with the others of its batch; then the request is
                still open.
        """
        self._require_unanswered(request_id)
        frame = self.checked(result_frame(request_id, result), "the answer")
        if not self._batch_of:
            self._unanswered.remove(request_id)
            return frame
        if not self._batches.has_room_for(request_id, frame):
            raise LocalProtocolError("the answers of a batch are too long to be sent together")
        self._unanswered.remove(request_id)
        return self._batches.settle(request_id, frame)

    def answer_in_parts(self, request_id: Id, result: bytes | TextResult) -> Iterable[bytes]:
        """`answer` for a large result: not copied, or encoded only while its parts are taken."""
        self._require_unanswered(request_id)
        parts: Iterable[bytes] | None
        if isinstance(result, bytes):
            parts = result_parts(request_id, result, self._frame_bytes_max)
        else:
            parts = result.parts(request_id, self._frame_bytes_max)
        if parts is None or request_id in self._batch_of:
            whole = result if isinstance(result, bytes) else result.whole()
            return (self.answer(request_id, whole),)
        self._unanswered.remove(request_id)
        return parts

    def refuse(
        self, request_id: Id, code: int, message: str, data: bytes | Raw | None = None
    ) -> bytes:
        """The frame that answers the peer's request with an error; otherwise as `answer`.

        An error that is too long keeps its code alone, so that the request is answered.
        """
        self._require_unanswered(request_id)
        frame = error_frame(request_id, code, message, data)
        if len(frame) > self._frame_bytes_max or not self._batches.has_room_for(request_id, frame):
            frame = error_frame(request_id, code, f"{text_of(code)} (too long to be sent)")
        self._unanswered.remove(request_id)
        return self._batches.settle(request_id, frame)

    def abandon(self, call_id: int) -> None:
        """Give up a pending call: its place is free, and an answer that still comes is late."""
        self._pending.abandon(call_id)

    def fail_all(self) -> list[int]:
        """Give up all pending calls, because the connection ended; their ids in order."""
        return self._pending.abandon_all()

    def _require_unanswered(self, request_id: Id) -> None:
        if request_id not in self._unanswered:
            raise LocalProtocolError(f"no request with the id {request_id!r} is open")

    # What we hear

    def receive(self, frame: bytes) -> Event:
        """Take one frame and return what happened."""
        # Called by a name of its own: as a method it would cost a tenth more.
        decode = self._decode
        try:
            message = decode(frame)
        except (ValueError, RecursionError):
            return self._receive_odd(frame)
        if not frame.isascii() and not is_utf8(frame):
            return self._receive_garbled(message)
        if len(frame) > self._shallow_bytes_max and is_deeper(frame, self._depth_max):
            return self._reject(refusal(message, too_deep(self._depth_max)))
        if message.id is UNSET and message.method is not UNSET and message.jsonrpc == "2.0":
            self.noise_count = 0
            return NotificationReceived(message.method, message.params)
        return self._receive_message(message, None, frame)

    def _receive_odd(self, frame: bytes) -> Event:
        """Handle a frame that is not an envelope, or only becomes one after a repair."""
        if self.noise_count and frame[:1] not in _MAY_BEGIN and frame:
            # One more of a row, of which only the number counts: a flood is to cost little.
            self.noise_count += 1
            return FrameRejected(PARSE_ERROR, "not JSON", None, self.noise_count)
        found = salvage(frame, self._depth_max, strict=self._strict)
        if isinstance(found, Repaired):
            return self._receive_message(found, found.note, frame)
        assert isinstance(found, Fault)
        if found.verdict is Verdict.ARRAY and self._accept_batches:
            return self._receive_batch(frame)
        if found.verdict in (Verdict.NOISE, Verdict.DROPPED):
            return self._fail_call_in(frame, f"the answer is malformed: {found.reason}") or (
                self._reject(found)
            )
        return self._reject(found)

    def _fail_call_in(self, frame: bytes, reason: str) -> CallFailed | None:
        """Fail the pending call that a broken answer names, if it names one."""
        for answer_id in ids_answered(frame):
            call_id = self._pending.answered_by(answer_id)
            if call_id is not None:
                self.noise_count = 0
                self._pending.settle(call_id)
                return malformed(call_id, reason)
        return None

    def _receive_garbled(self, message: Envelope) -> SingleEvent:
        """JSON but for bytes that are not UTF-8; whom it answers is readable all the same."""
        call_id = self._pending.answered_by(message.id)
        if call_id is not None and message.method is UNSET:
            self._pending.settle(call_id)
            return malformed(call_id, "the answer is not UTF-8")
        return self._reject(Fault(Verdict.NOISE, PARSE_ERROR, "not UTF-8"))

    def _receive_message(self, message: Envelope, note: str | None, frame: bytes) -> SingleEvent:
        if message.jsonrpc != "2.0":
            if self._strict:
                return self._reject(refusal(message, _UNVERSIONED))
            note = joined(note, _UNVERSIONED)
        if message.method is UNSET or message.result or message.error:
            return self._receive_answer(message, note, frame)
        if message.id is UNSET:
            self.noise_count = 0
            return NotificationReceived(message.method, message.params, note)
        return self._receive_request(message.id, message.method, message.params, note)

    def _receive_request(
        self, request_id: Id, method: str, params: Raw, note: str | None
    ) -> SingleEvent:
        self.noise_count = 0
        if request_id is None and not self._null_ids_allowed:
            return self._reject(Fault(Verdict.REFUSED, INVALID_REQUEST, "the id is null"))
        if request_id in self._unanswered:
            reason = "a request with this id is open already"
            return self._reject(Fault(Verdict.REFUSED, INVALID_REQUEST, reason, request_id))
        if len(self._unanswered) >= self._pending_max:
            reason = f"more than {self._pending_max} requests are open"
            answer = error_frame(
                request_id, INTERNAL_ERROR, f"Too many requests: {reason}", _TOO_MANY
            )
            return FrameRejected(INTERNAL_ERROR, reason, answer)
        self._unanswered.add(request_id)
        return RequestReceived(request_id, method, params, note)

    def _receive_answer(self, message: Envelope, note: str | None, frame: bytes) -> SingleEvent:
        """A message with an outcome, or with no method."""
        call_id = self._pending.answered_by(message.id)
        if call_id is None:
            return self._receive_stray(message, note, frame)
        self.noise_count = 0
        self._pending.settle(call_id)
        if message.id != call_id:
            note = joined(note, "the answer repeats the id as a string")
        if message.method is not UNSET:
            note = joined(note, "the answer names a method")
        return settled(call_id, message, note)

    def _receive_stray(self, message: Envelope, note: str | None, frame: bytes) -> SingleEvent:
        """A message with an outcome, or with no method, that answers no call of ours."""
        if not message.result and not message.error:
            return self._reject(refusal(message, "neither a request nor an answer"))
        if message.method is not UNSET:
            if message.id is UNSET:
                self.noise_count = 0
                note = joined(note, "the notification has a result or error")
                return NotificationReceived(message.method, message.params, note)
            reason = "both a request and an answer"
            return self._reject(Fault(Verdict.REFUSED, INVALID_REQUEST, reason, message.id))
        if message.id is UNSET:
            reason = "an answer without an id"
            return self._reject(Fault(Verdict.DROPPED, INVALID_REQUEST, reason))
        failed = self._fail_call_in(frame, "the answer has more than one id")
        if failed is not None:
            return failed
        self.noise_count = 0
        kind = self._pending.kind_of_stray(message.id)
        if not message.error:
            return StrayAnswer(message.id, note=note, kind=kind)
        code, text, _ = read_error(message.error)
        return StrayAnswer(message.id, code, text, note, kind)

    def _reject(self, fault: Fault) -> SingleEvent:
        match fault.verdict:
            case Verdict.BLANK:
                return _BLANK
            case Verdict.NOISE:
                self.noise_count += 1
                answer = self._error_answer(fault) if self.noise_count == 1 else None
                return FrameRejected(fault.code, fault.reason, answer, self.noise_count)
            case Verdict.ARRAY | Verdict.OBJECT:
                # Neither good nor noise: each is answered, and a storm around it goes on.
                return FrameRejected(fault.code, fault.reason, self._error_answer(fault))
            case Verdict.ANSWERS | Verdict.MUTE:
                call_id = self._pending.answered_by(fault.id)
                if call_id is not None:
                    self.noise_count = 0
                    self._pending.settle(call_id)
                    return malformed(call_id, f"the answer is refused: {fault.reason}")
            case _:
                pass
        self.noise_count = 0
        is_answered = fault.verdict in (Verdict.REFUSED, Verdict.MUTE)
        return FrameRejected(
            fault.code, fault.reason, self._error_answer(fault) if is_answered else None
        )

    def _receive_batch(self, frame: bytes) -> Event:
        entries = entries_of(frame)
        if not 0 < len(entries) <= BATCH_ENTRIES_MAX:
            reason = f"a batch has 1 to {BATCH_ENTRIES_MAX} entries"
            return self._reject(Fault(Verdict.ARRAY, INVALID_REQUEST, reason))
        events: list[SingleEvent] = []
        ready: list[bytes] = []
        waiting: list[Id] = []
        self._is_in_batch = True
        for entry in entries:
            # Each bad entry has its own answer, so none may count as a further line of noise.
            self.noise_count = 0
            event = self._receive_entry(entry)
            if isinstance(event, FrameRejected) and event.answer is not None:
                ready.append(event.answer)
                event = msgspec.structs.replace(event, answer=None)
            elif isinstance(event, RequestReceived):
                waiting.append(event.id)
            events.append(event)
        self._is_in_batch = False
        self.noise_count = 0
        self._batches.open(ready, waiting)
        is_ready = bool(ready) and not waiting
        return Batch(tuple(events), tuple(entries), array_frame(ready) if is_ready else None)

    def _receive_entry(self, entry: bytes) -> SingleEvent:
        if entry[:1] == b"[":
            return self._reject(Fault(Verdict.ARRAY, INVALID_REQUEST, "a batch in a batch"))
        event = self.receive(entry)
        assert not isinstance(event, Batch)  # only an array gives one
        return event

    def _error_answer(self, fault: Fault) -> bytes:
        # A bad entry of an array is answered without its id.
        answered_id = None if self._is_in_batch else fault.id
        return error_frame(answered_id, fault.code, f"{text_of(fault.code)}: {fault.reason}")


__all__ = ["PENDING_MAX", "Peer"]

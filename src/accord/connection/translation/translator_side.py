"""One side of a relay: between bytes on a wire and messages with keys.

What always holds
    * Every frame that came is answered as JSON-RPC wants, also one that is not a message.
    * Params and results are handed on only if they are valid in the version of this side; what
      is sent is checked likewise, so that nobody is sent what cannot be valid there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

from accord.errors import LocalProtocolError
from accord.jsonrpc import events
from accord.jsonrpc.envelope import Id
from accord.jsonrpc.error_codes import INTERNAL_ERROR, INVALID_PARAMS
from accord.jsonrpc.framing import DetectedFraming, Splitter
from accord.jsonrpc.peer import Peer
from accord.machine.redacted_logs import logger
from accord.schema.codec import encode, to_python
from accord.schema.invalid import Invalid
from accord.schema.method import CANCEL_REQUEST, Method
from accord.schema.struct import Raw
from accord.translate.message import Failure, Json, Key, Message, Notification, Request, Result
from accord.translate.validation import (
    Spoken,
    methods_of,
    read_params,
    read_result,
    refused,
    require_meta,
)

_log = logger("accord.proxy")

ELICIT: Final = "elicitation/create"
# A key that no request has.
NOBODY: Final = -1


class Port:
    """The wire of one side.  `take` turns bytes into messages, `put` and `flush` the reverse."""

    def __init__(
        self,
        name: str,
        write: Callable[[bytes], None],
        splitter: Splitter | None = None,
        peer: Peer | None = None,
    ):
        self.name = name
        self.spoken: Spoken | None = None
        self.look: Callable[[str, bytes | Raw], None] | None = None
        """Is shown each request before it is read; what it makes this side speak counts for it."""
        self.unsaid: dict[str, int] = {}
        """Notifications that could not be read, or not be sent, by what they were."""
        self._write = write
        self._splitter: Splitter = splitter or DetectedFraming()
        self._peer = peer or Peer()
        self._methods: dict[str, Method] = {}
        self._frames: list[bytes] = []
        # Entries of an array that were not taken yet.
        self._entries: deque[events.SingleEvent] = deque()
        self._keys = 0
        # Their requests: the key of each id, and what each key stands for.
        self._key_of: dict[Id, Key] = {}
        self._theirs: dict[Key, tuple[Id, Method | None]] = {}
        # Our requests: the id of each key, and what each id stands for.
        self._id_of: dict[Key, int] = {}
        self._ours: dict[int, tuple[Key, Method | None]] = {}

    @property
    def open_count(self) -> int:
        """How many requests of this side wait for their answer."""
        return len(self._theirs)

    def speak(self, spoken: Spoken) -> None:
        """Set the version that this side speaks from now on."""
        self.spoken = spoken
        self._methods = methods_of(spoken)
        self._peer.set_version(2 if spoken == "v2" else 1)

    # ---- what comes

    def split(self, data: bytes) -> list[bytes]:
        """Split received bytes into whole frames.

        Raises:
            FrameTooLong: one is longer than anybody may send.
        """
        return self._splitter.feed(data)

    def rest(self) -> list[bytes]:
        """Return the frames that are left when the peer has ended."""
        return self._splitter.finish()

    def take(self, frame: bytes) -> Message | None:
        """Read the message in a frame; None if there is none that may be passed on.

        Those of an array are left for `take_entries`.
        """
        event = self._peer.receive(frame)
        if type(event) is events.NotificationReceived:
            # Nearly all messages are valid, and this is faster.
            return self._notification(event)
        return self._message(event)

    def take_entries(self) -> Iterator[Message]:
        """The messages of an array, if that was the last frame."""
        while self._entries:
            message = self._message(self._entries.popleft())
            if message is not None:
                yield message

    def _message(self, event: events.Event) -> Message | None:
        kind = type(event)
        if kind is events.NotificationReceived:
            return self._notification(event)  # type: ignore[arg-type]
        if kind is events.RequestReceived:
            return self._request(event)  # type: ignore[arg-type]
        if kind is events.CallAnswered or kind is events.CallFailed:
            return self._answer(event)  # type: ignore[arg-type]
        if isinstance(event, events.FrameRejected):
            _log.info("%s: %s", self.name, event.reason)
            if event.answer is not None:
                self._frames.append(event.answer)
        elif isinstance(event, events.StrayAnswer):
            _log.info("%s: an answer to no open request (id %r)", self.name, event.id)
        elif isinstance(event, events.Batch):
            self._entries.extend(event.events)
            if event.answer is not None:
                self._frames.append(event.answer)
        return None

    def _notification(self, event: events.NotificationReceived) -> Message | None:
        try:
            params = read_params(self._methods.get(event.method), event.params)
        except Invalid as error:
            _log.warning("%s: %s was dropped: %s", self.name, event.method, error)
            # Unknown method names are passed on.
            what = event.method if event.method in self._methods else "a notification"
            self._count(f"{what} of the {self.name} that cannot be read")
            return None
        if event.method == CANCEL_REQUEST:
            params["requestId"] = self._key_of.get(_hashable(params.get("requestId")), NOBODY)
        return Notification(event.method, params)

    def _request(self, event: events.RequestReceived) -> Message | None:
        if self.look is not None:
            self.look(event.method, event.params)
        method = self._methods.get(event.method)
        try:
            if self.spoken == "draft":
                require_meta(event.params)
            params = read_params(method, event.params)
        except Invalid as error:
            self._refuse(
                event.id,
                INVALID_PARAMS,
                f"Invalid params: {error.reason} at {error.path}",
                {"path": error.path, "reason": error.reason},
            )
            return None
        if event.method == ELICIT and "requestId" in params:
            asked = self._ours.get(_as_number(params["requestId"]))
            params["requestId"] = NOBODY if asked is None else asked[0]
        self._keys += 1
        self._key_of[event.id] = self._keys
        self._theirs[self._keys] = (event.id, method)
        return Request(self._keys, event.method, params)

    def _answer(self, event: events.CallAnswered | events.CallFailed) -> Message:
        key, method = self._ours.pop(event.id)
        del self._id_of[key]
        if isinstance(event, events.CallFailed):
            data = None if event.data is None else _plain(event.data)
            return Failure(key, event.code, event.message, data)
        try:
            return Result(key, read_result(method, event.result))
        except Invalid as error:
            said = f"the answer of the {self.name} cannot be read: {error.reason} at {error.path}"
            return Failure(key, INTERNAL_ERROR, said, {"path": error.path, "reason": error.reason})

    # ---- what goes

    def put(self, message: Message) -> Message | None:
        """Queue a message to be sent.

        Returns the answer to hand back at once where it could not be: nobody waits for nothing.
        """
        try:
            if isinstance(message, Notification):
                self._notify(message)
            elif isinstance(message, Request):
                return self._ask(message)
            else:
                self._settle(message)
        except LocalProtocolError as error:
            _log.warning("%s: %s", self.name, error)
            if isinstance(message, Result):
                self._settle(Failure(message.key, INTERNAL_ERROR, str(error)))
        return None

    def flush(self) -> None:
        """Send the queued messages in one piece."""
        if self._frames:
            frames, self._frames = self._frames, []
            self._write(self._splitter.encode_all(frames))

    def _notify(self, message: Notification) -> None:
        params = message.params
        if message.method == CANCEL_REQUEST:
            asked = self._id_of.get(params["requestId"])
            if asked is None:
                return
            params["requestId"] = asked
        raw = encode(params)
        wrong = refused(self._methods.get(message.method), raw)
        if wrong is not None:
            _log.warning("%s was not sent to the %s: %s", message.method, self.name, wrong)
            self._count(f"{message.method} that has no valid form")
            return
        self._frames.append(self._peer.notify(message.method, raw))

    def _ask(self, message: Request) -> Message | None:
        params = message.params
        if message.method == ELICIT and "requestId" in params:
            theirs = self._theirs.get(params["requestId"])
            if theirs is not None:
                params["requestId"] = theirs[0]
        raw = encode(params)
        method = self._methods.get(message.method)
        wrong = refused(method, raw)
        if wrong is not None:
            _log.warning("%s was not sent to the %s: %s", message.method, self.name, wrong)
            said = f"{message.method} cannot be sent to the {self.name}: {wrong}"
            return Failure(message.key, INVALID_PARAMS, said)
        try:
            call_id, frame = self._peer.call(message.method, raw)
        except LocalProtocolError as error:
            return Failure(message.key, INTERNAL_ERROR, str(error))
        self._ours[call_id] = (message.key, method)
        self._id_of[message.key] = call_id
        self._frames.append(frame)
        return None

    def _settle(self, message: Result | Failure) -> None:
        theirs = self._theirs.pop(message.key, None)
        if theirs is None:
            return
        request_id, method = theirs
        if self._key_of.get(request_id) == message.key:
            del self._key_of[request_id]
        if isinstance(message, Failure):
            self._refuse(request_id, message.code, message.message, message.data)
            return
        raw = encode(message.result)
        if method is not None:
            try:
                method.decode_result(raw)
            except Invalid as error:
                _log.warning("an answer was not sent to the %s: %s", self.name, error)
                self._refuse(request_id, INTERNAL_ERROR, f"the answer has no valid form: {error}")
                return
        self._reply(self._peer.answer(request_id, raw))

    def _count(self, what: str) -> None:
        self.unsaid[what] = self.unsaid.get(what, 0) + 1

    def refuse(self, key: Key, code: int, message: str, data: Any = None) -> None:
        """Answer a request of this side with an error of our own."""
        self._settle(Failure(key, code, message, data))

    def _refuse(self, request_id: Id, code: int, message: str, data: Any = None) -> None:
        raw = None if data is None else encode(data)
        self._reply(self._peer.refuse(request_id, code, message, raw))

    def _reply(self, frame: bytes) -> None:
        # Empty: the answer is sent with the rest of its batch.
        if frame:
            self._frames.append(frame)


def _plain(raw: Raw) -> Any:
    try:
        return to_python(raw)
    except Invalid:
        return None


def _hashable(value: Any) -> Any:
    return value if isinstance(value, int | str | float) or value is None else NOBODY


def _as_number(value: Any) -> int:
    return value if isinstance(value, int) else NOBODY


__all__ = ["Json", "Port"]

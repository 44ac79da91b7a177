"""What tells a server that continues connections which events have come, so that it forgets them.

An acknowledgement is a POST of its own, without a number: nothing waits for it, and one that is
lost is repeated or replaced by a newer one.

What always holds
    * Fewer than `acknowledge_bytes` of events are unacknowledged while the server answers.
    * One acknowledgement is on its way at a time.
"""

from collections.abc import Callable
from functools import partial

from accord.transport.http.connection_headers import ConnectionHeaders
from accord.transport.http.connections.exchange import Answer, CollectedExchange, Exchange, Loss
from accord.transport.remote_limits import RemoteLimits
from accord.transport.resume.extension_messages import received_frame


class Acknowledgements:
    """Guards: a stream is owed an acknowledgement until the server has answered one."""

    def __init__(
        self,
        headers: ConnectionHeaders,
        limits: RemoteLimits,
        send: Callable[[Exchange], None],
        later: Callable[[float, Callable[[], None]], None],
    ) -> None:
        self._headers = headers
        self._limits = limits
        self._send = send
        self._later = later
        # For each stream the number of its newest event, and the bytes that are unacknowledged.
        self._owed: dict[str | None, tuple[int, int]] = {}
        self._owed_bytes = 0
        self._is_on_the_way = False

    def received(self, session_id: str | None, event: int, size: int) -> None:
        """Take notice of events of a stream, up to this number."""
        self._owed[session_id] = (event, self._owed.get(session_id, (0, 0))[1] + size)
        self._owed_bytes += size
        self._acknowledge()

    def _acknowledge(self) -> None:
        """Acknowledge the stream with the most bytes, if it is time."""
        if self._is_on_the_way or self._owed_bytes < self._limits.acknowledge_bytes:
            return
        self._is_on_the_way = True
        session_id = max(self._owed, key=lambda one: self._owed[one][1])
        event, size = self._owed[session_id]
        self._send(
            CollectedExchange(
                "POST",
                self._headers.of_message(session_id, None),
                received_frame(event),
                on_answer=partial(self._answered, session_id, size),
                on_loss=self._lost,
                body_bytes_max=0,
                is_repeatable=True,
            )
        )

    def _answered(self, session_id: str | None, size: int, answer: Answer) -> None:
        if not 200 <= answer.status < 300:
            # Not with the next event: a server that refuses one refuses it for a while.
            self._later(self._limits.acknowledge_seconds, self._try_again)
            return
        event, owed = self._owed.pop(session_id)
        if owed > size:
            self._owed[session_id] = (event, owed - size)
        self._owed_bytes -= size
        self._is_on_the_way = False
        self._acknowledge()

    def _lost(self, loss: Loss) -> None:
        # With the next event, which shows that there is a connection; or later, if the server
        # waits with it.
        self._is_on_the_way = False
        self._later(self._limits.acknowledge_seconds, self._acknowledge)

    def _try_again(self) -> None:
        self._is_on_the_way = False
        self._acknowledge()


__all__ = ["Acknowledgements"]

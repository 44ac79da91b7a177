"""When messages that have arrived are handed to the connection above.

What always holds
    * Nothing is delivered while paused, after the end, or from inside `write`.
    * The answer to `session/load` is delivered after the history that it ends, as far as that can
      be known: the two arrive on different streams, and nothing in the protocol orders them.
"""

from typing import Final

import anyio

from accord.transport.http.server_stream import ServerStream
from accord.transport.readiness import Driver
from accord.transport.transport import Receiver

# How long the stream of a session must be quiet before its history counts as complete, and how
# long the answer waits for that at most.
QUIET_SECONDS: Final = 0.1
HISTORY_SECONDS_MAX: Final = 10.0


class Delivery:
    """Hands messages on, in order."""

    def __init__(self, receiver: Receiver, driver: Driver) -> None:
        self._receiver = receiver
        self._driver = driver
        self._held: list[bytes] = []
        self._is_over = False
        self.is_paused = False

    def deliver(self, frames: list[bytes]) -> None:
        """Hand on messages, now or as soon as reading is resumed."""
        if self._is_over or not frames:
            return
        if self.is_paused or self._held:
            self._held += frames
        else:
            self._receiver.data_received(b"\n".join([*frames, b""]))

    def deliver_soon(self, frame: bytes) -> None:
        """Hand on a message of our own making."""
        self._driver.soon(lambda: self.deliver([frame]))

    def deliver_after_history(self, frame: bytes, stream: ServerStream) -> None:
        """Hand on the answer to `session/load` when the stream of the session is quiet."""
        until = anyio.current_time() + HISTORY_SECONDS_MAX
        self._wait_for_quiet(frame, stream, stream.event_count, until)

    def _wait_for_quiet(self, frame: bytes, stream: ServerStream, count: int, until: float) -> None:
        def check() -> None:
            is_quiet = stream.event_count == count and not self.is_paused
            if is_quiet or anyio.current_time() >= until:
                self.deliver([frame])
            elif not self._is_over:
                self._wait_for_quiet(frame, stream, stream.event_count, until)

        self._driver.later(QUIET_SECONDS, check)

    def pause(self) -> None:
        """Deliver nothing until `resume`."""
        self.is_paused = True

    def resume(self) -> None:
        """Deliver what has waited, from the event loop."""
        self.is_paused = False
        if self._held:
            self._driver.soon(self._deliver_held)

    def _deliver_held(self) -> None:
        if not self.is_paused:
            frames, self._held = self._held, []
            self.deliver(frames)

    def end(self) -> None:
        """Deliver nothing from now on."""
        self._is_over = True
        self._held.clear()


__all__ = ["Delivery"]

"""What a transport promises to the connection that owns it.

Bytes, not frames and not messages: where one message ends is the connection's business.  The
layer is made of callbacks, because a task or a stream hop per frame costs more than the frame.

What always holds
    * `data_received` is called in order, never from inside `write`, and never after `ended`.
    * `ended` is called exactly once.
    * `write` never blocks and never raises for a peer that is gone; `ended` tells that.
"""

from typing import NamedTuple, Protocol

from anyio.abc import TaskGroup

# Above this many waiting bytes a writer waits in `drain`; below the lower mark it goes on.
BACKLOG_BYTES_MAX = 1024 * 1024
BACKLOG_BYTES_LOW = 256 * 1024
# A peer that takes not one byte for so long is lost.
STALL_SECONDS_MAX = 60.0


class Ended(NamedTuple):
    """Why a transport ended, in words for a person, with what its process left behind."""

    reason: str
    exit_status: str | None = None
    stderr_tail: str = ""
    clean: bool = False
    # The peer has said all it will say but may still read: answers to what it asked can be sent.
    writable: bool = False


class Receiver(Protocol):
    """The side of a connection that a transport calls."""

    def data_received(self, data: bytes) -> None:
        """Take the next bytes, in any split."""
        ...

    def ended(self, why: Ended) -> None:
        """No more bytes will come; what is written goes nowhere unless `why` says otherwise."""
        ...


class Transport(Protocol):
    """Bytes both ways."""

    @property
    def backlog(self) -> int:
        """Bytes written but not yet taken by the peer's side."""
        ...

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """Begin to deliver.  Tasks that the transport needs live in `tasks`."""
        ...

    def write(self, data: bytes) -> None:
        """Send at once what the peer takes, keep the rest in order."""
        ...

    async def drain(self) -> None:
        """Wait until the backlog is small or the transport has ended."""
        ...

    def pause(self) -> None:
        """Deliver nothing until `resume`; the peer's writes back up."""
        ...

    def resume(self) -> None:
        """Deliver again."""
        ...

    async def aclose(self) -> None:
        """End it from our side and free everything.  Harmless when repeated."""
        ...

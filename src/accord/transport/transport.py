"""The interface between a connection and its transport.

A transport carries bytes; the connection finds the frames in them.  The interface uses callbacks,
because a task switch per frame would cost more than the frame.

What always holds
    * `data_received` is called in order, never from inside `write`, and never after `ended`.
    * `ended` is called exactly once.
    * `write` never blocks, and never raises if the peer is gone; `ended` reports that.
"""

from typing import NamedTuple, Protocol

from anyio.abc import TaskGroup

# Above this many waiting bytes a writer waits in `drain`; below the lower mark it continues.
BACKLOG_BYTES_MAX = 1024 * 1024
BACKLOG_BYTES_LOW = 256 * 1024
# A peer that takes no byte for this long is lost.
STALL_SECONDS_MAX = 60.0


class Ended(NamedTuple):
    """Why a transport ended, for people, with the exit status and stderr of its process."""

    reason: str
    exit_status: str | None = None
    stderr_tail: str = ""
    clean: bool = False
    # The peer has stopped sending but may still read answers to its requests.
    writable: bool = False


class Receiver(Protocol):
    """The methods of a connection that a transport calls."""

    def data_received(self, data: bytes) -> None:
        """Take the next bytes, split anywhere."""
        ...

    def ended(self, why: Ended) -> None:
        """Take notice that no more bytes will arrive; writing is useless unless `why.writable`."""
        ...


class Transport(Protocol):
    """Carries bytes in both directions."""

    @property
    def backlog(self) -> int:
        """Bytes that were written but not yet taken by the peer."""
        ...

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """Start to deliver.  Tasks that the transport needs run in `tasks`."""
        ...

    def write(self, data: bytes) -> None:
        """Send what the peer takes now, and keep the rest in order."""
        ...

    async def drain(self) -> None:
        """Wait until the backlog is small or the transport has ended."""
        ...

    def pause(self) -> None:
        """Deliver nothing until `resume`; the peer has to wait."""
        ...

    def resume(self) -> None: ...

    async def aclose(self) -> None:
        """Close the transport and free everything.  May be called again."""
        ...

"""One turn at a time per session, in the order in which prompts arrived.

A ticket is drawn when a prompt arrives, so the order is that of the wire, and given back when its
turn is over.  Cancelling reaches the running turn and those that wait, and nothing drawn later.
"""

from collections import deque
from collections.abc import Callable

from accord.connection.lazy_event import LazyEvent
from accord.errors import RequestError


class Ticket:
    """A place in the line of one session."""

    def __init__(self, foreground: "Foreground") -> None:
        self._foreground = foreground
        self._called = LazyEvent()
        self.cancelled = False
        self.on_cancel: Callable[[], None] | None = None

    async def comes_up(self) -> bool:
        """Wait for the turn; False when it was cancelled on the way."""
        await self._called.wait()
        return not self.cancelled

    def cancel(self) -> None:
        """Withdraw it, or stop what runs under it."""
        self.cancelled = True
        if self.on_cancel is not None:
            self.on_cancel()
        self._called.set()

    def call(self) -> None:
        """It is this one's turn."""
        self._called.set()

    def leave(self) -> None:
        """The turn is over, or was never taken; the next one comes up."""
        self._foreground.leave(self)


class Foreground:
    """The line.  Guards: at most one ticket has been called and not left."""

    def __init__(self, waiting_max: int | None) -> None:
        self._waiting_max = waiting_max
        self._running: Ticket | None = None
        self._waiting: deque[Ticket] = deque()
        self._idle = LazyEvent()
        self._idle.set()

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs."""
        return self._running is not None

    def join(self) -> Ticket:
        """Draw a ticket; refused when too many wait already."""
        if self._waiting_max is not None and len(self._waiting) >= self._waiting_max:
            raise RequestError.invalid_request(
                f"too many prompts are waiting in this session ({self._waiting_max})"
            )
        ticket = Ticket(self)
        if self._running is None:
            self._start(ticket)
        else:
            self._waiting.append(ticket)
        return ticket

    def _start(self, ticket: Ticket) -> None:
        if self._idle.is_set():
            self._idle = LazyEvent()
        self._running = ticket
        ticket.call()

    def leave(self, ticket: Ticket) -> None:
        """Give the place to the next; harmless when repeated."""
        if ticket is not self._running:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            return
        self._running = None
        while self._waiting:
            following = self._waiting.popleft()
            if not following.cancelled:
                self._start(following)
                return
        self._idle.set()

    def cancel_all(self) -> None:
        """Cancel what runs and what waits now."""
        waiting = list(self._waiting)
        self._waiting.clear()
        for ticket in waiting:
            ticket.cancel()
        if self._running is not None:
            self._running.cancel()

    async def wait_idle(self) -> None:
        """Wait until no turn runs."""
        await self._idle.wait()

"""The prompts of a session: one turn at a time, in the order of arrival.

A prompt gets its ticket on arrival and gives it back when its turn is over.  Cancelling affects the
running turn and the waiting ones, but no later prompt.
"""

from collections import deque
from collections.abc import Callable

import anyio

from accord.errors import RequestError


class Ticket:
    """A place in the queue of one session."""

    def __init__(self, queue: "PromptQueue") -> None:
        self._queue = queue
        self._is_called = False
        # For the prompt that waits for its turn.
        self._called: anyio.Event | None = None
        self.cancelled = False
        self.on_cancel: Callable[[], None] | None = None

    async def comes_up(self) -> bool:
        """Wait for the turn; False if the ticket was cancelled while it waited."""
        if not self._is_called:
            self._called = anyio.Event()
            await self._called.wait()
        return not self.cancelled

    def cancel(self) -> None:
        """Withdraw the prompt, or cancel its turn."""
        self.cancelled = True
        if self.on_cancel is not None:
            self.on_cancel()
        self.call()

    def call(self) -> None:
        """Let the turn begin."""
        self._is_called = True
        if self._called is not None:
            self._called.set()

    def leave(self) -> None:
        """Give the ticket back, so that the next turn begins."""
        self._queue.leave(self)


class PromptQueue:
    """Guards: at most one ticket has been called and not given back."""

    def __init__(self, waiting_max: int | None) -> None:
        self._waiting_max = waiting_max
        self._running: Ticket | None = None
        self._waiting: deque[Ticket] = deque()
        # For those who wait until no turn is running.
        self._idle: anyio.Event | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a turn is running."""
        return self._running is not None

    def join(self) -> Ticket:
        """Take a ticket; refused if too many prompts wait already."""
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
        self._running = ticket
        ticket.call()

    def leave(self, ticket: Ticket) -> None:
        """Let the next turn begin; a second call does nothing."""
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
        if self._idle is not None:
            self._idle.set()
            self._idle = None

    def cancel_all(self) -> None:
        """Cancel the running turn and all waiting prompts."""
        waiting = list(self._waiting)
        self._waiting.clear()
        for ticket in waiting:
            ticket.cancel()
        if self._running is not None:
            self._running.cancel()

    async def wait_idle(self) -> None:
        """Wait until no turn is running."""
        if self._running is not None:
            if self._idle is None:
                self._idle = anyio.Event()
            await self._idle.wait()

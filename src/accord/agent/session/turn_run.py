"""One turn from its handler's first step to its end.

What always holds
    * A turn is concluded exactly once: by its handler's end or, where that does not heed a
      cancellation in time, without waiting for it.  What such a handler still does is its own.
    * Nothing that a handler raises reaches the connection.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio

from accord.agent.session.prompt_handler import Outcome, handle
from accord.connection.lazy_event import LazyEvent
from accord.protocol.v2.turn import STOP_REASONS

if TYPE_CHECKING:
    from accord.agent.serving.service import Service
    from accord.agent.turn import Turn

# How long a handler may go on after its turn was cancelled before it is left behind.
CANCEL_SECONDS_MAX = 3.0

Conclude = Callable[[Outcome], Awaitable[None]]


async def run_turn(service: Service, turn: Turn, conclude: Conclude) -> None:
    """Run the handler of one prompt in this task, and conclude the turn with what came of it."""
    session = turn.session
    session.turn = turn
    concluded = LazyEvent()

    async def end(outcome: Outcome) -> None:
        concluded.set()
        session.turn = None
        if turn.is_cancelled:
            outcome = Outcome("cancelled")
        if service.connection.error is None:
            stopped = outcome.stop_reason in STOP_REASONS - {"end_turn"}
            await turn.finish(failed=outcome.error is not None, stopped=stopped)
        await conclude(outcome)

    async def give_up() -> None:
        # A handler that shields itself or sits in a thread does not see the cancellation.
        with anyio.move_on_after(CANCEL_SECONDS_MAX):
            await concluded.wait()
        if not concluded.is_set():
            await end(Outcome("cancelled"))

    def cancelled() -> None:
        service.connection.tasks.start_soon(give_up, name="end of a cancelled turn")

    turn.on_cancel = cancelled
    if turn.is_cancelled:
        cancelled()
    outcome = Outcome("cancelled")
    try:
        with turn.scope:
            outcome = await handle(service.agent, service.guard, turn)
    except BaseException:
        # Nobody waits for the end: the connection is over.
        if not concluded.is_set():
            concluded.set()
            session.turn = None
        raise
    if not concluded.is_set():
        await end(outcome)


__all__ = ["CANCEL_SECONDS_MAX", "run_turn"]

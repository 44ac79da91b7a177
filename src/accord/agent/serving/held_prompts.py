"""A prompt that is answered when its turn is over, as v1 and the 2026-02 draft have it.

What always holds
    * Its place in the session's line is taken at once, and it is answered exactly once.
    * A prompt that is cancelled while it waits is answered in the same step, not when its task
      runs: by then a later prompt may have said something, which a client could only take for a
      part of this one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from accord.agent.serving.service import Service
from accord.agent.session.prompt_handler import Outcome
from accord.agent.session.turn_run import run_turn
from accord.agent.turn import Turn
from accord.connection import IncomingRequest
from accord.connection.connection import Work
from accord.protocol.v2.turn import Step
from accord.schema import v2

if TYPE_CHECKING:
    from accord.agent.session.session import AgentSession

CANCELLED = b'{"stopReason":"cancelled"}'


def prompt_work(
    service: Service,
    session: AgentSession,
    blocks: list[Any],
    request: IncomingRequest,
    answer: Callable[[Turn, Outcome], Awaitable[bytes | Exception]],
) -> Work:
    """The work of one prompt; `answer` is asked for its answer when the turn is over."""
    ticket = session.foreground.join()
    request.on_cancel = ticket.cancel
    request.answer_at_close = CANCELLED
    ticket.on_cancel = lambda: request.settle(CANCELLED)

    async def work() -> bytes | None:
        try:
            if not await ticket.comes_up():
                return CANCELLED
            turn = Turn(session, blocks)
            ticket.on_cancel = turn.cancel
            message_id = session.new_id("prompt")
            await session.begin_turn()
            await session.record_only(v2.UserMessage(message_id=message_id, content=blocks))
            session.enter(Step.WORK_STARTED)

            async def conclude(outcome: Outcome) -> None:
                said = await answer(turn, outcome)
                ticket.leave()
                request.settle(said)

            await run_turn(service, turn, conclude)
        finally:
            ticket.leave()
        return None

    return work


__all__ = ["prompt_work"]

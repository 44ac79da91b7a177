"""Prompts: one turn each, in the order in which they arrive.

What always holds
    * A prompt takes its place in the session's queue at once, and is answered exactly once.
    * Where the answer ends the turn, a prompt that is cancelled while it waits is answered at once.
      Once its task ran, a later prompt might have said something already, and a client could only
      take that for a part of this one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING, Any

from accord.agent.callbacks import Guard
from accord.agent.serving.outgoing_checks import describe
from accord.agent.session.turn_run import Outcome, run_turn
from accord.agent.session.turn_state import TurnState
from accord.agent.turn import Turn
from accord.connection import IncomingRequest
from accord.connection.connection import Work
from accord.errors import RequestError
from accord.protocol.v2.turn import Step
from accord.schema import v2

if TYPE_CHECKING:
    from accord.agent.definition import AgentDefinition
    from accord.agent.session.session_state import SessionState

CANCELLED = b'{"stopReason":"cancelled"}'

Conclude = Callable[[TurnState, Outcome], Awaitable[bytes | Exception | None]]


def check_content(blocks: list[Any], accepted: Collection[str]) -> None:
    """Refuse content that the agent does not accept, before anything happens."""
    for index, block in enumerate(blocks):
        kind = describe(block)
        if kind not in accepted:
            raise RequestError.invalid_params(
                f"this agent does not accept {kind!r} content", f"$.prompt[{index}].type"
            )


def prompt_work(
    agent: AgentDefinition,
    guard: Guard,
    session: SessionState,
    blocks: list[Any],
    request: IncomingRequest,
    conclude: Conclude,
    *,
    is_echoed: bool = False,
    acknowledge: Callable[[str], bytes] | None = None,
) -> Work:
    """Return the work of one prompt; `conclude` is called when its turn is over.

    `acknowledge` makes the answer from the id of the prompt's message when the turn begins; without
    it the prompt is answered with what `conclude` returns.  `is_echoed` sends the prompt back to
    the client as a message.
    """
    ticket = session.prompts.join()
    request.on_cancel = ticket.cancel
    if acknowledge is None:
        request.answer_at_close = CANCELLED
        ticket.on_cancel = lambda: request.settle(CANCELLED)

    async def work() -> bytes | None:
        try:
            if not await ticket.comes_up():
                if acknowledge is None:
                    return CANCELLED
                raise RequestError.cancelled("the prompt was withdrawn before its turn")
            turn = TurnState(session, blocks)
            ticket.on_cancel = turn.cancel
            message_id = session.new_id("prompt")
            await session.begin_turn()
            message = v2.UserMessage(message_id=message_id, content=blocks)
            await (
                session.updates.emit(message) if is_echoed else session.updates.record_only(message)
            )
            session.enter(Step.WORK_STARTED)
            if acknowledge is not None:
                request.settle(acknowledge(message_id))

            async def end(outcome: Outcome) -> None:
                answer = await conclude(turn, outcome)
                ticket.leave()
                if acknowledge is None:
                    assert answer is not None
                    request.settle(answer)

            await run_turn(agent, guard, Turn(turn), end)
        finally:
            ticket.leave()
        return None

    return work

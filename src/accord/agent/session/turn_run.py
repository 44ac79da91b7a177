"""One turn: finds the function that handles its prompt, and turns its outcome into a stop reason.

What always holds
    * A turn is concluded exactly once: when its handler ends or, if the handler ignores a
      cancellation for too long, without waiting for it.
    * Nothing that a handler raises reaches the connection.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import anyio

from accord.agent.callbacks import Guard
from accord.agent.turn import Turn, turn_state
from accord.connection.error_responses import error_for, unforeseen
from accord.errors import LocalProtocolError
from accord.machine.redacted_logs import logger
from accord.protocol.v2.turn import STOP_REASONS
from accord.schema.codec import Invalid

if TYPE_CHECKING:
    from accord.agent.definition import AgentDefinition

_log = logger("accord.agent")

# How long a cancelled turn waits for its handler.
CANCEL_SECONDS_MAX = 3.0


Failure: TypeAlias = tuple[int, str, object]
"""The code, message and data of an error."""


class Outcome(NamedTuple):
    """How a turn ended; `error` is set when it failed."""

    stop_reason: str
    error: Failure | None = None


Conclude = Callable[[Outcome], Awaitable[None]]


async def run_turn(agent: AgentDefinition, guard: Guard, turn: Turn, conclude: Conclude) -> None:
    """Run the handler of one prompt in this task, and conclude the turn with its outcome."""
    state = turn_state(turn)
    session = state.session
    connection = session.connection
    session.turn = state
    is_concluded = False
    # For the task that waits whether a cancelled handler ends.
    concluded: anyio.Event | None = None

    def leave() -> None:
        nonlocal is_concluded
        is_concluded = True
        session.turn = None
        if concluded is not None:
            concluded.set()

    async def end(outcome: Outcome) -> None:
        leave()
        if state.is_cancelled:
            outcome = Outcome("cancelled")
        if connection.error is None:
            stopped = outcome.stop_reason in STOP_REASONS - {"end_turn"}
            try:
                await state.finish(failed=outcome.error is not None, stopped=stopped)
            except Exception as error:  # noqa: BLE001 - the client must hear of the end
                failure = error_for(error, "session/prompt")
                outcome = outcome if state.is_cancelled else Outcome("error", failure)
        await conclude(outcome)

    async def give_up() -> None:
        # A handler that shields itself or runs in a thread does not notice the cancellation.
        nonlocal concluded
        concluded = anyio.Event()
        if not is_concluded:
            with anyio.move_on_after(CANCEL_SECONDS_MAX):
                await concluded.wait()
        if not is_concluded:
            await end(Outcome("cancelled"))

    def cancelled() -> None:
        connection.tasks.start_soon(give_up, name="end of a cancelled turn")

    state.on_cancel = cancelled
    if state.is_cancelled:
        cancelled()
    outcome = Outcome("cancelled")
    try:
        with state.scope:
            outcome = await _handle(agent, guard, turn)
    except BaseException:
        # The connection has ended, so nothing is sent.
        if not is_concluded:
            leave()
        raise
    if not is_concluded:
        await end(outcome)


async def _handle(agent: AgentDefinition, guard: Guard, turn: Turn) -> Outcome:
    """Run the function that answers this prompt; an exception becomes an outcome."""
    handler = agent.prompt_handler
    command = agent.offer.command_in(turn.text)
    try:
        if command is not None:
            found, argument = command
            reason = await guard.run(found.handler(turn, argument))
        elif handler is not None:
            reason = await guard.run(handler(turn))
        else:
            raise LocalProtocolError("this agent has no @agent.on_prompt handler")
        return Outcome("end_turn" if reason is None else _checked_reason(reason, agent.strict))
    except Invalid as error:
        # An error of the handler: the client's prompt was valid.
        return Outcome("error", unforeseen(error, "session/prompt"))
    except Exception as error:  # noqa: BLE001 - a turn ends, the connection lives
        return Outcome("error", error_for(error, "session/prompt"))


def _checked_reason(reason: object, strict: bool) -> str:
    """The stop reason that a handler returned; a common mistake is logged."""
    if isinstance(reason, str) and (reason in STOP_REASONS or reason.startswith("_")):
        return reason
    shown = repr(reason) if len(repr(reason)) <= 80 else f"{repr(reason)[:80]}…"
    known = ", ".join(sorted(STOP_REASONS - {"error"}))
    text = (
        f"a handler returned {shown}, which is not a stop reason ({known}, or a name of your own"
        " that starts with `_`); text for the user goes through turn.say()"
    )
    if strict:
        raise LocalProtocolError(text)
    _log.warning("%s", text)
    return "end_turn"

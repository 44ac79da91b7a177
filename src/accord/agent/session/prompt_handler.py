"""The handler of a prompt: which function it is, and what its end means for the turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from accord.agent.callbacks import Guard
from accord.connection.error_responses import error_for, unforeseen
from accord.errors import LocalProtocolError
from accord.machine.logs import logger
from accord.protocol.v2.turn import STOP_REASONS
from accord.schema.codec import Invalid

if TYPE_CHECKING:
    from accord.agent.agent import Agent
    from accord.agent.turn import Turn

_log = logger("accord.agent")


class Outcome(NamedTuple):
    """How a turn ended.  `error` is (code, message, data) when it failed."""

    stop_reason: str
    error: tuple[int, str, object] | None = None


async def handle(agent: Agent, guard: Guard, turn: Turn) -> Outcome:
    """Run the function that answers this prompt; whatever it raises is an outcome."""
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
        # Something of the handler's own making: the client's prompt was all right.
        return Outcome("error", unforeseen(error, "session/prompt"))
    except Exception as error:  # noqa: BLE001 - a turn ends, the connection lives
        return Outcome("error", error_for(error, "session/prompt"))


def _checked_reason(reason: object, strict: bool) -> str:
    """What a handler returned, if it is a stop reason; a common mistake is told on stderr."""
    if isinstance(reason, str) and (reason in STOP_REASONS or reason.startswith("_")):
        return reason
    shown = repr(reason) if len(repr(reason)) <= 80 else f"{repr(reason)[:80]}…"
    known = ", ".join(sorted(STOP_REASONS - {"error"}))
    text = (
        f"a handler returned {shown}, which is no stop reason ({known}, or a name of your own"
        " that starts with `_`); text for the user goes through turn.say()"
    )
    if strict:
        raise LocalProtocolError(text)
    _log.warning("%s", text)
    return "end_turn"


__all__ = ["Outcome", "handle"]

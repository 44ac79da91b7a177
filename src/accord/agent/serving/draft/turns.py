"""Turns of the 2026-02 draft: a prompt runs to its end, and its answer says how that was.

What always holds
    * Once the handler has started, a failure is the stop reason `error`, never an error answer.
    * A cancelled turn is `cancelled`, whatever else happened.
"""

from __future__ import annotations

from typing import Any

from accord.agent.serving import prompts
from accord.agent.serving.draft.prompts import blocks_of
from accord.agent.serving.draft.tool_calls import kept_meta
from accord.agent.serving.service import Service
from accord.agent.session.state import SessionState
from accord.agent.session.turn_run import Outcome
from accord.agent.session.turn_state import TurnState
from accord.connection import IncomingRequest
from accord.connection.connection import Work
from accord.connection.error_responses import error_for
from accord.protocol.v2.turn import Step
from accord.schema import draft
from accord.schema.codec import encode
from accord.schema.struct import UNSET
from accord.translate.draft.vocabulary import STOP_ERROR, to_draft_error, to_draft_stop


def prompt_work(
    service: Service,
    session: SessionState,
    wanted: draft.PromptRequest,
    request: IncomingRequest,
) -> Work:
    """The work of one prompt; its place in the session's line is taken now."""
    attachments = wanted.attachments if isinstance(wanted.attachments, list) else []
    takes = service.agent.prompt_types
    blocks = blocks_of(wanted.content, attachments, session.record.cwd, takes)
    return prompts.prompt_work(service, session, blocks, request, _answer)


async def _answer(turn: TurnState, outcome: Outcome) -> bytes:
    """What a prompt is answered with when its turn is over; by now that is never an error."""
    session = turn.session
    session.enter(Step.WORK_STOPPED)
    turn.settle_tokens()
    try:
        await session.stored.touch()
    except Exception as error:  # noqa: BLE001 - a store that fails ends a turn, no more
        outcome = Outcome(STOP_ERROR, error_for(error, "session/prompt"))
    about: dict[str, Any] = {}
    reason = outcome.stop_reason
    stop = reason if reason == STOP_ERROR else to_draft_stop(reason)
    if outcome.error is not None:
        stop, about = STOP_ERROR, {"error": _error_said(*outcome.error)}
    elif stop != reason:
        about = {"stopReason": reason}
    spent = turn.tokens.counts
    usage = draft.Usage(
        input_tokens=spent.get("input_tokens", 0), output_tokens=spent.get("output_tokens", 0)
    )
    return encode(
        draft.PromptResponse(
            stop_reason=stop, usage=usage if spent else UNSET, meta=kept_meta(about)
        )
    )


def _error_said(code: int, message: str, data: Any) -> dict[str, Any]:
    code, data = to_draft_error(code, data, named_session=True)
    said: dict[str, Any] = {"code": code, "message": message}
    return said if data is None else said | {"data": data}


__all__ = ["prompt_work"]

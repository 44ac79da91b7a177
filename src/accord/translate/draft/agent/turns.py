"""Prompts of a v1 client to a draft agent, and their cancellation.

An agent that says it cannot be cancelled is waited for in silence: the client has its answer at
once, what the agent still says of the turn is dropped, and the next prompt waits for its end.
"""

from __future__ import annotations

from typing import Any, Final

from accord.jsonrpc.error_codes import INTERNAL_ERROR, INVALID_REQUEST
from accord.schema import v1
from accord.schema.struct import UINT64_MAX
from accord.translate.adapter import NOTHING, Outs
from accord.translate.draft.agent.session_memory import Session, State, Turn
from accord.translate.draft.bridge import DraftBridge
from accord.translate.draft.conversion.content import attachment_of, block_to_draft
from accord.translate.draft.conversion.meta_restore import fits, keep_all, taken
from accord.translate.draft.error_codes import AGENT_ERROR, DRAFT_CANCELLED
from accord.translate.draft.turn_results import STOP_ERROR, STOPS_FROM_DRAFT, to_draft_stop
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Key,
    Notification,
    Out,
    Request,
    Result,
)
from accord.translate.meta_store import DRAFT, kept

# Prompts that wait for the end of a cancelled turn, if the agent does not support cancelling.
HELD_PROMPTS_MAX: Final = 16

CANCELLED = "cancelled"


class Turns:
    """The turns of all sessions."""

    def __init__(self, bridge: DraftBridge, state: State) -> None:
        self._bridge = bridge
        self._state = state
        bridge.on_request[CLIENT, "session/prompt"] = self._prompt
        bridge.on_notification[CLIENT, "session/cancel"] = self._cancelled

    def _prompt(self, request: Request) -> Outs:
        session = self._state.session(request.params["sessionId"])
        if session.muted:
            if len(session.held) >= HELD_PROMPTS_MAX:
                raise CannotTranslate(
                    INVALID_REQUEST, "the session has too many prompts waiting already"
                )
            session.held.append(request)
            return NOTHING
        return self._start(session, request)

    def _start(self, session: Session, request: Request) -> Outs:
        turn = Turn(request.key)
        if session.turn is None:
            # A message does not continue in another turn.
            session.message_ids.clear()
        # The agent decides about a second prompt during a turn; the first stays the turn.
        session.turn = session.turn or turn
        asked = dict(request.params)
        content: list[Json] = []
        attachments: list[Json] = []
        for block in asked.pop("prompt"):
            if self._bridge.details:
                attachment = kept(block, DRAFT).get("attachment")
            else:
                attachment = attachment_of(block, session.folder)
            if attachment is None:
                content.append(block_to_draft(block))
            else:
                attachments.append(attachment)
        asked["content"] = content
        if attachments:
            asked["attachments"] = attachments

        def then(answer: Answer) -> Outs:
            return self._ended(session, turn, answer)

        ask = self._bridge.ask
        return [ask(AGENT, "session/prompt", asked, then, instead_of=request, of=CLIENT)]

    def _ended(self, session: Session, turn: Turn, answer: Answer) -> Outs:
        outs: list[Out] = []
        if self._bridge.is_open(CLIENT, turn.key):
            outs.append((CLIENT, self._outcome(session, turn, answer)))
        if session.turn is turn:
            session.turn = None
            session.muted = False
            if session.held:
                outs += self._start(session, session.held.popleft())
        return outs

    def _outcome(self, session: Session, turn: Turn, answer: Answer) -> Answer:
        if isinstance(answer, Failure):
            if turn.cancelled or answer.code == DRAFT_CANCELLED:
                return _cancelled(turn.key)
            _, failure = self._bridge.fail(CLIENT, turn.key, answer, session.id)
            assert isinstance(failure, Failure)
            return failure
        result = dict(answer.result)
        had = taken(result)
        stop = result["stopReason"]
        exact = had.get("stopReason")
        if self._bridge.details:
            return _detailed(turn.key, result, had)
        if stop == STOP_ERROR:
            return _cancelled(turn.key) if turn.cancelled else _failed(turn.key, had)
        if isinstance(exact, str) and to_draft_stop(exact) == stop:
            result["stopReason"] = had.pop("stopReason")
        elif stop not in STOPS_FROM_DRAFT:
            result["stopReason"], had["stopReason"] = "end_turn", stop
        self._usage(result, had)
        keep_all(result, had)
        return Result(turn.key, result)

    def _usage(self, result: Json, had: Json) -> None:
        usage = result.pop("usage", None)
        whole = had.pop("wholeUsage", None)
        if usage is None:
            return
        if not self._bridge.unstable:
            had["usage"] = usage
            return
        total = min(usage["inputTokens"] + usage["outputTokens"], UINT64_MAX)
        made = {"totalTokens": total, **usage}
        if isinstance(whole, dict) and fits(v1.Usage, whole):
            made = whole
        result["usage"] = made

    # ---- cancelling

    def _cancelled(self, params: Json) -> Outs:
        return self.cancel(self._state.session(params["sessionId"]), params)

    def cancel_request(self, params: Json) -> Outs:
        """Cancel a request of the client: for a prompt its turn; the draft cannot cancel others."""
        key: Any = params.get("requestId")
        for session in self._state.sessions.values():
            if session.turn is not None and session.turn.key == key:
                return self.cancel(session, {"sessionId": session.id})
        return NOTHING

    def cancel(self, session: Session, params: Json) -> Outs:
        """End the turn of a session and every prompt that waits for it."""
        outs: list[Out] = [(CLIENT, _cancelled(held.key)) for held in session.held]
        session.held.clear()
        asked = dict(params)
        had = taken(asked)
        if isinstance(had.get("reason"), str):
            asked["reason"] = had.pop("reason")
        keep_all(asked, had)
        if self._state.cancels:
            outs.append((AGENT, Notification("session/cancel", asked)))
        turn = session.turn
        if turn is None:
            return outs
        turn.cancelled = True
        if not self._state.cancels and not session.muted:
            session.muted = True
            outs.append((CLIENT, _cancelled(turn.key)))
        return outs

    def ended(self) -> Outs:
        """End the turns: the agent is gone.  Those that were being cancelled end as cancelled."""
        outs: list[Out] = []
        for session in self._state.sessions.values():
            turn = session.turn
            if turn is not None and turn.cancelled and self._bridge.is_open(CLIENT, turn.key):
                outs.append((CLIENT, _cancelled(turn.key)))
        return outs


def _detailed(key: Key, result: Json, had: Json) -> Result:
    """Make the answer for our own client, which reads any stop reason and the error in `_meta`."""
    exact = had.pop("stopReason", None)
    if isinstance(exact, str) and to_draft_stop(exact) == result["stopReason"]:
        result["stopReason"] = exact
    usage = result.get("usage")
    if usage is not None:
        total = min(usage["inputTokens"] + usage["outputTokens"], UINT64_MAX)
        result["usage"] = {"totalTokens": total, **usage}
    keep_all(result, had)
    return Result(key, result)


def _cancelled(key: Key) -> Result:
    return Result(key, {"stopReason": CANCELLED})


def _failed(key: Key, had: Json) -> Failure:
    """Answer a turn that ended in an error, with the original error if it was kept."""
    error = had.get("error")
    if (
        isinstance(error, dict)
        and isinstance(error.get("code"), int)
        and isinstance(error.get("message"), str)
    ):
        return Failure(key, error["code"], error["message"], error.get("data"))
    return Failure(key, INTERNAL_ERROR, "the agent failed", {"reason": AGENT_ERROR})

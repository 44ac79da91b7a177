"""Prompts of a draft client to a v1 agent, and their cancellation.

A failure before the turn began is an error; one after it, the agent's death included, is the stop
reason `error`.  A turn that is being cancelled ends `cancelled`, whatever the agent says.
"""

from __future__ import annotations

from accord.jsonrpc.error_codes import REQUEST_CANCELLED
from accord.schema import draft
from accord.translate.adapter import Outs
from accord.translate.draft.bridge import DraftBridge, invalid
from accord.translate.draft.client.permissions import Permissions
from accord.translate.draft.client.session_memory import Session, State, Turn
from accord.translate.draft.client.tool_calls import Calls, told
from accord.translate.draft.client.updates import begin, close_message
from accord.translate.draft.conversion.content import (
    BLOCK_TYPES,
    attachment_from_draft,
    block_from_draft,
    within,
)
from accord.translate.draft.conversion.meta_restore import copied, fits, keep_all, taken
from accord.translate.draft.turn_results import (
    STOP_ERROR,
    cancelled_turn,
    error_to_draft,
    failed_turn,
    gone,
    is_error,
    to_draft_stop,
)
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    Failure,
    Json,
    Notification,
    Out,
    Request,
    Result,
)
from accord.translate.meta_store import DRAFT, kept


class Turns:
    """The turns of all sessions."""

    def __init__(
        self, bridge: DraftBridge, state: State, calls: Calls, permissions: Permissions
    ) -> None:
        self._bridge = bridge
        self._state = state
        self._calls = calls
        self._permissions = permissions
        bridge.on_request[CLIENT, "session/prompt"] = self._prompt
        bridge.on_notification[CLIENT, "session/cancel"] = self._cancel

    def _prompt(self, request: Request) -> Outs:
        asked = dict(request.params)
        session = self._state.session(asked["sessionId"])
        allowed = self._state.agent.get("promptCapabilities") or {}
        folder = session.folder or "/"
        content: list[Json] = asked.pop("content")
        for at, one in enumerate(content if self._bridge.details else ()):
            if one.get("type") not in BLOCK_TYPES:
                raise invalid(f"unknown content {one.get('type')!r}", path=f"$.content[{at}]")
        blocks = [block_from_draft(one) for one in content]
        blocks += [attachment_from_draft(one, folder) for one in asked.pop("attachments", ())]
        asked["prompt"] = [within(one, allowed) for one in blocks]
        turn = Turn(request.key)
        if self._bridge.details:
            turn.echo = copied(asked["prompt"])
        if session.turn is None:
            session.turn = turn
        else:
            session.waiting.append(turn)
        session.usage = None

        def then(answer: Answer) -> Outs:
            outs: list[Out] = []
            if turn.cancelled:
                outs += self._calls.cancelled(session)
            outs += self._calls.announce_all(session)
            outcome = self._outcome(session, turn, answer)
            if isinstance(outcome, Result):
                outs = [*begin(session, turn), *outs, *self._final_message(session, outcome.result)]
            if session.turn is turn:
                session.turn = session.waiting.popleft() if session.waiting else None
            else:
                session.waiting.remove(turn)
            return [*outs, (CLIENT, outcome)]

        ask = self._bridge.ask
        return [ask(AGENT, "session/prompt", asked, then, instead_of=request, of=CLIENT)]

    def _final_message(self, session: Session, result: Json) -> list[Out]:
        """Return the end of the open message, and a text with the reason why the turn failed."""
        if not self._bridge.details:
            return []
        outs = close_message(session)
        error = kept(result, DRAFT).get("error")
        if result["stopReason"] == STOP_ERROR and isinstance(error, dict):
            data = {"content": f"The turn failed: {error['message']}", "index": 0, "final": True}
            outs.append(told(session, "agent_message_chunk", data))
        return outs

    def _outcome(self, session: Session, turn: Turn, answer: Answer) -> Answer:
        if isinstance(answer, Result):
            return Result(turn.key, self._result(session, answer.result))
        if turn.cancelled or answer.code == REQUEST_CANCELLED:
            return cancelled_turn(turn.key)
        if turn.begun:
            return failed_turn(turn.key, answer)
        _, failure = self._bridge.fail(CLIENT, turn.key, answer, session.id)
        assert isinstance(failure, Failure)
        return failure

    def _result(self, session: Session, answer: Json) -> Json:
        result = dict(answer)
        had = taken(result)
        stop = result["stopReason"]
        result["stopReason"] = to_draft_stop(stop)
        if result["stopReason"] != stop:
            had["stopReason"] = stop
        if is_error(had.get("error")):
            result["stopReason"] = STOP_ERROR
            had["error"] = error_to_draft(had["error"])
        usage, before = result.pop("usage", None), had.get("usage")
        if usage is not None:
            result["usage"] = {name: usage[name] for name in ("inputTokens", "outputTokens")}
            had["wholeUsage"] = usage
        elif before is not None and fits(draft.Usage, before):
            result["usage"] = had.pop("usage")
        if session.usage is not None:
            had["usageUpdate"] = session.usage
        keep_all(result, had)
        return result

    # ---- cancelling

    def _cancel(self, params: Json) -> Outs:
        asked = dict(params)
        session = self._state.session(asked["sessionId"])
        if "reason" in asked:
            keep_all(asked, {"reason": asked.pop("reason")})
        outs: list[Out] = [(AGENT, Notification("session/cancel", asked))]
        for turn in (session.turn, *session.waiting):
            if turn is not None:
                turn.cancelled = True
        return [*outs, *self._permissions.cancel(session)]

    def ended(self, why: str) -> Outs:
        """End the turns that had begun with an error, or as cancelled: the agent is gone."""
        outs: list[Out] = []
        for session in self._state.sessions.values():
            turn = session.turn
            if turn is None or not self._bridge.is_open(CLIENT, turn.key):
                continue
            if turn.cancelled:
                outs += self._calls.cancelled(session)
                outs.append((CLIENT, cancelled_turn(turn.key)))
            elif turn.begun:
                outs.append((CLIENT, failed_turn(turn.key, gone(why))))
        return outs

"""A client that speaks early v2, in front of an agent of today's v2.

A prompt is answered when its work is over, with the stop reason; no state is told.  Tool calls
and permission requests were still those of v1, so the parts of the translator for v1 clients say
them; messages and all else are today's and are passed on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accord.schema.method import CANCEL_REQUEST, SESSION_UPDATE
from accord.translate.adapter import NOTHING, Outs
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    Json,
    Notification,
    Out,
    Request,
    Side,
)
from accord.translate.v2_agent.permissions_and_forms import permission_answer, permission_to_v1
from accord.translate.v2_agent.sessions import Session, Sessions

_BEGINNING = frozenset({"session/resume", "session/load"})
_ENDING = frozenset({"session/close", "session/delete"})


class EarlyClient(Sessions):
    """Speaks early v2 to the client and today's v2 to the agent."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.on_request[CLIENT, "session/prompt"] = self._prompt
        self.on_request[AGENT, "session/request_permission"] = self._permission
        self.on_notification[CLIENT, "session/cancel"] = self._cancel
        self.on_notification[CLIENT, CANCEL_REQUEST] = self._withdraw

    def _requested(self, side: Side, request: Request) -> Outs:
        if (side, request.method) in self.on_request:
            return super()._requested(side, request)
        told: Outs = NOTHING
        session = self._sessions.get(request.params.get("sessionId", ""))
        if session is not None and request.method in _BEGINNING:
            session.start_over()
        elif session is not None and request.method in _ENDING:
            told = self._settled([*self._flushed(session), *session.turns.closed()])
        return [*told, *self.pass_on(side, request, AGENT if side is CLIENT else CLIENT)]

    def _notified(self, side: Side, message: Notification) -> Outs:
        if message.method == CANCEL_REQUEST or (side, message.method) in self.on_notification:
            return super()._notified(side, message)
        return [(AGENT if side is CLIENT else CLIENT, message)]

    # ---- the client

    def _prompt(self, request: Request) -> Outs:
        return self._session(request.params["sessionId"]).turns.prompt(request)

    def _cancel(self, params: Json) -> Outs:
        return self._session(params["sessionId"]).turns.cancel(params)

    def _withdraw(self, params: Json) -> Outs:
        key = params.get("requestId")
        for session in self._sessions.values():
            told = session.turns.withdraw(key)  # type: ignore[arg-type]
            if told is not None:
                return told
        return self._cancelled(CLIENT, key)

    # ---- the agent

    def _updated(self, params: Json) -> Outs:
        update: Json = params["update"]
        kind = update["sessionUpdate"]
        session = self._session(params["sessionId"])
        calls = session.calls
        said: Sequence[Json]
        if kind == "tool_call_update":
            said = calls.patch(update)
        elif kind == "tool_call_content_chunk":
            said = calls.append(update)
        elif kind == "terminal_update":
            said = calls.terminal(update)
        elif kind == "terminal_output_chunk":
            said = calls.output(update)
        elif kind == "state_update":
            return self._other(session, kind, update)
        else:
            if kind == "plan_update" and "planId" in update["plan"]:
                update["plan"]["id"] = update["plan"].pop("planId")
            return ((CLIENT, Notification(SESSION_UPDATE, params)),)
        return self._told(session, said)

    def _told(self, session: Session, updates: Sequence[Json]) -> list[Out]:
        for update in updates:
            if update["sessionUpdate"] == "tool_call":
                # The first report and later ones are the same update.
                update["sessionUpdate"] = "tool_call_update"
        return super()._told(session, updates)

    def _permission(self, request: Request) -> Outs:
        session = self._session(request.params["sessionId"])
        offered = frozenset(option["optionId"] for option in request.params["options"])
        told, params = permission_to_v1(request.params, session.calls, self._context)

        def then(answer: Answer) -> Outs:
            return [self.answer(AGENT, request.key, permission_answer(answer, offered))]

        asked = self.ask(CLIENT, request.method, params, then, instead_of=request, of=AGENT)
        return [*self._told(session, told), asked]

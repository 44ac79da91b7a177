"""Ends sessions, and answers other requests about them.

What always holds: a session is closed only when its turn has ended, and nothing of it follows.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Final

from accord.jsonrpc.error_codes import INVALID_PARAMS, RESOURCE_NOT_FOUND
from accord.translate.adapter import NOTHING, Outs
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Out,
    Request,
    Result,
)
from accord.translate.v1_agent.host.files_and_terminals import Terminals
from accord.translate.v1_agent.session_state import IDLE, Core, Session, session_failure
from accord.translate.v1_agent.turns import Turns

# How long an agent has to answer its prompt when the session is closed.
CLOSING_SECONDS: Final = 5.0
# Methods of the same form in both versions.
PASSED_ON: Final = (
    "session/unarchive",
    "providers/list",
    "providers/set",
    "providers/disable",
)


class SessionEnds:
    """Closing, deleting and archiving sessions, and their status and title."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.turns: Turns
        self.terminals: Terminals
        for method in PASSED_ON:
            core.on_request[CLIENT, method] = core.pass_to_agent
        core.on_request[CLIENT, "session/close"] = self._close
        core.on_request[CLIENT, "session/delete"] = self._remove
        core.on_request[CLIENT, "session/archive"] = self._remove
        core.on_request[CLIENT, "session/status"] = self._status
        core.on_request[CLIENT, "session/set_title"] = self._set_title
        core.on_request[CLIENT, "tool_call/cancel"] = self._cancel_tool

    def _close(self, request: Request) -> Outs:
        session = self._core.sessions.get(request.params["sessionId"])
        if session is None or not session.open:
            return self._close_unknown(request, session)
        session.closing.append(request)
        if len(session.closing) > 1:
            return NOTHING
        turns = self.turns
        outs: list[Out] = [*turns.insert(session), *turns.give_up_held(session)]
        params: Json = {"sessionId": session.id}
        if session.turn is not None:
            outs += turns.stop(session, params)
            self._core.later(session, "closing", CLOSING_SECONDS, lambda: self._waited(session))
            return outs
        if session.state != IDLE:
            outs += turns.stop(session, params)
            outs += turns.rest(session)
        return [*outs, *self.stopped(session)]

    def _close_unknown(self, request: Request, session: Session | None) -> Outs:
        """Close the session for the client; ask the agent too if it may still have the session."""
        if not self._core.can.close or (session is not None and not session.alive):
            return [(CLIENT, Result(request.key, {}))]
        session_id: str = request.params["sessionId"]

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure) and _is_missing(answer, session_id):
                return [(CLIENT, Result(request.key, {}))]
            return [self._core.answer(CLIENT, request.key, answer)]

        return [
            self._core.ask(
                AGENT, request.method, request.params, then, instead_of=request, of=CLIENT
            )
        ]

    def _waited(self, session: Session) -> Outs:
        """Close the session although the agent has not answered its prompt."""
        return [*self.turns.abandon(session), *self.stopped(session)]

    def stopped(self, session: Session) -> Outs:
        """Close the session now that its turn has ended."""
        core = self._core
        for name in ("silence", "closing", "insertion"):
            core.never(session, name)
        outs = list(self.terminals.closed(session))
        params = session.closing[0].params
        if not core.can.close:
            return [*outs, *self._closed(session, {})]

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Result):
                return self._closed(session, answer.result)
            if _is_missing(answer, session.id):
                return self._closed(session, {})
            waiting, session.closing = session.closing, []
            return [core.fail(one.key, answer, session.id) for one in waiting]

        return [*outs, core.ask(AGENT, "session/close", params, then)]

    def _closed(self, session: Session, result: Json) -> Outs:
        can = self._core.can
        waiting, session.closing = session.closing, []
        session.open = False
        session.alive = not can.close
        if not (session.alive or can.resume or can.load):
            # The session cannot be opened again.
            self._core.sessions.pop(session.id, None)
        return [(CLIENT, Result(one.key, deepcopy(result))) for one in waiting]

    # ---- the rest

    def _remove(self, request: Request) -> Outs:
        session_id: str = request.params["sessionId"]

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._core.fail(request.key, answer, session_id)]
            session = self._core.sessions.get(session_id)
            if session is not None and session.turn is None and not session.closing:
                self._core.never(session, "silence")
                del self._core.sessions[session_id]
            return [self._core.answer(CLIENT, request.key, answer)]

        return [
            self._core.ask(
                AGENT, request.method, request.params, then, instead_of=request, of=CLIENT
            )
        ]

    def _status(self, request: Request) -> Outs:
        session_id: str = request.params["sessionId"]

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._core.fail(request.key, answer, session_id)]
            session = self._core.sessions.get(session_id)
            if session is not None and session.open:
                answer.result["state"] = session.snapshot
            return [self._core.answer(CLIENT, request.key, answer)]

        return [
            self._core.ask(
                AGENT, request.method, request.params, then, instead_of=request, of=CLIENT
            )
        ]

    def _set_title(self, request: Request) -> Outs:
        session_id: str = request.params["sessionId"]

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._core.fail(request.key, answer, session_id)]
            session = self._core.sessions.get(session_id)
            if session is not None:
                session.title = answer.result["title"]
            return [self._core.answer(CLIENT, request.key, answer)]

        return [
            self._core.ask(
                AGENT, request.method, request.params, then, instead_of=request, of=CLIENT
            )
        ]

    def _cancel_tool(self, request: Request) -> Outs:
        call = request.params["toolCallId"]
        raise CannotTranslate(
            INVALID_PARAMS, "this tool call cannot be cancelled", {"toolCallId": call}
        )


def _is_missing(failure: Failure, session_id: str) -> bool:
    return session_failure(failure, session_id).code == RESOURCE_NOT_FOUND

"""A v2 agent behind a v1 client: the translation of each method of v1.

Outside this is a v1 agent, inside a v2 client.  The parts of a session say its updates; here is
what is asked and answered, in both directions.

What always holds: each request of either side is answered once, with an answer that is valid in
the version of that side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from accord.jsonrpc.error_codes import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
    text_of,
)
from accord.schema.method import CANCEL_REQUEST
from accord.translate.adapter import OnNotification, OnRequest, Outs
from accord.translate.content_blocks import blocks_to_v2
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Notification,
    Out,
    Request,
    Result,
    Side,
    Surroundings,
)
from accord.translate.meta_store import OFFICIAL, is_text, keep, restore
from accord.translate.v2_agent.initialize import (
    Offer,
    introduction_to_v1,
    introduction_to_v2,
    offer_of,
)
from accord.translate.v2_agent.mcp_servers import servers_to_v2
from accord.translate.v2_agent.permissions_and_forms import (
    form_answer,
    form_to_v1,
    permission_answer,
    permission_to_v1,
)
from accord.translate.v2_agent.sessions import Session, Sessions

SET_OPTION: Final = "session/set_config_option"
# Methods that are the same in both versions, except for the capability that they need.
ALIKE_UNSTABLE: Final = (
    "session/unarchive",
    "session/set_title",
    "auth/status",
    "providers/list",
    "providers/set",
    "providers/disable",
)
# Without a login method there is neither.
LOGIN: Final = ("auth/login", "auth/logout")
ENDING: Final = ("session/close", "session/delete")


class V2Agent(Sessions):
    def __init__(
        self, surroundings: Surroundings, *, strict: bool = False, unstable: bool = False
    ) -> None:
        super().__init__(surroundings, strict=strict, unstable=unstable)
        self._offer = Offer()
        self._fill_tables()

    def _fill_tables(self) -> None:
        asked = self.on_request
        asked[CLIENT, "initialize"] = self._initialize
        asked[CLIENT, "authenticate"] = self._renamed("auth/login")
        asked[CLIENT, "logout"] = self._renamed("auth/logout")
        for method in ("session/new", "session/load", "session/resume"):
            asked[CLIENT, method] = self._open_session
        asked[CLIENT, "session/prompt"] = self._prompt
        asked[CLIENT, SET_OPTION] = self._set_option
        asked[CLIENT, "session/set_mode"] = self._set_mode
        asked[CLIENT, "session/set_model"] = self._set_model
        for method in ENDING:
            asked[CLIENT, method] = self._end_session
        asked[CLIENT, "session/list"] = self._list
        asked[AGENT, "session/request_permission"] = self._permission
        asked[AGENT, "elicitation/create"] = self._form
        told = self.on_notification
        told[CLIENT, "session/cancel"] = self._cancel
        told[CLIENT, CANCEL_REQUEST] = self._cancel_request
        told[AGENT, "elicitation/complete"] = self._passing(CLIENT, "elicitation/complete")
        if self.unstable:
            for method in ALIKE_UNSTABLE:
                asked[CLIENT, method] = self._renamed(method)
            asked[CLIENT, "session/fork"] = self._open_session
            asked[CLIENT, "session/archive"] = self._end_session
            asked[CLIENT, "session/status"] = self._status
            asked[AGENT, "mcp/message"] = lambda request: self.pass_on(AGENT, request, CLIENT)
            told[CLIENT, "mcp/message"] = self._passing(AGENT, "mcp/message")
            told[AGENT, "auth/status_update"] = self._passing(CLIENT, "auth/status_update")

    # ---- the beginning

    def _initialize(self, request: Request) -> Outs:
        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                if answer.code == UNSUPPORTED_PROTOCOL_VERSION:
                    # v1 has no code for this; the agent cannot be served.
                    answer = answer._replace(code=INTERNAL_ERROR)
                return [self.answer(CLIENT, request.key, answer)]
            result: Json = answer.result
            version = result["protocolVersion"]
            if version == 1:
                self._is_direct = True
            elif version != 2:
                raise CannotTranslate(
                    INTERNAL_ERROR, "the agent speaks another version", {"protocolVersion": version}
                )
            else:
                self._offer = offer_of(result)
                result = introduction_to_v1(result, self._context, unstable=self.unstable)
            return [(CLIENT, Result(request.key, result))]

        params = introduction_to_v2(request.params, self._context)
        return [self._instead(request, "initialize", params, then)]

    # ---- sessions

    def _open_session(self, request: Request) -> Outs:
        self._need_sessions(request)
        params, method = request.params, request.method
        servers: Sequence[Json] = params.get("mcpServers") or ()
        params["mcpServers"] = servers_to_v2(servers, self._offer, self.around)
        prompt = params.get("systemPrompt")
        if prompt is not None:
            prompt["content"] = blocks_to_v2(prompt["content"])
        is_new = method in ("session/new", "session/fork")
        named: str = params.get("sessionId", "")
        if method == "session/load":
            method = "session/resume"
            params["replayFrom"] = {"type": "start"}
        if is_new:
            self._openings += 1
        else:
            session = self._session(named)
            if "replayFrom" in params:
                # The whole history is replayed.
                session.start_over()

        def then(answer: Answer) -> Outs:
            self._openings -= is_new
            if isinstance(answer, Failure):
                outs: list[Out] = [self.answer(CLIENT, request.key, answer)]
            else:
                session_id = answer.result["sessionId"] if is_new else named
                outs = self._opened(request, self._session(session_id), answer.result)
            return [*outs, *self._released()] if is_new else outs

        return [self._instead(request, method, params, then)]

    def _opened(self, request: Request, session: Session, result: Json) -> list[Out]:
        commands = result.pop("availableCommands", None)
        session.options.opened(result)
        outs: list[Out] = [*self._flushed(session), (CLIENT, Result(request.key, result))]
        if commands is not None:
            update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
            outs += self._told(session, session.facts.commands(update))
        return outs

    def _end_session(self, request: Request) -> Outs:
        self._need_sessions(request)
        session_id: str = request.params["sessionId"]

        def then(answer: Answer) -> Outs:
            outs: list[Out] = []
            session = self._sessions.get(session_id)
            if session is not None and isinstance(answer, Result):
                outs += self._flushed(session)
                outs += session.turns.closed()
                self._forget(session)
            return [*outs, self.answer(CLIENT, request.key, answer)]

        return [self._instead(request, request.method, request.params, then)]

    def _list(self, request: Request) -> Outs:
        self._need_sessions(request)

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Result):
                for info in answer.result["sessions"]:
                    restore(info, {"updatedAt": is_text})
            return [self.answer(CLIENT, request.key, answer)]

        return [self._instead(request, request.method, request.params, then)]

    def _status(self, request: Request) -> Outs:
        def then(answer: Answer) -> Outs:
            if isinstance(answer, Result) and "state" in answer.result:
                keep(answer.result, OFFICIAL, "state", answer.result.pop("state"))
            return [self.answer(CLIENT, request.key, answer)]

        return [self._instead(request, request.method, request.params, then)]

    def _need_sessions(self, request: Request) -> None:
        if not self._offer.session:
            raise CannotTranslate(
                METHOD_NOT_FOUND, f"{text_of(METHOD_NOT_FOUND)}: {request.method}"
            )

    # ---- turns

    def _prompt(self, request: Request) -> Outs:
        self._need_sessions(request)
        params = request.params
        if not params["prompt"]:
            raise CannotTranslate(INVALID_PARAMS, "a prompt needs content", {"path": "prompt"})
        params["prompt"] = blocks_to_v2(params["prompt"])
        return self._session(params["sessionId"]).turns.prompt(request)

    def _cancel(self, params: Json) -> Outs:
        session = self._sessions.get(params["sessionId"])
        if session is None:
            return [(AGENT, Notification("session/cancel", params))]
        return session.turns.cancel(params)

    def _cancel_request(self, params: Json) -> Outs:
        key: Any = params.get("requestId")
        for session in self._sessions.values():
            outs = session.turns.withdraw(key)
            if outs is not None:
                return outs
        return self._cancelled(CLIENT, key)

    # ---- options

    def _set_option(self, request: Request) -> Outs:
        session = self._session(request.params["sessionId"])

        def then(answer: Answer) -> Outs:
            said = session.options.set(answer.result) if isinstance(answer, Result) else ()
            return [*self._told(session, said), self.answer(CLIENT, request.key, answer)]

        return [self._instead(request, SET_OPTION, session.options.to_set(request.params), then)]

    def _set_mode(self, request: Request) -> Outs:
        return self._choose(request, "mode", "modeId")

    def _set_model(self, request: Request) -> Outs:
        return self._choose(request, "model", "modelId")

    def _choose(self, request: Request, category: str, name: str) -> Outs:
        session = self._session(request.params["sessionId"])
        params = session.options.to_choose(request.params, category, name)
        chosen: str = params["value"]

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self.answer(CLIENT, request.key, answer)]
            if category == "mode":
                session.options.mode_is(chosen)
            update = {"sessionUpdate": "config_option_update", **answer.result}
            update.pop("_meta", None)
            said = self._told(session, session.options.update(update))
            # Sent before the answer, which in v1 does not have the change.
            return [*said, (CLIENT, Result(request.key, {}))]

        return [self._instead(request, SET_OPTION, params, then)]

    # ---- what the agent asks

    def _permission(self, request: Request) -> Outs:
        session = self._session(request.params["sessionId"])
        told, params = permission_to_v1(request.params, session.calls, self._context)
        if session.turns.state == "requires_action":
            keep(params, OFFICIAL, "state", session.turns.state)
        offered = frozenset(option["optionId"] for option in params["options"])

        def then(answer: Answer) -> Outs:
            return [self.answer(AGENT, request.key, permission_answer(answer, offered))]

        question = self.ask(CLIENT, request.method, params, then, instead_of=request, of=AGENT)
        return [*self._told(session, told), question]

    def _form(self, request: Request) -> Outs:
        params = form_to_v1(request.params, self._context)
        if "requestId" in params:
            asked = self._asked.get((AGENT, params["requestId"]))
            if asked is None or asked[1] is None:
                raise CannotTranslate(INVALID_PARAMS, "no such request is open")
            params["requestId"] = asked[1][1]

        def then(answer: Answer) -> Outs:
            return [self.answer(AGENT, request.key, form_answer(answer))]

        return [self.ask(CLIENT, request.method, params, then, instead_of=request, of=AGENT)]

    def _renamed(self, method: str) -> OnRequest:
        def asked(request: Request) -> Outs:
            if method.startswith("session/"):
                self._need_sessions(request)
            elif method in LOGIN and not self._offer.login:
                said = f"{text_of(METHOD_NOT_FOUND)}: this agent offers no login"
                raise CannotTranslate(METHOD_NOT_FOUND, said, {"method": request.method})
            return self.pass_on(CLIENT, request._replace(method=method), AGENT)

        return asked

    def _passing(self, to: Side, method: str) -> OnNotification:
        def told(params: Json) -> Outs:
            return [(to, Notification(method, params))]

        return told

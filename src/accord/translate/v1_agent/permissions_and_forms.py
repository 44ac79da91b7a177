"""Requests of the agent to the user: permissions and elicitations.

While the session has nothing else to do than wait for an answer it `requires_action`.

What always holds
    * What was not offered, or is not understood, is not approval.
    * A question whose turn is cancelled is answered to the agent at once, and withdrawn from the
      client.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from accord.jsonrpc.error_codes import INVALID_PARAMS, REQUEST_CANCELLED
from accord.schema.method import CANCEL_REQUEST
from accord.translate.adapter import NOTHING, Outs
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Key,
    Out,
    Request,
    Result,
)
from accord.translate.meta_store import OFFICIAL, is_text, keep, kept, restore
from accord.translate.permission_contents import first_text
from accord.translate.v1_agent.session_state import IDLE, Core, Question, Session, not_found
from accord.translate.v1_agent.tool_calls import ToolCalls
from accord.translate.v1_agent.turns import Turns

ASK_PERMISSION: Final = "session/request_permission"
UNTITLED: Final = "Permission required"
# v2 requires an option.  The agent did not offer this one, and choosing it is a refusal.
NO_OPTION: Final[Json] = {"optionId": "reject", "name": "Reject", "kind": "reject_once"}
CANCELLED: Final[Json] = {"outcome": {"outcome": "cancelled"}}
ALLOWING: Final = frozenset({"allow_once", "allow_always"})
ResultFor: TypeAlias = Callable[[Question, Answer], Answer]
OnAnswer: TypeAlias = Callable[[Question, Answer], Outs]
ACTIONS: Final = frozenset({"accept", "decline", "cancel"})
# The keys that have the choices of a property.
CHOICES: Final = ("enum", "oneOf")


def form_to_v2(params: Json) -> None:
    """Convert a form to v2: add what v1 may leave out, remove what v2 does not allow."""
    schema = params.get("requestedSchema")
    if params.get("mode") != "form" or not isinstance(schema, dict):
        return
    schema["type"] = "object"
    properties: Json = schema.setdefault("properties", {})
    dropped: Json = {}
    for name, wanted in list(properties.items()):
        kind = wanted["type"]
        if kind == "string":
            restore(wanted, {"format": is_text})
            for choice in CHOICES:
                if wanted.get(choice) == []:
                    # Nothing to choose from: v1 clients show a field for any text.
                    keep(wanted, OFFICIAL, choice, wanted.pop(choice))
        elif kind == "array" and _is_empty(wanted["items"]):
            dropped[name] = properties.pop(name)
    if dropped:
        keep(schema, OFFICIAL, "properties", dropped)
        required = schema.get("required") or []
        if not dropped.keys().isdisjoint(required):
            schema["required"] = [name for name in required if name not in dropped]
            keep(schema, OFFICIAL, "required", required)


def _is_empty(items: Json) -> bool:
    return items.get("enum") == [] or ("type" not in items and items.get("anyOf") == [])


def answer_to_v1(answer: Answer) -> Answer:
    """Convert the user's answer to v1; an action that v1 lacks becomes closing the form."""
    if isinstance(answer, Failure):
        return answer
    result: Json = answer.result
    action = result["action"]
    if action not in ACTIONS:
        closed: Json = {"action": "cancel"}
        keep(closed, OFFICIAL, "raw", result)
        return Result(answer.key, closed)
    content = result.get("content")
    if isinstance(content, dict):
        odd = {name: value for name, value in content.items() if not _is_simple(value)}
        if odd:
            result["content"] = {name: value for name, value in content.items() if name not in odd}
            keep(result, OFFICIAL, "content", odd)
    return answer


def _is_simple(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, str | int | float)


class Questions:
    """The open questions of every session."""

    def __init__(self, core: Core, turns: Turns, tool_calls: ToolCalls) -> None:
        self._core = core
        self._turns = turns
        self._tool_calls = tool_calls
        core.on_request[AGENT, ASK_PERMISSION] = self._permission
        core.on_request[AGENT, "elicitation/create"] = self._elicitation
        core.on_notification[AGENT, CANCEL_REQUEST] = self._withdrawn

    # ---- permissions

    def _permission(self, request: Request) -> Outs:
        params = request.params
        session = self._core.sessions.get(params["sessionId"])
        if session is None:
            raise not_found(params["sessionId"])
        if not session.may_ask:
            return [(AGENT, Result(request.key, _cancelled()))]
        call: Json = params.pop("toolCall")
        answered = session.approvals.asked(call)
        options, originals = _unique(params["options"])
        allowing = {one["optionId"] for one in options if one["kind"] in ALLOWING}
        refusal = next(
            (option["optionId"] for option in options if option["kind"] == "reject_once"), None
        )
        self._tool_calls.to_v2(session, call)
        known = session.seen(call)
        session.message_kind = None
        params["title"] = call.get("title") or known.title or UNTITLED
        restore(params, {"title": is_text, "description": is_text})
        content: list[Json] = call.get("content", [])
        left = [one for one in content if kept(one, OFFICIAL).get("prompt") is not True]
        if len(left) < len(content):
            # The title and description of the request, which are outside the tool call again.
            call["content"] = left
            if not left:
                del call["content"]
        reason = first_text(call.get("content"))
        if reason and "description" not in params:
            params["description"] = reason
        params["subject"] = {"type": "tool_call", "toolCall": call}
        params["options"] = options
        if session.log is not None:
            session.log.add({**call, "sessionUpdate": "tool_call_update"})

        def result_for(question: Question, answer: Answer) -> Answer:
            outcome: Json = {} if isinstance(answer, Failure) else dict(answer.result["outcome"])
            chosen = outcome.get("optionId") if outcome.get("outcome") == "selected" else None
            answered(chosen in allowing)
            if isinstance(answer, Failure) and answer.code != REQUEST_CANCELLED:
                return answer
            if chosen in originals:
                outcome["optionId"] = originals[chosen]
                return Result(0, {**_result(answer), "outcome": outcome})
            if chosen is None and refusal in originals and not question.withdrawn:
                # An agent may end its turn for `cancelled`, although the turn goes on.
                selected: Json = {"outcome": "selected", "optionId": originals[refusal]}
                return Result(0, {**_result(answer), "outcome": selected})
            return Result(0, {**_result(answer), **_cancelled()})

        return self._ask(session, request, _cancelled(), result_for)

    # ---- elicitation

    def _elicitation(self, request: Request) -> Outs:
        params = request.params
        session_id = self._scope(params)
        form_to_v2(params)
        if session_id is None:

            def then(answer: Answer) -> Outs:
                return [self._core.answer(AGENT, request.key, answer_to_v1(answer))]

            asked = self._core.ask(
                CLIENT, request.method, params, then, instead_of=request, of=AGENT
            )
            return [asked]
        session = self._core.sessions.get(session_id)
        if session is None:
            raise not_found(session_id)
        if not session.may_ask:
            return [(AGENT, Result(request.key, {"action": "cancel"}))]
        return self._ask(
            session, request, {"action": "cancel"}, lambda _, answer: answer_to_v1(answer)
        )

    def _scope(self, params: Json) -> str | None:
        """Keep one scope of an elicitation: its session, which is returned, or its request."""
        if "sessionId" in params:
            params.pop("requestId", None)
            return str(params["sessionId"])
        key: Any = params["requestId"]
        for session in self._core.sessions.values():
            if session.turn is not None and session.turn.agent_key == key:
                # The client's prompt may be answered already and cannot be named any more.
                del params["requestId"]
                params["sessionId"] = session.id
                return session.id
        behind = self._core.request_behind(key)
        if behind is None:
            raise CannotTranslate(INVALID_PARAMS, "no such request is open", {"requestId": key})
        params["requestId"] = behind
        return None

    # ---- both

    def _ask(
        self, session: Session, request: Request, given_up: Json, result_for: ResultFor
    ) -> Outs:
        def then(question: Question, answer: Answer) -> Outs:
            return [self._core.answer(AGENT, request.key, result_for(question, answer))]

        return self.ask(session, request, request, Result(request.key, given_up), then)

    def ask(
        self,
        session: Session,
        of: Request,
        asked: Request,
        given_up: Answer,
        then: OnAnswer,
        dropped: Callable[[], Outs] = lambda: NOTHING,
    ) -> Outs:
        """Send the client a request that a request of the agent depends on.

        `given_up` is what the agent is told, and `dropped` says what else is, where nobody will
        answer.  Only method and params of `asked` count.
        """
        core, turns = self._core, self._turns
        outs: list[Out] = list(turns.insert(session))
        if session.turn is None and session.state == IDLE and not session.child:
            outs += turns.work(session)

        def answered(answer: Answer) -> Outs:
            if question.settled:
                return ()
            session.questions.pop(of.key, None)
            return [*then(question, answer), *turns.settle(session)]

        out = core.ask(CLIENT, asked.method, asked.params, answered, instead_of=of, of=AGENT)
        question = Question(given_up, _key(out), dropped)
        session.questions[of.key] = question
        return [*outs, *turns.settle(session), out]

    def _withdrawn(self, params: Json) -> Outs:
        key: Any = params.get("requestId")
        for session in self._core.sessions.values():
            question = session.questions.get(key)
            if question is not None:
                question.withdrawn = True
        return self._core.cancelled_by(AGENT, key)


def _key(asked: Out) -> Key:
    request = asked[1]
    assert isinstance(request, Request)
    return request.key


def _cancelled() -> Json:
    return {"outcome": dict(CANCELLED["outcome"])}


def _result(answer: Answer) -> Json:
    return {} if isinstance(answer, Failure) else answer.result


def _unique(options: list[Json]) -> tuple[list[Json], dict[str, str]]:
    """Give the options unique ids; also return the agent's id for each."""
    if not options:
        return [dict(NO_OPTION)], {}
    originals: dict[str, str] = {}
    for option in options:
        original = unique = option["optionId"]
        count = 1
        while unique in originals:
            count += 1
            unique = f"{original}-{count}"
        originals[unique] = original
        option["optionId"] = unique
    return options, originals

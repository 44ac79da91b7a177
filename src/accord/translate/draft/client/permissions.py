"""Permission requests of a v1 agent: its options as the draft's yes or no, and a scope.

What always holds
    * Only an option that the agent offered is chosen, and never one that grants more than the
      user of the draft said.
    * Nothing of the request or the grant comes out of `_meta`.
    * A cancelled turn answers what is still open: v1 demands it, the draft's clients do not.
"""

from __future__ import annotations

from accord.translate.adapter import Outs
from accord.translate.draft.bridge import DraftBridge
from accord.translate.draft.client.session_memory import Call, Session, State
from accord.translate.draft.client.tool_calls import Calls
from accord.translate.draft.conversion.content import placeholder
from accord.translate.draft.conversion.meta_restore import copied, keep_all, taken
from accord.translate.draft.error_codes import DRAFT_CANCELLED, DRAFT_PERMISSION_DENIED
from accord.translate.draft.permission_options import (
    FILE_OPERATIONS,
    choose_option,
    operation_of_kind,
)
from accord.translate.message import (
    AGENT,
    CLIENT,
    UNREADABLE,
    Answer,
    Failure,
    Json,
    Out,
    Request,
    Result,
)


class Permissions:
    """Asks the draft client; if that has no dialogs, the answer is no."""

    def __init__(self, bridge: DraftBridge, state: State, calls: Calls) -> None:
        self._bridge = bridge
        self._state = state
        self._calls = calls
        bridge.on_request[AGENT, "session/request_permission"] = self._asked

    def _asked(self, request: Request) -> Outs:
        params = dict(request.params)
        session = self._state.session(params["sessionId"])
        tool_call, options = params.pop("toolCall"), params.pop("options")
        if session.turn is not None and session.turn.cancelled:
            return [(AGENT, Result(request.key, _cancelled()))]
        outs = self._announce(session, tool_call)
        call = session.calls[tool_call["toolCallId"]]
        if not self._state.has_dialogs:
            call.rejected = True
            return [*outs, (AGENT, Result(request.key, _outcome(False, None, False, options)))]
        session.asking[request.key] = call
        operation = operation_of_kind(call.kind)
        asked: Json = {
            **params,
            "operation": operation,
            "resource": _resource(call, operation),
            "toolCallId": call.id,
        }
        reason = _reason(tool_call) or call.title
        if reason not in ("", f"{operation}: {asked['resource']}"):
            asked["reason"] = reason
        # Only for display: the draft has no field for the options.
        keep_all(asked, {"options": copied(options)})

        def then(answer: Answer) -> Outs:
            return self._answered(session, request, options, answer)

        ask = self._bridge.ask
        method = "session/request_permission"
        return [*outs, ask(CLIENT, method, asked, then, instead_of=request, of=AGENT)]

    def _announce(self, session: Session, tool_call: Json) -> list[Out]:
        """Return the updates before the request: the call, and that it waits for permission."""
        said: Json = {name: value for name, value in tool_call.items() if name != "status"}
        contents = [one for one in said.get("content") or () if one.get("type") != "content"]
        known = session.calls.get(tool_call["toolCallId"])
        before = [] if known is None else self._calls.announce(session, known, asks=True)
        if self._bridge.details and known is not None:
            # Our own agent repeats the fields of the call.
            said = {"toolCallId": known.id}
            contents = [] if contents == known.shown else contents
        # A text in the request is its reason, not output of the call.
        if contents:
            said["content"] = contents
        else:
            said.pop("content", None)
        outs = self._calls.changed(session, {"sessionUpdate": "", **said}, made=True)
        call = session.calls[tool_call["toolCallId"]]
        call.asked = True
        call.rejected = False
        return [*before, *outs, *self._calls.go(session, call, "awaiting_permission")]

    def _answered(
        self, session: Session, request: Request, options: list[Json], answer: Answer
    ) -> Outs:
        call = session.asking.pop(request.key, None)
        if call is None:
            # The turn was cancelled meanwhile, and the agent got its answer.
            return []
        if isinstance(answer, Failure):
            if not _says_no(answer):
                return [self._bridge.fail(AGENT, request.key, answer, session.id)]
            call.rejected = True
            return [(AGENT, Result(request.key, _outcome(False, None, False, options)))]
        made = dict(answer.result)
        had = taken(made)
        said = {name: made.pop(name) for name in ("granted", "scope", "remember") if name in made}
        granted, scope = said["granted"], said.get("scope")
        result = _outcome(granted, scope, said.get("remember") is True, options)
        keep_all(made, {**had, **said})
        outs: list[Out] = []
        if granted and result["outcome"]["outcome"] == "selected":
            outs += self._calls.go(session, call, "in_progress")
        else:
            call.rejected = True
        return [*outs, (AGENT, Result(request.key, {**made, **result}))]

    def cancel(self, session: Session) -> list[Out]:
        """Answer the open requests: the turn is being cancelled."""
        outs: list[Out] = []
        for key, call in session.asking.items():
            call.rejected = True
            outs.append((AGENT, Result(key, _cancelled())))
        session.asking.clear()
        return outs


def _cancelled() -> Json:
    return {"outcome": {"outcome": "cancelled"}}


def _outcome(granted: bool, scope: str | None, remember: bool, options: list[Json]) -> Json:
    offered = [(one["optionId"], one["kind"]) for one in options]
    chosen = choose_option(granted, scope, remember, offered)
    if chosen is None:
        return _cancelled()
    return {"outcome": {"outcome": "selected", "optionId": chosen}}


def _says_no(failure: Failure) -> bool:
    """Whether an error is a refusal; an unreadable answer counts as one."""
    reason = failure.data.get("reason") if isinstance(failure.data, dict) else None
    return failure.code in (DRAFT_PERMISSION_DENIED, DRAFT_CANCELLED) or reason == UNREADABLE


def _resource(call: Call, operation: str) -> str:
    """Return the resource of a call: its location, what its input names, or its title."""
    if operation in FILE_OPERATIONS and call.path is not None:
        return call.path
    return call.resource or call.path or call.title or call.id


def _reason(tool_call: Json) -> str:
    for content in tool_call.get("content") or ():
        if content.get("type") == "content":
            block = content["content"]
            return str(block["text"]) if block["type"] == "text" else placeholder(block)
    return str(tool_call.get("title") or "")

"""Permission requests of a draft agent: an operation on a resource, with options of v1.

What always holds
    * Only an option that was offered grants anything, and only the one that was chosen.
    * Nothing of the request or the grant comes out of `_meta`.
    * Our own client (`details`) finds the request as it was in `_meta`.
"""

from __future__ import annotations

from accord.translate.adapter import Outs
from accord.translate.draft.agent.session_memory import State
from accord.translate.draft.bridge import DraftBridge
from accord.translate.draft.conversion.meta_restore import copied, keep_all, taken
from accord.translate.draft.conversion.paths import resolved
from accord.translate.draft.conversion.tool_output import text_content
from accord.translate.draft.error_codes import DRAFT_SESSION_NOT_FOUND
from accord.translate.draft.permission_options import (
    FILE_OPERATIONS,
    PERMISSION_OPTIONS,
    grant_of,
    kind_of_operation,
    known_operation,
)
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Request,
    Result,
)
from accord.translate.permission_contents import asked_contents


class Permissions:
    """Asks the v1 client."""

    def __init__(self, bridge: DraftBridge, state: State) -> None:
        self._bridge = bridge
        self._state = state
        bridge.on_request[AGENT, "session/request_permission"] = self._asked

    def _asked(self, request: Request) -> Outs:
        params = dict(request.params)
        if self._bridge.details and params["sessionId"] not in self._state.sessions:
            raise CannotTranslate(DRAFT_SESSION_NOT_FOUND, "no such session")
        session = self._state.session(params["sessionId"])
        if session.muted:
            return [(AGENT, Result(request.key, grant_of(None)))]
        told: Json = {
            name: params[name]
            for name in ("operation", "resource", "reason", "toolCallId")
            if self._bridge.details and name in params
        }
        call_id = params.pop("toolCallId", None)
        said, resource = params.pop("operation"), params.pop("resource")
        operation = known_operation(said)
        call = session.calls.get(call_id) if call_id is not None else None
        tool_call: Json = {
            "toolCallId": call_id or self._state.permission_id(),
            "title": f"{said}: {resource}",
            "kind": kind_of_operation(operation),
            "status": "pending",
        }
        if operation in FILE_OPERATIONS:
            tool_call["locations"] = [{"path": resolved(resource, session.folder)}]
        if operation not in FILE_OPERATIONS or call is None:
            given = call.given if call is not None and isinstance(call.given, dict) else {}
            tool_call["rawInput"] = {**given, **_named(operation, resource), "resource": resource}
        if "reason" in params:
            # Clients of v1 show the call in the request instead of the call that they have.
            shown = copied(session.shown.get(call_id or "", []))
            tool_call["content"] = asked_contents(shown, text_content(params.pop("reason")))
        keep_all(tool_call, {"status": "awaiting_permission", "operation": said})
        had = {**taken(params), **told}
        # Options of a client that this request may have come from: for display, never offered.
        asked: Json = {
            **params,
            "toolCall": tool_call,
            "options": [
                {"optionId": row.option_id, "kind": row.kind, "name": row.name}
                for row in PERMISSION_OPTIONS
            ],
        }
        keep_all(asked, had)

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._bridge.fail(AGENT, request.key, answer, session.id)]
            granted = _grant(answer.result)
            if self._bridge.details:
                # The draft has no field for what refused it.
                granted.pop("_meta", None)
            return [(AGENT, Result(request.key, granted))]

        ask = self._bridge.ask
        return [
            ask(CLIENT, "session/request_permission", asked, then, instead_of=request, of=AGENT)
        ]


def _named(operation: str, resource: str) -> Json:
    """Name the resource as v1's clients expect it, so that their rules see it."""
    if operation == "terminal_execute":
        return {"command": resource}
    if operation == "network_access":
        return {"url": resource}
    server, slash, tool = resource.partition("/")
    return {"server": server, "tool": tool} if operation == "mcp_tool" and slash else {}


def _grant(result: Json) -> Json:
    made = {name: value for name, value in result.items() if name != "outcome"}
    outcome = result["outcome"]
    chosen = outcome.get("optionId") if outcome["outcome"] == "selected" else None
    return {**made, **grant_of(chosen)}

"""An agent that may speak early v2, behind a client of today's v2.

Such an agent gives itself away: it reports work while its prompt is unanswered and tells no
state.  Then the prompt is answered, echoed and said to be running here, and its answer becomes
the idle state.  An agent of today is passed on as it is.

Messages that early v2 writes differently have their forms here too, in both directions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from accord.schema.codec import encode, to_python
from accord.schema.method import SESSION_UPDATE
from accord.translate.adapter import NOTHING, Outs
from accord.translate.diffs import diff_of, wire_diff
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
from accord.translate.pass_through import Same

# Updates that show work on a prompt; the echo of a prompt does not.
_WORK = frozenset(
    {
        "agent_message",
        "agent_message_chunk",
        "agent_thought",
        "agent_thought_chunk",
        "tool_call_update",
        "tool_call_content_chunk",
        "plan_update",
    }
)
UNTITLED = "Permission requested"


def update_of_today(update: Json) -> None:
    """Convert an update to today's form; one that has it already is unchanged."""
    change = _CHANGES.get(update.get("sessionUpdate", ""))
    if change is not None:
        change(update)


def _plan(update: Json) -> None:
    plan = update.get("plan")
    if isinstance(plan, dict) and "id" in plan and "planId" not in plan:
        plan["planId"] = plan.pop("id")


def _tool_call(update: Json) -> None:
    content = update.get("content")
    if isinstance(content, list):
        update["content"] = [diff_of_today(item) for item in content]
    for place in update.get("locations") or ():
        if isinstance(place, dict) and place.get("line") == 0:
            del place["line"]


def _content_chunk(update: Json) -> None:
    update["content"] = diff_of_today(update.get("content"))


_CHANGES: dict[str, Callable[[Json], None]] = {
    "plan_update": _plan,
    "tool_call_update": _tool_call,
    "tool_call_content_chunk": _content_chunk,
}


def diff_of_today(item: Any) -> Any:
    """Convert a diff of two texts to changes and a patch; anything else is unchanged."""
    # A diff that was decoded already has an empty list of changes beside the texts.
    if not isinstance(item, dict) or item.get("type") != "diff" or item.get("changes"):
        return item
    path, new_text = item.get("path"), item.get("newText")
    if not isinstance(path, str) or not isinstance(new_text, str):
        return item
    old_text = item.get("oldText")
    made: Json = to_python(encode(wire_diff(diff_of(path, old_text, new_text))))
    rest = {key: item[key] for key in item.keys() - {"path", "oldText", "newText"}}
    return {**rest, **made}


def permission_of_today(params: Json) -> None:
    """Convert a request that names its tool call beside the options to one with a subject."""
    tool_call = params.get("toolCall")
    if not isinstance(tool_call, dict) or "subject" in params:
        return
    del params["toolCall"]
    _tool_call(tool_call)
    params["subject"] = {"type": "tool_call", "toolCall": tool_call}
    params["title"] = params.get("title") or tool_call.get("title") or UNTITLED


class _Turn:
    """A prompt that has no answer yet."""

    __slots__ = ("blocks", "echo_id", "key", "told")

    def __init__(self, key: int, blocks: list[Any]) -> None:
        self.key = key
        self.blocks = blocks
        self.echo_id: str | None = None
        # Whether we have answered the prompt and reported `running`.
        self.told = False


class EarlyAgent(Same):
    """Today's v2 outside, any v2 inside."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._turns: dict[str, _Turn] = {}
        self._states = False
        self.on_request[CLIENT, "session/prompt"] = self._prompt
        self.on_request[AGENT, "session/request_permission"] = self._permission
        self.on_notification[AGENT, SESSION_UPDATE] = self._update

    def _prompt(self, request: Request) -> Outs:
        session_id = request.params.get("sessionId", "")
        blocks = request.params.get("prompt") or []
        turn = _Turn(request.key, blocks)
        if session_id not in self._turns:
            self._turns[session_id] = turn

        def then(answer: Answer) -> Outs:
            if self._turns.get(session_id) is turn:
                del self._turns[session_id]
            return self._conclude(session_id, turn, answer)

        return [
            self.ask(AGENT, request.method, request.params, then, instead_of=request, of=CLIENT)
        ]

    def _conclude(self, session_id: str, turn: _Turn, answer: Answer) -> Outs:
        ended = isinstance(answer, Result) and _stop_reason(answer.result)
        if not turn.told and not ended:
            return [self.answer(CLIENT, turn.key, answer)]
        if isinstance(answer, Result) and not ended:
            # An agent of today's v2 after all: it reports states, first those of other work.
            return NOTHING
        outs = [] if turn.told else self._begin(session_id, turn)
        idle: Json = {"sessionUpdate": "state_update", "state": "idle"}
        if isinstance(answer, Failure):
            error: Json = {"code": answer.code, "message": answer.message}
            if answer.data is not None:
                error["data"] = answer.data
            idle |= {"stopReason": "error", "error": error}
        else:
            idle["stopReason"] = ended or "end_turn"
        return [*outs, _told(session_id, idle)]

    def _begin(self, session_id: str, turn: _Turn) -> list[Out]:
        """Answer, echo and report `running`, as an agent of today's v2 does for a prompt."""
        turn.told = True
        outs: list[Out] = []
        if turn.echo_id is None:
            turn.echo_id = f"u-{self.around.fresh()}"
            echo = {"sessionUpdate": "user_message", "messageId": turn.echo_id}
            outs.append(_told(session_id, {**echo, "content": turn.blocks}))
        outs.append((CLIENT, Result(turn.key, {"messageId": turn.echo_id})))
        running = {"sessionUpdate": "state_update", "state": "running"}
        outs.append(_told(session_id, running))
        return outs

    def _update(self, params: Json) -> Outs:
        update = params.get("update")
        if not isinstance(update, dict):
            return NOTHING
        update_of_today(update)
        said: Out = (CLIENT, Notification(SESSION_UPDATE, params))
        kind = update.get("sessionUpdate")
        if kind == "state_update":
            self._states = True
        if self._states or not self._turns:
            return (said,)
        session_id = params.get("sessionId", "")
        turn = self._turns.get(session_id)
        if turn is None or turn.told:
            return (said,)
        if kind in ("user_message", "user_message_chunk"):
            turn.echo_id = turn.echo_id or update.get("messageId")
        elif kind in _WORK:
            return [*self._begin(session_id, turn), said]
        return (said,)

    def _permission(self, request: Request) -> Outs:
        permission_of_today(request.params)
        session_id = request.params.get("sessionId", "")
        turn = self._turns.get(session_id)
        begun = (
            self._begin(session_id, turn)
            if turn is not None and not turn.told and not self._states
            else []
        )
        return [*begun, *self.pass_on(AGENT, request, CLIENT)]

    def ended(self, why: str) -> Outs:
        """End turns that were reported as running with an error."""
        return [
            _told(
                session_id,
                {
                    "sessionUpdate": "state_update",
                    "state": "idle",
                    "stopReason": "error",
                    "error": {"code": -32603, "message": why},
                },
            )
            for session_id, turn in self._turns.items()
            if turn.told
        ]


def _stop_reason(result: Any) -> str | None:
    """The stop reason in an answer of the early drafts; None in one of today's v2."""
    if not isinstance(result, dict) or "messageId" in result:
        return None
    reason = result.get("stopReason")
    return reason if isinstance(reason, str) else None


def _told(session_id: str, update: Json) -> Out:
    return CLIENT, Notification(SESSION_UPDATE, {"sessionId": session_id, "update": update})

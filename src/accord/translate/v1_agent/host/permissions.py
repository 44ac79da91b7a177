"""Asks the user before this machine writes a file or starts a command for a v1 agent.

A v1 agent does both through its client, and the client decides.  A v2 client has no such requests,
so it is asked for its permission instead: once per act, with the change or the command.

What always holds
    * Nothing is written or started before the client has allowed this very act, or a tool call of
      the agent's that covers it.
    * What is not an approval is a refusal, and the agent gets v1's error for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from accord.jsonrpc.error_codes import PERMISSION_DENIED, REQUEST_CANCELLED, text_of
from accord.translate.adapter import NOTHING, Outs
from accord.translate.message import (
    AGENT,
    HOST,
    Answer,
    Failure,
    Json,
    Request,
    Result,
)
from accord.translate.v1_agent.permissions_and_forms import ASK_PERMISSION, Questions
from accord.translate.v1_agent.session_state import Core, Question, Session
from accord.translate.v1_agent.tool_calls import ToolCalls

LOCATE: Final = "host/locate"
WRITE: Final = "fs/write_text_file"
ALLOW: Final = "allow"
OPTIONS: Final[tuple[Json, ...]] = (
    {"optionId": ALLOW, "name": "Allow once", "kind": "allow_once"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
)


class Act(NamedTuple):
    """A request of the agent that needs permission, and its description for the user."""

    request: Request
    title: str

    @property
    def denied(self) -> Failure:
        """The answer to the agent if the client does not allow the request."""
        said = f"the user did not allow this: {self.title}"
        data = {"reason": "permission_denied"}
        return Failure(self.request.key, PERMISSION_DENIED, said, data)

    @property
    def withdrawn(self) -> Failure:
        """The answer if the agent has cancelled its request."""
        return Failure(self.request.key, REQUEST_CANCELLED, text_of(REQUEST_CANCELLED))


class HostPermissions:
    """Asks the client for permission before the host acts."""

    def __init__(self, core: Core, questions: Questions, tool_calls: ToolCalls) -> None:
        self._core = core
        self._questions = questions
        self._tool_calls = tool_calls

    def write(self, session: Session, request: Request) -> Outs:
        """Write a file for the agent, if the client lets it."""

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                # For instance a path outside the session's folders: the user is not asked.
                return [self._core.answer(AGENT, request.key, answer)]
            # The user is shown where the path leads now, and the file is written there.
            at: str = answer.result["at"]
            params = {**request.params, "at": at}
            if session.approvals.covers(WRITE, {**request.params, "path": at}):
                return self._core.pass_on(AGENT, request._replace(params=params), HOST)
            return self._ask_to_write(session, request, params, answer.result.get("oldText"))

        asked: Json = {"sessionId": session.id, "path": request.params["path"]}
        return [self._core.ask(HOST, LOCATE, asked, then, instead_of=request, of=AGENT)]

    def _ask_to_write(
        self, session: Session, request: Request, params: Json, old_text: str | None
    ) -> Outs:
        act = Act(request, f"Write {request.params['path']}")
        if not session.may_ask:
            return [(AGENT, act.denied)]
        call_id = f"write-{self._core.around.fresh()}"
        diff: Json = {"type": "diff", "path": params["at"], "newText": params["content"]}
        if old_text is not None:
            diff["oldText"] = old_text
        call: Json = {
            "toolCallId": call_id,
            "title": act.title,
            "kind": "edit",
            "status": "pending",
            "content": [diff],
            "locations": [{"path": params["at"]}],
        }
        self._tool_calls.to_v2(session, call)
        session.seen(call)
        if session.log is not None:
            session.log.add({**call, "sessionUpdate": "tool_call_update"})

        def report(status: str) -> Outs:
            update: Json = {
                "sessionUpdate": "tool_call_update",
                "toolCallId": call_id,
                "status": status,
            }
            session.seen(update)
            return [self._core.tell(session, update)]

        def written(answer: Answer) -> Outs:
            answered = self._core.answer(AGENT, request.key, answer)
            return [*report("completed" if isinstance(answer, Result) else "failed"), answered]

        def go() -> Outs:
            return [self._core.ask(HOST, WRITE, params, written, instead_of=request, of=AGENT)]

        subject: Json = {"type": "tool_call", "toolCall": call}
        return self._ask(session, act, subject, go, report)

    def run(
        self, session: Session, request: Request, command: str, cwd: str, go: Callable[[], Outs]
    ) -> Outs:
        """Start a command for the agent, if the client lets it."""
        if session.approvals.covers(request.method, {**request.params, "cwd": cwd}):
            return go()
        act = Act(request, f"Run {command}")
        if not session.may_ask:
            return [(AGENT, act.denied)]
        subject: Json = {"type": "command", "command": command, "cwd": cwd}
        return self._ask(session, act, subject, go, lambda _: NOTHING)

    def _ask(
        self,
        session: Session,
        act: Act,
        subject: Json,
        go: Callable[[], Outs],
        report: Callable[[str], Outs],
    ) -> Outs:
        def then(question: Question, answer: Answer) -> Outs:
            if _is_allowed(answer):
                return go()
            return [*report("failed"), (AGENT, act.withdrawn if question.withdrawn else act.denied)]

        params: Json = {
            "sessionId": session.id,
            "title": act.title,
            "subject": subject,
            "options": [dict(option) for option in OPTIONS],
        }
        asked = Request(act.request.key, ASK_PERMISSION, params)
        return self._questions.ask(
            session, act.request, asked, act.denied, then, lambda: report("cancelled")
        )


def _is_allowed(answer: Answer) -> bool:
    if isinstance(answer, Failure):
        return False
    outcome: Json = answer.result["outcome"]
    return outcome.get("outcome") == "selected" and outcome.get("optionId") == ALLOW

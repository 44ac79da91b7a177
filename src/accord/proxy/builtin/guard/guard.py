"""`guard`: a permission policy and secret redaction, for agents that never ask.

    * A permission request is answered by a rule if one applies, and by the user otherwise.
    * A request for a file or a terminal is allowed or refused by a rule, or the proxy asks the
      user in the agent's name.
    * Other requests and notifications are forwarded if the protocol has them, or if the program
      lists them.
    * A tool call that a rule forbids and that runs without permission has its turn cancelled, and
      the user is told.
    * Secrets are removed from everything that the agent says (`message_redaction.py`) and reads:
      prompts, files, output of terminals.

What always holds: a message that is not understood is never an approval, and is not forwarded.  A
file that was read with secrets removed is not overwritten with that text.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from accord.client.permissions.path_and_host_patterns import wildcard
from accord.client.permissions.request import PermissionRequest
from accord.client.permissions.rule_matcher import (
    Facts,
    read_rules,
    rules_of,
)
from accord.client.permissions.rules import Effect, Rule
from accord.errors import RequestError
from accord.jsonrpc.error_codes import INVALID_PARAMS, METHOD_NOT_FOUND
from accord.machine.redacted_logs import logger
from accord.machine.redaction.redactor import Redactor
from accord.machine.redaction.secret_patterns import MARK
from accord.proxy.approved_calls import FINAL, ApprovedCalls
from accord.proxy.builtin.conversation_state import SESSIONS_MAX, ConversationState
from accord.proxy.builtin.guard.guarded_session import GuardedSession
from accord.proxy.builtin.guard.message_redaction import ToAgent, ToClient
from accord.proxy.builtin.guard.stream_redaction import StreamRedactor
from accord.proxy.builtin.guard.unambiguous_messages import (
    NOTIFICATIONS,
    REQUESTS,
    check_params,
    make_unambiguous,
)
from accord.proxy.handler_registry import ANY
from accord.proxy.hop import OutgoingFilter
from accord.proxy.message import Message, Neighbour, Response, Sender
from accord.proxy.permission_facts import Json, changes_of, of_call, of_service
from accord.proxy.proxy import Proxy
from accord.schema.method import SESSION_UPDATE

_log = logger("accord.proxy")

OUTPUT: Final = "terminal/output"
REPLAYING: Final = ("session/load", "session/resume", "session/close", "session/delete")
"""Requests during which the agent may replay the history of a session."""
PERMISSION: Final = "session/request_permission"
MCP: Final = "mcp/message"
JUDGED: Final = ("fs/read_text_file", "fs/write_text_file", "terminal/create", MCP)
"""Requests of the agent for something that the client does."""
NOT_RUNNING: Final = frozenset({None, "pending", "failed", "cancelled"})
"""Statuses of tool calls that do nothing (yet); an unknown status counts as running."""

RulesIn = Callable[[str | None], Sequence[Rule]]
"""Returns the rules for a session's folder; None is the folder of a session that nobody opened."""


class Guard:
    """Judges and redacts the messages of one conversation."""

    def __init__(
        self,
        rules_in: RulesIn,
        otherwise: Effect,
        redactor: Redactor | None,
        passing: Sequence[str] = (),
    ) -> None:
        self.state = ConversationState(redactor=redactor)
        self._passing = tuple(passing)
        self._rules_in = rules_in
        self._otherwise: Effect = otherwise
        # The agent may read source code, where names of variables say little about secrets.
        self._content_redactor = None if redactor is None else redactor.by_form
        self._streams = None if redactor is None else StreamRedactor(redactor)
        self._sessions: dict[str, GuardedSession] = {}

    def _session(self, session_id: str) -> GuardedSession:
        known = self._sessions.get(session_id)
        opened = self.state.folders.get(session_id)
        folder = None if opened is None else os.path.realpath(opened)
        roots = tuple(map(os.path.realpath, self.state.roots.get(session_id, ())))
        if known is None or (known.folder, known.roots) != (folder, roots):
            rules = read_rules(self._rules_in(folder))
            known = GuardedSession(folder, rules, ApprovedCalls(folder), roots)
            self._sessions[session_id] = known
            self._forget_strangers()
        return known

    def _forget_strangers(self) -> None:
        """Bound the sessions: an agent may name any number that nobody opened."""
        if len(self._sessions) > SESSIONS_MAX:
            opened = self.state.folders
            stranger = next((one for one in self._sessions if one not in opened), None)
            del self._sessions[next(iter(self._sessions)) if stranger is None else stranger]

    # ---- messages that are not judged

    def asked(self, message: Message) -> None:
        """Check a request of the agent that is not judged."""
        self.state.check(message)
        if not self._is_known(message, REQUESTS):
            said = f"guard: {message.method} is not a request of the protocol and is not forwarded"
            raise RequestError(METHOD_NOT_FOUND, f"{said}; use --pass to allow it by name")
        if message.method in REQUESTS:
            check_params(message, self.state.form.number)
        if message.method == "elicitation/create":
            self.asks(message)

    def told(self, message: Message) -> bool | None:
        """Drop a notification of the agent that cannot be read."""
        is_known = self._is_known(message, NOTIFICATIONS)
        if message.method == MCP:
            # Notifications to an MCP server; calling a tool is a request.
            is_known |= str(message.params.get("method")).startswith("notifications/")
        is_known &= self.state.is_agreed
        if message.method == SESSION_UPDATE:
            update = message.params.get("update")
            is_known &= isinstance(update, dict) and isinstance(update.get("sessionUpdate"), str)
        if not is_known:
            _log.warning("guard: %s cannot be read and is not forwarded", message.method)
        elif message.has_key_twice:
            message.rewrite()
        return None if is_known else False

    def _is_known(self, message: Message, names: frozenset[str]) -> bool:
        method = message.method
        return method in names or any(wildcard(one, method) for one in self._passing)

    # ---- permissions

    async def permission(self, message: Message, forward: Any) -> Any:
        """Answer a permission request by a rule, or let the user answer."""
        self.asks(message)
        make_unambiguous(message)
        session_id = message.session_id or ""
        session, params = self._session(session_id), message.params
        call = self._subject(session, params)
        check_params(message, self.state.form.number)
        request = of_call(session_id, call, params)
        judged = session.judge(request, "ask")
        if judged.effect == "allow":
            # With "always", the agent would remember more than a narrow rule allows.
            broad = not any(read.rule.is_bounded for read in judged.grounds)
            option = request.of_kind("allow_once", *(("allow_always",) if broad else ()))
            if option is not None:
                self._permit(session, request, call, seen=False)
                return _selected(option.option_id)
        if judged.effect == "reject":
            self._refuse(session, call)
            option = request.of_kind("reject_once", "reject_always")
            return _CANCELLED if option is None else _selected(option.option_id)
        if session.is_cancelled:
            return _CANCELLED
        session.calls.open(call)
        try:
            answer = await forward(message)
        finally:
            is_same = session.calls.close(call)
        chosen = request.option(_chosen(answer) or "")
        if chosen is None or not chosen.allows:
            self._refuse(session, call)
        elif is_same:
            self._permit(session, request, call, seen=True)
        return answer

    def _subject(self, session: GuardedSession, params: Json) -> Json:
        """Return the tool call that a permission is for; empty if it is for none.

        Raises:
            RequestError: it is not clear what the permission is for.
        """
        subject, patch = params.get("subject"), params.get("toolCall")
        if subject is not None and patch is not None:
            # Each side might read a different one.
            raise RequestError(INVALID_PARAMS, "guard: a permission has two subjects")
        if self.state.form.has_subject and patch is None:
            if subject is None:
                return {}
            kind = subject.get("type") if isinstance(subject, dict) else None
            if kind == "command" and isinstance(subject.get("command"), str):
                call_id = subject.get("toolCallId")
                return session.calls.told({"toolCallId": call_id}) if call_id else {}
            patch = subject.get("toolCall") if kind == "tool_call" else None
        if not isinstance(patch, dict) or not isinstance(patch.get("toolCallId"), str):
            said = "guard: it is not clear what this permission is for; not forwarded"
            raise RequestError(INVALID_PARAMS, said)
        return session.calls.told(patch)

    def _permit(
        self, session: GuardedSession, request: PermissionRequest, call: Json, *, seen: bool
    ) -> None:
        session.calls.allow(request, call, seen=seen)
        if "toolCallId" in call:
            session.permitted[str(call["toolCallId"])] = call

    def _refuse(self, session: GuardedSession, call: Json) -> None:
        """Refuse a call, and revoke earlier approvals of it."""
        if "toolCallId" in call:
            session.calls.refuse(call)
            session.permitted.pop(str(call["toolCallId"]), None)

    # ---- services

    async def service(self, message: Message, forward: Any) -> Any:
        """Judge a request for a file, a terminal or a tool of the client."""
        make_unambiguous(message)
        check_params(message, self.state.form.number)
        session_id = message.session_id or ""
        session, params = self._session(session_id), message.params
        request = of_service(session_id, message.method, params)
        if request is None:
            return await forward(message)
        self._refuse_marks(session, message)
        is_free = request.kind in ("read", "other")
        judged = session.judge(request, "allow" if is_free else self._otherwise)
        effect, facts = judged.effect, judged.facts
        if effect == "ask" and not session.calls.covers(facts, params.get("content")):
            if session.is_cancelled:
                said = f"guard: the user has cancelled the turn: {request.title}"
                raise RequestError.permission_denied(said)
            effect = await self._ask(message, session, request, facts)
        if effect == "reject":
            raise RequestError.permission_denied(
                f"guard: {request.title} is not permitted{judged.why}"
            )
        return await forward(message)

    def _refuse_marks(self, session: GuardedSession, message: Message) -> None:
        content, path = message.params.get("content"), message.params.get("path")
        if isinstance(content, str) and MARK in content and path in session.redacted:
            raise RequestError.permission_denied(
                f"guard: {path} was read with secrets removed; it is not overwritten with that"
            )

    async def _ask(
        self, message: Message, session: GuardedSession, request: PermissionRequest, facts: Facts
    ) -> Effect:
        """Ask the user in the agent's name."""
        self.asks(message)
        call: Json = {
            "toolCallId": f"guard-{os.urandom(8).hex()}",
            "title": request.title,
            "kind": request.kind,
            "status": "pending",
            "locations": [{"path": path} for path in request.paths],
        }
        if request.command is not None:
            call["rawInput"] = {"command": request.command, "cwd": facts.cwd}
        content = message.params.get("content")
        if request.origin == "write" and isinstance(content, str):
            # Not as a diff, which would mean that the file does not exist yet.
            call["content"] = [{"type": "content", "content": {"type": "text", "text": content}}]
        options = [
            {"optionId": one.option_id, "name": one.name, "kind": one.kind}
            for one in request.options
        ]
        params = {"sessionId": request.session_id, "toolCall": call, "options": options}
        chosen = _chosen(await message.client.request("session/request_permission", params))
        if chosen is not None and chosen.endswith("_always"):
            effect: Effect = "allow" if chosen == "allow_always" else "reject"
            session.rules += read_rules(rules_of(facts, effect, bind_cwd=True))
        return "allow" if chosen in ("allow_once", "allow_always") else "reject"

    # ---- actions without permission

    def update(self, update: Json, message: Message) -> None:
        """Cancel the turn if an update shows that something forbidden is running."""
        session_id = message.session_id or ""
        session = self._session(session_id)
        kind, call_id = update.get("sessionUpdate"), update.get("toolCallId")
        if kind == "subagent_update":
            self.state.adopt(update.get("sessionId"), session_id)
        if kind == "state_update" and update.get("state") == "idle":
            session.end_turn()
        is_past = session.replays > 0
        if kind == "terminal_update" and isinstance(update.get("command"), str) and not is_past:
            # In v2, updates about the agent's own terminals need no tool call.
            call = {"kind": "execute", "rawInput": update, "title": f"Run {update['command']}"}
            self._stop_if_forbidden(session, f"terminal {update.get('terminalId')}", call, message)
        if not isinstance(call_id, str):
            return
        if kind == "tool_call_content_chunk":
            call = session.calls.shown(call_id, update.get("content"))
        else:
            # An update of any kind that names a tool call describes it.
            call = session.calls.told(update)
        is_running = call.get("status") not in NOT_RUNNING
        is_running &= not (is_past and call.get("status") in FINAL)
        if is_running and not _is_same(session.permitted.get(call_id), call):
            self._stop_if_forbidden(session, call_id, call, message)

    def _stop_if_forbidden(
        self, session: GuardedSession, what_id: str, call: Json, message: Message
    ) -> None:
        session_id = message.session_id or ""
        request = of_call(session_id, call)
        judged = session.judge(request, "allow")
        if judged.effect == "reject" and what_id not in session.stopped:
            session.stopped.add(what_id)
            self.asks(message)
            message.agent.notify("session/cancel", {"sessionId": session_id})
            what = request.title or request.kind
            said = f"guard: the turn was cancelled because this is not permitted: {what}"
            said += judged.why
            self.state.say(message, session_id, said)

    def cancelled(self, message: Message) -> None:
        """Revoke all approvals: the user cancels the turn."""
        session = self._sessions.get(message.session_id or "")
        if session is not None:
            session.cancel()

    # ---- secrets

    def tells(self, message: Message) -> bool | None:
        """Redact a notification of the agent; False if all of it is held back."""
        return None if self._streams is None else self._streams.told(message)

    def asks(self, message: Message) -> None:
        """Send held-back text before the agent asks the user something."""
        if self._streams is not None:
            self._streams.asks(message)

    async def prompted(self, message: Message, forward: Any) -> Any:
        """Redact and forward a prompt; its answer comes after all held-back text."""
        if self._content_redactor is not None and "prompt" in message.params:
            message.params["prompt"] = self._content_redactor.value(message.params["prompt"])
        session = self._session(message.session_id or "")
        session.prompts += 1
        is_over = True
        try:
            answer = await forward(message)
            # In v2 the answer does not end the turn; the idle state does.
            is_over = self.state.form.answer_ends_turn
        finally:
            session.prompts -= 1
            if is_over:
                session.end_turn()
                self._turn_ends(message)
        return answer

    async def replay(self, message: Message, forward: Any) -> Any:
        """Forward a request that replays the history of a session."""
        session = self._session(message.session_id or "")
        session.replays += 1
        try:
            return await forward(message)
        finally:
            session.replays -= 1
            self._turn_ends(message)

    def _turn_ends(self, message: Message) -> None:
        if self._streams is not None:
            self._streams.turn_ends(message)

    def agent_gone(self, client: Neighbour) -> None:
        """Send all held-back text: the agent is gone."""
        if self._streams is not None:
            self._streams.agent_gone(client)

    def read(self, response: Response) -> None:
        """Redact a text that the agent reads."""
        result = response.result
        if self._content_redactor is None or not isinstance(result, dict):
            return
        # A running command may have written half of a secret; the next answer has the rest.
        goes_on = response.request.method == OUTPUT and result.get("exitStatus") is None
        without = self._content_redactor.so_far if goes_on else self._content_redactor.text
        for key in ("content", "output"):
            text = result.get(key)
            if isinstance(text, str) and (kept := without(text)) != text:
                result[key] = kept
                request = response.request
                session = self._session(request.session_id or "")
                session.redacted.add(str(request.params.get("path")))


def guard(
    rules: RulesIn | Iterable[Rule] = (),
    *,
    otherwise: Effect = "ask",
    redact: bool = True,
    secrets: Iterable[str] = (),
    passing: Iterable[str] = (),
) -> Proxy:
    """Return a proxy that applies rules, given for all folders or as a function of the folder.

    `otherwise` applies to file writes and terminals that no rule covers.  `secrets` are values to
    remove in addition to everything that looks like a secret.  `passing` lists methods outside the
    protocol that are forwarded unjudged; `*` stands for any part of a name.
    """
    rules_in = rules if callable(rules) else _everywhere(rules)
    redactor = Redactor(secrets) if redact else None
    filters: dict[Sender, OutgoingFilter] = {}
    if redactor is not None:
        filters = {"client": ToClient(redactor), "agent": ToAgent(redactor)}
    proxy = Proxy("guard", outgoing_filters=filters)
    guarding = Guard(rules_in, otherwise, redactor, tuple(passing))
    guarding.state.watch(proxy)
    checked = guarding.state.checked
    proxy.on_request(ANY, of="agent")(guarding.asked)
    proxy.on_request(PERMISSION, of="agent")(checked(guarding.permission))
    for method in JUDGED:
        proxy.on_request(method, of="agent")(checked(guarding.service))
    proxy.on_notification(ANY, of="agent")(guarding.told)
    proxy.on_notification("session/cancel", of="client")(guarding.cancelled)
    proxy.on_update(ANY)(guarding.update)
    proxy.on_request("session/prompt", of="client")(checked(guarding.prompted))
    for method in REPLAYING:
        proxy.on_request(method, of="client")(checked(guarding.replay))
    if redact:
        proxy.on_notification("*", of="agent")(guarding.tells)
        for method in ("fs/read_text_file", OUTPUT):
            proxy.on_response(method, of="agent")(guarding.read)
        proxy.on_end()(guarding.agent_gone)
    return proxy


def _is_same(permitted: Json | None, call: Json) -> bool:
    """Whether a call still does what was permitted; it may read more files."""
    if permitted is None:
        return False
    before, now = of_call("", permitted), of_call("", call)
    is_act = (before.kind, before.command, before.mcp_tool, before.hosts)
    changes = set(changes_of(call)) <= set(changes_of(permitted))
    return changes and is_act == (now.kind, now.command, now.mcp_tool, now.hosts)


def _everywhere(rules: Iterable[Rule]) -> RulesIn:
    fixed = tuple(rules)
    # Read now, so that an invalid rule is reported here and not in the first session.
    read_rules(fixed)
    return lambda folder: fixed


_CANCELLED: Final = {"outcome": {"outcome": "cancelled"}}


def _selected(option_id: str) -> Json:
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


def _chosen(answer: Any) -> str | None:
    outcome = answer.get("outcome") if isinstance(answer, dict) else None
    chosen = outcome.get("optionId") if isinstance(outcome, dict) else None
    is_selected = isinstance(outcome, dict) and outcome.get("outcome") == "selected"
    return chosen if is_selected and isinstance(chosen, str) else None

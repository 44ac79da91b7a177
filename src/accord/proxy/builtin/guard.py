"""`guard`: a permission policy and secret redaction, for agents that never ask.

    * A permission that the agent asks for is granted or refused where a rule says so, and goes to
      the user otherwise.
    * Files and terminals that the agent wants from its client are granted, refused, or asked for
      in its stead.
    * Other requests and notifications of the agent pass if the protocol has them, or if they are
      let through by name.
    * A tool call that a rule forbids and that runs all the same, without having been permitted,
      has its turn cancelled, and the user is told.
    * Keys and values of secret variables are taken out of all that the agent says
      (`message_redaction.py`) and of what it reads: prompts, files, output of terminals.

What always holds: what is not understood is never approval, and does not pass.  A file that was
read with something taken out is not written over.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from accord.client.permissions.patterns import wildcard
from accord.client.permissions.policy import (
    Facts,
    ReadRule,
    judge,
    read_rules,
    rules_of,
)
from accord.client.permissions.request import PermissionRequest
from accord.client.permissions.rules import Effect, Rule
from accord.errors import RequestError
from accord.jsonrpc.error_codes import INVALID_PARAMS, METHOD_NOT_FOUND
from accord.machine.logs import logger
from accord.machine.redaction.redactor import MARK, Redactor
from accord.proxy.approved_calls import FINAL, ApprovedCalls
from accord.proxy.builtin.conversation_state import SESSIONS_MAX, Agreed
from accord.proxy.builtin.message_redaction import ToAgent, ToClient
from accord.proxy.builtin.permission_facts import Json, changes_of, of_call, of_service
from accord.proxy.builtin.stream_redaction import Pieces
from accord.proxy.handler_registry import ANY
from accord.proxy.message import Message, Neighbour, Response
from accord.proxy.proxy import Proxy
from accord.schema.codec import Invalid, decode
from accord.schema.method import SESSION_UPDATE
from accord.schema.v1 import methods as v1_methods
from accord.schema.v2 import methods as v2_methods

_log = logger("accord.proxy")

OUTPUT: Final = "terminal/output"
REPLAYING: Final = ("session/load", "session/resume", "session/close", "session/delete")
"""Requests whose answer ends what is told of a session for now."""
ASKING: Final = "session/request_permission"
MCP: Final = "mcp/message"
JUDGED: Final = ("fs/read_text_file", "fs/write_text_file", "terminal/create", MCP)
"""Requests of the agent by which its client does something for it."""
_METHODS: Final = (*v1_methods.CLIENT_METHODS.values(), *v2_methods.CLIENT_METHODS.values())
_FORMS: Final = (
    v2_methods.CLIENT_METHODS | v1_methods.CLIENT_METHODS,
    v1_methods.CLIENT_METHODS | v2_methods.CLIENT_METHODS,
)
"""What the params of a request look like, in v1 and in v2; each with the other's methods too."""
REQUESTS: Final = frozenset(one.name for one in _METHODS if one.kind != "notification")
"""What an agent may ask its client by the protocol.  Of those that are not judged, none does more
than go on with something that was."""
NOTIFICATIONS: Final = frozenset(one.name for one in _METHODS if one.kind != "request")
"""What it may tell: a request without an id would pass unjudged, and some clients still do it."""
NOT_RUNNING: Final = frozenset({None, "pending", "failed", "cancelled"})
"""Statuses of calls that do nothing (yet); words that nobody knows count as running."""

_KEYS: Final = {
    key.lower(): key
    for key in (
        *("sessionId", "path", "content", "command", "args", "env", "cwd", "method", "params"),
        *("serverId", "toolCall", "subject", "options", "toolCallId", "kind", "title", "type"),
        *("rawInput", "locations", "name", "value", "optionId", "changes", "oldPath", "operation"),
        *("newText", "oldText", "patch", "text"),
    )
}
"""What is judged by, as the protocol writes it."""
_OTHERS: Final = frozenset({"rawInput", "rawOutput", "params", "_meta"})
"""What is not the protocol's inside."""

RulesIn = Callable[[str | None], Sequence[Rule]]
"""The rules of a session by its folder; None stands for a session that nobody has opened."""


class Judgement(NamedTuple):
    """What the rules say, about what, and the rules that this rests on."""

    effect: Effect
    facts: Facts
    grounds: tuple[ReadRule, ...]

    @property
    def why(self) -> str:
        """Which rule refuses a command, to be put behind a sentence about it."""
        is_rule = self.effect == "reject" and bool(self.grounds)
        refusal = self.grounds[0].refusal(self.facts) if is_rule else None
        return "" if refusal is None else f"; {refusal}"


@dataclass(slots=True)
class Watched:
    """What is known of a session; one that nobody has opened has no folders."""

    folder: str | None
    rules: list[ReadRule]
    calls: ApprovedCalls
    roots: tuple[str, ...] = ()
    # Calls as they were when they were permitted.
    permitted: dict[str, Json] = field(default_factory=dict)
    stopped: set[str] = field(default_factory=set)
    # Files of which something was taken out when they were read.
    redacted: set[str] = field(default_factory=set)
    # Prompts that are open, whether the user has stopped them, and requests to tell the past.
    prompts: int = 0
    is_cancelled: bool = False
    replays: int = 0

    def judge(self, request: PermissionRequest, otherwise: Effect) -> Judgement:
        """What the rules say about a request."""
        facts = Facts.of(request, self.folder, self.roots)
        effect, grounds = judge(self.rules, (), facts, otherwise)
        return Judgement(effect, facts, grounds)

    def end_turn(self) -> None:
        """Forget what was approved."""
        self.calls.clear()
        self.permitted.clear()
        self.is_cancelled &= self.prompts > 0

    def cancel(self) -> None:
        """The user wants the agent to stop: nobody is asked until it has."""
        self.end_turn()
        self.is_cancelled = self.prompts > 0


class Guard:
    """Watches one conversation."""

    def __init__(
        self,
        rules_in: RulesIn,
        otherwise: Effect,
        redactor: Redactor | None,
        passing: Sequence[str] = (),
    ) -> None:
        self.agreed = Agreed(redactor=redactor)
        self._passing = tuple(passing)
        self._rules_in = rules_in
        self._otherwise: Effect = otherwise
        # What it reads may be source code, where names say little.
        self._reading = None if redactor is None else redactor.by_form
        self._pieces = None if redactor is None else Pieces(redactor)
        self._sessions: dict[str, Watched] = {}

    def _session(self, session_id: str) -> Watched:
        known = self._sessions.get(session_id)
        opened = self.agreed.folders.get(session_id)
        folder = None if opened is None else os.path.realpath(opened)
        roots = tuple(map(os.path.realpath, self.agreed.roots.get(session_id, ())))
        if known is None or (known.folder, known.roots) != (folder, roots):
            rules = read_rules(self._rules_in(folder))
            known = Watched(folder, rules, ApprovedCalls(folder), roots)
            self._sessions[session_id] = known
            self._forget_strangers()
        return known

    def _forget_strangers(self) -> None:
        """Agents may name any number of sessions that nobody has opened."""
        if len(self._sessions) > SESSIONS_MAX:
            opened = self.agreed.folders
            stranger = next((one for one in self._sessions if one not in opened), None)
            del self._sessions[next(iter(self._sessions)) if stranger is None else stranger]

    # ---- what cannot be judged

    def asked(self, message: Message) -> None:
        """A request of the agent that is not judged."""
        self.agreed.check(message)
        if not self._is_known(message, REQUESTS):
            said = f"guard: {message.method} is no request of the protocol and is not passed on"
            raise RequestError(METHOD_NOT_FOUND, f"{said}; --pass lets it through by name")
        if message.method in REQUESTS:
            self._check_form(message)
        if message.method == "elicitation/create":
            self.asks(message)

    def told(self, message: Message) -> bool | None:
        """A notification of the agent; one that cannot be read is dropped."""
        is_known = self._is_known(message, NOTIFICATIONS)
        if message.method == MCP:
            # What a server is told; calling a tool is a request.
            is_known |= str(message.params.get("method")).startswith("notifications/")
        is_known &= self.agreed.version != 0
        if message.method == SESSION_UPDATE:
            update = message.params.get("update")
            is_known &= isinstance(update, dict) and isinstance(update.get("sessionUpdate"), str)
        if not is_known:
            _log.warning("guard: %s cannot be read and is not passed on", message.method)
        elif message.has_key_twice:
            message.rewrite()
        return None if is_known else False

    def _is_known(self, message: Message, names: frozenset[str]) -> bool:
        method = message.method
        return method in names or any(wildcard(one, method) for one in self._passing)

    # ---- permissions

    async def permission(self, message: Message, forward: Any) -> Any:
        """The agent asks: a rule answers, or the user."""
        self.asks(message)
        _read_alike(message)
        session_id = message.session_id or ""
        session, params = self._session(session_id), message.params
        call = self._subject(session, params)
        self._check_form(message)
        request = of_call(session_id, call, params)
        judged = session.judge(request, "ask")
        if judged.effect == "allow":
            # "Always" would have the agent remember more than a narrow rule allows.
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

    def _subject(self, session: Watched, params: Json) -> Json:
        """The tool call that a permission is asked for; empty where it is for none.

        Raises:
            RequestError: it cannot be told what the permission is for.
        """
        subject, patch = params.get("subject"), params.get("toolCall")
        if subject is not None and patch is not None:
            # One side would read the one, and the other side the other.
            raise RequestError(INVALID_PARAMS, "guard: a permission has two subjects")
        if self.agreed.version == 2 and patch is None:
            if subject is None:
                return {}
            kind = subject.get("type") if isinstance(subject, dict) else None
            if kind == "command" and isinstance(subject.get("command"), str):
                call_id = subject.get("toolCallId")
                return session.calls.told({"toolCallId": call_id}) if call_id else {}
            patch = subject.get("toolCall") if kind == "tool_call" else None
        if not isinstance(patch, dict) or not isinstance(patch.get("toolCallId"), str):
            said = "guard: it cannot be read what this permission is for; it is not passed on"
            raise RequestError(INVALID_PARAMS, said)
        return session.calls.told(patch)

    def _permit(
        self, session: Watched, request: PermissionRequest, call: Json, *, seen: bool
    ) -> None:
        session.calls.allow(request, call, seen=seen)
        if "toolCallId" in call:
            session.permitted[str(call["toolCallId"])] = call

    def _refuse(self, session: Watched, call: Json) -> None:
        """A no takes back what was approved of the same call before."""
        if "toolCallId" in call:
            session.calls.refuse(call)
            session.permitted.pop(str(call["toolCallId"]), None)

    def _check_form(self, message: Message) -> None:
        """Refuse params in another form than the protocol's: others may read more in them.

        Raises:
            RequestError: says where and why.
        """
        form = _FORMS[self.agreed.version - 1].get(message.method)
        try:
            if form is not None:
                decode(form.params, message.encoded)
        except Invalid as error:
            raise RequestError.invalid_params(f"guard: {error.reason}", error.path) from None

    # ---- services

    async def service(self, message: Message, forward: Any) -> Any:
        """The agent wants a file, a terminal or a tool of its client's."""
        _read_alike(message)
        self._check_form(message)
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

    def _refuse_marks(self, session: Watched, message: Message) -> None:
        content, path = message.params.get("content"), message.params.get("path")
        if isinstance(content, str) and MARK in content and path in session.redacted:
            raise RequestError.permission_denied(
                f"guard: {path} was read with secrets taken out, and is not written over with that"
            )

    async def _ask(
        self, message: Message, session: Watched, request: PermissionRequest, facts: Facts
    ) -> Effect:
        """Ask the user in the agent's stead."""
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
            # Not as a diff, which would say that there is no such file yet.
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

    # ---- what runs without having asked

    def update(self, update: Json, message: Message) -> None:
        """Something is told of a session; what is forbidden and runs is stopped with its turn."""
        session_id = message.session_id or ""
        session = self._session(session_id)
        kind, call_id = update.get("sessionUpdate"), update.get("toolCallId")
        if kind == "subagent_update":
            self.agreed.adopt(update.get("sessionId"), session_id)
        if kind == "state_update" and update.get("state") == "idle":
            session.end_turn()
        is_past = session.replays > 0
        if kind == "terminal_update" and isinstance(update.get("command"), str) and not is_past:
            # In v2 the agent's own terminals are told of without a call.
            call = {"kind": "execute", "rawInput": update, "title": f"Run {update['command']}"}
            self._stop_if_forbidden(session, f"terminal {update.get('terminalId')}", call, message)
        if not isinstance(call_id, str):
            return
        if kind == "tool_call_content_chunk":
            call = session.calls.shown(call_id, update.get("content"))
        else:
            # Of whatever kind: what names a call tells of it.
            call = session.calls.told(update)
        is_running = call.get("status") not in NOT_RUNNING
        is_running &= not (is_past and call.get("status") in FINAL)
        if is_running and not _is_same(session.permitted.get(call_id), call):
            self._stop_if_forbidden(session, call_id, call, message)

    def _stop_if_forbidden(
        self, session: Watched, what_id: str, call: Json, message: Message
    ) -> None:
        session_id = message.session_id or ""
        request = of_call(session_id, call)
        judged = session.judge(request, "allow")
        if judged.effect == "reject" and what_id not in session.stopped:
            session.stopped.add(what_id)
            self.asks(message)
            message.agent.notify("session/cancel", {"sessionId": session_id})
            what = request.title or request.kind
            said = f"guard: the turn is cancelled, because this is not permitted: {what}"
            said += judged.why
            self.agreed.say(message, session_id, said)

    def cancelled(self, message: Message) -> None:
        """The user wants the agent to stop, and so nothing more of what was approved."""
        session = self._sessions.get(message.session_id or "")
        if session is not None:
            session.cancel()

    # ---- secrets

    def tells(self, message: Message) -> bool | None:
        """What the agent tells."""
        return None if self._pieces is None else self._pieces.told(message)

    def asks(self, message: Message) -> None:
        """What the agent asks the user comes behind what it said."""
        if self._pieces is not None:
            self._pieces.asks(message)

    async def prompted(self, message: Message, forward: Any) -> Any:
        """What the user says to the agent; the answer comes behind all that the agent told."""
        if self._reading is not None and "prompt" in message.params:
            message.params["prompt"] = self._reading.value(message.params["prompt"])
        session = self._session(message.session_id or "")
        session.prompts += 1
        is_over = True
        try:
            answer = await forward(message)
            # In v2 the answer does not end the turn; the idle state does.
            is_over = self.agreed.version == 1
        finally:
            session.prompts -= 1
            if is_over:
                session.end_turn()
                self._turn_ends(message)
        return answer

    async def told_before(self, message: Message, forward: Any) -> Any:
        """What the agent tells of a session before this is answered is all of it."""
        session = self._session(message.session_id or "")
        session.replays += 1
        try:
            return await forward(message)
        finally:
            session.replays -= 1
            self._turn_ends(message)

    def _turn_ends(self, message: Message) -> None:
        if self._pieces is not None:
            self._pieces.turn_ends(message)

    def agent_gone(self, client: Neighbour) -> None:
        """Nothing that the agent told is kept back any longer."""
        if self._pieces is not None:
            self._pieces.agent_gone(client)

    def read(self, response: Response) -> None:
        """What the agent gets to read."""
        result = response.result
        if self._reading is None or not isinstance(result, dict):
            return
        # A command that runs on may be in the middle of a secret; the next look shows the rest.
        goes_on = response.request.method == OUTPUT and result.get("exitStatus") is None
        without = self._reading.so_far if goes_on else self._reading.text
        for key in ("content", "output"):
            text = result.get(key)
            if isinstance(text, str) and (kept := without(text)) != text:
                result[key] = kept
                asked = response.request
                session = self._session(asked.session_id or "")
                session.redacted.add(str(asked.params.get("path")))


def guard(
    rules: RulesIn | Iterable[Rule] = (),
    *,
    otherwise: Effect = "ask",
    redact: bool = True,
    secrets: Iterable[str] = (),
    passing: Iterable[str] = (),
) -> Proxy:
    """A proxy that judges by rules, given for all folders or by the session's folder.

    `otherwise` is for files to write and terminals that no rule speaks of.  `secrets` are values
    to be taken out besides what is a secret by its form.  `passing` names methods of agents that
    are not the protocol's and pass unjudged all the same; `*` stands for any part of a name.
    """
    rules_in = rules if callable(rules) else _everywhere(rules)
    redactor = Redactor(secrets) if redact else None
    proxy = _Screened(redactor)
    watched = Guard(rules_in, otherwise, redactor, tuple(passing))
    watched.agreed.watch(proxy)
    checked = watched.agreed.checked
    proxy.on_request(ANY, of="agent")(watched.asked)
    proxy.on_request(ASKING, of="agent")(checked(watched.permission))
    for method in JUDGED:
        proxy.on_request(method, of="agent")(checked(watched.service))
    proxy.on_notification(ANY, of="agent")(watched.told)
    proxy.on_notification("session/cancel", of="client")(watched.cancelled)
    proxy.on_update(ANY)(watched.update)
    proxy.on_request("session/prompt", of="client")(checked(watched.prompted))
    for method in REPLAYING:
        proxy.on_request(method, of="client")(checked(watched.told_before))
    if redact:
        proxy.on_notification("*", of="agent")(watched.tells)
        for method in ("fs/read_text_file", OUTPUT):
            proxy.on_response(method, of="agent")(watched.read)
        proxy.on_end()(watched.agent_gone)
    return proxy


class _Screened(Proxy):
    """A proxy that takes secrets out of all that goes to its client."""

    def __init__(self, redactor: Redactor | None) -> None:
        super().__init__("guard")
        if redactor is not None:
            self._handlers.outgoing_filters = {"client": ToClient(redactor), "agent": ToAgent(redactor)}


def _is_same(permitted: Json | None, call: Json) -> bool:
    """Whether a call still does what was permitted; it may well look at more places."""
    if permitted is None:
        return False
    before, now = of_call("", permitted), of_call("", call)
    is_act = (before.kind, before.command, before.mcp_tool, before.hosts)
    changes = set(changes_of(call)) <= set(changes_of(permitted))
    return changes and is_act == (now.kind, now.command, now.mcp_tool, now.hosts)


def _read_alike(message: Message) -> None:
    """Have both neighbours read what was judged: readers differ in keys that come twice.

    Raises:
        RequestError: a key that some readers take for another one, since they ignore case.
    """
    _check_keys(message.params)
    message.rewrite()


def _check_keys(value: object) -> None:
    if isinstance(value, list):
        for one in value:
            _check_keys(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            known = _KEYS.get(key.lower())
            if known is not None and key != known:
                said = f"guard: {key!r} may be read as {known}; it is not passed on"
                raise RequestError(INVALID_PARAMS, said)
            if key not in _OTHERS:
                _check_keys(one)


def _everywhere(rules: Iterable[Rule]) -> RulesIn:
    fixed = tuple(rules)
    # Told now, and not with the first session, where one of them cannot be.
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


__all__ = ["guard"]

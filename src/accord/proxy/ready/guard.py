"""`guard`: a permission policy and secret redaction, for agents that never ask.

    * A permission that the agent asks for is granted or refused where a rule says so, and goes to
      the user otherwise.
    * Files and terminals that the agent wants from its client are granted, refused, or asked for
      in its stead.
    * A tool call that a rule forbids and that runs all the same, without having been permitted,
      has its turn cancelled, and the user is told.
    * Keys and values of secret variables are taken out of all that the agent says (`screens.py`)
      and of what it reads: prompts, files, output of terminals.

What always holds: what is not understood is never approval.  A file that was read with something
taken out is not written over.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from accord.client.asking import OWN_OPTIONS, PermissionRequest
from accord.client.policy import Effect, Facts, ReadRule, Rule, judge, read_rules, rules_of
from accord.errors import RequestError
from accord.machine.redaction import MARK, Redactor
from accord.proxy.message import Message, Neighbour, Response
from accord.proxy.proxy import Proxy
from accord.proxy.ready.agreed import Agreed
from accord.proxy.ready.facts import Json, merged, of_call, of_service
from accord.proxy.ready.holding import Pieces
from accord.proxy.ready.screens import ToAgent, ToClient

OUTPUT: Final = "terminal/output"
REPLAYING: Final = ("session/load", "session/resume", "session/close", "session/delete")
"""Requests whose answer ends what is told of a session for now."""
SERVICES: Final = ("fs/read_text_file", "fs/write_text_file", "terminal/create")
CALLS_MAX: Final = 1024
"""Tool calls of a session that are remembered; the oldest are forgotten first."""

RulesIn = Callable[[str], Sequence[Rule]]


@dataclass(slots=True)
class Watched:
    """What is known of a session."""

    folder: str
    rules: list[ReadRule]
    calls: dict[str, Json] = field(default_factory=dict)
    permitted: set[str] = field(default_factory=set)
    stopped: set[str] = field(default_factory=set)
    # Files of which something was taken out when they were read.
    redacted: set[str] = field(default_factory=set)

    def judge(self, request: PermissionRequest, otherwise: Effect) -> tuple[Effect, Facts]:
        """What the rules say, and about what."""
        facts = Facts.of(request, self.folder)
        effect, _ = judge(self.rules, (), facts, otherwise)
        return effect, facts

    def call(self, news: Json) -> Json:
        """A tool call as it is known now."""
        call_id = str(news.get("toolCallId"))
        known = self.calls.pop(call_id, {})
        self.calls[call_id] = now = merged(known, news)
        if len(self.calls) > CALLS_MAX:
            del self.calls[next(iter(self.calls))]
        return now


class Guard:
    """Watches one conversation."""

    def __init__(self, rules_in: RulesIn, otherwise: Effect, redactor: Redactor | None) -> None:
        self.agreed = Agreed(redactor=redactor)
        self._rules_in = rules_in
        self._otherwise: Effect = otherwise
        # What it reads may be source code, where names say little.
        self._reading = None if redactor is None else redactor.by_form
        self._pieces = None if redactor is None else Pieces(redactor)
        self._sessions: dict[str, Watched] = {}

    def _session(self, session_id: str) -> Watched:
        known = self._sessions.get(session_id)
        folder = os.path.realpath(self.agreed.folders.get(session_id, "/"))
        if known is None or known.folder != folder:
            known = Watched(folder, read_rules(self._rules_in(folder)))
            self._sessions[session_id] = known
        return known

    # ---- permissions

    async def permission(self, message: Message, forward: Any) -> Any:
        """The agent asks: a rule answers, or the user."""
        self.asks(message)
        session_id = message.session_id or ""
        session, params = self._session(session_id), message.params
        subject = params.get("subject")
        patch = subject.get("toolCall") if isinstance(subject, dict) else params.get("toolCall")
        call = session.call(patch) if isinstance(patch, dict) else {}
        request = of_call(session_id, call, params)
        effect, _ = session.judge(request, "ask")
        if effect == "allow":
            option = request.of_kind("allow_once", "allow_always")
            if option is not None:
                self._permit(session, call)
                return _selected(option.option_id)
        if effect == "reject":
            option = request.of_kind("reject_once", "reject_always")
            return _CANCELLED if option is None else _selected(option.option_id)
        answer = await forward(message)
        chosen = request.option(_chosen(answer) or "")
        if chosen is not None and chosen.allows:
            self._permit(session, call)
        return answer

    def _permit(self, session: Watched, call: Json) -> None:
        if "toolCallId" in call:
            session.permitted.add(str(call["toolCallId"]))

    # ---- services

    async def service(self, message: Message, forward: Any) -> Any:
        """The agent wants a file or a terminal."""
        session_id = message.session_id or ""
        session = self._session(session_id)
        request = of_service(session_id, message.method, message.params)
        if request is None:
            return await forward(message)
        self._refuse_marks(session, message)
        otherwise: Effect = "allow" if request.kind == "read" else self._otherwise
        effect, facts = session.judge(request, otherwise)
        if effect == "ask" and not self._is_covered(session, facts):
            effect = await self._ask(message, session, request, facts)
        if effect == "reject":
            raise RequestError.permission_denied(f"guard: {request.title} is not permitted")
        return await forward(message)

    def _refuse_marks(self, session: Watched, message: Message) -> None:
        content, path = message.params.get("content"), message.params.get("path")
        if isinstance(content, str) and MARK in content and path in session.redacted:
            raise RequestError.permission_denied(
                f"guard: {path} was read with secrets taken out, and is not written over with that"
            )

    def _is_covered(self, session: Watched, facts: Facts) -> bool:
        """Whether a call that the user permitted is about the same."""
        for call_id in session.permitted:
            about = Facts.of(of_call("", session.calls.get(call_id, {})), session.folder)
            if facts.command is not None:
                if about.command is not None and facts.command.same(about.command):
                    return True
            elif facts.paths and about.kind in ("edit", "delete", "move"):
                known = {path.real for path in about.paths if path is not None}
                if all(path is not None and path.real in known for path in facts.paths):
                    return True
        return False

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
            call["rawInput"] = {"command": request.command}
        options = [
            {"optionId": one.option_id, "name": one.name, "kind": one.kind} for one in OWN_OPTIONS
        ]
        params = {"sessionId": request.session_id, "toolCall": call, "options": options}
        chosen = _chosen(await message.client.request("session/request_permission", params))
        if chosen is not None and chosen.endswith("_always"):
            effect: Effect = "allow" if chosen == "allow_always" else "reject"
            session.rules += read_rules(rules_of(facts, effect, bind_cwd=False))
        return "allow" if chosen in ("allow_once", "allow_always") else "reject"

    # ---- what runs without having asked

    def tool_call(self, update: Json, message: Message) -> None:
        """A tool call is told of; one that is forbidden and runs is stopped with its turn."""
        session_id = message.session_id or ""
        session = self._session(session_id)
        call = session.call(update)
        call_id = str(call.get("toolCallId"))
        status = call.get("status")
        if status not in ("in_progress", "completed") or call_id in session.permitted:
            return
        request = of_call(session_id, call)
        effect, _ = session.judge(request, "allow")
        if effect == "reject" and call_id not in session.stopped:
            session.stopped.add(call_id)
            self.asks(message)
            message.agent.notify("session/cancel", {"sessionId": session_id})
            what = request.title or request.kind
            said = f"guard: the turn is cancelled, because this is not permitted: {what}"
            self.agreed.say(message, session_id, said)

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
        try:
            answer = await forward(message)
        except BaseException:
            self._turn_ends(message)
            raise
        # In v2 a turn is not over with the answer; it says by itself when it is.
        if self.agreed.version == 1:
            self._turn_ends(message)
        return answer

    async def told_before(self, message: Message, forward: Any) -> Any:
        """What the agent tells of a session before this is answered is all of it."""
        try:
            return await forward(message)
        finally:
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
) -> Proxy:
    """A proxy that judges by rules, given for all folders or by the session's folder.

    `otherwise` is for files to write and terminals that no rule speaks of.  `secrets` are values
    to be taken out besides what is a secret by its form.
    """
    rules_in = rules if callable(rules) else _everywhere(rules)
    redactor = Redactor(secrets) if redact else None
    proxy = _Screened(redactor)
    watched = Guard(rules_in, otherwise, redactor)
    watched.agreed.watch(proxy)
    proxy.on_request("session/request_permission", of="agent")(watched.permission)
    for method in SERVICES:
        proxy.on_request(method, of="agent")(watched.service)
    for kind in ("tool_call", "tool_call_update"):
        proxy.on_update(kind)(watched.tool_call)
    if redact:
        proxy.on_notification("*", of="agent")(watched.tells)
        proxy.on_request("elicitation/create", of="agent")(watched.asks)
        proxy.on_request("session/prompt", of="client")(watched.prompted)
        for method in REPLAYING:
            proxy.on_request(method, of="client")(watched.told_before)
        for method in ("fs/read_text_file", OUTPUT):
            proxy.on_response(method, of="agent")(watched.read)
        proxy.on_end()(watched.agent_gone)
    return proxy


class _Screened(Proxy):
    """A proxy that takes secrets out of all that goes to its client."""

    def __init__(self, redactor: Redactor | None) -> None:
        super().__init__("guard")
        if redactor is not None:
            self._handlers.screens = {"client": ToClient(redactor), "agent": ToAgent(redactor)}


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

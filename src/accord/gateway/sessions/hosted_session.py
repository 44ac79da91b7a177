"""A session that outlives its clients' connections and its agent's process.

What always holds
    * What the agent says is in the log before any client sees it.
    * A prompt is in the log before the agent gets it, and is sent to the agent once at most.
    * Each request of a client is answered once, behind every update that came before the answer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

import anyio
from anyio.abc import TaskGroup

from accord.errors import AccordError, RequestFailed
from accord.gateway.agents.agent_process import AgentProcess, Answer
from accord.gateway.configuration.rights import Role
from accord.gateway.sessions.attachment import Attachment, Client
from accord.gateway.sessions.log_events import (
    ANSWER,
    MEMBERS,
    NOTIFICATION,
    PROMPT,
    REMARK,
    UPDATE,
    Event,
    body_of,
)
from accord.gateway.sessions.session_facts import SessionFacts
from accord.gateway.sessions.session_writer import Log, SessionWriter
from accord.gateway.sessions.shared_requests import ROLE_TO_ANSWER, SharedRequests
from accord.jsonrpc.error_codes import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    REQUEST_CANCELLED,
)
from accord.machine.redacted_logs import logger
from accord.proxy.hop import OpenRequest
from accord.proxy.request_forward import pass_on_cancel
from accord.schema.codec import encode, to_python
from accord.schema.method import SESSION_UPDATE
from accord.schema.struct import Raw

_log = logger("accord.gateway")

PROMPTS_WAITING_MAX: Final = 16
AUTHOR_META: Final = "accord/author"


class Host(Protocol):
    """What a session needs of the gateway."""

    tasks: TaskGroup

    async def revive(self, session: HostedSession) -> AgentProcess:
        """Start a process for a session and open the session there.

        Raises:
            RequestFailed: the agent cannot continue the session.
            SpawnFailed: it cannot be started.
        """
        ...

    def changed(self, session: HostedSession) -> None:
        """Store the facts of a session."""
        ...

    def idle(self, session: HostedSession) -> None:
        """Take notice that nobody follows a session, or that its turn is over."""
        ...

    def failed(self, session: HostedSession, error: Exception) -> None:
        """Take notice that the log of a session cannot be written."""
        ...


@dataclass
class Prompt:
    """One prompt: who sent it, and the request that is answered at its end."""

    session: HostedSession
    attachment: Attachment
    request: OpenRequest
    params: dict[str, Any]
    seq: int = 0
    call_id: int = 0


class HostedSession:
    """Guards: of the prompts of a v1 agent, one at most runs."""

    def __init__(self, facts: SessionFacts, log: Log, host: Host, *, last_seq: int = 0) -> None:
        self.facts = facts
        self.log = log
        self.process: AgentProcess | None = None
        self.attachments: list[Attachment] = []
        self.primary: Attachment | None = None
        self.is_opening = False
        """While the agent opens the session again, what it replays is in the log already."""
        self._host = host
        self._waiting: deque[Prompt] = deque()
        self._running: Prompt | None = None
        self._sent: dict[int, Prompt] = {}
        # v2: prompts whose echo has not come yet, in the order of their sending.
        self._unechoed: deque[Prompt] = deque()
        self._turn_ended = anyio.Event()
        self._state: dict[str, Any] | None = None
        self._writer = SessionWriter(
            log,
            host.tasks,
            last_seq=last_seq,
            written=self._written,
            failed=self._failed,
            slow_down=self._slow_down,
        )
        self.shared = SharedRequests(self._put, lambda: list(self.attachments), self._tell_settled)
        self._numbered = last_seq

    # ---- the log

    @property
    def last_seq(self) -> int:
        """The number of the last event in the log."""
        return self._writer.last_seq

    @property
    def session_id(self) -> str:
        return self.facts.session_id

    async def read_after(self, seq: int, limit: int) -> Sequence[Event]:
        """Return events of the log behind a number."""
        return await self._writer.read_after(seq, limit)

    async def flush(self) -> None:
        """Wait until everything is in the log."""
        await self._writer.flush()

    def _put(self, kind: str, body: bytes, then: Callable[[int], None] | None = None) -> None:
        self._numbered += 1
        self._writer.put(kind, body, then)

    def _written(self, events: Sequence[Event]) -> None:
        for attachment in list(self.attachments):
            attachment.pass_on(events)

    def _failed(self, error: Exception) -> None:
        _log.error("the log of session %s cannot be written: %s", self.session_id, error)
        self._host.failed(self, error)

    def _slow_down(self, is_too_much: bool) -> None:
        if self.process is not None:
            if is_too_much:
                self.process.pause()
            else:
                self.process.resume()

    # ---- people

    def attach(self, client: Client, role: Role, *, cursor: int) -> Attachment:
        """Let a client follow from the event behind `cursor` on."""
        attachment = Attachment(client, self, self.session_id, role, cursor)
        self.attachments.append(attachment)
        if self.primary is None:
            self.primary = attachment
        self._host.tasks.start_soon(attachment.run, name="attachment")
        attachment.after(self.last_seq, lambda: self.shared.offer_open(attachment))
        self.announce(client, "join", others_only=True)
        return attachment

    def detach(self, attachment: Attachment) -> None:
        """A client follows no longer."""
        if attachment not in self.attachments:
            return
        attachment.end()
        self.attachments.remove(attachment)
        self.shared.left(attachment)
        self.announce(attachment.client, "leave")
        if self.primary is attachment:
            self.primary = self.attachments[0] if self.attachments else None
            self._tell_all("_accord.session/primary", {"user": self._primary_name()})
        if not self.attachments:
            self._host.idle(self)

    def announce(self, client: Client, event: str, *, others_only: bool = True) -> None:
        """Tell the others that somebody has come, gone, types or looks."""
        role = client.role_in(self.facts) or "viewer"
        said = {
            "sessionId": self.session_id,
            "event": event,
            "user": client.principal,
            "displayName": client.display_name,
            "role": role,
        }
        for attachment in self.attachments:
            if not others_only or attachment.client is not client:
                attachment.client.extension("_accord.session/presence", said)

    def people(self) -> list[dict[str, Any]]:
        """Return the members, and which of them are here."""
        here = {attachment.client.principal for attachment in self.attachments}
        members: dict[str, Role] = {self.facts.owner: "admin", **self.facts.members}
        return [
            {"user": name, "role": role, "here": name in here} for name, role in members.items()
        ]

    def set_role(self, principal: str, role: Role | None) -> None:
        """Let somebody in, change what they may do, or (None) remove them."""
        if role is None:
            self.facts.members.pop(principal, None)
        else:
            self.facts.members[principal] = role
        self._host.changed(self)
        self._put(MEMBERS, body_of(members=self.people()))
        for attachment in list(self.attachments):
            if attachment.client.principal != principal:
                continue
            if role is None:
                self.detach(attachment)
            else:
                attachment.role = role
                self.shared.offer_open(attachment)
        self._tell_all("_accord.session/members", {"members": self.people()})

    def _primary_name(self) -> str | None:
        return None if self.primary is None else self.primary.client.principal

    def _tell_all(self, method: str, params: dict[str, Any]) -> None:
        for attachment in self.attachments:
            attachment.client.extension(method, {"sessionId": self.session_id, **params})

    def _tell_settled(self, key: int, by: str, outcome: str) -> None:
        self._tell_all("_accord.session/settled", {"request": key, "by": by, "outcome": outcome})

    # ---- what clients ask

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs, a prompt waits, or the agent waits for somebody."""
        return bool(self._running or self._waiting or self._sent or self.shared.open) or (
            self._state is not None and self._state.get("state") == "running"
        )

    async def wait_idle(self) -> None:
        """Wait until a turn is over."""
        self._turn_ended = anyio.Event()
        if self.is_busy:
            await self._turn_ended.wait()

    def prompt(self, attachment: Attachment, request: OpenRequest, params: Raw) -> None:
        """Take a prompt; it is sent when it is its turn."""
        if len(self._waiting) >= PROMPTS_WAITING_MAX:
            said = f"{PROMPTS_WAITING_MAX} prompts wait in this session already"
            request.refuse(INVALID_REQUEST, said, encode({"reason": "too_many_prompts"}))
            return
        read = to_python(params)
        prompt = Prompt(self, attachment, request, read)
        request.run = prompt
        self._waiting.append(prompt)
        self._next_prompt()

    def _next_prompt(self) -> None:
        while self._waiting:
            if self.process is None:
                self._revive_for(self._next_prompt)
                return
            if self.facts.version == "v1" and self._running is not None:
                return
            prompt = self._waiting.popleft()
            self._running = prompt
            if not self.facts.turn_open or self.facts.unused:
                self.facts.turn_open, self.facts.unused = True, False
                self._host.changed(self)
            client = prompt.attachment.client
            author = {"user": client.principal, "displayName": client.display_name}
            body = body_of(
                author=author, connection=client.token, prompt=prompt.params.get("prompt")
            )
            self._put(PROMPT, body, partial(self._send_prompt, prompt))

    def _send_prompt(self, prompt: Prompt, seq: int) -> None:
        prompt.seq = seq
        process = self.process
        if process is None:
            # It ended meanwhile and never got the prompt: the next process does.
            self._revive_for(
                lambda: self._send_prompt(prompt, seq),
                lambda answer: self._prompt_ended(prompt, answer),
            )
            return
        self._sent[seq] = prompt
        if self.facts.version == "v2":
            self._unechoed.append(prompt)
        params = encode({**prompt.params, "sessionId": self.facts.agent_session_id})
        prompt.call_id = process.begin_call(
            "session/prompt", params, lambda answer: self._prompt_ended(prompt, answer)
        )

    def _prompt_ended(self, prompt: Prompt, answer: Answer) -> None:
        self._sent.pop(prompt.seq, None)
        if prompt in self._unechoed and answer.error is not None:
            self._unechoed.remove(prompt)
        if self._running is prompt:
            self._running = None
        ended = self.facts.version == "v1" or answer.error is not None
        body = encode({"prompt": prompt.seq, **_as_json(answer)})

        def logged(seq: int) -> None:
            prompt.attachment.after(seq, lambda: _pass_back(prompt.request, answer))
            if prompt.attachment.is_over:
                _pass_back(prompt.request, answer)

        self._put(ANSWER, body, logged)
        if ended:
            self._turn_over()
        self._next_prompt()

    def _turn_over(self) -> None:
        if self._running is None and not self._waiting and self.facts.turn_open:
            self.facts.turn_open = False
            self._turn_ended.set()
            self._host.changed(self)
            self._host.idle(self)

    def cancel(self, client: Client) -> None:
        """Cancel the turn, and the prompts that wait."""
        waiting, self._waiting = self._waiting, deque()
        for prompt in waiting:
            if self.facts.version == "v1":
                prompt.request.answer(encode({"stopReason": "cancelled"}))
            else:
                prompt.request.refuse(REQUEST_CANCELLED, "Request cancelled")
        self.shared.cancel_all(client.principal)
        if self.process is not None:
            params = encode({"sessionId": self.facts.agent_session_id})
            self.process.notify("session/cancel", params)

    def withdraw(self, request: OpenRequest) -> None:
        """A client takes a request back."""
        prompt = request.run
        if isinstance(prompt, Prompt) and prompt in self._waiting:
            self._waiting.remove(prompt)
            request.refuse(REQUEST_CANCELLED, "Request cancelled")
        elif isinstance(prompt, Prompt) and prompt.call_id and self.process is not None:
            self.process.take_back(prompt.call_id)
        elif isinstance(prompt, Forwarded):
            prompt.process.take_back(prompt.call_id)

    def forward(self, attachment: Attachment, request: OpenRequest, params: Raw) -> None:
        """Pass a request of a client on to the agent."""
        if self.process is None:
            self._revive_for(
                lambda: self.forward(attachment, request, params),
                lambda answer: _pass_back(request, answer),
            )
            return
        method = request.method
        asked = to_python(params)

        def told(answer: Answer) -> None:
            if answer.result is not None:
                self._learn(method, asked, to_python(answer.result))
            attachment.after(self._numbered, lambda: _pass_back(request, answer))
            if attachment.is_over:
                _pass_back(request, answer)

        call_id = self.process.begin_call(method, self.to_agent(params), told)
        if call_id:
            request.run = Forwarded(self, self.process, call_id)

    def forward_notification(self, method: str, params: Raw) -> None:
        """Pass a notification of a client on to the agent."""
        if self.process is not None:
            self.process.notify(method, self.to_agent(params))

    def to_agent(self, params: bytes | Raw) -> bytes | Raw:
        """Return params as the agent knows the session."""
        if self.facts.agent_session_id == self.session_id:
            return params
        return encode({**to_python(params), "sessionId": self.facts.agent_session_id})

    def _from_agent(self, params: Raw) -> bytes:
        if self.facts.agent_session_id == self.session_id:
            return bytes(memoryview(params))
        return encode({**to_python(params), "sessionId": self.session_id})

    # ---- the process

    def _revive_for(
        self, then: Callable[[], None], failed: Callable[[Answer], None] | None = None
    ) -> None:
        self._host.tasks.start_soon(self._revive, then, failed)

    async def _revive(
        self, then: Callable[[], None], failed: Callable[[Answer], None] | None
    ) -> None:
        try:
            await self.revive()
        except (AccordError, OSError) as error:
            answer = _failure(error)
            if failed is not None:
                failed(answer)
                return
            waiting, self._waiting = self._waiting, deque()
            for prompt in waiting:
                _pass_back(prompt.request, answer)
        else:
            then()

    async def revive(self) -> None:
        """Bring the session back into a process, if it has none."""
        if self.process is None:
            await self._host.revive(self)

    def runs_in(self, process: AgentProcess) -> None:
        """From now on the session lives in this process."""
        self.process = process
        process.adopt(self.facts.agent_session_id, self)

    async def park(self) -> None:
        """Leave the process; the session stays, and can be brought back."""
        process, self.process = self.process, None
        if process is not None:
            process.sessions.pop(self.facts.agent_session_id, None)

    # ---- what the agent says

    def told(self, method: str, params: Raw) -> None:
        """Take a notification of the agent."""
        if method == SESSION_UPDATE:
            self._updated(params)
        else:
            body = {"method": method, "params": Raw(self._from_agent(params))}
            self._put(NOTIFICATION, encode(body))

    def _updated(self, params: Raw) -> None:
        raw = self._from_agent(params)
        # Updates that change what the gateway itself knows are few: look before reading.
        if any(mark in raw for mark in _NOTED):
            read = to_python(raw)
            update = read.get("update") if isinstance(read, dict) else None
            if isinstance(update, dict):
                raw = self._note(read, update, raw)
        if not self.is_opening:
            self._put(UPDATE, raw)

    def _note(self, read: dict[str, Any], update: dict[str, Any], raw: bytes) -> bytes:
        match update.get("sessionUpdate"):
            case "state_update":
                self._state = update
                if update.get("state") == "idle":
                    self._turn_over()
            case "user_message" if self._unechoed and not self.is_opening:
                prompt = self._unechoed.popleft()
                client = prompt.attachment.client
                meta = update.get("_meta") if isinstance(update.get("_meta"), dict) else {}
                author = {"user": client.principal, "displayName": client.display_name}
                update["_meta"] = {**(meta or {}), AUTHOR_META: author}
                return encode(read)
            case "session_info_update":
                if isinstance(update.get("title"), str):
                    self.facts.title = update["title"]
                    self._host.changed(self)
            case "current_mode_update":
                modes = self.facts.opened.get("modes")
                if isinstance(modes, dict):
                    modes["currentModeId"] = update.get("currentModeId")
            case "config_option_update":
                self.facts.opened["configOptions"] = update.get("configOptions")
            case _:
                pass
        return raw

    def _learn(self, method: str, params: Any, result: Any) -> None:
        """Keep what a later client is told when it joins."""
        opened = self.facts.opened
        if method == "session/set_mode" and isinstance(opened.get("modes"), dict):
            opened["modes"]["currentModeId"] = params.get("modeId")
        elif method == "session/set_model" and isinstance(opened.get("models"), dict):
            opened["models"]["currentModelId"] = params.get("modelId")
        elif method == "session/set_config_option" and isinstance(result, dict):
            if "configOptions" in result:
                opened["configOptions"] = result["configOptions"]
        else:
            return
        self._host.changed(self)

    @property
    def state(self) -> dict[str, Any] | None:
        """The last state that a v2 agent reported."""
        return self._state

    def asked(self, request: OpenRequest, params: Raw) -> None:
        """Take a request of the agent."""
        raw = Raw(self._from_agent(params))
        if request.method in ROLE_TO_ANSWER:
            self.shared.ask(request, raw)
            return
        primary = self.primary
        if primary is None:
            said = f"no client is connected that could answer {request.method}"
            request.refuse(METHOD_NOT_FOUND, said, encode({"reason": "no_client"}))
            return
        client = primary.client
        body = bytes(memoryview(raw))
        primary.after(self._numbered, lambda: client.call(request, body))

    def withdrawn(self, request: OpenRequest) -> None:
        """The agent takes a request back."""
        if request.run is self.shared:
            self.shared.withdrawn(request)
        else:
            pass_on_cancel(request, Raw(b"{}"))

    def process_ended(self, reason: str) -> None:
        """The process is gone; the session stays."""
        self.process = None
        self.shared.process_ended()
        if self.facts.turn_open or self._state_is_running():
            self.interrupted(f"{reason}. The turn was interrupted.")
        self._turn_over()

    def interrupted(self, text: str) -> None:
        """Tell everybody that a turn ended because its process did."""
        self.remark(text)
        if self.facts.version == "v2":
            error = {"code": INTERNAL_ERROR, "message": text}
            self._state = {"sessionUpdate": "state_update", "state": "idle"}
            self._state |= {"stopReason": "error", "error": error}
            self._put(UPDATE, body_of(sessionId=self.session_id, update=self._state))

    def _state_is_running(self) -> bool:
        return self._state is not None and self._state.get("state") == "running"

    def remark(self, text: str) -> None:
        """Tell everybody something that the agent did not say."""
        self._put(REMARK, body_of(text=text))


@dataclass(frozen=True)
class Forwarded:
    """Where a client's request was passed on to."""

    session: HostedSession
    process: AgentProcess
    call_id: int


_NOTED: Final = (
    b'"state_update"',
    b'"user_message"',
    b'"session_info_update"',
    b'"current_mode_update"',
    b'"config_option_update"',
)


def _pass_back(request: OpenRequest, answer: Answer) -> None:
    if answer.error is not None:
        code, message, data = answer.error
        request.refuse(code, message, data)
    elif answer.result is not None:
        request.answer(answer.result)


def _as_json(answer: Answer) -> dict[str, Any]:
    if answer.error is not None:
        code, message, _ = answer.error
        return {"error": {"code": code, "message": message}}
    return {"result": answer.result}


def _failure(error: Exception) -> Answer:
    answer = Answer()
    if isinstance(error, RequestFailed):
        data = None if error.data is None else Raw(encode(error.data))
        answer.failed(error.code, error.message, data)
    else:
        answer.failed(INTERNAL_ERROR, str(error), None)
    return answer

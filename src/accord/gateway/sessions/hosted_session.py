"""A session that outlives its clients' connections and its agent's process.

What always holds
    * What the agent says is in the log before any client sees it.
    * Each request of a client is answered once, behind every update that came before the answer,
      and at the latest when the session ends.
    * A session lives in one process at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, Protocol

import anyio
from anyio.abc import TaskGroup

from accord.errors import AccordError, ConnectionLost
from accord.gateway.agents.agent_process import AgentProcess, Answer
from accord.gateway.configuration.rights import Role, includes
from accord.gateway.engine.engine_errors import EngineError, Gap
from accord.gateway.sessions.attachment import Attachment, Client
from accord.gateway.sessions.compaction import Compactor
from accord.gateway.sessions.log_events import ANSWER, NOTIFICATION, REMARK, UPDATE, Event, body_of
from accord.gateway.sessions.people.session_people import ROLE_OF_PRIMARY, People
from accord.gateway.sessions.requests.client_requests import ClientRequests, failure
from accord.gateway.sessions.requests.primary_requests import PrimaryRequests, services_in
from accord.gateway.sessions.requests.shared_requests import ROLE_TO_ANSWER, SharedRequests
from accord.gateway.sessions.session_facts import SessionFacts
from accord.gateway.sessions.session_past import EVENTS_PER_READ, PastLog, SessionPast
from accord.gateway.sessions.session_versions import VERSIONS, request_cancelled
from accord.gateway.sessions.session_writer import Log, SessionWriter
from accord.gateway.sessions.turns import Turns
from accord.gateway.spans.interface import Span, Spans
from accord.jsonrpc.error_codes import INTERNAL_ERROR, INVALID_SESSION_STATE
from accord.machine.redacted_logs import logger, place_of
from accord.proxy.hop import OpenRequest
from accord.schema.codec import encode, to_python
from accord.schema.method import SESSION_UPDATE
from accord.schema.struct import Raw

_log = logger("accord.gateway")


ENDED_BY_SOMEBODY: Final = frozenset({"closed", "deleted"})
"""Reasons for the end of a session that are nobody's fault."""


class SessionLog(Log, PastLog, Protocol):
    """The log of one session, with its past."""


class Host(Protocol):
    """What a session needs of the gateway."""

    tasks: TaskGroup
    spans: Spans

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


class HostedSession:
    """One session: its log, its people, its turns, and its way to the agent."""

    def __init__(
        self,
        facts: SessionFacts,
        log: SessionLog,
        host: Host,
        *,
        last_seq: int = 0,
        past_seq: int = 0,
        log_bytes: int = 0,
    ) -> None:
        """The log has a snapshot up to `past_seq`, and `log_bytes` of events behind it."""
        self.facts = facts
        self.log = log
        self.process: AgentProcess | None = None
        self.is_opening = False
        """While the agent opens the session again, what it replays is in the log already."""
        self.is_over = False
        self._host = host
        self._writer = SessionWriter(
            log,
            host.tasks,
            last_seq=last_seq,
            written=self._written,
            failed=self._failed,
            slow_down=self._slow_down,
        )
        self.past = SessionPast(facts.session_id, log, host.tasks, seq=past_seq, grown=log_bytes)
        self._numbered = last_seq
        # Since the gateway has this session in memory.
        self.written_bytes = 0
        self.inherited = 0
        """The last event of the history that a new session began with."""
        # What is answered once the session is over.
        self._over_answer = Answer()
        self._reviving: list[tuple[Callable[[], None], Callable[[Answer], None]]] = []
        self._version = VERSIONS[facts.version]
        self.people = People(
            facts,
            self._put,
            host.tasks,
            needed=self._services_needed,
            role_changed=self._role_changed,
            changed=self.changed,
            removed=partial(self.leave, reason="removed"),
        )
        self.requests = ClientRequests(self.people.attachment_of)
        self.turns = Turns(facts, self, self._put, self.requests, host.spans)
        self.shared = SharedRequests(
            self._put, lambda: list(self.attachments), host.tasks, self._begin_span
        )
        self.of_primary = PrimaryRequests(facts.session_id)

    @property
    def session_id(self) -> str:
        return self.facts.session_id

    def changed(self) -> None:
        """Store the facts of the session."""
        self._host.changed(self)

    # ---- the log

    @property
    def last_seq(self) -> int:
        """The number of the last event in the log."""
        return self._writer.last_seq

    @property
    def last_put(self) -> int:
        """The number of the last event in the log or on its way there."""
        return self._numbered

    async def read_after(self, seq: int, limit: int) -> Sequence[Event]:
        """Return events behind a number, from the snapshot where the log no longer has them.

        From 0 on it is the whole session: what every protocol can be served from.
        """
        if seq >= self.past.seq or self._writer.has_in_memory(seq):
            try:
                return await self._writer.read_after(seq, limit)
            except Gap:
                if seq >= self.past.seq:
                    raise
        return await self.past.read_after(seq, limit)

    async def history(self) -> Sequence[Event]:
        """Return all that was put so far, with as few events as possible."""
        until = self.last_put
        await self.flush()
        while True:
            compactor, events, seq = Compactor(), list[Event](), 0
            try:
                while seq < until:
                    page = await self.read_after(seq, EVENTS_PER_READ)
                    page = [event for event in page if event.seq <= until]
                    if not page:
                        break
                    events += compactor.take(page)
                    seq = page[-1].seq
            except Gap:
                # The events at this place were joined meanwhile.
                continue
            return [*events, *compactor.rest()]

    async def flush(self) -> None:
        """Wait until everything is in the log."""
        await self._writer.flush()

    def begin_with(self, events: Iterable[tuple[str, bytes]]) -> None:
        """Put the history of a fork into the new log."""
        for kind, body in events:
            self._put(kind, body)
        self.inherited = self._numbered

    def _put(self, kind: str, body: bytes, then: Callable[[int], None] | None = None, /) -> None:
        self._numbered += 1
        self._writer.put(kind, body, then)

    def _written(self, events: Sequence[Event]) -> None:
        for attachment in list(self.attachments):
            attachment.pass_on(events)
        size = sum(len(event.body) for event in events)
        self.written_bytes += size
        self.past.grew(size, self.last_seq, self._read_seq)

    def _read_seq(self, still_bytes: int | None) -> int:
        """The number up to which clients have been sent everything: all, or those that move."""
        cursors = [
            one.cursor
            for one in self.attachments
            if still_bytes is None or self.written_bytes - one.moved_at <= still_bytes
        ]
        return min(cursors, default=self.last_seq)

    def _failed(self, error: Exception) -> None:
        _log.error("the log of session %s cannot be written: %s", self.session_id, error)
        # What a store says names a file of this machine: that is for the log.
        why = f" ({error})" if isinstance(error, EngineError) else ""
        self.end(f"what happens in this session cannot be stored{why}", "failed")
        self._host.failed(self, error)

    def _slow_down(self, is_too_much: bool) -> None:
        if self.process is not None:
            if is_too_much:
                self.process.pause()
            else:
                self.process.resume()

    def _begin_span(self, method: str, params: bytes) -> Span:
        """Begin the span of a question of the agent, below the turn that runs."""
        about = {"accord.agent": self.facts.agent, "accord.session": self.session_id}
        return self._host.spans.begin(method, about, params=params, parent=self.turns.span)

    # ---- people

    @property
    def attachments(self) -> list[Attachment]:
        """How clients follow the session."""
        return self.people.attachments

    def attach(self, client: Client, role: Role, *, cursor: int) -> Attachment:
        """Let a client follow from the event behind `cursor` on."""
        attachment = Attachment(
            client, self, self.session_id, role, cursor=cursor, history_until=self._numbered
        )
        self.people.add(attachment)
        self._host.tasks.start_soon(attachment.run, name="attachment")
        attachment.after(self._numbered, partial(self.shared.offer_open, attachment))
        return attachment

    def detach(self, attachment: Attachment) -> None:
        """A client follows no longer."""
        if attachment not in self.attachments:
            return
        attachment.end()
        self.people.remove(attachment)
        self.shared.left(attachment)
        self.of_primary.left(attachment)
        if not self.attachments:
            self._host.idle(self)

    def leave(self, attachment: Attachment, *, reason: str) -> None:
        """End the view of a client that did not ask for that."""
        params = {"sessionId": self.session_id, "reason": reason}
        attachment.client.extension("_accord.session/closed", params)
        self.detach(attachment)

    def rename(self, title: str) -> None:
        """Give the session a title, and tell everybody."""
        self.facts.title, self.facts.is_renamed = title, True
        update = {"sessionUpdate": "session_info_update", "title": title}
        self._put(UPDATE, body_of(sessionId=self.session_id, update=update))
        self.changed()

    def set_role(self, principal: str, role: Role | None) -> None:
        """Let somebody in, change what they may do, or (None) remove them.

        Raises:
            TooManyMembers: there are as many as there may be.
        """
        self.people.set_role(principal, role)
        if not includes(self.facts.role_of(principal), "editor") and not any(
            includes(one.role, "editor")
            for one in self.attachments
            if one.client.principal == principal
        ):
            self.turns.drop(principal)

    def _role_changed(self, attachment: Attachment) -> None:
        self.shared.role_changed(attachment)
        if not includes(attachment.role, ROLE_OF_PRIMARY):
            self.of_primary.left(attachment)

    def _services_needed(self) -> frozenset[str]:
        return services_in(self.facts.initialize.get(self._version.client_capabilities))

    # ---- what clients ask

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs, a prompt waits, or the agent waits for somebody."""
        return self.turns.is_busy or bool(self.shared.open)

    @property
    def is_needed(self) -> bool:
        """Whether it has to stay in memory."""
        return not self.is_over and bool(self.attachments or self.is_busy or self._reviving)

    async def wait_idle(self) -> None:
        """Wait until a turn is over."""
        if self.is_busy:
            await self.turns.wait_idle()

    def turn_over(self) -> None:
        """Take notice that nothing runs any more."""
        self._host.idle(self)

    def prompt(self, client: Client, request: OpenRequest, params: Raw) -> None:
        """Take a prompt; it is sent when it is its turn."""
        self.turns.prompt(client, request, params)

    def cancel(self, client: Client) -> None:
        """Cancel the turn, and the prompts that wait."""
        self.turns.cancel()
        self.shared.cancel_all(client.principal)
        self._cancel_turn()

    def _cancel_turn(self) -> None:
        if self.process is not None:
            params = encode({"sessionId": self.facts.agent_session_id})
            self.process.notify("session/cancel", params)

    def forward(self, client: Client, request: OpenRequest, params: Raw) -> None:
        """Pass a request of a client on to the agent."""
        one = self.requests.take(client, request)
        asked = to_python(params)

        def told(answer: Answer) -> None:
            if answer.result is not None:
                self._learn(request.method, asked, to_python(answer.result))
            self.requests.answer_behind(self._numbered, one, answer)

        def send() -> None:
            if not request.is_open or self.process is None:
                return
            call_id = self.process.begin_call(request.method, self._to_agent(params), told)
            if call_id:
                one.sent_to(self.process, call_id)

        one.take_back = lambda: self.requests.answer(one, request_cancelled())
        self.when_running(send, partial(self.requests.answer, one))

    def forward_notification(self, method: str, params: Raw) -> None:
        """Pass a notification of a client on to the agent."""
        if self.process is not None:
            self.process.notify(method, self._to_agent(params))

    def _to_agent(self, params: bytes | Raw) -> bytes | Raw:
        """Return params as the agent knows the session."""
        if self.facts.agent_session_id == self.session_id:
            return params
        return encode({**to_python(params), "sessionId": self.facts.agent_session_id})

    def _from_agent(self, params: Raw) -> bytes:
        if self.facts.agent_session_id == self.session_id:
            return bytes(memoryview(params))
        return encode({**to_python(params), "sessionId": self.session_id})

    # ---- the process

    def when_running(self, then: Callable[[], None], failed: Callable[[Answer], None]) -> None:
        """Bring the session back into a process, and do something then."""
        if self.is_over:
            failed(self._over_answer)
        elif self.process is not None and not self._reviving:
            then()
        else:
            self._reviving.append((then, failed))
            if len(self._reviving) == 1:
                self._host.tasks.start_soon(self._revive, name="revive")

    async def running(self) -> AgentProcess:
        """Bring the session back into a process, and return that.

        Raises:
            RequestFailed: the agent cannot continue the session.
        """
        done = anyio.Event()
        failures: list[Answer] = []

        def failed(answer: Answer) -> None:
            failures.append(answer)
            done.set()

        self.when_running(done.set, failed)
        await done.wait()
        for answer in failures:
            await answer.wait("session/load")
        if self.process is None:
            raise ConnectionLost("the agent ended as soon as the session was open again")
        return self.process

    async def _revive(self) -> None:
        error: Exception | None = None
        try:
            if self.process is None:
                await self._host.revive(self)
        except (AccordError, OSError) as caught:
            error = caught
        except Exception as caught:  # noqa: BLE001 - one session fails, not the gateway
            _log.error(
                "the agent of session %s cannot be used (%s)", self.session_id, place_of(caught)
            )
            error = caught
        if error is None and self.process is None:
            error = ConnectionLost("the agent ended as soon as the session was open again")
        waiting, self._reviving = self._reviving, []
        for then, failed in waiting:
            if error is not None:
                failed(failure(error))
            elif self.is_over:
                failed(self._over_answer)
            else:
                then()

    def runs_in(self, process: AgentProcess) -> None:
        """From now on the session lives in this process."""
        self.process = process
        process.adopt(self.facts.agent_session_id, self)

    async def park(self) -> None:
        """Leave the process; the session stays, and can be brought back."""
        process = self.process
        if process is not None:
            if self.turns.is_busy:
                self._cancel_turn()
            process.sessions.pop(self.facts.agent_session_id, None)
            self._without_process("the agent no longer has the session")

    def end(self, text: str, reason: str) -> None:
        """End the session for everybody here: what is open is answered.

        The turn of a session that somebody has closed is cancelled; all else is an error.
        """
        if self.is_over:
            return
        self.is_over = True
        if reason in ENDED_BY_SOMEBODY:
            self.turns.end()
        answer = Answer()
        data = Raw(encode({"reason": reason, "sessionId": self.session_id}))
        answer.failed(INVALID_SESSION_STATE, text, data)
        self._over_answer = answer
        self.shared.end()
        self.of_primary.end()
        self.requests.end(answer)
        for attachment in list(self.attachments):
            self.leave(attachment, reason=reason)

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
            if isinstance(update, dict) and self._note(update):
                raw = encode(read)
        if not self.is_opening:
            self._put(UPDATE, raw)

    def _note(self, update: dict[str, Any]) -> bool:
        """Take notice of an update; return whether it was changed."""
        opened = self.facts.opened
        match update.get("sessionUpdate"):
            case "state_update":
                self.turns.reported(update)
            case "user_message" if not self.is_opening:
                return self.turns.repeated(update)
            case "session_info_update" if self.facts.is_renamed:
                return update.pop("title", None) is not None
            case "session_info_update" if isinstance(update.get("title"), str):
                self.facts.title = update["title"]
                self.changed()
            case "current_mode_update" if isinstance(opened.get("modes"), dict):
                opened["modes"]["currentModeId"] = update.get("currentModeId")
            case "config_option_update":
                opened["configOptions"] = update.get("configOptions")
            case _:
                pass
        return False

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
        self.changed()

    @property
    def state(self) -> dict[str, Any] | None:
        """The state for somebody who joins, where agents report one."""
        if self._version.answer_ends_turn:
            return None
        return self.turns.state or _IDLE

    def asked(self, request: OpenRequest, params: Raw) -> None:
        """Take a request of the agent."""
        raw = Raw(self._from_agent(params))
        if request.method in ROLE_TO_ANSWER:
            self.shared.ask(request, raw)
        else:
            self.of_primary.ask(self.people.primary, self._numbered, request, raw)

    def withdrawn(self, request: OpenRequest) -> None:
        """Nothing to do: what has the request is told itself."""

    def process_ended(self, reason: str) -> None:
        """The process is gone; the session stays."""
        self._without_process(reason)

    def _without_process(self, reason: str) -> None:
        """Forget the process; a turn that was running there is told to have been interrupted."""
        self.process = None
        self.shared.end()
        self.of_primary.end()
        self.turns.process_ended(reason)

    def interrupted(self, text: str, *, unanswered: int | None = None) -> None:
        """Tell everybody that a turn was cut short; `unanswered` is its prompt, if it is open."""
        self._put(REMARK, body_of(text=text))
        if unanswered is not None:
            said = {"code": INTERNAL_ERROR, "message": text}
            self._put(ANSWER, body_of(prompt=unanswered, error=said))
        if not self._version.answer_ends_turn:
            error = {"code": INTERNAL_ERROR, "message": text}
            state = {**_IDLE, "stopReason": "error", "error": error}
            self.turns.reported(state)
            self._put(UPDATE, body_of(sessionId=self.session_id, update=state))


_IDLE: Final = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}

_NOTED: Final = (
    b'"state_update"',
    b'"user_message"',
    b'"session_info_update"',
    b'"current_mode_update"',
    b'"config_option_update"',
)

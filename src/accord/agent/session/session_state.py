"""The library's own state of a session, and its operations on it.

Version-neutral: updates are v2's structs, and the wire of the connection says them in its version.
A program gets the session as `AgentSession`.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from accord.agent.serving.client_answer_checks import chose_what_was_not_offered, decided_by, heard
from accord.agent.serving.outgoing_checks import check_update
from accord.agent.serving.wire import Wire
from accord.agent.session.background_tasks import SessionTasks
from accord.agent.session.options_and_commands import (
    MODE_OPTION_ID,
    Mode,
    Offer,
    OptionValue,
    available_commands,
    check_option,
    config_options,
)
from accord.agent.session.prompt_queue import PromptQueue
from accord.agent.session.stored_record import StoredSession
from accord.agent.session.updates import SessionUpdates
from accord.agent.terminals.own_terminals import OwnTerminals
from accord.agent.tools.permission_request import PermissionAsk, PermissionOption
from accord.agent.tools.tool_status_guard import ToolStatusGuard
from accord.connection import Connection
from accord.errors import RequestCancelled
from accord.protocol.v2.turn import TRANSITIONS, Phase, Step
from accord.schema import v2
from accord.schema.struct import UNSET
from accord.store import SessionLog, SessionRecord, SessionStore

if TYPE_CHECKING:
    from pathlib import Path

    from accord.agent.serving.unstable.mcp_calls import McpCalls

REQUEST_PERMISSION = "session/request_permission"


def new_session_id() -> str:
    """An id that cannot be guessed.  (`secrets` would add five milliseconds to the start.)"""
    return os.urandom(16).hex()


class StoppableCall(Protocol):
    """A tool call that the client may want to cancel alone."""

    @property
    def can_be_cancelled(self) -> bool:
        """Whether that is possible now."""
        ...

    def stop(self) -> None:
        """Cancel the tool call."""
        ...


class OpenTurn(Protocol):
    """The turn that a session is in."""

    @property
    def is_cancelled(self) -> bool:
        """Whether the client has cancelled it."""
        ...

    def tool_call_by_id(self, tool_call_id: str) -> StoppableCall | None:
        """The tool call of this turn with an id."""
        ...


class OpenChild(Protocol):
    """A subagent at work."""

    cancellable: bool

    def cancel(self) -> None:
        """Cancel the subagent alone."""
        ...


class SessionState:
    """One session of one connection."""

    def __init__(
        self,
        updates: SessionUpdates,
        stored: StoredSession,
        offer: Offer,
        mcp_servers: tuple[Any, ...] = (),
        mcp_calls: McpCalls | None = None,
    ) -> None:
        self.updates = updates
        self.stored = stored
        self.offer = offer
        self.mcp_servers = mcp_servers
        self.mcp_calls = mcp_calls
        self.connection = connection = updates.connection
        self.wire = updates.wire
        # The public object, made with the first use.
        self.public: object = None
        self._options: dict[str, OptionValue] = offer.settled(stored.record.options)
        self._hidden_commands: frozenset[str] = frozenset()
        self._phase = Phase.IDLE
        self._open_questions = 0
        # Lasting answers of the user, by what they are about.
        self.decisions: dict[str, bool] = {}
        self.tool_statuses = ToolStatusGuard()
        # Subagents at work, by the ids of their sessions (unstable).
        self.children: dict[str, OpenChild] = {}
        self.last_stop: tuple[str, Any] | None = None
        self.last_usage: Any = UNSET
        queued = connection.limits.prompts_queued
        self.prompts = PromptQueue(queued if self.wire.bounds_queue else None)
        self.turn: OpenTurn | None = None
        self.terminals = OwnTerminals(updates, self.post_state)
        self.tasks = SessionTasks(connection)
        # The session accepts no new request, but the rest of its work is still reported.
        self.closing = False
        self.gone = anyio.Event()

    # ---- what it is

    @property
    def id(self) -> str:
        """The id by which the client knows it."""
        return self.updates.session_id

    @property
    def record(self) -> SessionRecord:
        """Its record in the store."""
        return self.stored.record

    @property
    def closed(self) -> bool:
        """Whether nothing more is sent for it."""
        return self.updates.closed

    @property
    def cwd(self) -> Path:
        """The folder that relative paths start from."""
        from pathlib import Path

        return Path(self.stored.record.cwd)

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders that file tools keep to, the working folder first."""
        record = self.stored.record
        return (record.cwd, *record.additional_directories)

    @property
    def options(self) -> Mapping[str, OptionValue]:
        """The current value of every option."""
        return self._options

    @property
    def mode(self) -> Mode | None:
        """The current mode, where the agent has modes."""
        mode_id = self._options.get(MODE_OPTION_ID)
        return self.offer.modes.get(mode_id) if isinstance(mode_id, str) else None

    def new_id(self, kind: str) -> str:
        """An id that is never used again in this session."""
        return self.updates.new_id(kind)

    # ---- its state

    def enter(self, step: Step, *, stop_reason: str | None = None, error: Any = UNSET) -> None:
        """Move the state of the foreground and tell the client."""
        # Questions outside of a turn do not change the foreground.
        phase = TRANSITIONS.get((self._phase, step), self._phase)
        if phase is self._phase and step is not Step.WORK_STOPPED:
            return
        self._phase = phase
        if stop_reason is not None:
            self.last_stop = (stop_reason, error)
        self.post_state()

    def post_state(self) -> None:
        """Send the client the current state; a repetition changes nothing."""
        self.updates.post(self.state_update())

    def state_update(self) -> v2.StateUpdate:
        """The state now, as a snapshot, with the work in the background."""
        listed = self.terminals.background()
        background: Any = UNSET if listed is None else listed
        if self._phase is Phase.IDLE and self.last_stop is not None:
            stop_reason, error = self.last_stop
            return v2.StateUpdate(
                state="idle",
                stop_reason=stop_reason,
                error=error,
                usage=self.last_usage,
                background=background,
            )
        return v2.StateUpdate(state=self._phase.value, background=background)

    async def begin_turn(self) -> None:
        """Note that a turn is open.  The client has sent a prompt, so it knows the session."""
        self.updates.introduce_once()
        await self.stored.begin_turn()

    # ---- settings

    async def set_option(self, option_id: str, value: OptionValue, *, announce: bool) -> None:
        """Set an option of this session.

        Raises:
            LocalProtocolError: there is no such option or no such value; nothing changed.
        """
        check_option(self.offer, option_id, value)
        self._options[option_id] = value
        # Only set values are stored: a default may have changed when the session goes on.
        await self.stored.use(options={**self.record.options, option_id: value})
        if announce:
            await self._announce_options()

    async def settle_options(self, *, announce: bool) -> None:
        """Follow a change of the offer: values that were set count where they are still legal."""
        self._options = self.offer.settled(self.record.options)
        if announce:
            await self._announce_options()

    async def _announce_options(self) -> None:
        await self.updates.emit(v2.ConfigOptionUpdate(config_options=self.option_list()))

    def option_list(self) -> list[v2.SessionConfigOption]:
        """All options with their current values, in the form of v2."""
        return config_options(self.offer, self._options)

    def command_list(self) -> list[v2.AvailableCommand]:
        """The slash commands that are shown, in the form of v2."""
        return available_commands(self.offer, self._hidden_commands)

    def introduce_with_commands(self) -> None:
        """Send what was held and then the slash commands, where the answer does not list them."""
        self.updates.introduce()
        if commands := self.command_list():
            self.updates.post(v2.AvailableCommandsUpdate(available_commands=commands))

    async def hide_commands(self, *names: str, announce: bool) -> None:
        """Show all slash commands but these, which still work; tell the client of a change."""
        if frozenset(names) != self._hidden_commands:
            self._hidden_commands = frozenset(names)
            if announce:
                update = v2.AvailableCommandsUpdate(available_commands=self.command_list())
                await self.updates.emit(update)

    async def set_title(self, title: str | None) -> None:
        """Name the session and tell the client; a name that the user chose stays."""
        check_update(v2.SessionInfoUpdate(title=title))
        if self.record.titled_by_user:
            return
        await self.stored.use(title=title)
        at = self.record.updated_at or UNSET
        await self.updates.emit(v2.SessionInfoUpdate(title=title, updated_at=at))

    # ---- questions

    @contextmanager
    def asking(self) -> Generator[None]:
        """Require action of the user while a question is open; the last answer ends that."""
        self._open_questions += 1
        self.enter(Step.USER_ASKED)
        try:
            yield
        finally:
            self._open_questions -= 1
            # Cancelled work does not go on: its next state is the idle that ends it.
            ends = self.turn is not None and self.turn.is_cancelled
            is_last = self._open_questions == 0
            if is_last and self._phase is Phase.REQUIRES_ACTION and not ends:
                self.enter(Step.USER_ANSWERED)

    async def ask_permission(self, ask: PermissionAsk) -> PermissionOption | None:
        """Ask the user; None when the answer is not one of the options."""
        requests = self.wire.client_requests
        if requests is not None:
            return await requests.ask_permission(self, ask)
        params = self.wire.permission_request(self.id, ask)
        try:
            with self.asking():
                result = await self.connection.call(REQUEST_PERMISSION, params)
        except RequestCancelled:
            # Some clients withdraw the question with -32800 instead of the outcome `cancelled`.
            ask.heard("cancelled")
            return None
        chosen = self.wire.permission_choice(result)
        heard(self, REQUEST_PERMISSION, result, is_used=chosen is not None)
        ask.heard(decided_by(result))
        option = next((one for one in ask.options if one.option_id == chosen), None)
        if option is None and chosen is not None:
            chose_what_was_not_offered(self, REQUEST_PERMISSION, chosen)
        return option

    def elicitation_scope(self) -> dict[str, Any]:
        """What a question to the user belongs to."""
        return {"sessionId": self.id}

    def remember_all(self, keys: Sequence[str], *, allowed: bool) -> None:
        """Keep one lasting answer for the rest of the session, for each of these keys."""
        self.adopt(dict.fromkeys(keys, allowed))
        if self.wire.client_requests is not None:
            self.wire.client_requests.remembered(self, keys, allowed)

    def adopt(self, answers: Mapping[str, bool]) -> None:
        """Take over answers that were given elsewhere."""
        self.decisions.update(answers)


def open_session(
    connection: Connection,
    wire: Wire,
    store: SessionStore,
    offer: Offer,
    record: SessionRecord,
    log: SessionLog,
    mcp_servers: tuple[Any, ...],
    mcp_calls: McpCalls | None,
) -> SessionState:
    """Make the state of a session that the store has."""
    updates = SessionUpdates(connection, wire, log, record.session_id)
    return SessionState(updates, StoredSession(store, record), offer, mcp_servers, mcp_calls)

"""A session on the agent's side: its settings, its log, its line of prompts, its updates.

Version-neutral: updates are v2's structs, and the wire of the connection says them.

What always holds
    * An update is in the log before it is sent.
    * Nothing is sent for a session that is closed.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from accord.agent.serving.client_answers import chose_what_was_not_offered, decided_by, heard
from accord.agent.serving.outgoing_checks import check_update, unsayable
from accord.agent.serving.wire import PermissionAsk, PermissionOption, Wire
from accord.agent.session.config_options import said_commands, said_options
from accord.agent.session.introduction import IntroducedSession
from accord.agent.session.log_then_send import LoggingFirst
from accord.agent.session.options import MODE_OPTION_ID, Mode, Offer, OptionValue
from accord.agent.session.prompt_queue import Foreground
from accord.agent.session.tasks import Companions, Farewell
from accord.agent.terminals.own_terminals import (
    Job,
    OwnTerminal,
    OwnTerminals,
    check_environment,
    check_words,
)
from accord.agent.tools.tool_status import CallLives
from accord.connection import Connection
from accord.errors import LocalProtocolError, RequestCancelled
from accord.protocol.v2.turn import TRANSITIONS, Phase, Step
from accord.schema import v2
from accord.schema.codec import encode
from accord.schema.method import SESSION_UPDATE
from accord.schema.struct import UNSET
from accord.store import SessionLog, SessionRecord, SessionStore

if TYPE_CHECKING:
    from pathlib import Path

    from accord.agent.serving.unstable.mcp_calls import McpCalls, OnNotification
    from accord.agent.tools.elicitation import Answer
    from accord.agent.turn import Turn

REQUEST_PERMISSION = "session/request_permission"


def new_session_id() -> str:
    """An id that nobody can guess.  (`secrets` would cost five milliseconds of start-up.)"""
    return os.urandom(16).hex()


class AgentSession(IntroducedSession):
    """One conversation.  Handlers reach it as `turn.session`."""

    def __init__(
        self,
        connection: Connection,
        wire: Wire,
        store: SessionStore,
        offer: Offer,
        record: SessionRecord,
        log: SessionLog,
        mcp_servers: tuple[Any, ...] = (),
    ) -> None:
        super().__init__(store, record)
        self._connection = connection
        self._post_update = connection.poster(SESSION_UPDATE)
        self._wire = wire
        self._offer = offer
        self._log = log
        self.logging_first = LoggingFirst()
        self._options: dict[str, OptionValue] = offer.settled(record.options)
        self._ids = itertools.count(1)
        # Ids must stay unique when a stored session goes on in another process.
        self._id_prefix = os.urandom(4).hex()
        self._phase = Phase.IDLE
        self._asking = 0
        self._decisions: dict[str, bool] = {}
        self._hidden_commands: frozenset[str] = frozenset()
        self.call_lives = CallLives()
        self.mcp_servers = mcp_servers
        self.mcp_calls: McpCalls | None = None
        # Child sessions at work, by id (unstable).
        self.children: dict[str, Turn] = {}
        self.last_stop: tuple[str, Any] | None = None
        self.last_usage: Any = UNSET
        queued = connection.limits.prompts_queued
        self.foreground = Foreground(queued if wire.bounds_queue else None)
        self.turn: Turn | None = None
        self.terminals = OwnTerminals(self)
        self.companions = Companions(connection)
        # Its work is being ended: it takes no new request, but what is left is still told.
        self.closing = False
        self.gone = anyio.Event()

    # ---- what it is

    @property
    def log(self) -> SessionLog:
        """All that was said."""
        return self._log

    @property
    def offer(self) -> Offer:
        """What the session can be set to."""
        return self._offer

    @property
    def wire(self) -> Wire:
        """The words of this connection's version."""
        return self._wire

    @property
    def connection(self) -> Connection:
        """Where it is served."""
        return self._connection

    @property
    def options(self) -> Mapping[str, OptionValue]:
        """The current value of every option."""
        return self._options

    @property
    def mode(self) -> Mode | None:
        """The current mode, where the agent has modes."""
        mode_id = self._options.get(MODE_OPTION_ID)
        return self._offer.modes.get(mode_id) if isinstance(mode_id, str) else None

    def new_id(self, kind: str) -> str:
        """An id that is never used again in this session."""
        return f"{kind}_{self._id_prefix}_{next(self._ids)}"

    # ---- saying

    @property
    def is_not_plain(self) -> bool:
        """Whether an update must wait for what comes first, or can no longer be sent."""
        return self._replayed is not None or self._held is not None or self.closed

    async def emit(self, update: Any, *, waits: bool = True) -> None:
        """Log an update and send it.  Waits while the client is slow, unless told not to."""
        connection = self._connection
        if connection.check_is_due():
            await checkpoint_if_cancelled()
        if self._replayed is not None:
            await self.present()
        if self.closed:
            raise LocalProtocolError(f"session {self.id} is closed")
        try:
            writing = self._log.append(update)
            if writing is not None:
                await self.logging_first.then(writing, partial(self._tell, update))
            else:
                self._tell(update)
        except UnicodeEncodeError as error:
            raise unsayable(error) from None
        if waits and connection.wait_is_due():
            await connection.give_way()

    async def wait_for_client(self) -> None:
        """Wait while the client is slow, as `emit` does behind what it sends."""
        if self._connection.wait_is_due():
            await self._connection.give_way()

    def _tell(self, update: Any) -> None:
        if self._held is not None:
            # What cannot be sent is a mistake of who says it, and is told now, while he is there.
            self._connection.peer.checked(encode(update), SESSION_UPDATE)
            self._keep(self._held, update)
            return
        for params in self._wire.updates(self._record.session_id, update):
            self._post_update(params)

    def post(self, update: Any) -> None:
        """Send an update that needs no log and no waiting, such as a state."""
        if self._held is not None:
            self._keep(self._held, update)
        else:
            self.post_at_once(update)

    def post_at_once(self, update: Any) -> None:
        """The same for what belongs before the answer that begins the session."""
        if not self.closed and self._connection.error is None:
            for params in self._wire.updates(self.id, update):
                self._connection.post(SESSION_UPDATE, params)

    async def record_only(self, update: Any) -> None:
        """Log an update that the client must not be sent, such as its own prompt in v1."""
        writing = self._log.append(update)
        if writing is not None:
            await writing

    def enter(self, step: Step, *, stop_reason: str | None = None, error: Any = UNSET) -> None:
        """Move the state of the foreground and tell it, as v2 wants."""
        # What is asked or answered outside of a turn does not change the foreground.
        phase = TRANSITIONS.get((self._phase, step), self._phase)
        if phase is self._phase and step is not Step.WORK_STOPPED:
            return
        self._phase = phase
        if stop_reason is not None:
            self.last_stop = (stop_reason, error)
        self.post_state()

    def post_state(self) -> None:
        """Tell the state as it is now; a repeat changes nothing."""
        self.post(self.state_update())

    def state_update(self) -> v2.StateUpdate:
        """The state now, as a snapshot, with what goes on in the background."""
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

    # ---- what lives with it

    def on_close(self, farewell: Farewell) -> None:
        """Have `farewell` awaited once, when the session is closed or deleted or the client gone.

        It is shielded from cancellation, and cut off after a bounded time.

        Raises:
            LocalProtocolError: that has happened already.
        """
        self.companions.on_close(farewell)

    def start_soon(self, function: Callable[..., Awaitable[Any]], *args: Any) -> None:
        """Start a task that ends by itself or with the session; what it raises is logged.

        Raises:
            LocalProtocolError: the session has ended already.
        """
        self.companions.start_soon(function, *args)

    # ---- commands that go on

    async def start_command(
        self,
        command: str,
        *args: str,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        output_bytes: int = 1024 * 1024,
    ) -> OwnTerminal:
        """Start a command that goes on behind the turns, in a process of ours; asks nobody.

        It ends by itself, by `stop`, or with the session; cancelling a turn does not touch it.
        """
        folder = str(self.cwd if cwd is None else self.cwd / cwd)
        check_words(command, *args)
        job = Job(command, args, folder, check_environment(env or {}), None, output_bytes)
        return await self.terminals.start(job, background=True)

    # ---- settings

    async def set_option(self, option_id: str, value: OptionValue, *, announce: bool) -> None:
        """Set an option of this session.

        Raises:
            LocalProtocolError: there is no such option, or no such value; nothing changed.
        """
        option = self._offer.find(option_id)
        if option is None:
            raise LocalProtocolError(f"this agent has no option {option_id!r}")
        if not option.accepts(value):
            raise LocalProtocolError(f"{value!r} is no value of option {option_id!r}")
        self._options[option_id] = value
        # Only what was set is kept: a default may be another one when the session goes on.
        await self._use(options={**self.record.options, option_id: value})
        if announce:
            await self.emit(v2.ConfigOptionUpdate(config_options=self.option_list()))

    async def settle_options(self, *, announce: bool) -> None:
        """Follow a change of the offer: what was set counts where it is still legal."""
        self._options = self._offer.settled(self.record.options)
        if announce:
            await self.emit(v2.ConfigOptionUpdate(config_options=self.option_list()))

    async def set_mode(self, mode_id: str) -> None:
        """Change the mode from the agent's side; the client is told."""
        if mode_id not in self._offer.modes:
            raise LocalProtocolError(f"this agent has no mode {mode_id!r}")
        await self.set_option(MODE_OPTION_ID, mode_id, announce=True)

    def option_list(self) -> list[v2.SessionConfigOption]:
        """All options with their current values, in the form of v2."""
        return said_options(self._offer, self._options)

    def command_list(self) -> list[v2.AvailableCommand]:
        """The slash commands that are shown, in the form of v2."""
        return said_commands(self._offer, self._hidden_commands)

    def introduce_with_commands(self) -> None:
        """As `introduce`, where the answer does not list the slash commands."""
        self.introduce()
        if commands := self.command_list():
            self.post(v2.AvailableCommandsUpdate(available_commands=commands))

    async def hide_commands(self, *names: str, announce: bool) -> None:
        """Show all slash commands but these, which still work; say so if that is a change."""
        if frozenset(names) != self._hidden_commands:
            self._hidden_commands = frozenset(names)
            if announce:
                update = v2.AvailableCommandsUpdate(available_commands=self.command_list())
                await self.emit(update)

    async def set_title(self, title: str | None) -> None:
        """Name the session; the client is told.  A name that the user chose stays."""
        check_update(v2.SessionInfoUpdate(title=title))
        if self._record.titled_by_user:
            return
        await self._use(title=title)
        at = self._record.updated_at or UNSET
        await self.emit(v2.SessionInfoUpdate(title=title, updated_at=at))

    # ---- MCP over this connection (unstable)

    async def call_mcp(
        self,
        server_id: str,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        on_notification: OnNotification | None = None,
    ) -> Any:
        """Ask an MCP server that the client runs, and return the result as plain Python.

        `on_notification` sees what the server says about this request while it is open.

        Raises:
            McpCallFailed: the server answered with an error.
            RequestFailed: the server was not reached.
        """
        if self.mcp_calls is None:
            raise LocalProtocolError("this session is not served")
        return await self.mcp_calls.call(self, server_id, method, params, on_notification)

    # ---- asking

    @contextmanager
    def asking(self) -> Generator[None]:
        """While a question is open the foreground waits for the user; the last answer ends that."""
        self._asking += 1
        self.enter(Step.USER_ASKED)
        try:
            yield
        finally:
            self._asking -= 1
            # Cancelled work does not go on: its next state is the idle that ends it.
            ends = self.turn is not None and self.turn.is_cancelled
            if self._asking == 0 and self._phase is Phase.REQUIRES_ACTION and not ends:
                self.enter(Step.USER_ANSWERED)

    async def ask_permission(self, ask: PermissionAsk) -> PermissionOption | None:
        """Ask the user; None when the answer is no choice that was offered.

        While everything waits for the user the state is `requires_action`.
        """
        ways = self._wire.ways
        if ways is not None:
            return await ways.ask_permission(self, ask)
        params = self._wire.permission_request(self.id, ask)
        try:
            with self.asking():
                result = await self._connection.call(REQUEST_PERMISSION, params)
        except RequestCancelled:
            # Some clients withdraw the question with -32800 instead of the outcome `cancelled`.
            ask.heard("cancelled")
            return None
        chosen = self._wire.permission_choice(result)
        heard(self, REQUEST_PERMISSION, result, is_used=chosen is not None)
        ask.heard(decided_by(result))
        option = next((one for one in ask.options if one.option_id == chosen), None)
        if option is None and chosen is not None:
            chose_what_was_not_offered(self, REQUEST_PERMISSION, chosen)
        return option

    async def visited(self, answer: Answer) -> None:
        """Tell the client that what the user agreed to do on a page is done."""
        from accord.agent.tools.elicitation import complete_url

        await complete_url(self, answer)

    def elicitation_scope(self) -> dict[str, Any]:
        """What a question to the user belongs to."""
        return {"sessionId": self.id}

    def decided(self, key: str) -> bool | None:
        """What the user answered for good earlier: yes, no, or nothing; see `Act`."""
        return self._decisions.get(key)

    def remember_all(self, keys: Sequence[str], *, allowed: bool) -> None:
        """Keep one lasting answer for the rest of the session, for each of these keys."""
        self.adopt(dict.fromkeys(keys, allowed))
        if self._wire.ways is not None:
            self._wire.ways.remembered(self, keys, allowed)

    def adopt(self, answers: Mapping[str, bool]) -> None:
        """Let answers hold here that were given elsewhere."""
        self._decisions.update(answers)

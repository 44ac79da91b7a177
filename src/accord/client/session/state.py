"""The state of a session: folds updates into the transcript, and hands them to their readers.

`Session` is the public face of it.

What always holds
    * Every update is folded into the transcript when it comes, whether or not anybody reads it.
    * An update goes to the oldest exchange that is not over, in v2 among those that the agent has
      inserted, and to every stream.
    * Updates of a turn that the program has left do not go to the next turn, as far as the agent
      lets us know.  v2 shows the difference at once.  In v1 only the late answer does: up to then
      the next turn shows them, and drops them then, also when it was left itself.  A turn that is
      answered as cancelled before an earlier one has not begun, and shows nothing.
    * Nothing is sent for a closed session.
"""

import weakref
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, TypeVar

from accord.client.connection.agent_connection import AgentLink
from accord.client.session.prompt_exchange import Exchange
from accord.client.session.turn_end import ForegroundWork, Outcome
from accord.client.session.update_inbox import Inbox
from accord.client.wire.wire_interface import Request, Setup
from accord.errors import AuthenticationRequired, LocalProtocolError
from accord.schema.struct import Raw
from accord.transcript import (
    StateChanged,
    ToolCallChanged,
    Transcript,
    Update,
    UserMessageChanged,
)
from accord.transcript.changes import ToolCallWithTerminals

UpdateListener: TypeAlias = Callable[[Update], None]
T = TypeVar("T")

# Unread pieces of a command's output; above this the command waits.
OUTPUT_PIECES_MAX = 64


# Left turns that are remembered until the agent ends them.
LEFT_MAX = 16

# States end turns, our prompts come back as echoes, and some calls bring terminals.
_HANDED_ON_WITH_CARE: frozenset[type] = frozenset(
    {StateChanged, UserMessageChanged, ToolCallWithTerminals}
)


class Caller(Protocol):
    """Calls the agent, and logs in where the agent asks for it."""

    async def call(self, link: "AgentLink[Any] | None", method: str, params: bytes) -> Raw:
        """Call a method, on this link if one is given."""
        ...

    async def read(
        self, request: Request, read: Callable[[Raw], T], *, link: "AgentLink[Any] | None" = None
    ) -> T:
        """Call a method and read its answer."""
        ...

    async def log_in_after(
        self, error: AuthenticationRequired, link: "AgentLink[Any] | None"
    ) -> None:
        """Log in, or raise the error where there is no way to."""
        ...


class WithdrawableRequest(Protocol):
    """A permission request that waits for the user."""

    @property
    def subjects(self) -> frozenset[str]:
        """The ids of the tool call and the terminal that it is about."""
        ...

    def withdraw(self) -> None: ...


class SessionCore:
    """One session of one link."""

    # The `Session` that wraps it; set by the client, which alone knows that type.
    session: Any = None

    def __init__(
        self,
        caller: Caller,
        link: "AgentLink[SessionCore]",
        session_id: str,
        setup: Setup,
        on_update: UpdateListener | None = None,
    ) -> None:
        self._caller = caller
        self.link = link
        self.id = session_id
        self.setup = setup
        self.transcript = Transcript(link.wire.dialect)
        self.is_closed = False
        self._ends_by_answer = link.wire.ends_turn_by_answer
        # Permission requests that wait for the user.
        self.questions: set[WithdrawableRequest] = set()
        self._cancelling = False
        # The exchanges that the agent has, in the order of sending, and those that wait to be sent
        # again.
        self._exchanges: list[Exchange] = []
        self._waiting: list[Exchange] = []
        # The inbox of the exchange that updates go to.
        self._inbox: Inbox | None = None
        self._streams: list[weakref.ref[Inbox]] = []
        self._on_update = on_update
        # The parts of the transcript's `apply`, since this is done for every update.
        self._folds, self.view = self.transcript.folding

    @property
    def cwd(self) -> str:
        """The absolute path of the working folder."""
        return self.setup.cwd

    @property
    def roots(self) -> tuple[str, ...]:
        """All folders of the session, the working folder first."""
        return (self.setup.cwd, *self.setup.additional_directories)

    @property
    def is_busy(self) -> bool:
        """Whether a prompt is open, or the agent reports work."""
        return self._is_followed or self._reports_work

    @property
    def _is_followed(self) -> bool:
        """Whether the program waits for the end of a prompt."""
        return bool(self._waiting) or any(not one.is_left for one in self._exchanges)

    @property
    def _reports_work(self) -> bool:
        state = self.transcript.state
        return state.reported is not None and not state.is_idle

    # ---- sending

    def require_open(self, doing: str) -> None:
        """Check that something may be sent.

        Raises:
            LocalProtocolError: the session is closed.
            ConnectionLost: the agent is gone.
        """
        if self.is_closed:
            raise self.link.connection.error or LocalProtocolError(
                f"cannot {doing}: the session {self.id!r} is closed"
            )
        if self.link.connection.error is not None:
            raise self.link.connection.error

    async def call(self, method: str, params: bytes) -> Raw:
        """Call the agent on the session's link."""
        return await self._caller.call(self.link, method, params)

    async def read(self, request: Request, read: Callable[[Raw], T]) -> T:
        """Call the agent on the session's link and read its answer."""
        return await self._caller.read(request, read, link=self.link)

    async def log_in_after(self, error: AuthenticationRequired) -> None:
        """Log in because the agent asked for it.

        Raises:
            AuthenticationRequired: there is no way to log in.
        """
        await self._caller.log_in_after(error, self.link)

    async def cancel(self) -> None:
        """Stop the agent's work in this session; does nothing if there is none."""
        self.require_open("cancel")
        connection = self.link.connection
        self._cancelling = self.is_busy
        can_cancel = self.link.wire.can_cancel
        # All of this before another task can prompt: what begins after the cancel goes on.
        if can_cancel:
            connection.post(*self.link.wire.about_session("session/cancel", self.id))
        self.transcript.turn_cancelled()
        self._settle_questions()
        if self.link.wire.uses_client_services:
            # Writes and terminals wait for the user too.
            self.link.services.cancel_session(self.id)
        for exchange in (*self._exchanges, *self._waiting):
            exchange.cancel_sent()
        for exchange in () if can_cancel else tuple(self._exchanges):
            # The agent cannot be stopped: drop its updates until it is done.
            self.apply = self._drop  # type: ignore[method-assign]
            exchange.give_up(self._resume_updates)
        if connection.wait_is_due():
            await connection.give_way()

    def _drop(self, wire_update: Any) -> None:
        """Ignore an update of a turn that is over here."""

    def _resume_updates(self) -> None:
        vars(self).pop("apply", None)

    def question_came(self, question: WithdrawableRequest) -> None:
        """The agent asks for permission; a turn that was cancelled gets none."""
        self.questions.add(question)
        if self._exchanges and all(one.is_cancelled for one in self._exchanges):
            self._settle_questions()

    def _settle_questions(self) -> None:
        """Withdraw the permission requests of cancelled work, but not of background work."""
        background = self.transcript.state.background or ()
        going_on = {item.item_id for item in background if item.item_id is not None}
        for question in tuple(self.questions):
            if not (question.subjects & going_on):
                question.withdraw()

    # ---- updates

    def apply_subject(self, tool_call: Any) -> None:
        """Fold the tool call of a permission request into the transcript."""
        update = self.transcript.apply_permission_subject(tool_call)
        if update is not None:
            self.hand_on(update)

    def apply(self, wire_update: Any) -> None:
        """Fold one update and hand it on.  The hot path: no task, no await, no copy."""
        fold = self._folds.get(type(wire_update))
        if fold is not None:
            update = fold(self.view, wire_update)
        else:
            update = self.transcript.apply(wire_update)
        if update is None:
            return
        if self._streams or type(update) in _HANDED_ON_WITH_CARE:
            self.hand_on(update)
            return
        # The common case, without another call.
        inbox = self._inbox
        if inbox is not None:
            inbox.put(update)
        elif self._waiting:
            self.hand_on(update)
            return
        if self._on_update is not None:
            self._on_update(update)

    def hand_on(self, update: Update) -> None:
        """Give an update that is already in the transcript to its readers."""
        if isinstance(update, ToolCallWithTerminals):
            self.hand_on(ToolCallChanged(update.item, update.text, update.wire))
            for terminal in update.terminals:
                self.hand_on(terminal)
            return
        if update.kind == "state":
            self._state_came()
        elif not (update.kind == "user_message" and update.item.is_own):
            inboxes = [one.inbox for one in self._waiting_again()]
            for inbox in inboxes[:1] if self._inbox is None else (self._inbox,):
                inbox.put(update)
        if self._on_update is not None:
            self._on_update(update)
        if self._streams:
            for stream in self._open_streams():
                stream.put(update)

    def _waiting_again(self) -> list[Exchange]:
        """The exchanges that wait to be sent again; one that was never sent gets no updates."""
        return [one for one in self._waiting if one.was_sent]

    def _open_streams(self) -> list[Inbox]:
        # A copy, since garbage collection may remove entries at any moment.
        streams = [reference() for reference in tuple(self._streams)]
        return [stream for stream in streams if stream is not None]

    async def room(self) -> None:
        """Wait while readers are far behind, before adding updates of our own."""
        if self._inbox is not None:
            await self._inbox.room(OUTPUT_PIECES_MAX)
        for stream in self._open_streams():
            await stream.room(OUTPUT_PIECES_MAX)

    def _state_came(self) -> None:
        state = self.transcript.state
        outcome = Outcome(state.stop_reason, state.tokens, state.error)
        is_idle = state.confirmed == "idle"
        for exchange in tuple(self._exchanges):
            exchange.state_came(is_idle, outcome)
        if is_idle and self._cancelling:
            # Agents of early drafts never withdraw their requests.
            self._cancelling = False
            self._settle_questions()

    def stream(self) -> Inbox:
        """A queue of all updates from now on, as long as it is referenced."""
        owner = f"the updates() of session {self.id!r}"
        inbox = Inbox(self.link.connection, self.link.options.limits.turn_updates, owner)
        self._streams.append(weakref.ref(inbox, self._streams.remove))
        return inbox

    # ---- exchanges

    def exchange_begins(self, exchange: Exchange) -> None:
        """A prompt is about to be sent."""
        self.require_open("prompt")
        busy = bool(self._exchanges) or self._reports_work
        if not busy:
            self.transcript.turn_started()
        queued = bool(self._exchanges)
        exchange.message = self.transcript.prompt_sent(exchange.blocks, queued=queued)
        if not self._ends_by_answer:
            exchange.work = ForegroundWork(busy=busy)
        self._join_line(exchange)
        for one in self._exchanges if queued else ():
            one.overlaps = True

    def exchange_waits(self, exchange: Exchange) -> None:
        """The agent has not taken its prompt, which will be sent again later."""
        if exchange in self._exchanges:
            self._waiting.append(exchange)
            self._leave_line(exchange)

    def exchange_repeats(self, exchange: Exchange, *, inserted: bool) -> None:
        """Its prompt is about to be sent again.

        If the first one was `inserted`, the transcript shows both.
        """
        if inserted:
            queued = bool(self._exchanges)
            exchange.message = self.transcript.prompt_sent(exchange.blocks, queued=queued)

    def exchange_rejoins(self, exchange: Exchange) -> None:
        """Its prompt is sent: it is the last in the line."""
        if exchange in self._waiting:
            self._waiting.remove(exchange)
            if not self._ends_by_answer:
                exchange.work = ForegroundWork(busy=bool(self._exchanges) or self._reports_work)
            if not self._exchanges:
                self.transcript.turn_started()
            self._join_line(exchange)

    def exchange_inserted(self, exchange: Exchange) -> None:
        """A v2 agent has made its prompt part of the conversation.

        So no more updates come for older exchanges that were left, nor for those that the agent
        has skipped, until it inserts them too.
        """
        if exchange not in self._exchanges:
            return
        for one in self._exchanges[: self._exchanges.index(exchange)]:
            if one.is_left:
                self.left_exchange_ended(one)
            elif not one.is_inserted:
                one.span.forget()
        self._choose_inbox()
        exchange.span.begin()

    def end_cancelled_calls(self) -> None:
        """Mark the open calls of a cancelled turn as ended, because v1 agents cannot."""
        if self.link.wire.ends_cancelled_calls:
            for call in self.transcript.turn_cancelled():
                call.end_cancelled()
                self.hand_on(ToolCallChanged(call, "", None))

    def exchange_ended(self, exchange: Exchange) -> None:
        """End an exchange; the next one takes its place.

        One that was left keeps its place until the agent has ended it too.
        """
        if exchange in self._waiting:
            self._waiting.remove(exchange)
        if exchange.is_left:
            left = [one for one in self._exchanges if one.is_left]
            for forgotten in left[:-LEFT_MAX]:
                self._exchanges.remove(forgotten)
            self._choose_inbox()
            self._end_approvals()
        else:
            if exchange.stop_reason == "cancelled" and self._follows_a_left_one(exchange):
                # Agents work in order, so this prompt was cancelled while it was queued.
                exchange.span.forget()
            self._leave_line(exchange)

    def _follows_a_left_one(self, exchange: Exchange) -> bool:
        """Whether the agent still owes the answer to an earlier prompt that was left."""
        if not self._ends_by_answer or exchange not in self._exchanges:
            return False
        return any(one.is_left for one in self._exchanges[: self._exchanges.index(exchange)])

    def left_exchange_ended(self, exchange: Exchange) -> None:
        """The agent has ended a left turn: later updates belong to the next exchange."""
        if self._ends_by_answer and exchange in self._exchanges:
            # Agents work in order: nothing has come yet for later exchanges that were left.
            for later in self._exchanges[self._exchanges.index(exchange) + 1 :]:
                if later.is_left:
                    later.span.forget()
        self._leave_line(exchange, was_left=True)

    def _join_line(self, exchange: Exchange) -> None:
        is_first = not self._exchanges
        if self._ends_by_answer:
            # Left turns may never end, so this exchange may have begun.
            is_first = all(one.is_left for one in self._exchanges)
        self._exchanges.append(exchange)
        self._choose_inbox()
        if is_first:
            exchange.span.begin()

    def _leave_line(self, exchange: Exchange, *, was_left: bool = False) -> None:
        if exchange in self._exchanges:
            heard_before, place = self._receiving, self._exchanges.index(exchange)
            self._exchanges.remove(exchange)
            self._choose_inbox()
            heard = self._receiving
            if heard is None or heard.is_left:
                pass
            elif was_left and self._exchanges.index(heard) >= place:
                self.transcript.turn_started()
                heard.restart_span()
            elif heard is not heard_before:
                self.transcript.turn_started()
                heard.span.begin()
        self._end_approvals()

    @property
    def _receiving(self) -> Exchange | None:
        """The exchange that updates go to."""
        line = self._exchanges
        if self._ends_by_answer:
            return next((one for one in line if not one.is_left), None)
        # Nothing comes for an exchange before its prompt is inserted.
        return next((one for one in line if one.is_inserted), line[0] if line else None)

    def _choose_inbox(self) -> None:
        heard = self._receiving
        self._inbox = None if heard is None else heard.inbox

    def _end_approvals(self) -> None:
        if not self._is_followed:
            self.link.services.end_turn(self.id)

    # ---- the end

    def over(self) -> None:
        """Close the session, and end everything that waits for it."""
        if self.is_closed:
            return
        self.is_closed = True
        self.link.remove_session(self)
        for question in tuple(self.questions):
            question.withdraw()
        error = LocalProtocolError(f"the session {self.id!r} was closed")
        for exchange in (*self._exchanges, *self._waiting):
            exchange.fail(self.link.connection.error or error)
        for stream in self._open_streams():
            stream.close()

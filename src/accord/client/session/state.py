"""What the library itself does with a session: folds what comes, and hands it to who looks.

A `Session` is what a program holds of it.

What always holds
    * Every update is folded into the transcript when it comes, whoever looks at it.
    * An update goes to the oldest exchange that is not over, in v2 of those that the agent has
      taken in, and to every stream.
    * What comes for a turn that the program has left is not taken for the next one's, as far as
      the agent lets us know: v2 tells it at once; in v1 only the late answer does, up to which
      the next turn shows it, and drops it then, also when it was left itself.  A turn that is
      answered as cancelled before an earlier one has not begun, and shows nothing.
    * Nothing is sent for a session that is closed.
"""

import weakref
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, TypeVar

from accord.client.connection.agent_connection import AgentLink
from accord.client.session.exchange import Exchange
from accord.client.session.inbox import Inbox
from accord.client.session.turn_end import ForegroundWork, Outcome
from accord.client.wire.wire import Request, Setup
from accord.errors import AuthenticationRequired, LocalProtocolError
from accord.schema.struct import Raw
from accord.transcript import (
    StateChanged,
    ToolCallChanged,
    Transcript,
    Update,
    UserMessageChanged,
)
from accord.transcript.update import ToolCallWithTerminals

UpdateListener: TypeAlias = Callable[[Update], None]
T = TypeVar("T")

# Pieces of a command's output that may wait for whoever looks; then the command waits.
OUTPUT_PIECES_MAX = 64


# Turns that were left and that the agent has not ended, which are remembered.
LEFT_MAX = 16

# States move turns, a prompt of our own comes back as an echo, and some calls bring terminals.
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

    def withdraw(self) -> None:
        """Answer it `cancelled`."""
        ...


class SessionState:
    """One session of one link."""

    # The `Session` that wraps it; set by the client, which alone knows that type.
    session: Any = None

    def __init__(
        self,
        caller: Caller,
        link: "AgentLink[SessionState]",
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
        # Those that the agent has, in the order in which it got them, and those that wait to be
        # sent once more.
        self._exchanges: list[Exchange] = []
        self._waiting: list[Exchange] = []
        # Of the exchange that updates go to.
        self._inbox: Inbox | None = None
        self._streams: list[weakref.ref[Inbox]] = []
        self._on_update = on_update
        # The parts of the transcript's `apply`, which is called for every update.
        self._folds, self._view = self.transcript.folding

    @property
    def cwd(self) -> str:
        """The absolute path of the folder that it works in."""
        return self.setup.cwd

    @property
    def roots(self) -> tuple[str, ...]:
        """All folders that it may touch, the working folder first."""
        return (self.setup.cwd, *self.setup.additional_directories)

    @property
    def is_busy(self) -> bool:
        """Whether a prompt of ours is open, or the agent says that it works."""
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
        """Call the agent on the link that the session lives on."""
        return await self._caller.call(self.link, method, params)

    async def read(self, request: Request, read: Callable[[Raw], T]) -> T:
        """Call the agent on that link and read its answer."""
        return await self._caller.read(request, read, link=self.link)

    async def log_in_after(self, error: AuthenticationRequired) -> None:
        """The agent wants a login before it does what it was asked.

        Raises:
            AuthenticationRequired: we know no way to log in.
        """
        await self._caller.log_in_after(error, self.link)

    async def cancel(self) -> None:
        """Stop what the agent is doing here.  Nothing happens when it does nothing."""
        self.require_open("cancel")
        connection = self.link.connection
        self._cancelling = self.is_busy
        can_cancel = self.link.wire.can_cancel
        # All of it before anybody else can prompt: what begins behind the cancel goes on.
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
            # Nobody listens any more until the agent, which cannot be stopped, is done.
            self.apply = self._drop  # type: ignore[method-assign]
            exchange.give_up(self._heard_out)
        if connection.wait_is_due():
            await connection.give_way()

    def _drop(self, wire_update: Any) -> None:
        """Take an update of a turn that is over for us."""

    def _heard_out(self) -> None:
        vars(self).pop("apply", None)

    def _settle_questions(self) -> None:
        """Who is cancelled waits for no answer; what goes on in the background still does."""
        background = self.transcript.state.background or ()
        going_on = {item.item_id for item in background if item.item_id is not None}
        for question in tuple(self.questions):
            if not (question.subjects & going_on):
                question.withdraw()

    # ---- what came

    def apply_subject(self, tool_call: Any) -> None:
        """Take the tool call that a permission request is about; nobody is told but the view."""
        update = self.transcript.apply_permission_subject(tool_call)
        if update is not None:
            self.hand_on(update)

    def apply(self, wire_update: Any) -> None:
        """Fold one update and hand it on.  The hot path: no task, no await, no copy."""
        fold = self._folds.get(type(wire_update))
        if fold is not None:
            update = fold(self._view, wire_update)
        else:
            update = self.transcript.apply(wire_update)
        if update is None:
            return
        if self._streams or type(update) in _HANDED_ON_WITH_CARE:
            self.hand_on(update)
            return
        # What nearly all updates of a turn, or of a past, are, without another call.
        inbox = self._inbox
        if inbox is not None:
            inbox.put(update)
        elif self._waiting:
            self.hand_on(update)
            return
        if self._on_update is not None:
            self._on_update(update)

    def hand_on(self, update: Update) -> None:
        """Give an update that is in the transcript to whoever looks."""
        if isinstance(update, ToolCallWithTerminals):
            self.hand_on(ToolCallChanged(update.item, update.text, update.wire))
            for terminal in update.terminals:
                self.hand_on(terminal)
            return
        if update.kind == "state":
            self._state_came()
        elif not (update.kind == "user_message" and update.item.is_own):
            inboxes = [one.inbox for one in self._waited_for()]
            for inbox in inboxes[:1] if self._inbox is None else (self._inbox,):
                inbox.put(update)
        if self._on_update is not None:
            self._on_update(update)
        if self._streams:
            for stream in self._looking():
                stream.put(update)

    def _waited_for(self) -> list[Exchange]:
        """Those that wait to be sent once more; whoever sends the first time takes nothing yet."""
        return [one for one in self._waiting if one.was_sent]

    def _looking(self) -> list[Inbox]:
        # A copy: one that is garbage may leave the list at any moment.
        streams = [reference() for reference in tuple(self._streams)]
        return [stream for stream in streams if stream is not None]

    async def room(self) -> None:
        """Wait while whoever looks is far behind: for what we produce ourselves."""
        if self._inbox is not None:
            await self._inbox.room(OUTPUT_PIECES_MAX)
        for stream in self._looking():
            await stream.room(OUTPUT_PIECES_MAX)

    def _state_came(self) -> None:
        state = self.transcript.state
        outcome = Outcome(state.stop_reason, state.tokens, state.error)
        is_idle = state.is_idle
        for exchange in tuple(self._exchanges):
            exchange.state_came(is_idle, outcome)
        if is_idle and self._cancelling:
            # Agents of an older draft never take their questions back themselves.
            self._cancelling = False
            self._settle_questions()

    def stream(self) -> Inbox:
        """A queue of all updates from now on, for as long as somebody holds it."""
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
        """The agent has not taken its prompt, which is to be sent once more, after a while."""
        if exchange in self._exchanges:
            self._waiting.append(exchange)
            self._leave_line(exchange)

    def exchange_repeats(self, exchange: Exchange, *, inserted: bool) -> None:
        """Its prompt is about to be sent once more.

        One that the agent had `inserted` is part of the conversation, and so is the new one.
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
        """A v2 agent has taken its prompt in.

        So nothing comes any more for older ones that were left, nor for any that it has passed
        over until it takes them in too.
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
        """A turn is over that was cancelled; v1 agents have no word for calls that it cut off."""
        if self.link.wire.ends_cancelled_calls:
            for call in self.transcript.turn_cancelled():
                call.end_cancelled()
                self.hand_on(ToolCallChanged(call, "", None))

    def exchange_ended(self, exchange: Exchange) -> None:
        """It is over; the next one, if one waits, has its turn.

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
                # Agents take prompts in turn, so this one was cancelled while it was queued.
                exchange.span.forget()
            self._leave_line(exchange)

    def _follows_a_left_one(self, exchange: Exchange) -> bool:
        """Whether a v1 agent still owes the answer to an earlier prompt."""
        if not self._ends_by_answer or exchange not in self._exchanges:
            return False
        return any(one.is_left for one in self._exchanges[: self._exchanges.index(exchange)])

    def left_exchange_ended(self, exchange: Exchange) -> None:
        """What comes from here on belongs to the next."""
        if self._ends_by_answer and exchange in self._exchanges:
            # Agents take prompts in turn: of later ones that were left too, nothing has come yet.
            for later in self._exchanges[self._exchanges.index(exchange) + 1 :]:
                if later.is_left:
                    later.span.forget()
        self._leave_line(exchange, was_left=True)

    def _join_line(self, exchange: Exchange) -> None:
        is_first = not self._exchanges
        if self._ends_by_answer:
            # There may be no end of those that were left, so perhaps it has begun.
            is_first = all(one.is_left for one in self._exchanges)
        self._exchanges.append(exchange)
        self._choose_inbox()
        if is_first:
            exchange.span.begin()

    def _leave_line(self, exchange: Exchange, *, was_left: bool = False) -> None:
        if exchange in self._exchanges:
            heard_before, place = self._heard, self._exchanges.index(exchange)
            self._exchanges.remove(exchange)
            self._choose_inbox()
            heard = self._heard
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
    def _heard(self) -> Exchange | None:
        """The one that what comes is for."""
        line = self._exchanges
        if self._ends_by_answer:
            return next((one for one in line if not one.is_left), None)
        # Nothing that comes before its prompt is inserted can be for a later one.
        return next((one for one in line if one.is_inserted), line[0] if line else None)

    def _choose_inbox(self) -> None:
        heard = self._heard
        self._inbox = None if heard is None else heard.inbox

    def _end_approvals(self) -> None:
        if not self._is_followed:
            self.link.services.end_turn(self.id)

    # ---- the end

    def over(self) -> None:
        """The session is closed: whoever waits here is told."""
        if self.is_closed:
            return
        self.is_closed = True
        self.link.remove_session(self)
        for question in tuple(self.questions):
            question.withdraw()
        error = LocalProtocolError(f"the session {self.id!r} was closed")
        for exchange in (*self._exchanges, *self._waiting):
            exchange.fail(self.link.connection.error or error)
        for stream in self._looking():
            stream.close()


__all__ = ["SessionState", "UpdateListener"]

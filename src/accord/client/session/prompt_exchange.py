"""One prompt, from sending to the end of its turn.  `PromptTurn` is the public face of it.

Several prompts may be open in a session at once.  Agents work on them one after the other, or take
a later one into the current work; updates belong to the oldest exchange that is not over.

What always holds
    * An exchange ends exactly once, and its span of the transcript then has a beginning and an end.
    * Its error is raised once: to the first that looks.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Protocol

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from accord.client.callbacks import guarded
from accord.client.connection.agent_connection import AgentLink
from accord.client.connection.error_context import add_last_message
from accord.client.session.retry import Repeat, RetrySchedule
from accord.client.session.transcript_span import TranscriptSpan
from accord.client.session.turn_end import (
    ForegroundWork,
    Outcome,
    Verdict,
    failure_of,
    only_says_stopped,
)
from accord.client.session.update_inbox import Inbox
from accord.client.wire.wire_interface import Request, unreadable
from accord.errors import (
    AuthenticationRequired,
    LocalProtocolError,
    RequestCancelled,
    RequestFailed,
)
from accord.machine.redacted_logs import logger
from accord.schema.codec import Invalid
from accord.schema.struct import Raw
from accord.transcript import Message, Transcript
from accord.transcript.entities import View

_log = logger("accord.client")

# How long to wait for work to begin before an idle agent counts as done.
QUIET_SECONDS_MAX = 1.0


class ExchangeLine(Protocol):
    """The session that an exchange belongs to, and the line of its open exchanges."""

    @property
    def link(self) -> AgentLink[Any]:
        """The connection of the session."""
        ...

    @property
    def transcript(self) -> Transcript:
        """The transcript of the session."""
        ...

    @property
    def view(self) -> View:
        """The items of the transcript."""
        ...

    async def cancel(self) -> None:
        """Stop what the agent does in the session."""
        ...

    async def log_in_after(self, error: AuthenticationRequired) -> None:
        """Log in because the agent asked for it."""
        ...

    def exchange_begins(self, exchange: "Exchange") -> None:
        """Its prompt is about to be sent."""
        ...

    def exchange_waits(self, exchange: "Exchange") -> None:
        """The agent has not taken its prompt, which will be sent again later."""
        ...

    def exchange_repeats(self, exchange: "Exchange", *, inserted: bool) -> None:
        """Its prompt is about to be sent again; the first one may have been `inserted`."""
        ...

    def exchange_rejoins(self, exchange: "Exchange") -> None:
        """Its prompt is sent: it is the last in the line."""
        ...

    def exchange_inserted(self, exchange: "Exchange") -> None:
        """The agent has made its prompt part of the conversation."""
        ...

    def exchange_ended(self, exchange: "Exchange") -> None: ...

    def left_exchange_ended(self, exchange: "Exchange") -> None:
        """The agent has ended a turn that the program had left."""
        ...

    def end_cancelled_calls(self) -> None:
        """A cancelled turn is over, and so are its tool calls."""
        ...


class Exchange:
    """A prompt and the agent's work on it."""

    def __init__(self, session: ExchangeLine, blocks: Sequence[Any], request: Request) -> None:
        self._session = session
        self._request = request
        link = session.link
        self._ends_by_answer = link.wire.ends_turn_by_answer
        self.stop_reason: str | None = None
        self.usage: Any = None
        self.error: Exception | None = None
        self.blocks = blocks
        # None until the prompt is sent, and always where the answer ends the turn.
        self.work: ForegroundWork | None = None
        # Closed until the prompt is sent: reading it before that is a mistake.
        self.inbox = Inbox(link.connection, link.options.limits.turn_updates)
        self.inbox.closed = True
        # The prompt in the transcript.
        self.message: Message | None = None
        # The part of the transcript that belongs to this exchange.
        self.span = TranscriptSpan(session.transcript, session.view)
        # The open call, unless a task makes it inside the scope.
        self._call_id: int | None = None
        self._scope: anyio.CancelScope | None = None
        # Whether the prompt is sent, and does not wait for a free slot or a login.
        self._on_wire = False
        # Whether the prompt was sent at least once, and whether the agent is done with it.
        self.was_sent = self.is_over = False
        # Whether no answer is waited for any more.
        self._is_settled = False
        # For tasks that wait until one of these three changes.
        self._changed: anyio.Event | None = None
        self._raised = self._looking = self._logs_in = False
        # Whether another prompt of ours was open at the same time.
        self.overlaps = False
        # Whether the program has left it before the agent ended it.
        self.is_left = False
        # Set while the prompt waits to be sent again.
        self._waiting: Repeat | None = None
        self.is_cancelled = False
        self._retry_schedule = RetrySchedule(link.options.retry)
        # Called when the answer comes to a turn that was given up.
        self._on_late_end: Callable[[], None] | None = None

    @property
    def is_inserted(self) -> bool:
        """Whether the agent has made the prompt part of the conversation, as v2 agents say."""
        return self.work is not None and self.work.is_inserted

    def restart_span(self) -> None:
        """Begin again: updates so far belonged to a turn that the program had left."""
        self.span.forget()
        self.inbox.empty()
        self.span.begin()

    # ---- for the turn

    async def send(self) -> None:
        """Send the prompt; returns when it is on its way, or its end is known."""
        await checkpoint_if_cancelled()
        self._session.exchange_begins(self)
        self.inbox.closed = False
        self._call_at_once()
        try:
            while not self.was_sent:
                await self._change()
        except BaseException:
            if self.was_sent:
                await self.leave()
            else:
                # Nothing was sent.
                self._abandon()
                self._reject_prompt()
                self._finish(Outcome("cancelled"))
            raise

    async def wait(self, *, reads_on: bool) -> None:
        """Wait for the end without reading the updates."""
        self.inbox.discard()
        if not reads_on:
            await self._end()
            return
        with self._session.link.connection.reading.awaited():
            await self._end()

    async def raise_error(self) -> None:
        """Raise the error of this exchange, unless it was raised before."""
        error = self.error
        if error is not None and not self._raised:
            self._raised = True
            await self._session.link.explain(error)
            raise error

    async def leave(self) -> None:
        """Cancel and wait for the end; after the bound the exchange is over anyway."""
        self.inbox.discard()
        self._raised = True
        link = self._session.link
        seconds = link.options.limits.close_seconds
        with anyio.move_on_after(seconds, shield=True), link.connection.reading.awaited():
            if link.connection.error is None and not self.is_over:
                await self._session.cancel()
            await self._end()
        if not self.is_over:
            _log.warning("the agent did not end a cancelled turn within %g s", seconds)
            self.is_left = self._on_wire and link.connection.error is None
            self._finish(Outcome("cancelled"))
        self._abandon()
        # The agent must hear of this end before the next prompt.
        with anyio.move_on_after(seconds, shield=True):
            while not self._is_settled:
                await self._change()

    async def _change(self) -> None:
        """Wait until the prompt is sent, its call is settled, or the exchange is over."""
        if self._changed is None:
            self._changed = anyio.Event()
        await self._changed.wait()

    async def _end(self) -> None:
        while not self.is_over:
            await self._change()

    def _wake(self) -> None:
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    # ---- the call

    def _call_at_once(self) -> None:
        """Send the prompt now, or in a task if it must wait before it can be sent."""
        self._logs_in = self._session.link.may_log_in
        try:
            self._begin_call()
        except LocalProtocolError as error:
            self._settle()
            self.fail(error)
            return
        if self._call_id is None:
            self._step_aside()
            self._run_task(self._call)
        else:
            self._on_wire = self.was_sent = True

    def _settle(self) -> None:
        self._is_settled = True
        self._wake()

    def give_up(self, on_end: Callable[[], None]) -> None:
        """End the exchange though the agent cannot be stopped; `on_end` follows its answer."""
        if self._call_id is not None:
            self._call_id, self._on_late_end = None, on_end
            self._settle()
        self._finish(Outcome("cancelled"))

    def _begin_call(self) -> None:
        """Send the request; its answer is handled in wire order, and no task waits for it."""
        method, params = self._request
        self._call_id = self._session.link.connection.begin_call(
            method, params, on_result=self._answered, on_end=self._call_ended
        )

    def _call_ended(self, error: Exception | None) -> None:
        self._call_id = None
        if self._on_late_end is not None:
            self._on_late_end()
            return
        if isinstance(error, AuthenticationRequired) and self._logs_in:
            self._logs_in = False
            self._step_aside()
            self._run_task(partial(self._call_after_login, error))
            return
        self._settle()
        if error is not None:
            self._call_failed(error)

    def _call_failed(self, error: Exception) -> None:
        if isinstance(error, Invalid):
            error = unreadable(self._request[0], error)
        if isinstance(error, RequestCancelled) or self._was_stopped(error):
            self._refused()
            self._finish(Outcome("cancelled"))
        elif isinstance(error, RequestFailed):
            if not self._is_repeated(error, inserted=False):
                self._refused()
                self.fail(error)
        else:
            self.fail(error)

    def _abandon(self) -> None:
        """Stop waiting for the answer."""
        if self._scope is not None:
            self._scope.cancel()
        if self._call_id is not None:
            link = self._session.link
            link.connection.give_up(self._call_id, self._answered_late)
            self._call_id = None
            self._settle()

    def _run_task(self, work: Callable[[], Awaitable[None]]) -> None:
        """Send the prompt in a task of the connection."""
        scope = self._scope = anyio.CancelScope()

        async def run() -> None:
            failure: Exception | None = None
            try:
                with scope:
                    await guarded(work())
            except Exception as error:  # noqa: BLE001 - a login of the program may raise anything
                failure = error
            finally:
                if self._call_id is None:
                    self._settle()
            if failure is not None:
                self._call_failed(failure)

        self._session.link.connection.run(run)

    async def _call(self) -> None:
        await self._session.link.connection.place()
        if not self.is_over:
            self._on_wire = self.was_sent = True
            self._wake()
            self._session.exchange_rejoins(self)
            self._begin_call()

    def _step_aside(self) -> None:
        """Leave the line: until the prompt is sent again, updates belong to other exchanges."""
        self.work = None
        self._on_wire = self._looking = False
        self.span.forget()
        self._session.exchange_waits(self)

    async def _call_after_login(self, error: AuthenticationRequired) -> None:
        if self.is_cancelled:
            raise error
        await self._session.log_in_after(error)
        await self._call()

    async def _repeat(self, repeat: Repeat) -> None:
        with anyio.move_on_after(repeat.seconds):
            await self._end()
        if not self.is_over:
            self._waiting = None
            self._session.exchange_repeats(self, inserted=repeat.inserted)
            self._logs_in = self._session.link.may_log_in
            await self._call()

    def _answered(self, result: Raw) -> None:
        session = self._session
        answer = session.link.wire.read_prompt_answer(result)
        if self.message is not None and answer.message_id is not None:
            session.transcript.prompt_inserted(self.message, answer.message_id)
        if self.work is None or answer.stop_reason is not None:
            self._finish(Outcome(answer.stop_reason, answer.usage, answer.error))
        else:
            # The agent may take it into the current work.
            self._inserted(self.work)

    def _answered_late(self, has_result: bool) -> None:
        if not has_result:
            self._refused()
        if has_result and self.work is not None:
            self._inserted(self.work)
        else:
            self._finish(Outcome("cancelled"))

    def _inserted(self, work: ForegroundWork) -> None:
        verdict = work.inserted()
        self._session.exchange_inserted(self)
        self._judge(verdict)

    def state_came(self, is_idle: bool, outcome: Outcome) -> None:
        """The agent reported its state."""
        if self.work is not None:
            work = self.work
            self._judge(work.reported_idle(outcome) if is_idle else work.reported_busy())

    def cancel_sent(self) -> None:
        """The agent was asked to stop."""
        self.is_cancelled = True
        if self._waiting is not None or not self._on_wire:
            # If it were sent after the cancel, nothing would stop it.
            if self._waiting is None:
                self._reject_prompt()
            self._finish(Outcome("cancelled"))
        elif self.work is not None:
            self._judge(self.work.cancelled())

    def _judge(self, verdict: Verdict) -> None:
        assert self.work is not None
        if verdict is Verdict.ENDED:
            self._finish(self.work.outcome)
        elif verdict is Verdict.PERHAPS and not self._looking:
            self._looking = True
            self._session.link.connection.run(partial(self._look_again, self.work))

    async def _look_again(self, work: ForegroundWork) -> None:
        with anyio.move_on_after(QUIET_SECONDS_MAX):
            await self._end()
        if self.work is work:
            self._looking = False
            if work.is_quiet:
                self._finish(work.outcome)

    def _is_repeated(self, error: Exception, *, inserted: bool) -> bool:
        """Whether the prompt is sent again after a while, because only this error came of it.

        An agent that has said or done something for the prompt would do it twice.
        """
        if self.is_over or self.is_cancelled or not self.span.is_empty:
            return False
        if inserted and self.overlaps:
            # Prompts that the agent took together cannot be told apart.
            return False
        seconds = self._retry_schedule.seconds_after(error)
        if seconds is None:
            return False
        _log.info("session/prompt: rate limited, next try in %g s", seconds)
        self._waiting = repeat = Repeat(seconds, inserted)
        self._step_aside()
        self._is_settled = False
        self._run_task(partial(self._repeat, repeat))
        return True

    # ---- the end

    def _finish(self, outcome: Outcome) -> None:
        if not self.is_over:
            if outcome.stop_reason == "error":
                error = failure_of(outcome.error)
                if self._was_stopped(error):
                    outcome = Outcome("cancelled", outcome.usage)
                elif self._is_repeated(error, inserted=True):
                    return
                else:
                    self.error = error
            self.stop_reason = outcome.stop_reason
            self.usage = outcome.usage
        self._close()

    def _was_stopped(self, error: Exception) -> bool:
        stopped = self.is_cancelled and only_says_stopped(error)
        if stopped:
            _log.info("the agent ended a cancelled prompt with an error: %s", error)
        return stopped

    def fail(self, error: Exception) -> None:
        """End the exchange with an error."""
        if not self.is_over:
            self.error = error
        self._close()

    def _refused(self) -> None:
        """Remove a refused prompt from the transcript, unless the answer ends the turn."""
        if not self._ends_by_answer:
            self._reject_prompt()

    def _reject_prompt(self) -> None:
        if self.message is not None:
            self._session.transcript.prompt_rejected(self.message)
            self.message = None

    def _close(self) -> None:
        if self.is_over:
            if self.is_left:
                self.is_left = False
                self._session.left_exchange_ended(self)
            return
        if self._waiting is not None and not (self._waiting.inserted or self._ends_by_answer):
            self._reject_prompt()
        if self.stop_reason == "cancelled":
            self._session.end_cancelled_calls()
        elif self.error is not None:
            add_last_message(self.error, self._session.transcript, self.span)
        self.span.end()
        self.is_over = self.was_sent = True
        self._wake()
        self.inbox.close()
        self._session.exchange_ended(self)

"""One prompt from being sent to its end: what a `PromptTurn` shows of it is all that is public.

Several prompts may be open in a session at once.  Agents take them one after the other, or take a
later one into the work that goes on; what is said belongs to the oldest that is not over.

What always holds
    * It ends exactly once, and its place in the transcript has then a beginning and an end.
    * An error is raised once: where somebody looks first.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Protocol

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from accord.client.callbacks import guarded
from accord.client.connection.agent_connection import AgentLink
from accord.client.connection.error_context import add_last_message
from accord.client.session.inbox import Inbox
from accord.client.session.retry import Repeat, RetrySchedule
from accord.client.session.transcript_span import TranscriptSpan
from accord.client.session.turn_end import ForegroundWork, Outcome, Verdict, failure_of
from accord.client.wire.wire import Request, unreadable
from accord.connection.lazy_event import LazyEvent
from accord.errors import (
    AuthenticationRequired,
    LocalProtocolError,
    RequestCancelled,
    RequestFailed,
)
from accord.jsonrpc.error_codes import INTERNAL_ERROR
from accord.machine.logs import logger
from accord.schema.codec import Invalid
from accord.schema.struct import Raw
from accord.transcript import Message, Transcript

_log = logger("accord.client")

# How long work that seems to be over may still be about to begin.
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

    def exchange_ended(self, exchange: "Exchange") -> None:
        """It is over."""
        ...

    def left_exchange_ended(self, exchange: "Exchange") -> None:
        """The agent has ended a turn that the program had left."""
        ...

    def end_cancelled_calls(self) -> None:
        """A cancelled turn is over, and so are its tool calls."""
        ...


class Exchange:
    """A prompt and what the agent does about it."""

    def __init__(self, session: ExchangeLine, blocks: Sequence[Any], request: Request) -> None:
        self._session = session
        self._request = request
        link = session.link
        self._ends_by_answer = link.wire.ends_turn_by_answer
        self.stop_reason: str | None = None
        self.usage: Any = None
        self.error: Exception | None = None
        self.blocks = blocks
        # None until the prompt is sent, and always in v1.
        self.work: ForegroundWork | None = None
        # Closed until the prompt is sent: whoever looks before that has made a mistake.
        self.inbox = Inbox(link.connection, link.options.limits.turn_updates)
        self.inbox.closed = True
        # The prompt as the transcript shows it.
        self.message: Message | None = None
        # Its part of the transcript.
        self.span = TranscriptSpan(session.transcript)
        # The open call, unless a task makes it: then that lives in the scope.
        self._call_id: int | None = None
        self._scope: anyio.CancelScope | None = None
        # Whether the agent has been sent it; what waits for a place or a login has not.
        self._on_wire = False
        self._sent, self._ended, self._call_settled = LazyEvent(), LazyEvent(), LazyEvent()
        self._raised = self._looking = self._logs_in = False
        # Whether another prompt of ours was open at the same time.
        self.overlaps = False
        # Whether it is over for the program, and the agent has not ended it.
        self.is_left = False
        # There while the prompt waits to be sent once more.
        self._waiting: Repeat | None = None
        self._cancelled = False
        self._retry_schedule = RetrySchedule(link.options.retry)
        # Told when the answer comes to a turn that was given up.
        self._on_late_end: Callable[[], None] | None = None

    @property
    def was_sent(self) -> bool:
        """Whether the agent was sent it at least once, so that somebody may look."""
        return self._sent.is_set()

    @property
    def is_over(self) -> bool:
        """Whether the agent is done with it."""
        return self._ended.is_set()

    @property
    def is_inserted(self) -> bool:
        """Whether a v2 agent has taken the prompt in."""
        return self.work is not None and self.work.is_inserted

    def restart_span(self) -> None:
        """What was said so far was about a prompt that was left, as it turns out."""
        self.span.forget()
        self.inbox.empty()
        self.span.begin()

    # ---- for the turn, which the program holds

    async def send(self) -> None:
        """Begin; returns when the prompt is on its way, or its end is known."""
        await checkpoint_if_cancelled()
        self._session.exchange_begins(self)
        self.inbox.closed = False
        self._call_at_once()
        try:
            if not self._sent.is_set():
                await self._sent.wait()
        except BaseException:
            if self._sent.is_set():
                await self.leave()
            else:
                # Nothing was sent, and nothing will be.
                self._abandon()
                self._reject_prompt()
                self._finish(Outcome("cancelled"))
            raise

    async def wait(self, *, reads_on: bool) -> None:
        """Wait for the end without looking at the updates."""
        self.inbox.discard()
        if not reads_on:
            await self._ended.wait()
            return
        with self._session.link.connection.reading.awaited():
            await self._ended.wait()

    async def raise_error(self) -> None:
        """Raise the error of this exchange, if it has one that nobody has seen."""
        error = self.error
        if error is not None and not self._raised:
            self._raised = True
            await self._session.link.explain(error)
            raise error

    async def leave(self) -> None:
        """Cancel and wait for the end; after the bound the exchange is over all the same."""
        self.inbox.discard()
        self._raised = True
        link = self._session.link
        seconds = link.options.limits.close_seconds
        with anyio.move_on_after(seconds, shield=True), link.connection.reading.awaited():
            if link.connection.error is None and not self.is_over:
                await self._session.cancel()
            await self._ended.wait()
        if not self.is_over:
            _log.warning("the agent did not end a cancelled turn within %g s", seconds)
            self.is_left = self._on_wire and link.connection.error is None
            self._finish(Outcome("cancelled"))
        self._abandon()
        # So that the agent is told of this end before it hears the next prompt.
        with anyio.move_on_after(seconds, shield=True):
            await self._call_settled.wait()

    # ---- the conversation about it

    def _call_at_once(self) -> None:
        """Send the prompt; only what takes time before it can be sent is left to a task."""
        self._logs_in = self._session.link.may_log_in
        try:
            self._begin_call()
        except LocalProtocolError as error:
            self._call_settled.set()
            self.fail(error)
            return
        if self._call_id is None:
            self._step_aside()
            self._run_task(self._call)
        else:
            self._on_wire = True
            self._sent.set()

    def give_up(self, on_end: Callable[[], None]) -> None:
        """The agent cannot be stopped: it is over for us, and the answer is waited for apart."""
        if self._call_id is not None:
            self._call_id, self._on_late_end = None, on_end
            self._call_settled.set()
        self._finish(Outcome("cancelled"))

    def _begin_call(self) -> None:
        """The answer is taken as it comes, before anything behind it, and no task waits for it."""
        method, params = self._request
        self._call_id = self._session.link.connection.begin_call(
            method, params, on_result=self._answered, on_end=self._call_ended
        )

    def _call_ended(self, error: Exception | None) -> None:
        self._call_id = None
        if self._on_late_end is not None:
            self._on_late_end()
            return
        settled = self._call_settled
        if isinstance(error, AuthenticationRequired) and self._logs_in:
            self._logs_in = False
            self._step_aside()
            self._run_task(partial(self._call_after_login, error))
            return
        if error is not None:
            self._call_failed(error)
        settled.set()

    def _call_failed(self, error: Exception) -> None:
        if isinstance(error, Invalid):
            error = unreadable(self._request[0], error)
        if isinstance(error, RequestCancelled) or (self._cancelled and _is_stopped(error)):
            self._refused()
            self._finish(Outcome("cancelled"))
        elif isinstance(error, RequestFailed):
            if not self._is_repeated(error, inserted=False):
                self._refused()
                self.fail(error)
        else:
            self.fail(error)

    def _abandon(self) -> None:
        """Nobody wants the answer any more."""
        if self._scope is not None:
            self._scope.cancel()
        if self._call_id is not None:
            link = self._session.link
            link.connection.give_up(self._call_id, self._answered_late)
            self._call_id = None
            self._call_settled.set()

    def _run_task(self, work: Callable[[], Awaitable[None]]) -> None:
        """Send the prompt by a task of the connection."""
        scope = self._scope = anyio.CancelScope()
        settled = self._call_settled

        async def run() -> None:
            try:
                with scope:
                    await guarded(work())
            except Exception as error:  # noqa: BLE001 - a login of the program's own may raise anything
                self._call_failed(error)
            finally:
                if self._call_id is None:
                    settled.set()

        self._session.link.connection.run(run)

    async def _call(self) -> None:
        await self._session.link.connection.place()
        if not self.is_over:
            self._on_wire = True
            self._sent.set()
            self._session.exchange_rejoins(self)
            self._begin_call()

    def _step_aside(self) -> None:
        """The agent has nothing of it; what it tells until it is sent again is about others."""
        self.work = None
        self._on_wire = self._looking = False
        self.span.forget()
        self._session.exchange_waits(self)

    async def _call_after_login(self, error: AuthenticationRequired) -> None:
        if self._cancelled:
            raise error
        await self._session.log_in_after(error)
        await self._call()

    async def _repeat(self, repeat: Repeat) -> None:
        with anyio.move_on_after(repeat.seconds):
            await self._ended.wait()
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
            # An agent may take it into the work that goes on.
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
        """The agent told what it is doing."""
        if self.work is not None:
            work = self.work
            self._judge(work.reported_idle(outcome) if is_idle else work.reported_busy())

    def cancel_sent(self) -> None:
        """The agent was asked to stop."""
        self._cancelled = True
        if self._waiting is not None or not self._on_wire:
            # Sent behind the cancel it would be work that nobody stops.
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
            await self._ended.wait()
        if self.work is work:
            self._looking = False
            if work.is_quiet:
                self._finish(work.outcome)

    def _is_repeated(self, error: Exception, *, inserted: bool) -> bool:
        """Whether the prompt is sent once more, after a while: nothing came of it but this error.

        An agent that has said or done something for it would do that twice.
        """
        if self.is_over or self._cancelled or not self.span.is_empty:
            return False
        if inserted and self.overlaps:
            # Prompts that were taken in together cannot be told apart any more.
            return False
        seconds = self._retry_schedule.seconds_after(error)
        if seconds is None:
            return False
        _log.info("session/prompt: rate limited, next try in %g s", seconds)
        self._waiting = repeat = Repeat(seconds, inserted)
        self._step_aside()
        self._call_settled = LazyEvent()
        self._run_task(partial(self._repeat, repeat))
        return True

    # ---- the end

    def _finish(self, outcome: Outcome) -> None:
        if not self.is_over:
            if outcome.stop_reason == "error":
                error = failure_of(outcome.error)
                if self._cancelled and _is_stopped(error):
                    outcome = Outcome("cancelled", outcome.usage)
                elif self._is_repeated(error, inserted=True):
                    return
                else:
                    self.error = error
            self.stop_reason = outcome.stop_reason
            self.usage = outcome.usage
        self._close()

    def fail(self, error: Exception) -> None:
        """It came to nothing."""
        if not self.is_over:
            self.error = error
        self._close()

    def _refused(self) -> None:
        """Where the answer does not end the turn, a refused prompt is not in the conversation."""
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
        self._ended.set()
        self._sent.set()
        self.inbox.close()
        self._session.exchange_ended(self)


def _is_stopped(error: Exception) -> bool:
    """Whether the answer to a prompt that we cancelled says no more than that it came to nothing.

    Agents answer with an internal error where the cancel ended their model's request.  Other errors
    have a cause that the user should hear.
    """
    internal = isinstance(error, RequestFailed) and error.code == INTERNAL_ERROR
    if internal:
        _log.info("the agent answered a cancelled prompt with an error: %s", error)
    return internal or isinstance(error, AuthenticationRequired)

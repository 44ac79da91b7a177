"""One prompt and what follows from it, until the agent is done.

A turn is an async context manager and an async iterator.  Leaving it early, by `break`, `return`
or an exception, cancels it and waits for its end, within a bound.

What always holds
    * Every update between the prompt and the end of the work is yielded once, in order, but for
      the echo of the prompt and the agent's reports of its own state: v1 has neither.
    * An error of the turn is raised once: where the iteration stands, else at the end of the block.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from accord.client.ending import ForegroundWork, Outcome, Verdict
from accord.client.inbox import Inbox
from accord.errors import (
    AccordError,
    LocalProtocolError,
    RequestCancelled,
    RequestFailed,
    request_failed,
)
from accord.schema.struct import Raw
from accord.transcript import Message, ToolCall, Update

if TYPE_CHECKING:
    from accord.client.session import Session

_log = logging.getLogger("accord.client")

# How long work that seems to be over may still be about to begin.
QUIET_SECONDS_MAX = 1.0
INTERNAL_ERROR = -32603


@dataclass(frozen=True, slots=True)
class Reply:
    """What a turn added up to."""

    text: str
    stop_reason: str | None
    messages: tuple[Message, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    # Token counts as the agent reported them, if it did.
    usage: Any = None


class PromptTurn:
    """`async with session.prompt(...) as turn: async for update in turn: ...`"""

    def __init__(self, session: "Session", blocks: Sequence[Any]) -> None:
        self.session = session
        self.stop_reason: str | None = None
        self.usage: Any = None
        self.error: Exception | None = None
        self.blocks = blocks
        # None until the prompt is sent, and always in v1.
        self.work: ForegroundWork | None = None
        self.inbox = Inbox(session.link.connection, session.link.options.limits.turn_updates)
        # Where the turn begins in the transcript, and the prompt as it stands there.
        self.mark = 0
        self.first_tool_call = 0
        self.message: Message | None = None
        self._scope = anyio.CancelScope()
        self._sent = anyio.Event()
        self._ended = anyio.Event()
        self._conversed = anyio.Event()
        self._entered = False
        self._raised = False
        self._looking = False

    def __repr__(self) -> str:
        state = "open" if not self.is_over else self.stop_reason or repr(self.error)
        return f"<PromptTurn of session {self.session.id}: {state}>"

    @property
    def is_over(self) -> bool:
        """Whether the agent is done with it."""
        return self._ended.is_set()

    @property
    def reply(self) -> Reply:
        """What the turn has added up to so far."""
        transcript = self.session.transcript
        return Reply(
            transcript.text_since(self.mark),
            self.stop_reason,
            tuple(transcript.messages_since(self.mark)),
            tuple(transcript.tool_calls[self.first_tool_call :]),
            self.usage,
        )

    # ---- for the program

    async def __aenter__(self) -> "PromptTurn":
        if self._entered:
            raise LocalProtocolError("a turn can be entered once; prompt again for another")
        self._entered = True
        await checkpoint_if_cancelled()
        self.session.turn_begins(self)
        self.session.link.connection.run(self._converse)
        try:
            await self._sent.wait()
        except BaseException:
            if self._sent.is_set():
                await self._leave()
            else:
                self._withdraw()
            raise
        return self

    def _withdraw(self) -> None:
        """Nothing was sent, and nothing will be."""
        self._scope.cancel()
        if self.message is not None:
            self.session.transcript.prompt_rejected(self.message)
        self.finish(Outcome("cancelled"))

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self.is_over:
            await self._leave()
        elif exc is None:
            self._raise_error()

    def __aiter__(self) -> "PromptTurn":
        return self

    async def __anext__(self) -> Update:
        update = await self.inbox.get()
        if update is None:
            self._raise_error()
            raise StopAsyncIteration
        return update

    async def cancel(self) -> None:
        """Ask the agent to stop; the turn then ends with the stop reason `cancelled`."""
        if not self.is_over:
            await self.session.cancel()

    async def wait(self) -> Reply:
        """Wait for the end without looking at the updates; what is queued is dropped."""
        self.inbox.discard()
        await self._ended.wait()
        self._raise_error()
        return self.reply

    def _raise_error(self) -> None:
        if self.error is not None and not self._raised:
            self._raised = True
            raise self.error

    async def _leave(self) -> None:
        """Cancel and wait for the end; after the bound the turn is over all the same."""
        self.inbox.discard()
        self._raised = True
        link = self.session.link
        seconds = link.options.limits.close_seconds
        with anyio.move_on_after(seconds, shield=True):
            if link.connection.error is None and not self.is_over:
                await self.session.cancel()
            await self._ended.wait()
        if not self.is_over:
            _log.warning("the agent did not end a cancelled turn within %g s", seconds)
            self.finish(Outcome("cancelled"))
        self._scope.cancel()
        # So that the agent is told of this end before it hears the next prompt.
        with anyio.move_on_after(seconds, shield=True):
            await self._conversed.wait()

    # ---- for the session, which tells what came

    async def _converse(self) -> None:
        """Send the prompt and take its answer, in a task of the connection."""
        try:
            with self._scope:
                await self._send()
        finally:
            self._conversed.set()

    async def _send(self) -> None:
        session = self.session
        if self.is_over:
            return
        try:
            method, params = session.link.wire.prompt(session.id, self.blocks)
            self._sent.set()
            await session.client.call(
                session.link, method, params, background=True, on_result=self._answered
            )
        except RequestCancelled:
            self._refused()
            self.finish(Outcome("cancelled"))
        except RequestFailed as error:
            self._refused()
            self.fail(error)
        except AccordError as error:
            self.fail(error)

    def _answered(self, result: Raw) -> None:
        answer = self.session.link.wire.read_prompt_answer(result)
        if self.message is not None and answer.message_id is not None:
            self.session.transcript.prompt_inserted(self.message, answer.message_id)
        if self.work is None or answer.stop_reason is not None:
            self.finish(Outcome(answer.stop_reason, answer.usage))
        else:
            self._judge(self.work.inserted())

    def state_came(self, is_idle: bool, outcome: Outcome) -> None:
        """The agent told what it is doing."""
        if self.work is not None:
            work = self.work
            self._judge(work.reported_idle(outcome) if is_idle else work.reported_busy())

    def cancel_sent(self) -> None:
        """The agent was asked to stop."""
        if self.work is not None:
            self._judge(self.work.cancelled())

    def _judge(self, verdict: Verdict) -> None:
        assert self.work is not None
        if verdict is Verdict.ENDED:
            self.finish(self.work.outcome)
        elif verdict is Verdict.PERHAPS and not self._looking:
            self._looking = True
            self.session.link.connection.run(self._look_again)

    async def _look_again(self) -> None:
        with anyio.move_on_after(QUIET_SECONDS_MAX):
            await self._ended.wait()
        self._looking = False
        if self.work is not None and self.work.is_quiet:
            self.finish(self.work.outcome)

    def finish(self, outcome: Outcome) -> None:
        """The turn is over."""
        if self.is_over:
            return
        self.stop_reason = outcome.stop_reason
        self.usage = outcome.usage
        if outcome.stop_reason == "error":
            self.error = _failure(outcome.error)
        self._close()

    def fail(self, error: Exception) -> None:
        """The turn came to nothing."""
        if not self.is_over:
            self.error = error
            self._close()

    def _refused(self) -> None:
        """A v2 agent that refuses a prompt has not made it part of the conversation."""
        if self.work is not None and self.message is not None:
            self.session.transcript.prompt_rejected(self.message)

    def _close(self) -> None:
        self._ended.set()
        self._sent.set()
        self.inbox.close()
        self.session.turn_ended(self)


def _failure(error: Any) -> Exception:
    """What a v2 agent reports as the reason of its end is what a v1 agent answers."""
    if error is None:
        return request_failed("session/prompt", INTERNAL_ERROR, "the agent reported an error")
    data = getattr(error, "data", None)
    return request_failed("session/prompt", error.code, error.message, _plain(data))


def _plain(data: Any) -> Any:
    from accord.schema.codec import encode, to_python

    return to_python(encode(data)) if data else None


__all__ = ["PromptTurn", "Reply"]

"""A prompt as a program follows it, until the agent is done.

A turn is an async context manager and an async iterator.  Leaving it early, by `break`, `return`
or an exception, cancels it and waits for its end, within a bound.

What always holds
    * Every update between the prompt and the end of the work is yielded once, in order, but for
      the echo of the prompt and the agent's reports of its own state: v1 has neither.  A loop
      that falls behind while others wait on the connection gets several of one item as one.
    * An error of the turn is raised once: where the iteration stands, else at the end of the block.
"""

from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, TypeAlias

from accord.client.session.exchange import Exchange
from accord.errors import LocalProtocolError
from accord.transcript import Message, ToolCall, Update

if TYPE_CHECKING:
    from accord.client.session.session import Session
    from accord.schema import v1, v2

    # What a turn cost, as the agent counted; the fields of both are the same.
    Tokens: TypeAlias = v1.Usage | v2.Usage

_NOT_ENTERED = "enter the turn first: async with session.prompt(...) as turn"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a turn added up to.

    `messages` begins with the prompt.  `usage` has the token counts that the agent reported, if
    it did: `total_tokens`, `input_tokens`, `output_tokens` and more.
    """

    text: str
    stop_reason: str | None
    messages: tuple[Message, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    usage: "Tokens | None" = None


class PromptTurn:
    """One prompt: `async with session.prompt(...) as turn: async for update in turn: ...`

    When the block is left before the agent is done, the turn is cancelled.
    """

    def __init__(self, session: "Session", exchange: Exchange) -> None:
        """For `Session.prompt`."""
        self.session = session
        self._exchange = exchange
        self._inbox = exchange.inbox
        self._entered = False

    def __repr__(self) -> str:
        state = "open" if not self.is_over else self.stop_reason or repr(self.error)
        return f"<PromptTurn of session {self.session.id}: {state}>"

    @property
    def is_over(self) -> bool:
        """Whether the agent is done with it."""
        return self._exchange.is_over

    @property
    def stop_reason(self) -> str | None:
        """Why the agent stopped; None before that, and where it failed instead."""
        return self._exchange.stop_reason

    @property
    def usage(self) -> "Tokens | None":
        """The tokens that the turn cost, where the agent reported them at its end."""
        usage: Tokens | None = self._exchange.usage
        return usage

    @property
    def error(self) -> Exception | None:
        """What the turn failed with, if it did."""
        return self._exchange.error

    @property
    def reply(self) -> Reply:
        """What the turn has added up to so far."""
        told, passage = self._exchange, self._exchange.passage
        own = () if told.message is None else (told.message,)
        # Prompts of others are theirs.
        messages = own + passage.messages
        return Reply(passage.text, told.stop_reason, messages, passage.tool_calls, self.usage)

    async def __aenter__(self) -> "PromptTurn":
        if self._entered:
            raise LocalProtocolError("a turn can be entered once; prompt again for another")
        self._entered = True
        await self._exchange.send()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self.is_over:
            await self._exchange.leave()
        elif exc is None:
            await self._exchange.raise_error()

    def __aiter__(self) -> "PromptTurn":
        self._require_entered()
        return self

    async def __anext__(self) -> Update:
        update = self._inbox.take() or await self._inbox.get()
        if update is None:
            self._require_entered()
            await self._exchange.raise_error()
            raise StopAsyncIteration
        return update

    async def cancel(self) -> None:
        """Ask the agent to stop; the turn then ends with the stop reason `cancelled`."""
        self._require_entered()
        if not self.is_over:
            await self.session.cancel()

    async def wait(self, *, reads_on: bool = True) -> Reply:
        """Wait for the end without looking at the updates; what is queued is dropped.

        Meanwhile the connection reads on, and a loop over `session.updates()` that falls behind
        gets joined updates.  With `reads_on=False` the agent waits for such a loop instead.
        """
        self._require_entered()
        await self._exchange.wait(reads_on=reads_on)
        await self._exchange.raise_error()
        return self.reply

    def _require_entered(self) -> None:
        if not self._entered:
            raise LocalProtocolError(_NOT_ENTERED)


__all__ = ["PromptTurn", "Reply"]

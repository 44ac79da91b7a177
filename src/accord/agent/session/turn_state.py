"""The library's own state of a turn, and its operations on it.

A program gets the turn as `Turn`.

What always holds
    * Nothing is sent for a turn that is over.
    * A cancelled turn stops its handler at the next await.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from accord.agent.serving.outgoing_checks import check_update
from accord.agent.serving.unstable.token_usage import TokenCount
from accord.agent.session.compaction import Compaction
from accord.agent.session.message_stream import MessageStream
from accord.agent.session.unfinished_work import status_at_end
from accord.errors import LocalProtocolError
from accord.schema import v2

if TYPE_CHECKING:
    from accord.agent.session.message_stream import Chunk
    from accord.agent.session.session_state import SessionState


class OpenCall(Protocol):
    """A tool call that the turn ends if its handler did not."""

    @property
    def id(self) -> str:
        """The tool call's id."""
        ...

    @property
    def can_be_cancelled(self) -> bool:
        """Whether the client may cancel it alone, now."""
        ...

    def stop(self) -> None:
        """Cancel the tool call."""
        ...

    async def settle(self, status: str) -> None:
        """End it with this status unless it has ended."""
        ...


class TurnState:
    """One prompt being answered."""

    def __init__(self, session: SessionState, prompt: Sequence[v2.ContentBlock]) -> None:
        self.session = session
        self.prompt = tuple(prompt)
        # Cancelled with the turn.
        self.scope = anyio.CancelScope()
        self.is_cancelled = False
        # Called once, when the client cancels.
        self.on_cancel: Callable[[], None] | None = None
        self.has_ended = False
        self.tokens = TokenCount()
        # Announced before all of it was known: the next `tool_call` is this one.
        self.forming: Any = None
        self._tool_calls: list[OpenCall] = []
        self._compactions: list[Compaction] = []
        self._streams: list[MessageStream] = []
        # As they were shown last.
        self._plans: dict[str, v2.PlanItems] = {}

    @property
    def is_over(self) -> bool:
        """Whether nothing more can be sent in it: it has ended, or the client is gone."""
        session = self.session
        return self.has_ended or session.closed or session.connection.error is not None

    # ---- sending

    def require_open(self) -> None:
        """Refuse messages of a turn that has ended."""
        if self.has_ended:
            raise LocalProtocolError("this turn is over; nothing more can be sent in it")

    async def emit(self, update: Any, *, waits: bool = True) -> None:
        """Check an update in the form of v2, and send it.

        It waits while the client is slow, unless told not to.
        """
        check_update(update)
        session = self.session
        if isinstance(update, v2.ToolCallUpdate):
            if session.connection.check_is_due():
                await checkpoint_if_cancelled()
            self.require_open()
            with session.tool_statuses.following(update):
                await session.updates.emit(update, waits=waits, checks=False)
        else:
            await self.send(update, waits=waits)
            if isinstance(update, v2.PlanUpdate):
                if isinstance(update.plan, v2.PlanItems):
                    self._plans[update.plan.plan_id] = update.plan
            elif isinstance(update, v2.PlanRemoved):
                self._plans.pop(update.plan_id, None)

    async def send(self, update: Any, *, waits: bool = True) -> None:
        """Send what is known to be an update."""
        self.require_open()
        await self.session.updates.emit(update, waits=waits)

    # ---- what it opens

    def add_call(self, call: OpenCall) -> None:
        """End this tool call with the turn."""
        self._tool_calls.append(call)

    def tool_call_by_id(self, tool_call_id: str) -> OpenCall | None:
        """The tool call of this turn with an id."""
        return next((call for call in self._tool_calls if call.id == tool_call_id), None)

    def open_stream(self, kind: str, chunk: Chunk) -> MessageStream:
        """A stream that ends with the turn, so that it need not check whether the turn runs."""
        self.require_open()
        updates = self.session.updates
        stream = MessageStream(updates, updates.new_id(kind), chunk)
        self._streams.append(stream)
        return stream

    def open_compaction(self) -> Compaction:
        """A compaction that ends with the turn."""
        compaction = Compaction(self.emit, self.session.new_id("compaction"))
        self._compactions.append(compaction)
        return compaction

    # ---- its end

    def cancel(self) -> None:
        """Cancel the turn for the client: the handler is cancelled at its next await."""
        if not self.is_cancelled:
            self.is_cancelled = True
            if self.on_cancel is not None:
                self.on_cancel()
            self.scope.cancel()

    def settle_tokens(self) -> TokenCount:
        """Add the turn's tokens to those of its session, and return the sum."""
        return self.session.stored.spend(self.tokens.counts)

    async def finish(self, *, failed: bool, stopped: bool = False) -> None:
        """Settle what the handler left open, then close the turn for good.

        A turn that was `stopped` ended before its work was done, by a refusal or by a limit.  What
        its plan has left is dropped, as for a turn that was cancelled or has failed.
        """
        status = status_at_end(is_cancelled=self.is_cancelled, failed=failed)
        try:
            for call in self._tool_calls:
                await call.settle(status)
            for compaction in self._compactions:
                await compaction.settle("failed" if status == "failed" else "cancelled")
            if stopped or status != "completed":
                await self._drop_plans()
        finally:
            self.has_ended = True
            for stream in self._streams:
                stream.close()

    async def _drop_plans(self) -> None:
        from accord.agent.session.plan import without_open

        for plan in self._plans.values():
            left = without_open(plan)
            if left is not None:
                await self.send(v2.PlanUpdate(plan=left))

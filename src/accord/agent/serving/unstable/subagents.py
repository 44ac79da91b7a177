"""Child sessions: work that a turn gives to somebody else, shown under a session of its own.

A child is announced on its parent, and only then seen; it is read by the client and, where that
was granted, cancelled, but never prompted.  Its history is not kept.

A client that cannot show children sees the child's tool calls as its parent's, because a user
must see what is done and be asked about it; what the child says stays between it and its parent.

What always holds
    * Nothing names a child before its announcement.
    * A child that was announced as working is told to be idle, however its work ends.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

import anyio

from accord.agent.serving.wire import PermissionAsk, PermissionOption
from accord.agent.session.messages import as_block
from accord.agent.session.session import AgentSession, new_session_id
from accord.agent.turn import Turn
from accord.connection.error_responses import error_for
from accord.errors import LocalProtocolError
from accord.protocol.v2.turn import Step
from accord.schema import v2
from accord.schema.codec import to_raw
from accord.schema.struct import UNSET, UnsetType

if TYPE_CHECKING:
    from accord.agent.serving.unstable.turn import UnstableTurn

# What a hidden child does is its parent's doing to the user.
_DOINGS = (
    v2.ToolCallUpdate,
    v2.ToolCallContentChunk,
    v2.TerminalUpdate,
    v2.TerminalOutputChunk,
)


class _NoLog:
    """A child's history is not kept."""

    def append(self, update: Any) -> None:
        """Forget it."""

    async def replay(self) -> AsyncIterator[Any]:
        """Nothing."""
        nothing: tuple[Any, ...] = ()
        for update in nothing:
            yield update


class ChildSession(AgentSession):
    """The session of a child.  `shown` says whether the client knows that it exists."""

    def __init__(self, parent: AgentSession, cwd: str, directories: tuple[str, ...]) -> None:
        super().__init__(
            parent.connection,
            parent.wire,
            parent._store,
            parent.offer,
            replace(
                parent.record,
                session_id=new_session_id(),
                cwd=cwd,
                additional_directories=directories,
                title=None,
            ),
            _NoLog(),
            parent.mcp_servers,
        )
        self._parent = parent
        self._decisions = parent._decisions
        self.mcp_calls = parent.mcp_calls
        self.children = parent.children
        self.shown = parent.wire.features.subagents and getattr(parent, "shown", True)

    @property
    def id(self) -> str:
        """The name under which the client knows what happens here."""
        return super().id if self.shown else self._parent.id

    async def emit(self, update: Any, *, waits: bool = True) -> None:
        """Send an update as the child's, or what is done as the parent's."""
        if self.shown:
            await super().emit(update, waits=waits)
        elif isinstance(update, _DOINGS):
            await self._parent.emit(update, waits=waits)

    def post(self, update: Any) -> None:
        """Send an update that needs no log, if the client knows the child."""
        if self.shown:
            super().post(update)

    def enter(self, step: Step, *, stop_reason: str | None = None, error: Any = UNSET) -> None:
        """Move the state of the child, which its parent mirrors."""
        before = self._phase
        super().enter(step, stop_reason=stop_reason, error=error)
        if self.shown and self._phase is not before:
            self._parent.post(v2.SubagentUpdate(session_id=self.id, state=self.snapshot()))

    def snapshot(self) -> v2.StateSnapshot:
        """The state of the child as its parent tells it."""
        now = self.state_update()
        return v2.StateSnapshot(
            state=now.state, stop_reason=now.stop_reason, error=now.error, usage=now.usage
        )

    @contextmanager
    def asking(self) -> Generator[None]:
        """Wait for the user; for a child that nobody sees, its parent waits."""
        with super().asking() if self.shown else self._parent.asking():
            yield

    async def ask_permission(self, ask: PermissionAsk) -> PermissionOption | None:
        """Ask the user, in the name that the client knows."""
        if self.shown:
            return await super().ask_permission(ask)
        return await self._parent.ask_permission(ask)


class Subagent(Turn):
    """A child at work: a turn of its own, inside the block of `turn.subagent(...)`."""

    def __init__(
        self,
        parent: UnstableTurn,
        title: str,
        *,
        description: str | None,
        cancellable: bool,
        cwd: str | None,
        additional_directories: Sequence[str] | None,
    ) -> None:
        outer = parent.session
        place = str(outer.cwd) if cwd is None else str(outer.cwd / cwd)
        roots = outer.roots[1:] if additional_directories is None else additional_directories
        self._child = ChildSession(outer, place, tuple(roots))
        super().__init__(self._child, ())
        self._parent = parent
        self._outer = outer
        self._entered = False
        # Nothing can be said in it before its block is entered, as after.
        self._over = True
        self.cancellable = cancellable
        granted = v2.SessionCancelCapabilities() if cancellable else UNSET
        self._announcement = v2.SubagentUpdate(
            session_id=self._child.id,
            title=title,
            description=UNSET if description is None else description,
            capabilities=v2.SubagentSessionCapabilities(cancel=granted),
            cwd=UNSET if cwd is None else place,
            additional_directories=UNSET if additional_directories is None else list(roots),
        )

    @property
    def id(self) -> str:
        """The id of the child's session."""
        return self._child.record.session_id

    async def __aenter__(self) -> Subagent:
        if self._entered:
            raise LocalProtocolError("a subagent's block is entered once")
        if self._child.shown:
            await self._parent.emit(self._announcement)
        self._entered, self._over = True, False
        self._outer.children[self.id] = self
        self._child.turn = self
        self._child.enter(Step.WORK_STARTED)
        self.scope.__enter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        swallowed = bool(self.scope.__exit__(exc_type, exc, traceback))
        with anyio.CancelScope(shield=True):
            await self._end(exc)
        return swallowed

    async def _end(self, exc: BaseException | None) -> None:
        del self._outer.children[self.id]
        reason, error = "end_turn", cast("v2.Error | UnsetType", UNSET)
        if self.is_cancelled or (exc is not None and not isinstance(exc, Exception)):
            reason = "cancelled"
        elif exc is not None:
            reason, error = "error", _told(exc)
        child = self._child
        if child.connection.error is not None or self._outer.closed:
            return
        await self.finish(failed=exc is not None)
        await child.terminals.close()
        counts = self.tokens.usage()
        child.last_usage = UNSET if counts is None else v2.Usage(**counts)
        # The parent has paid for it, whoever did the work.
        self._parent.tokens.add(self.tokens.counts)
        child.enter(Step.WORK_STOPPED, stop_reason=reason, error=error)
        if child.shown:
            # Once more and into the log: a replay must not show it at work for ever.
            final = v2.SubagentUpdate(session_id=child.id, state=child.snapshot())
            await self._outer.record_only(final)

    # ---- messages between the two

    async def instruct(self, *parts: str | v2.ContentBlock) -> None:
        """Show what the parent tells the child."""
        await self._message(self._outer, self._child, parts)

    async def report(self, *parts: str | v2.ContentBlock) -> None:
        """Show what the child tells its parent."""
        await self._message(self._child, self._outer, parts)

    async def _message(
        self, sender: AgentSession, recipient: AgentSession, parts: Sequence[str | v2.ContentBlock]
    ) -> None:
        if self._over:
            raise LocalProtocolError("a subagent is spoken to inside its `async with` block")
        if not self._child.shown:
            return
        content = [as_block(one) for one in parts]
        sent, received = sender.new_id("sent"), recipient.new_id("received")
        ends: dict[str, Any] = {
            "sender_session_id": sender.id,
            "recipient_session_id": recipient.id,
            "content": content,
        }
        await sender.emit(v2.SessionMessage(message_id=sent, recipient_message_id=received, **ends))
        await recipient.emit(v2.SessionMessage(message_id=received, sender_message_id=sent, **ends))


def _told(problem: BaseException) -> v2.Error:
    code, message, data = error_for(problem, "subagent")
    return v2.Error(code=code, message=message, data=UNSET if data is None else to_raw(data))

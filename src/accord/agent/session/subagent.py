"""The session of a subagent, and its updates where the client cannot show subagents."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from accord.agent.session.session_state import SessionState, new_session_id
from accord.agent.session.stored_record import StoredSession
from accord.agent.session.updates import NoLog, SessionUpdates
from accord.agent.tools.permission_request import PermissionAsk, PermissionOption
from accord.protocol.v2.turn import Step
from accord.schema import v2
from accord.schema.struct import UNSET

# The user must see these even of a subagent that the client cannot show.
_ACTIONS = (v2.ToolCallUpdate, v2.ToolCallContentChunk, v2.TerminalUpdate, v2.TerminalOutputChunk)


class HiddenUpdates(SessionUpdates):
    """The updates of a subagent that the client cannot show: its actions are its parent's."""

    def __init__(self, parent: SessionUpdates) -> None:
        super().__init__(parent.connection, parent.wire, NoLog(), parent.session_id)
        self._parent = parent

    @property
    def is_not_plain(self) -> bool:
        """Always, so that streamed text comes through `emit`."""
        return True

    async def emit(self, update: Any, *, waits: bool = True, checks: bool = True) -> None:
        """Send an action as the parent's; drop everything else."""
        if isinstance(update, _ACTIONS):
            await self._parent.emit(update, waits=waits, checks=checks)

    def post(self, update: Any) -> None:
        """Send an action as the parent's; drop everything else."""
        if isinstance(update, _ACTIONS):
            self._parent.post(update)

    async def record_only(self, update: Any) -> None:
        """Log an action as the parent's; drop everything else."""
        if isinstance(update, _ACTIONS):
            await self._parent.record_only(update)


class ChildState(SessionState):
    """The session of a subagent; with `shown` the client knows that it exists."""

    def __init__(self, parent: SessionState, cwd: str, directories: tuple[str, ...]) -> None:
        self.shown = parent.wire.features.subagents and getattr(parent, "shown", True)
        record = replace(
            parent.record,
            session_id=new_session_id(),
            cwd=cwd,
            additional_directories=directories,
            title=None,
        )
        updates: SessionUpdates = HiddenUpdates(parent.updates)
        if self.shown:
            updates = SessionUpdates(parent.connection, parent.wire, NoLog(), record.session_id)
        stored = StoredSession(parent.stored.store, record)
        super().__init__(updates, stored, parent.offer, parent.mcp_servers, parent.mcp_calls)
        self._parent = parent
        self.decisions = parent.decisions
        self.children = parent.children

    def enter(self, step: Step, *, stop_reason: str | None = None, error: Any = UNSET) -> None:
        """Move the state of the subagent, which its parent mirrors."""
        before = self._phase
        super().enter(step, stop_reason=stop_reason, error=error)
        if self.shown and self._phase is not before:
            update = v2.SubagentUpdate(session_id=self.id, state=self.snapshot())
            self._parent.updates.post(update)

    def snapshot(self) -> v2.StateSnapshot:
        """The state of the subagent as its parent reports it."""
        now = self.state_update()
        return v2.StateSnapshot(
            state=now.state, stop_reason=now.stop_reason, error=now.error, usage=now.usage
        )

    @contextmanager
    def asking(self) -> Generator[None]:
        """Wait for the user; for a subagent that the client does not show, its parent waits."""
        with super().asking() if self.shown else self._parent.asking():
            yield

    async def ask_permission(self, ask: PermissionAsk) -> PermissionOption | None:
        """Ask the user, in the name that the client knows."""
        if self.shown:
            return await super().ask_permission(ask)
        return await self._parent.ask_permission(ask)

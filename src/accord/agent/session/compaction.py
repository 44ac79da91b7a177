"""The compaction of a context, as the client sees it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

from anyio import CancelScope

from accord.errors import LocalProtocolError
from accord.schema import v2
from accord.schema.struct import UNSET, UnsetType

Emit = Callable[[Any], Awaitable[None]]


class Compaction:
    """The compaction of a context, from `in_progress` to exactly one final status."""

    def __init__(self, emit: Emit, compaction_id: str) -> None:
        self._emit = emit
        self._id = compaction_id
        self._status: str | None = None

    async def __aenter__(self) -> Compaction:
        if self._status is not None:
            raise LocalProtocolError("a compaction can be entered only once")
        self._status = "in_progress"
        await self._emit(v2.CompactionUpdate(compaction_id=self._id, status="in_progress"))
        return self

    async def write(self, text: str) -> None:
        """Stream the next chunk of the summary."""
        if self._status != "in_progress":
            raise LocalProtocolError("a compaction accepts text only inside its block")
        block = v2.TextContent(text=text)
        await self._emit(v2.CompactionSummaryChunk(compaction_id=self._id, content=block))

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        error: str | UnsetType = UNSET
        status = "completed"
        if isinstance(exc, Exception):
            status, error = "failed", str(exc) or type(exc).__name__
        elif exc is not None:
            status = "cancelled"
        with CancelScope(shield=True):
            await self.settle(status, error)

    async def settle(self, status: str, error: str | UnsetType = UNSET) -> None:
        """End the compaction with this status unless it has ended; the end of a turn does this."""
        if self._status == "in_progress":
            self._status = status
            await self._emit(
                v2.CompactionUpdate(compaction_id=self._id, status=status, error=error)
            )

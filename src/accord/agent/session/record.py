"""The part of a session that the store knows: its record, and how that changes.

It must not know the client: what is told of a change is told by `session.py`.

What always holds
    * A change is in the store before whoever made it goes on, but for tokens, which the next use
      of the session stores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from accord.agent.serving.unstable.tokens import TokenCount
from accord.machine import clock
from accord.store import SessionRecord, SessionStore

if TYPE_CHECKING:
    from pathlib import Path


class RecordedSession:
    """A session as far as the store knows it."""

    def __init__(self, store: SessionStore, record: SessionRecord) -> None:
        self._store = store
        self._record = record

    @property
    def id(self) -> str:
        """The session's id."""
        return self._record.session_id

    @property
    def cwd(self) -> Path:
        """The folder that relative paths start from."""
        from pathlib import Path

        return Path(self._record.cwd)

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders that file tools keep to, the working folder first."""
        return (self._record.cwd, *self._record.additional_directories)

    @property
    def title(self) -> str | None:
        """The name that the session goes by."""
        return self._record.title

    @property
    def system_prompt(self) -> str | None:
        """Instructions of the client for the model, where the agent takes some (unstable)."""
        return self._record.system_prompt

    @property
    def system_prompt_overrides(self) -> bool:
        """Whether they stand in place of the agent's own instead of after them."""
        return self._record.system_prompt_overrides

    @property
    def record(self) -> SessionRecord:
        """What the store knows."""
        return self._record

    async def amend(self, **about: Any) -> None:
        """Change what the store knows, without counting as a use of the session."""
        self._record = replace(self._record, **about)
        await self._store.put(self._record)

    async def begin_turn(self) -> None:
        """From here on, until `touch`, the end of the process cuts a turn off."""
        await self.amend(turn_open=True, unused=False)

    async def touch(self) -> None:
        """The session was used now, and no turn is under way."""
        await self._use(turn_open=False)

    async def _use(self, **about: Any) -> None:
        now = clock.timestamp()
        await self.amend(**about, updated_at=now)

    async def keep(self, name: str, value: bytes) -> None:
        """Keep a value beside the log: it outlives the process where the store does."""
        await self._store.keep(self.id, name, value)

    async def kept(self, name: str) -> bytes | None:
        """What was kept under this name, or None."""
        return await self._store.kept(self.id, name)

    def spend(self, counts: Mapping[str, int]) -> TokenCount:
        """Add to what the session has cost; the next use of the session stores it."""
        total = TokenCount(self._record.tokens)
        total.add(counts)
        self._record = replace(self._record, tokens=total.counts)
        return total


__all__ = ["RecordedSession"]

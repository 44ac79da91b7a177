"""The record of a session in its store, and how it changes.

It must not know the client: `session_state.py` tells what has changed.

What always holds
    * A change is in the store before the call that made it returns, except for tokens: the next
      change stores those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from accord.agent.serving.unstable.token_usage import TokenCount
from accord.machine import clock
from accord.store import SessionRecord, SessionStore


class StoredSession:
    """One session in its store."""

    def __init__(self, store: SessionStore, record: SessionRecord) -> None:
        self.store = store
        self.record = record

    async def amend(self, **about: Any) -> None:
        """Change the record without counting that as a use of the session."""
        self.record = replace(self.record, **about)
        await self.store.put(self.record)

    async def use(self, **about: Any) -> None:
        """Change the record, and note that the session was used now."""
        await self.amend(**about, updated_at=clock.timestamp())

    async def begin_turn(self) -> None:
        """Note that a turn is open: until `touch`, the end of the process interrupts it."""
        await self.amend(turn_open=True, unused=False)

    async def touch(self) -> None:
        """Note that the session was used now and that no turn is open."""
        await self.use(turn_open=False)

    async def keep(self, name: str, value: bytes) -> None:
        """Keep a value beside the log."""
        await self.store.keep(self.record.session_id, name, value)

    async def kept(self, name: str) -> bytes | None:
        """The value that was kept under this name, or None."""
        return await self.store.kept(self.record.session_id, name)

    def spend(self, counts: Mapping[str, int]) -> TokenCount:
        """Add tokens to those that the session has used; the next change stores them."""
        total = TokenCount(self.record.tokens)
        total.add(counts)
        self.record = replace(self.record, tokens=total.counts)
        return total

"""The file changes of each turn, so that they can be undone.

It must not know how files are written.

What always holds
    * The newest turns are kept, within bounds on their number and size; it is stored after each
      change.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from accord.agent.session.agent_session import AgentSession

JOURNAL_NAME = "journal"

TURNS_MAX = 20
"""Turns that can be undone."""

CHARACTERS_MAX = 2 * 1024 * 1024
"""Characters kept for all turns together."""


@dataclass(frozen=True)
class Change:
    """One file before and after; None where there was no such file, or is none any more."""

    path: str
    before: str | None
    after: str | None


@dataclass
class TurnChanges:
    """What one turn changed, by path, in the order of the first change."""

    title: str = ""
    changes: dict[str, Change] = field(default_factory=dict)

    @property
    def characters(self) -> int:
        """The number of characters held."""
        return sum(len(c.before or "") + len(c.after or "") for c in self.changes.values())


class Journal:
    """The changes of a session's turns, newest last."""

    def __init__(self, session: AgentSession, turns: list[TurnChanges] | None = None) -> None:
        self._session = session
        self._turns = turns or []
        self._current: TurnChanges | None = None
        self._turn: object = None
        # A turn that changed more than is kept cannot be undone in part.
        self._too_large: object = None
        self._paused = False

    @classmethod
    async def restore(cls, session: AgentSession) -> Journal:
        """The journal that the session had; an unreadable one is an empty one."""
        kept = await session.kept(JOURNAL_NAME)
        return cls(session, [] if kept is None else _read(kept))

    @property
    def last(self) -> TurnChanges | None:
        """The newest turn that changed a file."""
        return self._turns[-1] if self._turns else None

    async def record(self, turn: object, title: str, *changes: Change) -> None:
        """Record changes of a turn; a file that it changed before keeps its first text."""
        if self._paused or turn is self._too_large:
            return
        if self._current is None or self._turn is not turn:
            self._turn, self._current = turn, TurnChanges(title)
            self._turns.append(self._current)
        for change in changes:
            first = self._current.changes.pop(change.path, None)
            before = change.before if first is None else first.before
            self._current.changes[change.path] = Change(change.path, before, change.after)
        self._shorten()
        await self._keep()

    @contextmanager
    def paused(self) -> Generator[None]:
        """Record nothing while earlier changes are being undone."""
        self._paused = True
        try:
            yield
        finally:
            self._paused = False

    async def forget_last(self) -> None:
        """Drop the newest turn, which was undone."""
        if self._turns:
            self._turns.pop()
        self._current = self._turn = None
        await self._keep()

    def _shorten(self) -> None:
        del self._turns[:-TURNS_MAX]
        total = sum(turn.characters for turn in self._turns)
        while self._turns and total > CHARACTERS_MAX:
            total -= self._turns.pop(0).characters
        if not self._turns:
            self._too_large = self._turn
            self._current = self._turn = None

    async def _keep(self) -> None:
        turns = [
            {
                "title": turn.title,
                "changes": [[c.path, c.before, c.after] for c in turn.changes.values()],
            }
            for turn in self._turns
        ]
        await self._session.keep(JOURNAL_NAME, json.dumps(turns).encode())


def _read(kept: bytes) -> list[TurnChanges]:
    try:
        stored: list[dict[str, Any]] = json.loads(kept)
        return [
            TurnChanges(
                str(turn["title"]),
                {path: Change(path, before, after) for path, before, after in turn["changes"]},
            )
            for turn in stored
        ]
    except (ValueError, TypeError, KeyError):
        return []

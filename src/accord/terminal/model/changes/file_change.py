"""One changed file: its text before and after, and the state of each hunk.

This module does not know disks.  A change is an immutable value.

Invariants
    * If the change is known, there is at least one hunk, and one state for each.
    * A created or deleted file has exactly one hunk.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from accord.terminal.model.changes.hunks import Hunk, carry, compose, hunks_of

HunkState: TypeAlias = Literal["pending", "kept", "undone"]
FileState: TypeAlias = Literal["pending", "kept", "undone", "partly", "unknown"]

_NOTHING = Hunk(0, (), 0, ())


@dataclass(frozen=True, slots=True)
class FileChange:
    """The known change of a file.  A text is None if the file did not or does not exist.

    If `why` is set, the old content is unknown for that reason, and nothing can be undone.
    """

    path: str
    before: str | None
    after: str | None
    hunks: tuple[Hunk, ...] = ()
    states: tuple[HunkState, ...] = ()
    # The path before the agent moved it.
    old_path: str | None = None
    # The move was undone.
    is_moved_back: bool = False
    why: str = ""

    @property
    def place(self) -> str:
        """The current path of the file, if it exists."""
        return self.old_path if self.is_moved_back and self.old_path is not None else self.path

    @property
    def applied(self) -> frozenset[int]:
        """The hunks that are in the file."""
        return frozenset(n for n, state in enumerate(self.states) if state != "undone")

    @property
    def is_whole(self) -> bool:
        """Whether the file was created or deleted."""
        return self.before is None or self.after is None

    def text_with(self, applied: Collection[int]) -> str | None:
        """Return the content of the file with these hunks applied."""
        if self.before is None or self.after is None:
            return self.after if applied else self.before
        return compose(self.before, self.hunks, applied)

    @property
    def text(self) -> str | None:
        """The expected content of the file."""
        return self.text_with(self.applied)

    @property
    def state(self) -> FileState:
        """The combined state of all hunks."""
        if self.why:
            return "unknown"
        found = set(self.states)
        if len(found) == 1:
            return self.states[0]
        return "pending" if "pending" in found else "partly"

    @property
    def added(self) -> int:
        """The number of added lines."""
        return sum(len(hunk.added) for hunk in self.hunks)

    @property
    def removed(self) -> int:
        """The number of removed lines."""
        return sum(len(hunk.removed) for hunk in self.hunks)

    @property
    def characters(self) -> int:
        """The number of characters that it keeps in memory."""
        return len(self.before or "") + len(self.after or "")

    def with_states(self, numbers: Collection[int], state: HunkState) -> FileChange:
        """Return the change with a new state of these hunks."""
        states = tuple(state if n in numbers else old for n, old in enumerate(self.states))
        return replace(self, states=states)

    def hunk_within(self, number: int, applied: Collection[int]) -> Hunk:
        """Return the hunk that toggles this one, in the text with the applied hunks."""
        hunk = self.hunks[number]
        at = hunk.start + sum(
            len(one.added) - len(one.removed)
            for n, one in enumerate(self.hunks[:number])
            if n in applied
        )
        old, new = hunk.removed, hunk.added
        return Hunk(at, new, at, old) if number in applied else Hunk(at, old, at, new)


def change_of(
    path: str, before: str | None, after: str | None, old_path: str | None = None
) -> FileChange | None:
    """Return the change between two texts; None if they are equal."""
    if before == after and old_path is None:
        return None
    hunks = hunks_of(before or "", after or "") or (_NOTHING,)
    states: tuple[HunkState, ...] = tuple("pending" for _ in hunks)
    return FileChange(path, before, after, hunks, states, old_path)


def unknown_change(path: str, why: str) -> FileChange:
    """Return a change of which only the path is known."""
    return FileChange(path, None, None, why=why)


def changed_again(
    change: FileChange, before: str | None, after: str | None, old_path: str | None = None
) -> FileChange | None:
    """Return the change of the same file after another change; kept hunks stay kept.

    The first text stays.  Changes of others between the two are not undone: if they can be
    distinguished, they become part of the first text.  None if the file is as it was at first.
    """
    if change.why:
        return change_of(change.path, before, after, old_path)
    first, expected = change.before, change.text
    if before != expected and first is not None and expected is not None and before is not None:
        for theirs in hunks_of(expected, before):
            carried = carry(theirs, expected, first)
            first = first if carried is None else carried
    source = change.old_path if change.old_path is not None else old_path
    found = change_of(change.path, first, after, None if source == change.path else source)
    if found is None:
        return None
    kept: defaultdict[tuple[object, ...], deque[HunkState]] = defaultdict(deque)
    for hunk, state in zip(change.hunks, change.states, strict=True):
        if state == "kept":
            kept[hunk.removed, hunk.added].append(state)
    states: list[HunkState] = []
    for hunk in found.hunks:
        waiting = kept.get((hunk.removed, hunk.added))
        states.append(waiting.popleft() if waiting else "pending")
    return replace(found, states=tuple(states))

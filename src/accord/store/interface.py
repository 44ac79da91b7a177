"""What a store of sessions must do.  An agent works with any object that does it.

A session is a record and an append-only log of updates in the form of v2, whatever version its
clients speak.  An update is in the log before it is sent.
"""

from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

# Most bytes of one value that is kept beside a log; SQLite would take a thousand times more.
KEPT_BYTES_MAX = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """What is known of a session besides its log.  `updated_at` is RFC 3339 text."""

    session_id: str
    cwd: str
    additional_directories: tuple[str, ...] = ()
    title: str | None = None
    updated_at: str | None = None
    archived: bool = False
    options: dict[str, str | bool] = field(default_factory=dict)
    # A title that the user chose is not replaced by one that the agent makes up.
    titled_by_user: bool = False
    # What the client wants the model to be told, besides the agent's own instructions or instead.
    system_prompt: str | None = None
    system_prompt_overrides: bool = False
    # Tokens that the whole session has cost, by the name of their kind.
    tokens: dict[str, int] = field(default_factory=dict)
    # A turn has begun and nobody has said that it ended: if nobody works on it, it was cut off.
    turn_open: bool = False
    # Nobody has sent a prompt yet.
    unused: bool = False

    @property
    def is_worth_keeping(self) -> bool:
        """Whether it outlives its connection: somebody has talked in it, named it or filed it."""
        return not self.unused or self.title is not None or self.archived


class Page(NamedTuple):
    """One page of a listing; `next_cursor` is None on the last one."""

    sessions: tuple[SessionRecord, ...]
    next_cursor: str | None = None


class BadCursor(ValueError):
    """A cursor that this store did not hand out."""


class SessionLog(Protocol):
    """The log of one session."""

    def append(self, update: Any) -> Awaitable[None] | None:
        """Add one update of v2.  Where that takes time, what is returned must be awaited.

        Updates are in the order of these calls, whenever they are awaited.
        """
        ...

    def replay(self) -> AsyncIterator[Any]:
        """All updates, oldest first; chunks of one text that follow each other may come as one."""
        ...


class SessionStore(Protocol):
    """The sessions of one agent: their records, and the logs that belong to them."""

    async def create(self, record: SessionRecord) -> SessionLog:
        """Keep a new session and open its log."""
        ...

    async def get(self, session_id: str) -> SessionRecord | None:
        """The record, or None when there is no such session.

        Raises:
            StoreError: it is damaged, or was pruned; or the store cannot be read.
        """
        ...

    async def open(self, session_id: str) -> SessionLog | None:
        """The log of a known session, which is ours alone to write until `release`.

        Raises:
            StoreError: another process has it, or it is damaged or was pruned.
        """
        ...

    async def release(self, session_id: str) -> None:
        """We are done with what `create`, `open` or `fork` gave; another process may have it."""
        ...

    async def put(self, record: SessionRecord) -> None:
        """Replace the record of a known session; an unknown one is left alone."""
        ...

    async def list(self, cwd: str | None, cursor: str | None, archived: bool | None = None) -> Page:
        """Known sessions, newest first, of one directory if given.  Raises BadCursor.

        `archived` asks for those alone that are, or are not; None is both.
        """
        ...

    async def delete(self, session_id: str) -> bool:
        """Forget a session; False when there was none."""
        ...

    async def fork(self, session_id: str, record: SessionRecord) -> SessionLog | None:
        """Copy the log of a session under a new record; None when the source is unknown."""
        ...

    async def keep(self, session_id: str, name: str, value: bytes) -> None:
        """Keep a value beside the log, such as what the model knows; replaces one of that name.

        An unknown session is left alone.  A fork copies what is kept, `delete` forgets it.

        Raises:
            ValueError: more than KEPT_BYTES_MAX bytes; what was kept before stays.
        """
        ...

    async def kept(self, session_id: str, name: str) -> bytes | None:
        """What was kept under this name, or None."""
        ...


def check_kept(name: str, value: bytes) -> None:
    """Raise ValueError for a value that no store takes."""
    if len(value) > KEPT_BYTES_MAX:
        raise ValueError(f"{name!r} has {len(value)} bytes, a store keeps {KEPT_BYTES_MAX}")

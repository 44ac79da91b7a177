"""The interface of a session store; an agent works with any object that implements it.

A session is a record and an append-only log of updates in the form of v2, whatever version its
clients speak.  An update is in the log before it is sent.
"""

from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

# The largest value that is stored with a session; SQLite would accept a thousand times more.
KEPT_BYTES_MAX = 64 * 1024 * 1024

PAGE_SESSIONS = 50
"""The number of sessions on one page of a listing."""


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """The facts of a session besides its log.  `updated_at` is RFC 3339 text."""

    session_id: str
    cwd: str
    additional_directories: tuple[str, ...] = ()
    title: str | None = None
    updated_at: str | None = None
    archived: bool = False
    options: dict[str, str | bool] = field(default_factory=dict)
    # A title that the user chose is not replaced by one of the agent.
    titled_by_user: bool = False
    # The client's instructions for the model, in addition to the agent's own or instead of them.
    system_prompt: str | None = None
    system_prompt_overrides: bool = False
    # The tokens that the session has used, by kind.
    tokens: dict[str, int] = field(default_factory=dict)
    # A turn has started and its end is not recorded: without a running owner, it was cut off.
    turn_open: bool = False
    # No prompt has been sent yet.
    unused: bool = False

    @property
    def is_worth_keeping(self) -> bool:
        """Whether it outlives its connection: it has a prompt, a chosen title or is archived."""
        return not self.unused or self.title is not None or self.archived


class Page(NamedTuple):
    """One page of a listing; `next_cursor` is None on the last one."""

    sessions: tuple[SessionRecord, ...]
    next_cursor: str | None = None


class BadCursor(ValueError):
    """A cursor that this store did not return."""


class SessionLog(Protocol):
    """The log of one session."""

    def append(self, update: Any) -> Awaitable[None] | None:
        """Add one update of v2.  If something is returned, it must be awaited.

        Updates are in the order of these calls, whenever they are awaited.
        """
        ...

    def replay(self) -> AsyncIterator[Any]:
        """Yield all updates, oldest first; consecutive chunks of one text may be merged."""
        ...


class SessionStore(Protocol):
    """The sessions of one agent: their records and their logs."""

    async def create(self, record: SessionRecord) -> SessionLog:
        """Store a new session and open its log."""
        ...

    async def get(self, session_id: str) -> SessionRecord | None:
        """Return the record, or None if there is no such session.

        Raises:
            StoreError: it is damaged, or was pruned; or the store cannot be read.
        """
        ...

    async def open(self, session_id: str) -> SessionLog | None:
        """Return the log of a known session, which only this store may write until `release`.

        Raises:
            StoreError: another process has it, or it is damaged or was pruned.
        """
        ...

    async def release(self, session_id: str) -> None:
        """Give up a session of `create`, `open` or `fork`, so that another process may open it."""
        ...

    async def put(self, record: SessionRecord) -> None:
        """Replace the record of a known session; ignore an unknown one."""
        ...

    async def list(self, cwd: str | None, cursor: str | None, archived: bool | None = None) -> Page:
        """List known sessions, newest first, of one directory if given.  Raises BadCursor.

        `archived` selects sessions that are archived, or that are not; None selects both.
        """
        ...

    async def delete(self, session_id: str) -> bool:
        """Delete a session; return False if there was none."""
        ...

    async def fork(self, session_id: str, record: SessionRecord) -> SessionLog | None:
        """Copy the log of a session to a new record; return None if the source is unknown."""
        ...

    async def keep(self, session_id: str, name: str, value: bytes) -> None:
        """Store a value with the session, such as the model's history, in place of an older one.

        An unknown session is ignored.  A fork copies the values, `delete` removes them.

        Raises:
            ValueError: more than KEPT_BYTES_MAX bytes; the older value stays.
        """
        ...

    async def kept(self, session_id: str, name: str) -> bytes | None:
        """Return the value of this name, or None."""
        ...


def check_kept(name: str, value: bytes) -> None:
    """Raise ValueError for a value that is too large for a store."""
    if len(value) > KEPT_BYTES_MAX:
        raise ValueError(f"{name!r} has {len(value)} bytes; the limit is {KEPT_BYTES_MAX}")

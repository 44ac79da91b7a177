"""The forms of the services that a program may replace by objects of its own.

Each method may be sync or async.  What an object lacks is not offered to the agent.  Besides
what stands here a service may have, and is then told: `add_session(session_id, place)` (for files
all roots, for terminals the working folder), `remove_session` (files) and `close_session`
(terminals, see there), `add_roots(session_id, roots)` (permissions), `close_all()`, and
`for_connection(...)`, which gives the object that serves one connection.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Protocol


class ReadsFiles(Protocol):
    """`files=`: serves reads.  `line` counts from 1, `limit` is in lines."""

    def read_text(
        self, session_id: str, path: str, line: int | None, limit: int | None, /
    ) -> str | Awaitable[str]:
        """The text of a file; a `RequestError` says why not."""
        ...


class WritesFiles(Protocol):
    """`files=`: serves writes, after the permissions have been asked."""

    def write_text(self, session_id: str, path: str, content: str, /) -> Awaitable[None] | None:
        """Make this the text of a file.

        A service that has `locate(session_id, path)`, which gives the real path or refuses, is
        asked that first; one whose `write_text` takes `at=` is told that path again.
        """
        ...


class Ended(Protocol):
    """How a command ended."""

    @property
    def code(self) -> int | None:
        """Its exit code, if it ended by itself."""
        ...

    @property
    def signal(self) -> str | None:
        """What ended it, if something did."""
        ...


class Shown(Protocol):
    """What a terminal shows now."""

    @property
    def text(self) -> str:
        """The output, its front cut where it was too much."""
        ...

    @property
    def truncated(self) -> bool:
        """Whether it was."""
        ...

    @property
    def exit(self) -> Ended | None:
        """How the command ended; None while it runs."""
        ...


class RunsTerminals(Protocol):
    """`terminals=`: runs commands, after the permissions have been asked.

    A session is over when `close_session(session_id)` was called, and not only when what that
    returned was awaited: the same id may be added again at once.
    """

    def create(
        self,
        session_id: str,
        command: str,
        args: Sequence[str],
        /,
        *,
        env: Mapping[str, str] | None,
        cwd: str | None,
        output_byte_limit: int | None,
    ) -> str | Awaitable[str]:
        """Start a command; the id of its terminal.

        If it takes `on_output=` too, that is awaited with every piece of output (bytes), which
        is shown as it comes; otherwise output is shown when the command has ended.
        """
        ...

    def output(self, session_id: str, terminal_id: str, /) -> Shown | Awaitable[Shown]:
        """What the terminal shows now."""
        ...

    def wait_for_exit(self, session_id: str, terminal_id: str, /) -> Awaitable[Ended]:
        """Wait until the command has ended."""
        ...

    def kill(self, session_id: str, terminal_id: str, /) -> Awaitable[None] | None:
        """End the command; the id stays good."""
        ...

    def release(self, session_id: str, terminal_id: str, /) -> Awaitable[None] | None:
        """End the command; the id is unknown from the first moment on."""
        ...


__all__ = ["Ended", "ReadsFiles", "RunsTerminals", "Shown", "WritesFiles"]

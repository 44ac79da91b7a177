"""The interfaces of the services that a program may replace by objects of its own.

Each method may be sync or async.  Methods that an object lacks are not offered to the agent.  A
service may also have these methods, which are then called: `add_session(session_id, place)` (for
files all roots, for terminals the working folder), `remove_session` (files) and `close_session`
(terminals, see there), `add_roots(session_id, roots)` (permissions), `close_all()`, and
`for_connection(...)`, which returns the object that serves one connection.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from accord.connection.connection import IncomingRequest
from accord.connection.handler import Result
from accord.schema.struct import UNSET, UnsetType

if TYPE_CHECKING:
    from accord.client.permissions.request import Decision, PermissionRequest


# A result, or the work that leads to one.
Outcome: TypeAlias = Result | Callable[[], Awaitable[Result]]
# Answers the requests of one method.
Service: TypeAlias = Callable[[IncomingRequest], Outcome]
T = TypeVar("T")
DONE = b"{}"


class Decides(Protocol):
    """`permissions=`: answers the agent's permission requests."""

    async def decide(self, request: PermissionRequest, /) -> Decision:
        """The answer to a request."""
        ...


@runtime_checkable
class DecidesReads(Protocol):
    """Permissions that may refuse reads; without these methods every read is allowed."""

    def reads_freely(self, session_id: str, /) -> bool:
        """Whether no rule concerns reading."""
        ...

    async def may_read(self, session_id: str, path: str, /) -> bool:
        """Whether a file may be read."""
        ...


@runtime_checkable
class DecidesServices(Protocol):
    """Permissions that decide about writes and commands; without these methods all are refused."""

    async def may_write(
        self, session_id: str, path: str, /, *, at: str | None, content: str | None
    ) -> bool:
        """Whether a file may be written: at `at`, where the path really leads, if that is known."""
        ...

    async def may_run(
        self,
        session_id: str,
        command: str,
        args: Sequence[str],
        cwd: str | None,
        env: Mapping[str, str] | None,
        /,
    ) -> bool:
        """Whether a terminal may run a command."""
        ...

    def why_refused(
        self,
        session_id: str,
        command: str,
        args: Sequence[str],
        cwd: str | None,
        env: Mapping[str, str] | None,
        /,
    ) -> str | None:
        """The rule that refuses a command, and why; None where no rule does."""
        ...


@runtime_checkable
class ReadsFiles(Protocol):
    """`files=`: serves reads.  `line` counts from 1, `limit` is in lines."""

    def read_text(
        self, session_id: str, path: str, line: int | None, limit: int | None, /
    ) -> str | Awaitable[str]:
        """The text of a file; raises `RequestError` where it cannot be read."""
        ...


@runtime_checkable
class ReadsFilesAtOnce(Protocol):
    """`files=`: reads small files without a task."""

    def read_now(
        self, session_id: str, path: str, line: int | None, limit: int | None, /
    ) -> str | None:
        """The text of a small file; None where `read_text` must be used."""
        ...


@runtime_checkable
class WritesFiles(Protocol):
    """`files=`: serves writes, after the permissions have been asked."""

    def write_text(self, session_id: str, path: str, content: str, /) -> Awaitable[None] | None:
        """Replace the text of a file, or make the file."""
        ...


@runtime_checkable
class LocatesFiles(Protocol):
    """`files=`: serves writes to places that links may lead to.

    The permissions are asked about the place that `locate` returns, and `write_text` must write
    there and nowhere else.
    """

    def locate(self, session_id: str, path: str, /) -> str | Awaitable[str]:
        """The real path of a file; raises `RequestError` where it is out of bounds."""
        ...

    def write_text(
        self, session_id: str, path: str, content: str, /, *, at: str | None
    ) -> Awaitable[None] | None:
        """Replace the text of the file, at the real path `at` only."""
        ...


class Ended(Protocol):
    """How a command ended."""

    @property
    def code(self) -> int | None:
        """Its exit code; None where a signal ended it."""
        ...

    @property
    def signal(self) -> str | None:
        """The signal that ended it, if one did."""
        ...


class Shown(Protocol):
    """What a terminal shows now."""

    @property
    def text(self) -> str:
        """The output; where it was too much, the last part of it."""
        ...

    @property
    def truncated(self) -> bool:
        """Whether the beginning of the output was dropped."""
        ...

    @property
    def exit(self) -> Ended | None:
        """How the command ended; None while it runs."""
        ...


class RunsTerminals(Protocol):
    """`terminals=`: runs commands, after the permissions have been asked.

    A session is over when `close_session(session_id)` was called, and not only when its result was
    awaited: the same id may be added again at once.
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
        """Start a command; returns the id of its terminal.

        Its output is shown when the command has ended, unless the service also `StreamsOutput`.
        """
        ...

    def output(self, session_id: str, terminal_id: str, /) -> Shown | Awaitable[Shown]:
        """What the terminal shows now."""
        ...

    def wait_for_exit(self, session_id: str, terminal_id: str, /) -> Awaitable[Ended]:
        """Wait until the command has ended."""
        ...

    def kill(self, session_id: str, terminal_id: str, /) -> Awaitable[None] | None:
        """End the command; the id stays valid."""
        ...

    def release(self, session_id: str, terminal_id: str, /) -> Awaitable[None] | None:
        """End the command; the id is unknown from the call on."""
        ...


@runtime_checkable
class StreamsOutput(Protocol):
    """Terminals whose `create` also takes `on_output` and `on_stderr`, as keywords.

    Each is awaited with pieces of the output (bytes), which is shown as it comes.  With
    `on_stderr`, what the command writes there goes to it, and the rest to `on_output`.
    """

    @property
    def streams_output(self) -> bool:
        """Whether it does so now."""
        ...


class AnswersElicitations(Protocol):
    """`elicitation=`: shows forms and pages to the user."""

    def capabilities(self) -> Mapping[str, Any]:
        """The modes to offer to the agent."""
        ...

    async def create(self, request: Any, /) -> Any:
        """Ask the user; the result has an `action` and perhaps `content`."""
        ...

    def complete(self, elicitation_id: str, /) -> object:
        """The agent says that a visited page is done."""
        ...


async def result_of(value: Any) -> Any:
    """The result of a method that may be sync or async."""
    return await value if inspect.isawaitable(value) else value


def given(value: T | UnsetType | None) -> T | None:
    """The value of an optional field, or None."""
    return None if value is UNSET else value

"""The wire form of one version, as the version-neutral agent sees it, and parts of answers.

Inside, updates are v2's structs; the `wire.py` of each version translates them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from accord.agent.tools.permission_request import PermissionAsk, PermissionOption
from accord.connection.connection import Work
from accord.schema.codec import Invalid, decode, encode
from accord.schema.struct import UNSET, Raw

if TYPE_CHECKING:
    from accord.agent.terminals.command import Done, Job
    from accord.schema.method import Method


EMPTY = b"{}"


class Features(NamedTuple):
    """What the client offers to do for the agent."""

    read_files: bool = False
    write_files: bool = False
    terminals: bool = False
    elicit_form: bool = False
    elicit_url: bool = False
    terminal_login: bool = False
    boolean_options: bool = True
    notices: bool = True
    compaction: bool = True
    plans: bool = True
    subagents: bool = True
    auth_status: bool = True
    # Methods beyond the protocol that the client advertises.
    extensions: frozenset[str] = frozenset()


class FileDetails(NamedTuple):
    """How a file is read or written; None leaves it to the client."""

    encoding: str | None = None
    overwrite: bool = True
    create_directories: bool = True


class ClientRequests(Protocol):
    """Sends requests to a client of the draft."""

    async def ask_permission(self, session: Any, ask: PermissionAsk) -> PermissionOption | None:
        """Ask the user; see `SessionState.ask_permission`."""
        ...

    def remembered(self, session: Any, keys: Sequence[str], allowed: bool) -> None:
        """Note a lasting answer; the user may have meant it for more than this session."""
        ...

    async def read_text(
        self,
        session: Any,
        path: str,
        line: int | None,
        limit: int | None,
        details: FileDetails,
    ) -> str:
        """Read a file through the client."""
        ...

    async def write_text(self, session: Any, path: str, text: str, details: FileDetails) -> bool:
        """Write a file through the client; return whether it is new."""
        ...

    async def run(self, turn: Any, call: Any, job: Job) -> Done:
        """Run a command in a terminal of the client, within a tool call that has begun."""
        ...


HeldAgain: TypeAlias = Literal["none", "messages", "all"]


class Wire(Protocol):
    """Encodes the agent's messages in one version."""

    version: int
    features: Features
    # Whether the chunks of one message have v2's form and differ only in their text, so that their
    # frame is made once.
    pieces_alike: bool
    # Which items of a past the client may still show, so that replayed chunks must not add to them.
    held_again: HeldAgain
    # Whether the number of prompts that wait in a session is bounded.
    bounds_queue: bool
    # Whether a client may cancel one tool call alone.
    cancels_tool_calls: bool
    # Whether the answer to `session/status` has the state of the session.
    has_states: bool
    # Pages that the user agreed to visit and that are not reported as done yet.
    open_pages: set[str]

    @property
    def client_requests(self) -> ClientRequests | None:
        """None if files, terminals and permissions are requested as in v1."""
        ...

    @property
    def client_methods(self) -> Mapping[str, Method]:
        """The methods of the client, with the types of their answers."""
        ...

    def updates(self, session_id: str, update: Any) -> Sequence[bytes]:
        """Encoded params of `session/update`; none if this client must not get the update."""
        ...

    def envelope(self, session_id: str) -> tuple[bytes, bytes]:
        """The bytes before and behind each value of `told` in the params of an update."""
        ...

    def told(self, session_id: str, update: Any) -> Sequence[Any]:
        """The same as `updates` before encoding, for many updates of one session."""
        ...

    def forget(self, session_id: str) -> None:
        """Forget a session, as if nothing of it had been sent to this client."""
        ...

    def permission_request(self, session_id: str, ask: PermissionAsk) -> bytes:
        """Encoded params of `session/request_permission`."""
        ...

    def permission_choice(self, result: Raw) -> str | None:
        """The id that the user chose; None for anything that is not a choice."""
        ...


class OfficialWire(ABC):
    """What the wires of v1 and v2 have in common."""

    version: int
    schema: Any
    pieces_alike = True
    held_again: HeldAgain
    bounds_queue: bool
    cancels_tool_calls: bool
    has_states: bool
    client_requests: ClientRequests | None = None

    def __init__(self, features: Features) -> None:
        self.features = features
        self.open_pages: set[str] = set()
        self._head_of: str | None = None
        self._head = b""

    @property
    def client_methods(self) -> Mapping[str, Method]:
        """The methods of the client.  They are loaded now, since good clients never need it."""
        methods: Mapping[str, Method] = import_module(
            f"{self.schema.__name__}.methods"
        ).CLIENT_METHODS
        return methods

    def envelope(self, session_id: str) -> tuple[bytes, bytes]:
        """The bytes before and behind an update in its params."""
        return b'{"sessionId":%b,"update":' % encode(session_id), b"}"

    def updates(self, session_id: str, update: Any) -> Sequence[bytes]:
        """None, one or several notifications for an update of v2."""
        if session_id != self._head_of:
            # Most updates are of the same session as the one before.
            self._head_of, self._head = session_id, self.envelope(session_id)[0]
        return [self._head + encode(said) + b"}" for said in self.told(session_id, update)]

    @abstractmethod
    def told(self, session_id: str, update: Any) -> Sequence[Any]:
        """The updates of this version for an update of v2."""

    @abstractmethod
    def forget(self, session_id: str) -> None:
        """Forget a session, as if nothing of it had been sent to this client."""

    def config_options(self, options: Sequence[Any]) -> Sequence[Any]:
        """The options that this client may be shown."""
        return options

    @abstractmethod
    def permission_request(self, session_id: str, ask: PermissionAsk) -> bytes:
        """Encoded params of `session/request_permission`."""

    def permission_choice(self, result: Raw) -> str | None:
        """The chosen id; cancelled, unknown and malformed outcomes are not a choice."""
        try:
            outcome = decode(self.schema.RequestPermissionResponse, result).outcome
        except Invalid:
            return None
        is_choice = isinstance(outcome, self.schema.SelectedPermissionOutcome)
        return outcome.option_id if is_choice else None


def directories_of(wanted: Any) -> tuple[str, ...]:
    """The additional folders of a session request."""
    directories = wanted.additional_directories
    return () if directories is UNSET else tuple(directories)


def empty_after(work: Callable[[], Awaitable[None]]) -> Work:
    """Work that is answered with an empty result."""

    async def run() -> bytes:
        await work()
        return EMPTY

    return run


def to_plain(value: Any) -> dict[str, Any]:
    """A struct as the plain object that is on the wire."""
    plain: dict[str, Any] = decode(dict, encode(value))
    return plain

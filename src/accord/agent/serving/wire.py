"""What the version-neutral agent needs to know about the wire form of one version.

Updates are v2's structs inside; `v1_wire.py`, `v2_wire.py` and `draft_wire.py` say them in theirs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from accord.schema.codec import Invalid, decode, encode
from accord.schema.struct import Raw

if TYPE_CHECKING:
    from accord.agent.session.session import AgentSession
    from accord.agent.terminals.own_terminals import Done, Job
    from accord.agent.tools.tool_call import ToolCallHandle
    from accord.agent.turn import Turn
    from accord.schema.method import Method


class PermissionOption(NamedTuple):
    """One answer that the user may give; `kind` says what it means."""

    option_id: str
    name: str
    kind: str

    @property
    def allows(self) -> bool:
        """Whether choosing it is consent.  A kind that we do not know is not."""
        return self.kind in ("allow_once", "allow_always")

    @property
    def is_remembered(self) -> bool:
        """Whether the user wants not to be asked again."""
        return self.kind.endswith("_always")


class PermissionAsk(NamedTuple):
    """A question to the user, before it has a wire form.  `tool_call` is a patch of v2."""

    title: str
    reason: str | None
    tool_call: Any
    options: tuple[PermissionOption, ...]
    command: str | None = None
    cwd: str | None = None
    # What a lasting answer covers, for clients whose options have no names.
    covers: str | None = None
    # Told who decided, where the client says so.
    heard: Callable[[str | None], None] = lambda _: None


class Features(NamedTuple):
    """What the client offered to do for us."""

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
    # Methods beyond the protocol that the client says it has.
    extensions: frozenset[str] = frozenset()


class FileDetails(NamedTuple):
    """What else may be said of a file that is read or written; None is as the client likes."""

    encoding: str | None = None
    overwrite: bool = True
    create_directories: bool = True


class Ways(Protocol):
    """How a client is asked to do something, where that is not as v1 has it."""

    async def ask_permission(
        self, session: AgentSession, ask: PermissionAsk
    ) -> PermissionOption | None:
        """See `AgentSession.ask_permission`."""
        ...

    def remembered(self, session: AgentSession, keys: Sequence[str], allowed: bool) -> None:
        """The session keeps a lasting answer; the user may have meant more than this session."""
        ...

    async def read_text(
        self,
        session: AgentSession,
        path: str,
        line: int | None,
        limit: int | None,
        details: FileDetails,
    ) -> str:
        """The text of a file of the client's."""
        ...

    async def write_text(
        self, session: AgentSession, path: str, text: str, details: FileDetails
    ) -> bool:
        """Write a file of the client's; whether it is a new one."""
        ...

    async def run(self, turn: Turn, call: ToolCallHandle, job: Job) -> Done:
        """Run a command in a terminal of the client's, within a tool call that has begun."""
        ...


HeldAgain: TypeAlias = Literal["none", "messages", "all"]


class Wire(Protocol):
    """The words of one version."""

    version: int
    features: Features
    # Whether pieces of one message are said as v2 says them and differ in their text alone, so that
    # their frame is made once.
    pieces_alike: bool
    # What of a past a client may still hold, so that its pieces must not add to what is there.
    held_again: HeldAgain
    # Whether the number of prompts that wait in a session is bounded.
    bounds_queue: bool
    # Whether a client may cancel one tool call alone.
    cancels_tool_calls: bool
    # Whether the client is told the state of a session.
    has_states: bool
    # Pages that this client's user agreed to visit and whose end was not told yet.
    open_pages: set[str]

    @property
    def ways(self) -> Ways | None:
        """None where files, terminals and permission are asked for as in v1."""
        ...

    @property
    def client_methods(self) -> Mapping[str, Method]:
        """The methods of the client, with the types of their answers."""
        ...

    def updates(self, session_id: str, update: Any) -> Sequence[bytes]:
        """Encoded params of `session/update`, none when this client must not get it."""
        ...

    def envelope(self, session_id: str) -> tuple[bytes, bytes]:
        """What stands before and behind each value of `told` in the params of an update."""
        ...

    def told(self, session_id: str, update: Any) -> Sequence[Any]:
        """The same as `updates`, not encoded yet: for many of one session, one after the other."""
        ...

    def forget(self, session_id: str) -> None:
        """Start again with a session: nothing of it has been told to this client."""
        ...

    def permission_request(self, session_id: str, ask: PermissionAsk) -> bytes:
        """Encoded params of `session/request_permission`."""
        ...

    def permission_choice(self, result: Raw) -> str | None:
        """The id that the user chose, or None for anything that is not a choice."""
        ...


class OfficialWire(ABC):
    """What v1 and v2 have in common: the envelope of an update, and how a choice is read."""

    version: int
    schema: Any
    pieces_alike = True
    held_again: HeldAgain
    bounds_queue: bool
    cancels_tool_calls: bool
    has_states: bool
    ways = None

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
        """What stands before and behind an update in its params."""
        return b'{"sessionId":%b,"update":' % encode(session_id), b"}"

    def updates(self, session_id: str, update: Any) -> Sequence[bytes]:
        """None, one or several notifications for an update of v2."""
        if session_id != self._head_of:
            # Most updates are of the same session as the one before.
            self._head_of, self._head = session_id, self.envelope(session_id)[0]
        return [self._head + encode(said) + b"}" for said in self.told(session_id, update)]

    @abstractmethod
    def told(self, session_id: str, update: Any) -> Sequence[Any]:
        """What this version says of an update of v2."""

    @abstractmethod
    def forget(self, session_id: str) -> None:
        """Start again with a session: nothing of it has been told to this client."""

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

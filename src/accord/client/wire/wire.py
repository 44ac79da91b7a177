"""What the two wire forms have in common, and the version-neutral values that go in and out.

A wire form turns what a session wants into the params of its version, and answers into neutral
values.  It is chosen once per connection, after the handshake.

Must not know: which version it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from accord.client.connection.capabilities import AgentCapabilities
from accord.client.connection.handshake import Implementation
from accord.client.session.unknown_values import Words
from accord.errors import RemoteProtocolError
from accord.schema.codec import Invalid, to_python
from accord.schema.struct import Raw
from accord.transcript import Dialect

# A block of the version that is spoken, or a string that becomes a text block.
Block: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class AuthMethod:
    """A way to log in.  `kind` is "agent", "terminal", or a word that we do not know."""

    method_id: str
    name: str
    kind: str = "agent"
    description: str | None = None
    # For a login in a terminal: what is added to the agent's own command.
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AgentFacts:
    """What the answer to `initialize` says about the agent."""

    info: Implementation | None
    capabilities: AgentCapabilities
    auth_methods: tuple[AuthMethod, ...]


@dataclass(frozen=True, slots=True)
class Setup:
    """Where a session works and with what."""

    cwd: str
    additional_directories: tuple[str, ...] = ()
    # Structs of v2, whatever is spoken.
    mcp_servers: tuple[Any, ...] = ()
    system_prompt: str | None = None
    system_prompt_mode: str = "append"
    # What the draft takes with the request that opens the session.
    mode: str | None = None
    config_options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session as the agent lists it."""

    session_id: str
    cwd: str
    additional_directories: tuple[str, ...] = ()
    title: str | None = None
    updated_at: str | None = None
    archived: bool | None = None


@dataclass(frozen=True, slots=True)
class SessionPage:
    """One page of a list; no cursor means that it is the last."""

    sessions: tuple[SessionInfo, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class PromptAnswer:
    """The answer to `session/prompt`: in v1 the end of the turn, in v2 its beginning."""

    stop_reason: str | None = None
    message_id: str | None = None
    usage: Any = None
    # With the stop reason "error": what failed, with code, message and data, where that was said.
    error: Any = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A permission request: the struct for the transcript, and what it says in words."""

    session_id: str
    title: str | None
    reason: str | None
    # (id, label, kind)
    options: tuple[tuple[str, str, str], ...]
    # A patch of a tool call in the version that is spoken, or None.
    tool_call: Any = None
    command: str | None = None
    cwd: str | None = None
    tool_call_id: str | None = None
    terminal_id: str | None = None


class Incoming(Protocol):
    """A `session/update` of either version."""

    @property
    def session_id(self) -> str:
        """Whose."""
        ...

    @property
    def update(self) -> Any:
        """What."""
        ...


Request: TypeAlias = tuple[str, bytes]


def unreadable(method: str, error: Invalid) -> RemoteProtocolError:
    """What a caller is told when an answer is not what the protocol says."""
    return RemoteProtocolError(f"the answer to {method} is invalid: {error}")


def lacks_options(result: Raw) -> bool:
    """Whether an answer to a setting says no more than that it was taken, as droid's does."""
    answer = to_python(result)
    return answer is None or (isinstance(answer, dict) and "configOptions" not in answer)


class Wire(Protocol):
    """The form of one version.  Requests come back as method and params."""

    version: int
    # "v1", "v2" or "draft", which calls itself version 1.
    dialect: Dialect
    # The words that updates and answers may say, by type.
    words: Words

    @property
    def update_params(self) -> type[Any] | None:
        """The type of the params of `session/update`; None where they are not read in one go."""
        ...

    @property
    def read_update(self) -> Callable[[Raw], Incoming]:
        """Reads the params of `session/update`."""
        ...

    def agent(self, answer: Mapping[str, Any]) -> AgentFacts:
        """Read the answer to `initialize`."""
        ...

    def blocks(self, prompt: Sequence[Any]) -> list[Block]:
        """Content blocks in this version's form; a string is a text block."""
        ...

    def new_session(self, setup: Setup) -> Request:
        """Open a session."""
        ...

    def load_session(self, session_id: str, setup: Setup) -> Request:
        """Open a stored session and replay its history."""
        ...

    def resume_session(self, session_id: str, setup: Setup) -> Request:
        """Open a stored session without its history."""
        ...

    def fork_session(self, session_id: str, setup: Setup) -> Request:
        """Open a copy of a session."""
        ...

    def read_opened(self, method: str, result: Raw) -> Any:
        """The answer to one of these, as the struct that a transcript understands."""
        ...

    def told(self, setup: Setup) -> Sequence[Any]:
        """What is known of a session that is opened so, before anything is told about it.

        As structs that a transcript understands.
        """
        ...

    def list_sessions(self, cwd: str | None, cursor: str | None, archived: str | None) -> Request:
        """Ask for one page."""
        ...

    def read_page(self, result: Raw) -> SessionPage:
        """Read one page."""
        ...

    def prompt(self, session_id: str, blocks: Sequence[Block]) -> Request:
        """Send a message of the user."""
        ...

    def read_prompt_answer(self, result: Raw) -> PromptAnswer:
        """Read the answer to it."""
        ...

    def about_session(self, method: str, session_id: str) -> Request:
        """A request or notification that needs nothing but the session: cancel, close, delete."""
        ...

    def set_option(self, session_id: str, option_id: str, value: str | bool) -> Request:
        """Set a config option."""
        ...

    def read_options(self, result: Raw) -> Any:
        """The answer to it, as the struct that a transcript understands.

        None where the agent took the value and told nothing about its options.
        """
        ...

    def login(self, method_id: str) -> Request:
        """Log in by one of the agent's methods."""
        ...

    def logout(self) -> Request:
        """Log out."""
        ...

    def read_permission(self, params: Raw) -> Asked:
        """Read a permission request."""
        ...

    def read_elicitation(self, params: Raw) -> Any:
        """Read a question to the user, as the struct of this version."""
        ...

    def read_completed(self, params: Raw) -> str:
        """Read which page has done its work."""
        ...


__all__ = [
    "AgentFacts",
    "Asked",
    "AuthMethod",
    "Block",
    "Incoming",
    "PromptAnswer",
    "Request",
    "SessionInfo",
    "SessionPage",
    "Setup",
    "Wire",
]

"""The interface of a wire form, and the version-neutral values that go in and out.

A wire form turns requests of a session into params of its version, and answers into neutral
values.  One is chosen per connection, after the handshake.

Must not know: which version it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from accord.client.connection.capabilities import AgentCapabilities
from accord.client.connection.implementation import Implementation
from accord.errors import RemoteProtocolError
from accord.schema.codec import Invalid, to_python
from accord.schema.enumeration import enumeration
from accord.schema.struct import Raw
from accord.transcript import Dialect

KnownValues: TypeAlias = Mapping[type, Mapping[str, frozenset[str]]]
"""The listed values, by type and field."""

# A content block in the agreed version.
Block: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class AuthMethod:
    """A way to log in.  `kind` is "agent", "terminal", or a kind that we do not know."""

    method_id: str
    name: str
    kind: str = "agent"
    description: str | None = None
    # For a login in a terminal: arguments and variables to add to the agent's command.
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AuthStatus:
    """Whether a login is needed.  A state that is not understood is `unknown`.

    `accounts` are for display, as the agent sent them; keep them out of logs.
    """

    state: str
    accounts: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentFacts:
    """The agent as its answer to `initialize` describes it."""

    info: Implementation | None
    capabilities: AgentCapabilities
    auth_methods: tuple[AuthMethod, ...]


@dataclass(frozen=True, slots=True)
class Setup:
    """The folders, servers and prompt that a session is opened with."""

    cwd: str
    additional_directories: tuple[str, ...] = ()
    # Structs of v1 or v2.
    mcp_servers: tuple[Any, ...] = ()
    system_prompt: str | None = None
    system_prompt_mode: str = "append"
    # Only for wires that open a session with its settings.
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
    """One page of a list; the last one has no cursor."""

    sessions: tuple[SessionInfo, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class PromptAnswer:
    """The answer to `session/prompt`: in v1 the end of the turn, in v2 its beginning."""

    stop_reason: str | None = None
    message_id: str | None = None
    usage: Any = None
    # With the stop reason "error": its code, message and data, where the agent gave them.
    error: Any = None


@dataclass(frozen=True, slots=True)
class PermissionAsked:
    """A permission request in neutral values, and its tool call for the transcript."""

    session_id: str
    title: str | None
    reason: str | None
    # Id, name and kind.
    options: tuple[tuple[str, str, str], ...]
    # A patch of a tool call in the agreed version.
    tool_call: Any = None
    command: str | None = None
    cwd: str | None = None
    tool_call_id: str | None = None
    terminal_id: str | None = None


class Incoming(Protocol):
    """A `session/update` of any version."""

    @property
    def session_id(self) -> str:
        """The session that the update is about."""
        ...

    @property
    def update(self) -> Any:
        """The update, as a struct of its version."""
        ...


Request: TypeAlias = tuple[str, bytes]


def unreadable(method: str, error: Invalid) -> RemoteProtocolError:
    """The error for an answer that does not fit the protocol."""
    return RemoteProtocolError(f"the answer to {method} is invalid: {error}")


def lacks_options(result: Raw) -> bool:
    """Whether an answer to a setting lacks the options, as droid's does."""
    answer = to_python(result)
    return answer is None or (isinstance(answer, dict) and "configOptions" not in answer)


def listed(alias: Any) -> frozenset[str]:
    """The values of `Literal[...] | str`."""
    return frozenset(enumeration(alias, open=True).values)


def report_unknown(struct: Any, known: KnownValues, report: Callable[[str], None]) -> None:
    """Report every value that is not listed; those that start with `_` are custom."""
    for name, values in known.get(type(struct), {}).items():
        value = getattr(struct, name)
        # The common case first.
        if value not in values and isinstance(value, str) and not value.startswith("_"):
            report(f"{type(struct).__name__}: unknown {name} {value!r}")


class Wire(Protocol):
    """The wire form of one version.  Requests are pairs of method and params."""

    version: int
    # The version of the wire types; an agent of the 2026-02 draft is translated to v1.
    dialect: Dialect
    # The module of the version's wire types.
    schema: Any
    # The values that the protocol lists for fields of updates and answers.
    known_values: KnownValues
    # Whether the answer to a prompt ends the turn; otherwise a state does, and the answer says
    # that the message is part of the conversation.
    ends_turn_by_answer: bool
    # Whether the client marks the open calls of a cancelled turn as ended, because agents cannot.
    ends_cancelled_calls: bool
    # Whether agents ask the client for files and terminals.
    uses_client_services: bool
    # Whether mode and options of a new session go into the request that opens it.
    opens_with_settings: bool
    # Whether config options take any JSON value.
    takes_any_option: bool
    # Whether structs of the 2026-02 draft may be sent.
    takes_draft_content: bool
    # Whether a login needs a credential instead of one of the agent's methods.
    logs_in_by_credential: bool

    @property
    def can_cancel(self) -> bool:
        """Whether the agent stops a turn when asked to."""
        ...

    @property
    def update_params(self) -> type[Any] | None:
        """The type of the params of `session/update`; None where reading takes several steps."""
        ...

    @property
    def read_update(self) -> Callable[[Raw], Incoming]:
        """Reads the params of `session/update`."""
        ...

    def agent(self, answer: Mapping[str, Any]) -> AgentFacts:
        """Read the answer to `initialize`."""
        ...

    def login(self, method_id: str) -> Request:
        """Log in by one of the agent's methods."""
        ...

    def logout(self) -> Request: ...

    def read_auth_status(self, params: Raw) -> AuthStatus | None:
        """Read a login state; None where the version has no such thing."""
        ...

    def new_session(self, setup: Setup) -> Request: ...

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
        """Read the answer to one of these, as a struct that a transcript understands."""
        ...

    def folder_of(self, opened: Any) -> str | None:
        """The folder that such an answer names, where it names one."""
        ...

    def list_sessions(self, cwd: str | None, cursor: str | None, archived: str | None) -> Request:
        """Ask for one page of the agent's sessions."""
        ...

    def read_page(self, result: Raw) -> SessionPage: ...

    def about_session(self, method: str, session_id: str) -> Request:
        """A message that names nothing but the session: cancel, close, delete."""
        ...

    def blocks(self, prompt: Sequence[Any]) -> list[Block]:
        """Content blocks in this version's form; a string is a text block."""
        ...

    def prompt(self, session_id: str, blocks: Sequence[Block]) -> Request:
        """Send a message of the user."""
        ...

    def read_prompt_answer(self, result: Raw) -> PromptAnswer:
        """Read the answer to `session/prompt`."""
        ...

    def cancel_tool_call(self, session_id: str, tool_call_id: str) -> Request:
        """Stop one tool call that offers it."""
        ...

    def cancel_terminal(self, session_id: str, terminal_id: str) -> Request:
        """Stop one of the agent's terminals that offers it."""
        ...

    def set_mode(self, session_id: str, mode_id: str) -> Request:
        """Switch the mode of a session that has modes."""
        ...

    def read_mode(self, result: Raw) -> Any:
        """Read the answer as a struct for the transcript; None where the answer is empty."""
        ...

    def set_model(self, session_id: str, model_id: str) -> Request:
        """Choose one of the models that a session offers."""
        ...

    def set_option(self, session_id: str, option_id: str, value: Any) -> Request:
        """Set a config option."""
        ...

    def read_options(self, result: Raw) -> Any:
        """Read the answer as a struct for the transcript; None where it names no options."""
        ...

    def read_permission(self, params: Raw) -> PermissionAsked:
        """Read a permission request."""
        ...

    def read_elicitation(self, params: Raw) -> Any:
        """Read a question to the user, as the struct of this version."""
        ...

    def read_completed(self, params: Raw) -> str:
        """Read the id of the elicitation whose page is done."""
        ...

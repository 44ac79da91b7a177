"""What an agent offers and the functions that do its work, as every connection reads them."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol
from weakref import WeakSet

from accord.agent.argument_checks import MCP_TRANSPORTS, check_facts, client_capabilities, known
from accord.agent.session.options_and_commands import Offer
from accord.connection import Limits
from accord.connection.peer_mistakes import strict_by_default
from accord.errors import LocalProtocolError

if TYPE_CHECKING:
    # Loaded behind the answer to `initialize`.
    from accord.agent.login import AuthMethod, LoginHook, StatusHook
    from accord.agent.serving.unstable.providers import Providers
    from accord.agent.session.session_state import SessionState
    from accord.store import SessionStore

PromptType = Literal["image", "audio", "embedded_context"]

_PROMPT_TAGS = {"image": "image", "audio": "audio", "embedded_context": "resource"}


class Extension(NamedTuple):
    """A method or notification of the agent's own."""

    method: str
    params: Any
    handler: Callable[[Any], Awaitable[Any]]
    is_notification: bool


class ConnectedSessions(Protocol):
    """The sessions of one connection, as the other connections of the agent see them."""

    by_id: dict[str, "SessionState"]

    async def close(self, session: "SessionState") -> None:
        """End the work of a session, and close it."""
        ...


class ClientLogin(Protocol):
    """The login of one connection, as the agent sees it."""

    async def announce(self) -> None:
        """Report a change of the login to the client."""
        ...


class AgentDefinition:
    """All that one agent is, for every connection that it serves."""

    def __init__(
        self,
        name: str,
        *,
        version: str,
        title: str | None,
        accepts: PromptType | Iterable[PromptType],
        mcp: str | Iterable[str],
        requires: str | Sequence[str],
        versions: Iterable[int],
        store: "SessionStore | None",
        unstable: bool,
        early_v2: bool,
        session_models: bool,
        strict: bool | None,
        limits: Limits | None,
    ) -> None:
        check_facts(name, version, title, store)
        self.name, self.version, self.title = name, version, title
        self.accepts = frozenset(known("prompt content", accepts, _PROMPT_TAGS))
        self.prompt_types = frozenset({"text", "resource_link"}) | {
            _PROMPT_TAGS[one] for one in self.accepts
        }
        # Servers behind this connection are unstable.
        transports = frozenset(known("transport of MCP", mcp, MCP_TRANSPORTS))
        self.mcp = (transports | {"stdio"}) - (set() if unstable else {"acp"})
        self.requires = client_capabilities(requires)
        self.versions = frozenset(versions)
        if not self.versions or not self.versions <= {1, 2}:
            raise LocalProtocolError("an agent serves version 1, 2 or both")
        if store is not None:
            self.store = store
        self.unstable = unstable
        self.early_v2 = early_v2
        self.session_models = session_models
        self.strict = strict_by_default() if strict is None else strict
        self.limits = (limits or Limits()).checked()
        self.offer = Offer()
        self.auth_methods: dict[str, AuthMethod] = {}
        self.login_required = False
        self.extensions: dict[str, Extension] = {}
        self.prompt_handler: Callable[[Any], Awaitable[str | None]] | None = None
        self.session_hook: Callable[[Any], Awaitable[None]] | None = None
        self.initialized_hook: Callable[[], None] | None = None
        self.login_check: Callable[[], bool] | None = None
        # Raises where no session can be opened in a folder, before anything is stored.
        self.folder_check: Callable[[str], Awaitable[None]] | None = None
        self.authenticate_hook: LoginHook | None = None
        # Whether it takes what clients of the 2026-02 draft log in with.
        self.reads_credentials = False
        self.logout_hook: Callable[[], Awaitable[None]] | None = None
        # ---- unstable
        self.auth_status_hook: StatusHook | None = None
        self.takes_system_prompt = False
        self.takes_system_prompt_override = False
        # What was loaded for the first turn: versions, and whether with files.
        self.prepared: set[tuple[str, bool]] = set()
        # Of every connection that is being served.
        self.connected: WeakSet[ConnectedSessions] = WeakSet()
        self.login_states: WeakSet[ClientLogin] = WeakSet()

    @cached_property
    def store(self) -> "SessionStore":
        """The store of sessions: in memory, unless the program has set one."""
        from accord.store import MemoryStore

        return MemoryStore()

    def store_for(self, principal: str) -> "SessionStore":
        """The stored sessions of one user of a server; "" is everyone if there are no logins."""
        if not principal:
            return self.store
        from accord.store.user_sessions import OwnedSessions

        return OwnedSessions(self.store, principal)

    @cached_property
    def providers(self) -> "Providers":
        """The services behind the model that clients may set; loaded with the first use."""
        from accord.agent.serving.unstable.providers import Providers

        return Providers()

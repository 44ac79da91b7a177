"""What a program chooses about its client: the keywords it writes, and the value they become."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

from accord.client.connection.extensions import Extensions
from accord.client.connection.handshake import VERSIONS, Implementation, Offer
from accord.client.login import Login, TerminalRunner
from accord.client.option_checks import check_services, check_values, check_versions
from accord.client.session.retry import Retry
from accord.connection.limits import Limits
from accord.connection.peer_mistakes import strict_by_default
from accord.errors import LocalProtocolError
from accord.jsonrpc.framing import Framing
from accord.version import __version__

if TYPE_CHECKING:
    from accord.client.connection.traffic_tap import Listener
    from accord.client.credential import Credential, CredentialSource
    from accord.client.permissions.permissions import Permissions
    from accord.client.services.elicitation import Elicitations
    from accord.client.services.protocols import ReadsFiles, RunsTerminals, WritesFiles
    from accord.client.wire.wire import AuthStatus


class ClientOptions(TypedDict, total=False):
    """The keywords of `Client.spawn` and `Client.connect`; every one may be left out."""

    # Who decides what the agent may do.  Without: whatever needs a user is refused.
    permissions: "Permissions"
    # Services for v1 agents: ours by default, an object of your own, or False for none.
    files: "ReadsFiles | WritesFiles | bool"
    terminals: "RunsTerminals | bool"
    # How the user answers an agent's questions; without, agents are told that there is no way.
    elicitation: "Elicitations"
    # The name, title and version that the agent is told.
    info: Implementation
    framing: Framing
    versions: Sequence[int]
    # Whether to offer and use what the protocol calls unstable.
    unstable: bool
    # Whether to fail at once on what is otherwise tolerated; default: what ACCORD_STRICT says.
    strict: bool
    limits: Limits
    # How often, or within what time, a request is tried again when the agent says: too many.
    retry: int | Retry
    # How to log in when the agent asks for it; without, AuthenticationRequired is raised.
    login: Login
    # Told when the agent's login changes.  Unstable.
    on_auth_status: Callable[["AuthStatus"], None]
    # What we understand beyond the protocol.
    extensions: Extensions
    # Hears every byte, "sent" or "received", at once and in order; without bytes: it is over.
    traffic: "Listener"
    # For agents of the 2026-02 draft: which dialect each agent spoke, from one start to the next;
    dialects: "DialectMemory"
    # how to log in where the agent wants a credential;
    credential: "Credential | CredentialSource"
    # and what the user sees: some of "diff_viewer", "code_navigation".
    ui: Collection[str]


class DialectMemory(Protocol):
    """Remembers how each agent wants to be spoken to.  An agent is named by its command's words."""

    def recall(self, agent: Sequence[str], /) -> tuple[str, str] | None:
        """The dialect that it spoke, and the version that it reported then."""
        ...

    def remember(self, agent: Sequence[str], dialect: str, version: str, /) -> None:
        """It spoke this."""
        ...

    def forget(self, agent: Sequence[str], /) -> None:
        """It does not any more."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The choices, with every default filled in.  A service that is None is not offered."""

    info: Implementation
    permissions: Any
    files: Any = None
    terminals: Any = None
    elicitation: Any = None
    versions: tuple[int, ...] = VERSIONS
    unstable: bool = False
    strict: bool = False
    framing: Framing | None = None
    limits: Limits = field(default_factory=Limits)
    retry: int | Retry = 0
    login: Login | None = None
    login_terminal: TerminalRunner | None = None
    on_auth_status: Callable[["AuthStatus"], None] | None = None
    extensions: Extensions = field(default_factory=Extensions)
    traffic: "Listener | None" = None
    dialects: DialectMemory | None = None
    credential: Any = None
    ui: frozenset[str] = frozenset()


def make_options(chosen: ClientOptions, *, login_terminal: TerminalRunner | None = None) -> Options:
    """Fill in the defaults.

    Raises:
        LocalProtocolError: a choice that cannot be.
    """
    unknown = set(chosen) - set(ClientOptions.__annotations__)
    if unknown:
        raise LocalProtocolError(f"a client has no option {', '.join(sorted(unknown))}")
    versions = check_versions(chosen.get("versions", VERSIONS), VERSIONS)
    check_services(chosen)
    check_values(chosen)
    strict = chosen.get("strict")
    return Options(
        info=chosen.get("info") or _our_name(),
        permissions=_service(chosen.get("permissions"), _default_permissions),
        files=_service(chosen.get("files"), _default_files),
        terminals=_service(chosen.get("terminals"), _default_terminals),
        elicitation=chosen.get("elicitation"),
        versions=versions,
        unstable=chosen.get("unstable") or False,
        strict=strict_by_default() if strict is None else strict,
        framing=chosen.get("framing"),
        limits=(chosen.get("limits") or Limits()).checked(),
        retry=chosen.get("retry") or 0,
        login=chosen.get("login"),
        login_terminal=login_terminal,
        on_auth_status=chosen.get("on_auth_status"),
        extensions=chosen.get("extensions") or Extensions(),
        traffic=chosen.get("traffic"),
        dialects=chosen.get("dialects"),
        credential=chosen.get("credential"),
        ui=frozenset(chosen.get("ui") or ()),
    )


def _service(chosen: Any, default: Callable[[], Any]) -> Any:
    if chosen is False:
        return None
    return default() if chosen is None or chosen is True else chosen


def _our_name() -> Implementation:
    return Implementation("accord", __version__, "Accord")


def _default_permissions() -> Any:
    from accord.client.permissions.permissions import Permissions

    return Permissions()


def _default_files() -> Any:
    from accord.client.services.files import FileService

    return FileService()


def _default_terminals() -> Any:
    from accord.client.services.terminals import TerminalService

    return TerminalService()


def make_offer(options: Options) -> Offer:
    """What the agent is told that we can do: exactly what is there."""
    meta = options.extensions.advertised()
    v1: dict[str, Any] = {
        "session": {"configOptions": {"boolean": {}}, "compaction": {}, "notices": {}},
    }
    v2: dict[str, Any] = {}
    if options.files is not None:
        v1["fs"] = {
            "readTextFile": hasattr(options.files, "read_text"),
            "writeTextFile": hasattr(options.files, "write_text"),
        }
    if options.terminals is not None:
        v1["terminal"] = True
    if options.elicitation is not None:
        v1["elicitation"] = v2["elicitation"] = options.elicitation.capabilities()
    if options.login_terminal is not None:
        v1["auth"], v2["auth"] = {"terminal": True}, {"terminal": {}}
    if options.unstable:
        v1["plan"], v1["subagents"] = {}, {}
    if meta:
        v1["_meta"] = v2["_meta"] = meta
    return Offer(options.info, v1, v2)


__all__ = [
    "ClientOptions",
    "DialectMemory",
    "Options",
    "make_offer",
    "make_options",
]

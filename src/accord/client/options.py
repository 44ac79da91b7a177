"""The options of a client: the keywords that a program writes, and the value they become."""

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

from accord.client.connection.extensions import Extensions
from accord.client.connection.implementation import OUR_NAME, VERSIONS, Implementation, Offer
from accord.client.login import Login, TerminalRunner
from accord.client.option_checks import (
    DRAFT_WORDS,
    check_draft_values,
    check_services,
    check_values,
    check_versions,
)
from accord.client.session.retry import Retry
from accord.connection.limits import Limits
from accord.connection.peer_mistakes import strict_by_default
from accord.errors import LocalProtocolError
from accord.jsonrpc.framing import Framing

if TYPE_CHECKING:
    from accord.client.connection.traffic_tap import Listener
    from accord.client.credential import Credential, CredentialSource
    from accord.client.services.service_interfaces import (
        AnswersElicitations,
        Decides,
        LocatesFiles,
        ReadsFiles,
        RunsTerminals,
        WritesFiles,
    )
    from accord.client.wire.wire_interface import AuthStatus


class ClientOptions(TypedDict, total=False):
    """The keywords of `Client.spawn` and `Client.connect`; each may be left out."""

    # Decides what the agent may do.  Default: everything that needs a user is refused.
    permissions: "Decides"
    # Services for v1 agents: our own by default, an object of the program's, or False for none.
    files: "ReadsFiles | WritesFiles | LocatesFiles | bool"
    terminals: "RunsTerminals | bool"
    # Lets the user answer an agent's questions; without it, none are offered.
    elicitation: "AnswersElicitations"
    # The name, title and version of the program, for the agent.
    info: Implementation
    framing: Framing
    versions: Sequence[int]
    # Whether to offer and use the unstable parts of the protocol.
    unstable: bool
    # Whether to fail at once on deviations that are otherwise tolerated; default: ACCORD_STRICT.
    strict: bool
    limits: Limits
    # How often, or within what time, a rate-limited request is tried again.
    retry: int | Retry
    # How to log in when the agent asks for it; without it, AuthenticationRequired is raised.
    login: Login
    # Called when the agent's login changes.  Unstable.
    on_auth_status: Callable[["AuthStatus"], object]
    # Methods and notifications beyond the protocol that the client understands.
    extensions: Extensions
    # Called with all bytes, "sent" or "received", at once and in order; empty bytes mean the end.
    traffic: "Listener"
    # Options that matter only for agents of the 2026-02 draft of the protocol.
    draft: "DraftOptions"


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftOptions:
    """Options for agents of the 2026-02 draft of the protocol.

    `credential` is what to log in with, or a function that returns it.  `dialects` remembers which
    dialect each agent speaks, from one start to the next; `address` names an agent there that is
    not started by a command.  `ui` says what the user sees: some of "diff_viewer" and
    "code_navigation".
    """

    credential: "Credential | CredentialSource | None" = None
    dialects: "DialectMemory | None" = None
    ui: Collection[str] = ()
    address: str | None = None

    def __post_init__(self) -> None:
        check_draft_values({name: getattr(self, name) for name in DRAFT_WORDS})


class DialectMemory(Protocol):
    """Remembers the dialect of each agent.  An agent is named by the words of its command."""

    def recall(self, agent: Sequence[str], /) -> tuple[str, str] | None:
        """The dialect that the agent spoke last, and the version that it reported then."""
        ...

    def remember(self, agent: Sequence[str], dialect: str, version: str, /) -> None:
        """Keep the dialect that the agent spoke, and its version."""
        ...

    def forget(self, agent: Sequence[str], /) -> None:
        """Forget the dialect of the agent."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options with every default filled in.  A service that is None is not offered."""

    info: Implementation
    permissions: "Decides"
    # Some of the interfaces in `services/service_interfaces.py`.
    files: Any = None
    terminals: "RunsTerminals | None" = None
    elicitation: "AnswersElicitations | None" = None
    versions: tuple[int, ...] = VERSIONS
    unstable: bool = False
    strict: bool = False
    framing: Framing | None = None
    limits: Limits = field(default_factory=Limits)
    retry: int | Retry = 0
    login: Login | None = None
    login_terminal: TerminalRunner | None = None
    on_auth_status: Callable[["AuthStatus"], object] | None = None
    extensions: Extensions = field(default_factory=Extensions)
    traffic: "Listener | None" = None
    draft: DraftOptions = field(default_factory=DraftOptions)
    # Whether the agent may be on another machine, with other folders.
    is_remote: bool = False


def make_options(chosen: ClientOptions, *, login_terminal: TerminalRunner | None = None) -> Options:
    """Fill in the defaults.

    Raises:
        LocalProtocolError: an option has an impossible value.
    """
    draft = _draft_options(chosen)
    unknown = set(chosen) - set(ClientOptions.__annotations__) - set(DRAFT_WORDS)
    if unknown:
        raise LocalProtocolError(f"a client has no option {', '.join(sorted(unknown))}")
    versions = check_versions(chosen.get("versions", VERSIONS), VERSIONS)
    check_services(chosen)
    check_values(chosen)
    strict = chosen.get("strict")
    return Options(
        info=chosen.get("info") or OUR_NAME,
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
        draft=draft,
    )


def _draft_options(chosen: Mapping[str, Any]) -> DraftOptions:
    """The options for draft agents, also from the keywords that were written before 1.0."""
    draft: DraftOptions = chosen.get("draft") or DraftOptions()
    old = {name: chosen[name] for name in DRAFT_WORDS if chosen.get(name) is not None}
    if old:
        warnings.warn(
            f"write draft=DraftOptions({', '.join(f'{name}=...' for name in old)})"
            f" instead of {', '.join(f'{name}=' for name in old)}",
            DeprecationWarning,
            stacklevel=4,
        )
        check_draft_values(old)
        draft = replace(draft, **old)
    return draft


def _service(chosen: Any, default: Callable[[], Any]) -> Any:
    if chosen is False:
        return None
    return default() if chosen is None or chosen is True else chosen


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
    """The capabilities to tell the agent: those of the services that are there."""
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

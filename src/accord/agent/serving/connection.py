"""One client's connection from its first byte: negotiation, then the requests of its version.

What always holds
    * Nothing but `initialize` is served before it has succeeded.
    * After that only methods of the agreed version are served, and gated ones only if offered.
"""

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from accord.agent.callbacks import Guard
from accord.agent.preload import prepare
from accord.agent.serving.wire import Features
from accord.connection import Connection, IncomingRequest
from accord.connection.connection import Work
from accord.errors import ConnectionLost, RequestError
from accord.machine.redacted_logs import logger
from accord.protocol.negotiation import (
    Dialect,
    Initialization,
    Refused,
    in_v1_keys,
    judge_request,
    looks_like_draft,
    may_be_draft,
)
from accord.schema.codec import encode, to_python
from accord.schema.struct import Raw

if TYPE_CHECKING:
    from accord.agent.definition import AgentDefinition

_log = logger("accord.agent")

INITIALIZE = "initialize"


class ServedDialect(Protocol):
    """Serves the requests and notifications of one version."""

    @property
    def guard(self) -> Guard:
        """Runs the functions of the program for this client."""
        ...

    @property
    def features(self) -> Features:
        """What the client can do."""
        ...

    def initialize(self) -> bytes:
        """The answer to `initialize`."""
        ...

    def request(self, request: IncomingRequest) -> bytes | Work:
        """Serve a request of this version."""
        ...

    def notification(self, method: str, params: Raw) -> None:
        """Handle a notification of this version."""
        ...

    def lost(self, error: ConnectionLost) -> None:
        """Stop everything: the client is gone."""
        ...


# Only the version that is spoken is loaded: start-up time is the user's time.


def _make_v1(
    agent: "AgentDefinition", connection: Connection, raw: Raw, params: dict[str, Any]
) -> ServedDialect:
    from accord.agent.serving.requests import OfficialRequests
    from accord.agent.serving.v1.requests import V1

    asked = dict(in_v1_keys(params))
    if asked != params:
        raw = Raw(encode({key: asked[key] for key in asked.keys() - _V2_KEYS}))
    connection.agree_on(None)
    return OfficialRequests(V1, agent, connection, raw, asked)


def _make_v2(
    agent: "AgentDefinition", connection: Connection, raw: Raw, params: dict[str, Any]
) -> ServedDialect:
    from accord.agent.serving.requests import OfficialRequests
    from accord.agent.serving.v2.requests import V2

    version = V2
    if agent.early_v2:
        from accord.agent.serving.early_v2.wire import EARLY_V2

        version = EARLY_V2
    connection.agree_on(None)
    return OfficialRequests(version, agent, connection, raw, params)


def _make_draft(
    agent: "AgentDefinition", connection: Connection, raw: Raw, params: dict[str, Any]
) -> ServedDialect:
    from accord.agent.serving.draft.translated_client import DraftServing

    return DraftServing(agent, connection, raw, params)


class _DialectEntry(NamedTuple):
    """How one dialect gets served."""

    make: "Callable[[AgentDefinition, Connection, Raw, dict[str, Any]], ServedDialect]"
    # Keys of `initialize` that belong to other dialects.
    keys_of_others: frozenset[str]
    # Whether the answer to `initialize` lists modes and options.
    lists_settings: bool = False


_V2_KEYS = frozenset(("info", "capabilities"))

_DIALECTS: dict[Dialect, _DialectEntry] = {
    "v1": _DialectEntry(_make_v1, _V2_KEYS),
    "v2": _DialectEntry(_make_v2, frozenset(("clientInfo", "clientCapabilities"))),
    "draft": _DialectEntry(_make_draft, frozenset(("info",)), lists_settings=True),
}


class AgentHandler:
    """What the connection of an agent hands its messages to."""

    def __init__(self, agent: "AgentDefinition") -> None:
        self._agent = agent
        self._initialization = Initialization()
        self._dialect: ServedDialect | None = None
        # Whether a request after `initialize` was admitted.
        self._has_begun = False
        # The params of `initialize`.
        self._asked: dict[str, Any] = {}
        self.connection: Connection | None = None

    def request(self, request: IncomingRequest) -> bytes | Work:
        """Serve `initialize`, or pass the request to the agreed version."""
        if request.method == INITIALIZE:
            return self._initialize(request)
        if not self._has_begun:
            self._begin(request)
        assert self._dialect is not None
        outcome = self._dialect.request(request)
        if isinstance(outcome, bytes):
            return outcome
        guard, work = self._dialect.guard, outcome
        return lambda: guard.run(work())

    @property
    def exit(self) -> BaseException | None:
        """The exception with which a handler ended the program, such as that of `sys.exit`."""
        return None if self._dialect is None else self._dialect.guard.exit

    def _initialize(self, request: IncomingRequest) -> bytes:
        params = to_python(request.params)
        if not isinstance(params, dict):
            raise RequestError.invalid_params("Expected `object`", "$")
        chosen = judge_request(params, self._agent.versions)
        if isinstance(chosen, Refused):
            raise _as_error(chosen)
        refused = self._initialization.forbids(chosen)
        if refused is not None:
            raise _as_error(refused)
        entry = _DIALECTS[chosen.dialect]
        if entry.lists_settings:
            # They may be declared by the hook that runs behind the answers of other dialects.
            self._run_hook()
        for note in chosen.notes:
            _log.info("%s", note)
        dialect = self._make(entry, request.params, params)
        answer = dialect.initialize()
        self._initialization.admit_initialize(chosen)
        assert self.connection is not None
        self.connection.peer.set_version(chosen.version)
        self._dialect, self._asked = dialect, params
        spoken = chosen.dialect
        request.on_answered = lambda: self._after_initialize(spoken)
        return answer

    def _begin(self, request: IncomingRequest) -> None:
        """Admit the first request after `initialize`, which may show the dialect.

        From then on `initialize` is refused, and every other request admitted.
        """
        if self._initialization.is_undecided and may_be_draft(request.method):
            self._detect_draft(request)
        refused = self._initialization.admit(request.method)
        if refused is not None:
            raise _as_error(refused)
        self._has_begun = True

    def _detect_draft(self, request: IncomingRequest) -> None:
        """Switch to the draft if the first request shows that the client speaks it."""
        if not looks_like_draft(request.method, to_python(request.params)):
            return
        from accord.agent.serving.draft.translated_client import serving_after_all

        assert self.connection is not None
        _log.info("the client speaks the 2026-02 draft: %s shows it", request.method)
        self._dialect = serving_after_all(self._agent, self.connection, self._asked)
        self._initialization.is_draft_after_all()

    def _after_initialize(self, spoken: Dialect) -> None:
        """Run the hook and load the rest, since the client has its answer."""
        self._run_hook()
        assert self._dialect is not None
        assert self.connection is not None
        wanted = (spoken, self._dialect.features.read_files)
        if wanted not in self._agent.prepared:
            self._agent.prepared.add(wanted)
            self.connection.run_while_idle(self._preload(*wanted))

    def _preload(self, spoken: Dialect, files: bool) -> Generator[None]:
        try:
            yield from prepare(spoken, files=files)
        except Exception:  # noqa: BLE001 - it is loaded again when it is needed
            _log.exception("preloading the modules of the first turn failed")

    def _run_hook(self) -> None:
        hook, self._agent.initialized_hook = self._agent.initialized_hook, None
        if hook is not None:
            try:
                hook()
            except Exception:  # noqa: BLE001 - the client has its answer, the connection lives
                _log.exception("the agent's on_initialized failed")

    def _make(self, entry: _DialectEntry, raw: Raw, params: dict[str, Any]) -> ServedDialect:
        assert self.connection is not None
        if self._agent.strict:
            # A client that speaks both versions sends the keys of both, which breaks no rule.
            raw = Raw(encode({key: params[key] for key in params.keys() - entry.keys_of_others}))
        return entry.make(self._agent, self.connection, raw, params)

    def notification(self, method: str, params: Raw) -> None:
        """Handle a notification; those before `initialize` are ignored."""
        if self._dialect is not None:
            self._dialect.notification(method, params)

    def lost(self, error: ConnectionLost) -> None:
        """Stop everything, since the client is gone."""
        if self._dialect is not None:
            self._dialect.lost(error)


def _as_error(refused: Refused) -> RequestError:
    data = None if refused.data is None else dict(refused.data)
    return RequestError(refused.code, refused.message, data)

"""The requests of v1 and v2: decoded and answered here, carried out by `active_sessions.py`.

`Version` is the table of what the two do differently; `v1/` and `v2/` fill it in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

from accord.agent.callbacks import Guard
from accord.agent.extensions import ExtensionHandlers
from accord.agent.serving.active_sessions import ActiveSessions, Surroundings
from accord.agent.serving.login_state import LoginState
from accord.agent.serving.prompts import check_content, prompt_work
from accord.agent.serving.unstable.mcp_calls import check_server_ids
from accord.agent.serving.unstable.requests import Handler, UnstableRequests, gated
from accord.agent.serving.wire import (
    EMPTY,
    Features,
    OfficialWire,
    directories_of,
    empty_after,
    to_plain,
)
from accord.agent.session.options_and_commands import require_option
from accord.agent.session.turn_run import Outcome
from accord.agent.session.turn_state import TurnState
from accord.connection import Connection, IncomingRequest
from accord.connection.connection import Work
from accord.connection.error_responses import error_for, unforeseen
from accord.connection.unknown_keys import message_decoder
from accord.errors import ConnectionLost, RequestError
from accord.protocol.capabilities import lacking
from accord.protocol.v2.turn import Step
from accord.schema import v2
from accord.schema.codec import Invalid, encode, to_raw
from accord.schema.struct import UNSET, Raw, UnknownVariant

if TYPE_CHECKING:
    from accord.agent.definition import AgentDefinition
    from accord.agent.serving.unstable.token_usage import TokenCount
    from accord.agent.session.session_state import SessionState

PROMPT = "session/prompt"

VersionHandler: TypeAlias = "Callable[[OfficialRequests, IncomingRequest], bytes | Work]"


@dataclass(frozen=True, kw_only=True)
class Version:
    """What one version does in its own way."""

    schema: Any
    """The module of its types."""
    requests: Mapping[str, VersionHandler]
    """The methods that only this version has, or that differ as a whole."""
    make_wire: Callable[[Features], OfficialWire]

    # ---- initialize
    complete: Callable[[Raw, Mapping[str, Any]], Raw | bytes]
    """Make the params of `initialize` readable, also those for a later version."""
    client_capabilities: str
    """The field of `InitializeRequest` that has them."""
    has_boolean_capabilities: bool
    required: Callable[[Iterable[str]], Iterable[str]]
    """Those of the agent's requirements that a client of this version can meet."""
    features_of: Callable[[Mapping[str, Any]], Features]
    offer: Callable[[AgentDefinition, Features], Any]
    """The result of `initialize`."""

    # ---- sessions
    mcp_servers: Callable[[Sequence[Any], frozenset[str]], tuple[Any, ...]]
    """Check the servers of a request against the transports that the agent takes."""
    settings: Callable[[OfficialRequests, SessionState], dict[str, Any]]
    """What the answer that opens a session says of its settings."""
    replays: Callable[[Any], bool]
    """Whether a request to resume a session asks for its past."""
    lists_commands_in_answer: bool
    tells_before_resumed: bool
    """Whether updates of a resumed session, its state at last, precede the answer."""
    closes_unknown_sessions: bool
    reads_empty_as_absent: bool
    """Whether an empty folder or cursor of `session/list` counts as none."""
    repeats_modes: bool
    """Whether a mode that was set as an option is told as a mode too."""

    # ---- prompts
    cancel_notification: str
    blocks: Callable[[list[Any]], list[Any]]
    """The content of a prompt, in v2's types."""
    echoes_prompts: bool
    ends_turn_by_answer: bool
    stop_reason: Callable[..., str]
    prompt_response: Callable[..., Any]
    """The result of a prompt: from the stop reason and the usage of the session where the answer
    ends the turn, else from the id of the prompt's message."""


class OfficialRequests:
    """One client of v1 or v2."""

    def __init__(
        self,
        version: Version,
        agent: AgentDefinition,
        connection: Connection,
        raw: Raw,
        params: Mapping[str, Any],
    ) -> None:
        self.agent = agent
        self.schema = schema = version.schema
        self._version = version
        self._decode = message_decoder(
            strict=agent.strict, report=connection.tolerate, shared=schema.InitializeRequest
        )
        asked = self.read(schema.InitializeRequest, version.complete(raw, params))
        offered = getattr(asked, version.client_capabilities)
        capabilities = {} if offered is UNSET else to_plain(offered)
        missing = lacking(
            capabilities,
            version.required(agent.requires),
            booleans=version.has_boolean_capabilities,
        )
        if missing:
            raise _missing_capabilities(missing)
        self.wire = version.make_wire(gated(agent, version.features_of(capabilities)))
        self.guard = Guard(connection)
        self.sessions = ActiveSessions(agent, connection, self.wire)
        self.login = LoginState(agent, connection, self.wire)
        self._extensions = ExtensionHandlers(agent.extensions, connection, self.guard)
        self._unstable = UnstableRequests(self.sessions, self.login)

    @cached_property
    def _requests(self) -> dict[str, Handler]:
        """The handlers by method, made for the first request: an idle client needs none."""
        of_version = self._version.requests.items()
        stable: dict[str, Handler] = {
            "session/new": self._new,
            "session/resume": self._resume,
            "session/list": self._list,
            "session/close": self._close,
            "session/delete": self._delete,
            "session/set_config_option": self._set_option,
            PROMPT: self._prompt,
            **{method: partial(handler, self) for method, handler in of_version},
        }
        return self._unstable.table(stable, self._fork)

    @property
    def features(self) -> Features:
        """What the client can do."""
        return self.wire.features

    def initialize(self) -> bytes:
        """Encode the answer to `initialize`."""
        return encode(self._version.offer(self.agent, self.wire.features))

    # ---- dispatch

    def request(self, request: IncomingRequest) -> bytes | Work:
        """Serve a method of this version or an extension of the agent."""
        handler = self._requests.get(request.method)
        if handler is not None:
            return handler(request)
        extension = self._extensions.request(request.method, request.params)
        if extension is None:
            raise RequestError.method_missing(request.method)
        return extension

    def notification(self, method: str, params: Raw) -> None:
        """Take `session/cancel` and the agent's own notifications; ignore all others."""
        if method == "session/cancel":
            wanted = self.read(getattr(self.schema, self._version.cancel_notification), params)
            session = self.sessions.by_id.get(wanted.session_id)
            if session is not None:
                session.prompts.cancel_all()
            else:
                self._unstable.cancel_child(wanted.session_id)
        elif not self._unstable.notification(method, params):
            self._extensions.notification(method, params)

    def lost(self, error: ConnectionLost) -> None:
        """Stop everything: the client is gone."""
        self.sessions.lost(error)

    def read(self, wanted: Any, params: Raw | bytes) -> Any:
        """Decode params; what is wrong with them is the client's error."""
        try:
            return self._decode(wanted, params)
        except Invalid as error:
            raise RequestError.invalid_params(error.reason, error.path) from None

    # ---- sessions

    def _new(self, request: IncomingRequest) -> Work:
        wanted = self.read(self.schema.NewSessionRequest, request.params)
        self.login.require()
        given = self._surroundings(wanted)

        async def work() -> bytes:
            session = await self.sessions.new(given)
            self._introduce_behind(request, session)
            settings = self._version.settings(self, session)
            return encode(self.schema.NewSessionResponse(session_id=session.id, **settings))

        return work

    def _resume(self, request: IncomingRequest) -> Work:
        wanted = self.read(self.schema.ResumeSessionRequest, request.params)
        return self.open_again(
            request, wanted, self.schema.ResumeSessionResponse, self._version.replays
        )

    def open_again(
        self,
        request: IncomingRequest,
        wanted: Any,
        response: Any,
        replays: Callable[[Any], bool],
    ) -> Work:
        """Continue a stored session; with `replays`, send its history."""
        self.login.require()
        given, is_replayed = self._surroundings(wanted), replays(wanted)

        async def work() -> bytes:
            session = await self.sessions.attach(wanted.session_id, given)
            if is_replayed:
                await self.sessions.replay(session)
            if self._version.tells_before_resumed:
                session.updates.introduce()
                session.updates.post_at_once(session.state_update())
            else:
                self._introduce_behind(request, session)
            return encode(response(**self._version.settings(self, session)))

        return work

    def _fork(self, request: IncomingRequest) -> Work:
        wanted = self.read(self.schema.ForkSessionRequest, request.params)
        self.login.require()
        given = self._surroundings(wanted)

        async def work() -> bytes:
            session = await self.sessions.fork(wanted.session_id, given)
            self._introduce_behind(request, session)
            settings = self._version.settings(self, session)
            # The protocol had dropped `models` before it had forks.
            settings.pop("models", None)
            return encode(self.schema.ForkSessionResponse(session_id=session.id, **settings))

        return work

    def _surroundings(self, wanted: Any) -> Surroundings:
        listed = () if wanted.mcp_servers is UNSET else wanted.mcp_servers
        servers = self._version.mcp_servers(listed, self.agent.mcp)
        sessions = self.sessions.by_id.values()
        check_server_ids(servers, [session.mcp_servers for session in sessions])
        about = self._unstable.about(wanted)
        return Surroundings(wanted.cwd, directories_of(wanted), servers, about)

    def _introduce_behind(self, request: IncomingRequest, session: SessionState) -> None:
        """Send the session's earlier updates once the client has the answer that names it."""
        in_answer = self._version.lists_commands_in_answer
        request.on_answered = (
            session.updates.introduce if in_answer else session.introduce_with_commands
        )

    def _list(self, request: IncomingRequest) -> Work:
        wanted = self.read(self.schema.ListSessionsRequest, request.params)
        archived = self._unstable.archive_filter(wanted.archived)
        cwd, cursor = self._given(wanted.cwd), self._given(wanted.cursor)
        info = self.schema.SessionInfo

        async def work() -> bytes:
            page = await self.sessions.list_stored(cwd, cursor, archived)
            return encode(
                self.schema.ListSessionsResponse(
                    sessions=[
                        info(
                            session_id=record.session_id,
                            cwd=record.cwd,
                            additional_directories=list(record.additional_directories) or UNSET,
                            title=record.title or UNSET,
                            updated_at=record.updated_at or UNSET,
                            **self._unstable.listed(record),
                        )
                        for record in page.sessions
                    ],
                    next_cursor=UNSET if page.next_cursor is None else page.next_cursor,
                )
            )

        return work

    def _given(self, value: Any) -> str | None:
        if value is UNSET or (self._version.reads_empty_as_absent and not value):
            return None
        given: str = value
        return given

    def _close(self, request: IncomingRequest) -> bytes | Work:
        wanted = self.read(self.schema.CloseSessionRequest, request.params)
        session = self.sessions.by_id.get(wanted.session_id)
        if not self._version.closes_unknown_sessions:
            session = self.sessions.active(wanted.session_id)
        if session is None:
            return EMPTY
        # Set now and not when the work begins, so that prompts right behind are refused.
        session.closing = True
        return empty_after(lambda: self.sessions.close(session))

    def _delete(self, request: IncomingRequest) -> Work:
        wanted = self.read(self.schema.DeleteSessionRequest, request.params)
        return empty_after(lambda: self.sessions.delete(wanted.session_id))

    def _set_option(self, request: IncomingRequest) -> Work:
        wanted = self.read(self.schema.SetSessionConfigOptionRequest, request.params)
        if isinstance(wanted, UnknownVariant):
            raise RequestError.invalid_params(f"unknown value type {wanted.tag!r}", "$.type")
        session = self.sessions.active(wanted.session_id)
        require_option(session.offer, wanted.config_id, wanted.value)

        async def work() -> bytes:
            mode = session.mode
            await session.set_option(wanted.config_id, wanted.value, announce=False)
            if self._version.repeats_modes and session.mode is not mode:
                session.updates.post(v2.ConfigOptionUpdate(config_options=session.option_list()))
            options = self.wire.config_options(session.option_list())
            return encode(self.schema.SetSessionConfigOptionResponse(config_options=options))

        return work

    # ---- prompts

    def _prompt(self, request: IncomingRequest) -> Work:
        wanted = self.read(self.schema.PromptRequest, request.params)
        session = self.sessions.active(wanted.session_id)
        self.login.require()
        blocks = self._version.blocks(wanted.prompt)
        check_content(blocks, self.agent.prompt_types)
        version = self._version
        return prompt_work(
            self.agent,
            self.guard,
            session,
            blocks,
            request,
            self._conclude,
            is_echoed=version.echoes_prompts,
            acknowledge=None
            if version.ends_turn_by_answer
            else lambda message_id: encode(version.prompt_response(message_id)),
        )

    async def _conclude(self, turn: TurnState, outcome: Outcome) -> bytes | Exception | None:
        """Enter the state that ends the turn; return the answer if that reports the end."""
        spent = turn.tokens
        try:
            spent = turn.settle_tokens()
            await self.guard.run(turn.session.stored.touch())
        except Exception as problem:  # noqa: BLE001 - a failing store ends the turn and no more
            outcome = Outcome("error", error_for(problem, PROMPT))
        try:
            return self._end(turn, outcome, spent)
        except Exception as problem:  # noqa: BLE001 - such as data of an error that is not JSON
            return self._end(turn, Outcome("error", unforeseen(problem, PROMPT)), spent)

    def _end(
        self, turn: TurnState, outcome: Outcome, spent: TokenCount
    ) -> bytes | Exception | None:
        answer = self._answer(turn, outcome, spent)
        error: Any = UNSET
        if outcome.error is not None:
            code, message, data = outcome.error
            details = UNSET if data is None else to_raw(data)
            error = v2.Error(code=code, message=message, data=details)
        turn.session.last_usage = self._usage(v2, turn.tokens)
        reason = self._stop_reason(turn, outcome)
        turn.session.enter(Step.WORK_STOPPED, stop_reason=reason, error=error)
        return answer

    def _answer(
        self, turn: TurnState, outcome: Outcome, spent: TokenCount
    ) -> bytes | Exception | None:
        """The answer to a prompt where that ends the turn."""
        version = self._version
        if not version.ends_turn_by_answer:
            return None
        if outcome.error is not None:
            return RequestError(*outcome.error)
        usage = self._usage(self.schema, spent)
        return encode(version.prompt_response(self._stop_reason(turn, outcome), usage))

    def _stop_reason(self, turn: TurnState, outcome: Outcome) -> str:
        return self._version.stop_reason(outcome.stop_reason, cancelled=turn.is_cancelled)

    def _usage(self, schema: Any, spent: TokenCount) -> Any:
        counts = spent.usage()
        return UNSET if counts is None or not self.agent.unstable else schema.Usage(**counts)


def _missing_capabilities(missing: list[str]) -> RequestError:
    """The error for a client that lacks required capabilities."""
    return RequestError(
        -32601,
        f"this agent needs client capabilities that are missing: {', '.join(missing)}",
        {"method": "initialize", "reason": "capability_not_supported", "missing": missing},
    )

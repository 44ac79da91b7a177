"""v2, served: its requests read, its results and states said.  The work is in `service.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from accord.agent.requirements import needed_in_v2
from accord.agent.serving.results import (
    EMPTY,
    directories_of,
    empty_after,
    missing_capabilities,
    require_option,
    to_plain,
)
from accord.agent.serving.service import Service
from accord.agent.serving.unstable.mcp_calls import check_server_ids
from accord.agent.serving.unstable.requests import Handler, UnstableServing, gated
from accord.agent.serving.v2 import offer as v2_offer
from accord.agent.serving.v2.wire import V2Wire
from accord.agent.serving.wire import Features
from accord.agent.session.prompt_handler import Outcome
from accord.agent.session.session import AgentSession
from accord.agent.session.turn_run import run_turn
from accord.agent.turn import Turn
from accord.connection import Connection, IncomingRequest
from accord.connection.connection import Work
from accord.connection.error_responses import error_for
from accord.connection.unknown_keys import MessageDecoder
from accord.errors import RequestError
from accord.protocol.capabilities import lacking
from accord.protocol.v2.turn import Step, stop_reason
from accord.schema import v2
from accord.schema.codec import Invalid, encode, to_raw
from accord.schema.struct import UNSET, Raw, UnknownVariant, UnsetType

if TYPE_CHECKING:
    from accord.agent.agent import Agent

T = TypeVar("T")


class V2Serving:
    """One v2 client."""

    def __init__(
        self, agent: Agent, connection: Connection, raw: Raw, params: Mapping[str, Any]
    ) -> None:
        self._agent = agent
        self._decode = MessageDecoder(
            strict=agent.strict, report=connection.tolerate, shared=v2.InitializeRequest
        )
        exact = params.get("protocolVersion") == 2
        asked = self._read(v2.InitializeRequest, raw if exact else _completed(params))
        capabilities = {} if asked.capabilities is UNSET else to_plain(asked.capabilities)
        missing = lacking(capabilities, needed_in_v2(agent.requires), booleans=False)
        if missing:
            raise missing_capabilities(missing)
        self._features = gated(agent, v2_offer.features_of(capabilities))
        self.service = Service(agent, connection, self._wire(self._features))
        self._unstable = UnstableServing(self.service, params.get("capabilities"))
        stable: dict[str, Handler] = {
            "auth/login": self._login,
            "auth/logout": self._logout,
            "session/new": self._new,
            "session/resume": self._resume,
            "session/list": self._list,
            "session/close": self._close,
            "session/delete": self._delete,
            "session/set_config_option": self._set_option,
            "session/prompt": self._prompt,
            "tool_call/cancel": self._cancel_tool_call,
            "terminal/cancel": self._cancel_terminal,
        }
        self._requests = self._unstable.table(stable, self._fork)

    def _wire(self, features: Features) -> V2Wire:
        return V2Wire(features)

    def initialize(self) -> bytes:
        """The agent's offer, in v2's names."""
        answer = encode(v2_offer.answer(self._agent, self._features))
        return self._unstable.initialized(answer, "capabilities")

    # ---- dispatch

    def request(self, request: IncomingRequest) -> bytes | Work:
        """Serve a method of v2 or one of the agent's own."""
        handler = self._requests.get(request.method)
        if handler is not None:
            return handler(request)
        extension = self.service.extension_request(request.method, request.params)
        if extension is None:
            raise RequestError.method_missing(request.method)
        return extension

    def notification(self, method: str, params: Raw) -> None:
        """`session/cancel`, and what the agent registered; the rest is ignored."""
        if method == "session/cancel":
            wanted = self._read(v2.CancelSessionNotification, params)
            session = self.service.sessions.get(wanted.session_id)
            if session is not None:
                session.foreground.cancel_all()
            else:
                self._unstable.cancel_child(wanted.session_id)
        elif not self._unstable.notification(method, params):
            self.service.extension_notification(method, params)

    def _read(self, wanted: type[T], params: Raw | bytes) -> T:
        try:
            return self._decode(wanted, params)
        except Invalid as error:
            raise RequestError.invalid_params(error.reason, error.path) from None

    # ---- logins

    def _login(self, request: IncomingRequest) -> Work:
        self._need_auth_methods(request)
        wanted = self._read(v2.LoginAuthRequest, request.params)
        return empty_after(lambda: self.service.authenticate(wanted.method_id, request))

    def _logout(self, request: IncomingRequest) -> Work:
        self._need_auth_methods(request)
        return empty_after(self.service.logout)

    def _need_auth_methods(self, request: IncomingRequest) -> None:
        # Those of terminals count only where the client was told of them.
        terminals = self._features.terminal_login
        if not any(terminals or not one.is_terminal for one in self._agent.auth_methods.values()):
            raise RequestError.method_missing(request.method)

    # ---- sessions

    def _new(self, request: IncomingRequest) -> Work:
        wanted = self._read(v2.NewSessionRequest, request.params)
        self.service.require_login()
        servers, directories = self._servers(wanted), directories_of(wanted)
        about = self._unstable.about(wanted)

        async def work() -> bytes:
            session = await self.service.new_session(wanted.cwd, directories, servers, about)
            request.on_answered = session.introduce
            return encode(v2.NewSessionResponse(session_id=session.id, **_settings(session)))

        return work

    def _resume(self, request: IncomingRequest) -> Work:
        wanted = self._read(v2.ResumeSessionRequest, request.params)
        self.service.require_login()
        servers, directories = self._servers(wanted), directories_of(wanted)
        place = (wanted.cwd, directories, servers, self._unstable.about(wanted))
        replays = wanted.replay_from is not UNSET and wanted.replay_from is not None
        if replays and not isinstance(wanted.replay_from, v2.ReplayFromStart):
            raise RequestError.invalid_params("unsupported replay cursor", "$.replayFrom")

        async def work() -> bytes:
            session = await self.service.attach(wanted.session_id, *place)
            if replays:
                await self.service.replay(session)
            # The client knows the session: what its beginning said goes before the answer, and
            # without a request only states follow.
            session.introduce()
            session.post_at_once(session.state_update())
            return encode(v2.ResumeSessionResponse(**_settings(session)))

        return work

    def _fork(self, request: IncomingRequest) -> Work:
        wanted = self._read(v2.ForkSessionRequest, request.params)
        self.service.require_login()
        servers, directories = self._servers(wanted), directories_of(wanted)
        place = (wanted.cwd, directories, servers, self._unstable.about(wanted))

        async def work() -> bytes:
            session = await self.service.fork(wanted.session_id, *place)
            request.on_answered = session.introduce
            return encode(v2.ForkSessionResponse(session_id=session.id, **_settings(session)))

        return work

    def _servers(self, wanted: Any) -> tuple[Any, ...]:
        listed: tuple[Any, ...] = () if wanted.mcp_servers is UNSET else tuple(wanted.mcp_servers)
        names: set[str] = set()
        for index, server in enumerate(listed):
            unknown = isinstance(server, UnknownVariant)
            kind = server.tag if unknown else type(server).__struct_config__.tag
            # `sse` is v1's: an agent that takes it there cannot advertise it here.
            if kind not in self._agent.mcp - {"sse"}:
                raise RequestError.invalid_params(
                    f"this agent takes no {kind!r} MCP server", f"$.mcpServers[{index}].type"
                )
            name = getattr(server, "name", "")
            if name in names:
                raise RequestError.invalid_params(
                    f"two MCP servers are called {name!r}", f"$.mcpServers[{index}].name"
                )
            names.add(name)
        check_server_ids(listed, self.service.sessions.values())
        return listed

    def _list(self, request: IncomingRequest) -> Work:
        wanted = self._read(v2.ListSessionsRequest, request.params)
        cwd = None if wanted.cwd is UNSET else wanted.cwd
        cursor = None if wanted.cursor is UNSET else wanted.cursor
        archived = self._unstable.archive_filter(wanted.archived)

        async def work() -> bytes:
            page = await self.service.list_sessions(cwd, cursor, archived)
            return encode(
                v2.ListSessionsResponse(
                    sessions=[
                        v2.SessionInfo(
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

    def _close(self, request: IncomingRequest) -> bytes | Work:
        wanted = self._read(v2.CloseSessionRequest, request.params)
        session = self.service.sessions.get(wanted.session_id)
        if session is None:
            return EMPTY
        # From here on, not only once the work below has begun: prompts right behind find it gone.
        session.closing = True
        return empty_after(lambda: self.service.close_session(session))

    def _delete(self, request: IncomingRequest) -> Work:
        wanted = self._read(v2.DeleteSessionRequest, request.params)
        return empty_after(lambda: self.service.delete_session(wanted.session_id))

    def _set_option(self, request: IncomingRequest) -> Work:
        wanted: v2.SetSessionConfigOptionRequest = self._read(
            cast("Any", v2.SetSessionConfigOptionRequest), request.params
        )
        if isinstance(wanted, UnknownVariant):
            raise RequestError.invalid_params(f"unknown value type {wanted.tag!r}", "$.type")
        session = self.service.session(wanted.session_id)
        require_option(session, wanted.config_id, wanted.value)

        async def work() -> bytes:
            await session.set_option(wanted.config_id, wanted.value, announce=False)
            return encode(v2.SetSessionConfigOptionResponse(config_options=session.option_list()))

        return work

    # ---- prompts

    def _prompt(self, request: IncomingRequest) -> Work:
        wanted = self._read(v2.PromptRequest, request.params)
        session = self.service.session(wanted.session_id)
        self.service.require_login()
        self.service.check_prompt(wanted.prompt)
        ticket = session.foreground.join()
        request.on_cancel = ticket.cancel

        async def work() -> None:
            try:
                if not await ticket.comes_up():
                    self._tell_withdrawn(request)
                    return
                turn = Turn(session, wanted.prompt)
                ticket.on_cancel = turn.cancel
                message_id = session.new_id("prompt")
                await session.begin_turn()
                await session.emit(v2.UserMessage(message_id=message_id, content=wanted.prompt))
                session.enter(Step.WORK_STARTED)
                self._tell_begun(request, message_id)

                async def conclude(outcome: Outcome) -> None:
                    await self._tell_end(turn, outcome)
                    ticket.leave()
                    self._tell_over(request, session)

                await run_turn(self.service, turn, conclude)
            finally:
                ticket.leave()

        return work

    def _tell_withdrawn(self, request: IncomingRequest) -> None:
        """The prompt was cancelled before it came up."""
        raise RequestError.cancelled("the prompt was withdrawn before its turn")

    def _tell_begun(self, request: IncomingRequest, message_id: str) -> None:
        """The answer says that the prompt is part of the conversation; the work goes on."""
        request.settle(encode(v2.PromptResponse(message_id=message_id)))

    def _tell_over(self, request: IncomingRequest, session: AgentSession) -> None:
        """The state has said it; the first pages about v2 had the answer say it."""

    async def _tell_end(self, turn: Turn, outcome: Outcome) -> None:
        """The state tells that the turn is over, and why."""
        session = turn.session
        try:
            turn.settle_tokens()
            await self.service.guard.run(session.touch())
        except Exception as problem:  # noqa: BLE001 - a store that fails ends a turn, no more
            outcome = Outcome("error", error_for(problem, "session/prompt"))
        reason = stop_reason(outcome.stop_reason, cancelled=turn.is_cancelled)
        error: Any = UNSET
        if outcome.error is not None:
            code, message, data = outcome.error
            details = UNSET if data is None else to_raw(data)
            error = v2.Error(code=code, message=message, data=details)
        session.last_usage = self._usage(turn)
        session.enter(Step.WORK_STOPPED, stop_reason=reason, error=error)

    def _usage(self, turn: Turn) -> v2.Usage | UnsetType:
        """What this turn alone has cost, where it has said so."""
        counts = turn.tokens.usage()
        return UNSET if counts is None or not self._agent.unstable else v2.Usage(**counts)

    # ---- cancelling one thing

    def _cancel_tool_call(self, request: IncomingRequest) -> bytes:
        wanted = self._read(v2.CancelToolCallRequest, request.params)
        session = self.service.session(wanted.session_id)
        call = None if session.turn is None else session.turn.tool_call_by_id(wanted.tool_call_id)
        if call is None or not call.can_be_cancelled:
            raise RequestError.invalid_params("this tool call cannot be cancelled", "$.toolCallId")
        call.stop()
        return EMPTY

    def _cancel_terminal(self, request: IncomingRequest) -> bytes:
        wanted = self._read(v2.CancelTerminalRequest, request.params)
        session = self.service.session(wanted.session_id)
        terminal = session.terminals.running(wanted.terminal_id)
        if terminal is None:
            raise RequestError.invalid_params("this terminal cannot be cancelled", "$.terminalId")
        terminal.stop()
        return EMPTY


def _completed(params: Mapping[str, Any]) -> bytes:
    """A request for a newer version, read as ours: what we need and it lacks is unknown."""
    known = {key: params[key] for key in ("capabilities", "_meta") if key in params}
    info = params.get("info")
    whole = isinstance(info, dict) and {"name", "version"} <= info.keys()
    return encode(
        {
            **known,
            "protocolVersion": 2,
            "info": info if whole else {"name": "unknown", "version": "unknown"},
        }
    )


def _settings(session: AgentSession) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if options := session.option_list():
        settings["config_options"] = options
    if commands := session.command_list():
        settings["available_commands"] = commands
    return settings

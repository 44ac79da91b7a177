"""v1, served: its requests read, its results said.  The work itself is in `service.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from accord.agent.serving.held_prompts import prompt_work
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
from accord.agent.serving.unstable.tokens import TokenCount
from accord.agent.serving.v1 import offer as v1_offer
from accord.agent.serving.v1.mcp_commands import resolved
from accord.agent.serving.v1.wire import V1Wire
from accord.agent.session.options import MODE_OPTION_ID
from accord.agent.session.prompt_handler import Outcome
from accord.agent.turn import Turn
from accord.connection import Connection, IncomingRequest
from accord.connection.connection import Work
from accord.connection.unknown_keys import MessageDecoder
from accord.errors import RequestError
from accord.protocol.capabilities import lacking
from accord.protocol.v1.turn import stop_reason
from accord.protocol.v2.turn import Step
from accord.schema import v1, v2
from accord.schema.codec import Invalid, encode
from accord.schema.struct import UNSET, Raw, UnsetType
from accord.translate.content import to_v2
from accord.translate.mcp_servers import server_to_v2

if TYPE_CHECKING:
    from accord.agent.agent import Agent
    from accord.agent.session.session import AgentSession

T = TypeVar("T")


# What a prompt is answered with that was cancelled.
_CANCELLED = b'{"stopReason":"cancelled"}'


class V1Serving:
    """One v1 client."""

    def __init__(
        self, agent: Agent, connection: Connection, raw: Raw, params: Mapping[str, Any]
    ) -> None:
        self._agent = agent
        self._decode = MessageDecoder(
            strict=agent.strict, report=connection.tolerate, shared=v1.InitializeRequest
        )
        asked = self._read(v1.InitializeRequest, raw)
        capabilities: Mapping[str, Any] = {}
        if asked.client_capabilities is not UNSET:
            capabilities = to_plain(asked.client_capabilities)
        self._require(capabilities)
        wire = V1Wire(gated(agent, v1_offer.features_of(capabilities)))
        self._wire = wire
        self.service = Service(agent, connection, wire)
        self._unstable = UnstableServing(self.service, params.get("clientCapabilities"))
        stable: dict[str, Handler] = {
            "authenticate": self._authenticate,
            "logout": self._logout,
            "session/new": self._new,
            "session/load": self._load,
            "session/resume": self._resume,
            "session/list": self._list,
            "session/close": self._close,
            "session/delete": self._delete,
            "session/set_mode": self._set_mode,
            "session/set_config_option": self._set_option,
            "session/set_model": self._set_model,
            "session/prompt": self._prompt,
        }
        self._requests = self._unstable.table(stable, self._fork)

    def _require(self, capabilities: Mapping[str, Any]) -> None:
        missing = lacking(capabilities, self._agent.requires, booleans=True)
        if missing:
            raise missing_capabilities(missing)

    def initialize(self) -> bytes:
        """The agent's offer, in v1's names."""
        answer = encode(v1_offer.answer(self._agent, self._wire.features))
        return self._unstable.initialized(answer, "agentCapabilities")

    # ---- dispatch

    def request(self, request: IncomingRequest) -> bytes | Work:
        """Serve a method of v1 or one of the agent's own."""
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
            wanted = self._read(v1.CancelNotification, params)
            session = self.service.sessions.get(wanted.session_id)
            if session is not None:
                session.foreground.cancel_all()
            else:
                self._unstable.cancel_child(wanted.session_id)
        elif not self._unstable.notification(method, params):
            self.service.extension_notification(method, params)

    def _read(self, wanted: type[T], params: Raw) -> T:
        try:
            return self._decode(wanted, params)
        except Invalid as error:
            raise RequestError.invalid_params(error.reason, error.path) from None

    # ---- logins

    def _authenticate(self, request: IncomingRequest) -> Work:
        wanted = self._read(v1.AuthenticateRequest, request.params)
        return empty_after(lambda: self.service.authenticate(wanted.method_id, request))

    def _logout(self, request: IncomingRequest) -> Work:
        if not self._agent.auth_methods:
            raise RequestError.method_missing(request.method)
        return empty_after(self.service.logout)

    # ---- sessions

    def _new(self, request: IncomingRequest) -> Work:
        wanted = self._read(v1.NewSessionRequest, request.params)
        self.service.require_login()
        servers, directories = self._servers(wanted.mcp_servers), directories_of(wanted)
        about = self._unstable.about(wanted)

        async def work() -> bytes:
            session = await self.service.new_session(wanted.cwd, directories, servers, about)
            request.on_answered = session.introduce_with_commands
            return encode(v1.NewSessionResponse(session_id=session.id, **self._settings(session)))

        return work

    def _load(self, request: IncomingRequest) -> Work:
        wanted = self._read(v1.LoadSessionRequest, request.params)
        self.service.require_login()
        servers, directories = self._servers(wanted.mcp_servers), directories_of(wanted)
        place = (wanted.cwd, directories, servers, self._unstable.about(wanted))

        async def work() -> bytes:
            session = await self.service.attach(wanted.session_id, *place)
            await self.service.replay(session)
            request.on_answered = session.introduce_with_commands
            return encode(v1.LoadSessionResponse(**self._settings(session)))

        return work

    def _resume(self, request: IncomingRequest) -> Work:
        wanted = self._read(v1.ResumeSessionRequest, request.params)
        self.service.require_login()
        listed = [] if wanted.mcp_servers is UNSET else wanted.mcp_servers
        servers, directories = self._servers(listed), directories_of(wanted)
        place = (wanted.cwd, directories, servers, self._unstable.about(wanted))

        async def work() -> bytes:
            session = await self.service.attach(wanted.session_id, *place)
            request.on_answered = session.introduce_with_commands
            return encode(v1.ResumeSessionResponse(**self._settings(session)))

        return work

    def _fork(self, request: IncomingRequest) -> Work:
        wanted = self._read(v1.ForkSessionRequest, request.params)
        self.service.require_login()
        listed = [] if wanted.mcp_servers is UNSET else wanted.mcp_servers
        servers, directories = self._servers(listed), directories_of(wanted)
        place = (wanted.cwd, directories, servers, self._unstable.about(wanted))

        async def work() -> bytes:
            session = await self.service.fork(wanted.session_id, *place)
            request.on_answered = session.introduce_with_commands
            settings = self._settings(session)
            # There were no forks when there were models.
            settings.pop("models", None)
            return encode(v1.ForkSessionResponse(session_id=session.id, **settings))

        return work

    def _servers(self, listed: list[v1.McpServer]) -> tuple[Any, ...]:
        for index, server in enumerate(listed):
            kind = "stdio" if server.type is UNSET else server.type
            if kind not in self._agent.mcp:
                raise RequestError.invalid_params(
                    f"this agent takes no {kind!r} MCP server", f"$.mcpServers[{index}].type"
                )
        servers = tuple(server_to_v2(resolved(server, at)) for at, server in enumerate(listed))
        check_server_ids(servers, self.service.sessions.values())
        return servers

    def _settings(self, session: AgentSession) -> dict[str, Any]:
        settings: dict[str, Any] = {}
        if session.mode is not None:
            self._wire.mode_is(session.id, session.mode.mode_id)
            settings["modes"] = v1.SessionModeState(
                current_mode_id=session.mode.mode_id,
                available_modes=[
                    v1.SessionMode(
                        id=mode.mode_id, name=mode.name, description=mode.description or UNSET
                    )
                    for mode in session.offer.modes.values()
                ],
            )
        options = self._wire.config_options(session.option_list())
        if options:
            settings["config_options"] = options
        if self._agent.session_models and (models := _models(session)) is not None:
            settings["models"] = models
        return settings

    def _list(self, request: IncomingRequest) -> Work:
        wanted = self._read(v1.ListSessionsRequest, request.params)
        archived = self._unstable.archive_filter(wanted.archived)

        async def work() -> bytes:
            page = await self.service.list_sessions(
                wanted.cwd or None, wanted.cursor or None, archived
            )
            return encode(
                v1.ListSessionsResponse(
                    sessions=[
                        v1.SessionInfo(
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

    def _close(self, request: IncomingRequest) -> Work:
        wanted = self._read(v1.CloseSessionRequest, request.params)
        session = self.service.session(wanted.session_id)
        # From here on, not only once the work below has begun: prompts right behind find it gone.
        session.closing = True
        return empty_after(lambda: self.service.close_session(session))

    def _delete(self, request: IncomingRequest) -> Work:
        wanted = self._read(v1.DeleteSessionRequest, request.params)
        return empty_after(lambda: self.service.delete_session(wanted.session_id))

    # ---- settings

    def _set_mode(self, request: IncomingRequest) -> Work:
        wanted = self._read(v1.SetSessionModeRequest, request.params)
        session = self.service.session(wanted.session_id)
        if wanted.mode_id not in session.offer.modes:
            raise RequestError.invalid_params(f"unknown mode {wanted.mode_id!r}", "$.modeId")

        async def work() -> bytes:
            self._wire.mode_is(session.id, wanted.mode_id)
            await session.set_option(MODE_OPTION_ID, wanted.mode_id, announce=True)
            return EMPTY

        return work

    def _set_option(self, request: IncomingRequest) -> Work:
        wanted = self._read(v1.SetSessionConfigOptionRequest, request.params)
        session = self.service.session(wanted.session_id)
        require_option(session, wanted.config_id, wanted.value)

        async def work() -> bytes:
            mode_before = session.mode
            await session.set_option(wanted.config_id, wanted.value, announce=False)
            if session.mode is not None and session.mode is not mode_before:
                session.post(v2.ConfigOptionUpdate(config_options=session.option_list()))
            options = self._wire.config_options(session.option_list())
            return encode(v1.SetSessionConfigOptionResponse(config_options=options))

        return work

    def _set_model(self, request: IncomingRequest) -> Work:
        wanted = self._read(v1.SetSessionModelRequest, request.params)
        session = self.service.session(wanted.session_id)
        option = session.offer.of_category("model")
        if option is None:
            raise RequestError.method_missing(request.method)
        option_id = option.option_id
        require_option(session, option_id, wanted.model_id, "$.modelId")
        return empty_after(lambda: session.set_option(option_id, wanted.model_id, announce=True))

    # ---- prompts

    def _prompt(self, request: IncomingRequest) -> Work:
        wanted = self._read(v1.PromptRequest, request.params)
        session = self.service.session(wanted.session_id)
        self.service.require_login()
        blocks = [to_v2(block) for block in wanted.prompt]
        self.service.check_prompt(blocks)
        return prompt_work(self.service, session, blocks, request, self._prompt_answer)

    async def _prompt_answer(self, turn: Turn, outcome: Outcome) -> bytes | Exception:
        """What a prompt is answered with when its turn is over."""
        session = turn.session
        session.enter(Step.WORK_STOPPED)
        spent = turn.settle_tokens()
        try:
            await session.touch()
        except Exception as error:  # noqa: BLE001 - a store that fails ends a turn, no more
            return error
        if outcome.error is not None:
            code, message, data = outcome.error
            return RequestError(code, message, data)
        reason = stop_reason(outcome.stop_reason, cancelled=turn.is_cancelled)
        return encode(v1.PromptResponse(stop_reason=reason, usage=self._usage(spent)))

    def _usage(self, spent: TokenCount) -> v1.Usage | UnsetType:
        """What the whole session has cost, where its turns have said so."""
        counts = spent.usage()
        return UNSET if counts is None or not self._agent.unstable else v1.Usage(**counts)


def _models(session: AgentSession) -> v1.SessionModelState | None:
    """The option for the model as clients look for it that know no options."""
    option = session.offer.of_category("model")
    current = None if option is None else session.options[option.option_id]
    if option is None or not isinstance(current, str):
        return None
    return v1.SessionModelState(
        current_model_id=current,
        available_models=[
            v1.ModelInfo(
                model_id=choice.value, name=choice.name, description=choice.description or UNSET
            )
            for choice in option.choices
        ],
    )

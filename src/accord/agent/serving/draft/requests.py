"""The 2026-02 draft, served: its requests read, its results said.  The work is in `service.py`.

What always holds
    * Every error has a number of the draft; inside they are official, and the connection maps them.
    * A failure after a turn began is the stop reason `error`, before it an error.
    * A mode or an option that the client sets is also announced, once, behind the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from accord.agent.serving.draft import offer as draft_offer
from accord.agent.serving.draft.client_requests import DraftWays
from accord.agent.serving.draft.logins import DraftLogins
from accord.agent.serving.draft.mcp_servers import KEPT_AS, keep_servers, kept_servers, servers_of
from accord.agent.serving.draft.terminals import ClientTerminals
from accord.agent.serving.draft.tool_calls import kept_meta
from accord.agent.serving.draft.turns import prompt_work
from accord.agent.serving.draft.wire import DraftWire
from accord.agent.serving.results import require_option, to_plain
from accord.agent.serving.service import Service
from accord.agent.session.options import MODE_OPTION_ID, OptionValue
from accord.agent.session.state import SessionState
from accord.connection import Connection, IncomingRequest
from accord.connection.connection import Work
from accord.connection.dialect import Dialect
from accord.connection.unknown_keys import MessageDecoder
from accord.errors import RequestError, StoreError
from accord.machine import clock
from accord.schema import draft, v2
from accord.schema.codec import Invalid, encode, to_python, to_raw
from accord.schema.method import SESSION_UPDATE
from accord.schema.struct import Raw
from accord.translate.draft.mode_names import DEFAULT_MODE
from accord.translate.draft.vocabulary import from_draft_error, to_draft_error

if TYPE_CHECKING:
    from accord.agent.definition import AgentDefinition

T = TypeVar("T")

# Keys that only the official versions have: who sends one has changed its dialect.
_OFFICIAL_KEYS = {
    "authenticate": "methodId",
    "session/new": "cwd",
    "session/load": "cwd",
    "session/prompt": "prompt",
    "session/set_mode": "modeId",
    "session/set_config_option": "configId",
}
# What the store says of a session that is known and cannot be had, in the draft's words.
_LOST_SESSIONS = {"session_pruned": "expired", "session_damaged": "corrupted"}


def _error_out(method: str, code: int, data: Any) -> tuple[int, Any]:
    return to_draft_error(code, data, named_session=method.startswith("session/"))


def _error_in(_method: str, code: int, data: Any) -> tuple[int, Any]:
    return from_draft_error(code, data)


MANNERS = Dialect(_error_out, _error_in)


class DraftServing:
    """One client of the draft."""

    def __init__(
        self, agent: AgentDefinition, connection: Connection, raw: Raw, params: Mapping[str, Any]
    ) -> None:
        # A refusal has the draft's numbers already.
        connection.agree_on(MANNERS)
        self._agent = agent
        self._decode = MessageDecoder(
            strict=agent.strict, report=connection.tolerate, shared=draft.InitializeRequest
        )
        asked = self._read(draft.InitializeRequest, raw)
        capabilities = to_plain(asked.capabilities)
        draft_offer.require(agent, capabilities)
        offered = draft_offer.offered_by(capabilities)
        self._modes = draft_offer.modes_of(agent)
        post = connection.post if offered.wants_official_updates else None
        wire = self._wire = DraftWire(offered.features, self._modes, post)
        self._terminals = ClientTerminals(connection, wire.terminals, offered.terminals_max)
        self._ways = wire.made_ways = DraftWays(
            connection,
            wire.calls,
            self._terminals,
            has_dialogs=offered.has_dialogs,
            tell=self._tell,
        )
        self.service = Service(agent, connection, wire)
        self._logins = DraftLogins(self.service)
        self._requests: dict[str, Callable[[IncomingRequest], bytes | Work]] = {
            "authenticate": self._authenticate,
            "session/new": self._new,
            "session/load": self._load,
            "session/prompt": self._prompt,
            "session/set_mode": self._set_mode,
            "session/set_config_option": self._set_option,
            "terminal/output": self._terminal_output,
        }

    def initialize(self) -> bytes:
        """The agent's offer, in the draft's names."""
        return encode(draft_offer.answer(self._agent, self._modes))

    # ---- dispatch

    def request(self, request: IncomingRequest) -> bytes | Work:
        """Serve a method of the draft or one of the agent's own."""
        handler = self._requests.get(request.method)
        if handler is not None:
            self._refuse_mixture(request)
            return handler(request)
        extension = self.service.extension_request(request.method, request.params)
        if extension is None:
            raise RequestError.method_missing(request.method)
        return extension

    def _refuse_mixture(self, request: IncomingRequest) -> None:
        key = _OFFICIAL_KEYS.get(request.method)
        if key is None or key.encode() not in bytes(request.params):
            return
        params = to_python(request.params)
        if isinstance(params, dict) and key in params:
            raise RequestError.invalid_params(
                f"`{key}` is of another dialect than this connection", f"$.{key}"
            )

    def notification(self, method: str, params: Raw) -> None:
        """`session/cancel`, pushed output, and what the agent registered; the rest is ignored."""
        if method == "session/cancel":
            wanted = self._read(draft.CancelNotification, params)
            session = self.service.sessions.get(wanted.session_id)
            if session is not None:
                session.prompts.cancel_all()
        elif method == "terminal/output":
            self._terminals.push(self._read(draft.TerminalOutputRequest, params))
        else:
            self.service.extension_notification(method, params)

    def _read(self, wanted: type[T], params: Raw) -> T:
        try:
            return self._decode(wanted, params)
        except Invalid as error:
            raise RequestError.invalid_params(error.reason, error.path) from None

    def _tell(self, session: SessionState, said: Any) -> None:
        """Send updates of the draft's own making, such as a step that the inside does not know."""
        if not session.closed and self.service.connection.error is None:
            for params in self._wire.encoded(session.id, said):
                self.service.connection.post(SESSION_UPDATE, params)

    def _terminal_output(self, request: IncomingRequest) -> bytes:
        told = self._read(draft.TerminalOutputRequest, request.params)
        return encode(draft.TerminalOutputResponse(received=self._terminals.push(told)))

    def _authenticate(self, request: IncomingRequest) -> Work:
        wanted = self._read(draft.AuthenticateRequest, request.params)
        return self._logins.authenticate(request, wanted)

    # ---- sessions

    def _new(self, request: IncomingRequest) -> Work:
        wanted = self._read(draft.NewSessionRequest, request.params)
        self._logins.require()
        cwd = wanted.working_directory
        listed = wanted.mcp_servers if isinstance(wanted.mcp_servers, list) else []
        servers = servers_of(listed, cwd, self._agent.mcp)
        options, rejected = self._first_options(wanted)
        about: dict[str, Any] = {"options": options}
        if isinstance(wanted.system_prompt, str):
            about["system_prompt"] = wanted.system_prompt

        async def work() -> bytes:
            session = await self.service.new_session(cwd, (), servers, about)
            await keep_servers(session, listed)
            self._joined(session, request)
            return encode(
                draft.NewSessionResponse(
                    session_id=session.id,
                    created_at=session.record.updated_at or _now(),
                    meta=kept_meta({"rejectedConfigOptions": rejected} if rejected else {}),
                )
            )

        return work

    def _first_options(
        self, wanted: draft.NewSessionRequest
    ) -> tuple[dict[str, OptionValue], dict[str, Any]]:
        """What a session is set to from its start, and what it cannot be set to."""
        options: dict[str, OptionValue] = {}
        rejected: dict[str, Any] = {}
        if isinstance(wanted.initial_mode, str) and self._modes.knows(wanted.initial_mode):
            options[MODE_OPTION_ID] = self._modes.official(wanted.initial_mode)
        given = wanted.config_options if isinstance(wanted.config_options, dict) else {}
        for key, raw in given.items():
            option = self._agent.offer.options.get(key)
            value = self._value(key, raw)
            if option is not None and option.accepts(value):
                options[key] = value
            else:
                rejected[key] = raw
        return options, rejected

    def _value(self, key: str, raw: Raw) -> Any:
        """A value as our options have it: some clients send the number that a choice is named."""
        value = to_python(raw)
        option = self._agent.offer.options.get(key)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return str(value) if is_number and option is not None else value

    def _load(self, request: IncomingRequest) -> Work:
        wanted = self._read(draft.LoadSessionRequest, request.params)
        self._logins.require()
        session_id = wanted.session_id

        async def work() -> bytes:
            try:
                session = await self._attached(session_id)
                counted = await self._replayed(session)
            except StoreError as error:
                raise _lost(error, session_id) from error
            self._joined(session, request)
            values = {
                key: to_raw(value)
                for key, value in session.options.items()
                if key != MODE_OPTION_ID
            }
            return encode(
                draft.LoadSessionResponse(
                    session_id=session.id,
                    working_directory=session.record.cwd,
                    mode=self._mode_of(session),
                    config_options=values,
                    message_count=counted,
                )
            )

        return work

    async def _attached(self, session_id: str) -> SessionState:
        """The session with its own folder and servers, which the draft does not send again."""
        store = self._agent.store
        record = await store.get(session_id)
        if record is None:
            raise RequestError.session_missing(session_id)
        servers = self._servers_of_live(session_id)
        if servers is None:
            listed = await kept_servers(await store.kept(session_id, KEPT_AS))
            servers = servers_of(listed, record.cwd, self._agent.mcp)
        return await self.service.attach(
            session_id, record.cwd, record.additional_directories, servers
        )

    def _servers_of_live(self, session_id: str) -> tuple[Any, ...] | None:
        for service in list(self._agent.services):
            session = service.sessions.get(session_id)
            if session is not None and not session.closed:
                return session.mcp_servers
        return None

    async def _replayed(self, session: SessionState) -> int:
        """Tell the past again; how many messages it has."""
        counted = self._wire.counted[session.id] = set()
        self._wire.calls.telling_past.add(session.id)
        try:
            await self.service.replay(session)
            return len(counted)
        finally:
            self._wire.counted.pop(session.id, None)
            self._wire.calls.telling_past.discard(session.id)

    def _joined(self, session: SessionState, request: IncomingRequest) -> None:
        """A session is served from now on; its commands are told behind the answer."""
        self._wire.know_values(session.id, session.options)
        if self._ways.grants.join(session):

            async def leave() -> None:
                self._ways.grants.leave(session)

            session.tasks.on_close(leave)
        request.on_answered = session.introduce_with_commands

    def _mode_of(self, session: SessionState) -> str:
        mode = session.mode
        return DEFAULT_MODE if mode is None else self._modes.draft(mode.mode_id)

    # ---- settings

    def _set_mode(self, request: IncomingRequest) -> Work:
        wanted = self._read(draft.SetSessionModeRequest, request.params)
        session = self.service.session(wanted.session_id)
        if not session.offer.modes:
            raise RequestError(
                -32601, "this agent has no modes", {"reason": "capability_not_supported"}
            )
        if not self._modes.knows(wanted.mode):
            raise RequestError.invalid_params(f"unknown mode {wanted.mode!r}", "$.mode")
        mode_id = self._modes.official(wanted.mode)

        async def work() -> bytes:
            before = self._mode_of(session)
            await session.set_option(MODE_OPTION_ID, mode_id, announce=False)
            request.on_answered = lambda: self._announce(session)
            return encode(
                draft.SetSessionModeResponse(
                    previous_mode=before, current_mode=self._mode_of(session)
                )
            )

        return work

    def _set_option(self, request: IncomingRequest) -> Work:
        wanted = self._read(draft.SetSessionConfigOptionRequest, request.params)
        session = self.service.session(wanted.session_id)
        key, value = wanted.key, self._value(wanted.key, wanted.value)
        if key not in session.offer.options:
            raise RequestError.invalid_params(f"unknown option {key!r}", "$.key")
        require_option(session, key, value)

        async def work() -> bytes:
            before = session.options[key]
            await session.set_option(key, value, announce=False)
            request.on_answered = lambda: self._announce(session)
            return encode(
                draft.SetSessionConfigOptionResponse(
                    key=key,
                    previous_value=to_raw(before),
                    current_value=to_raw(session.options[key]),
                )
            )

        return work

    def _announce(self, session: SessionState) -> None:
        """What the client changed, unless the agent has told it on the way."""
        self._wire.source = "user"
        try:
            session.updates.post(v2.ConfigOptionUpdate(config_options=session.option_list()))
        finally:
            self._wire.source = "agent"

    def _prompt(self, request: IncomingRequest) -> Work:
        wanted = self._read(draft.PromptRequest, request.params)
        session = self.service.session(wanted.session_id)
        self._logins.require()
        return prompt_work(self.service, session, wanted, request)


def serving_after_all(
    agent: AgentDefinition, connection: Connection, asked: Mapping[str, Any]
) -> DraftServing:
    """Serve a client that was taken for one of v1 until its first request showed the draft."""
    official = asked.get("clientCapabilities")
    capabilities = draft_offer.from_official(official if isinstance(official, Mapping) else {})
    info = asked.get("clientInfo")
    params = {
        "protocolVersion": 1,
        "clientInfo": info if isinstance(info, Mapping) else {"name": "unknown", "version": "0"},
        "capabilities": capabilities,
    }
    return DraftServing(agent, connection, Raw(encode(params)), params)


def _lost(error: StoreError, session_id: str) -> Exception:
    reason = _LOST_SESSIONS.get(error.reason)
    if reason is None:
        return error
    return RequestError(-32056, str(error), {"sessionId": session_id, "reason": reason})


def _now() -> str:
    return clock.timestamp()


__all__ = ["MANNERS", "DraftServing"]

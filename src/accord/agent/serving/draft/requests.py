"""The v1 edge for a client of the 2026-02 draft, with what v1 has no field for in `_meta`.

A translator stands in front of this, so that the requests here are v1's.  Under the key of the
draft their `_meta` says more: the mode and the options that a session begins with, the folder and
the time limit of an MCP server, the credentials' fate.  The answers say more in the same way.

What always holds
    * A failure after a turn began is part of the prompt's result, never an error answer.
    * A session is loaded with the folder and the MCP servers that it had: the draft names neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from accord.agent.serving.active_sessions import Surroundings
from accord.agent.serving.draft.client_requests import DraftClientRequests
from accord.agent.serving.draft.logins import Logins
from accord.agent.serving.draft.mcp_servers import (
    KEPT_AS,
    detailed,
    keep_servers,
    kept_servers,
    servers_as_named,
)
from accord.agent.serving.draft.wire import DetailedWire
from accord.agent.serving.requests import OfficialRequests
from accord.agent.serving.v1.requests import V1
from accord.agent.serving.wire import to_plain
from accord.agent.session.options_and_commands import MODE_OPTION_ID, OptionValue
from accord.agent.session.session_state import SessionState
from accord.agent.session.turn_run import Outcome
from accord.agent.session.turn_state import TurnState
from accord.connection import Connection, IncomingRequest
from accord.connection.connection import Work
from accord.errors import RequestError, StoreError
from accord.machine import clock
from accord.schema import v1
from accord.schema.codec import encode, to_python
from accord.schema.struct import UNSET, Raw
from accord.store import MemoryStore
from accord.translate.draft.conversion.capabilities import required_in_draft
from accord.translate.draft.conversion.config_options import meant_option
from accord.translate.draft.conversion.meta_restore import keep_all
from accord.translate.draft.mode_names import DEFAULT_MODE, ModeNames
from accord.translate.meta_store import DRAFT, draft_meta, kept

if TYPE_CHECKING:
    from accord.agent.definition import AgentDefinition
    from accord.agent.serving.unstable.token_usage import TokenCount

# Errors of the store about a session that cannot be opened, in the draft's form.
_LOST_SESSIONS = {"session_pruned": "expired", "session_damaged": "corrupted"}
_INVALID_SESSION_STATE = -32056


class DetailedServing(OfficialRequests):
    """One client of the draft, as the v1 edge sees it."""

    def __init__(
        self, agent: AgentDefinition, connection: Connection, raw: Raw, params: Mapping[str, Any]
    ) -> None:
        super().__init__(DETAILED_V1, agent, connection, raw, params)
        self.credentials: Mapping[str, Any] = {}
        self._modes = ModeNames.of_official(
            {"id": mode.mode_id, "name": mode.name, "description": mode.description}
            for mode in agent.offer.modes.values()
        )
        terminal = kept(dict(params["clientCapabilities"]), DRAFT).get("terminal") or {}
        self._client_requests = DraftClientRequests(connection, terminal.get("maxConcurrent"))
        self.wire.client_requests = self._client_requests
        self._logins = Logins(self.login, self.guard)

    def initialize(self) -> bytes:
        """The agent's offer, with the modes and options that the draft lists in it."""
        agent = self.agent
        answer = to_python(super().initialize())
        offer = {
            "mcpCapabilities": {
                "servers": True,
                "transport": [one for one in ("stdio", "http", "sse") if one in agent.mcp],
            },
            "sessionCapabilities": {
                "modes": self._modes.draft_names,
                "configOptions": list(agent.offer.options),
                # What is kept in memory is gone with the process.
                "persistence": not isinstance(agent.store, MemoryStore),
            },
        }
        keep_all(answer["agentCapabilities"], {"capabilities": offer})
        required = required_in_draft(agent.requires)
        keep_all(answer, {"requiredClientCapabilities": required} if required else {})
        return encode(answer)

    # ---- logins

    def log_in(self, request: IncomingRequest) -> Work:
        wanted = self.read(v1.AuthenticateRequest, request.params)
        credentials, self.credentials = self.credentials, {}
        return self._logins.authenticate(request, wanted.method_id, credentials)

    # ---- sessions

    def _new(self, request: IncomingRequest) -> Work:
        wanted = self.read(v1.NewSessionRequest, request.params)
        self.login.require()
        said = kept(to_plain(wanted), DRAFT)
        servers = self._detailed(wanted.mcp_servers, wanted.cwd)
        options, rejected = self._first_options(said)
        about: dict[str, Any] = {"options": options}
        if isinstance(said.get("systemPrompt"), str):
            about["system_prompt"] = said["systemPrompt"]

        async def work() -> bytes:
            session = await self.sessions.new(Surroundings(wanted.cwd, (), servers, about))
            await keep_servers(session, wanted.mcp_servers)
            self._join(session, request)
            more: dict[str, Any] = {"createdAt": session.record.updated_at or clock.timestamp()}
            if rejected:
                more["rejectedConfigOptions"] = rejected
            return encode(
                v1.NewSessionResponse(
                    session_id=session.id, meta=_meta(more), **self._version.settings(self, session)
                )
            )

        return work

    def _detailed(self, listed: list[v1.McpServer], cwd: str) -> tuple[Any, ...]:
        found = self._version.mcp_servers(listed, self.agent.mcp)
        return tuple(
            detailed(server, asked, cwd) for server, asked in zip(found, listed, strict=True)
        )

    def _first_options(
        self, said: Mapping[str, Any]
    ) -> tuple[dict[str, OptionValue], dict[str, Any]]:
        """What a session is set to from its start, and what it cannot be set to."""
        options: dict[str, OptionValue] = {}
        rejected: dict[str, Any] = {}
        mode = said.get("initialMode")
        if isinstance(mode, str) and mode != DEFAULT_MODE:
            mode = self._modes.meant(mode)
        if isinstance(mode, str) and self._modes.knows(mode):
            options[MODE_OPTION_ID] = self._modes.official(mode)
        given: Any = said.get("configOptions")
        wanted: Any
        for said_key, value in given.items() if isinstance(given, dict) else ():
            key = meant_option(self.agent.offer.options, said_key)
            option = self.agent.offer.options.get(key)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            # Some clients send the number that a choice is named.
            wanted = str(value) if is_number else value
            if option is not None and option.accepts(wanted):
                options[key] = wanted
            else:
                rejected[said_key] = value
        return options, rejected

    def load(self, request: IncomingRequest) -> Work:
        wanted = self.read(v1.LoadSessionRequest, request.params)
        self.login.require()

        async def work() -> bytes:
            try:
                session = await self._attached(wanted.session_id)
                await self.sessions.replay(session)
            except StoreError as error:
                raise _lost(error, wanted.session_id) from error
            self._join(session, request)
            meta = _meta({"workingDirectory": session.record.cwd})
            return encode(
                v1.LoadSessionResponse(meta=meta, **self._version.settings(self, session))
            )

        return work

    async def _attached(self, session_id: str) -> SessionState:
        """The session with its own folder and servers, which the draft does not send again."""
        store = self.sessions.store
        record = await store.get(session_id)
        if record is None:
            raise RequestError.session_missing(session_id)
        servers = self._servers_of_live(session_id)
        if servers is None:
            listed = kept_servers(await store.kept(session_id, KEPT_AS))
            servers = self._detailed(listed, record.cwd)
        given = Surroundings(record.cwd, record.additional_directories, servers)
        return await self.sessions.attach(session_id, given)

    def _servers_of_live(self, session_id: str) -> tuple[Any, ...] | None:
        for connected in list(self.agent.connected):
            session = connected.by_id.get(session_id)
            if session is not None and not session.closed:
                return session.mcp_servers
        return None

    def _join(self, session: SessionState, request: IncomingRequest) -> None:
        """Serve a session from now on, and send its commands after the answer."""
        if self._client_requests.grants.join(session):

            async def leave() -> None:
                self._client_requests.grants.leave(session)

            session.tasks.on_close(leave)
        request.on_answered = session.introduce_with_commands

    # ---- prompts

    def _answer(self, turn: TurnState, outcome: Outcome, spent: TokenCount) -> bytes:
        """How the turn ended; by now that is never an error answer."""
        del spent
        more: dict[str, Any] = {}
        reason = "end_turn"
        if outcome.error is not None:
            code, message, data = outcome.error
            more["error"] = {"code": code, "message": message, "data": data}
        else:
            reason = self._stop_reason(turn, outcome)
            if not turn.is_cancelled and reason != outcome.stop_reason:
                more["stopReason"] = outcome.stop_reason
        counts = turn.tokens.counts
        if counts:
            more["usage"] = {
                "inputTokens": counts.get("input_tokens", 0),
                "outputTokens": counts.get("output_tokens", 0),
            }
        return encode(v1.PromptResponse(stop_reason=reason, meta=_meta(more)))


def _meta(more: dict[str, Any]) -> Any:
    return draft_meta(more) if more else UNSET


def _lost(error: StoreError, session_id: str) -> Exception:
    reason = _LOST_SESSIONS.get(error.reason)
    if reason is None:
        return error
    about = {"sessionId": session_id, "reason": reason}
    return RequestError(_INVALID_SESSION_STATE, str(error), about)


def _log_in(serving: OfficialRequests, request: IncomingRequest) -> Work:
    assert isinstance(serving, DetailedServing)
    return serving.log_in(request)


def _load(serving: OfficialRequests, request: IncomingRequest) -> Work:
    assert isinstance(serving, DetailedServing)
    return serving.load(request)


DETAILED_V1 = replace(
    V1,
    requests={**V1.requests, "authenticate": _log_in, "session/load": _load},
    make_wire=DetailedWire,
    mcp_servers=servers_as_named,
)

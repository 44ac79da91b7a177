"""What v1 does in its own way: modes and models, loading, logins, and the end of a turn."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from accord.agent.serving.requests import OfficialRequests, Version
from accord.agent.serving.v1.capabilities import features_of, offer
from accord.agent.serving.v1.wire import V1Wire
from accord.agent.serving.wire import EMPTY, empty_after
from accord.agent.session.options_and_commands import MODE_OPTION_ID, require_option
from accord.connection import IncomingRequest
from accord.connection.connection import Work
from accord.errors import RequestError
from accord.machine.redacted_logs import logger
from accord.protocol.v1.turn import stop_reason
from accord.schema import v1
from accord.schema.struct import UNSET, Raw
from accord.translate.content_blocks import to_v2
from accord.translate.mcp_servers import server_to_v2

if TYPE_CHECKING:
    from accord.agent.session.session_state import SessionState


_log = logger("accord.agent")


def resolved(server: v1.McpServer, index: int) -> v1.McpServer:
    """The server with an absolute command; a command that is not found is refused."""
    if server.type is not UNSET or server.command is UNSET or os.path.isabs(server.command):
        return server
    from accord.machine.processes.program_lookup import find_program

    command = server.command
    found = None if os.path.dirname(command) else find_program(command)
    if found is None:
        raise RequestError.invalid_params(
            f"{command!r} is neither an absolute path nor a command that can be found",
            f"$.mcpServers[{index}].command",
        )
    _log.warning("the command %r of MCP server %r is not absolute", command, server.name)
    return v1.McpServer(
        name=server.name,
        command=found,
        args=server.args,
        env=server.env,
        meta=server.meta,
    )


def _params(raw: Raw, _params: Mapping[str, Any]) -> Raw:
    return raw


def _prompt_response(reason: str, usage: Any) -> v1.PromptResponse:
    return v1.PromptResponse(stop_reason=reason, usage=usage)


# ---- logins


def _authenticate(serving: OfficialRequests, request: IncomingRequest) -> Work:
    wanted = serving.read(v1.AuthenticateRequest, request.params)
    return empty_after(lambda: serving.login.authenticate(wanted.method_id, request))


def _logout(serving: OfficialRequests, request: IncomingRequest) -> Work:
    if not serving.agent.auth_methods:
        raise RequestError.method_missing(request.method)
    return empty_after(serving.login.logout)


# ---- sessions


def _load(serving: OfficialRequests, request: IncomingRequest) -> Work:
    wanted = serving.read(v1.LoadSessionRequest, request.params)
    return serving.open_again(request, wanted, v1.LoadSessionResponse, lambda _: True)


def _servers(listed: Sequence[v1.McpServer], accepted: frozenset[str]) -> tuple[Any, ...]:
    for index, server in enumerate(listed):
        kind = "stdio" if server.type is UNSET else server.type
        if kind not in accepted:
            raise RequestError.invalid_params(
                f"this agent does not support {kind!r} MCP servers", f"$.mcpServers[{index}].type"
            )
    return tuple(server_to_v2(resolved(server, index)) for index, server in enumerate(listed))


def _settings(serving: OfficialRequests, session: SessionState) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if session.mode is not None:
        _wire_of(serving).mode_is(session.id, session.mode.mode_id)
        settings["modes"] = v1.SessionModeState(
            current_mode_id=session.mode.mode_id,
            available_modes=[
                v1.SessionMode(
                    id=mode.mode_id, name=mode.name, description=mode.description or UNSET
                )
                for mode in session.offer.modes.values()
            ],
        )
    options = serving.wire.config_options(session.option_list())
    if options:
        settings["config_options"] = options
    if serving.agent.session_models and (models := _models(session)) is not None:
        settings["models"] = models
    return settings


def _models(session: SessionState) -> v1.SessionModelState | None:
    """The option for the model, in the form that clients without options look for."""
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


def _set_mode(serving: OfficialRequests, request: IncomingRequest) -> Work:
    wanted = serving.read(v1.SetSessionModeRequest, request.params)
    session = serving.sessions.active(wanted.session_id)
    if wanted.mode_id not in session.offer.modes:
        raise RequestError.invalid_params(f"unknown mode {wanted.mode_id!r}", "$.modeId")

    async def work() -> bytes:
        _wire_of(serving).mode_is(session.id, wanted.mode_id)
        await session.set_option(MODE_OPTION_ID, wanted.mode_id, announce=True)
        return EMPTY

    return work


def _set_model(serving: OfficialRequests, request: IncomingRequest) -> Work:
    wanted = serving.read(v1.SetSessionModelRequest, request.params)
    session = serving.sessions.active(wanted.session_id)
    option = session.offer.of_category("model")
    if option is None:
        raise RequestError.method_missing(request.method)
    option_id = option.option_id
    require_option(session.offer, option_id, wanted.model_id, "$.modelId")
    return empty_after(lambda: session.set_option(option_id, wanted.model_id, announce=True))


def _wire_of(serving: OfficialRequests) -> V1Wire:
    assert isinstance(serving.wire, V1Wire)
    return serving.wire


V1 = Version(
    schema=v1,
    requests={
        "authenticate": _authenticate,
        "logout": _logout,
        "session/load": _load,
        "session/set_mode": _set_mode,
        "session/set_model": _set_model,
    },
    make_wire=V1Wire,
    complete=_params,
    client_capabilities="client_capabilities",
    has_boolean_capabilities=True,
    required=tuple,
    features_of=features_of,
    offer=offer,
    mcp_servers=_servers,
    settings=_settings,
    replays=lambda _: False,
    lists_commands_in_answer=False,
    tells_before_resumed=False,
    closes_unknown_sessions=False,
    reads_empty_as_absent=True,
    repeats_modes=True,
    cancel_notification="CancelNotification",
    blocks=lambda prompt: [to_v2(block) for block in prompt],
    echoes_prompts=False,
    ends_turn_by_answer=True,
    stop_reason=stop_reason,
    prompt_response=_prompt_response,
)

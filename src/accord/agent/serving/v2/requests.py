"""What v2 does in its own way: states end a turn, and tool calls and terminals can be cancelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from accord.agent.argument_checks import needed_in_v2
from accord.agent.serving.requests import OfficialRequests, Version
from accord.agent.serving.v2.capabilities import features_of, offer
from accord.agent.serving.v2.wire import V2Wire
from accord.agent.serving.wire import EMPTY, empty_after
from accord.connection import IncomingRequest
from accord.connection.connection import Work
from accord.errors import RequestError
from accord.protocol.v2.turn import stop_reason
from accord.schema import v2
from accord.schema.codec import encode
from accord.schema.struct import UNSET, Raw, UnknownVariant

if TYPE_CHECKING:
    from accord.agent.session.session_state import SessionState


def _completed(raw: Raw, params: Mapping[str, Any]) -> Raw | bytes:
    """Read a request for a later version as ours; what it lacks is "unknown"."""
    if params.get("protocolVersion") == 2:
        return raw
    known = {key: params[key] for key in ("capabilities", "_meta") if key in params}
    info = params.get("info")
    is_whole = isinstance(info, dict) and {"name", "version"} <= info.keys()
    return encode(
        {
            **known,
            "protocolVersion": 2,
            "info": info if is_whole else {"name": "unknown", "version": "unknown"},
        }
    )


# ---- logins


def _login(serving: OfficialRequests, request: IncomingRequest) -> Work:
    _require_auth_methods(serving, request)
    wanted = serving.read(v2.LoginAuthRequest, request.params)
    return empty_after(lambda: serving.login.authenticate(wanted.method_id, request))


def _logout(serving: OfficialRequests, request: IncomingRequest) -> Work:
    _require_auth_methods(serving, request)
    return empty_after(serving.login.logout)


def _require_auth_methods(serving: OfficialRequests, request: IncomingRequest) -> None:
    # Logins in a terminal count only for clients to which they were offered.
    has_terminals = serving.wire.features.terminal_login
    methods = serving.agent.auth_methods.values()
    if not any(has_terminals or not method.is_terminal for method in methods):
        raise RequestError.method_missing(request.method)


# ---- sessions


def _servers(listed: Sequence[Any], accepted: frozenset[str]) -> tuple[Any, ...]:
    names: set[str] = set()
    for index, server in enumerate(listed):
        is_unknown = isinstance(server, UnknownVariant)
        kind = server.tag if is_unknown else type(server).__struct_config__.tag
        # v2 has no `sse`: an agent that takes it in v1 cannot advertise it here.
        if kind not in accepted - {"sse"}:
            raise RequestError.invalid_params(
                f"this agent does not support {kind!r} MCP servers", f"$.mcpServers[{index}].type"
            )
        name = getattr(server, "name", "")
        if name in names:
            raise RequestError.invalid_params(
                f"two MCP servers are called {name!r}", f"$.mcpServers[{index}].name"
            )
        names.add(name)
    return tuple(listed)


def _settings(_serving: OfficialRequests, session: SessionState) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if options := session.option_list():
        settings["config_options"] = options
    if commands := session.command_list():
        settings["available_commands"] = commands
    return settings


def _replays(wanted: v2.ResumeSessionRequest) -> bool:
    if wanted.replay_from is UNSET or wanted.replay_from is None:
        return False
    if not isinstance(wanted.replay_from, v2.ReplayFromStart):
        raise RequestError.invalid_params("unsupported replay cursor", "$.replayFrom")
    return True


# ---- cancelling one thing


def _cancel_tool_call(serving: OfficialRequests, request: IncomingRequest) -> bytes:
    wanted = serving.read(v2.CancelToolCallRequest, request.params)
    session = serving.sessions.active(wanted.session_id)
    call = None if session.turn is None else session.turn.tool_call_by_id(wanted.tool_call_id)
    if call is None or not call.can_be_cancelled:
        raise RequestError.invalid_params("this tool call cannot be cancelled", "$.toolCallId")
    call.stop()
    return EMPTY


def _cancel_terminal(serving: OfficialRequests, request: IncomingRequest) -> bytes:
    wanted = serving.read(v2.CancelTerminalRequest, request.params)
    session = serving.sessions.active(wanted.session_id)
    terminal = session.terminals.running(wanted.terminal_id)
    if terminal is None:
        raise RequestError.invalid_params("this terminal cannot be cancelled", "$.terminalId")
    terminal.stop()
    return EMPTY


def _prompt_response(message_id: str) -> v2.PromptResponse:
    return v2.PromptResponse(message_id=message_id)


V2 = Version(
    schema=v2,
    requests={
        "auth/login": _login,
        "auth/logout": _logout,
        "tool_call/cancel": _cancel_tool_call,
        "terminal/cancel": _cancel_terminal,
    },
    make_wire=V2Wire,
    complete=_completed,
    client_capabilities="capabilities",
    has_boolean_capabilities=False,
    required=needed_in_v2,
    features_of=features_of,
    offer=offer,
    mcp_servers=_servers,
    settings=_settings,
    replays=_replays,
    lists_commands_in_answer=True,
    tells_before_resumed=True,
    closes_unknown_sessions=True,
    reads_empty_as_absent=False,
    repeats_modes=False,
    cancel_notification="CancelSessionNotification",
    blocks=lambda prompt: prompt,
    echoes_prompts=True,
    ends_turn_by_answer=False,
    stop_reason=stop_reason,
    prompt_response=_prompt_response,
)

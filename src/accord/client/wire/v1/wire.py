"""The wire form of v1, as far as it differs from v2's."""

from collections.abc import Mapping
from typing import Any, ClassVar

from accord.client.connection.capabilities import AgentCapabilities, read_v1
from accord.client.wire.shared_wire import OfficialWire, permission_options
from accord.client.wire.wire_interface import (
    AuthMethod,
    Block,
    KnownValues,
    PermissionAsked,
    PromptAnswer,
    Request,
    Setup,
    listed,
)
from accord.errors import LocalProtocolError
from accord.schema import v1
from accord.schema.struct import UNSET, Raw, UnknownVariant
from accord.transcript import Dialect

_OWN_BLOCKS = (
    v1.TextContent,
    v1.ImageContent,
    v1.AudioContent,
    v1.ResourceLink,
    v1.EmbeddedResource,
)
_TOOL_VALUES = {"kind": listed(v1.ToolKind), "status": listed(v1.ToolCallStatus)}


class WireV1(OfficialWire):
    """v1 as a client sends and reads it."""

    version = 1
    dialect: ClassVar[Dialect] = "v1"
    schema: ClassVar[Any] = v1
    known_values: ClassVar[KnownValues] = {
        v1.ToolCall: _TOOL_VALUES,
        v1.ToolCallUpdate: _TOOL_VALUES,
        v1.PromptResponse: {"stop_reason": listed(v1.StopReason)},
    }
    ends_turn_by_answer = True
    ends_cancelled_calls = True
    uses_client_services = True

    _info_key = "agentInfo"
    _capabilities_key = "agentCapabilities"
    _login_method = "authenticate"
    _logout_method = "logout"
    _update_type = v1.SessionNotification
    _cancel_type = v1.CancelNotification
    _login_type = v1.AuthenticateRequest
    _opened: ClassVar[Mapping[str, Any]] = {
        "session/new": v1.NewSessionResponse,
        "session/load": v1.LoadSessionResponse,
        "session/resume": v1.ResumeSessionResponse,
        "session/fork": v1.ForkSessionResponse,
    }
    _may_be_null = frozenset({"session/load", "session/resume", "session/fork"})
    _sends_no_servers = True

    def _read_capabilities(self, raw: object, *, has_auth_methods: bool) -> AgentCapabilities:
        return read_v1(raw)

    def _auth_method(self, method: v1.AuthMethod) -> AuthMethod:
        return AuthMethod(
            method.id,
            method.name,
            # The agent does every login itself that does not need a terminal.
            "terminal" if method.type == "terminal" else "agent",
            method.description or None,
            tuple(method.args or ()),
            dict(method.env or {}),
        )

    def _block(self, block: Any) -> Block:
        """Blocks of v2 lose only what v1 cannot express."""
        if isinstance(block, _OWN_BLOCKS):
            return block
        if isinstance(block, UnknownVariant):
            raise LocalProtocolError(
                f"version 1 of the protocol has no content of type {block.tag!r}"
            )
        from accord.translate.content_blocks import to_v1

        return to_v1(block)

    def _server(self, server: Any) -> v1.McpServer:
        if isinstance(server, v1.McpServer):
            return server
        from accord.translate.mcp_servers import server_to_v1

        return server_to_v1(server)

    def _option_params(
        self, session_id: str, option_id: str, value: str | bool
    ) -> v1.SetSessionConfigOptionRequest:
        return v1.SetSessionConfigOptionRequest(
            session_id=session_id,
            config_id=option_id,
            # Only a boolean names its type.
            type="boolean" if isinstance(value, bool) else UNSET,
            value=value,
        )

    def load_session(self, session_id: str, setup: Setup) -> Request:
        return self._reopen("session/load", v1.LoadSessionRequest, session_id, setup)

    def read_prompt_answer(self, result: Raw) -> PromptAnswer:
        """The end of the turn."""
        answer = self._prompt_answer(result)
        return PromptAnswer(answer.stop_reason, usage=answer.usage or None)

    def read_permission(self, params: Raw) -> PermissionAsked:
        """Read a request; its reason is the first text of the tool call's content."""
        request = self._decode(v1.RequestPermissionRequest, params)
        call = request.tool_call
        return PermissionAsked(
            request.session_id,
            call.title or None,
            self._first_text(call.content),
            permission_options(request),
            tool_call=call,
            tool_call_id=call.tool_call_id,
        )

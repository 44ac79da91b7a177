"""The wire form of v2, as far as it differs from v1's."""

from collections.abc import Mapping
from typing import Any, ClassVar

from accord.client.connection.capabilities import AgentCapabilities, read_v2
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
from accord.schema import v2
from accord.schema.codec import to_python
from accord.schema.struct import UNSET, Raw, UnknownVariant
from accord.transcript import Dialect


class WireV2(OfficialWire):
    """v2 as a client sends and reads it."""

    version = 2
    dialect: ClassVar[Dialect] = "v2"
    schema: ClassVar[Any] = v2
    known_values: ClassVar[KnownValues] = {
        v2.ToolCallUpdate: {"kind": listed(v2.ToolKind), "status": listed(v2.ToolCallStatus)},
        v2.StateUpdate: {"state": listed(v2.StateKind), "stop_reason": listed(v2.StopReason)},
        v2.PromptResponse: {"stop_reason": listed(v2.StopReason)},
    }
    ends_turn_by_answer = False
    ends_cancelled_calls = False
    uses_client_services = False

    _info_key = "info"
    _capabilities_key = "capabilities"
    _login_method = "auth/login"
    _logout_method = "auth/logout"
    _update_type = v2.UpdateSessionNotification
    _cancel_type = v2.CancelSessionNotification
    _login_type = v2.LoginAuthRequest
    _opened: ClassVar[Mapping[str, Any]] = {
        "session/new": v2.NewSessionResponse,
        "session/resume": v2.ResumeSessionResponse,
        "session/fork": v2.ForkSessionResponse,
    }
    _may_be_null = frozenset({"session/resume"})
    _sends_no_servers = False

    def _read_capabilities(self, raw: object, *, has_auth_methods: bool) -> AgentCapabilities:
        return read_v2(raw, has_auth_methods=has_auth_methods)

    def _auth_method(self, method: v2.AuthMethod) -> AuthMethod | None:
        if isinstance(method, UnknownVariant):
            fields = to_python(method.raw)
            method_id, name = fields.get("methodId"), fields.get("name")
            if not isinstance(method_id, str) or not isinstance(name, str):
                return None
            return AuthMethod(method_id, name, method.tag)
        described = method.description or None
        if isinstance(method, v2.AuthMethodAgent):
            return AuthMethod(method.method_id, method.name, "agent", described)
        env = {variable.name: variable.value for variable in method.env or ()}
        args = tuple(method.args or ())
        return AuthMethod(method.method_id, method.name, "terminal", described, args, env)

    def _block(self, block: Any) -> Block:
        if type(block).__module__.startswith("accord.schema.v1"):
            from accord.translate.content_blocks import to_v2

            return to_v2(block)
        return block

    def _server(self, server: Any) -> v2.McpServer:
        if type(server).__module__.startswith("accord.schema.v1"):
            from accord.translate.mcp_servers import server_to_v2

            return server_to_v2(server)
        found: v2.McpServer = server
        return found

    def _option_params(
        self, session_id: str, option_id: str, value: str | bool
    ) -> v2.SetSessionConfigOptionRequest:
        if isinstance(value, bool):
            return v2.SetSessionConfigBooleanRequest(
                session_id=session_id, config_id=option_id, value=value
            )
        return v2.SetSessionConfigIdRequest(session_id=session_id, config_id=option_id, value=value)

    def load_session(self, session_id: str, setup: Setup) -> Request:
        """`session/resume` with all of the history."""
        return self._reopen(
            "session/resume",
            v2.ResumeSessionRequest,
            session_id,
            setup,
            replay_from=v2.ReplayFromStart(),
        )

    def read_prompt_answer(self, result: Raw) -> PromptAnswer:
        """The id of the message; early drafts sent the stop reason at the end instead."""
        if bytes(result) == b"null":
            return PromptAnswer()
        answer = self._prompt_answer(result)
        return PromptAnswer(answer.stop_reason or None, answer.message_id or None)

    def read_permission(self, params: Raw) -> PermissionAsked:
        """Read a request with its own title and description; early drafts had only a tool call."""
        request = self._decode(v2.RequestPermissionRequest, params)
        reason, title = request.description or None, request.title or None
        match request.subject:
            case v2.CommandPermissionSubject() as subject:
                return PermissionAsked(
                    request.session_id,
                    title,
                    reason,
                    permission_options(request),
                    command=subject.command,
                    cwd=subject.cwd,
                    tool_call_id=subject.tool_call_id or None,
                    terminal_id=subject.terminal_id or None,
                )
            case v2.ToolCallPermissionSubject() as subject:
                call: v2.ToolCallPatch | None = subject.tool_call
            case _:
                call = None if request.tool_call is UNSET else request.tool_call
        if reason is None and call is not None:
            # As in v1, which many agents were written for first.
            reason = self._first_text(call.content)
        return PermissionAsked(
            request.session_id,
            title,
            reason,
            permission_options(request),
            tool_call=call,
            tool_call_id=None if call is None else call.tool_call_id,
        )

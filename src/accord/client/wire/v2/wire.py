"""The wire form of v2: neutral values to v2's structs and back.

Must not know: v1's wire form, and when anything is sent.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from accord.client.connection.capabilities import read_v2
from accord.client.connection.handshake import read_implementation
from accord.client.connection.outgoing import encode
from accord.client.session.unknown_values import Words, listed, tell_unknown
from accord.client.wire.wire import (
    AgentFacts,
    Asked,
    AuthMethod,
    Block,
    PromptAnswer,
    Request,
    SessionInfo,
    SessionPage,
    Setup,
    lacks_options,
)
from accord.connection.unknown_keys import MessageDecoder
from accord.schema import v2
from accord.schema.codec import Invalid, Report, decode, ignore, to_python
from accord.schema.struct import UNSET, Raw, UnknownVariant, UnsetType
from accord.transcript import Dialect

_ABOUT_SESSION: dict[str, Any] = {
    "session/cancel": v2.CancelSessionNotification,
    "session/close": v2.CloseSessionRequest,
    "session/delete": v2.DeleteSessionRequest,
}
_OPENED: dict[str, Any] = {
    "session/new": v2.NewSessionResponse,
    "session/resume": v2.ResumeSessionResponse,
    "session/fork": v2.ForkSessionResponse,
}
_WORDS: Words = {
    v2.ToolCallUpdate: {"kind": listed(v2.ToolKind), "status": listed(v2.ToolCallStatus)},
    v2.StateUpdate: {"state": listed(v2.StateKind), "stop_reason": listed(v2.StopReason)},
    v2.PromptResponse: {"stop_reason": listed(v2.StopReason)},
}


class WireV2:
    """v2 as a client says and hears it."""

    version = 2
    dialect: Dialect = "v2"

    words: Words = _WORDS

    def __init__(self, *, strict: bool = False, report: Report = ignore) -> None:
        self._report = report
        self._decode = MessageDecoder(strict=strict, report=report)
        self.update_params = v2.UpdateSessionNotification
        self.read_update = self._decode.reading(v2.UpdateSessionNotification)

    def agent(self, answer: Mapping[str, Any]) -> AgentFacts:
        """Read `info`, `capabilities` and `authMethods`."""
        response = self._decode(v2.InitializeResponse, encode(answer))
        found = () if response.auth_methods is UNSET else response.auth_methods
        methods = tuple(filter(None, map(_auth_method, found)))
        return AgentFacts(
            read_implementation(answer.get("info")),
            read_v2(answer.get("capabilities"), has_auth_methods=bool(methods)),
            methods,
        )

    def blocks(self, prompt: Sequence[Any]) -> list[Block]:
        """v2's own blocks stay as they are."""
        return [
            v2.TextContent(text=block) if isinstance(block, str) else _own_block(block)
            for block in prompt
        ]

    def new_session(self, setup: Setup) -> Request:
        """`session/new`."""
        return "session/new", encode(
            v2.NewSessionRequest(
                cwd=setup.cwd,
                additional_directories=list(setup.additional_directories) or UNSET,
                mcp_servers=_servers(setup),
                system_prompt=_system_prompt(setup),
            )
        )

    def load_session(self, session_id: str, setup: Setup) -> Request:
        """`session/resume` with all of the history."""
        return self._resume(session_id, setup, v2.ReplayFromStart())

    def resume_session(self, session_id: str, setup: Setup) -> Request:
        """`session/resume` without history."""
        return self._resume(session_id, setup, UNSET)

    def _resume(
        self, session_id: str, setup: Setup, replay_from: v2.ReplayFromStart | UnsetType
    ) -> Request:
        return "session/resume", encode(
            v2.ResumeSessionRequest(
                session_id=session_id,
                cwd=setup.cwd,
                additional_directories=list(setup.additional_directories) or UNSET,
                mcp_servers=_servers(setup),
                replay_from=replay_from,
                system_prompt=_system_prompt(setup),
            )
        )

    def fork_session(self, session_id: str, setup: Setup) -> Request:
        """`session/fork`."""
        return "session/fork", encode(
            v2.ForkSessionRequest(
                session_id=session_id,
                cwd=setup.cwd,
                additional_directories=list(setup.additional_directories) or UNSET,
                mcp_servers=_servers(setup),
                system_prompt=_system_prompt(setup),
            )
        )

    def read_opened(self, method: str, result: Raw) -> Any:
        """The answer as a struct; null is read as an empty one where ids are known already."""
        wanted = _OPENED[method]
        try:
            return self._decode(wanted, result)
        except Invalid:
            if bytes(result) != b"null" or wanted is not v2.ResumeSessionResponse:
                raise
            return v2.ResumeSessionResponse()

    def told(self, setup: Setup) -> Sequence[Any]:
        """All is told in the answer."""
        return ()

    def list_sessions(self, cwd: str | None, cursor: str | None, archived: str | None) -> Request:
        """`session/list`."""
        return "session/list", encode(
            v2.ListSessionsRequest(
                cwd=UNSET if cwd is None else cwd,
                cursor=UNSET if cursor is None else cursor,
                archived=UNSET if archived is None else archived,
            )
        )

    def read_page(self, result: Raw) -> SessionPage:
        """One page; the empty string is a cursor like any other."""
        page = self._decode(v2.ListSessionsResponse, result)
        return SessionPage(
            tuple(
                SessionInfo(
                    info.session_id,
                    info.cwd,
                    tuple(info.additional_directories or ()),
                    info.title or None,
                    info.updated_at or None,
                    None if info.archived is UNSET else info.archived,
                )
                for info in page.sessions
            ),
            None if page.next_cursor is UNSET else page.next_cursor,
        )

    def prompt(self, session_id: str, blocks: Sequence[Block]) -> Request:
        """`session/prompt`."""
        return "session/prompt", encode(
            v2.PromptRequest(session_id=session_id, prompt=list(blocks))
        )

    def read_prompt_answer(self, result: Raw) -> PromptAnswer:
        """The id of the message; the first drafts sent the stop reason at the end instead."""
        if bytes(result) == b"null":
            return PromptAnswer()
        answer = self._decode(v2.PromptResponse, result)
        tell_unknown(answer, _WORDS, self._report)
        return PromptAnswer(answer.stop_reason or None, answer.message_id or None)

    def about_session(self, method: str, session_id: str) -> Request:
        """Cancel, close or delete."""
        return method, encode(_ABOUT_SESSION[method](session_id=session_id))

    def set_option(self, session_id: str, option_id: str, value: str | bool) -> Request:
        """`session/set_config_option`, which names the type of its value."""
        request: v2.SetSessionConfigOptionRequest
        if isinstance(value, bool):
            request = v2.SetSessionConfigBooleanRequest(
                session_id=session_id, config_id=option_id, value=value
            )
        else:
            request = v2.SetSessionConfigIdRequest(
                session_id=session_id, config_id=option_id, value=value
            )
        return "session/set_config_option", encode(request)

    def read_options(self, result: Raw) -> Any:
        """The complete list; None where the agent only says that it took the value."""
        try:
            return self._decode(v2.SetSessionConfigOptionResponse, result)
        except Invalid as error:
            if not lacks_options(result):
                raise
            self._report(f"the answer to session/set_config_option: {error}")
            return None

    def login(self, method_id: str) -> Request:
        """`auth/login`."""
        return "auth/login", encode(v2.LoginAuthRequest(method_id=method_id))

    def logout(self) -> Request:
        """`auth/logout`."""
        return "auth/logout", b"{}"

    def read_elicitation(self, params: Raw) -> Any:
        """A mode that we do not know stays an unknown variant."""
        return self._decode(v2.CreateElicitationRequest, params)  # type: ignore[arg-type]

    def read_completed(self, params: Raw) -> str:
        """The id of the page that has done its work."""
        return decode(v2.CompleteElicitationNotification, params).elicitation_id

    def read_permission(self, params: Raw) -> Asked:
        """Title and description are the request's own; the first drafts had only a tool call."""
        request = self._decode(v2.RequestPermissionRequest, params)
        options = tuple((option.option_id, option.name, option.kind) for option in request.options)
        reason = request.description or None
        title = request.title or None
        match request.subject:
            case v2.CommandPermissionSubject() as subject:
                return Asked(
                    request.session_id,
                    title,
                    reason,
                    options,
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
            # As in v1: agents were written for that first.
            reason = _first_text(call.content)
        return Asked(
            request.session_id,
            title,
            reason,
            options,
            tool_call=call,
            tool_call_id=None if call is None else call.tool_call_id,
        )


def cancel_tool_call(session_id: str, tool_call_id: str) -> Request:
    """`tool_call/cancel`, which v1 does not have."""
    return "tool_call/cancel", encode(
        v2.CancelToolCallRequest(session_id=session_id, tool_call_id=tool_call_id)
    )


def cancel_terminal(session_id: str, terminal_id: str) -> Request:
    """`terminal/cancel`, which v1 does not have."""
    return "terminal/cancel", encode(
        v2.CancelTerminalRequest(session_id=session_id, terminal_id=terminal_id)
    )


def _servers(setup: Setup) -> list[v2.McpServer] | UnsetType:
    return [_server(server) for server in setup.mcp_servers] or UNSET


def _server(server: Any) -> v2.McpServer:
    if type(server).__module__.startswith("accord.schema.v1"):
        from accord.translate.mcp_servers import server_to_v2

        return server_to_v2(server)
    found: v2.McpServer = server
    return found


def _system_prompt(setup: Setup) -> v2.SystemPrompt | UnsetType:
    if setup.system_prompt is None:
        return UNSET
    return v2.SystemPrompt(
        mode=setup.system_prompt_mode, content=[v2.TextContent(text=setup.system_prompt)]
    )


def _own_block(block: Any) -> Block:
    if type(block).__module__.startswith("accord.schema.v1"):
        from accord.translate.content import to_v2

        return to_v2(block)
    return block


def _auth_method(method: v2.AuthMethod) -> AuthMethod | None:
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


def _first_text(content: Any) -> str | None:
    for item in content or ():
        if isinstance(item, v2.Content) and isinstance(item.content, v2.TextContent):
            return item.content.text
    return None


__all__ = ["WireV2", "cancel_terminal", "cancel_tool_call"]

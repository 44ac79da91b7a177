"""The wire form of v1: neutral values to v1's structs and back.

Must not know: v2's wire form, and when anything is sent.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from accord.client.connection.capabilities import read_v1
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
from accord.errors import LocalProtocolError
from accord.schema import v1
from accord.schema.codec import Invalid, Report, decode, ignore
from accord.schema.struct import UNSET, Raw, UnknownVariant, UnsetType
from accord.transcript import Dialect

_ABOUT_SESSION: dict[str, Any] = {
    "session/cancel": v1.CancelNotification,
    "session/close": v1.CloseSessionRequest,
    "session/delete": v1.DeleteSessionRequest,
}
_OPENED: dict[str, Any] = {
    "session/new": v1.NewSessionResponse,
    "session/load": v1.LoadSessionResponse,
    "session/resume": v1.ResumeSessionResponse,
    "session/fork": v1.ForkSessionResponse,
}
_OWN_BLOCKS = (
    v1.TextContent,
    v1.ImageContent,
    v1.AudioContent,
    v1.ResourceLink,
    v1.EmbeddedResource,
)
_TOOL_WORDS = {"kind": listed(v1.ToolKind), "status": listed(v1.ToolCallStatus)}
_WORDS: Words = {
    v1.ToolCall: _TOOL_WORDS,
    v1.ToolCallUpdate: _TOOL_WORDS,
    v1.PromptResponse: {"stop_reason": listed(v1.StopReason)},
}


class WireV1:
    """v1 as a client says and hears it."""

    version = 1
    dialect: Dialect = "v1"

    words: Words = _WORDS

    def __init__(self, *, strict: bool = False, report: Report = ignore) -> None:
        self._report = report
        self._decode = MessageDecoder(strict=strict, report=report)
        self.update_params = v1.SessionNotification
        self.read_update = self._decode.reading(v1.SessionNotification)

    def agent(self, answer: Mapping[str, Any]) -> AgentFacts:
        """Read `agentInfo`, `agentCapabilities` and `authMethods`."""
        response = self._decode(v1.InitializeResponse, encode(answer))
        found = () if response.auth_methods is UNSET else response.auth_methods
        return AgentFacts(
            read_implementation(answer.get("agentInfo")),
            read_v1(answer.get("agentCapabilities")),
            tuple(_auth_method(method) for method in found),
        )

    def blocks(self, prompt: Sequence[Any]) -> list[Block]:
        """Blocks of v2 lose only what v1 cannot say."""
        return [
            v1.TextContent(text=block) if isinstance(block, str) else _own_block(block)
            for block in prompt
        ]

    def new_session(self, setup: Setup) -> Request:
        """`session/new`; `mcpServers` is always there."""
        return "session/new", encode(
            v1.NewSessionRequest(
                cwd=setup.cwd,
                additional_directories=_directories(setup),
                mcp_servers=_servers(setup),
                system_prompt=_system_prompt(setup),
            )
        )

    def load_session(self, session_id: str, setup: Setup) -> Request:
        """`session/load`."""
        return "session/load", encode(
            v1.LoadSessionRequest(
                session_id=session_id,
                cwd=setup.cwd,
                additional_directories=_directories(setup),
                mcp_servers=_servers(setup),
                system_prompt=_system_prompt(setup),
            )
        )

    def resume_session(self, session_id: str, setup: Setup) -> Request:
        """`session/resume`."""
        return "session/resume", encode(
            v1.ResumeSessionRequest(
                session_id=session_id,
                cwd=setup.cwd,
                additional_directories=_directories(setup),
                mcp_servers=_servers(setup),
                system_prompt=_system_prompt(setup),
            )
        )

    def fork_session(self, session_id: str, setup: Setup) -> Request:
        """`session/fork`."""
        return "session/fork", encode(
            v1.ForkSessionRequest(
                session_id=session_id,
                cwd=setup.cwd,
                additional_directories=_directories(setup),
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
            if bytes(result) != b"null" or wanted is v1.NewSessionResponse:
                raise
            return decode(wanted, b"{}")

    def told(self, setup: Setup) -> Sequence[Any]:
        """All is told in the answer."""
        return ()

    def list_sessions(self, cwd: str | None, cursor: str | None, archived: str | None) -> Request:
        """`session/list`."""
        return "session/list", encode(
            v1.ListSessionsRequest(
                cwd=_given(cwd), cursor=_given(cursor), archived=_given(archived)
            )
        )

    def read_page(self, result: Raw) -> SessionPage:
        """One page; only a missing cursor ends the list."""
        page = self._decode(v1.ListSessionsResponse, result)
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
            v1.PromptRequest(session_id=session_id, prompt=list(blocks))
        )

    def read_prompt_answer(self, result: Raw) -> PromptAnswer:
        """The end of the turn."""
        answer = self._decode(v1.PromptResponse, result)
        tell_unknown(answer, _WORDS, self._report)
        return PromptAnswer(answer.stop_reason, usage=answer.usage or None)

    def about_session(self, method: str, session_id: str) -> Request:
        """Cancel, close or delete."""
        return method, encode(_ABOUT_SESSION[method](session_id=session_id))

    def set_option(self, session_id: str, option_id: str, value: str | bool) -> Request:
        """`session/set_config_option`; only a boolean names its type."""
        return "session/set_config_option", encode(
            v1.SetSessionConfigOptionRequest(
                session_id=session_id,
                config_id=option_id,
                type="boolean" if isinstance(value, bool) else UNSET,
                value=value,
            )
        )

    def read_options(self, result: Raw) -> Any:
        """The complete list; None where the agent only says that it took the value."""
        try:
            return self._decode(v1.SetSessionConfigOptionResponse, result)
        except Invalid as error:
            if not lacks_options(result):
                raise
            self._report(f"the answer to session/set_config_option: {error}")
            return None

    def login(self, method_id: str) -> Request:
        """`authenticate`."""
        return "authenticate", encode(v1.AuthenticateRequest(method_id=method_id))

    def logout(self) -> Request:
        """`logout`."""
        return "logout", b"{}"

    def read_elicitation(self, params: Raw) -> Any:
        """A mode that we do not know stays an unknown variant."""
        return self._decode(v1.CreateElicitationRequest, params)  # type: ignore[arg-type]

    def read_completed(self, params: Raw) -> str:
        """The id of the page that has done its work."""
        return decode(v1.CompleteElicitationNotification, params).elicitation_id

    def read_permission(self, params: Raw) -> Asked:
        """The reason is the first text of the tool call's content."""
        request = self._decode(v1.RequestPermissionRequest, params)
        call = request.tool_call
        return Asked(
            request.session_id,
            call.title or None,
            _first_text(call.content),
            tuple((option.option_id, option.name, option.kind) for option in request.options),
            tool_call=call,
            tool_call_id=call.tool_call_id,
        )


def set_mode(session_id: str, mode_id: str) -> Request:
    """`session/set_mode`, which v2 no longer has."""
    return "session/set_mode", encode(
        v1.SetSessionModeRequest(session_id=session_id, mode_id=mode_id)
    )


def set_model(session_id: str, model_id: str) -> Request:
    """`session/set_model`, which is gone from the schema and still spoken."""
    return "session/set_model", encode(
        v1.SetSessionModelRequest(session_id=session_id, model_id=model_id)
    )


def _given(value: str | None) -> str | UnsetType:
    return UNSET if value is None else value


def _directories(setup: Setup) -> list[str] | UnsetType:
    return list(setup.additional_directories) or UNSET


def _system_prompt(setup: Setup) -> v1.SystemPrompt | UnsetType:
    if setup.system_prompt is None:
        return UNSET
    return v1.SystemPrompt(
        mode=setup.system_prompt_mode, content=[v1.TextContent(text=setup.system_prompt)]
    )


def _servers(setup: Setup) -> list[v1.McpServer]:
    return [_server(server) for server in setup.mcp_servers]


def _server(server: Any) -> v1.McpServer:
    if isinstance(server, v1.McpServer):
        return server
    from accord.translate.mcp_servers import server_to_v1

    return server_to_v1(server)


def _own_block(block: Any) -> Block:
    if isinstance(block, _OWN_BLOCKS):
        return block
    if isinstance(block, UnknownVariant):
        raise LocalProtocolError(f"version 1 of the protocol has no content of type {block.tag!r}")
    from accord.translate.content import to_v1

    return to_v1(block)


def _auth_method(method: v1.AuthMethod) -> AuthMethod:
    return AuthMethod(
        method.id,
        method.name,
        # Whatever is not a terminal login is the agent's own business.
        "terminal" if method.type == "terminal" else "agent",
        method.description or None,
        tuple(method.args or ()),
        dict(method.env or {}),
    )


def _first_text(content: Any) -> str | None:
    for item in content or ():
        if isinstance(item, v1.Content) and isinstance(item.content, v1.TextContent):
            return item.content.text
    return None


__all__ = ["WireV1", "set_mode", "set_model"]

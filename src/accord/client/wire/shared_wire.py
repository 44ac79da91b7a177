"""The wire form that v1 and v2 share: neutral values to structs of the version and back.

Each version gives its module of types and what differs; see `v1/wire.py` and `v2/wire.py`.

Must not know: which version it is, and when anything is sent.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from accord.client.connection.capabilities import AgentCapabilities
from accord.client.connection.implementation import read_implementation
from accord.client.session.request_checks import encode
from accord.client.wire.wire_interface import (
    AgentFacts,
    AuthMethod,
    AuthStatus,
    Block,
    KnownValues,
    PermissionAsked,
    PromptAnswer,
    Request,
    SessionInfo,
    SessionPage,
    Setup,
    lacks_options,
    report_unknown,
)
from accord.connection.unknown_keys import message_decoder
from accord.schema.codec import Invalid, Report, decode, ignore
from accord.schema.struct import UNSET, Raw, UnsetType
from accord.transcript import Dialect

AUTH_STATES: frozenset[str] = frozenset({"authenticated", "unauthenticated", "not_required"})


class OfficialWire(ABC):
    """An official version of the protocol, as a client sends and reads it."""

    version: ClassVar[int]
    dialect: ClassVar[Dialect]
    # The module of the version's wire types.
    schema: ClassVar[Any]
    known_values: ClassVar[KnownValues]
    ends_turn_by_answer: ClassVar[bool]
    ends_cancelled_calls: ClassVar[bool]
    uses_client_services: ClassVar[bool]
    can_cancel = True
    opens_with_settings = False
    takes_any_option = False
    takes_draft_content = False
    logs_in_by_credential = False

    # Keys of the answer to `initialize`.
    _info_key: ClassVar[str]
    _capabilities_key: ClassVar[str]
    _login_method: ClassVar[str]
    _logout_method: ClassVar[str]
    # Types that the versions call by different names.
    _update_type: ClassVar[Any]
    _cancel_type: ClassVar[Any]
    _login_type: ClassVar[Any]
    # The answers to the requests that open a session.
    _opened: ClassVar[Mapping[str, Any]]
    # Those of them that may be null, which is read as an empty object.
    _may_be_null: ClassVar[frozenset[str]]
    # Whether `mcpServers` is sent although there are none.
    _sends_no_servers: ClassVar[bool]

    def __init__(self, *, strict: bool = False, report: Report = ignore) -> None:
        self._report = report
        self._decode = message_decoder(strict=strict, report=report)
        self.update_params = self._update_type
        self.read_update = self._decode.reading(self._update_type)

    # ---- what differs more than by a name

    @abstractmethod
    def _read_capabilities(self, raw: object, *, has_auth_methods: bool) -> AgentCapabilities: ...

    @abstractmethod
    def _auth_method(self, method: Any) -> AuthMethod | None: ...

    @abstractmethod
    def _block(self, block: Any) -> Block:
        """A block of either version as one of this version."""
        ...

    @abstractmethod
    def _server(self, server: Any) -> Any:
        """An MCP server of either version as one of this version."""
        ...

    @abstractmethod
    def _option_params(self, session_id: str, option_id: str, value: str | bool) -> Any: ...

    @abstractmethod
    def load_session(self, session_id: str, setup: Setup) -> Request:
        """Open a stored session and replay its history."""
        ...

    @abstractmethod
    def read_prompt_answer(self, result: Raw) -> PromptAnswer:
        """Read the answer to `session/prompt`."""
        ...

    @abstractmethod
    def read_permission(self, params: Raw) -> PermissionAsked:
        """Read a permission request."""
        ...

    # ---- the agent

    def agent(self, answer: Mapping[str, Any]) -> AgentFacts:
        """Read the answer to `initialize`."""
        response = self._decode(self.schema.InitializeResponse, encode(answer))
        found = () if response.auth_methods is UNSET else response.auth_methods
        methods = tuple(filter(None, map(self._auth_method, found)))
        capabilities = answer.get(self._capabilities_key)
        return AgentFacts(
            read_implementation(answer.get(self._info_key)),
            self._read_capabilities(capabilities, has_auth_methods=bool(methods)),
            methods,
        )

    def login(self, method_id: str) -> Request:
        """Log in by one of the agent's methods."""
        return self._login_method, encode(self._login_type(method_id=method_id))

    def logout(self) -> Request:
        return self._logout_method, b"{}"

    def read_auth_status(self, params: Raw) -> AuthStatus:
        """Read `auth/status_update`, or the answer to `auth/status`, which has the same members."""
        status = decode(self.schema.AuthStatusResponse, params)
        state = status.state if status.state in AUTH_STATES else "unknown"
        return AuthStatus(state, () if status.accounts is UNSET else tuple(status.accounts))

    # ---- sessions

    def new_session(self, setup: Setup) -> Request:
        return "session/new", encode(self.schema.NewSessionRequest(**self._setup(setup)))

    def resume_session(self, session_id: str, setup: Setup) -> Request:
        """Open a stored session without its history."""
        return self._reopen("session/resume", self.schema.ResumeSessionRequest, session_id, setup)

    def fork_session(self, session_id: str, setup: Setup) -> Request:
        """Open a copy of a session."""
        return self._reopen("session/fork", self.schema.ForkSessionRequest, session_id, setup)

    def _reopen(
        self, method: str, params: Any, session_id: str, setup: Setup, **more: Any
    ) -> Request:
        return method, encode(params(session_id=session_id, **self._setup(setup), **more))

    def _setup(self, setup: Setup) -> dict[str, Any]:
        servers = [self._server(server) for server in setup.mcp_servers]
        prompt: Any = UNSET
        if setup.system_prompt is not None:
            prompt = self.schema.SystemPrompt(
                mode=setup.system_prompt_mode,
                content=[self.schema.TextContent(text=setup.system_prompt)],
            )
        return {
            "cwd": setup.cwd,
            "additional_directories": list(setup.additional_directories) or UNSET,
            "mcp_servers": servers if servers or self._sends_no_servers else UNSET,
            "system_prompt": prompt,
        }

    def read_opened(self, method: str, result: Raw) -> Any:
        """Read the answer to a request that opens a session."""
        wanted = self._opened[method]
        try:
            return self._decode(wanted, result)
        except Invalid:
            if bytes(result) != b"null" or method not in self._may_be_null:
                raise
            return decode(wanted, b"{}")

    def folder_of(self, opened: Any) -> str | None:
        """None: official agents do not name it."""
        return None

    def list_sessions(self, cwd: str | None, cursor: str | None, archived: str | None) -> Request:
        """Ask for one page of the agent's sessions."""
        return "session/list", encode(
            self.schema.ListSessionsRequest(
                cwd=_or_unset(cwd), cursor=_or_unset(cursor), archived=_or_unset(archived)
            )
        )

    def read_page(self, result: Raw) -> SessionPage:
        """Read one page; only a missing cursor ends the list, an empty one does not."""
        page = self._decode(self.schema.ListSessionsResponse, result)
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

    def about_session(self, method: str, session_id: str) -> Request:
        """Cancel, close or delete a session."""
        types = {
            "session/cancel": self._cancel_type,
            "session/close": self.schema.CloseSessionRequest,
            "session/delete": self.schema.DeleteSessionRequest,
        }
        return method, encode(types[method](session_id=session_id))

    # ---- turns

    def blocks(self, prompt: Sequence[Any]) -> list[Block]:
        """Content blocks in this version's form; a string is a text block."""
        text = self.schema.TextContent
        return [
            text(text=block) if isinstance(block, str) else self._block(block) for block in prompt
        ]

    def prompt(self, session_id: str, blocks: Sequence[Block]) -> Request:
        """Send a message of the user."""
        return "session/prompt", encode(
            self.schema.PromptRequest(session_id=session_id, prompt=list(blocks))
        )

    def _prompt_answer(self, result: Raw) -> Any:
        answer = self._decode(self.schema.PromptResponse, result)
        report_unknown(answer, self.known_values, self._report)
        return answer

    def cancel_tool_call(self, session_id: str, tool_call_id: str) -> Request:
        """Stop one tool call; only v2 has calls that offer it."""
        return "tool_call/cancel", encode(
            self.schema.CancelToolCallRequest(session_id=session_id, tool_call_id=tool_call_id)
        )

    def cancel_terminal(self, session_id: str, terminal_id: str) -> Request:
        """Stop one of the agent's terminals; only v2 has terminals that offer it."""
        return "terminal/cancel", encode(
            self.schema.CancelTerminalRequest(session_id=session_id, terminal_id=terminal_id)
        )

    # ---- settings

    def set_mode(self, session_id: str, mode_id: str) -> Request:
        """Switch the mode; only v1 has modes beside the config options."""
        return "session/set_mode", encode(
            self.schema.SetSessionModeRequest(session_id=session_id, mode_id=mode_id)
        )

    def read_mode(self, result: Raw) -> Any:
        """Nothing: the answer is empty."""
        return None

    def set_model(self, session_id: str, model_id: str) -> Request:
        """Choose a model; the method left v1's schema, and agents still have it."""
        return "session/set_model", encode(
            self.schema.SetSessionModelRequest(session_id=session_id, model_id=model_id)
        )

    def set_option(self, session_id: str, option_id: str, value: str | bool) -> Request:
        """Set a config option."""
        params = self._option_params(session_id, option_id, value)
        return "session/set_config_option", encode(params)

    def read_options(self, result: Raw) -> Any:
        """Read the complete list of options; None where the agent only accepted the value."""
        try:
            return self._decode(self.schema.SetSessionConfigOptionResponse, result)
        except Invalid as error:
            if not lacks_options(result):
                raise
            self._report(f"the answer to session/set_config_option: {error}")
            return None

    # ---- questions to the user

    def read_elicitation(self, params: Raw) -> Any:
        """Read a question; a mode that we do not know stays an unknown variant."""
        return self._decode(self.schema.CreateElicitationRequest, params)

    def read_completed(self, params: Raw) -> str:
        """Read the id of the elicitation whose page is done."""
        completed = decode(self.schema.CompleteElicitationNotification, params)
        elicitation_id: str = completed.elicitation_id
        return elicitation_id

    def _first_text(self, content: Any) -> str | None:
        """The first text of a tool call, which v1 agents give as the reason."""
        for item in content or ():
            if isinstance(item, self.schema.Content):
                block = item.content
                if isinstance(block, self.schema.TextContent):
                    text: str = block.text
                    return text
        return None


def permission_options(request: Any) -> tuple[tuple[str, str, str], ...]:
    """The options of a permission request: id, name and kind."""
    return tuple((option.option_id, option.name, option.kind) for option in request.options)


def _or_unset(value: str | None) -> str | UnsetType:
    return UNSET if value is None else value

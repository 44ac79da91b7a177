"""The wire form of v1 for the translator, with the 2026-02 draft's extra data in `_meta`.

Must not know: when anything is sent, and the shapes of the draft but for values that a program
gives or reads in them (content, MCP servers, capabilities).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from accord.client.connection.capabilities import AgentCapabilities, not_offered
from accord.client.session.request_checks import encode
from accord.client.wire.v1.wire import WireV1
from accord.client.wire.wire_interface import (
    Block,
    KnownValues,
    PermissionAsked,
    PromptAnswer,
    Request,
    Setup,
    listed,
)
from accord.errors import LocalProtocolError
from accord.schema import draft, v1
from accord.schema.codec import Invalid, Report, decode, ignore, to_python
from accord.schema.struct import Raw
from accord.translate.draft.conversion.content import attachment_from_draft, block_from_draft
from accord.translate.draft.conversion.mcp_servers import server_from_draft
from accord.translate.draft.permission_options import PERMISSION_OPTIONS
from accord.translate.meta_store import DRAFT, draft_meta, kept

CANCEL_REASON = "user_requested"
_DRAFT_BLOCKS = (
    draft.TextContent,
    draft.ImageContent,
    draft.AudioContent,
    draft.ResourceLink,
    draft.EmbeddedResource,
)
_TOOL_VALUES = {
    "kind": listed(v1.ToolKind),
    "status": listed(v1.ToolCallStatus) | frozenset({"cancelled", "denied"}),
}


def kept_details(holder: Any) -> dict[str, Any]:
    """The values in the `_meta` of a struct or of a plain object."""
    if isinstance(holder, dict):
        return kept(holder, DRAFT)
    raw = (getattr(holder, "meta", None) or {}).get(DRAFT)
    try:
        found = {} if raw is None else to_python(raw)
    except Invalid:
        return {}
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class _Failure:
    """The error of an agent that ended a turn."""

    code: int
    message: str
    data: Any = None


class WireDraft(WireV1):
    """v1 for the translator to a draft agent."""

    known_values: ClassVar[KnownValues] = {
        v1.ToolCall: _TOOL_VALUES,
        v1.ToolCallUpdate: _TOOL_VALUES,
        v1.PromptResponse: {"stop_reason": listed(draft.StopReason) | listed(v1.StopReason)},
    }
    ends_cancelled_calls = False
    opens_with_settings = True
    takes_any_option = True
    takes_draft_content = True
    logs_in_by_credential = True

    def __init__(self, *, report: Report = ignore) -> None:
        """Read what the translator made, which is valid; `report` is told of unknown values."""
        super().__init__()
        self._report = report
        self._offered = draft.AgentCapabilities()

    def _read_capabilities(self, raw: object, *, has_auth_methods: bool) -> AgentCapabilities:
        """The agent's own capabilities, which are in `_meta`.

        The draft takes every content block and a system prompt; it lists, resumes, closes and
        forks no sessions.
        """
        told = kept_details(raw).get("capabilities", {})
        self._offered = decode(draft.AgentCapabilities, encode(told))
        servers = self._offered.mcp_capabilities or draft.McpCapabilities()
        reach = (servers.transport or ["stdio"]) if servers.servers else []
        return AgentCapabilities(
            sessions=True,
            load=self._offered.load_session is True,
            system_prompt=True,
            image=True,
            audio=True,
            embedded_context=True,
            mcp_stdio="stdio" in reach,
            mcp_http="http" in reach,
            mcp_sse="sse" in reach,
            mcp_acp=False,
            raw=_with_custom(told),
        )

    @property
    def can_cancel(self) -> bool:  # type: ignore[override]
        """Whether the agent supports cancelling; it does unless it says otherwise."""
        prompts = self._offered.prompt_capabilities or draft.PromptCapabilities()
        return prompts.cancellation is not False

    # ---- sessions

    def new_session(self, setup: Setup) -> Request:
        """`session/new`, with the settings of the session."""
        settings: dict[str, Any] = {}
        if setup.mode is not None:
            settings["initialMode"] = setup.mode
        if setup.config_options:
            settings["configOptions"] = dict(setup.config_options)
        return "session/new", encode(
            v1.NewSessionRequest(**self._setup(setup), **_with_meta(settings))
        )

    def load_session(self, session_id: str, setup: Setup) -> Request:
        """`session/load`; the agent has the MCP servers of the session."""
        if setup.mcp_servers:
            raise LocalProtocolError(
                "the agent loads a session with the MCP servers that it had; the draft of the"
                " protocol cannot name others"
            )
        return super().load_session(session_id, setup)

    def folder_of(self, opened: Any) -> str | None:
        """The folder of a session that was loaded."""
        folder = kept_details(opened).get("workingDirectory")
        return folder if isinstance(folder, str) else None

    def about_session(self, method: str, session_id: str) -> Request:
        """`session/cancel`; the draft closes and deletes no sessions."""
        if method != "session/cancel":
            _lacks(method)
        meta = _with_meta({"reason": CANCEL_REASON})
        return method, encode(v1.CancelNotification(session_id=session_id, **meta))

    def _server(self, server: Any) -> v1.McpServer:
        if isinstance(server, draft.McpServer):
            return decode(v1.McpServer, encode(server_from_draft(to_python(encode(server)))))
        if getattr(type(server).__struct_config__, "tag", None) == "acp":
            raise LocalProtocolError("the draft has no MCP servers of type 'acp'")
        return super()._server(server)

    # ---- turns

    def blocks(self, prompt: Sequence[Any]) -> list[Block]:
        """Convert content blocks to v1; those of the draft are kept in the metadata."""
        prompts = self._offered.prompt_capabilities or draft.PromptCapabilities()
        if prompts.attachments is not True and any(
            isinstance(block, draft.Attachment) for block in prompt
        ):
            raise LocalProtocolError("the agent does not accept attachments in prompts")
        return super().blocks(prompt)

    def _block(self, block: Any) -> Block:
        if isinstance(block, draft.Attachment):
            made = attachment_from_draft(to_python(encode(block)), "/")
        elif isinstance(block, _DRAFT_BLOCKS):
            made = block_from_draft(to_python(encode(block)))
        else:
            official = super()._block(block)
            if isinstance(official, v1.ResourceLink) and not official.title:
                # The draft has a title and no name.
                named: dict[str, Any] = to_python(encode(official))
                return decode(v1.ResourceLink, encode({**named, "title": official.name}))
            return official
        return decode(v1.ContentBlock, encode(made))  # type: ignore[arg-type]

    def read_prompt_answer(self, result: Raw) -> PromptAnswer:
        """Read the end of the turn; a failure is in `_meta`."""
        answer = self._prompt_answer(result)
        failure = _failure(kept_details(answer).get("error"))
        return PromptAnswer(answer.stop_reason, usage=answer.usage or None, error=failure)

    # ---- settings

    def read_mode(self, result: Raw) -> Any:
        """The mode that holds now, which the agent answers."""
        modes = kept_details(to_python(result)).get("modes")
        return None if modes is None else decode(v1.LoadSessionResponse, encode({"modes": modes}))

    def set_option(self, session_id: str, option_id: str, value: Any) -> Request:
        """Set a config option; any JSON value may be tried."""
        return "session/set_config_option", encode(
            v1.SetSessionConfigOptionRequest(
                session_id=session_id, config_id=option_id, value="", **_with_meta({"value": value})
            )
        )

    # ---- questions to the user

    def read_permission(self, params: Raw) -> PermissionAsked:
        """Read a request; its tool call is one that the agent has announced, or none."""
        request = self._decode(v1.RequestPermissionRequest, params)
        told = kept_details(request)
        return PermissionAsked(
            request.session_id,
            f"{told['operation']}: {told['resource']}",
            told.get("reason"),
            tuple((row.option_id, row.name, row.kind) for row in PERMISSION_OPTIONS),
            tool_call_id=told.get("toolCallId"),
        )


def _lacks(what: str) -> NoReturn:
    raise not_offered(what)


def _with_meta(told: dict[str, Any]) -> dict[str, Any]:
    return {"meta": draft_meta(told)} if told else {}


def _with_custom(told: Mapping[str, Any]) -> Mapping[str, Any]:
    """Custom data is in `_meta` in the other versions, and is read from there."""
    custom, meta = told.get("_custom"), told.get("_meta")
    if not isinstance(custom, Mapping):
        return told
    return {**told, "_meta": {**custom, **(meta if isinstance(meta, Mapping) else {})}}


def _failure(told: Any) -> _Failure | None:
    if not isinstance(told, dict):
        return None
    code, message = told.get("code"), told.get("message")
    if not isinstance(code, int) or not isinstance(message, str):
        return None
    return _Failure(code, message, told.get("data"))

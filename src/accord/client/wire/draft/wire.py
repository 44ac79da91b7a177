"""The wire form of the 2026-02 draft: neutral values to the draft's structs and back.

Loaded only where an agent speaks it.  The draft calls itself version 1 and ends a turn as v1 does,
by the answer to the prompt; all names and shapes are its own.

Must not know: the wire forms of v1 and v2, and when anything is sent.

What always holds: the draft's mode `ask`, which takes no action, is called `ask_questions` here;
officially `ask` means that permission is asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from accord.client.connection.capabilities import AgentCapabilities
from accord.client.connection.handshake import read_implementation
from accord.client.connection.outgoing_params import encode
from accord.client.session.unknown_values import KnownValues, listed, report_unknown
from accord.client.wire.draft.content import draft_block, draft_server
from accord.client.wire.draft.offer import can_cancel, read_draft, takes_attachments
from accord.client.wire.wire import (
    AgentFacts,
    Block,
    PermissionAsked,
    PromptAnswer,
    Request,
    SessionPage,
    Setup,
)
from accord.connection.unknown_keys import message_decoder
from accord.errors import LocalProtocolError
from accord.schema import draft, v2
from accord.schema.codec import Invalid, Report, ignore, to_python
from accord.schema.struct import UNSET, Raw, UnsetType
from accord.transcript import Dialect
from accord.translate.draft.mode_names import draft_mode, official_mode
from accord.translate.draft.vocabulary import to_draft_stop
from accord.translate.meta_store import DRAFT

CANCEL_REASON = "user_requested"

_OPENED: dict[str, Any] = {
    "session/new": draft.NewSessionResponse,
    "session/load": draft.LoadSessionResponse,
}
_STATUS = {"status": listed(draft.ToolCallStatus)}
_KNOWN_VALUES: KnownValues = {
    draft.ToolCall: _STATUS,
    draft.ToolCallUpdate: _STATUS,
    draft.PromptResponse: {"stop_reason": listed(draft.StopReason)},
}


@dataclass(frozen=True, slots=True)
class _Incoming:
    session_id: str
    update: Any


@dataclass(frozen=True, slots=True)
class _Failure:
    """What an agent tells about the error that its turn ended with."""

    code: int
    message: str
    data: Any = None


class WireDraft:
    """The draft as a client says and hears it."""

    version = 1
    dialect: Dialect = "draft"
    schema: Any = draft
    ends_turn_by_answer = True
    ends_cancelled_calls = False
    uses_client_services = True
    opens_with_settings = True
    takes_any_option = True
    takes_draft_content = True
    logs_in_by_credential = True

    known_values: KnownValues = _KNOWN_VALUES

    def __init__(self, *, strict: bool = False, report: Report = ignore) -> None:
        self._strict = strict
        self._report = report
        self._decode = message_decoder(strict=strict, report=report)
        self._read_envelope = self._decode.reading(draft.SessionNotification)
        self._offered = draft.AgentCapabilities()
        # An update is read in two steps, by its type.
        self.update_params = None
        self.read_update = self._update

    def agent(self, answer: Mapping[str, Any]) -> AgentFacts:
        """Read `agentInfo` and `capabilities`; the draft lists no ways to log in."""
        response = self._decode(draft.InitializeResponse, encode(answer))
        self._offered = response.capabilities
        capabilities: AgentCapabilities = read_draft(
            response.capabilities, answer.get("capabilities")
        )
        return AgentFacts(read_implementation(answer.get("agentInfo")), capabilities, ())

    # ---- sessions

    def new_session(self, setup: Setup) -> Request:
        options = setup.config_options
        return "session/new", encode(
            draft.NewSessionRequest(
                working_directory=setup.cwd,
                mcp_servers=[draft_server(server) for server in setup.mcp_servers] or UNSET,
                system_prompt=_given(setup.system_prompt),
                initial_mode=UNSET if setup.mode is None else _draft_mode(setup.mode),
                config_options={name: Raw(encode(value)) for name, value in options.items()}
                or UNSET,
            )
        )

    def load_session(self, session_id: str, setup: Setup) -> Request:
        """`session/load`, which names nothing but the session."""
        if setup.mcp_servers:
            raise LocalProtocolError(
                "the agent loads a session with the MCP servers that it had; the draft of the"
                " protocol cannot name others"
            )
        return "session/load", encode(draft.LoadSessionRequest(session_id=session_id))

    def resume_session(self, session_id: str, setup: Setup) -> Request:
        """The draft resumes no sessions."""
        _lacks("resuming sessions")

    def fork_session(self, session_id: str, setup: Setup) -> Request:
        """The draft forks no sessions."""
        _lacks("forking sessions")

    def list_sessions(self, cwd: str | None, cursor: str | None, archived: str | None) -> Request:
        """The draft lists no sessions."""
        _lacks("listing sessions")

    def read_page(self, result: Raw) -> SessionPage:
        """The draft lists no sessions."""
        _lacks("listing sessions")

    def read_opened(self, method: str, result: Raw) -> Any:
        """The answer as a struct."""
        answer = self._decode(_OPENED[method], result)
        if isinstance(answer, draft.LoadSessionResponse):
            return _renamed(answer, mode=_official_mode(answer.mode))
        return answer

    def known_at_opening(self, setup: Setup) -> list[Any]:
        """Modes and options are the same for every session of the agent."""
        session = self._offered.session_capabilities or draft.SessionCapabilities()
        modes = [_official_mode(mode) for mode in session.modes or ()]
        known: list[Any] = [_renamed(session, modes=modes)]
        if setup.mode is not None:
            known.append(
                draft.SetSessionModeResponse(previous_mode=setup.mode, current_mode=setup.mode)
            )
        known.extend(
            draft.SetSessionConfigOptionResponse(key=name, current_value=Raw(encode(value)))
            for name, value in setup.config_options.items()
        )
        return known

    # ---- turns

    def blocks(self, prompt: Sequence[Any]) -> list[Block]:
        """Blocks of v1 and v2 become the draft's; attachments stay among them until sent."""
        blocks = [draft_block(block) for block in prompt]
        attached = any(isinstance(block, draft.Attachment) for block in blocks)
        if attached and not takes_attachments(self._offered):
            raise LocalProtocolError("the agent takes no attachments in prompts")
        return blocks

    def prompt(self, session_id: str, blocks: Sequence[Block]) -> Request:
        """`session/prompt`; its content is a list of its own beside the attachments."""
        attached = [block for block in blocks if isinstance(block, draft.Attachment)]
        content = [block for block in blocks if not isinstance(block, draft.Attachment)]
        return "session/prompt", encode(
            draft.PromptRequest(
                session_id=session_id, content=content, attachments=attached or UNSET
            )
        )

    def read_prompt_answer(self, result: Raw) -> PromptAnswer:
        """The end of the turn; where the agent kept the exact reason, it is that."""
        answer = self._decode(draft.PromptResponse, result)
        report_unknown(answer, _KNOWN_VALUES, self._report)
        kept = _kept(answer.meta)
        reason, exact = answer.stop_reason, kept.get("stopReason")
        if isinstance(exact, str) and reason != "error" and to_draft_stop(exact) == reason:
            reason = exact
        return PromptAnswer(reason, usage=_usage(answer.usage), error=_failure(kept.get("error")))

    def about_session(self, method: str, session_id: str) -> Request:
        """`session/cancel`; the draft closes and deletes no sessions."""
        if method != "session/cancel":
            _lacks(method)
        return method, encode(draft.CancelNotification(session_id=session_id, reason=CANCEL_REASON))

    @property
    def can_cancel(self) -> bool:
        """Whether the agent stops when it is asked to."""
        return can_cancel(self._offered)

    def _update(self, params: Raw) -> _Incoming:
        envelope = self._read_envelope(params)
        notes: list[str] = []
        update = draft.decode_update(envelope, notes=notes, strict=self._strict)
        for note in notes:
            self._report(f"SessionNotification: {note}")
        if isinstance(update, draft.CurrentModeUpdate):
            update = _renamed(
                update,
                previous_mode=_official_mode(update.previous_mode),
                current_mode=_official_mode(update.current_mode),
            )
        return _Incoming(envelope.session_id, update)

    # ---- settings

    def set_mode(self, session_id: str, mode_id: str) -> Request:
        return "session/set_mode", encode(
            draft.SetSessionModeRequest(session_id=session_id, mode=_draft_mode(mode_id))
        )

    def read_mode(self, result: Raw) -> Any:
        """The mode that holds now."""
        answer = self._decode(draft.SetSessionModeResponse, result)
        return _renamed(answer, current_mode=_official_mode(answer.current_mode))

    def set_option(self, session_id: str, option_id: str, value: Any) -> Request:
        """`session/set_config_option`; any JSON value may be tried."""
        return "session/set_config_option", encode(
            draft.SetSessionConfigOptionRequest(
                session_id=session_id, key=option_id, value=Raw(encode(value))
            )
        )

    def read_options(self, result: Raw) -> Any:
        return self._decode(draft.SetSessionConfigOptionResponse, result)

    # ---- what is done otherwise, or not at all

    def login(self, method_id: str) -> Request:
        """A login of the draft needs a credential."""
        _lacks("a login without a credential")

    def logout(self) -> Request:
        """The draft has no such method."""
        _lacks("logging out")

    def read_auth_status(self, params: Raw) -> None:
        """The draft does not report the state of a login."""
        return

    def set_model(self, session_id: str, model_id: str) -> Request:
        """The draft offers no models."""
        _lacks("models")

    def cancel_tool_call(self, session_id: str, tool_call_id: str) -> Request:
        """The draft cancels whole turns only."""
        _lacks("cancelling a tool call")

    def cancel_terminal(self, session_id: str, terminal_id: str) -> Request:
        """The draft's terminals are the client's."""
        _lacks("cancelling a terminal")

    def read_permission(self, params: Raw) -> PermissionAsked:
        """Requests of the draft are read where they are served."""
        raise NotImplementedError

    def read_elicitation(self, params: Raw) -> Any:
        """The draft asks no questions."""
        raise Invalid("$", "the draft has no elicitation")

    def read_completed(self, params: Raw) -> str:
        """The draft asks no questions."""
        raise Invalid("$", "the draft has no elicitation")


def _lacks(what: str) -> NoReturn:
    raise LocalProtocolError(f"the agent does not offer {what}")


def _given(value: str | None) -> str | UnsetType:
    return UNSET if value is None else value


def _official_mode(name: str) -> str:
    return str(official_mode(name)["id"])


def _draft_mode(mode_id: str) -> str:
    # What a draft agent itself called `ask` has another name here, so this one is as it says.
    return mode_id if mode_id == "ask" else draft_mode({"id": mode_id})


def _renamed(struct: Any, **fields: Any) -> Any:
    kept = {name: getattr(struct, name) for name in type(struct).__struct_fields__}
    return type(struct)(**{**kept, **fields})


def _kept(meta: Any) -> dict[str, Any]:
    raw = (meta or {}).get(DRAFT)
    try:
        found = {} if raw is None else to_python(raw)
    except Invalid:
        return {}
    return found if isinstance(found, dict) else {}


def _usage(usage: draft.Usage | UnsetType) -> v2.Usage | None:
    if usage is UNSET:
        return None
    return v2.Usage(
        total_tokens=usage.input_tokens + usage.output_tokens,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
    )


def _failure(told: Any) -> _Failure | None:
    if not isinstance(told, dict):
        return None
    code, message = told.get("code"), told.get("message")
    if not isinstance(code, int) or not isinstance(message, str):
        return None
    return _Failure(code, message, told.get("data"))


__all__ = ["WireDraft"]

"""`session/request_permission`: the agent asks before it acts."""

from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from accord.schema.struct import (
    UNSET,
    AbsolutePath,
    E,
    NonEmpty,
    Omit,
    Patch,
    UnknownVariant,
    WireStruct,
)
from accord.schema.v2.identifiers import PermissionOptionId, SessionId, TerminalId, ToolCallId
from accord.schema.v2.tool_calls import ToolCallPatch

PermissionOptionKind: TypeAlias = (
    Literal["allow_once", "allow_always", "reject_once", "reject_always"] | str
)


class PermissionOption(WireStruct, frozen=True, kw_only=True):
    """A button: its label, and a hint on how to show it."""

    option_id: PermissionOptionId
    name: str
    kind: PermissionOptionKind


class ToolCallPermissionSubject(
    WireStruct, frozen=True, kw_only=True, tag_field="type", tag="tool_call"
):
    """A tool call as the subject; it is created or patched before the user is asked."""

    tool_call: ToolCallPatch


class CommandPermissionSubject(
    WireStruct, frozen=True, kw_only=True, tag_field="type", tag="command"
):
    """A command that the agent would run as the subject; the ids only say where it belongs."""

    command: str
    cwd: AbsolutePath
    tool_call_id: E[Patch[ToolCallId]] = UNSET
    terminal_id: E[Patch[TerminalId]] = UNSET


if TYPE_CHECKING:
    RequestPermissionSubject: TypeAlias = (
        ToolCallPermissionSubject | CommandPermissionSubject | UnknownVariant
    )
else:
    RequestPermissionSubject = ToolCallPermissionSubject | CommandPermissionSubject


class RequestPermissionRequest(WireStruct, frozen=True, kw_only=True):
    """May this be done?  Title and description are words for the user and change no tool call.

    `tool_call` is how the first drafts of v2 named the subject.  It is read and never sent; with
    it the title may be missing, and is the empty string then.
    """

    __instead__: ClassVar[dict[str, str]] = {"title": "toolCall"}

    session_id: SessionId
    title: str
    description: E[Patch[str]] = UNSET
    subject: Patch[RequestPermissionSubject] = UNSET
    options: NonEmpty[PermissionOption]
    tool_call: Omit[ToolCallPatch] = UNSET


class CancelledPermissionOutcome(
    WireStruct, frozen=True, kw_only=True, tag_field="outcome", tag="cancelled"
):
    """Not approved, and nothing chosen."""


class SelectedPermissionOutcome(
    WireStruct, frozen=True, kw_only=True, tag_field="outcome", tag="selected"
):
    """The option that was chosen; an option that was never offered does not count as approval."""

    option_id: PermissionOptionId


if TYPE_CHECKING:
    RequestPermissionOutcome: TypeAlias = (
        CancelledPermissionOutcome | SelectedPermissionOutcome | UnknownVariant
    )
else:
    RequestPermissionOutcome = CancelledPermissionOutcome | SelectedPermissionOutcome


class RequestPermissionResponse(WireStruct, frozen=True, kw_only=True):
    """What the user, or a policy of the user's, decided."""

    outcome: RequestPermissionOutcome

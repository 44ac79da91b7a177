"""Tool calls: what an agent does, is about to do or has done.

A tool call is created by the first update that names its id and patched by every later one.
Paths in here are only shown, so a relative one is kept rather than refused.
"""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeAlias

from msgspec import Meta

from accord.schema.struct import (
    EN,
    ES,
    UNSET,
    E,
    Omit,
    Patch,
    Raw,
    S,
    UnknownVariant,
    WireStruct,
)
from accord.schema.v2.capabilities import ToolCallCapabilities
from accord.schema.v2.content import ContentBlock
from accord.schema.v2.identifiers import MediaType, SessionId, TerminalId, ToolCallId

ToolKind: TypeAlias = (
    Literal[
        "read",
        "edit",
        "delete",
        "move",
        "search",
        "execute",
        "think",
        "fetch",
        "switch_mode",
        "other",
    ]
    | str
)
ToolCallStatus: TypeAlias = (
    Literal["pending", "in_progress", "paused", "completed", "failed", "cancelled"] | str
)
DiffFileType: TypeAlias = Literal["text", "binary", "directory", "symlink"] | str
DiffPatchFormat: TypeAlias = Literal["git_patch"] | str
LineNumber = Annotated[int, Meta(ge=1, le=2**32 - 1)]


class DiffPathChange(WireStruct, frozen=True, kw_only=True):
    """The fields of every change of a file; operations on one path add none."""

    path: str
    file_type: E[Patch[DiffFileType]] = UNSET
    mime_type: E[Patch[MediaType]] = UNSET


class DiffPathPairChange(DiffPathChange, frozen=True, kw_only=True):
    """A change that leads from one path to another."""

    old_path: str


class DiffAdd(DiffPathChange, frozen=True, kw_only=True, tag_field="operation", tag="add"):
    """A file that the call created."""


class DiffDelete(DiffPathChange, frozen=True, kw_only=True, tag_field="operation", tag="delete"):
    """A file that is gone."""


class DiffModify(DiffPathChange, frozen=True, kw_only=True, tag_field="operation", tag="modify"):
    """A file changed in place."""


class DiffMove(DiffPathPairChange, frozen=True, kw_only=True, tag_field="operation", tag="move"):
    """A file moved or renamed."""


class DiffCopy(DiffPathPairChange, frozen=True, kw_only=True, tag_field="operation", tag="copy"):
    """A file that the call copied from `old_path`."""


if TYPE_CHECKING:
    DiffChange: TypeAlias = DiffAdd | DiffDelete | DiffModify | DiffMove | DiffCopy | UnknownVariant
else:
    DiffChange = DiffAdd | DiffDelete | DiffModify | DiffMove | DiffCopy


class DiffPatch(WireStruct, frozen=True, kw_only=True):
    """The text of a diff, for rendering."""

    format: DiffPatchFormat
    text: str


class Diff(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="diff"):
    """Changes of files: `changes` is the truth, `patch` may illustrate it.

    `path`, `old_text` and `new_text` are how the first drafts of v2 said it.  They are read and
    never sent; a diff that has only them has no `changes`.
    """

    __instead__: ClassVar[dict[str, str]] = {"changes": "path"}

    changes: S[list[DiffChange]]
    patch: E[Patch[DiffPatch]] = UNSET
    path: E[Omit[str]] = UNSET
    old_text: E[Patch[str]] = UNSET
    new_text: E[Omit[str]] = UNSET


class Content(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="content"):
    """One content block as part of a tool call."""

    content: ContentBlock


class Terminal(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="terminal"):
    """The place at which a terminal is shown; its updates may come before or after."""

    terminal_id: TerminalId


if TYPE_CHECKING:
    ToolCallContent: TypeAlias = Content | Diff | Terminal | UnknownVariant
else:
    ToolCallContent = Content | Diff | Terminal


class ToolCallLocation(WireStruct, frozen=True, kw_only=True):
    """A place in a file that the tool call is about; lines count from one."""

    path: str
    line: E[Patch[LineNumber]] = UNSET


class ToolCallPatch(WireStruct, frozen=True, kw_only=True):
    """The fields of a tool call: a missing one keeps, null clears, a value replaces.

    `raw_input` and `raw_output` hold any JSON, so there the clearing null is `Raw(b"null")`.
    Capabilities that make no sense are read as null: better no button than a wrong one.
    """

    tool_call_id: ToolCallId
    name: E[Patch[str]] = UNSET
    title: E[Patch[str]] = UNSET
    kind: E[Patch[ToolKind]] = UNSET
    status: E[Patch[ToolCallStatus]] = UNSET
    content: ES[Patch[list[ToolCallContent]]] = UNSET
    locations: ES[Patch[list[ToolCallLocation]]] = UNSET
    raw_input: E[Omit[Raw]] = UNSET
    raw_output: E[Omit[Raw]] = UNSET
    capabilities: EN[Patch[ToolCallCapabilities]] = UNSET


class ToolCallUpdate(
    ToolCallPatch, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="tool_call_update"
):
    """The patch as an update of the session."""


class ToolCallContentChunk(
    WireStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="tool_call_content_chunk"
):
    """One more piece of content at the end of a tool call."""

    tool_call_id: ToolCallId
    content: ToolCallContent


class CancelToolCallRequest(WireStruct, frozen=True, kw_only=True):
    """Stop one tool call, which must be advertising that it can be stopped."""

    session_id: SessionId
    tool_call_id: ToolCallId


class CancelToolCallResponse(WireStruct, frozen=True, kw_only=True):
    """Accepted; a final status follows as an update."""

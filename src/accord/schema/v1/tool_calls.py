"""Tool calls: announced by `tool_call`, changed by `tool_call_update`.

Must not know: the order of a call's life; `transcript/` and `agent/` keep that.
"""

from typing import TYPE_CHECKING, Literal, TypeAlias

from accord.schema.struct import ES, UNSET, E, Omit, Patch, Raw, Uint32, UnknownVariant, WireStruct
from accord.schema.v1.content import ContentBlock

ToolCallId: TypeAlias = str
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
ToolCallStatus: TypeAlias = Literal["pending", "in_progress", "completed", "failed"] | str


class Content(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="content"):
    """A content block as output of a tool."""

    content: ContentBlock


class Diff(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="diff"):
    """A change of one file; without `old_text` the file is new."""

    path: str
    old_text: E[Patch[str]] = UNSET
    new_text: str


class Terminal(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="terminal"):
    """The live output of a terminal that the client runs."""

    terminal_id: str


if TYPE_CHECKING:
    ToolCallContent: TypeAlias = Content | Diff | Terminal | UnknownVariant
else:
    ToolCallContent = Content | Diff | Terminal


class ToolCallLocation(WireStruct, frozen=True, kw_only=True):
    """A place that a tool works on; lines count from 1."""

    path: str
    line: E[Patch[Uint32]] = UNSET


class ToolCall(WireStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="tool_call"):
    """A new tool call; no kind means other, no status means pending."""

    tool_call_id: ToolCallId
    title: str
    name: E[Patch[str]] = UNSET
    kind: E[Omit[ToolKind]] = UNSET
    status: E[Omit[ToolCallStatus]] = UNSET
    content: ES[Omit[list[ToolCallContent]]] = UNSET
    locations: ES[Omit[list[ToolCallLocation]]] = UNSET
    raw_input: E[Omit[Raw]] = UNSET
    raw_output: E[Omit[Raw]] = UNSET


class ToolCallPatch(WireStruct, frozen=True, kw_only=True):
    """Changes of a tool call; what is absent or null stays, lists replace.

    As such it stands in a permission request; `ToolCallUpdate` is the same as a session update.
    """

    tool_call_id: ToolCallId
    kind: E[Patch[ToolKind]] = UNSET
    status: E[Patch[ToolCallStatus]] = UNSET
    title: E[Patch[str]] = UNSET
    name: E[Patch[str]] = UNSET
    content: ES[Patch[list[ToolCallContent]]] = UNSET
    locations: ES[Patch[list[ToolCallLocation]]] = UNSET
    raw_input: E[Omit[Raw]] = UNSET
    raw_output: E[Omit[Raw]] = UNSET


class ToolCallUpdate(
    ToolCallPatch, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="tool_call_update"
):
    """Changes of a tool call, sent as a session update."""

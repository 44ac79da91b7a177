"""Tool calls of the 2026-02 draft: their announcement, their updates and what they put out.

A tool call has one output, not a list of them, and seven statuses, of which four are final.
"""

from typing import TYPE_CHECKING, Literal, TypeAlias

from accord.schema.struct import (
    UNSET,
    Int64,
    Omit,
    Patch,
    Raw,
    Uint32,
    UnknownVariant,
    WireStruct,
    Z,
)

ToolCallStatus: TypeAlias = (
    Literal[
        "pending",
        "awaiting_permission",
        "in_progress",
        "completed",
        "failed",
        "denied",
        "cancelled",
    ]
    | str
)


class Location(WireStruct, frozen=True, kw_only=True):
    """A place in a file that the call is about; lines and columns count from 1."""

    path: str
    line: Z[Omit[Uint32]] = UNSET
    column: Z[Omit[Uint32]] = UNSET
    end_line: Z[Omit[Uint32]] = UNSET
    end_column: Z[Omit[Uint32]] = UNSET


class TextOutput(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """Text for the user."""

    text: str


class DiffHunk(WireStruct, frozen=True, kw_only=True):
    """One hunk of a unified diff."""

    old_start: Uint32
    old_lines: Uint32
    new_start: Uint32
    new_lines: Uint32
    content: str


class DiffOutput(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="diff"):
    """A change to one file."""

    path: str
    hunks: list[DiffHunk]


class TerminalOutput(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="terminal"):
    """A command and what became of it; a command that still runs has no exit code."""

    terminal_id: str
    command: Z[Omit[str]] = UNSET
    exit_code: Patch[Int64] = UNSET
    stdout: Z[Omit[str]] = UNSET
    stderr: Z[Omit[str]] = UNSET


if TYPE_CHECKING:
    ToolCallOutput: TypeAlias = TextOutput | DiffOutput | TerminalOutput | UnknownVariant
else:
    ToolCallOutput = TextOutput | DiffOutput | TerminalOutput


class ToolCall(WireStruct, frozen=True, kw_only=True):
    """Announces a call.  The draft's own examples leave the status out; then it is pending."""

    id: str
    tool: str
    input: Raw
    status: Z[Omit[ToolCallStatus]] = UNSET
    requires_permission: Z[Omit[bool]] = UNSET
    location: Z[Omit[Location]] = UNSET


class ToolCallUpdate(WireStruct, frozen=True, kw_only=True):
    """Moves a call on; the duration is in milliseconds."""

    id: str
    status: Z[Omit[ToolCallStatus]] = UNSET
    output: Z[Omit[ToolCallOutput]] = UNSET
    error: Z[Omit[str]] = UNSET
    duration: Z[Omit[int | float]] = UNSET

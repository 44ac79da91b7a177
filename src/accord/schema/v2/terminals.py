"""Terminals that the agent owns and the client shows.

Bytes are bytes here: each chunk was encoded alone, so each is decoded alone, and no chunk need
end where a character does.
"""

from typing import Annotated

from msgspec import Meta

from accord.schema.struct import EN, UNSET, E, Int64, Patch, WireStruct
from accord.schema.v2.capabilities import TerminalCapabilities
from accord.schema.v2.identifiers import SessionId, TerminalId

Extent = Annotated[int, Meta(ge=1, le=2**16 - 1)]


class TerminalOutput(WireStruct, frozen=True, kw_only=True):
    """All bytes to keep; whatever was there before is gone."""

    data: bytes


class TerminalExitStatus(WireStruct, frozen=True, kw_only=True):
    """The process has ended, even when nothing else is known about that."""

    exit_code: E[Patch[Int64]] = UNSET
    signal: E[Patch[str]] = UNSET


class TerminalSize(WireStruct, frozen=True, kw_only=True):
    """The grid that the output was written for."""

    cols: Extent
    rows: Extent


class TerminalUpdate(
    WireStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="terminal_update"
):
    """Creates the terminal when its id is new, patches it otherwise.

    Capabilities that make no sense are read as null: better no button than a wrong one.
    """

    terminal_id: TerminalId
    command: E[Patch[str]] = UNSET
    cwd: E[Patch[str]] = UNSET
    output: E[Patch[TerminalOutput]] = UNSET
    exit_status: E[Patch[TerminalExitStatus]] = UNSET
    size: E[Patch[TerminalSize]] = UNSET
    capabilities: EN[Patch[TerminalCapabilities]] = UNSET


class TerminalOutputChunk(
    WireStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="terminal_output_chunk"
):
    """More bytes at the end of a terminal's output."""

    terminal_id: TerminalId
    data: bytes


class CancelTerminalRequest(WireStruct, frozen=True, kw_only=True):
    """Stop a terminal's process; the terminal stays.  It must be advertising that."""

    session_id: SessionId
    terminal_id: TerminalId


class CancelTerminalResponse(WireStruct, frozen=True, kw_only=True):
    """Accepted; the exit status follows as an update."""

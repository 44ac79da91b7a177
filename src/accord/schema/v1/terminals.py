"""`terminal/*`: commands that the client runs for the agent."""

from typing import TypeAlias

from accord.schema.struct import (
    UNSET,
    AbsolutePath,
    E,
    Omit,
    Patch,
    Uint32,
    Uint64,
    WireStruct,
    Z,
    check_uint64,
)
from accord.schema.v1.mcp import EnvVariable

TerminalId: TypeAlias = str


class TerminalExitStatus(WireStruct, frozen=True, kw_only=True):
    """How a command ended: by a code or by a signal."""

    exit_code: E[Patch[Uint32]] = UNSET
    signal: E[Patch[str]] = UNSET


class CreateTerminalRequest(WireStruct, frozen=True, kw_only=True):
    """Start a command; over the limit the oldest output is dropped."""

    session_id: str
    command: str
    args: Z[Omit[list[str]]] = UNSET
    env: Z[Omit[list[EnvVariable]]] = UNSET
    cwd: Patch[AbsolutePath] = UNSET
    output_byte_limit: Patch[Uint64] = UNSET

    def __post_init__(self) -> None:
        check_uint64(self.output_byte_limit)


class CreateTerminalResponse(WireStruct, frozen=True, kw_only=True):
    """The terminal, which is running."""

    terminal_id: TerminalId


class TerminalOutputRequest(WireStruct, frozen=True, kw_only=True):
    """Ask for the output so far."""

    session_id: str
    terminal_id: TerminalId


class TerminalOutputResponse(WireStruct, frozen=True, kw_only=True):
    """The output so far, and how the command ended if it has."""

    output: str
    truncated: bool
    exit_status: E[Patch[TerminalExitStatus]] = UNSET


class WaitForTerminalExitRequest(WireStruct, frozen=True, kw_only=True):
    """Wait until the command ends."""

    session_id: str
    terminal_id: TerminalId


class WaitForTerminalExitResponse(WireStruct, frozen=True, kw_only=True):
    """How the command ended."""

    exit_code: E[Patch[Uint32]] = UNSET
    signal: E[Patch[str]] = UNSET


class KillTerminalRequest(WireStruct, frozen=True, kw_only=True):
    """Stop the command; its output can still be read."""

    session_id: str
    terminal_id: TerminalId


class KillTerminalResponse(WireStruct, frozen=True, kw_only=True):
    """The command is stopped."""


class ReleaseTerminalRequest(WireStruct, frozen=True, kw_only=True):
    """Stop the command and forget the terminal."""

    session_id: str
    terminal_id: TerminalId


class ReleaseTerminalResponse(WireStruct, frozen=True, kw_only=True):
    """The id is no longer valid."""

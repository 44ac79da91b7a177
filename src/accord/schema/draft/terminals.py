"""The client's terminals in the 2026-02 draft.  These requests name no session.

Output is pushed: the client calls `terminal/output` on the agent, where the official versions
have the agent poll under the same name.
"""

from typing import Literal, TypeAlias

from accord.schema.struct import UNSET, Int64, Omit, Uint64, WireStruct, Z

OutputStream: TypeAlias = Literal["stdout", "stderr"] | str


class CreateTerminalRequest(WireStruct, frozen=True, kw_only=True):
    """Starts a command; the timeout is in milliseconds."""

    command: str
    args: Z[Omit[list[str]]] = UNSET
    cwd: Z[Omit[str]] = UNSET
    env: Z[Omit[dict[str, str]]] = UNSET
    timeout: Z[Omit[Uint64]] = UNSET


class CreateTerminalResponse(WireStruct, frozen=True, kw_only=True):
    """The terminal in which it runs."""

    terminal_id: str
    pid: Z[Omit[Uint64]] = UNSET


class TerminalOutputRequest(WireStruct, frozen=True, kw_only=True):
    """Hands new output to the agent.  Some clients send it as a notification."""

    terminal_id: str
    data: str
    stream: Z[Omit[OutputStream]] = UNSET


class TerminalOutputResponse(WireStruct, frozen=True, kw_only=True):
    """False when the agent knows no such terminal."""

    received: bool


class WaitForTerminalExitRequest(WireStruct, frozen=True, kw_only=True):
    """Waits for the command's end, at most this many milliseconds."""

    terminal_id: str
    timeout: Z[Omit[Uint64]] = UNSET


class WaitForTerminalExitResponse(WireStruct, frozen=True, kw_only=True):
    """How the command ended, or that it did not in time."""

    exit_code: Int64
    signal: Z[Omit[str]] = UNSET
    timed_out: Z[Omit[bool]] = UNSET


class KillTerminalRequest(WireStruct, frozen=True, kw_only=True):
    """Ends the command with a signal, SIGTERM unless told otherwise; `force` means SIGKILL."""

    terminal_id: str
    signal: Z[Omit[str]] = UNSET
    force: Z[Omit[bool]] = UNSET


class KillTerminalResponse(WireStruct, frozen=True, kw_only=True):
    """Whether there was something to end."""

    killed: bool


class ReleaseTerminalRequest(WireStruct, frozen=True, kw_only=True):
    """Gives the terminal back."""

    terminal_id: str


class ReleaseTerminalResponse(WireStruct, frozen=True, kw_only=True):
    """Whether there was a terminal to give back."""

    released: bool

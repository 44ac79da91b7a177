"""This computer: files opened without races, process groups, terminals.

For agents and clients alike.  It knows no wire types and no methods of the protocol; plain
values go in and out, and what goes wrong is an error of `failures.py` or `SpawnFailed`.
"""

from accord.machine.failures import (
    AccessDenied,
    AlreadyThere,
    FileFailure,
    FileMissing,
    MachineError,
    NotAFile,
    NotText,
    OutsideRoots,
    TerminalUnknown,
    TooLarge,
    TooManyTerminals,
)
from accord.machine.files import Files
from accord.machine.groups import ProcessGroup, live_groups, track
from accord.machine.local_files import FILE_BYTES_MAX, FileInfo, LocalFiles
from accord.machine.output import OUTPUT_BYTES_DEFAULT, OUTPUT_BYTES_MAX, OutputBuffer
from accord.machine.overlay import Overlay
from accord.machine.process import (
    KILL_SECONDS,
    STDIN_SECONDS,
    TERMINATE_SECONDS,
    Exit,
    GroupProcess,
    environment,
    spawn,
)
from accord.machine.roots import Roots
from accord.machine.terminal import (
    TERMINALS_MAX,
    Terminal,
    TerminalOutput,
    Terminals,
    command_line,
)

__all__ = [
    "FILE_BYTES_MAX",
    "KILL_SECONDS",
    "OUTPUT_BYTES_DEFAULT",
    "OUTPUT_BYTES_MAX",
    "STDIN_SECONDS",
    "TERMINALS_MAX",
    "TERMINATE_SECONDS",
    "AccessDenied",
    "AlreadyThere",
    "Exit",
    "FileFailure",
    "FileInfo",
    "FileMissing",
    "Files",
    "GroupProcess",
    "LocalFiles",
    "MachineError",
    "NotAFile",
    "NotText",
    "OutputBuffer",
    "OutsideRoots",
    "Overlay",
    "ProcessGroup",
    "Roots",
    "Terminal",
    "TerminalOutput",
    "TerminalUnknown",
    "Terminals",
    "TooLarge",
    "TooManyTerminals",
    "command_line",
    "environment",
    "live_groups",
    "spawn",
    "track",
]

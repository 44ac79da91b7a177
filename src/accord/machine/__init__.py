"""This computer: files opened without races, process groups, terminals.

For agents and clients alike.  It knows no wire types and no methods of the protocol; plain
values go in and out, and what goes wrong is an error of `errors.py` or `SpawnFailed`.

A module is imported when one of its names is first used: an agent that reads one file does not
need processes and terminals, and every import delays its start.
"""

from typing import TYPE_CHECKING

from accord.lazy_names import on_first_use

if TYPE_CHECKING:
    from accord.machine.errors import (
        AccessDenied,
        AlreadyThere,
        FileFailure,
        FileMissing,
        MachineError,
        NoSuchFile,
        NotAFile,
        NotText,
        OutsideRoots,
        TerminalUnknown,
        TooLarge,
        TooManyTerminals,
    )
    from accord.machine.filesystem.async_files import Files
    from accord.machine.filesystem.local_files import FILE_BYTES_MAX, FileInfo, LocalFiles
    from accord.machine.filesystem.roots import Roots
    from accord.machine.filesystem.unsaved_text import Overlay
    from accord.machine.processes.child_process import (
        KILL_SECONDS,
        STDIN_SECONDS,
        TERMINATE_SECONDS,
        Exit,
        GroupProcess,
        environment,
        spawn,
    )
    from accord.machine.processes.descendants import adopt_orphans, end_descendants, kept
    from accord.machine.processes.process_groups import ProcessGroup, live_groups, track
    from accord.machine.terminals.output_buffer import (
        OUTPUT_BYTES_DEFAULT,
        OUTPUT_BYTES_MAX,
        OutputBuffer,
    )
    from accord.machine.terminals.terminals import (
        TERMINALS_MAX,
        Terminal,
        TerminalOutput,
        Terminals,
        command_line,
    )

_PLACES = {
    "accord.machine.processes.descendants": ("adopt_orphans", "end_descendants", "kept"),
    "accord.machine.errors": (
        "AccessDenied",
        "AlreadyThere",
        "FileFailure",
        "FileMissing",
        "MachineError",
        "NoSuchFile",
        "NotAFile",
        "NotText",
        "OutsideRoots",
        "TerminalUnknown",
        "TooLarge",
        "TooManyTerminals",
    ),
    "accord.machine.filesystem.async_files": ("Files",),
    "accord.machine.processes.process_groups": ("ProcessGroup", "live_groups", "track"),
    "accord.machine.filesystem.local_files": ("FILE_BYTES_MAX", "FileInfo", "LocalFiles"),
    "accord.machine.terminals.output_buffer": (
        "OUTPUT_BYTES_DEFAULT",
        "OUTPUT_BYTES_MAX",
        "OutputBuffer",
    ),
    "accord.machine.filesystem.unsaved_text": ("Overlay",),
    "accord.machine.processes.child_process": (
        "Exit",
        "GroupProcess",
        "KILL_SECONDS",
        "STDIN_SECONDS",
        "TERMINATE_SECONDS",
        "environment",
        "spawn",
    ),
    "accord.machine.filesystem.roots": ("Roots",),
    "accord.machine.terminals.terminals": (
        "TERMINALS_MAX",
        "Terminal",
        "TerminalOutput",
        "Terminals",
        "command_line",
    ),
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}

__getattr__ = on_first_use(__name__, _PLACE_OF)


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
    "NoSuchFile",
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
    "adopt_orphans",
    "command_line",
    "end_descendants",
    "environment",
    "kept",
    "live_groups",
    "spawn",
    "track",
]

"""What the updates of a session add up to: one view for v1, v2 and the draft dialect.

Pure.  `Transcript` takes the updates; everything else here is what it shows.
"""

from accord.transcript.message import Message, Role, SessionMessage
from accord.transcript.notice import Compaction, Notice
from accord.transcript.options import Choice, Command, ConfigOption, Mode, Modes
from accord.transcript.plan import MAIN_PLAN_ID, Plan, PlanEntry
from accord.transcript.session_facts import Cost, SessionInfo, Usage
from accord.transcript.state import BackgroundItem, State
from accord.transcript.subagent import Subagent
from accord.transcript.terminal import TERMINAL_BYTES_MAX, ExitStatus, Terminal, TerminalSize
from accord.transcript.tool_call import FileDiff, Location, ToolCall
from accord.transcript.transcript import Dialect, Transcript
from accord.transcript.update import KINDS, Entry, Item, Kind, Update

__all__ = [
    "KINDS",
    "MAIN_PLAN_ID",
    "TERMINAL_BYTES_MAX",
    "BackgroundItem",
    "Choice",
    "Command",
    "Compaction",
    "ConfigOption",
    "Cost",
    "Dialect",
    "Entry",
    "ExitStatus",
    "FileDiff",
    "Item",
    "Kind",
    "Location",
    "Message",
    "Mode",
    "Modes",
    "Notice",
    "Plan",
    "PlanEntry",
    "Role",
    "SessionInfo",
    "SessionMessage",
    "State",
    "Subagent",
    "Terminal",
    "TerminalSize",
    "ToolCall",
    "Transcript",
    "Update",
    "Usage",
]

"""What the updates of a session add up to: one view for v1 and v2.

Pure.  `Transcript` takes the updates; everything else here is what it shows.
"""

from accord.transcript.changes import (
    KINDS,
    Change,
    CommandsChanged,
    CompactionChanged,
    ConfigOptionsChanged,
    Entry,
    Item,
    Kind,
    MessageChanged,
    ModeChanged,
    NoticeCame,
    PlanChanged,
    SessionInfoChanged,
    SessionMessageChanged,
    StateChanged,
    SubagentChanged,
    TerminalChanged,
    ThoughtChanged,
    ToolCallChanged,
    UnknownCame,
    Update,
    UsageChanged,
    UserMessageChanged,
)
from accord.transcript.items.message import Message, Role, SessionMessage
from accord.transcript.items.notice_and_compaction import Compaction, Notice
from accord.transcript.items.options_and_commands import Choice, Command, ConfigOption, Mode, Modes
from accord.transcript.items.plan import MAIN_PLAN_ID, Plan, PlanEntry
from accord.transcript.items.session_info_and_usage import Cost, SessionInfo, Usage
from accord.transcript.items.session_state import BackgroundItem, State
from accord.transcript.items.subagent import Subagent
from accord.transcript.items.terminal import TERMINAL_BYTES_MAX, ExitStatus, Terminal, TerminalSize
from accord.transcript.items.tool_call import FileDiff, Location, ToolCall
from accord.transcript.transcript import Dialect, Transcript

__all__ = [
    "KINDS",
    "MAIN_PLAN_ID",
    "TERMINAL_BYTES_MAX",
    "BackgroundItem",
    "Change",
    "Choice",
    "Command",
    "CommandsChanged",
    "Compaction",
    "CompactionChanged",
    "ConfigOption",
    "ConfigOptionsChanged",
    "Cost",
    "Dialect",
    "Entry",
    "ExitStatus",
    "FileDiff",
    "Item",
    "Kind",
    "Location",
    "Message",
    "MessageChanged",
    "Mode",
    "ModeChanged",
    "Modes",
    "Notice",
    "NoticeCame",
    "Plan",
    "PlanChanged",
    "PlanEntry",
    "Role",
    "SessionInfo",
    "SessionInfoChanged",
    "SessionMessage",
    "SessionMessageChanged",
    "State",
    "StateChanged",
    "Subagent",
    "SubagentChanged",
    "Terminal",
    "TerminalChanged",
    "TerminalSize",
    "ThoughtChanged",
    "ToolCall",
    "ToolCallChanged",
    "Transcript",
    "UnknownCame",
    "Update",
    "Usage",
    "UsageChanged",
    "UserMessageChanged",
]

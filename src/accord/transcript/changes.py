"""What one update did to the transcript, in words that are the same for every version.

`Update` is one of a family of classes, one per kind, so that `update.kind == "tool_call"` and
`isinstance(update, ToolCallChanged)` both tell a type checker what `update.item` is.
"""

from collections.abc import Sequence
from typing import ClassVar, Generic, Literal, TypeAlias, TypeVar, get_args

from accord.schema.struct import LightStruct, UnknownVariant
from accord.transcript.items.message import Message, SessionMessage
from accord.transcript.items.notice_and_compaction import Compaction, Notice
from accord.transcript.items.options_and_commands import Command, ConfigOption, Modes
from accord.transcript.items.plan import Plan
from accord.transcript.items.session_info_and_usage import SessionInfo, Usage
from accord.transcript.items.session_state import State
from accord.transcript.items.subagent import Subagent
from accord.transcript.items.terminal import Terminal
from accord.transcript.items.tool_call import ToolCall

Kind: TypeAlias = Literal[
    "user_message",
    "message",
    "thought",
    "tool_call",
    "plan",
    "terminal",
    "commands",
    "mode",
    "config_options",
    "session_info",
    "usage",
    "notice",
    "compaction",
    "state",
    "subagent",
    "session_message",
    "unknown",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

Entry: TypeAlias = (
    Message
    | ToolCall
    | Plan
    | Terminal
    | Notice
    | Compaction
    | Subagent
    | SessionMessage
    | UnknownVariant
)
Item: TypeAlias = (
    Entry | Modes | SessionInfo | Usage | State | Sequence[Command] | Sequence[ConfigOption]
)

ItemT = TypeVar("ItemT")


class Change(LightStruct, Generic[ItemT]):
    """One change: its kind, the entity that it changed, the text that it brought.

    `item` is the entity itself, not a copy: it goes on changing.  `text` is what a chunk added,
    or the whole text where a message was replaced, and empty where no text is new; the echo of
    a prompt that the transcript already shows brings none.  `wire` is the struct as received,
    None where the client itself knew, and where several updates were joined for a consumer that
    fell behind.  With `replaces` the text stands for all that the item said before, and an empty
    one means that it says nothing any more.

    Every subclass has its `kind`, a word of `KINDS`.
    """

    item: ItemT
    text: str
    wire: object
    replaces: bool = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.item!r}, {self.text!r})"


class UserMessageChanged(Change[Message]):
    """A message of the user, sent here or elsewhere."""

    kind: ClassVar[Literal["user_message"]] = "user_message"


class MessageChanged(Change[Message]):
    """A message of the agent."""

    kind: ClassVar[Literal["message"]] = "message"


class ThoughtChanged(Change[Message]):
    """The agent thought something."""

    kind: ClassVar[Literal["thought"]] = "thought"


class ToolCallChanged(Change[ToolCall]):
    """A tool call began, went on or ended."""

    kind: ClassVar[Literal["tool_call"]] = "tool_call"


class PlanChanged(Change[Plan]):
    """A plan was made, changed or removed."""

    kind: ClassVar[Literal["plan"]] = "plan"


class TerminalChanged(Change[Terminal]):
    """A command started, printed or ended; `text` is what it printed."""

    kind: ClassVar[Literal["terminal"]] = "terminal"


class ToolCallWithTerminals(ToolCallChanged):
    """A tool call of a v1 agent that reports its own terminals beside it.

    `terminals` has what became of each.  A client hands them on behind the call, one by one.
    """

    terminals: tuple[TerminalChanged, ...] = ()


class CommandsChanged(Change[Sequence[Command]]):
    """There are other slash commands."""

    kind: ClassVar[Literal["commands"]] = "commands"


class ModeChanged(Change[Modes]):
    """The agent works in another mode."""

    kind: ClassVar[Literal["mode"]] = "mode"


class ConfigOptionsChanged(Change[Sequence[ConfigOption]]):
    """The options or their values are others."""

    kind: ClassVar[Literal["config_options"]] = "config_options"


class SessionInfoChanged(Change[SessionInfo]):
    """The session has another title or date."""

    kind: ClassVar[Literal["session_info"]] = "session_info"


class UsageChanged(Change[Usage]):
    """The context is fuller, or emptier."""

    kind: ClassVar[Literal["usage"]] = "usage"


class NoticeCame(Change[Notice]):
    """A notice of the agent."""

    kind: ClassVar[Literal["notice"]] = "notice"


class CompactionChanged(Change[Compaction]):
    """The agent shortens what it remembers."""

    kind: ClassVar[Literal["compaction"]] = "compaction"


class StateChanged(Change[State]):
    """The agent works, waits or is done."""

    kind: ClassVar[Literal["state"]] = "state"


class SubagentChanged(Change[Subagent]):
    """A child session began or changed."""

    kind: ClassVar[Literal["subagent"]] = "subagent"


class SessionMessageChanged(Change[SessionMessage]):
    """Sessions wrote to each other."""

    kind: ClassVar[Literal["session_message"]] = "session_message"


class UnknownCame(Change[UnknownVariant]):
    """Something that we do not know."""

    kind: ClassVar[Literal["unknown"]] = "unknown"


Update: TypeAlias = (
    UserMessageChanged
    | MessageChanged
    | ThoughtChanged
    | ToolCallChanged
    | PlanChanged
    | TerminalChanged
    | CommandsChanged
    | ModeChanged
    | ConfigOptionsChanged
    | SessionInfoChanged
    | UsageChanged
    | NoticeCame
    | CompactionChanged
    | StateChanged
    | SubagentChanged
    | SessionMessageChanged
    | UnknownCame
)

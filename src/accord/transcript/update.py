"""What one update did to the transcript, in words that are the same for every version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from accord.schema.struct import UnknownVariant
from accord.transcript.message import Message, SessionMessage
from accord.transcript.notice import Compaction, Notice
from accord.transcript.options import Command, ConfigOption, Modes
from accord.transcript.plan import Plan
from accord.transcript.session_facts import SessionInfo, Usage
from accord.transcript.state import State
from accord.transcript.subagent import Subagent
from accord.transcript.terminal import Terminal
from accord.transcript.tool_call import ToolCall

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


class Update:
    """One change: its kind, the entity that it changed, the text that it brought.

    `item` is the entity itself, not a copy: it goes on changing.  `text` is what a chunk added,
    or the whole text where a message was replaced, and empty where no text is new; the echo of
    a prompt that the transcript already shows brings none.  `wire` is the struct as received.
    """

    __slots__ = ("item", "kind", "text", "wire")

    def __init__(self, kind: Kind, item: Item, text: str, wire: object) -> None:
        self.kind: Kind = kind
        self.item: Item = item
        self.text = text
        self.wire = wire

    def __repr__(self) -> str:
        return f"Update({self.kind!r}, {self.item!r}, {self.text!r})"


__all__ = ["KINDS", "Entry", "Item", "Kind", "Update"]

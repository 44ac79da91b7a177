"""The block type of each kind of entry.

A table of names: the module of a block is imported when the first entry of its kind is seen, so
that what a conversation does not have costs nothing at the start.  A kind that has no block of its
own is shown generically and never dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias

from accord.schema.struct import UnknownVariant
from accord.terminal.model.chat import Chat, Entry, Remark
from accord.terminal.render.block import Block
from accord.transcript import (
    Compaction,
    Message,
    Notice,
    Plan,
    SessionMessage,
    Subagent,
    Terminal,
    ToolCall,
)

# Called with the entry and the chat.
Factory: TypeAlias = Callable[[Any, Chat], Block]

_HERE = "accord.terminal.render.entries"
FACTORIES: dict[type[Any], tuple[str, str]] = {
    Message: (f"{_HERE}.message", "message_block"),
    Plan: (f"{_HERE}.plan", "plan_block"),
    Notice: (f"{_HERE}.notices", "notice_block"),
    Compaction: (f"{_HERE}.notices", "compaction_block"),
    SessionMessage: (f"{_HERE}.notices", "session_message_block"),
    Remark: (f"{_HERE}.notices", "remark_block"),
    ToolCall: (f"{_HERE}.tool_card", "tool_card_block"),
    Terminal: (f"{_HERE}.command_output", "terminal_block"),
    Subagent: (f"{_HERE}.subagent", "subagent_block"),
    UnknownVariant: (f"{_HERE}.unknown", "unknown_block"),
}
"""By the type of the entry: the module and the function `(entry, chat) -> Block` in it."""

_GENERIC = (f"{_HERE}.unknown", "generic_block")
_loaded: dict[type[Any], Factory] = {}


def _load(place: tuple[str, str]) -> Factory:
    module, name = place
    found: Factory = getattr(import_module(module), name)
    return found


def block_of(entry: Entry, chat: Chat) -> Block:
    """The block that shows an entry."""
    kind: type[Any] = type(entry)
    make = _loaded.get(kind)
    if make is None:
        make = _loaded[kind] = _load(FACTORIES.get(kind, _GENERIC))
    return make(entry, chat)

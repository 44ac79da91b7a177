"""The transcript of a session: one view of everything that was said and done.

Updates of any version go in one by one, in the order in which they came; what they add up to can
be read at any time.  Pure: no clock, no I/O, no log, so the same updates give the same transcript.

Must not know: connections, and how prompts and answers travel.

Invariants
    * `apply` never raises for an update that was decoded, whatever it says.
    * The cost of an update does not depend on how much came before it.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from importlib import import_module
from math import isfinite
from operator import attrgetter
from typing import Any, Literal, TypeAlias

from accord.schema.codec import Invalid, encode, to_python
from accord.schema.struct import UnknownVariant
from accord.transcript.changes import Entry, TerminalChanged, Update
from accord.transcript.entities import View
from accord.transcript.folds.session import Fold, Setup
from accord.transcript.items.content import Block
from accord.transcript.items.message import Message, SessionMessage
from accord.transcript.items.notice_and_compaction import Compaction, Notice
from accord.transcript.items.options_and_commands import Command, ConfigOption, Modes
from accord.transcript.items.plan import Plan
from accord.transcript.items.session_info_and_usage import SessionInfo, Usage
from accord.transcript.items.session_state import State
from accord.transcript.items.subagent import Subagent
from accord.transcript.items.terminal import ExitStatus, Terminal
from accord.transcript.items.tool_call import ToolCall

Dialect: TypeAlias = Literal["v1", "v2"]

# By the package of the wire structs.  Each is loaded when its first update comes, so that a
# connection pays for its own version only.
FOLD_MODULES: dict[str, str] = {
    "accord.schema.v1": "accord.transcript.folds.v1.conversation",
    "accord.schema.v2": "accord.transcript.folds.v2.conversation",
}
BETWEEN_MESSAGES = "\n\n"

_order = attrgetter("order")


class Transcript:
    """What the updates of one session add up to.

    The lists and entities are live: they grow and change as updates come.  They are to be read;
    only this class changes them.

    Guards: every entity appears once, in the order of first sight, and is found by its id.
    """

    def __init__(self, dialect: Dialect | None = None) -> None:
        """With a dialect, structs of another one are refused; without, all are taken."""
        self._package = None if dialect is None else f"accord.schema.{dialect}"
        self._folds: dict[type, Fold] = {UnknownVariant: View.add_unknown}
        self._setups: dict[type, Setup] = {}
        self._view = view = View()
        # What the user and the agent said.
        self.messages: Sequence[Message] = view.messages
        self.thoughts: Sequence[Message] = view.thoughts
        self.tool_calls: Sequence[ToolCall] = view.tool_calls
        self.terminals: Sequence[Terminal] = view.terminals
        self.notices: Sequence[Notice] = view.notices
        self.compactions: Sequence[Compaction] = view.compactions
        self.subagents: Sequence[Subagent] = view.subagents
        self.session_messages: Sequence[SessionMessage] = view.session_messages
        # What we did not understand, kept whole.
        self.unknown: Sequence[UnknownVariant] = view.unknown
        # All of the above and the plans, in the order of first sight.
        self.timeline: Sequence[Entry] = view.timeline
        self.commands: Sequence[Command] = view.commands
        self.config_options: Sequence[ConfigOption] = view.options.items
        self.modes: Modes = view.modes
        self.usage: Usage = view.usage
        self.info: SessionInfo = view.info
        self.state: State = view.state

    @property
    def folding(self) -> tuple[Mapping[type, Fold], View]:
        """Return the parts of `apply`, for callers on a hot path.

        It is `folds[type(update)](view, update)`; a type that is not among the folds yet is for
        `apply`, which loads them.
        """
        return self._folds, self._view

    def apply(self, update: object) -> Update | None:
        """Take one update; return what it changed, or None if it changed nothing.

        Raises:
            TypeError: the update belongs to another dialect.
        """
        fold = self._folds.get(type(update))
        if fold is None:
            self._load(update)
            fold = self._folds.get(type(update))
            if fold is None:
                raise TypeError(f"{type(update).__name__} is not an update of a session")
        return fold(self._view, update)

    def apply_permission_subject(self, tool_call: object) -> Update | None:
        """Take the tool call that a permission request is about, before anybody is asked.

        It counts as an update of that tool call.  The words of the request itself do not.
        """
        return self.apply(tool_call)

    def session_setup(self, result: object) -> None:
        """Take the answer to a request that opens a session, asks for its status or sets an option.

        Modes, options and commands are as it says; a state that an update has reported already
        is not touched.

        Raises:
            TypeError: this is no such answer of the transcript's dialect.
        """
        setup = self._setups.get(type(result))
        if setup is None:
            self._load(result)
            setup = self._setups.get(type(result))
            if setup is None:
                raise TypeError(f"{type(result).__name__} sets up no session")
        setup(self._view, result)

    def _load(self, struct: object) -> None:
        package = type(struct).__module__.rpartition(".")[0]
        if self._package not in (None, package) or package not in FOLD_MODULES:
            raise TypeError(f"{type(struct).__name__} is of another dialect than this transcript")
        module = import_module(FOLD_MODULES[package])
        self._folds.update(module.FOLDS)
        self._setups.update(module.SETUPS)

    # What is found by its id

    def tool_call(self, tool_call_id: str) -> ToolCall | None:
        """The tool call with this id."""
        return self._view.tool_calls_by_id.get(tool_call_id)

    def terminal(self, terminal_id: str) -> Terminal | None:
        """The terminal with this id."""
        return self._view.terminals_by_id.get(terminal_id)

    @property
    def plans(self) -> Sequence[Plan]:
        """The plans that were not removed, in the order of first sight."""
        return list(self._view.plans.values())

    @property
    def plan(self) -> Plan | None:
        """The plan that was reported last, or another one if that was removed."""
        plans = self._view.plans
        latest = plans.get(self._view.latest_plan_id or "")
        return next(reversed(plans.values()), None) if latest is None else latest

    # Prompts of ours

    def prompt_sent(
        self, blocks: Sequence[Block], message_id: str | None = None, *, queued: bool = False
    ) -> Message:
        """Show a prompt of ours at once.  Its echo, if one comes, becomes the same message.

        A prompt that is `queued` behind work that goes on does not end the message that is being
        written.
        """
        message = self._view.send_prompt(blocks, queued=queued)
        if message_id is not None:
            self._view.name_prompt(message, message_id)
        return message

    def prompt_inserted(self, message: Message, message_id: str) -> None:
        """The agent's answer named the id of our prompt, before its echo or after it."""
        self._view.name_prompt(message, message_id)

    def prompt_rejected(self, message: Message) -> None:
        """Drop a prompt that the agent refused."""
        self._view.discard_message(message)

    # Turns

    def turn_started(self) -> None:
        """What comes from here on belongs to a new turn."""
        self._view.turn_start = len(self._view.tool_calls)
        self._view.open = None

    def turn_cancelled(self) -> list[ToolCall]:
        """Mark the unfinished tool calls of this turn as cancelled, and return them.

        What the agent still reports about them is taken as ever.  Work that the agent lists as
        running in the background goes on, so it is not marked.
        """
        background = {
            item.item_id for item in self.state.background or () if item.type == "tool_call"
        }
        calls = [
            call
            for call in self._view.tool_calls[self._view.turn_start :]
            if not call.is_final and call.tool_call_id not in background
        ]
        for call in calls:
            call.cancelled = True
        return calls

    def mark(self) -> int:
        """A position between past and future messages."""
        return self._view.next_order

    def messages_since(self, mark: int, until: int | None = None) -> Sequence[Message]:
        """The user and agent messages that began after the mark, and before the other one."""
        messages = self._view.messages
        end = len(messages) if until is None else bisect_left(messages, until, key=_order)
        return messages[bisect_left(messages, mark, key=_order) : end]

    def text_since(self, mark: int, until: int | None = None) -> str:
        """Return the agent's messages between two marks, separated by blank lines."""
        return BETWEEN_MESSAGES.join(
            message.text
            for message in self.messages_since(mark, until)
            if message.role == "agent" and message.text
        )

    # Facts that the client knows, and no update reports

    def mode_selected(self, mode_id: str) -> None:
        """The agent agreed to our change of mode."""
        self._view.modes.current = mode_id

    def model_selected(self, model_id: str) -> None:
        """The agent agreed to our choice among models of the old form."""
        self._view.options.choose_model(model_id)

    def option_selected(self, option_id: str, value: str | bool) -> None:
        """The agent agreed to our value of an option and did not report the others."""
        self._view.options.choose(option_id, value)

    def terminal_started(
        self, terminal_id: str, command: str | None = None, cwd: str | None = None
    ) -> Update:
        """A terminal that the client runs for the agent is there."""
        terminal = self._view.terminal(terminal_id)
        terminal.patch(command=command, cwd=cwd)
        return TerminalChanged(terminal, "", None)

    def terminal_output(self, terminal_id: str, data: bytes) -> Update:
        """A terminal of the client wrote more."""
        terminal = self._view.terminal(terminal_id)
        return TerminalChanged(terminal, terminal.append(data), None)

    def terminal_exited(
        self, terminal_id: str, exit_code: int | None = None, signal: str | None = None
    ) -> Update:
        """The command in a terminal of the client ended."""
        terminal = self._view.terminal(terminal_id)
        terminal.patch(exit_status=ExitStatus(exit_code, signal))
        return TerminalChanged(terminal, "", None)

    def dump(self) -> dict[str, Any]:
        """Everything as plain values, for tests and tools; bytes are base64."""
        text = encode(
            {
                "timeline": [_dumped(entry) for entry in self.timeline],
                "messages": [message.dump() for message in self.messages],
                "thoughts": [thought.dump() for thought in self.thoughts],
                "toolCalls": [call.dump() for call in self.tool_calls],
                "plans": [plan.dump() for plan in self.plans],
                "terminals": [terminal.dump() for terminal in self.terminals],
                "notices": [notice.dump() for notice in self.notices],
                "compactions": [compaction.dump() for compaction in self.compactions],
                "subagents": [child.dump() for child in self.subagents],
                "sessionMessages": [message.dump() for message in self.session_messages],
                "unknown": self.unknown,
                "commands": [command.dump() for command in self.commands],
                "configOptions": [option.dump() for option in self.config_options],
                "modes": self.modes.dump(),
                "usage": self.usage.dump(),
                "info": self.info.dump(),
                "state": self.state.dump(),
            }
        )
        try:
            plain: dict[str, Any] = to_python(text)
        except Invalid:
            # A number that no float can hold stays text.
            plain = json.loads(text, parse_float=_number, parse_int=_number)
        return plain


def _number(text: str) -> int | float | str:
    value = float(text)
    if not isfinite(value):
        return text
    return int(text) if text.lstrip("-").isdigit() else value


def _dumped(entry: Entry) -> object:
    if isinstance(entry, UnknownVariant):
        return {"type": "unknown", "tag": entry.tag, "received": entry}
    return entry.dump()

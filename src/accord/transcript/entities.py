"""The core of a transcript: all entities, in order and by id.  Only the folds change it.

Must not know: wire structs.  What an update means is the business of the fold of its version.

Invariants
    * Every entity is in `timeline` once, at the place of its first sight.
    * A role and a message id name at most one message; two roles may use the same id.
    * No operation looks through what is already there, except from the end for a few entries.
"""

from __future__ import annotations

from collections.abc import Sequence

from accord.schema.struct import UnknownVariant
from accord.transcript.changes import Entry, UnknownCame, Update
from accord.transcript.items.content import Block, joined_text, text_of
from accord.transcript.items.message import Message, Role, SessionMessage
from accord.transcript.items.notice_and_compaction import Compaction, Notice
from accord.transcript.items.options_and_commands import Command, ConfigOptions, Modes
from accord.transcript.items.plan import Plan
from accord.transcript.items.session_info_and_usage import SessionInfo, Usage
from accord.transcript.items.session_state import State
from accord.transcript.items.subagent import Subagent
from accord.transcript.items.terminal import Terminal
from accord.transcript.items.tool_call import ToolCall
from accord.transcript.prompt_echoes import SentPrompts


class View:
    """Everything that a session's updates add up to.

    Guards: the lists are never replaced by other lists, so whoever holds one sees it grow.
    """

    def __init__(self) -> None:
        self.timeline: list[Entry] = []
        self.messages: list[Message] = []
        self.thoughts: list[Message] = []
        self.tool_calls: list[ToolCall] = []
        self.terminals: list[Terminal] = []
        self.notices: list[Notice] = []
        self.compactions: list[Compaction] = []
        self.subagents: list[Subagent] = []
        self.session_messages: list[SessionMessage] = []
        self.unknown: list[UnknownVariant] = []
        self.commands: list[Command] = []
        self.modes = Modes()
        self.options = ConfigOptions(self.modes)
        self.usage = Usage()
        self.info = SessionInfo()
        self.state = State()
        self.plans: dict[str, Plan] = {}
        self.latest_plan_id: str | None = None
        # The message that a chunk without an id continues; anything else that is shown ends it.
        self.open: Message | None = None
        # Where the current turn begins in `tool_calls`.
        self.turn_start = 0
        self.messages_by_id: dict[Role, dict[str, Message]] = {
            "user": {},
            "agent": {},
            "thought": {},
        }
        self.agent_messages = self.messages_by_id["agent"]
        self.agent_thoughts = self.messages_by_id["thought"]
        self.tool_calls_by_id: dict[str, ToolCall] = {}
        self.terminals_by_id: dict[str, Terminal] = {}
        self._compactions_by_id: dict[str, Compaction] = {}
        self._subagents_by_id: dict[str, Subagent] = {}
        self._session_messages_by_id: dict[str, SessionMessage] = {}
        self._prompts = SentPrompts()
        self.next_order = 0

    # Messages

    def message(self, role: Role, message_id: str) -> Message:
        """The message with this id, new if it is not there yet."""
        found = self.messages_by_id[role].get(message_id)
        return self.add_message(role, message_id) if found is None else found

    def chunk_target(self, role: Role, message_id: str | None) -> Message:
        """The message that a chunk goes to where ids are optional; it is open from then on."""
        if message_id is not None:
            target = self.message(role, message_id)
        elif self.open is not None and self.open.role == role:
            target = self.open
        else:
            target = self.add_message(role, None)
        self.open = target
        return target

    def add_message(self, role: Role, message_id: str | None) -> Message:
        """A new message at the end."""
        message = Message(role, message_id, self.next_order)
        self.next_order += 1
        (self.thoughts if role == "thought" else self.messages).append(message)
        self.timeline.append(message)
        if message_id is not None:
            self.messages_by_id[role][message_id] = message
        return message

    def discard_message(self, message: Message) -> None:
        """Take a user message out again.  It is looked for from the end, where it should be."""
        entries: list[Message] | list[Entry]
        for entries in (self.messages, self.timeline):
            for index in range(len(entries) - 1, -1, -1):
                if entries[index] is message:
                    del entries[index]
                    break
        if message.message_id is not None:
            self.messages_by_id["user"].pop(message.message_id, None)
        if self.open is message:
            self.open = None
        self._prompts.drop(message)

    # Prompts and their echoes

    def send_prompt(self, blocks: Sequence[Block], *, queued: bool = False) -> Message:
        """Show a prompt of our own; while it is queued, the message before it may go on."""
        message = self.add_message("user", None)
        message.is_own = True
        message.replace(blocks)
        self._prompts.add(message)
        if not queued:
            self.open = None
        return message

    def name_prompt(self, message: Message, message_id: str) -> None:
        """Note the agent's id for our prompt; its echo under that id is the prompt."""
        users = self.messages_by_id["user"]
        other = users.get(message_id)
        if other is not message:
            if message.message_id is not None:
                # What we took for its echo was another message with the same words.
                self.add_message("user", message.message_id).replace(message.blocks)
                self._prompts.drop(message)
                self._prompts.add(message)
            if other is not None:
                self._take_over(message, other)
            message.message_id = message_id
            users[message_id] = message
        prompt = self._prompts.of(message)
        if prompt is not None:
            prompt.is_confirmed = True

    def _take_over(self, message: Message, other: Message) -> None:
        self._prompts.drop(message)
        if other.is_own:
            # Two prompts with the same words: the echo was the other one's, which still waits.
            other.message_id = None
            self._prompts.add(other)
            return
        if other.blocks:
            message.replace(other.blocks)
        message.merge_meta(other)
        self.discard_message(other)

    def user_chunk(self, message_id: str | None, block: Block) -> tuple[Message, str]:
        """One block of a user message: the message that it belongs to, and what text is new."""
        message = self._known_user_message(message_id)
        if message is None:
            for prompt in self._prompts.unnamed():
                if prompt.takes(block):
                    self._bind(prompt.message, message_id)
                    self._end_echo_if_complete(prompt.message)
                    return prompt.message, ""
            message = self.chunk_target("user", message_id)
        self.open = message
        expected = self._prompts.of(message)
        if expected is None:
            message.append(block)
            return message, text_of(block)
        if expected.takes(block):
            self._end_echo_if_complete(message)
            return message, ""
        # It is not the text that we sent.  With the id of our prompt, the agent's text counts;
        # if we only guessed, it is another message, from its first block on.
        self._prompts.drop(message)
        if not expected.is_confirmed:
            message.message_id = None
            self._prompts.add(message)
            message = self.open = self.add_message("user", message_id)
        message.replace([*expected.seen, block])
        return message, message.text

    def user_message(self, message_id: str, blocks: Sequence[Block]) -> tuple[Message, str]:
        """A whole user message: the message that it is, and what text is new."""
        message = self.messages_by_id["user"].get(message_id)
        if message is None:
            for prompt in self._prompts.unnamed():
                if prompt.equals(blocks):
                    message = prompt.message
                    self._bind(message, message_id)
                    break
            else:
                message = self.add_message("user", message_id)
        self._prompts.drop(message)
        text = joined_text(blocks)
        is_news = text != message.text
        message.replace(blocks)
        return message, text if is_news else ""

    def _known_user_message(self, message_id: str | None) -> Message | None:
        if message_id is not None:
            return self.messages_by_id["user"].get(message_id)
        return self.open if self.open is not None and self.open.role == "user" else None

    def _bind(self, message: Message, message_id: str | None) -> None:
        self.open = message
        if message_id is not None:
            message.message_id = message_id
            self.messages_by_id["user"][message_id] = message

    def _end_echo_if_complete(self, message: Message) -> None:
        prompt = self._prompts.of(message)
        if prompt is not None and prompt.is_complete:
            self._prompts.drop(message)
            # What comes next without an id may be the echo of the next prompt.
            self.open = None

    # Everything else that has an id

    def tool_call(self, tool_call_id: str) -> ToolCall:
        """The tool call with this id, new if it is not there yet."""
        found = self.tool_calls_by_id.get(tool_call_id)
        if found is None:
            found = self.tool_calls_by_id[tool_call_id] = ToolCall(tool_call_id)
            self.tool_calls.append(found)
            self.timeline.append(found)
        return found

    def terminal(self, terminal_id: str) -> Terminal:
        """The terminal with this id, new if it is not there yet."""
        found = self.terminals_by_id.get(terminal_id)
        if found is None:
            found = self.terminals_by_id[terminal_id] = Terminal(terminal_id)
            self.terminals.append(found)
            self.timeline.append(found)
        return found

    def plan(self, plan_id: str) -> Plan:
        """The plan with this id, new if it is not there yet; it is the latest one now."""
        self.latest_plan_id = plan_id
        found = self.plans.get(plan_id)
        if found is None:
            found = self.plans[plan_id] = Plan(plan_id)
            self.timeline.append(found)
        return found

    def remove_plan(self, plan_id: str) -> Plan | None:
        """The plan is gone; it keeps its place in the timeline, marked."""
        plan = self.plans.pop(plan_id, None)
        if plan is not None:
            plan.removed = True
        return plan

    def compaction(self, compaction_id: str) -> Compaction:
        """The compaction with this id, new and in progress if it is not there yet."""
        found = self._compactions_by_id.get(compaction_id)
        if found is None:
            found = self._compactions_by_id[compaction_id] = Compaction(compaction_id)
            self.compactions.append(found)
            self.timeline.append(found)
        return found

    def subagent(self, session_id: str) -> Subagent:
        """The child session with this id, new if it is not there yet."""
        found = self._subagents_by_id.get(session_id)
        if found is None:
            found = self._subagents_by_id[session_id] = Subagent(session_id)
            self.subagents.append(found)
            self.timeline.append(found)
        return found

    def session_message(self, message_id: str) -> SessionMessage:
        """The message between sessions with this id, new if it is not there yet."""
        found = self._session_messages_by_id.get(message_id)
        if found is None:
            found = self._session_messages_by_id[message_id] = SessionMessage(message_id)
            self.session_messages.append(found)
            self.timeline.append(found)
        return found

    def add_notice(self, notice: Notice) -> Notice:
        """A notice at the end."""
        self.notices.append(notice)
        self.timeline.append(notice)
        return notice

    def add_unknown(self, variant: UnknownVariant) -> Update:
        """Something that we do not know, kept whole."""
        self.unknown.append(variant)
        self.timeline.append(variant)
        self.open = None
        return UnknownCame(variant, "", variant)

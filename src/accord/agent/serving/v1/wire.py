"""The agent's updates, questions and options in v1.

A message is a series of chunks, and there is one plan.  `tool_calls.py` has the tool calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from accord.agent.serving.stable_plans import StablePlans
from accord.agent.serving.v1.tool_calls import V1Calls, known_word
from accord.agent.serving.wire import Features, HeldAgain, OfficialWire
from accord.agent.tools.permission_request import PermissionAsk
from accord.schema import v1, v2
from accord.schema.codec import decode, encode
from accord.schema.struct import UNSET
from accord.translate.content_blocks import to_v1

# v1 has no status for dropped entries.  As `completed` they would look done, and without them the
# plan would look finished; as `pending` editors show them unticked and without a spinner.
_ENTRY_STATUSES = {"cancelled": "pending"}
# The statuses that both versions have.
_ALIKE = frozenset({"pending", "in_progress", "completed"})
_PRIORITIES = frozenset({"high", "medium", "low"})


def option_to_v1(option: v2.SessionConfigOption) -> v1.SessionConfigOption | None:
    """The option in v1's names; None for a type that v1 does not have."""
    if isinstance(option, v2.SessionConfigBoolean):
        return v1.SessionConfigBoolean(
            id=option.config_id,
            name=option.name,
            description=option.description,
            category=option.category,
            current_value=option.current_value,
            meta=option.meta,
        )
    if isinstance(option, v2.SessionConfigSelect):
        return v1.SessionConfigSelect(
            id=option.config_id,
            name=option.name,
            description=option.description,
            category=option.category,
            current_value=option.current_value,
            options=[_option_entry(item) for item in option.options],
            meta=option.meta,
        )
    return None


def _option_entry(item: v2.SessionConfigSelectEntry) -> v1.SessionConfigSelectEntry:
    if item.group_id is UNSET:
        return v1.SessionConfigSelectEntry(
            value=item.value, name=item.name, description=item.description, meta=item.meta
        )
    members = [] if item.options is UNSET else item.options
    return v1.SessionConfigSelectEntry(
        group=item.group_id,
        name=item.name,
        options=[
            v1.SessionConfigSelectOption(
                value=member.value,
                name=member.name,
                description=member.description,
                meta=member.meta,
            )
            for member in members
        ],
        meta=item.meta,
    )


class V1Wire(OfficialWire):
    """Encodes updates and questions for v1, and remembers what v1 needs repeated."""

    version = 1
    schema = v1
    held_again: HeldAgain = "none"
    bounds_queue = True
    cancels_tool_calls = False
    has_states = False

    def __init__(self, features: Features) -> None:
        super().__init__(features)
        self._calls = V1Calls()
        self._modes: dict[str, str] = {}
        self._plans = StablePlans()
        self._sent_plans: dict[str, bytes] = {}

    @cached_property
    def _alike(self) -> frozenset[Any]:
        return frozenset({v2.AgentMessageChunk, v2.AgentThoughtChunk, v2.UserMessageChunk})

    @cached_property
    def _translations(self) -> dict[Any, Callable[[str, Any], Sequence[Any]]]:
        """How each update is translated; made with the first update, since it loads types."""
        features = self.features
        translations: dict[Any, Callable[[str, Any], Sequence[Any]]] = {
            v2.AgentMessage: self._message(v1.AgentMessageChunk),
            v2.AgentThought: self._message(v1.AgentThoughtChunk),
            v2.UserMessage: self._message(v1.UserMessageChunk),
            v2.AgentMessageChunk: self._chunk(v1.AgentMessageChunk),
            v2.AgentThoughtChunk: self._chunk(v1.AgentThoughtChunk),
            v2.UserMessageChunk: self._chunk(v1.UserMessageChunk),
            v2.ToolCallUpdate: self._calls.tool_call,
            v2.ToolCallContentChunk: self._calls.tool_content,
            v2.TerminalUpdate: self._calls.terminal,
            v2.TerminalOutputChunk: self._calls.terminal_output,
            v2.PlanUpdate: self._plan_update if features.plans else self._plan,
            v2.PlanRemoved: self._same(v1.PlanRemoved) if features.plans else self._plan,
            v2.AvailableCommandsUpdate: self._commands,
            v2.ConfigOptionUpdate: self._options,
            v2.SessionInfoUpdate: self._same(v1.SessionInfoUpdate),
            v2.UsageUpdate: self._same(v1.UsageUpdate),
        }
        if features.notices:
            translations[v2.Notice] = self._same(v1.Notice)
        if features.subagents:
            translations[v2.SubagentUpdate] = self._same(v1.SubagentUpdate)
            translations[v2.SessionMessage] = self._same(v1.SessionMessage)
            translations[v2.SessionMessageChunk] = self._same(v1.SessionMessageChunk)
        if features.compaction:
            translations[v2.CompactionUpdate] = self._same(v1.CompactionUpdate)
            translations[v2.CompactionSummaryChunk] = self._same(v1.CompactionSummaryChunk)
        return translations

    def told(self, session_id: str, update: Any) -> Sequence[Any]:
        """The updates of v1 for an update of v2."""
        kind = type(update)
        if kind in self._alike:
            if type(update.content) is v2.TextContent:
                # Text chunks are identical in both versions.
                return (update,)
        elif kind is v2.AgentMessage and isinstance(update.content, list):
            # The most frequent update is a message with one text, which becomes one chunk.
            blocks = update.content
            if len(blocks) == 1 and type(blocks[0]) is v2.TextContent:
                return (v2.AgentMessageChunk(message_id=update.message_id, content=blocks[0]),)
        translate = self._translations.get(kind)
        return () if translate is None else translate(session_id, update)

    def forget(self, session_id: str) -> None:
        """Forget a session: a replay sends everything from the start."""
        self._plans.forget(session_id)
        self._sent_plans.pop(session_id, None)
        self._calls.forget(session_id)

    # ---- messages

    def _message(self, chunk: Any) -> Callable[[str, Any], Sequence[Any]]:
        def translated(_session_id: str, update: Any) -> Sequence[Any]:
            blocks = update.content if isinstance(update.content, list) else ()
            return [chunk(content=to_v1(one), message_id=update.message_id) for one in blocks]

        return translated

    def _chunk(self, chunk: Any) -> Callable[[str, Any], Sequence[Any]]:
        def translated(_session_id: str, update: Any) -> Sequence[Any]:
            return (chunk(content=to_v1(update.content), message_id=update.message_id),)

        return translated

    def _same(self, wanted: Any) -> Callable[[str, Any], Sequence[Any]]:
        """Translate an update that is the same in both versions."""

        def translated(_session_id: str, update: Any) -> Sequence[Any]:
            return (decode(wanted, encode(update)),)

        return translated

    # ---- the session

    def _plan(self, session_id: str, update: Any) -> Sequence[Any]:
        """The one plan of stable v1."""
        update = self._plans.stable(session_id, update)
        if type(update) is v2.AgentMessageChunk:
            return self._chunk(v1.AgentMessageChunk)(session_id, update)
        if update is None:
            return ()
        plan = v1.Plan(entries=_entries(update.plan.entries))
        told = encode(plan)
        dropped = any(one.status in _ENTRY_STATUSES for one in update.plan.entries)
        if dropped and told == self._sent_plans.get(session_id):
            # Dropping a pending entry changes nothing; some editors show every plan again.
            return ()
        self._sent_plans[session_id] = told
        return (plan,)

    def _plan_update(self, session_id: str, update: Any) -> Sequence[Any]:
        """One of several plans, for clients with the capability `plan`."""
        if not isinstance(update.plan, v2.PlanItems):
            return self._same(v1.PlanUpdate)(session_id, update)
        entries = _entries(update.plan.entries)
        return (v1.PlanUpdate(plan=v1.PlanItems(plan_id=update.plan.plan_id, entries=entries)),)

    def _commands(self, _session_id: str, update: Any) -> Sequence[Any]:
        commands = [
            _command(one) for one in update.available_commands if isinstance(one, v2.Command)
        ]
        return (v1.AvailableCommandsUpdate(available_commands=commands),)

    def _options(self, session_id: str, update: Any) -> Sequence[Any]:
        """Send modes both as an option and as a mode, so that old clients stay in step."""
        said: list[Any] = [
            v1.ConfigOptionUpdate(config_options=self.config_options(update.config_options))
        ]
        for option in update.config_options:
            if getattr(option, "category", None) == "mode":
                mode_id = option.current_value
                if self._modes.get(session_id) != mode_id:
                    said.insert(0, v1.CurrentModeUpdate(current_mode_id=mode_id))
                self._modes[session_id] = mode_id
        return said

    def mode_is(self, session_id: str, mode_id: str) -> None:
        """Note that the client knows this mode."""
        self._modes[session_id] = mode_id

    def config_options(self, options: Sequence[Any]) -> list[v1.SessionConfigOption]:
        """The options that this client may be shown."""
        said = (
            option_to_v1(option)
            for option in options
            if self.features.boolean_options or not isinstance(option, v2.SessionConfigBoolean)
        )
        return [option for option in said if option is not None]

    # ---- permission

    def permission_request(self, session_id: str, ask: PermissionAsk) -> bytes:
        """Encode the question, with the tool call's content first and then the reason."""
        return encode(
            v1.RequestPermissionRequest(
                session_id=session_id,
                tool_call=self._calls.asked(session_id, ask.tool_call, ask.reason),
                options=[
                    v1.PermissionOption(
                        # A custom kind is never consent, so it is sent as a rejection.
                        option_id=one.option_id,
                        name=one.name,
                        kind=known_word(one.kind, "reject_once"),
                    )
                    for one in ask.options
                ],
            )
        )


def _entries(entries: Sequence[v2.PlanEntry]) -> list[Any]:
    """The entries in v1; most are identical in both versions."""
    return [
        entry if entry.status in _ALIKE and entry.priority in _PRIORITIES else _entry(entry)
        for entry in entries
    ]


def _entry(entry: v2.PlanEntry) -> v1.PlanEntry:
    return v1.PlanEntry(
        content=entry.content,
        priority=known_word(entry.priority, "medium"),
        status=known_word(_ENTRY_STATUSES.get(entry.status, entry.status), "pending"),
        meta=entry.meta,
    )


def _command(command: v2.Command) -> v1.AvailableCommand:
    hint = command.input.hint if isinstance(command.input, v2.TextCommandInput) else None
    return v1.AvailableCommand(
        name=command.name,
        description=command.description,
        input=UNSET if hint is None else v1.UnstructuredCommandInput(hint=hint),
    )

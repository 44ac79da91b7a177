"""The agent's words in v1.

v1 has no upserts: a tool call is created once and then patched, appended content is sent again
as a whole, a message is a run of chunks, and terminals belong to the client.  What a terminal of
our own prints is shown as text of its tool call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from accord.agent.plan_words import StablePlans
from accord.agent.wire import Features, PermissionAsk
from accord.protocol.tool_status import is_final
from accord.schema import v1, v2
from accord.schema.codec import Invalid, decode, encode
from accord.schema.struct import UNSET, Raw
from accord.translate.content import to_v1
from accord.translate.diffs import texts_of
from accord.translate.options import option_to_v1

# How much more a terminal must have printed before its text is sent again.
TERMINAL_BYTES_STEP = 4096
# Of so many calls that have ended, what they show can still be added to.
ENDED_CALLS_KEPT = 64

_STATUSES = {"paused": "in_progress", "cancelled": "failed"}
_ENTRY_STATUSES = {"cancelled": "completed"}
# What both versions say of a task.
_ALIKE = frozenset({"pending", "in_progress", "completed"})
_PRIORITIES = frozenset({"high", "medium", "low"})


class V1Wire:
    """Says updates and questions as v1 does, and remembers what v1 needs repeated."""

    version = 1
    pieces_alike = True
    ways = None

    def __init__(self, features: Features) -> None:
        self.features = features
        self.open_pages: set[str] = set()
        self._calls: dict[tuple[str, str], _Shown] = {}
        self._terminals: dict[str, _Printed] = {}
        # Calls that have ended, oldest first: what they show is let go in time.
        self._ended: deque[tuple[str, str]] = deque()
        self._modes: dict[str, str] = {}
        self._plans = StablePlans()
        self._head_of: str | None = None
        self._head = b""

    @cached_property
    def _alike(self) -> frozenset[Any]:
        return frozenset({v2.AgentMessageChunk, v2.AgentThoughtChunk, v2.UserMessageChunk})

    @cached_property
    def _sayings(self) -> dict[Any, Callable[[str, Any], Sequence[Any]]]:
        """Made with the first update: `initialize` is answered without most types."""
        features = self.features
        sayings: dict[Any, Callable[[str, Any], Sequence[Any]]] = {
            v2.AgentMessage: self._message(v1.AgentMessageChunk),
            v2.AgentThought: self._message(v1.AgentThoughtChunk),
            v2.UserMessage: self._message(v1.UserMessageChunk),
            v2.AgentMessageChunk: self._chunk(v1.AgentMessageChunk),
            v2.AgentThoughtChunk: self._chunk(v1.AgentThoughtChunk),
            v2.UserMessageChunk: self._chunk(v1.UserMessageChunk),
            v2.ToolCallUpdate: self._tool_call,
            v2.ToolCallContentChunk: self._tool_content,
            v2.TerminalUpdate: self._terminal,
            v2.TerminalOutputChunk: self._terminal_output,
            v2.PlanUpdate: self._plan_update if features.plans else self._plan,
            v2.PlanRemoved: self._same(v1.PlanRemoved) if features.plans else self._plan,
            v2.AvailableCommandsUpdate: self._commands,
            v2.ConfigOptionUpdate: self._options,
            v2.SessionInfoUpdate: self._same(v1.SessionInfoUpdate),
            v2.UsageUpdate: self._same(v1.UsageUpdate),
        }
        if features.notices:
            sayings[v2.Notice] = self._same(v1.Notice)
        if features.subagents:
            sayings[v2.SubagentUpdate] = self._same(v1.SubagentUpdate)
            sayings[v2.SessionMessage] = self._same(v1.SessionMessage)
            sayings[v2.SessionMessageChunk] = self._same(v1.SessionMessageChunk)
        if features.compaction:
            sayings[v2.CompactionUpdate] = self._same(v1.CompactionUpdate)
            sayings[v2.CompactionSummaryChunk] = self._same(v1.CompactionSummaryChunk)
        return sayings

    def updates(self, session_id: str, update: Any) -> Sequence[bytes]:
        """None, one or several notifications for an update of v2."""
        if session_id != self._head_of:
            # What params of an update begin with; most are of the session of the one before.
            self._head_of = session_id
            self._head = b'{"sessionId":%b,"update":' % encode(session_id)
        kind = type(update)
        if kind in self._alike:
            if type(update.content) is v2.TextContent:
                # Chunks of text are the same to the letter in both versions.
                return (self._head + encode(update) + b"}",)
        elif kind is v2.AgentMessage and isinstance(update.content, list):
            # The commonest of all: a message of one text, which is one chunk of it.
            blocks = update.content
            if len(blocks) == 1 and type(blocks[0]) is v2.TextContent:
                chunk = v2.AgentMessageChunk(message_id=update.message_id, content=blocks[0])
                return (self._head + encode(chunk) + b"}",)
        return [self._head + encode(said) + b"}" for said in self.said(session_id, update)]

    def said(self, session_id: str, update: Any) -> Sequence[Any]:
        """What v1 says of an update of v2."""
        saying = self._sayings.get(type(update))
        return () if saying is None else saying(session_id, update)

    def forget(self, session_id: str) -> None:
        """A replay tells everything from the start."""
        self._plans.forget(session_id)
        for key in [key for key in self._calls if key[0] == session_id]:
            del self._calls[key]
        for terminal_id, printed in list(self._terminals.items()):
            if printed.shown_in is not None and printed.shown_in[0] == session_id:
                del self._terminals[terminal_id]

    # ---- messages

    def _message(self, chunk: Any) -> Callable[[str, Any], Sequence[Any]]:
        def say(_session_id: str, update: Any) -> Sequence[Any]:
            blocks = update.content if isinstance(update.content, list) else ()
            return [chunk(content=to_v1(one), message_id=update.message_id) for one in blocks]

        return say

    def _chunk(self, chunk: Any) -> Callable[[str, Any], Sequence[Any]]:
        def say(_session_id: str, update: Any) -> Sequence[Any]:
            return (chunk(content=to_v1(update.content), message_id=update.message_id),)

        return say

    def _same(self, wanted: Any) -> Callable[[str, Any], Sequence[Any]]:
        """For what both versions say alike."""

        def say(_session_id: str, update: Any) -> Sequence[Any]:
            return (decode(wanted, encode(update)),)

        return say

    # ---- tool calls

    def _tool_call(self, session_id: str, update: Any) -> Sequence[Any]:
        key = (session_id, update.tool_call_id)
        shown = self._calls.get(key)
        first = shown is None
        if shown is None:
            shown = self._calls[key] = _Shown()
        if isinstance(update.content, list):
            shown.content = list(update.content)
        fields = self._tool_fields(session_id, update, shown)
        if isinstance(update.status, str) and is_final(update.status):
            self._ended.append(key)
            if len(self._ended) > ENDED_CALLS_KEPT:
                self._let_go(self._ended.popleft())
        if first:
            fields.setdefault("title", update.tool_call_id)
            return (v1.ToolCall(**fields),)
        return (v1.ToolCallUpdate(**fields),)

    def _let_go(self, key: tuple[str, str]) -> None:
        """Keep of an old call only that it was told; a long session has very many."""
        shown = self._calls.get(key)
        if shown is None:
            return
        for item in shown.content:
            if type(item) is v2.Terminal:
                printed = self._terminals.get(item.terminal_id)
                if printed is not None and not printed.is_over:
                    return
                self._terminals.pop(item.terminal_id, None)
        shown.content = []

    def _tool_fields(self, session_id: str, patch: Any, shown: _Shown) -> dict[str, Any]:
        """Only what the patch says: null and absence are the same to v1."""
        fields: dict[str, Any] = {"tool_call_id": patch.tool_call_id}
        if isinstance(patch.title, str):
            fields["title"] = patch.title
        if isinstance(patch.name, str):
            fields["name"] = patch.name
        if isinstance(patch.kind, str):
            fields["kind"] = _known(patch.kind, "other")
        if isinstance(patch.status, str):
            fields["status"] = _STATUSES.get(patch.status, patch.status)
        if patch.raw_input is not UNSET:
            fields["raw_input"] = patch.raw_input
        if patch.raw_output is not UNSET:
            fields["raw_output"] = patch.raw_output
        if patch.meta is not UNSET:
            fields["meta"] = patch.meta
        if isinstance(patch.content, list):
            fields["content"] = self._contents(session_id, patch.tool_call_id, shown.content)
        if isinstance(patch.locations, list):
            # The same to the letter in both versions, but for metadata.
            fields["locations"] = [
                place
                if place.meta is UNSET
                else v1.ToolCallLocation(path=place.path, line=place.line)
                for place in patch.locations
            ]
        return fields

    def _tool_content(self, session_id: str, update: Any) -> Sequence[Any]:
        shown = self._calls.setdefault((session_id, update.tool_call_id), _Shown())
        shown.content.append(update.content)
        content = self._contents(session_id, update.tool_call_id, shown.content)
        return (v1.ToolCallUpdate(tool_call_id=update.tool_call_id, content=content),)

    def _contents(self, session_id: str, tool_call_id: str, items: list[Any]) -> list[Any]:
        said: list[Any] = []
        for item in items:
            kind = type(item)
            if kind is v2.Content:
                said.append(v1.Content(content=to_v1(item.content), meta=item.meta))
            elif kind is v2.Diff:
                for path, old, new in texts_of(item):
                    said.append(v1.Diff(path=path, old_text=old, new_text=new))
            elif kind is v2.Terminal:
                printed = self._terminals.get(item.terminal_id)
                if printed is None:
                    said.append(v1.Terminal(terminal_id=item.terminal_id))
                else:
                    printed.shown_in = (session_id, tool_call_id)
                    said.append(v1.Content(content=v1.TextContent(text=printed.text)))
        return said

    # ---- terminals of our own

    def _terminal(self, session_id: str, update: Any) -> Sequence[Any]:
        printed = self._terminals.setdefault(update.terminal_id, _Printed())
        if isinstance(update.output, v2.TerminalOutput):
            printed.data = bytearray(update.output.data)
        if isinstance(update.exit_status, v2.TerminalExitStatus):
            printed.is_over = True
            return self._print_again(printed)
        return ()

    def _terminal_output(self, session_id: str, update: Any) -> Sequence[Any]:
        printed = self._terminals.setdefault(update.terminal_id, _Printed())
        printed.data += update.data
        if len(printed.data) - printed.said_bytes < TERMINAL_BYTES_STEP + printed.said_bytes:
            return ()
        return self._print_again(printed)

    def _print_again(self, printed: _Printed) -> Sequence[Any]:
        if printed.shown_in is None:
            return ()
        printed.said_bytes = len(printed.data)
        shown = self._calls[printed.shown_in]
        session_id, tool_call_id = printed.shown_in
        content = self._contents(session_id, tool_call_id, shown.content)
        return (v1.ToolCallUpdate(tool_call_id=tool_call_id, content=content),)

    # ---- the session

    def _plan(self, session_id: str, update: Any) -> Sequence[Any]:
        """The one plan of stable v1."""
        update = self._plans.worded(session_id, update)
        if type(update) is v2.AgentMessageChunk:
            return self._chunk(v1.AgentMessageChunk)(session_id, update)
        if update is None:
            return ()
        return (v1.Plan(entries=_entries(update.plan.entries)),)

    def _plan_update(self, session_id: str, update: Any) -> Sequence[Any]:
        """One of several plans, for clients that said `plan`."""
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
        """Modes are told both ways, so that an old client stays in step."""
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
        """The client knows this mode already."""
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
        """The question; the reason is the first text of the tool call."""
        shown = self._calls.get((session_id, ask.tool_call.tool_call_id), _Shown())
        fields = self._tool_fields(session_id, ask.tool_call, shown)
        if ask.reason is not None:
            reason = v1.Content(content=v1.TextContent(text=ask.reason))
            fields["content"] = [reason, *fields.get("content", ())]
        return encode(
            v1.RequestPermissionRequest(
                session_id=session_id,
                tool_call=v1.ToolCallPatch(**fields),
                options=[
                    v1.PermissionOption(
                        # A kind of one's own is never consent, so it is shown as none.
                        option_id=one.option_id,
                        name=one.name,
                        kind=_known(one.kind, "reject_once"),
                    )
                    for one in ask.options
                ],
            )
        )

    def permission_choice(self, result: Raw) -> str | None:
        """The chosen id; anything else is no choice."""
        try:
            outcome = decode(v1.RequestPermissionResponse, result).outcome
        except Invalid:
            return None
        return outcome.option_id if isinstance(outcome, v1.SelectedPermissionOutcome) else None


class _Shown:
    """What a tool call shows, since v1 wants it whole each time."""

    __slots__ = ("content",)

    def __init__(self) -> None:
        self.content: list[Any] = []


class _Printed:
    """What a terminal of ours has printed."""

    __slots__ = ("data", "is_over", "said_bytes", "shown_in")

    def __init__(self) -> None:
        self.data = bytearray()
        self.is_over = False
        self.said_bytes = 0
        self.shown_in: tuple[str, str] | None = None

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")


def _known(word: str, otherwise: str) -> str:
    """v1's sets are closed: a word of the agent's own has to be one of the others."""
    return otherwise if word.startswith("_") else word


def _entries(entries: Sequence[v2.PlanEntry]) -> list[Any]:
    """Tasks as v1 has them; most are the same to the letter in both versions."""
    return [
        entry if entry.status in _ALIKE and entry.priority in _PRIORITIES else _entry(entry)
        for entry in entries
    ]


def _entry(entry: v2.PlanEntry) -> v1.PlanEntry:
    return v1.PlanEntry(
        content=entry.content,
        priority=_known(entry.priority, "medium"),
        status=_known(_ENTRY_STATUSES.get(entry.status, entry.status), "pending"),
        meta=entry.meta,
    )


def _command(command: v2.Command) -> v1.AvailableCommand:
    hint = command.input.hint if isinstance(command.input, v2.TextCommandInput) else None
    return v1.AvailableCommand(
        name=command.name,
        description=command.description,
        input=UNSET if hint is None else v1.UnstructuredCommandInput(hint=hint),
    )

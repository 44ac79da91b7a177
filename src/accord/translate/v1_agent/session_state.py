"""What the adapter knows of one session, and how much of it is kept.

Memory per session: below 4 KiB while nothing happens; of each of at most `TOOL_CALLS_KEPT` tool
calls the id, the status and `TITLE_CHARS_KEPT` characters of the title; at most `TERMINALS_KEPT`
ids of terminals; the options and commands that the agent told last; what waits in at most
`HELD_PROMPTS_MAX` prompts; the ids of prompts (see `message_ids.py`); and, behind an agent that
cannot load sessions, the log of `session_replay.py`.  At most `SESSIONS_KEPT` sessions of a
connection are known, and the last few diffs (see `tool_calls.py`).

Must not know: how anything is translated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from accord.schema.codec import encode, to_python
from accord.translate.message import Answer, Approvals, Json, Key, Out, Request
from accord.translate.v1_agent.message_ids import USER_CHUNK, MessageIds, PromptIds
from accord.translate.v1_agent.session_replay import Log, Replay

SESSIONS_KEPT: Final = 1024
HELD_PROMPTS_MAX: Final = 16
TOOL_CALLS_KEPT: Final = 1024
TITLE_CHARS_KEPT: Final = 200
TERMINALS_KEPT: Final = 1024
FINAL_STATUSES: Final = frozenset({"completed", "failed", "cancelled"})

IDLE: Final = "idle"
RUNNING: Final = "running"
REQUIRES_ACTION: Final = "requires_action"


class Past(Enum):
    """What becomes of the history that an agent sends while it loads a session."""

    SHOWN = "shown"
    SUPPRESSED = "suppressed"


@dataclass(slots=True)
class Prompt:
    """A prompt of the client: what it said, and the same as the agent is to be asked."""

    key: Key
    blocks: list[Json]
    params: Json


@dataclass(slots=True)
class Turn:
    """The prompt that the agent works on.

    `expected` is what an agent that echoes its prompts will send next: texts as they are, other
    blocks encoded.
    """

    prompt: Prompt
    expected: list[str | bytes]
    agent_key: Key = 0
    inserted: bool = False
    cancelled: bool = False


@dataclass(slots=True)
class Question:
    """A request of the agent that waits for the user, and what it is told if nobody will answer."""

    given_up: Answer
    client_key: Key
    # What else is said then.
    dropped: Callable[[], Sequence[Out]]
    # The agent itself has taken it back.
    withdrawn: bool = False
    settled: bool = False


@dataclass(slots=True)
class ToolCall:
    """What has to be remembered of a tool call."""

    title: str | None = None
    status: str = "pending"


@dataclass(slots=True)
class Session:
    """One session.

    `open`: the client may prompt.  `alive`: the agent has it in memory.  `child`: it belongs to
    another session, and the client may only watch it.
    """

    id: str
    cwd: str
    roots: list[str]
    stamp: str
    approvals: Approvals
    prompts: PromptIds
    messages: MessageIds
    title: str | None = None
    open: bool = True
    alive: bool = True
    child: bool = False
    past: Past | None = None
    replay: Replay | None = None
    # Answers the request that resumed it, which waits a moment for what belongs to the answer.
    answering: Callable[[], Sequence[Out]] | None = None
    log: Log | None = None
    # The turn, and what waits for it to end.
    turn: Turn | None = None
    held: deque[Prompt] = field(default_factory=deque[Prompt])
    closing: list[Request] = field(default_factory=list[Request])
    state: str = IDLE
    cancelled: bool = False
    questions: dict[Key, Question] = field(default_factory=dict[Key, Question])
    # Messages and tool calls.
    message_kind: str | None = None
    message_id: str = ""
    tool_calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    running_tools: set[str] = field(default_factory=set[str])
    # Those that were told of since the last turn began.
    turn_calls: set[str] = field(default_factory=set[str])
    terminals: dict[str, None] = field(default_factory=dict[str, None])
    # What can be set, in the form of v2 where the agent told it and in v1's where it is made up
    # or cannot be listed.
    options: list[Json] = field(default_factory=list[Json])
    unlisted: list[Json] = field(default_factory=list[Json])
    modes: Json | None = None
    models: Json | None = None
    commands: bytes | None = None
    # Whether the agent has told its commands since it was last asked to open the session.
    commands_told: bool = False

    def fresh_message(self, kind: str) -> str:
        """A message begins that the agent gave no id."""
        if self.replay is not None and kind != USER_CHUNK:
            self.replay.begin_turn()
        self.message_kind = kind
        self.message_id = self.messages.fresh(kind)
        return self.message_id

    def seen(self, call: Json) -> ToolCall:
        """Remember a tool call by what a patch of v2 says about it."""
        tool_call_id: str = call["toolCallId"]
        known = self.tool_calls.get(tool_call_id)
        if known is None:
            known = self.tool_calls[tool_call_id] = ToolCall()
            if len(self.tool_calls) > TOOL_CALLS_KEPT:
                oldest = next(iter(self.tool_calls))
                del self.tool_calls[oldest]
                self.running_tools.discard(oldest)
                self.turn_calls.discard(oldest)
        if self.past is None:
            self.turn_calls.add(tool_call_id)
        title: Any = call.get("title")
        if title:
            known.title = title[:TITLE_CHARS_KEPT]
        status = call.get("status")
        if status is not None:
            known.status = status
            if status == "in_progress":
                self.running_tools.add(tool_call_id)
            else:
                self.running_tools.discard(tool_call_id)
        return known

    def shows(self, terminal_id: str) -> None:
        """A terminal of the host belongs to this session."""
        self.terminals[terminal_id] = None
        if len(self.terminals) > TERMINALS_KEPT:
            del self.terminals[next(iter(self.terminals))]

    def remember_commands(self, commands: list[Json]) -> None:
        """The commands that there are now."""
        self.commands = encode(commands)
        self.commands_told = True

    @property
    def told_commands(self) -> list[Json] | None:
        """The commands that the agent told last; None if it told none."""
        return None if self.commands is None else to_python(self.commands)

    def begin_past(self, past: Past) -> None:
        """The agent is about to tell everything from the start."""
        self.past = past
        self.prompts.begin_past()
        self.messages.begin_past()
        self.replay = Replay(self.prompts, self.messages)
        self.message_kind = None
        self.commands_told = False
        self.tool_calls.clear()
        self.running_tools.clear()

    def end_past(self, *, is_whole: bool) -> list[Json]:
        """The agent has told everything, or will not; what was not said yet."""
        # Two may have asked for it at once.
        rest = [] if self.replay is None else self.replay.rest()
        if is_whole:
            self.prompts.end_past()
        self.messages.end_past(is_whole=is_whole)
        is_left_out = self.past is Past.SUPPRESSED
        self.past = self.replay = self.message_kind = None
        return [] if is_left_out else rest

    @property
    def may_ask(self) -> bool:
        """Whether there is a client to be asked something about it, which has not stopped it."""
        stopped = self.cancelled if self.turn is None else self.turn.cancelled
        return (self.open or self.child) and not self.closing and not stopped

    @property
    def snapshot(self) -> Json:
        """The state as an object of its own."""
        return {"state": self.state}

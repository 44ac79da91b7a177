"""The state of the adapter's sessions, its bounds, and the messages to the client.

Memory per session: below 4 KiB while nothing happens; of each of at most `TOOL_CALLS_KEPT` tool
calls the id, the status and `TITLE_CHARS_KEPT` characters of the title; at most `TERMINALS_KEPT`
ids of terminals; the options and commands that the agent told last; what waits in the prompts that
are held (see `turns.py`); the ids of prompts (see `message_ids.py`); and, behind an agent that
cannot load sessions, the log of `session_replay.py`.  At most `SESSIONS_KEPT` sessions of a
connection are known, and the last few diffs (see `tool_calls.py`).

Must not know: what any message means, or how it is translated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from accord.jsonrpc.error_codes import (
    AUTH_REQUIRED,
    INTERNAL_ERROR,
    RESOURCE_NOT_FOUND,
    text_of,
)
from accord.schema.codec import encode, to_python
from accord.schema.method import SESSION_UPDATE
from accord.translate.adapter import NOTHING, Adapter, Outs
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    Approvals,
    CannotTranslate,
    Failure,
    Json,
    Key,
    Notification,
    Out,
    Request,
    Side,
    Surroundings,
)
from accord.translate.v1_agent.message_ids import USER_CHUNK, MessageIds, PromptIds
from accord.translate.v1_agent.session_replay import Log, Replay

# Not needed to show a session again: these updates are sent once, or their content is in
# the answer to `session/resume`.
NOT_HISTORY: Final = frozenset(
    {"notice", "state_update", "config_option_update", "available_commands_update"}
)
# How v1 agents say that a session is unknown, with whatever error code.
NO_SUCH_SESSION: Final = (
    "session not found",
    "session_not_found",
    "unknown session",
    "no such session",
    "session does not exist",
    "invalid session id",
    "no session with",
)
SESSIONS_KEPT: Final = 1024
TOOL_CALLS_KEPT: Final = 1024
TITLE_CHARS_KEPT: Final = 200
TERMINALS_KEPT: Final = 1024
FINAL_STATUSES: Final = frozenset({"completed", "failed", "cancelled"})

IDLE: Final = "idle"
RUNNING: Final = "running"
REQUIRES_ACTION: Final = "requires_action"


class Past(Enum):
    """The use of the history that an agent sends while it loads a session."""

    SHOWN = "shown"
    SUPPRESSED = "suppressed"


@dataclass(slots=True)
class Prompt:
    """A prompt of the client: its content, and the same in the form for the agent."""

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
    """A request of the agent that waits for the user, and the answer if there will be none."""

    given_up: Answer
    client_key: Key
    # Further messages that are sent then.
    dropped: Callable[[], Sequence[Out]]
    # The agent has cancelled the request.
    withdrawn: bool = False
    settled: bool = False


@dataclass(slots=True)
class ToolCall:
    """The remembered part of a tool call."""

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
    # Answers the request that resumed the session, once its updates have come.
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
    # The last message of the user that came outside of a past.
    user_message_id: str | None = None
    tool_calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    running_tools: set[str] = field(default_factory=set[str])
    # Those with an update since the last turn began.
    turn_calls: set[str] = field(default_factory=set[str])
    terminals: dict[str, None] = field(default_factory=dict[str, None])
    # The options: in v2's form if the agent listed them, in v1's if they are made from modes
    # or cannot be listed.
    options: list[Json] = field(default_factory=list[Json])
    unlisted: list[Json] = field(default_factory=list[Json])
    modes: Json | None = None
    models: Json | None = None
    commands: bytes | None = None
    # Whether the agent has listed its commands since it was last asked to open the session.
    commands_told: bool = False

    def fresh_message(self, kind: str) -> str:
        """Begin a message without an id of the agent, and return our id for it."""
        if self.replay is not None and kind != USER_CHUNK:
            self.replay.begin_turn()
        self.message_kind = kind
        self.message_id = self.messages.fresh(kind)
        return self.message_id

    def seen(self, call: Json) -> ToolCall:
        """Remember a tool call from a patch of v2."""
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
        """Note a terminal of the host that belongs to this session."""
        self.terminals[terminal_id] = None
        if len(self.terminals) > TERMINALS_KEPT:
            del self.terminals[next(iter(self.terminals))]

    def remember_commands(self, commands: list[Json]) -> None:
        """Note the current commands."""
        self.commands = encode(commands)
        self.commands_told = True

    @property
    def told_commands(self) -> list[Json] | None:
        """Return the commands that the agent listed last; None if it listed none."""
        return None if self.commands is None else to_python(self.commands)

    def begin_past(self, past: Past) -> None:
        """Prepare for a replay of the whole history."""
        self.past = past
        self.prompts.begin_past()
        self.messages.begin_past()
        self.replay = Replay(self.prompts, self.messages)
        self.message_kind = None
        self.commands_told = False
        self.tool_calls.clear()
        self.running_tools.clear()

    def end_past(self, *, is_whole: bool) -> list[Json]:
        """End the replay, complete or not; return the updates that are not sent yet."""
        # Two requests may have asked for it at once.
        rest = [] if self.replay is None else self.replay.rest()
        if is_whole:
            self.prompts.end_past()
        self.messages.end_past(is_whole=is_whole)
        is_left_out = self.past is Past.SUPPRESSED
        self.past = self.replay = self.message_kind = None
        return [] if is_left_out else rest

    @property
    def may_ask(self) -> bool:
        """Whether the client can be asked: it has the session open and has not stopped it."""
        stopped = self.cancelled if self.turn is None else self.turn.cancelled
        return (self.open or self.child) and not self.closing and not stopped

    @property
    def snapshot(self) -> Json:
        """Return a copy of the state."""
        return {"state": self.state}


@dataclass(slots=True)
class Abilities:
    """The abilities of the v1 agent that v2 takes for granted or that we must replace."""

    load: bool = False
    resume: bool = False
    list: bool = False
    close: bool = False
    logout: bool = False
    prompt: frozenset[str] = frozenset()
    http: bool = False
    acp: bool = False


class Core(Adapter):
    """The sessions of a connection and the timers of its adapter."""

    def __init__(
        self, surroundings: Surroundings, *, strict: bool = False, unstable: bool = False
    ) -> None:
        super().__init__(surroundings, strict=strict, unstable=unstable)
        self.can = Abilities()
        # Handles an update of an unknown session.
        self.on_unknown: Callable[[Json], Outs] = lambda _: NOTHING
        self.sessions: dict[str, Session] = {}
        self._timers: dict[tuple[str, str], tuple[float, Callable[[], Outs]]] = {}

    # ---- sessions

    def new_session(
        self, session_id: str, cwd: str, roots: list[str], *, is_known: bool = False
    ) -> Session:
        """Add a session; a known one with that id is forgotten.

        `is_known`: nothing was said in it before.

        Raises:
            CannotTranslate: there are too many that are open.
        """
        self.sessions.pop(session_id, None)
        if len(self.sessions) >= SESSIONS_KEPT:
            self._forget_one()
        session = Session(
            id=session_id,
            cwd=cwd,
            roots=roots,
            stamp=self.around.stamp(),
            approvals=self.around.approvals(cwd),
            prompts=PromptIds(session_id, is_known=is_known),
            messages=MessageIds(session_id, self.around.fresh(), is_known=is_known),
            log=None if self.can.load else Log(),
        )
        self.sessions[session_id] = session
        return session

    def _forget_one(self) -> None:
        for session in self.sessions.values():
            if not session.open:
                del self.sessions[session.id]
                return
        raise CannotTranslate(
            INTERNAL_ERROR, "too many sessions are open", {"reason": "too_many_sessions"}
        )

    def child_of(self, parent: Session, session_id: str) -> None:
        """Add a session that the agent began inside another one."""
        if session_id not in self.sessions:
            child = self.new_session(session_id, parent.cwd, list(parent.roots))
            child.open, child.child = False, True

    def open_session(self, session_id: str) -> Session:
        """Return the session that a request of the client names.

        Raises:
            CannotTranslate: it is not open.
        """
        session = self.sessions.get(session_id)
        if session is None or not session.open or session.closing:
            raise not_found(session_id)
        return session

    # ---- to the client

    def tell(self, session: Session, update: Json) -> Out:
        """Make an update for the client, and add it to the session's log."""
        if session.log is not None and update["sessionUpdate"] not in NOT_HISTORY:
            session.log.add(update)
        return CLIENT, Notification(SESSION_UPDATE, {"sessionId": session.id, "update": update})

    def fail(self, key: Key, failure: Failure, session_id: Any = None) -> Out:
        """Answer the client's request about a session with the agent's error."""
        return CLIENT, session_failure(failure, session_id)._replace(key=key)

    def pass_to_agent(self, request: Request) -> Outs:
        """Forward a request to the agent; an error is about the session in the params, if any."""
        session_id = request.params.get("sessionId")

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self.fail(request.key, answer, session_id)]
            return [self.answer(CLIENT, request.key, answer)]

        return [
            self.ask(AGENT, request.method, request.params, then, instead_of=request, of=CLIENT)
        ]

    def request_behind(self, agent_key: Any) -> Key | None:
        """Return the client's open request for which we sent this request to the agent."""
        asked = self._asked.get((AGENT, agent_key))
        origin = None if asked is None else asked[1]
        return None if origin is None else origin[1]

    def cancelled_by(self, side: Side, key: Any) -> Outs:
        """Forward `$/cancel_request` of a side to where its request went."""
        return self._cancelled(side, key)

    # ---- time

    @property
    def wake_at(self) -> float | None:
        """When the first timer is due."""
        return min((when for when, _ in self._timers.values()), default=None)

    def later(self, session: Session, name: str, seconds: float, do: Callable[[], Outs]) -> None:
        """Start a timer of a session, in place of one with the same name."""
        self._timers[session.id, name] = (self.around.now() + seconds, do)

    def never(self, session: Session, name: str) -> None:
        """Stop the timer with this name."""
        self._timers.pop((session.id, name), None)

    def due(self) -> Outs:
        """Run the timers that are due."""
        now = self.around.now()
        ready = sorted((when, key) for key, (when, _) in self._timers.items() if when <= now)
        calls = [self._timers.pop(key)[1] for _, key in ready]
        return [out for call in calls for out in call()]


def not_found(session_id: Any) -> CannotTranslate:
    """The error for a session that is not open."""
    return CannotTranslate(
        RESOURCE_NOT_FOUND, f"no session {session_id} is open", {"sessionId": session_id}
    )


def session_failure(failure: Failure, session_id: Any) -> Failure:
    """Give a failure that means an unknown session v2's code and data."""
    if session_id is None or failure.code == AUTH_REQUIRED or not _is_missing(failure):
        return failure
    data = failure.data if isinstance(failure.data, dict) else {}
    if isinstance(data.get("sessionId"), str):
        return failure._replace(code=RESOURCE_NOT_FOUND)
    message = failure.message or text_of(RESOURCE_NOT_FOUND)
    return Failure(failure.key, RESOURCE_NOT_FOUND, message, {**data, "sessionId": session_id})


def _is_missing(failure: Failure) -> bool:
    if failure.code == RESOURCE_NOT_FOUND:
        # The error for a missing file or other resource names it.
        return not isinstance(failure.data, dict) or "uri" not in failure.data
    said = failure.message.lower()
    return any(words in said for words in NO_SUCH_SESSION)

"""One conversation: its entries, the state of its turn, and its problem.

This module does not know the connection or any screen.  The engine updates it, and calls
`on_change`; the view reads it at its own pace.

Invariants
    * `entries` has every entry of the transcript once, in order, and our own remarks between them.
    * Handling an update takes constant time, however long the conversation is.
    * A denied tool call stays denied, whatever status the agent gives it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Literal, TypeAlias

from accord.terminal.model.prompt.unsent_prompts import Draft
from accord.terminal.model.questions import Questions
from accord.transcript import Message, Terminal, ToolCall, Transcript, Update
from accord.transcript.changes import Entry as TranscriptEntry
from accord.transcript.items.session_state import BUSY_STATES

if TYPE_CHECKING:
    from accord.client.people import People, SessionPeople
    from accord.client.permissions.request import PermissionRequest
    from accord.client.services.elicitation import UrlRequest

Tone: TypeAlias = Literal["info", "success", "warning", "error"]
Phase: TypeAlias = Literal["starting", "ready", "working", "stopping", "lost"]
ProblemKind: TypeAlias = Literal[
    "start_failed", "agent_lost", "turn_failed", "rate_limited", "session_lost", "login_needed"
]
# What a user may do about a problem, each by one key.
Remedy: TypeAlias = Literal["retry", "restart", "connect", "new_session", "log_in", "dismiss"]

_CHANGES_MAX = 4096
"""Tracked changed entries; with more, all count as changed."""


@dataclass(frozen=True, slots=True, eq=False)
class Remark:
    """A remark of ours between the agent's entries, such as how a turn ended, or what was denied.

    `detail` is folded below it.
    """

    text: str
    tone: Tone = "info"
    detail: str = ""


Entry: TypeAlias = TranscriptEntry | Remark


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem for the user: what happened, details and remedies."""

    kind: ProblemKind
    text: str
    detail: str = ""
    remedies: tuple[Remedy, ...] = ("dismiss",)
    # When a retry is allowed, by the chat's clock.
    retry_at: float | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """Changed entries since the last call, and whether the whole list was replaced."""

    entries: tuple[Entry, ...] = ()
    is_reset: bool = False


class Chat:
    """One conversation.  Guards the invariants of this module."""

    def __init__(self, folder: str, *, clock: Callable[[], float] = monotonic) -> None:
        self.folder = folder
        # Additional folders, named by a flag or in the configuration.
        self.roots: tuple[str, ...] = ()
        self.clock = clock
        # Called after every change; must be quick.
        self.on_change: Callable[[], None] = lambda: None
        # Called with every update after it was handled; must be quick.
        self.hearers: list[Callable[[Update], None]] = []
        # Incremented with every change.
        self.revision = 0
        self.phase: Phase = "starting"
        self.problem: Problem | None = None
        self.questions = Questions(clock, self.changed)
        # Prompts to send when the turn is over, oldest first.
        self.queue: list[Draft] = []
        # Suggested prompts for a newcomer, in order.
        self.suggestions: list[str] = []
        # The unsent text, kept while the chat is not on the screen.
        self.draft = Draft("")
        self.transcript = Transcript()
        self.entries: list[Entry] = []
        # Entries before this index were loaded from history.
        self.history_end = 0
        # A name for the agent: its title, its name, or the command.
        self.agent_name = ""
        # Whether the agent is behind a URL: what ends here is the connection.
        self.is_remote = False
        # A stable identifier of the agent, under which drafts are stored.
        self.agent = ""
        self.session_id: str | None = None
        self.own_title: str | None = None
        # The title that the session has in the agent's list.
        self.listed_title = ""
        # The stop reason of the last turn, and whether it was we who stopped it.
        self.stop_reason: str | None = None
        self.stopped_here = False
        self.turn_began: float | None = None
        self.heard_at: float | None = None
        self.last_did = ""
        self.call_began: dict[str, float] = {}
        self.call_ended: dict[str, float] = {}
        # By tool call: why it was denied.
        self.denied: dict[str, str] = {}
        # What Retry asks for or sends again: the last denied request, the last prompt that failed.
        self.denied_request: PermissionRequest | None = None
        self.last_sent: Draft | None = None
        # Visited pages that the agent still waits for.
        self.pages: list[UrlRequest] = []
        # Finds the people of a session that a gateway shares; those people, and our role.
        self.meets: People | None = None
        self.people: SessionPeople | None = None
        self.own_role = ""
        # The number of handled transcript entries, and the last of them.
        self._seen = 0
        self._last: Entry | None = None
        # Entries before this index belong to an earlier transcript.
        self._base = 0
        self._changed: dict[int, Entry] = {}
        self._is_reset = False

    # ---- state

    @property
    def title(self) -> str:
        """The title of the tab: the session's title, or the first message."""
        given = self.own_title or self.transcript.info.title or self.listed_title
        if given:
            return given
        for message in self.transcript.messages[:1]:
            return " ".join(message.text.split())
        return ""

    @property
    def is_busy(self) -> bool:
        """Whether a turn is running."""
        return self.phase in ("working", "stopping")

    @property
    def works_alone(self) -> bool:
        """Whether the agent works without a prompt of ours: on its own, or for somebody else."""
        is_told = self.people is not None and self.people.turn is not None
        is_working = is_told or self.transcript.state.confirmed in BUSY_STATES
        return self.phase == "ready" and is_working

    @property
    def lacks_session(self) -> bool:
        """Whether the agent is running but the session could not be opened."""
        return (
            self.phase == "lost"
            and self.problem is not None
            and self.problem.kind == "session_lost"
        )

    @property
    def lacks_login(self) -> bool:
        """Whether the agent is running but requires a login first."""
        return (
            self.phase == "lost"
            and self.problem is not None
            and self.problem.kind == "login_needed"
        )

    @property
    def needs_answer(self) -> bool:
        """Whether a question waits for the user."""
        return self.questions.first is not None

    @property
    def elapsed(self) -> float | None:
        """Seconds since the turn began."""
        return None if self.turn_began is None else self.clock() - self.turn_began

    @property
    def quiet_for(self) -> float | None:
        """Seconds since the last update, while the agent works and no question is open."""
        if not self.is_busy or self.heard_at is None or self.needs_answer:
            return None
        return self.clock() - self.heard_at

    def duration(self, call: ToolCall) -> float | None:
        """Seconds that a call took or has taken so far; None if its start was not seen."""
        began = self.call_began.get(call.tool_call_id)
        if began is None:
            return None
        ended = self.call_ended.get(call.tool_call_id)
        if ended is None and not self.is_busy:
            return None
        return (self.clock() if ended is None else ended) - began

    def is_asked_about(self, call: ToolCall) -> bool:
        """Whether a question about this call waits for the user."""
        for question in self.questions.all:
            asked = getattr(question.request, "tool_call", None)
            if asked is not None and asked.tool_call_id == call.tool_call_id:
                return True
        return False

    def take_changes(self) -> Changes:
        """The changes since the last call.  Only the view of the conversation calls this."""
        found = Changes(tuple(self._changed.values()), self._is_reset)
        self._changed.clear()
        self._is_reset = False
        return found

    # ---- updates

    def changed(self, entry: Entry | None = None) -> None:
        """Report a change of an entry or of anything else."""
        if entry is not None:
            if len(self._changed) < _CHANGES_MAX:
                self._changed[id(entry)] = entry
            elif id(entry) not in self._changed:
                self._is_reset = True
        self.revision += 1
        self.on_change()

    def adopt(self, transcript: Transcript, session_id: str, *, keep: bool = False) -> None:
        """Show another session; with `keep`, below what is already shown."""
        self.transcript = transcript
        self.session_id = session_id
        self._seen = 0
        if not keep:
            self.entries.clear()
            self._is_reset = True
            self.call_began.clear()
            self.call_ended.clear()
            self.denied.clear()
        self._base = len(self.entries)
        self._catch_up()
        self.changed()

    def loaded(self) -> None:
        """Mark all current entries as history."""
        self.history_end = len(self.entries)
        self.changed()

    def listen(self, update: Update) -> None:
        """Handle one update that is already in the transcript."""
        self._catch_up()
        self.heard_at = self.clock()
        item = update.item
        if isinstance(item, ToolCall):
            self._time(item)
            self.last_did = item.title or item.name or item.kind
        elif isinstance(item, Terminal):
            self.last_did = item.command or self.last_did
        elif isinstance(item, Message):
            self.last_did = "thinking" if item.role == "thought" else "writing"
        self.changed(item if isinstance(item, TranscriptEntry) else None)
        for hear in self.hearers:
            hear(update)

    def _time(self, call: ToolCall) -> None:
        if not self.is_busy:
            return
        now = self.heard_at or self.clock()
        if call.status != "pending":
            self.call_began.setdefault(call.tool_call_id, now)
        if call.is_final:
            self.call_ended.setdefault(call.tool_call_id, now)

    def _catch_up(self) -> None:
        timeline = self.transcript.timeline
        seen = self._seen
        if seen and (seen > len(timeline) or timeline[seen - 1] is not self._last):
            # A refused prompt was removed from the transcript.
            kept = set(map(id, timeline))
            known = set(map(id, self.entries))
            mine = self.entries[self._base :]
            mine = [one for one in mine if isinstance(one, Remark) or id(one) in kept]
            self.entries[self._base :] = mine
            self.entries.extend(one for one in timeline if id(one) not in known)
            self._is_reset = True
        elif seen < len(timeline):
            self.entries.extend(timeline[seen:])
        self._seen = len(timeline)
        self._last = timeline[-1] if timeline else None

    def remark(self, text: str, tone: Tone = "info", detail: str = "") -> Remark:
        """Add a remark of the client at this point."""
        self._catch_up()
        said = Remark(text, tone, detail)
        self.entries.append(said)
        self.changed(said)
        return said

    def set_phase(self, phase: Phase) -> None:
        """Change the phase of the turn or the agent."""
        if phase == "working" and self.phase != "working":
            self.turn_began = self.heard_at = self.clock()
            self.last_did = ""
        elif phase not in ("working", "stopping"):
            self.turn_began = None
        self.phase = phase
        self._catch_up()
        self.changed()

    def sent(self) -> None:
        """Show the sent prompt before the agent responds."""
        self._catch_up()
        self.changed()

    def turn_cancelled(self) -> None:
        """Mark running calls as cancelled when the user stops the turn."""
        for call in self.transcript.tool_calls:
            if call.cancelled:
                self.call_ended.setdefault(call.tool_call_id, self.clock())
                self.changed(call)
        self.set_phase("stopping")

    def deny(self, tool_call_id: str, why: str) -> bool:
        """Mark a call as denied; return whether it has an entry."""
        self.denied[tool_call_id] = why
        call = self.transcript.tool_call(tool_call_id)
        if call is not None:
            self.changed(call)
        return call is not None

    def page_opened(self, page: UrlRequest) -> None:
        """Note that the user visits a page."""
        self.pages.append(page)
        self.changed()

    def page_done(self, elicitation_id: str) -> None:
        """Note that a page is done or no longer needed."""
        self.pages[:] = [page for page in self.pages if page.elicitation_id != elicitation_id]
        self.changed()

    def set_problem(self, problem: Problem | None) -> None:
        """Set or clear the problem."""
        self.problem = problem
        self.changed()

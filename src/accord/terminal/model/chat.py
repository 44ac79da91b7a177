"""One conversation as a user sees it: its entries, where its turn stands, what went wrong.

This module does not know the connection or any screen.  The engine tells it what happens; whoever
shows it looks at it when `on_change` was called, as often as the eye can see and no more.

Invariants
    * `entries` has every entry of the transcript once, in order, and our own remarks between them.
    * Taking in an update costs the same however long the conversation is.
    * A tool call that the user denied is known as denied, whatever status the agent gives it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Literal, TypeAlias

from accord.terminal.model.client_remark import Remark, Tone
from accord.terminal.model.prompt.draft import Draft
from accord.terminal.model.questions import Questions
from accord.transcript import Message, Terminal, ToolCall, Transcript, Update
from accord.transcript.items.session_state import BUSY_STATES
from accord.transcript.update import Entry as TranscriptEntry

if TYPE_CHECKING:
    from accord.client.permissions.request import PermissionRequest
    from accord.client.services.elicitation import UrlRequest

Phase: TypeAlias = Literal["starting", "ready", "working", "stopping", "lost"]
Entry: TypeAlias = TranscriptEntry | Remark
ProblemKind: TypeAlias = Literal[
    "start_failed", "agent_lost", "turn_failed", "rate_limited", "session_lost", "login_needed"
]
# What a user may do about a problem, each by one key.
Remedy: TypeAlias = Literal["retry", "restart", "new_session", "log_in", "dismiss"]

_CHANGES_MAX = 4096
"""Entries that changed since somebody looked; beyond it all are taken to have changed."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What went wrong, for a user: what happened, what is known about it, what can be done."""

    kind: ProblemKind
    text: str
    detail: str = ""
    remedies: tuple[Remedy, ...] = ("dismiss",)
    # By the clock: when the agent said that it may be tried again.
    retry_at: float | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed since the last look: the entries, and whether the list itself is another."""

    entries: tuple[Entry, ...] = ()
    is_reset: bool = False


class Chat:
    """One conversation.  Guards the invariants of this module."""

    def __init__(self, folder: str, *, clock: Callable[[], float] = monotonic) -> None:
        self.folder = folder
        # Folders beside it that the user named, by a flag or in the configuration.
        self.roots: tuple[str, ...] = ()
        self.clock = clock
        # Told after every change; must be quick, and draws nothing itself.
        self.on_change: Callable[[], None] = lambda: None
        # Told every update after it was taken in; must be quick too.
        self.hearers: list[Callable[[Update], None]] = []
        # Grows with every change, for whoever only wants to know whether there was one.
        self.revision = 0
        self.phase: Phase = "starting"
        self.problem: Problem | None = None
        self.questions = Questions(clock, self.changed)
        # What waits to be sent when the turn is over, oldest first.
        self.queue: list[Draft] = []
        # What might be said next, in order: for a newcomer.
        self.suggestions: list[str] = []
        # What was being typed, kept while the chat is not on the screen.
        self.draft = Draft("")
        self.transcript = Transcript()
        self.entries: list[Entry] = []
        # Entries before this one were loaded, not lived through.
        self.history_end = 0
        # A name for the agent: its title, its name, or the command.
        self.agent_name = ""
        # Which agent it is, the same in every run: drafts are kept by it.
        self.agent = ""
        self.session_id: str | None = None
        self.own_title: str | None = None
        # The title that the session has in the agent's list.
        self.listed_title = ""
        # The stop reason of the last turn.
        self.stop_reason: str | None = None
        self.turn_began: float | None = None
        self.heard_at: float | None = None
        self.last_did = ""
        self.call_began: dict[str, float] = {}
        self.call_ended: dict[str, float] = {}
        # By tool call: why it was not allowed, in words.
        self.denied: dict[str, str] = {}
        # What was asked for and not allowed last: it may be asked for again.
        self.denied_request: PermissionRequest | None = None
        # Pages that the user was sent to, until the agent says that they are done.
        self.pages: list[UrlRequest] = []
        # What was sent last, to be sent again where the turn failed.
        self.last_sent: Draft | None = None
        # Of the transcript: how many entries were seen, and the last of them.
        self._seen = 0
        self._last: Entry | None = None
        # Entries before this one are of an earlier transcript.
        self._base = 0
        self._changed: dict[int, Entry] = {}
        self._is_reset = False

    # ---- what is seen of it

    @property
    def title(self) -> str:
        """A name for the tab: the agent's title of the session, else the first words said."""
        given = self.own_title or self.transcript.info.title or self.listed_title
        if given:
            return given
        for message in self.transcript.messages[:1]:
            return " ".join(message.text.split())
        return ""

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs."""
        return self.phase in ("working", "stopping")

    @property
    def works_alone(self) -> bool:
        """Whether the agent works, and not on a prompt of ours."""
        return self.phase == "ready" and self.transcript.state.confirmed in BUSY_STATES

    @property
    def lacks_session(self) -> bool:
        """Whether the agent is there and the session that was asked for is not."""
        return (
            self.phase == "lost"
            and self.problem is not None
            and self.problem.kind == "session_lost"
        )

    @property
    def lacks_login(self) -> bool:
        """Whether the agent is there and gives no session before a login."""
        return (
            self.phase == "lost"
            and self.problem is not None
            and self.problem.kind == "login_needed"
        )

    @property
    def needs_answer(self) -> bool:
        """Whether somebody waits for the user."""
        return self.questions.first is not None

    @property
    def elapsed(self) -> float | None:
        """Seconds since the turn began."""
        return None if self.turn_began is None else self.clock() - self.turn_began

    @property
    def quiet_for(self) -> float | None:
        """Seconds since the agent was heard, while it works and nobody is asked."""
        if not self.is_busy or self.heard_at is None or self.needs_answer:
            return None
        return self.clock() - self.heard_at

    def duration(self, call: ToolCall) -> float | None:
        """Seconds that a call took, or has taken so far; None if we did not see it begin."""
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
        """What changed since this was called last.  For the one who draws the conversation."""
        found = Changes(tuple(self._changed.values()), self._is_reset)
        self._changed.clear()
        self._is_reset = False
        return found

    # ---- what happens

    def changed(self, entry: Entry | None = None) -> None:
        """Something is different now; an entry, or anything around them."""
        if entry is not None:
            if len(self._changed) < _CHANGES_MAX:
                self._changed[id(entry)] = entry
            elif id(entry) not in self._changed:
                self._is_reset = True
        self.revision += 1
        self.on_change()

    def adopt(self, transcript: Transcript, session_id: str, *, keep: bool = False) -> None:
        """Show another session, or with `keep` go on below what is shown already."""
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
        """What is here up to now is history."""
        self.history_end = len(self.entries)
        self.changed()

    def listen(self, update: Update) -> None:
        """Take in one update that the transcript has folded already."""
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
            # A prompt that the agent refused was taken out again.
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
        """Say something of our own at this place."""
        self._catch_up()
        said = Remark(text, tone, detail)
        self.entries.append(said)
        self.changed(said)
        return said

    def set_phase(self, phase: Phase) -> None:
        """The turn, or the agent, stands elsewhere now."""
        if phase == "working" and self.phase != "working":
            self.turn_began = self.heard_at = self.clock()
            self.last_did = ""
        elif phase not in ("working", "stopping"):
            self.turn_began = None
        self.phase = phase
        self._catch_up()
        self.changed()

    def sent(self) -> None:
        """What the user said is on its way: it stands there before the agent says anything."""
        self._catch_up()
        self.changed()

    def turn_cancelled(self) -> None:
        """The user stopped the turn: the calls that run are marked at once."""
        for call in self.transcript.tool_calls:
            if call.cancelled:
                self.call_ended.setdefault(call.tool_call_id, self.clock())
                self.changed(call)
        self.set_phase("stopping")

    def deny(self, tool_call_id: str, why: str) -> bool:
        """The user, or a rule of theirs, said no to a call; whether there is an entry for it."""
        self.denied[tool_call_id] = why
        call = self.transcript.tool_call(tool_call_id)
        if call is not None:
            self.changed(call)
        return call is not None

    def page_opened(self, page: UrlRequest) -> None:
        """The user agreed to visit a page, and went there."""
        self.pages.append(page)
        self.changed()

    def page_done(self, elicitation_id: str) -> None:
        """The agent says, or the user, that a page has done its work or is not needed."""
        self.pages[:] = [page for page in self.pages if page.elicitation_id != elicitation_id]
        self.changed()

    def set_problem(self, problem: Problem | None) -> None:
        """Something went wrong, or is over."""
        self.problem = problem
        self.changed()


__all__ = ["Changes", "Chat", "Entry", "Phase", "Problem", "ProblemKind", "Remedy"]

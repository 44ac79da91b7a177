"""The lines of a conversation: everybody's printer, and what only a person who talks sees.

It must not know the connection, nor when something is said: `telling.py` does.

What always holds
    * Every state is said in words; colours and marks only repeat them.
    * What an agent sends is shown whole or counted, and it commands nothing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from textwrap import wrap

from accord.client.permissions.request import PermissionRequest
from accord.machine.console.control_characters import visible
from accord.schema.struct import UnknownVariant
from accord.terminal.model.chat import Chat
from accord.terminal.model.labels.turn_activity import (
    call_state,
    call_title,
    counted,
    duration_words,
    exit_words,
    kind_word,
)
from accord.terminal.model.permissions.request_text import exact
from accord.terminal.model.text.display_text import exact_line, one_line
from accord.terminal.plain.display.content_labels import block_words, received_words, unknown_words
from accord.terminal.plain.display.conversation_printer import (
    REASON_LINES_MAX,
    ConversationPrinter,
    Out,
)
from accord.transcript import (
    Compaction,
    ExitStatus,
    FileDiff,
    Message,
    Notice,
    Plan,
    SessionMessage,
    Subagent,
    ToolCall,
)
from accord.transcript.items.tool_call import KINDS_OF_TOOL

PLACES_SHOWN_MAX = 20
"""Places of one call that are named; the others are counted."""

SLOW_SECONDS = 2.0
"""How long a call must take for its time to be worth a word."""

_STEPS = {
    "pending": "",
    "in_progress": " (begun)",
    "completed": " (done)",
    "cancelled": " (dropped)",
}


class ChatPrinter(ConversationPrinter):
    """Writes a conversation to a stream; paths of files in `folder` are shown from there."""

    def __init__(self, out: Out, folder: str | None = None) -> None:
        super().__init__(out)
        self.folder = folder
        self._listed: list[tuple[str, str]] = []
        self._called: dict[str, tuple[object, ...]] = {}
        # Calls of which it was said where they work.
        self._placed: set[str] = set()
        if os.environ.get("TERM") == "dumb":
            # Whatever reads it, or reads it aloud, need not know any sign.
            self._unicode = False

    # ---- lines

    @property
    def out(self) -> Out:
        """Where it goes."""
        return self._out

    def gap(self) -> None:
        """A free line."""
        self._blank()

    def said(self, first: str, text: str, style: str = "") -> None:
        """Words, behind a few that begin a line; a sentence before them has a line of its own."""
        self._hush()
        if first.endswith(":"):
            self._blank()
            self._paragraph("", first)
            first = "  "
        self._paragraph(first, text, style)

    def exactly(self, first: str, text: str, style: str = "") -> None:
        """As it is, with what would not be seen written out."""
        self._hush()
        super()._verbatim(first, exact(text), style)

    def _verbatim(self, first: str, text: str, style: str = "") -> None:
        """As it is, but for rulers such as `=====`, which are cut rather than continued."""
        width = self.width - len(first)
        lines = (line[:width] if len(set(line)) == 1 else line for line in text.splitlines())
        super()._verbatim(first, "\n".join(lines), style)

    def question_mark(self, words: str) -> str:
        """Write all but the last line of a question; the last is for the answer to stand behind."""
        lines = wrap(words, self.width - 10) or [""]
        for line in lines[:-1]:
            self._paragraph("    ", line, "yellow")
        return f"    {lines[-1]} "

    def suggest(self, title: str, sentences: Sequence[str]) -> None:
        """What a newcomer may say."""
        self._paragraph("", title, "dim")
        for sentence in sentences:
            self._verbatim("  ", sentence, "cyan")

    def begin_session(self) -> None:
        """Another session may give its calls the names that those of this one had."""
        for known in (self._ended, self._titles, self._diffs, self._called):
            known.clear()
        self._placed.clear()
        self._plan = ()

    def begin_turn(self) -> None:
        """A plan of the next turn is shown as a whole, even if it is the same."""
        self._plan = ()

    def prompt(self, text: str) -> None:
        """What was asked, in a conversation where nobody sees it being typed."""
        self.begin_turn()
        super().prompt(text)

    # ---- what the agent says and does

    def say(self, message: Message, text: str) -> None:
        """More of a message or a thought."""
        self._say(message, text)

    def _introduce(self, message: Message) -> None:
        if message.role == "thought":
            self._paragraph("", "(thinking)", "dim")

    def block(self, block: object) -> None:
        """Content of a message that is no text."""
        self._blank()
        self._paragraph("  ", block_words(block), "cyan")

    def call(self, call: ToolCall, chat: Chat) -> None:
        """A call when it is first seen, when it waits, its changes, and how it ended."""
        state = call_state(call, chat)
        known = (call_title(call), state, len(call.diffs), len(call.locations), call.is_final)
        if self._called.get(call.tool_call_id) == known:
            return
        self._called[call.tool_call_id] = known
        if call.tool_call_id in self._ended:
            return
        self._turn_to(call)
        self._show_places(call)
        self._show_diffs(call)
        if call.is_final or call.cancelled or state.name == "denied":
            self._end(call, chat)
        elif state.name in ("unknown", "paused"):
            self._paragraph(f"    {self._mark('pending')} ", state.word, "yellow")

    def _turn_to(self, call: ToolCall) -> None:
        is_new = call.tool_call_id not in self._titles
        super()._turn_to(call)
        if not is_new:
            return
        if call.reported_kind not in KINDS_OF_TOOL:
            self._paragraph("      ", f"(kind {kind_word(call)}, which is not known here)", "dim")

    def _show_places(self, call: ToolCall) -> None:
        """Where it works, when that is first known and not said by its title."""
        if not call.locations or call.tool_call_id in self._placed:
            return
        self._placed.add(call.tool_call_id)
        title, changed = call_title(call), {diff.path for diff in call.diffs}
        places: dict[str, None] = {}
        for place in call.locations:
            where = self._near(place.path)
            is_said = where == self.folder or os.path.basename(where) in title
            if not is_said and place.path not in changed:
                line = "" if place.line is None else f":{place.line}"
                places[f"{where}{line}"] = None
        if places:
            more = len(places) - PLACES_SHOWN_MAX
            words = ", ".join([*places][:PLACES_SHOWN_MAX])
            words += f" and {more} more" if more > 0 else ""
            self._paragraph("      ", f"in {words}", "dim")

    def _end(self, call: ToolCall, chat: Chat) -> None:
        self._ended.add(call.tool_call_id)
        state = call_state(call, chat)
        word = "completed" if state.name == "done" else state.word
        seconds = chat.duration(call)
        if seconds is not None and seconds >= SLOW_SECONDS:
            word = f"{word} after {duration_words(seconds)}"
        if state.why:
            word = f"{word}: {state.why}"
        styles = {"done": "green", "failed": "red", "denied": "yellow", "cancelled": "yellow"}
        mark = self._mark("completed" if state.name == "done" else "failed")
        self._paragraph(f"    {mark} ", word, styles.get(state.name, ""))
        for item in call.content:
            block = getattr(item, "content", item)
            if isinstance(block, UnknownVariant) or (
                hasattr(item, "content") and not hasattr(block, "text")
            ):
                self._paragraph("      ", block_words(block), "dim")
        if state.name == "failed":
            lines = [line for line in call.text.splitlines() if line.strip()]
            self._verbatim("      ", "\n".join(lines[:REASON_LINES_MAX]), "dim")

    def _near(self, path: str) -> str:
        inside = self.folder is not None and path.startswith(f"{self.folder}{os.sep}")
        return exact_line(os.path.relpath(path, self.folder) if inside else path)

    def _show_diff(self, diff: FileDiff, *, named: bool) -> None:
        path = self._near(diff.path)
        words = {"add": " (new file)", "delete": " (deleted)", "copy": " (copy)"}
        what = words.get(diff.operation, "")
        if diff.operation == "move" or diff.old_path:
            what = f" (was {self._near(diff.old_path or '')})"
        is_told = diff.operation == "modify" and not named
        if not is_told:
            self._exactly("      ", f"{path}{what}", "dim")
        super()._show_diff(diff._replace(path=path), named=False)

    def difference(self, diff: FileDiff) -> None:
        """What changed in one file, whose name stands above."""
        super()._show_diff(diff, named=False)

    def _show_plan(self, plan: Plan) -> None:
        """All of it at first; then where it stands, when a step is begun or dropped."""
        before, self._plan = self._plan, plan.entries
        count = len(self._plan)
        if [entry.content for entry in before] != [entry.content for entry in self._plan]:
            self._blank()
            self._paragraph("", f"Its plan has {counted(count, 'step')}:", "cyan")
            for number, entry in enumerate(self._plan, 1):
                word = _STEPS.get(entry.status, f" ({one_line(entry.status, 60)})")
                self._paragraph(f"  {number}. ", f"{entry.content}{word}", "cyan")
            return
        news = {
            number: new
            for number, (old, new) in enumerate(zip(before, self._plan, strict=True), 1)
            if new.status != old.status and new.status not in ("completed", "pending")
        }
        dropped = [number for number, new in news.items() if new.status == "cancelled"]
        for number, new in news.items():
            word = "" if new.status == "in_progress" else _STEPS.get(new.status, "")
            if len(dropped) == 1 or number not in dropped:
                self._step(new.status, f"Step {number} of {count}: {new.content}{word}")
        if len(dropped) > 1:
            # Each has its name in the list above.
            *others, last = map(str, dropped)
            self._step("cancelled", f"Steps {', '.join(others)} and {last} of {count} are dropped")

    def _step(self, status: str, words: str) -> None:
        if not self._plan_is_last:
            self._blank()
        self._paragraph(f"  {self._mark(status)} ", words, "cyan")
        self._plan_is_last = True

    def plan(self, plan: Plan) -> None:
        """A plan of any form."""
        if plan.removed:
            self._blank()
            self._paragraph("", "The agent has put its plan away.", "dim")
        elif plan.form == "items":
            self._show_plan(plan)
        elif plan.markdown is not None:
            self.said("Its plan:", plan.markdown)
        elif plan.uri is not None:
            self.said("", f"Its plan is in {self._near(plan.uri.removeprefix('file://'))}.", "cyan")
        else:
            form = one_line(plan.form, 60)
            self.said("", f"A plan of the form {form}, which is not known here:", "cyan")
            self.exactly("      ", received_words(plan.received), "dim")

    def output(self, text: str) -> None:
        """What a command has printed: whole lines."""
        if text.strip():
            self._hush()
            self._verbatim("      ", text, "dim")

    def command_ended(self, status: ExitStatus) -> None:
        """How it ended, if that is news."""
        if status.exit_code or status.signal:
            self._verbatim("      ", f"({exit_words(status)})", "dim")

    def notice(self, notice: Notice) -> None:
        """What the agent tells about itself."""
        self._show_notice(notice)

    def compaction(self, compaction: Compaction) -> None:
        """That the agent shortens what it remembers."""
        self._show_compaction(compaction)

    def subagent(self, child: Subagent) -> None:
        """A child session, and what it does."""
        title = one_line(child.title or child.session_id)
        state = {"running": "works", "idle": "is done", "requires_action": "waits"}
        does = state.get(child.state.reported or "", "was started")
        self._blank()
        self._paragraph(f"  {self._mark('call')} ", f"Sub-agent {title} {does}.", "bold")
        if child.description:
            self._paragraph("      ", child.description, "dim")

    def session_message(self, message: SessionMessage) -> None:
        """What sessions wrote to each other."""
        sender = one_line(message.sender_session_id or "this session")
        recipient = one_line(message.recipient_session_id or "this session")
        self.said(f"Message from {sender} to {recipient}:", message.text)

    def unknown(self, variant: UnknownVariant) -> None:
        """Something that nobody knows."""
        self._blank()
        self._paragraph("", f"The agent sent {unknown_words(variant)}", "dim")

    def remark(self, text: str, tone: str = "info", detail: str = "") -> None:
        """Words of ours."""
        self._blank()
        styles = {"success": "green", "warning": "yellow", "error": "red"}
        self._paragraph("! " if tone in ("warning", "error") else "", text, styles.get(tone, "dim"))
        if detail:
            self._verbatim("    ", visible(detail), "dim")

    # ---- questions

    def permission(self, request: PermissionRequest, chat: Chat) -> None:
        """All that is known about what the agent wants to do."""
        self.question(request, chat.folder, chat.roots, chat.agent_name)
        if chat.questions.waiting > 1:
            more = counted(chat.questions.waiting - 1, "more question")
            self._paragraph("    ", f"({more} behind this one)", "yellow")

    def _show_asked(self, call: ToolCall) -> None:
        self._turn_to(call)
        self._show_places(call)
        self._show_diffs(call, asked=True)

    def choices(self, choices: Sequence[tuple[str, str]]) -> None:
        """What each key means; the same is not said twice."""
        listed = list(choices)
        if listed == self._listed:
            return
        self._listed = listed
        self.answers(listed)


__all__ = ["ChatPrinter"]

"""Print an interactive conversation.

This module does not know the connection, nor when to print; `chat_updates.py` does.

Invariants
    * Every state is printed in words; colours and marks only repeat them.
    * An agent's text is printed whole or counted, and cannot control the terminal.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from textwrap import wrap

from accord.client.permissions.request import PermissionRequest
from accord.machine.console.control_characters import visible
from accord.schema.struct import UnknownVariant
from accord.terminal.model.chat import Chat
from accord.terminal.model.labels.amounts_and_durations import counted, duration_words
from accord.terminal.model.labels.stop_reasons_and_exit_codes import exit_words
from accord.terminal.model.labels.tool_calls import call_state, call_title, kind_word
from accord.terminal.model.permissions.request_text import exact
from accord.terminal.model.text.display_text import exact_line, one_line
from accord.terminal.plain.display.chat_and_run_printer import (
    REASON_LINES_MAX,
    ConversationPrinter,
    Out,
)
from accord.terminal.plain.display.content_labels import block_words, received_words, unknown_words
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
"""Printed locations of one call; the rest is counted."""

SLOW_SECONDS = 2.0
"""The minimum duration of a call for its time to be printed."""

_STEPS = {
    "pending": "",
    "in_progress": " (in progress)",
    "completed": " (done)",
    "cancelled": " (dropped)",
}


class ChatPrinter(ConversationPrinter):
    """Writes a conversation to a stream; paths in `folder` are printed relative to it."""

    def __init__(self, out: Out, folder: str | None = None) -> None:
        super().__init__(out)
        self.folder = folder
        self._listed: list[tuple[str, str]] = []
        self._called: dict[str, tuple[object, ...]] = {}
        # Calls whose locations were printed.
        self._placed: set[str] = set()
        if os.environ.get("TERM") == "dumb":
            # A screen reader or another program need not know the signs.
            self._unicode = False

    # ---- lines

    @property
    def out(self) -> Out:
        """The stream that is written to."""
        return self._out

    def gap(self) -> None:
        """Print an empty line."""
        self._blank()

    def said(self, first: str, text: str, style: str = "") -> None:
        """Print text after a label; a label that ends with a colon gets its own line."""
        self._end_speech()
        if first.endswith(":"):
            self._blank()
            self._paragraph("", first)
            first = "  "
        self._paragraph(first, text, style)

    def exactly(self, first: str, text: str, style: str = "") -> None:
        """Print text unchanged, with invisible characters written out."""
        self._end_speech()
        super()._verbatim(first, exact(text), style)

    def to_copy(self, text: str) -> None:
        """Print one line, however long: where the terminal breaks it, it is still copied whole."""
        self._end_speech()
        self._out.write(f"{exact(text)}\n")
        self._out.flush()

    def _verbatim(self, first: str, text: str, style: str = "") -> None:
        """Print text unchanged, except that rulers such as `=====` are cut to the width."""
        width = self.width - len(first)
        lines = (line[:width] if len(set(line)) == 1 else line for line in text.splitlines())
        super()._verbatim(first, "\n".join(lines), style)

    def question_mark(self, words: str) -> str:
        """Print all but the last line of a question, and return the last for the input line."""
        lines = wrap(words, self.width - 10) or [""]
        for line in lines[:-1]:
            self._paragraph("    ", line, "yellow")
        return f"    {lines[-1]} "

    def suggest(self, title: str, sentences: Sequence[str]) -> None:
        """Print suggestions for a newcomer."""
        self._paragraph("", title, "dim")
        for sentence in sentences:
            self._verbatim("  ", sentence, "cyan")

    def begin_session(self) -> None:
        """Forget the calls of the last session; a new one may reuse their ids."""
        for known in (self._ended, self._titles, self._diffs, self._called):
            known.clear()
        self._placed.clear()
        self._plan = ()

    def begin_turn(self) -> None:
        """Print the plan of the next turn as a whole, even if it is the same."""
        self._plan = ()

    def prompt(self, text: str) -> None:
        """Print a prompt that was not typed in this terminal."""
        self.begin_turn()
        super().prompt(text)

    # ---- updates of the agent

    def say(self, message: Message, text: str) -> None:
        """Print more of a message or a thought."""
        self._say(message, text)

    def _introduce(self, message: Message) -> None:
        if message.role == "thought":
            self._paragraph("", "(thinking)", "dim")

    def block(self, block: object) -> None:
        """Print a content block other than text."""
        self._blank()
        self._paragraph("  ", block_words(block), "cyan")

    def call(self, call: ToolCall, chat: Chat) -> None:
        """Print a call when it is first seen, when it waits, its diffs, and how it ended."""
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
            self._paragraph("      ", f"(unknown kind: {kind_word(call)})", "dim")

    def _show_places(self, call: ToolCall) -> None:
        """Print the locations of a call once, except files that its title names."""
        if not call.locations or call.tool_call_id in self._placed:
            return
        self._placed.add(call.tool_call_id)
        title, changed = call_title(call), {diff.path for diff in call.diffs}
        places: dict[str, None] = {}
        for place in call.locations:
            where = self._near(place.path)
            is_said = where == self.folder or os.path.basename(where) in title
            is_said = is_said and place.column is None and place.end_line is None
            if not is_said and place.path not in changed:
                line = "" if place.line is None else f":{place.position}"
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
        """Print the diff of one file without its name."""
        super()._show_diff(diff, named=False)

    def _show_plan(self, plan: Plan) -> None:
        """Print the whole plan at first, then only the steps that are begun or dropped."""
        before, self._plan = self._plan, plan.entries
        count = len(self._plan)
        if [entry.content for entry in before] != [entry.content for entry in self._plan]:
            self._blank()
            self._paragraph("", f"The plan has {counted(count, 'step')}:", "cyan")
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
            # The list above has their names.
            *others, last = map(str, dropped)
            self._step("cancelled", f"Steps {', '.join(others)} and {last} of {count} dropped")

    def _step(self, status: str, words: str) -> None:
        if not self._plan_is_last:
            self._blank()
        self._paragraph(f"  {self._mark(status)} ", words, "cyan")
        self._plan_is_last = True

    def plan(self, plan: Plan) -> None:
        """Print a plan of any form."""
        if plan.removed:
            self._blank()
            self._paragraph("", "The agent removed its plan.", "dim")
        elif plan.form == "items":
            self._show_plan(plan)
        elif plan.markdown is not None:
            self.said("Plan:", plan.markdown)
        elif plan.uri is not None:
            self.said("", f"The plan is in {self._near(plan.uri.removeprefix('file://'))}.", "cyan")
        else:
            form = one_line(plan.form, 60)
            self.said("", f"A plan in an unknown form, {form}:", "cyan")
            self.exactly("      ", received_words(plan.received), "dim")

    def output(self, text: str) -> None:
        """Print whole lines of a command's output."""
        if text.strip():
            self._end_speech()
            self._verbatim("      ", text, "dim")

    def command_ended(self, status: ExitStatus) -> None:
        """Print how a command ended, unless it succeeded."""
        if status.exit_code or status.signal:
            self._verbatim("      ", f"({exit_words(status)})", "dim")

    def notice(self, notice: Notice) -> None:
        """Print a notice of the agent."""
        self._show_notice(notice)

    def compaction(self, compaction: Compaction) -> None:
        """Print that the agent compacts its context."""
        self._show_compaction(compaction)

    def subagent(self, child: Subagent) -> None:
        """Print a child session and its state."""
        title = one_line(child.title or child.session_id)
        state = {"running": "works", "idle": "is done", "requires_action": "waits"}
        does = state.get(child.state.reported or "", "was started")
        self._blank()
        self._paragraph(f"  {self._mark('call')} ", f"Sub-agent {title} {does}.", "bold")
        if child.description:
            self._paragraph("      ", child.description, "dim")

    def session_message(self, message: SessionMessage) -> None:
        """Print a message between sessions."""
        sender = one_line(message.sender_session_id or "this session")
        recipient = one_line(message.recipient_session_id or "this session")
        self.said(f"Message from {sender} to {recipient}:", message.text)

    def unknown(self, variant: UnknownVariant) -> None:
        """Print an update of an unknown kind."""
        self._blank()
        self._paragraph("", f"The agent sent {unknown_words(variant)}", "dim")

    def remark(self, text: str, tone: str = "info", detail: str = "") -> None:
        """Print a remark of the client."""
        self._blank()
        styles = {"success": "green", "warning": "yellow", "error": "red"}
        self._paragraph("! " if tone in ("warning", "error") else "", text, styles.get(tone, "dim"))
        if detail:
            self._verbatim("    ", visible(detail), "dim")

    # ---- questions

    def permission(self, request: PermissionRequest, chat: Chat) -> None:
        """Print everything known about what the agent wants to do."""
        self.question(request, chat.folder, chat.roots, chat.agent_name)
        if chat.questions.waiting > 1:
            more = counted(chat.questions.waiting - 1, "more question")
            self._paragraph("    ", f"({more} waiting)", "yellow")

    def _show_asked(self, call: ToolCall) -> None:
        self._turn_to(call)
        self._show_places(call)
        self._show_diffs(call, asked=True)

    def choices(self, choices: Sequence[tuple[str, str]]) -> None:
        """Print what each key means, unless it is the same as the last time."""
        listed = list(choices)
        if listed == self._listed:
            return
        self._listed = listed
        self.answers(listed)

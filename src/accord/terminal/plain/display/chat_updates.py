"""Print what is new in a chat since the last time.

This module does not know the input.

Invariants
    * Every entry is printed once, in the order in which it came; one that grows is continued.
    * `tell_some` takes a bounded time, however much is new.
"""

from __future__ import annotations

from typing import get_args

from accord.configuration.config_file import QUIET_SECONDS
from accord.machine.terminals.output_buffer import EARLIER_OUTPUT_OMITTED
from accord.terminal.model.chat import Chat, Entry, Problem, Remark, Remedy
from accord.terminal.model.labels.amounts_and_durations import cost_words, counted, usage_words
from accord.terminal.model.people import other_author
from accord.terminal.model.text.display_text import one_line
from accord.terminal.model.text.output_lines import OutputLines
from accord.terminal.plain.display.chat_printer import ChatPrinter
from accord.terminal.plain.display.content_labels import block_words, is_for_user
from accord.terminal.plain.display.wait_reports import WaitReports
from accord.transcript import (
    Compaction,
    Message,
    Notice,
    Plan,
    SessionMessage,
    Subagent,
    Terminal,
    ToolCall,
)

HISTORY_SHOWN_MAX = 30
"""Entries of an earlier conversation that are printed when it is continued."""

OVERLAP_CHARACTERS = 256
"""Characters by which the rest is found in output whose beginning was dropped."""

TOLD_CHARACTERS_MAX = 64 * 1024
"""Characters of one message printed at a time; a reader may be far behind the agent."""

REMEDIES: dict[Remedy, str] = {
    "retry": "/retry to try again",
    "restart": "/restart to restart the agent",
    "connect": "/restart to connect again",
    "new_session": "/new to open a new session",
    "log_in": "/login to log in",
    "dismiss": "",
}


_ENTRIES = get_args(Entry)


class ChatUpdates:
    """What was printed of one chat.  Guards: nothing is printed twice or left out."""

    def __init__(self, chat: Chat, printer: ChatPrinter, *, quiet: float = QUIET_SECONDS) -> None:
        self.chat = chat
        self._printer = printer
        self._waits = WaitReports(chat, printer, quiet=quiet)
        # Entries by identity: (blocks, characters of the last one) of bodies, texts of others.
        self._bodies: dict[int, tuple[int, int]] = {}
        # The end of the printed part of a text.
        self._ends: dict[int, str] = {}
        self._outputs: dict[int, tuple[str, OutputLines, int]] = {}
        self._told: dict[int, object] = {}
        # Kept alive, because ids of freed objects are reused.
        self._entries: list[Entry] = []
        # New entries that are not printed yet, by identity.
        self._untold: dict[int, Entry] = {}
        self._transcript: object = None
        self._problem: Problem | None = None
        self._mode: str | None = None
        self._session_id: str | None = None
        self._was_busy = False
        self._is_past = False
        # What the user just typed, which need not be printed.
        self._typed: str | None = None

    def typed(self, text: str) -> None:
        """Note a prompt that the user typed and therefore already sees."""
        self._typed = text

    def tell(self) -> None:
        """Print everything that is new."""
        while self.tell_some():
            pass

    @property
    def is_behind(self) -> bool:
        """Whether `tell_some` left something."""
        return bool(self._untold)

    def tell_some(self) -> bool:
        """Print some of what is new; return whether there is more."""
        chat = self.chat
        changes = chat.take_changes()
        if self._transcript is not chat.transcript and chat.session_id is not None:
            self._transcript = chat.transcript
            self._tell_history()
        entries = chat.entries if changes.is_reset else changes.entries
        self._untold.update((id(entry), entry) for entry in entries)
        while self._untold:
            entry = next(iter(self._untold.values()))
            if self._tell_entry(entry):
                return True
            del self._untold[id(entry)]
        self._tell_state()
        self._waits.tell()
        return False

    def tell_all(self) -> None:
        """Print everything from the beginning."""
        self._is_past = True
        for entry in tuple(self.chat.entries):
            self._tell_whole(entry)
        self._is_past = False
        self._printer.pause()

    # ---- entries

    def _tell_history(self) -> None:
        chat = self.chat
        self._mode = chat.transcript.modes.current
        past = [entry for entry in chat.entries[: chat.history_end] if not self._is_known(entry)]
        is_same, self._session_id = self._session_id == chat.session_id, chat.session_id
        if is_same:
            # The agent was restarted and repeats what is printed above.
            for entry in past:
                self._pass_over(entry)
            return
        self._printer.begin_session()
        if not past:
            return
        self._printer.note("Earlier in this session:")
        left_out = past[:-HISTORY_SHOWN_MAX]
        for entry in left_out:
            self._pass_over(entry)
        if left_out:
            self._printer.note(f"({len(left_out)} earlier entries not shown; /history shows all.)")
        self._is_past = True
        for entry in past[-HISTORY_SHOWN_MAX:]:
            self._tell_whole(entry)
        self._is_past = False
        self._printer.gap()
        self._printer.note("The session continues here.")

    def _is_known(self, entry: Entry) -> bool:
        key = id(entry)
        return key in self._bodies or key in self._outputs or key in self._told

    def _pass_over(self, entry: Entry) -> None:
        self._entries.append(entry)
        self._told[id(entry)] = None
        if isinstance(entry, Message):
            blocks = entry.blocks
            last = getattr(blocks[-1], "text", "") if blocks else ""
            self._bodies[id(entry)] = (max(len(blocks) - 1, 0), len(last))

    def _tell_whole(self, entry: Entry) -> None:
        while self._tell_entry(entry):
            pass

    def _tell_entry(self, entry: Entry) -> bool:
        """Print what is new in an entry; return whether there is more."""
        # Other items are facts about the session, printed elsewhere.
        if isinstance(entry, _ENTRIES):
            if not self._is_known(entry):
                self._entries.append(entry)
            if isinstance(entry, Message):
                return self._tell_message(entry)
            self._tell_event(entry)
        return False

    def _tell_event(self, entry: Entry) -> None:
        assert not isinstance(entry, Message)
        printer = self._printer
        if isinstance(entry, ToolCall):
            self._told[id(entry)] = True
            printer.call(entry, self.chat)
        elif isinstance(entry, Terminal):
            self._tell_output(entry)
        elif isinstance(entry, Plan):
            now = (entry.form, entry.entries, entry.markdown, entry.uri, entry.removed)
            if self._is_news(entry, now):
                printer.plan(entry)
        elif isinstance(entry, Notice):
            if self._is_news(entry, True):
                printer.notice(entry)
        elif isinstance(entry, Compaction):
            if self._is_news(entry, entry.status):
                printer.compaction(entry)
        elif isinstance(entry, Subagent):
            if self._is_news(entry, (entry.title, entry.description, entry.state.reported)):
                printer.subagent(entry)
        elif isinstance(entry, SessionMessage):
            if self._is_news(entry, entry.text):
                printer.session_message(entry)
        elif isinstance(entry, Remark):
            if self._is_news(entry, True):
                printer.remark(entry.text, entry.tone, entry.detail)
        elif self._is_news(entry, True):
            printer.unknown(entry)

    def _is_news(self, entry: Entry, now: object) -> bool:
        if self._told.get(id(entry)) == now:
            return False
        self._told[id(entry)] = now
        return True

    def _tell_message(self, message: Message) -> bool:
        """Print some of what is new in a message; return whether there is more."""
        if message.role == "user":
            self._tell_prompt(message)
            return False
        index, shown = self._bodies.get(id(message), (0, 0))
        blocks = message.blocks
        if index >= len(blocks) and (index or shown):
            # The agent replaced the message.
            index = shown = 0
        while index < len(blocks):
            block = blocks[index]
            text = getattr(block, "text", None)
            if not isinstance(text, str) or not is_for_user(block):
                if not shown:
                    self._printer.block(block)
                shown = 1
            elif len(text) != shown:
                if not self._goes_on(message, text, shown):
                    self._printer.pause()
                    self._printer.note("The message was replaced by:")
                    shown = 0
                until = shown + TOLD_CHARACTERS_MAX
                self._printer.say(message, text[shown:until])
                shown = min(until, len(text))
                self._ends[id(message)] = text[max(shown - OVERLAP_CHARACTERS, 0) : shown]
                if shown < len(text):
                    self._bodies[id(message)] = (index, shown)
                    return True
            if index + 1 == len(blocks):
                break
            index, shown = index + 1, 0
        self._bodies[id(message)] = (index, shown)
        return False

    def _goes_on(self, message: Message, text: str, shown: int) -> bool:
        """Whether a text still contains the printed part, judging by its end."""
        end = self._ends.get(id(message), "") if shown else ""
        return len(text) >= shown and text[max(shown - len(end), 0) : shown] == end

    def _tell_prompt(self, message: Message) -> None:
        if not self._is_news(message, message.text):
            return
        typed, self._typed = self._typed, None
        self._printer.begin_turn()
        others = [one for one in message.blocks if not hasattr(one, "text")]
        if typed is None or one_line(typed) != one_line(message.text):
            words = message.text or "(no text)"
            author = other_author(message, self.chat)
            if author is not None:
                words = f"({author}) {words}"
            elif not (message.is_own or self._is_past):
                words = f"(sent from elsewhere) {words}"
            self._printer.prompt(words)
        for block in others:
            self._printer.said("  ", block_words(block), "dim")

    def _tell_output(self, terminal: Terminal) -> None:
        before, lines, told = self._outputs.get(id(terminal), ("", OutputLines(), 0))
        text = terminal.text
        if text.startswith(before):
            lines.feed(text[len(before) :])
        else:
            overlap = before[-OVERLAP_CHARACTERS:]
            at = text.find(overlap)
            if at < 0:
                self._printer.output(f"({EARLIER_OUTPUT_OMITTED})\n")
            lines.feed(text if at < 0 else text[at + len(overlap) :])
        status = terminal.exit_status
        ended = lines.ended[max(told - lines.dropped, 0) :]
        if status is not None and lines.last:
            ended = [*ended, lines.last]
        self._outputs[id(terminal)] = (text, lines, lines.dropped + len(lines.ended))
        shown = "".join("".join(run.text for run in line) + "\n" for line in ended)
        self._printer.output(shown)
        if status is not None and self._is_news(terminal, status):
            self._printer.command_ended(status)

    # ---- around the entries

    def _tell_state(self) -> None:
        chat, printer = self.chat, self._printer
        if self._was_busy and not chat.is_busy:
            self._tell_usage()
            if chat.queue:
                waits = counted(len(chat.queue), "prompt")
                printer.note(f"({waits} queued; /queue lists them)")
        self._was_busy = chat.is_busy
        mode = chat.transcript.modes.current
        if mode != self._mode:
            self._mode = mode
            names = {one.mode_id: one.name for one in chat.transcript.modes.available}
            printer.remark(f"The mode is now {one_line(names.get(mode or '', mode or 'none'))}.")
        if chat.problem is not self._problem:
            self._problem = chat.problem
            self._waits.problem_changed()
            if chat.problem is not None:
                self._tell_problem(chat.problem)

    def _tell_problem(self, problem: Problem) -> None:
        last = self.chat.entries[-1] if self.chat.entries else None
        if not (isinstance(last, Remark) and last.text == problem.text):
            self._printer.remark(problem.text, "error", problem.detail)
        ways = [REMEDIES[one] for one in problem.remedies if REMEDIES[one]]
        if ways:
            self._printer.note(f"{', '.join(ways)}.")

    def _tell_usage(self) -> None:
        usage = self.chat.transcript.usage
        words = [one for one in (usage_words(usage),) if one]
        if usage.cost is not None:
            words.append(cost_words(usage.cost))
        self._printer.pause()
        if words:
            self._printer.note(f"(context: {', '.join(words)})")

    @property
    def wait(self) -> float | None:
        """Seconds until something must be printed even if nothing happens."""
        return self._waits.seconds_left

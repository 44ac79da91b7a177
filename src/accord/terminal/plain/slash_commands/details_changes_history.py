"""Reading again: what tools were given and gave back, changed files, the whole conversation."""

from __future__ import annotations

import json
import os

from accord.errors import AccordError
from accord.terminal.model.changes.journal import Journal
from accord.terminal.model.chat import Chat
from accord.terminal.model.labels.amounts import counted
from accord.terminal.model.labels.tool_calls import call_name, call_state, call_title, plain_value
from accord.terminal.model.text.display_text import path_words
from accord.terminal.plain.display.chat_printer import ChatPrinter
from accord.transcript import FileDiff, ToolCall

CHARACTERS_MAX = 20_000
"""The maximum length of the input or output that is shown; the rest is counted."""

_STATES = {
    "pending": "changed",
    "kept": "kept",
    "undone": "undone",
    "partly": "partly undone",
    "unknown": "changed in an unknown way",
}


def show_details(printer: ChatPrinter, chat: Chat, given: str) -> None:
    """Print everything about one tool call, counted from the last.

    Raises:
        AccordError: there is no such call.
    """
    calls = [entry for entry in chat.entries if isinstance(entry, ToolCall)]
    back = int(given) if given.isdecimal() and int(given) > 0 else 1
    if back > len(calls):
        known = f"only {counted(len(calls), 'tool call')}" if calls else "no tool calls yet"
        raise AccordError(f"There {'is' if len(calls) == 1 else 'are'} {known}.")
    call = calls[-back]
    printer.said("", f"{call_title(call)}: {call_state(call, chat).word}", "bold")
    if name := call_name(call):
        printer.said("", f"Tool: {name}")
    for place in call.locations:
        line = "" if place.line is None else f", line {place.position}"
        printer.said("", f"In {path_words(place.path, chat.folder)}{line}")
    for title, raw in (("Input", call.raw_input), ("Output", call.raw_output)):
        value = plain_value(raw)
        if value is not None:
            _show(printer, title, json.dumps(value, indent=2, ensure_ascii=False))
    if call.text:
        _show(printer, "Text", call.text)


def _show(printer: ChatPrinter, title: str, text: str) -> None:
    printer.said("", f"{title}:")
    printer.exactly("    ", text[:CHARACTERS_MAX])
    if len(text) > CHARACTERS_MAX:
        printer.said("    ", f"({len(text) - CHARACTERS_MAX:,} more characters)", "dim")


def show_changes(
    printer: ChatPrinter, journal: Journal, folder: str, given: str = "", *, full: bool = False
) -> None:
    """Print the files that the agent changed, by name or with their diffs.

    Raises:
        AccordError: there are none.
    """
    wanted = [
        one for one in journal.changes if not given or os.path.relpath(one.path, folder) == given
    ]
    if not wanted:
        raise AccordError(
            "The agent has not changed any files."
            if not given
            else f"The agent has not changed {given}."
        )
    for change in wanted:
        path = os.path.relpath(change.path, folder)
        lines = f"{counted(change.added, 'line')} added, {change.removed} removed"
        words = change.why or f"{_STATES[change.state]}, {lines}"
        printer.said("  ", f"{path}: {words}", "bold" if full else "")
        if full and not change.why:
            printer.difference(FileDiff(change.path, old_text=change.before, new_text=change.text))


def show_history(printer: ChatPrinter, chat: Chat) -> None:
    """Print the whole conversation again."""
    from accord.terminal.plain.display.new_chat_entries import ChatUpdates

    again = ChatUpdates(chat, ChatPrinter(printer.out, chat.folder))
    again.tell_all()

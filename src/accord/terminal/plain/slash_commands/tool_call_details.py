"""Prints what a tool was given and what it gave back."""

from __future__ import annotations

import json

from accord.errors import AccordError
from accord.terminal.model.chat import Chat
from accord.terminal.model.labels.amounts_and_durations import counted
from accord.terminal.model.labels.tool_calls import call_name, call_state, call_title, plain_value
from accord.terminal.model.text.display_text import path_words
from accord.terminal.plain.display.chat_printer import ChatPrinter
from accord.transcript import ToolCall

CHARACTERS_MAX = 20_000
"""The maximum length of the input or output that is shown; the rest is counted."""


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

"""Questions of the line mode: permissions, forms, pages, logins, keys, servers of a project.

Each is a generator that yields what to ask next, receives the typed line, and returns the answer
to the question.  So a keyboard, a pipe, a script or a test can answer.

Invariants
    * Only a clear yes approves: Enter, Escape, the end of the input and unknown words do not.
    * The question shows who asks, why, and what exactly would happen.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

from accord.client.permissions.callback_answers import refusal
from accord.client.permissions.request import PermissionRequest
from accord.client.services.elicitation import UrlRequest
from accord.client.wire.wire_interface import AuthMethod
from accord.mcp.project_file import ProjectServer
from accord.terminal.model.chat import Chat
from accord.terminal.model.permissions.permission_options import Choice, choices_of, closing
from accord.terminal.model.questions import Question
from accord.terminal.model.text.display_text import one_line
from accord.terminal.plain.dialogs.form_dialog import form
from accord.terminal.plain.display.chat_printer import ChatPrinter
from accord.terminal.plain.input.input_requests import Ask, Dialogue

ATTEMPTS_MAX = 5
"""Attempts to answer a question; then the answer is no."""

# The letters of answers as words in the question.
KEY_WORDS = {
    "y": "(y)es",
    "s": "(s)ession",
    "f": "(f)older",
    "e": "(e)very",
    "a": "(a)lways",
    "n": "(n)o",
    "v": "ne(v)er",
}


def dialogue_of(question: Question, chat: Chat, printer: ChatPrinter) -> Dialogue:
    """The dialogue for a question; it returns what `Question.answer` takes."""
    request = question.request
    who = one_line(chat.agent_name) or "The agent"
    match question.kind:
        case "permission":
            return _permission(request, chat, printer)
        case "form":
            return form(request, who, printer)
        case "url":
            return _page(request, who, printer)
        case "login":
            return _login(request, who, printer)
        case "credential":
            return _credential(request, printer)
        case "servers":
            return _server(request, printer)


# ---- permissions


def _permission(request: PermissionRequest, chat: Chat, printer: ChatPrinter) -> Dialogue:
    choices = keyed_choices(request, chat.folder)
    words = question_words(choices)
    printer.permission(request, chat)
    printer.choices([(key, choice_words(choice)) for key, choice in choices.items()])
    remark = ""
    for _ in range(ATTEMPTS_MAX):
        said = yield Ask("key", words, keys={key: key_name(key) for key in choices}, remark=remark)
        if said is None:
            # The input has ended, which is not a no.
            return refusal(request, "default")
        # No is always possible, even if the agent offers no such option.
        if not said or (said == "n" and "n" not in choices):
            return closing(request)
        if said == "?":
            printer.answers(explained(choices), whole=True)
            remark = ""
            continue
        if said in choices:
            return choices[said].decision
        remark = f"Please press {_listed(list(choices))}; ? explains them."
    return closing(request)


def keyed_choices(request: PermissionRequest, folder: str) -> dict[str, Choice]:
    """The answers by key; the no that Enter stands for comes last."""
    found = {one.keys[-1]: one for one in choices_of(request, folder) if one.keys}
    no = found.pop("n", None)
    return found if no is None else {**found, "n": no}


def question_words(choices: Mapping[str, Choice]) -> str:
    """The question on one line, with the keys that answer it."""
    return " ".join(("Allow it?", *(KEY_WORDS.get(key, f"({key})") for key in choices)))


def choice_words(choice: Choice) -> str:
    """Describe an answer, and who remembers it."""
    return f"{choice.words} ({choice.remark})" if choice.remark else choice.words


def explained(choices: Mapping[str, Choice]) -> list[tuple[str, str]]:
    """Describe each answer, and what exactly would be remembered."""
    return [(key, f"{choice_words(one)}. {one.covers}") for key, one in choices.items()]


def key_name(key: str) -> str:
    """The word that a key stands for, which may be typed instead."""
    return KEY_WORDS.get(key, key).replace("(", "").replace(")", "")


def _listed(keys: list[str]) -> str:
    return keys[0] if len(keys) == 1 else f"{', '.join(keys[:-1])} or {keys[-1]}"


# ---- pages, logins, keys, servers


def _page(page: UrlRequest, who: str, printer: ChatPrinter) -> Dialogue:
    printer.said(f"{who} asks you to visit a page:", page.message)
    printer.exactly("    ", page.url)
    printer.said("", f"The page is on {page.host}.")
    for warning in page.warnings:
        printer.said("", f"Careful: {warning}", "yellow")
    said = yield from _clear("Open it yourself and continue?", {"y": "yes", "n": "no"})
    if said == "y":
        printer.said(
            "", "Open the address above in your browser. The agent is waiting; Ctrl-C stops it."
        )
    return {"y": True, "n": False}.get(said)


def _login(methods: tuple[AuthMethod, ...], who: str, printer: ChatPrinter) -> Dialogue:
    printer.said("", f"{who} asks you to log in. Login methods:")
    for number, method in enumerate(methods, 1):
        more = f": {one_line(method.description)}" if method.description else ""
        where = " (in this terminal)" if method.kind == "terminal" else ""
        printer.said(f"  {number}  ", f"{one_line(method.name)}{where}{more}")
    remark = ""
    for _ in range(ATTEMPTS_MAX):
        said = yield Ask("line", "Which number? (Enter for none)", remark=remark)
        if not said:
            return None
        if said.isdecimal() and 1 <= int(said) <= len(methods):
            return methods[int(said) - 1].method_id
        remark = f"Please enter a number from 1 to {len(methods)}."
    return None


def _credential(reason: str, printer: ChatPrinter) -> Dialogue:
    printer.said("", f"{reason}. What you type is not shown and not stored.")
    said = yield Ask("secret", "Key (Enter for none):")
    return said or None


def _server(server: ProjectServer, printer: ChatPrinter) -> Dialogue:
    printer.said("", f"This project configures an MCP server, {server.name}, which")
    # With a mark on every line: the project wrote it, and it may contain newlines.
    printer.exactly("  > ", server.described)
    said = yield from _clear("Use it, now and in the future?", {"y": "yes", "n": "no"})
    return {"y": True, "n": False}.get(said)


def _clear(words: str, keys: Mapping[str, str]) -> Generator[Ask, str | None, str]:
    """One of the keys, or nothing if the answer is unclear."""
    shown = " ".join(f"({word[0]}){word[1:]}" for word in keys.values())
    remark = ""
    for _ in range(ATTEMPTS_MAX):
        said = yield Ask("key", f"{words} {shown}, Enter: not now", keys=keys, remark=remark)
        if not said:
            return ""
        if said in keys:
            return said
        remark = f"Please press {_listed(list(keys))}, or Enter."
    return ""


__all__ = [
    "Ask",
    "Dialogue",
    "choice_words",
    "dialogue_of",
    "explained",
    "key_name",
    "keyed_choices",
    "question_words",
]

"""Questions in lines: permissions, forms, pages to visit, logins, keys, servers of a project.

Each is a dialogue: a generator that says what is to be asked next, is told what the person
answered, and returns the answer to the question.  So a keyboard, a pipe and a script can answer,
and a test can too.

What always holds
    * Only a clear yes is a yes: Enter, Escape, the end of the input and words that nobody
      understands approve nothing.
    * What is asked for was shown before: who asks, why, and what exactly would happen.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass

from accord.client.asking import Decision, PermissionOption, PermissionRequest, Scope
from accord.client.elicitation import UrlRequest
from accord.client.wire import AuthMethod
from accord.mcp.project_file import ProjectServer
from accord.terminal.model.chat import Chat
from accord.terminal.model.questions import Question
from accord.terminal.model.text.cleaning import one_line
from accord.terminal.model.words.permission_words import (
    choices_of,
    closing,
    decision_for,
    remembered_words,
)
from accord.terminal.model.words.rule_words import SCOPE_WORDS
from accord.terminal.plain.filling import form
from accord.terminal.plain.line_asks import Ask, Dialogue
from accord.terminal.plain.view import ChatPrinter

ATTEMPTS_MAX = 5
"""How often a question is put again because the answer was not understood; then it is a no."""

# What is remembered by us, beside what the agent offers: key, word of the question, how long.
_SCOPES: tuple[tuple[str, str, Scope], ...] = (
    ("s", "(s)ession", "session"),
    ("f", "(f)older", "workspace"),
    ("e", "(e)verywhere", "always"),
)
_WORDS = {"y": "(y)es", "a": "(a)lways", "n": "(n)o", "v": "ne(v)er"}
_SAID = {"y": "yes", "a": "always", "n": "no", "v": "never", "s": "session", "f": "folder"}
_SAID["e"] = "everywhere"


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


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to answer: its key, its word in the question, what it means, and the decision."""

    key: str
    word: str
    text: str
    said: str
    decision: Decision
    # What would be remembered, for who asks.
    remembered: str


def _permission(request: PermissionRequest, chat: Chat, printer: ChatPrinter) -> Dialogue:
    ways = {way.key: way for way in _ways(request, chat.folder)}
    words = " ".join(("Allow it?", *(way.word for way in ways.values())))
    printer.permission(request, chat)
    printer.choices([(way.key, way.text) for way in ways.values()])
    remark = ""
    for _ in range(ATTEMPTS_MAX):
        said = yield Ask(
            "key", words, keys={way.key: way.said for way in ways.values()}, remark=remark
        )
        if not said:
            return closing(request)
        if said == "?":
            full = [(way.key, f"{way.text}. {way.remembered}") for way in ways.values()]
            printer.choices(full, again=True)
            remark = ""
            continue
        if said in ways:
            return ways[said].decision
        remark = f"Please press {_listed(list(ways))}; ? says what they mean."
    return closing(request)


def _ways(request: PermissionRequest, folder: str) -> list[_Way]:
    allowing: list[_Way] = []
    rejecting: list[_Way] = []
    for choice in choices_of(request):
        if not choice.keys:
            continue
        option = choice.option
        letter = choice.keys[-1]
        way = _way(request, option, letter, folder)
        (allowing if option.allows else rejecting).append(way)
        if option.kind == "allow_once" and letter == "y":
            taken = {key for one in choices_of(request) for key in one.keys}
            allowing += [
                _Way(
                    key,
                    word,
                    f"{one_line(option.name)}, {SCOPE_WORDS[scope]}",
                    _SAID[key],
                    decision_for(request, option, scope),
                    remembered_words(request, option, scope, folder),
                )
                for key, word, scope in _SCOPES
                if key not in taken
            ]
    # The no that Enter says comes last, where the eye is.
    rejecting.sort(key=lambda way: way.key == "n")
    return [*allowing, *rejecting]


def _way(request: PermissionRequest, option: PermissionOption, key: str, folder: str) -> _Way:
    name = one_line(option.name) or option.kind
    text = name
    if not (option.allows or option.rejects):
        text = f"{name} (kind {one_line(option.kind)}, which approves nothing)"
    decision = decision_for(request, option, "once")
    remembered = remembered_words(request, option, "once", folder)
    word = _WORDS.get(key, f"({key})")
    return _Way(key, word, text, _SAID.get(key, name), decision, remembered)


def _listed(keys: list[str]) -> str:
    return keys[0] if len(keys) == 1 else f"{', '.join(keys[:-1])} or {keys[-1]}"


# ---- pages, logins, keys, servers


def _page(page: UrlRequest, who: str, printer: ChatPrinter) -> Dialogue:
    printer.said(f"{who} asks you to visit a page:", page.message)
    printer.exactly("    ", page.url)
    printer.said("", f"It is on {page.host}.")
    for warning in page.warnings:
        printer.said("", f"Careful: {warning}", "yellow")
    said = yield from _clear("Open it yourself and go on?", {"y": "yes", "n": "no"})
    if said == "y":
        printer.said(
            "", "Open the address above in your browser. The agent waits; Ctrl-C stops it."
        )
    return {"y": True, "n": False}.get(said)


def _login(methods: tuple[AuthMethod, ...], who: str, printer: ChatPrinter) -> Dialogue:
    printer.said("", f"{who} wants you to log in. Ways to do that:")
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
        remark = f"Please write a number from 1 to {len(methods)}."
    return None


def _credential(reason: str, printer: ChatPrinter) -> Dialogue:
    printer.said("", f"{reason}. What you type is not shown and kept nowhere.")
    said = yield Ask("secret", "Key (Enter for none):")
    return said or None


def _server(server: ProjectServer, printer: ChatPrinter) -> Dialogue:
    printer.said("", f"This project wants the MCP server {server.name}: it {server.described}.")
    said = yield from _clear("Use it, now and later?", {"y": "yes", "n": "no"})
    return {"y": True, "n": False}.get(said)


def _clear(words: str, keys: Mapping[str, str]) -> Generator[Ask, str | None, str]:
    """One of the keys, or nothing where none was clearly meant."""
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


__all__ = ["Ask", "Dialogue", "dialogue_of"]

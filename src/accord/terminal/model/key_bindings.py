"""All keys: actions and their default keys, fixed keys, the user's changes, and keys' names.

A key has one name in the configuration, one in Textual and one for display.  This module does not
know any screen.

Invariant: an action has at least one key or is in the palette; a key that the user gives
to one action is taken from the other that had it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class KeyBinding:
    """An action: its `name` in the configuration, and its `keys` in Textual's notation."""

    name: str
    keys: tuple[str, ...]
    text: str
    group: str


ACTIONS: tuple[KeyBinding, ...] = (
    KeyBinding("send", ("enter",), "send the prompt, or queue it during a turn", "prompt"),
    KeyBinding("newline", ("shift+enter", "alt+enter", "ctrl+j"), "insert a line break", "prompt"),
    KeyBinding("search_history", ("ctrl+r",), "search earlier prompts", "prompt"),
    KeyBinding("attach", ("ctrl+o",), "attach a file", "prompt"),
    KeyBinding("edit_outside", ("ctrl+g",), "write the prompt in $EDITOR", "prompt"),
    KeyBinding("edit_queue", ("alt+up",), "edit the last queued prompt", "prompt"),
    KeyBinding("stop", ("escape",), "stop the turn", "turn"),
    KeyBinding("retry", ("alt+r",), "retry, or restart the agent", "turn"),
    KeyBinding("cycle_mode", ("shift+tab",), "next mode", "session"),
    KeyBinding("pick_options", ("f3",), "modes, models and options", "session"),
    KeyBinding(
        "pick_session", ("f2",), "earlier sessions: resume, rename, fork, delete", "session"
    ),
    KeyBinding("people", ("f9",), "people of the session: invite, change roles", "session"),
    KeyBinding("new_tab", ("ctrl+t",), "new session in a tab", "session"),
    KeyBinding("close_tab", ("alt+w",), "close the tab", "session"),
    KeyBinding("next_tab", ("ctrl+pagedown", "alt+right"), "next tab", "session"),
    KeyBinding("previous_tab", ("ctrl+pageup", "alt+left"), "previous tab", "session"),
    KeyBinding("log_in", (), "log in to the agent", "session"),
    KeyBinding("log_out", (), "log out of the agent", "session"),
    KeyBinding("toggle_fold", ("alt+f",), "fold or unfold the entry", "view"),
    KeyBinding("fold_all", ("alt+a",), "fold or unfold all", "view"),
    KeyBinding("side_by_side", ("alt+d",), "diffs inline or side by side", "view"),
    KeyBinding("previous_entry", ("ctrl+up",), "select the entry above", "view"),
    KeyBinding("next_entry", ("ctrl+down",), "select the entry below", "view"),
    KeyBinding("details", ("alt+i",), "raw input and output of the tool", "view"),
    KeyBinding("copy", ("alt+c",), "copy the entry", "view"),
    KeyBinding("open_editor", ("alt+o",), "open the file of the entry in $EDITOR", "view"),
    KeyBinding("toggle_plan", ("alt+p",), "show or hide the plan", "view"),
    KeyBinding("follow", ("f4",), "follow the file the agent is working on", "view"),
    KeyBinding("review", ("f5",), "review changed files: keep or undo", "view"),
    KeyBinding("traffic", ("f6",), "messages exchanged with the agent", "view"),
    KeyBinding("grants", ("f7",), "permission rules: list and revoke", "view"),
    KeyBinding("theme", ("f8",), "light, dark, high contrast, no colour", "view"),
    KeyBinding("palette", ("ctrl+p",), "command palette", "program"),
    KeyBinding("help", ("f1", "question_mark"), "keyboard shortcuts", "program"),
    KeyBinding("quit", ("ctrl+q",), "quit", "program"),
)


@dataclass(frozen=True, slots=True)
class FixedKey:
    """Keys that the configuration cannot change, as they are shown."""

    shown: str
    text: str
    group: str


FIXED_KEYS: tuple[FixedKey, ...] = (
    FixedKey("/", "commands of the agent", "prompt"),
    FixedKey("@", "a file of the project", "prompt"),
    FixedKey("PgUp, PgDn", "scroll; End returns to the newest entries", "view"),
    FixedKey("Ctrl+C", "copy the selection, stop the turn, or quit when pressed twice", "program"),
)

# The headings of the groups.
GROUP_TEXTS = {
    "prompt": "Writing a prompt",
    "turn": "During a turn",
    "session": "Sessions",
    "view": "View",
    "program": "Program",
}


@dataclass(frozen=True, slots=True)
class Clash:
    """The user moved a key to another action; `is_last`: the old one has no key left."""

    key: str
    given_to: str
    taken_from: str
    is_last: bool


def actions_with(changes: Mapping[str, Sequence[str]]) -> tuple[KeyBinding, ...]:
    """The actions with the user's keys in place of the defaults.

    Raises:
        KeyError: there is no such action.
    """
    known = {action.name for action in ACTIONS}
    for name in changes:
        if name not in known:
            raise KeyError(name)
    taken = {key for keys in changes.values() for key in keys}
    found: list[KeyBinding] = []
    for action in ACTIONS:
        if action.name in changes:
            found.append(replace(action, keys=tuple(changes[action.name])))
        else:
            kept = tuple(key for key in action.keys if key not in taken)
            found.append(replace(action, keys=kept))
    return tuple(found)


def clashes_of(changes: Mapping[str, Sequence[str]]) -> tuple[Clash, ...]:
    """The keys that the user's configuration takes from other actions."""
    given = {key: name for name, keys in changes.items() for key in keys}
    return tuple(
        Clash(key, given[key], action.name, all(one in given for one in action.keys))
        for action in ACTIONS
        if action.name not in changes
        for key in action.keys
        if key in given
    )


_NAMED = frozenset(
    {"up", "down", "left", "right", "home", "end", "pageup", "pagedown", "insert", "delete"}
    | {"backspace", "tab", "enter", "escape", "space", "menu", "pause", "print_screen"}
    | {f"f{number}" for number in range(1, 25)}
)
_MODIFIERS = ("alt", "ctrl", "hyper", "meta", "shift", "super")
# Names in the configuration.
_ALIASES = {
    "esc": "escape",
    "return": "enter",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "pgdown": "pagedown",
    "del": "delete",
    "ins": "insert",
    "control": "ctrl",
    "option": "alt",
    "cmd": "super",
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}
_SHOWN = {
    "escape": "Esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "delete": "Del",
    "insert": "Ins",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}
# Keys that type a character when pressed alone.
_TYPED = frozenset({"space", "backspace"})
# The only action that such a key may have: it works while the prompt is empty.
_MAY_BE_TYPED = "help"


def key_named(text: str) -> str | None:
    """Convert a key of the configuration to Textual's name; None if there is no such key.

    Case, `-` for `+`, the order of ctrl, alt and shift, and short names do not matter.
    """
    text = text.strip()
    if len(text) == 1:
        return _named(text)
    joined = text.replace("-", "+") if "+" not in text[:-1] else text
    if joined.endswith("++"):
        joined = joined[:-1] + "plus"
    *before, last = joined.split("+")
    modifiers = {_ALIASES.get(one, one) for one in (one.strip().lower() for one in before)}
    if not modifiers.issubset(_MODIFIERS):
        return None
    key = _named(last.strip() if len(last.strip()) != 1 else last.strip().lower())
    if key is None:
        return None
    if len(key) == 1 and modifiers == {"shift"}:
        return key.upper()
    return "+".join((*sorted(modifiers), key))


def _named(text: str) -> str | None:
    if len(text) == 1:
        if text.isalnum():
            return text
        if not text.isprintable() or text == " ":
            return None
        text = unicodedata.name(text, "").replace("-", "_").replace(" ", "_")
        return _ALIASES.get(text.lower(), text.lower()) or None
    lowered = text.lower()
    name = _ALIASES.get(lowered, lowered)
    return name if name in _NAMED or _character(name) is not None else None


def _character(name: str) -> str | None:
    # Names of characters are those of Unicode, with a few exceptions.
    unicode = next((long for long, short in _ALIASES.items() if short == name), name)
    try:
        found = unicodedata.lookup(
            unicode.replace("_", " ").replace("hyphen minus", "hyphen-minus")
        )
    except KeyError:
        return None
    return found if found.isascii() and found.isprintable() and found != " " else None


def is_typed(key: str) -> bool:
    """Whether the key, pressed alone, types a character."""
    return "+" not in key and (key in _TYPED or key not in _NAMED)


def key_text(key: str) -> str:
    """A key for display: `Ctrl+PgDn`, `?`."""
    *modifiers, last = key.split("+")
    shown = _SHOWN.get(last)
    if shown is None:
        character = None if len(last) == 1 or last in _NAMED else _character(last)
        shown = character or last.replace("_", " ")
        if len(shown) == 1 and shown.isascii() and modifiers:
            shown = shown.upper()
        shown = shown if len(shown) == 1 else shown.capitalize()
    return "+".join((*(one.capitalize() for one in modifiers), shown))


def may_have(action: str, key: str) -> bool:
    """Whether the action may use this key: one that types a character is needed for typing."""
    return action == _MAY_BE_TYPED or not is_typed(key)

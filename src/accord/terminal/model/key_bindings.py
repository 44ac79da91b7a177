"""What can be done by a key, and by which: the defaults, and what the user's configuration changes.

This module does not know any screen.

Invariant: an action has at least one key or is in the palette; a key that the user gives
to one action is taken from the other that had it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do: `name` as the configuration calls it, `keys` as Textual writes them."""

    name: str
    keys: tuple[str, ...]
    text: str
    group: str


ACTIONS: tuple[Action, ...] = (
    Action("send", ("enter",), "send the prompt, or queue it during a turn", "prompt"),
    Action("newline", ("shift+enter", "alt+enter", "ctrl+j"), "insert a line break", "prompt"),
    Action("search_history", ("ctrl+r",), "search earlier prompts", "prompt"),
    Action("attach", ("ctrl+o",), "attach a file", "prompt"),
    Action("edit_outside", ("ctrl+g",), "write the prompt in $EDITOR", "prompt"),
    Action("edit_queue", ("alt+up",), "edit the last queued prompt", "prompt"),
    Action("stop", ("escape",), "stop the turn", "turn"),
    Action("retry", ("alt+r",), "retry, or restart the agent", "turn"),
    Action("cycle_mode", ("shift+tab",), "next mode", "session"),
    Action("pick_options", ("f3",), "modes, models and options", "session"),
    Action("pick_session", ("f2",), "earlier sessions: resume, rename, fork, delete", "session"),
    Action("new_tab", ("ctrl+t",), "new session in a tab", "session"),
    Action("close_tab", ("alt+w",), "close the tab", "session"),
    Action("next_tab", ("ctrl+pagedown", "alt+right"), "next tab", "session"),
    Action("previous_tab", ("ctrl+pageup", "alt+left"), "previous tab", "session"),
    Action("log_in", (), "log in to the agent", "session"),
    Action("log_out", (), "log out of the agent", "session"),
    Action("toggle_fold", ("alt+f",), "fold or unfold the entry", "view"),
    Action("fold_all", ("alt+a",), "fold or unfold all", "view"),
    Action("side_by_side", ("alt+d",), "diffs inline or side by side", "view"),
    Action("previous_entry", ("ctrl+up",), "select the entry above", "view"),
    Action("next_entry", ("ctrl+down",), "select the entry below", "view"),
    Action("details", ("alt+i",), "raw input and output of the tool", "view"),
    Action("copy", ("alt+c",), "copy the entry", "view"),
    Action("open_editor", ("alt+o",), "open the file of the entry in $EDITOR", "view"),
    Action("toggle_plan", ("alt+p",), "show or hide the plan", "view"),
    Action("follow", ("f4",), "follow the file the agent is working on", "view"),
    Action("review", ("f5",), "review changed files: keep or undo", "view"),
    Action("traffic", ("f6",), "messages exchanged with the agent", "view"),
    Action("grants", ("f7",), "permission rules: list and revoke", "view"),
    Action("theme", ("f8",), "light, dark, high contrast, no colour", "view"),
    Action("palette", ("ctrl+p",), "command palette", "program"),
    Action("help", ("f1", "question_mark"), "keyboard shortcuts", "program"),
    Action("quit", ("ctrl+q",), "quit", "program"),
)


# What the groups are, in words.
GROUP_TEXTS = {
    "prompt": "Writing a prompt",
    "turn": "During a turn",
    "session": "Sessions",
    "view": "View",
    "program": "Program",
}


@dataclass(frozen=True, slots=True)
class Clash:
    """The user gave a key to one action that another had; `is_last`: that has no key anymore."""

    key: str
    given_to: str
    taken_from: str
    is_last: bool


def actions_with(changes: Mapping[str, Sequence[str]]) -> tuple[Action, ...]:
    """The actions with the user's keys in place of the defaults.

    Raises:
        KeyError: there is no such action.
    """
    known = {action.name for action in ACTIONS}
    for name in changes:
        if name not in known:
            raise KeyError(name)
    taken = {key for keys in changes.values() for key in keys}
    found: list[Action] = []
    for action in ACTIONS:
        if action.name in changes:
            found.append(replace(action, keys=tuple(changes[action.name])))
        else:
            kept = tuple(key for key in action.keys if key not in taken)
            found.append(replace(action, keys=kept))
    return tuple(found)


def clashes_of(changes: Mapping[str, Sequence[str]]) -> tuple[Clash, ...]:
    """What the user's keys take from actions that keep their defaults."""
    given = {key: name for name, keys in changes.items() for key in keys}
    return tuple(
        Clash(key, given[key], action.name, all(one in given for one in action.keys))
        for action in ACTIONS
        if action.name not in changes
        for key in action.keys
        if key in given
    )


__all__ = ["ACTIONS", "GROUP_TEXTS", "Action", "Clash", "actions_with", "clashes_of"]

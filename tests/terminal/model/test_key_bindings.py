"""Keys: how they are written, called and shown, and what becomes of the defaults."""

from __future__ import annotations

import pytest

from accord.terminal.model.key_bindings import (
    ACTIONS,
    Clash,
    actions_with,
    clashes_of,
    is_typed,
    key_named,
    key_text,
    may_have,
)


@pytest.mark.parametrize(
    ("written", "key", "shown"),
    [
        ("?", "question_mark", "?"),
        ("Ctrl-T", "ctrl+t", "Ctrl+T"),
        ("ctrl+alt+Left", "alt+ctrl+left", "Alt+Ctrl+←"),
        ("esc", "escape", "Esc"),
        ("shift+x", "X", "X"),
        ("F12", "f12", "F12"),
        ("ctrl++", "ctrl+plus", "Ctrl++"),
        ("ctrl+-", "ctrl+minus", "Ctrl+-"),
        ("ctrl+/", "ctrl+slash", "Ctrl+/"),
        ("alt+pgdn", "alt+pagedown", "Alt+PgDn"),
        ("ctrl+ß", "ctrl+ß", "Ctrl+ß"),
        ("shift+tab", "shift+tab", "Shift+Tab"),
        ("enter", "enter", "Enter"),
    ],
)
def test_a_key_is_understood_however_it_is_written(written: str, key: str, shown: str) -> None:
    """Ours."""
    assert key_named(written) == key
    assert key_text(key) == shown
    assert key_named(key) == key


@pytest.mark.parametrize("written", ["", "f99", "strg+a", "ctrl+", "cat", "\x1b", "\t", "ctrl+ "])
def test_what_is_no_key_is_none(written: str) -> None:
    """Ours."""
    assert key_named(written) is None


def test_every_default_is_a_key_that_its_action_may_have() -> None:
    """Ours."""
    for action in ACTIONS:
        for key in action.keys:
            assert key_named(key) == key
            assert may_have(action.name, key)


def test_keys_that_write_are_known() -> None:
    """Ours: the editor would lose them."""
    assert is_typed("x")
    assert is_typed("question_mark")
    assert is_typed("space")
    assert not is_typed("f1")
    assert not is_typed("ctrl+x")
    assert not is_typed("enter")
    assert may_have("help", "question_mark")
    assert not may_have("stop", "question_mark")


def test_no_two_actions_have_a_key() -> None:
    """Ours."""
    keys = [key for action in ACTIONS for key in action.keys]
    assert len(keys) == len(set(keys))


def test_a_given_key_is_taken_from_the_other_and_said() -> None:
    """Contract of the module."""
    changes = {"stop": ("f4", "ctrl+pagedown")}
    found = {action.name: action.keys for action in actions_with(changes)}
    assert found["stop"] == ("f4", "ctrl+pagedown")
    assert found["follow"] == ()
    assert found["next_tab"] == ("alt+right",)
    assert clashes_of(changes) == (
        Clash("ctrl+pagedown", "stop", "next_tab", is_last=False),
        Clash("f4", "stop", "follow", is_last=True),
    )
    with pytest.raises(KeyError):
        actions_with({"dance": ("f4",)})

"""What is being completed where the cursor stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.terminal.model.prompt.completion import (
    CommandChoice,
    CompletionQuery,
    asked_in,
    choices_of,
    fitting,
    hint_for,
)
from accord.transcript.items.options_and_commands import Command

COMMANDS = [
    Command("plan", "Make\na plan", "what\x1b[31m to plan"),
    Command("/explain", "Explain"),
    Command("", "nameless"),
    Command("re_plan", "Again"),
    Command("p_l_x", "Letters"),
]


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("/", CompletionQuery("command", "", 0)),
        ("/pl", CompletionQuery("command", "pl", 0)),
        (" /pl", None),
        ("/plan x", None),
        ("see /pl", None),
        ("@", CompletionQuery("file", "", 0)),
        ("see @src/ma", CompletionQuery("file", "src/ma", 4)),
        ("(@a", CompletionQuery("file", "a", 1)),
        ("/plan @a", CompletionQuery("file", "a", 6)),
        ("me@example", None),
        ("@@a", None),
        ("@a b", None),
        ("", None),
    ],
)
def test_commands_begin_the_prompt_and_files_begin_a_word(
    line: str, asked: CompletionQuery | None
) -> None:
    """Issue 6: `/` at the start of the text, `@` for files."""
    assert asked_in(line, len(line), is_first_line=True) == asked


def test_on_later_lines_and_behind_the_cursor_there_is_no_command() -> None:
    """Ours."""
    assert asked_in("/pl", 3, is_first_line=False) is None
    assert asked_in("/plan x", 2, is_first_line=True) == CompletionQuery("command", "p", 0)
    assert asked_in("@abc", 2, is_first_line=True) == CompletionQuery("file", "a", 0)


@given(st.text(), st.integers(0, 30))
def test_what_is_asked_stands_before_the_cursor(line: str, column: int) -> None:
    """Ours: it is what is replaced."""
    column = min(column, len(line))
    asked = asked_in(line, column, is_first_line=True)
    if asked is not None:
        mark = "/" if asked.kind == "command" else "@"
        assert line[asked.start : column] == mark + asked.query


def test_commands_are_clean_and_those_without_a_name_are_left_out() -> None:
    """Issue 6: everything an agent sends is untrusted."""
    choices = choices_of(COMMANDS)
    assert choices[0] == CommandChoice("plan", "Make a plan", "what to plan")
    assert [choice.name for choice in choices] == ["plan", "explain", "re_plan", "p_l_x"]


def test_beginnings_come_before_middles_and_letters() -> None:
    """Ours."""
    choices = choices_of(COMMANDS)
    assert [one.name for one in fitting(choices, "PL")] == ["plan", "explain", "re_plan", "p_l_x"]
    assert [one.name for one in fitting(choices, "")] == ["plan", "explain", "re_plan", "p_l_x"]
    assert fitting(choices, "zz") == []


def test_the_hint_is_there_until_something_follows() -> None:
    """Issue 6: hint of the chosen command."""
    choices = choices_of(COMMANDS)
    assert hint_for(choices, "/plan ") == "what to plan"
    for text in ("/plan", "/plan x ", "plan ", "/nope ", "/explain ", "/plan \n", ""):
        assert hint_for(choices, text) == ""

"""Calling the user who looks elsewhere."""

from __future__ import annotations

from unicodedata import category

import anyio
from hypothesis import given
from hypothesis import strategies as st

from accord.terminal.model.bell_and_title import TITLE_COLUMNS_MAX, Attention, Signs, window_title
from accord.terminal.model.chat import Chat, Problem
from accord.terminal.model.text.display_text import columns


def _chat(attention: Attention, folder: str = "/home/me/project/") -> Chat:
    chat = Chat(folder)
    chat.on_change = lambda: attention.chat_changed(chat)
    chat.set_phase("ready")
    return chat


def _words(signs: Signs) -> str | None:
    if signs.title is None:
        return None
    assert signs.title.startswith("\x1b]2;")
    assert signs.title.endswith("\x1b\\")
    return signs.title[4:-2]


def test_a_person_who_is_here_is_not_called() -> None:
    """Contract: but the title tells where things stand."""
    attention = Attention(bell=True)
    chat = _chat(attention)
    assert attention.take([chat]) == Signs(False, window_title("accord — project"))
    chat.set_phase("working")
    assert _words(attention.take([chat])) == "… working — project"
    chat.set_phase("ready")
    assert _words(attention.take([chat])) == "accord — project"
    # What is right already is not written again.
    assert attention.take([chat]) == Signs()
    assert _words(attention.take([])) == "accord"


def test_the_end_of_a_turn_rings_once_for_a_person_who_is_away() -> None:
    """Issue: notifications; the bell only where the user wants it."""
    for wants in (True, False):
        attention = Attention(bell=wants)
        chat = _chat(attention)
        chat.set_phase("working")
        attention.take([chat])
        attention.focus(is_here=False)
        chat.set_phase("ready")
        signs = attention.take([chat])
        assert signs.bell is wants
        assert _words(signs) == "✓ done — project"
        assert attention.take([chat]) == Signs()
        attention.focus(is_here=True)
        assert _words(attention.take([chat])) == "accord — project"


def test_a_failure_is_told_as_one() -> None:
    """Ours."""
    attention = Attention(bell=True)
    chat = _chat(attention)
    chat.set_phase("working")
    attention.focus(is_here=False)
    chat.set_problem(Problem("turn_failed", "No."))
    chat.set_phase("ready")
    signs = attention.take([chat])
    assert signs.bell
    assert _words(signs) is not None


async def test_a_question_calls_before_all_else() -> None:
    """Issue: one is marked when it needs an answer."""
    attention = Attention(bell=True)
    one, two = _chat(attention), _chat(attention, "/srv/other")
    one.set_phase("working")
    attention.focus(is_here=False)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(two.questions.ask, "credential", "why")
        await anyio.wait_all_tasks_blocked()
        signs = attention.take([one, two])
        assert signs.bell
        assert _words(signs) == "● needs you — other"
        assert not attention.take([one, two]).bell
        tasks.cancel_scope.cancel()
    assert _words(attention.take([one])) == "… working — project"


@given(st.text(max_size=200))
def test_no_folder_commands_the_terminal(name: str) -> None:
    """Issue: escape sequences never reach the terminal unfiltered."""
    title = window_title(Attention().title([Chat(f"/{name}")]))
    inside = title[4:-2]
    assert columns(inside) <= TITLE_COLUMNS_MAX
    assert not {category(letter) for letter in inside} & {"Cc", "Cf", "Cs"}

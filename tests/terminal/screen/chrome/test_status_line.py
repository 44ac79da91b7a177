"""The status line: what happens now, and how to stop it."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from textual.app import App

from accord.client.people import Author
from accord.terminal.model.chat import Chat, Problem, ProblemKind
from accord.terminal.screen.chrome.status_line import StatusLine
from accord.terminal.screen.prompt.prompt_editor import placeholder
from accord.transcript.items.session_state import BackgroundItem
from tests.terminal.screen.harness.shared_chats import ANN, BOB, shared_chat
from tests.terminal.screen.harness.stage import (
    CJK,
    HOSTILE,
    LONG,
    NARROW,
    WIDE,
    ControllerDouble,
    Stage,
    a_chat,
    pass_time,
    place_of,
)


class Stopping(Stage):
    """Notes that Stop was clicked."""

    stopped = 0

    def on_status_line_stop_pressed(self) -> None:
        self.stopped += 1


def _stage(chat: Chat) -> tuple[Stopping, StatusLine]:
    line = StatusLine(chat, ControllerDouble(chat).controller)
    return Stopping(line), line


def _line(app: App[Any]) -> str:
    assert isinstance(app, Stage)
    return app.lines[0].strip()


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_turn_from_its_beginning_to_its_end(size: tuple[int, int]) -> None:
    """Issue: elapsed time, quiet with what it last did, stopping, how it ended."""
    chat = a_chat()
    app, line = _stage(chat)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert _line(app) == "Ready"
        chat.set_phase("working")
        pass_time(chat, 5)
        chat.last_did = "Running tests"
        line.refresh_chat()
        await pilot.pause()
        assert _line(app).startswith("● Working · 5 s · Running tests ")
        assert _line(app).endswith("[Stop] Esc")
        pass_time(chat, 90)
        line.refresh_chat()
        await pilot.pause()
        assert _line(app).startswith("◌ Quiet for 1 m 35 s — last: Running tests")
        chat.turn_cancelled()
        line.refresh_chat()
        await pilot.pause()
        assert _line(app).startswith("◌ Stopping…")
        assert _line(app).endswith("[Abandon it] Esc")
        chat.stop_reason = "cancelled"
        chat.set_phase("ready")
        line.refresh_chat()
        await pilot.pause()
        assert _line(app) == "Ready · You stopped the turn"


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (None, "Ready"),
        ("end_turn", "Ready"),
        ("max_tokens", "Ready · The agent stopped: it reached the token limit"),
        ("_too_hot\x1b[31m", "Ready · The turn ended: _too_hot"),
    ],
)
async def test_how_the_last_turn_ended(reason: str | None, words: str) -> None:
    """Issue: unknown stop reasons are shown generically."""
    chat = a_chat()
    chat.stop_reason = reason
    app, _ = _stage(chat)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        assert _line(app) == words


async def test_states_around_a_turn() -> None:
    """Issue: waiting, starting and lost are told apart."""
    chat = a_chat()
    app, line = _stage(chat)
    async with app.run_test(size=WIDE) as pilot:
        for phase, words in (
            ("starting", "○ Starting Claude Agent…"),
            ("lost", "✗ The agent is not running"),
        ):
            chat.set_phase(phase)  # type: ignore[arg-type]
            line.refresh_chat()
            await pilot.pause()
            assert _line(app) == words
        chat.set_phase("ready")
        chat.set_problem(Problem("turn_failed", "No."))
        line.refresh_chat()
        await pilot.pause()
        assert _line(app) == "✗ See above"


async def test_a_question_is_what_is_waited_for() -> None:
    """Issue: waiting is shown apart; several have a count."""
    chat = a_chat()
    chat.set_phase("working")
    app, line = _stage(chat)
    async with app.run_test(size=NARROW) as pilot, anyio.create_task_group() as tasks:
        tasks.start_soon(chat.questions.ask, "credential", "why")
        tasks.start_soon(chat.questions.ask, "credential", "why")
        await pilot.pause()
        line.refresh_chat()
        await pilot.pause()
        assert _line(app).startswith("◆ Waiting for you · 2 questions")
        # The dialog has the key; the button stays.
        assert _line(app).endswith("[Stop]")
        tasks.cancel_scope.cancel()


async def test_an_agent_that_works_by_itself_is_seen_and_can_be_stopped() -> None:
    """Protocol (v2): work outside a turn, and behind everything."""
    chat = a_chat()
    chat.set_phase("ready")
    app, line = _stage(chat)
    async with app.run_test(size=WIDE) as pilot:
        behind = [BackgroundItem("terminal", "t1")]
        chat.transcript.state.report("running", background=behind)
        line.refresh_chat()
        await pilot.pause()
        assert _line(app).startswith("● Working on its own · 1 task in the background")
        await pilot.click(offset=place_of(app, "Stop"))
        assert app.stopped == 1
        chat.transcript.state.report("idle", background=behind)
        line.refresh_chat()
        await pilot.pause()
        assert _line(app) == "Ready · 1 task in the background"


@pytest.mark.parametrize(
    ("kind", "words", "prompt"),
    [
        ("agent_lost", "✗ The agent is not running", "The agent is not running"),
        ("session_lost", "✗ No session", "There is no session yet"),
        ("login_needed", "✗ Not logged in", "You are not logged in"),
    ],
)
async def test_what_is_missing_is_said_as_it_is(kind: ProblemKind, words: str, prompt: str) -> None:
    """Ours: an agent that wants a login, or has no such session, is not gone."""
    chat = a_chat()
    chat.set_phase("lost")
    chat.set_problem(Problem(kind, "why"))
    app, _ = _stage(chat)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        assert _line(app) == words
        assert placeholder(chat).startswith(prompt)


async def test_stop_can_be_clicked() -> None:
    """Issue: a visible, clickable Stop."""
    chat = a_chat()
    chat.set_phase("working")
    app, _ = _stage(chat)
    async with app.run_test(size=NARROW) as pilot:
        await pilot.pause()
        await pilot.click(offset=place_of(app, "Working"))
        assert app.stopped == 0
        await pilot.click(offset=place_of(app, "Stop"))
        assert app.stopped == 1


@pytest.mark.parametrize("did", [HOSTILE, LONG, CJK])
@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_whatever_the_agent_does_stop_is_seen(did: str, size: tuple[int, int]) -> None:
    """Issue: everything an agent sends is untrusted."""
    chat = a_chat()
    chat.set_phase("working")
    chat.last_did = did
    app, _ = _stage(chat)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert _line(app).startswith("● Working · ")
        assert _line(app).endswith("[Stop] Esc")
        assert "\x1b" not in app.text


@pytest.mark.parametrize("role", ["viewer", "editor"])
@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_the_turn_of_somebody_else_is_shown(size: tuple[int, int], role: str) -> None:
    """Issue 17: that it runs, for whom, and Stop for those who may."""
    chat = shared_chat("bob", ANN, {**BOB, "role": role})
    assert chat.people is not None
    await chat.people.refresh()
    chat.people.turn = Author("ann", "Ann")
    app, line = _stage(chat)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert _line(app).startswith("● Working for Ann · with Ann")
        assert ("[Stop]" in _line(app)) is (role == "editor")
        if role == "editor":
            await pilot.click(offset=place_of(app, "[Stop]"))
            assert app.stopped == 1
        chat.set_phase("working")
        line.refresh_chat()
        await pilot.pause()
        assert _line(app).startswith("● Working · Ann's turn is first")
        chat.set_phase("ready")
        chat.people.turn = Author("bob", "Bob")
        line.refresh_chat()
        await pilot.pause()
        assert _line(app).startswith("● Working on your prompt")
        chat.people.turn = None
        line.refresh_chat()
        await pilot.pause()
        assert _line(app).startswith("Ready")

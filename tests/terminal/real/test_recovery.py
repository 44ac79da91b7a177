"""What was said goes on after the worst: the program killed, the agent killed, none to start."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from tests.terminal.real.chat_screen import EMPTY, HERE, ChatScreen, agent
from tests.terminal.tmux import needs_tmux

pytestmark = needs_tmux

SILENT = "import sys; sys.stdin.read()"


def test_a_session_goes_on_after_the_program_was_killed(tmp_path: Path) -> None:
    """Issue 6: resume after kill -9 of the client; its history is shown."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    state = {"ACCORD_STATE_DIR": str(first / "state")}
    with ChatScreen(first, "chat") as chat:
        chat.ready()
        work = chat.work
        chat.say("run echo one two three")
        chat.answer("y", "1 y  ✓ Allow")
        chat.wait_for("✓ $ Run echo one two three", EMPTY)
        agents = chat.processes("accord/__main__.py agent")
        assert agents
        os.kill(chat.pid, signal.SIGKILL)
        chat.wait_ended()
        # Nobody is there to end it: it sees by itself that its client is gone.
        chat.wait_processes_gone(agents)
    with ChatScreen(second, "chat", "--continue", work=work, env=state) as chat:
        chat.wait_for("❯ run echo one two three", "one two three", EMPTY)
        chat.say("help")
        chat.wait_for("As commands:", EMPTY)
        chat.leave()


def test_an_agent_that_was_killed_is_restarted_by_one_key(tmp_path: Path) -> None:
    """Issue 6: what happened, and restart with the session resumed, by one key."""
    with ChatScreen(tmp_path, "chat") as chat:
        chat.ready()
        chat.say("run echo one two three")
        chat.answer("y", "1 y  ✓ Allow")
        chat.wait_for("✓ $ Run echo one two three", EMPTY)
        for pid in chat.processes("accord/__main__.py agent"):
            os.kill(pid, signal.SIGKILL)
        chat.wait_for("The agent stopped", "SIGKILL", "Restart the agent", "not running")
        chat.press("M-r")
        chat.wait_for("one two three", "Ready", EMPTY)
        chat.say("help")
        chat.wait_for("As commands:", EMPTY)
        chat.leave()


def test_an_agent_that_dies_in_a_turn_says_its_last_words(tmp_path: Path) -> None:
    """Issue 6: exit code, last lines of stderr; what was typed is not lost."""
    with ChatScreen(tmp_path, "chat", *agent()) as chat:
        chat.ready()
        chat.say("die")
        chat.wait_for("The agent stopped", "7", "the disk is on fire", "Restart the agent")
        chat.press("Enter")
        chat.ready()
        chat.say("hello")
        chat.wait_for("You said hello.")
        chat.leave()


def test_an_agent_that_ends_at_once_can_be_started_again(tmp_path: Path) -> None:
    """Issue 6: a dead agent."""
    with ChatScreen(tmp_path, "chat", "--", "false") as chat:
        chat.wait_for("The agent could not be started", "Restart the agent")
        chat.type("kept")
        chat.wait_for("❯ kept")
        chat.press("M-r")
        chat.wait_for("The agent could not be started", "Restart the agent", "❯ kept")
        chat.press("C-q")
        assert chat.wait_ended() == 0


def test_an_agent_that_is_not_installed_is_named(tmp_path: Path) -> None:
    """Issue 6: a dead agent."""
    with ChatScreen(tmp_path, "chat", "--", "no-such-agent-anywhere") as chat:
        chat.wait_for(
            "The agent could not be started", "no-such-agent-anywhere", "Restart the agent"
        )
        chat.leave()


def test_one_can_leave_while_an_agent_does_not_answer(tmp_path: Path) -> None:
    """Issue 6: it never answers initialize."""
    with ChatScreen(tmp_path, "chat", "--", sys.executable, "-c", SILENT) as chat:
        chat.wait_for("Starting", "you can already type")
        chat.type("kept")
        chat.wait_for("❯ kept")
        chat.leave()


def test_an_agent_that_never_answers_is_given_up_and_can_be_restarted(tmp_path: Path) -> None:
    """Issue 6: it never answers initialize: the same as a death, after the time limit."""
    program = (sys.executable, str(HERE / "impatient.py"))
    silent = (sys.executable, "-c", SILENT)
    with ChatScreen(tmp_path, *silent, program=program) as chat:
        chat.wait_for(
            "The agent could not be started", "Restart the agent", "The agent is not running"
        )
        chat.press("M-r")
        chat.wait_for("The agent could not be started", "Restart the agent")
        chat.leave()


def test_a_turn_that_failed_is_tried_again_by_one_key(tmp_path: Path) -> None:
    """Issue 6: a failed turn says why and offers retry by one key."""
    with ChatScreen(tmp_path, "chat", *agent()) as chat:
        chat.ready()
        chat.say("fail")
        chat.wait_for("The turn failed: the model broke", "Try again")
        chat.press("M-r")
        chat.until(lambda shown: shown.count("❯ fail") == 2 and "Try again" in shown)
        chat.press("Escape")
        chat.wait_gone("Try again")
        chat.leave()

"""Stopping a turn on a real screen: by a key, by the mouse, and what is left of the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.terminal.real.chat_screen import EMPTY, ChatScreen, agent
from tests.terminal.tmux import needs_tmux

pytestmark = needs_tmux


@pytest.mark.parametrize("how", ["Escape", "C-c", "click"])
def test_the_built_in_agents_command_is_gone_when_the_turn_is_stopped(
    tmp_path: Path, how: str
) -> None:
    """Issue 6: Esc, or a visible, clickable Stop, cancels the turn; cancelled is shown."""
    with ChatScreen(tmp_path, "chat") as chat:
        chat.ready()
        chat.say("run sleep 60")
        chat.answer("y", "1 y  ✓ Allow")
        chat.wait_for("● Working", "[Stop]", "$ Run sleep 60")
        # The card says that it runs when the agent has started it.
        chat.until(lambda shown: "running" in shown and chat.processes("sleep 60"))
        command = chat.processes("sleep 60")
        if how == "click":
            chat.click("[Stop]")
        else:
            chat.press(how)
        chat.wait_for("cancelled", "You stopped the turn.", EMPTY)
        chat.wait_processes_gone(command)
        chat.say("help")
        chat.wait_for("As commands:", EMPTY)
        chat.leave()


def test_what_waits_in_the_queue_stays_when_the_turn_is_stopped(tmp_path: Path) -> None:
    """Issue 6: a queue of next prompts while a turn runs, visible and editable."""
    with ChatScreen(tmp_path, "chat", *agent()) as chat:
        chat.ready()
        chat.say("wait")
        chat.wait_for("I wait.")
        chat.say("the first one")
        chat.say("the second one")
        chat.until(lambda shown: "the first one" in shown and "the second one" in shown)
        chat.wait_for("Type your next message")
        chat.press("M-Up")
        chat.wait_for("❯ the second one")
        chat.type(" changed")
        chat.wait_for("❯ the second one changed")
        chat.press("Enter")
        chat.wait_for("Type your next message")
        chat.press("Escape")
        chat.wait_for("You stopped the turn.")
        chat.say("go on")
        chat.wait_for("You said go on.", "You said the first one.", "the second one changed.")
        chat.leave()


def test_a_question_that_is_open_is_not_asked_any_more(tmp_path: Path) -> None:
    """Issue 6: waiting, denied and cancelled are shown apart."""
    with ChatScreen(tmp_path, "chat", *agent()) as chat:
        chat.ready()
        chat.say("write a.txt")
        chat.wait_for("waiting for you", "│ The test wants it so.")
        chat.wait_unguarded()
        chat.click("[Stop]")
        shown = chat.wait_for("cancelled", "You stopped the turn.", EMPTY)
        assert "denied" not in shown
        assert not (chat.work / "a.txt").exists()
        chat.leave()

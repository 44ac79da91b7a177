"""Permissions, as a user gives them on a real screen: yes, no, why not, and once more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.terminal.real.chat_screen import EMPTY, ChatScreen, agent, cells
from tests.terminal.tmux import needs_tmux

pytestmark = needs_tmux


@pytest.mark.parametrize("size", [(100, 30), (60, 20)], ids=["wide", "narrow"])
def test_what_is_allowed_is_done_and_what_is_not_is_explained(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    """Issue 6: allow and reject; Esc is no; a denial is explained and can be retried."""
    with ChatScreen(tmp_path, "chat", *agent(), size=size) as chat:
        chat.ready()
        chat.say("write yes.txt")
        shown = chat.wait_for("│ Create yes.txt", "│ The test wants it so.", "✓ Allow", "✗ Reject")
        assert all(cells(line) <= size[0] for line in shown.splitlines())
        assert not (chat.work / "yes.txt").exists()
        chat.answer("y", "│ The test wants it so.")
        chat.wait_for("It is written.", EMPTY)
        assert (chat.work / "yes.txt").read_text() == "new text\n"

        chat.say("write no.txt")
        chat.answer("Escape", "│ The test wants it so.")
        shown = chat.wait_for("It is not written.", "denied: you said no", EMPTY)
        assert shown.count("said no") == 1
        assert not (chat.work / "no.txt").exists()
        chat.press("M-r")
        chat.wait_for("❯ Please try again: Create no.txt", "I allow it now.")
        chat.leave()


def test_a_click_answers_too(tmp_path: Path) -> None:
    """Issue 6: by keyboard alone, and by the mouse."""
    with ChatScreen(tmp_path, "chat", *agent()) as chat:
        chat.ready()
        chat.say("write clicked.txt")
        chat.wait_for("│ The test wants it so.", "✗ Reject")
        chat.wait_unguarded()
        chat.click("✓ Allow")
        chat.wait_for("It is written.")
        assert (chat.work / "clicked.txt").exists()
        chat.leave()


def test_an_answer_for_the_folder_is_not_asked_again_and_is_listed(
    tmp_path: Path,
) -> None:
    """Issue 6: scopes; a screen lists and revokes grants."""
    with ChatScreen(tmp_path, "chat", *agent()) as chat:
        chat.ready()
        chat.say("run echo hello")
        chat.wait_for("│ To see it run.")
        chat.answer("f", "│ To see it run.")
        chat.wait_for("It ended with 0.", EMPTY)
        chat.say("run echo hello")
        chat.until(lambda shown: shown.count("It ended with 0.") == 2)
        chat.press("F7")
        chat.wait_for("echo hello")
        chat.press("Escape")
        chat.wait_for(EMPTY)
        chat.leave()

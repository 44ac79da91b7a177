"""The first minute with the real program: the demo on the screen, word for word."""

from __future__ import annotations

import re
from pathlib import Path

from tests.terminal.real.chat_screen import ChatScreen
from tests.terminal.tmux import needs_tmux

pytestmark = needs_tmux

SAYS_IT = "(press Enter to send)"


def suggestion(chat: ChatScreen, text: str) -> None:
    """Wait for what Enter would say, and press it."""
    chat.wait_for(f"❯ {text}   {SAYS_IT}")
    chat.press("Enter")


def demo_folder(shown: str) -> Path:
    """Where the demo works, as the footer says."""
    found = re.search(r"(/\S*/demo) · \? keys", shown)
    assert found is not None, shown
    return Path(found[1])


def test_the_first_minute_of_the_demo_word_for_word(tmp_path: Path) -> None:
    """Issue 6: `./accord demo` opens it; Enter says what is suggested, keys answer questions."""
    with ChatScreen(tmp_path, "demo") as chat:
        folder = demo_folder(chat.wait_for(SAYS_IT, "demo · ? keys"))
        broken = (folder / "calc.py").read_text()
        suggestion(chat, "what is this project?")
        chat.wait_for("Statistics of a list of numbers", "Ask me to explain", SAYS_IT)

        suggestion(chat, "run the tests")
        chat.answer("y", "Run the tests with unittest")
        chat.wait_for("name 'value' is not defined", "Type fix it", SAYS_IT)

        suggestion(chat, "fix it")
        chat.wait_for(
            "asks for permission", "8 -     return sum(value)", "8 +     return sum(values)"
        )
        assert (folder / "calc.py").read_text() == broken, "nothing is changed before the answer"
        chat.answer("y", "value is not defined")
        chat.answer("y", "See whether the repair worked")
        suggestion(chat, "rename mean to average")
        assert "sum(values)" in (folder / "calc.py").read_text()
        chat.answer("y", "│ Rename mean")
        chat.answer("y", "See whether the tests still pass")
        chat.wait_for(SAYS_IT)
        assert "def average(values)" in (folder / "calc.py").read_text()

        suggestion(chat, "/undo")
        chat.answer("y", "│ Undo the last turn's changes")
        chat.wait_for("What would you like to do?", "Ready")
        assert "def mean(values)" in (folder / "calc.py").read_text()
        chat.leave()
    assert not folder.exists(), "the copy is thrown away"

"""Narrow screens, and screens that change their size while something is drawn."""

from __future__ import annotations

from pathlib import Path

from tests.terminal.real.chat_screen import EMPTY, ChatScreen, agent, cells
from tests.terminal.tmux import needs_tmux

pytestmark = needs_tmux

NARROW = (60, 20)


def fits(chat: ChatScreen, size: tuple[int, int], *texts: str) -> str:
    """Wait for the texts on a screen where every line fits and every frame is closed."""

    def is_so(shown: str) -> bool:
        lines = shown.splitlines()
        framed = [line for line in lines if line.startswith(("│", "╭", "╰"))]
        return (
            all(text in shown for text in texts)
            and len(lines) == size[1]
            and all(cells(line) <= size[0] for line in lines)
            and all(cells(line) == size[0] and line[-1] in "│╮╯" for line in framed)
        )

    return chat.settled(is_so)


def test_everything_can_be_used_on_sixty_columns(tmp_path: Path) -> None:
    """Issue 6: narrow terminals (60 columns) still work."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "some_file.py").write_text("x = 1\n")
    with ChatScreen(tmp_path, "chat", *agent(), size=NARROW) as chat:
        chat.ready()
        fits(chat, NARROW, EMPTY, "? keys")
        chat.say("stream 12")
        fits(chat, NARROW, "The end of the stream.", "Ready", EMPTY)
        chat.type("/")
        fits(chat, NARROW, "greet", "Says hello")
        chat.press("BSpace")
        chat.type("@some")
        fits(chat, NARROW, "some_file.py")
        chat.press("Escape", "C-c")
        chat.wait_for(EMPTY)
        for key, text in SCREENS.items():
            chat.press(key)
            fits(chat, NARROW, text)
            chat.press("Escape")
            chat.wait_gone(text)
        chat.press("F4")
        fits(chat, NARROW, EMPTY, "? keys")
        chat.press("F4")
        chat.say("wait")
        fits(chat, NARROW, "I wait.", "[Stop]")
        chat.say("queued one")
        fits(chat, NARROW, "queued one", "[Stop]")
        chat.press("C-t")
        fits(chat, NARROW, "Ready", EMPTY)
        chat.press("M-w")
        chat.wait_for("[Stop]")
        chat.press("Escape")
        fits(chat, NARROW, "You stopped the turn.", "? keys")
        chat.say("die")
        fits(chat, NARROW, "The agent stopped", "Restart the agent", "? keys")
        chat.press("C-q")
        assert chat.wait_ended() == 0


SCREENS = {
    "F1": "Writing a prompt",
    "F2": "Sessions ─",
    "F3": "Modes, models and",
    "F5": "has not changed any files",
    "F6": "Traffic",
    "F7": "Permission rules",
    "F8": "High contrast",
    "C-p": "What do you want to do?",
    "C-r": "Earlier prompts",
}


def test_a_screen_that_changes_its_size_while_words_come_is_never_garbled(tmp_path: Path) -> None:
    """Issue 6: resize never garbles: what is seen is what a fresh drawing shows, cell by cell."""
    with ChatScreen(tmp_path, "chat", *agent()) as chat:
        chat.ready()
        chat.say("stream 200")
        chat.wait_for("Paragraph")
        for size in ((60, 20), (120, 40), (80, 10), (60, 30), (120, 30)):
            chat.resize(*size)
            chat.until(lambda _: True)
        chat.wait_for("The end of the stream.", "Ready", EMPTY)
        seen = fits(chat, (120, 30), "The end of the stream.", EMPTY, "? keys")
        coloured = chat.screen(colours=True)
        # A program that comes to the front draws everything again.
        chat.press("F6")
        chat.wait_for("Traffic with")
        chat.press("Escape")
        chat.wait_gone("Traffic with")
        chat.settled(lambda shown: shown == seen and chat.screen(colours=True) == coloured)
        chat.leave()


def test_a_question_fits_whatever_the_size_becomes(tmp_path: Path) -> None:
    """Issue 6: resize never garbles; all answers are seen."""
    with ChatScreen(tmp_path, "chat", *agent()) as chat:
        chat.ready()
        chat.say("write a.txt")
        answers = ("1 y  ✓ Allow", "n  ✗ Reject")
        for size in ((100, 30), (60, 20), (120, 16), (60, 30)):
            chat.resize(*size)
            fits(chat, size, "│ Create a.txt", *answers, "? keys")
        chat.answer("y", answers[0])
        chat.wait_for("It is written.")
        chat.leave()

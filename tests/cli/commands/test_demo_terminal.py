"""`accord demo` as a person sees it: in a terminal, with a keyboard."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from accord.cli.commands.demo import FIRST_MINUTE
from tests.cli.terminal import CTRL_C, CTRL_D, TerminalProgram, in_terminal, is_running
from tests.hang_limit import Patience

QUESTION = "(n)o "
PROMPT = "\n> "


def offered(demo: TerminalProgram, sentence: str) -> None:
    """Wait until the demo suggests a sentence and waits for it."""
    demo.wait_for(f"Enter: {sentence}{PROMPT}")


def test_the_first_minute_by_pressing_enter() -> None:
    """Issue 3: the conversation of the first minute, interactively, as a line-mode chat."""
    with in_terminal("demo", "--plain") as demo:
        questions = 0
        for sentence, asked in zip(FIRST_MINUTE, (0, 1, 2, 2, 1), strict=True):
            offered(demo, sentence)
            demo.press("\n")
            for _ in range(asked):
                questions += 1
                demo.wait_for(QUESTION, questions)
                demo.press("y")
        demo.wait_for(PROMPT, len(FIRST_MINUTE) + 1)
        demo.press("/quit\n")
        assert demo.exit_code() == 0
        assert "name 'value' is not defined" in demo.text
        assert re.search(r"^ +\+ +return sum\(values\)", demo.text, re.MULTILINE)
        assert "Traceback (most recent call last):\n  File" not in demo.text


def test_what_is_typed_is_said_and_one_key_declines() -> None:
    """Issue 3: permissions by one key; a no is a no."""
    with in_terminal("demo", "--plain") as demo:
        offered(demo, FIRST_MINUTE[0])
        demo.press("run the tests\n")
        demo.wait_for(QUESTION)
        demo.press("n")
        demo.wait_for("denied: you said no")
        # What was skipped is not suggested again.
        offered(demo, "fix it")
        demo.press(CTRL_D)
        assert demo.exit_code() == 0
        assert "Traceback" not in demo.text


def test_a_key_that_means_nothing_is_asked_for_again() -> None:
    """Newcomers: any other key counted as no without a hint."""
    with in_terminal("demo", "--plain") as demo:
        offered(demo, FIRST_MINUTE[0])
        demo.press("$ echo hello\n")
        demo.wait_for(QUESTION)
        demo.press("x")
        demo.wait_for("Please press y, f, a, 4, v or n;")
        demo.wait_for(QUESTION, 2)
        demo.press("a")
        demo.wait_for(PROMPT, 2)
        demo.press("$ echo hello\n")
        demo.wait_for(PROMPT, 3)
        assert demo.text.count(QUESTION) == 2, "always is not asked again"
        demo.press("$ echo other\n")
        demo.wait_for(QUESTION, 3)


@pytest.mark.parametrize("moment", ["prompt", "question", "command"])
def test_ctrl_c_cancels_and_twice_leaves_nothing_behind(moment: str, tmp_path: Path) -> None:
    """Newcomers: Ctrl-C hung until Enter, or showed where Python was."""
    with in_terminal("demo", "--plain", env={"TMPDIR": str(tmp_path)}) as demo:
        offered(demo, FIRST_MINUTE[0])
        children = demo.children()
        if moment != "prompt":
            demo.press("$ echo started; sleep 1000\n")
            demo.wait_for(QUESTION)
        if moment == "command":
            demo.press("y")
            demo.wait_for("      started")
        demo.press(CTRL_C)
        demo.wait_for(
            "Press Ctrl-C again to quit" if moment == "prompt" else "You stopped the turn."
        )
        demo.press(CTRL_C)
        assert demo.exit_code() == 130
        assert not re.search("Traceback|Error|Loop", demo.text)
        assert list(tmp_path.iterdir()) == []
        patience = Patience()
        while any(map(is_running, children)):
            assert patience.left, "a process of the demo is left"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminal_that_is_closed_leaves_nothing_behind(
    number: signal.Signals, tmp_path: Path
) -> None:
    """A review found the folders of every demo whose window was closed."""
    with in_terminal("demo", "--plain", env={"TMPDIR": str(tmp_path)}) as demo:
        offered(demo, FIRST_MINUTE[0])
        children = demo.children()
        demo.press("$ echo started; sleep 1000\n")
        demo.wait_for(QUESTION)
        demo.press("y")
        demo.wait_for("      started")
        demo.send(number)
        assert demo.exit_code() == 128 + number
        assert "Traceback" not in demo.text
        assert list(tmp_path.iterdir()) == []
        patience = Patience()
        while any(map(is_running, children)):
            assert patience.left, "a process of the demo is left"


def test_lines_that_are_pasted_together_are_said_one_after_the_other() -> None:
    """A review pasted three sentences, and two of them were taken for one."""
    with in_terminal("demo", "--plain") as demo:
        offered(demo, FIRST_MINUTE[0])
        demo.press("explain spread\nwhere is mean\n$ echo asked\n")
        demo.wait_for("spread is a function in calc.py:11")
        demo.wait_for("\n> where is mean\n")
        demo.wait_for("mean is defined in calc.py:4")
        demo.wait_for("\n> $ echo asked\n")
        demo.wait_for(QUESTION)
        demo.press("n")
        demo.wait_for("denied: you said no")
        demo.wait_for(f"Enter: {FIRST_MINUTE[0]}{PROMPT}", 2)
        demo.press("/quit\n")
        assert demo.exit_code() == 0


def test_after_a_cancelled_turn_the_talk_goes_on() -> None:
    """Issue 3: Ctrl-C cancels the turn, no more."""
    with in_terminal("demo", "--plain") as demo:
        offered(demo, FIRST_MINUTE[0])
        demo.press("$ sleep 1000\n")
        demo.wait_for(QUESTION)
        demo.press("y")
        demo.wait_for("$ sleep 1000\n", 2)
        demo.press(CTRL_C)
        demo.wait_for("You stopped the turn.")
        demo.wait_for(PROMPT, 2)
        demo.press("explain calc.py\n")
        demo.wait_for("spread")
        demo.wait_for(PROMPT, 3)
        demo.press("/quit\n")
        assert demo.exit_code() == 0


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    """Newcomers: words were cut at the edge of narrow terminals."""
    with in_terminal("demo", "--script", width=width) as demo:
        assert demo.exit_code() == 0
        assert max(map(len, demo.text.splitlines())) <= width


@pytest.mark.parametrize(
    ("env", "coloured"),
    [
        ({"NO_COLOR": "", "TERM": "xterm"}, True),
        ({"NO_COLOR": "1", "TERM": "xterm"}, False),
        ({"NO_COLOR": "", "TERM": "dumb"}, False),
    ],
)
def test_markdown_is_styled_where_there_are_colours(env: dict[str, str], coloured: bool) -> None:
    """Newcomers: raw Markdown on the screen."""
    with in_terminal("demo", "--prompt", "what is this project?", env=env) as demo:
        assert demo.exit_code() == 0
        assert ("\x1b[36m" in demo.text) is coloured
        assert not re.search(r"`|\*\*\w", demo.text)

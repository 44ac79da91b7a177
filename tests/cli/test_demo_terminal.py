"""`accord demo` as a person sees it: in a terminal, with a keyboard."""

from __future__ import annotations

import re
import time
from itertools import takewhile
from pathlib import Path

import pytest

from tests.cli.terminal import CTRL_C, CTRL_D, SECONDS_MAX, in_terminal, is_running

QUESTION = "Allow it? [y/N] "


def test_yes_to_all_mends_the_project() -> None:
    """Issue 2: the demo runs an agent under a client and shows the turn."""
    with in_terminal("demo") as demo:
        for number in (1, 2, 3):
            demo.wait_for(QUESTION, number)
            demo.press("y\n")
        assert demo.exit_code() == 0
        assert "FAILED: add(2, 3) is -1, not 5" in demo.text
        assert "+    return a + b" in demo.text
        assert "ok: add(2, 3) is 5" in demo.text
        assert "The tests pass, which failed before." in demo.text


@pytest.mark.parametrize("no", ["n\n", "no\n", "\n", CTRL_D])
def test_a_declined_step_is_shown_as_declined_and_never_ticked(no: str) -> None:
    """Newcomers: after `n` the plan was ticked all the same; the end of the input is a no too."""
    with in_terminal("demo") as demo:
        demo.wait_for(QUESTION)
        demo.press("y\n")
        demo.wait_for(QUESTION, 2)
        demo.press(no)
        assert demo.exit_code() == 0
        assert "declined" in demo.text
        assert "Mend it (dropped)" in demo.text
        assert "I left sums.py as it is." in demo.text
        assert "Traceback" not in demo.text


def test_an_unclear_answer_is_asked_for_again() -> None:
    """Newcomers: any other word counted as no without a hint."""
    with in_terminal("demo") as demo:
        demo.wait_for(QUESTION)
        demo.press("maybe\n")
        demo.wait_for("Please answer y or n.")
        demo.wait_for(QUESTION, 2)
        demo.press("y\n")
        demo.wait_for("FAILED")


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("moment", ["speaks ACP", QUESTION])
def test_ctrl_c_ends_it_at_once_and_leaves_nothing_behind(
    moment: str, times: int, tmp_path: Path
) -> None:
    """Newcomers: Ctrl-C hung until Enter, or showed where Python was."""
    with in_terminal("demo", env={"TMPDIR": str(tmp_path)}) as demo:
        demo.wait_for(moment)
        children = demo.children()
        demo.press(CTRL_C * times)
        assert demo.exit_code() == 130
        assert not re.search("Traceback|Error|Loop", demo.text)
        assert list(tmp_path.iterdir()) == []
        deadline = time.monotonic() + SECONDS_MAX
        while any(map(is_running, children)):
            assert time.monotonic() < deadline, "a process of the demo is left"


def test_ctrl_c_in_the_middle_of_a_command_ends_the_command_too() -> None:
    """Ours: no orphan, whatever runs."""
    with in_terminal("demo") as demo:
        demo.wait_for(QUESTION)
        demo.press("y\n" + CTRL_C)
        assert demo.exit_code() == 130
        assert "Traceback" not in demo.text


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    """Newcomers: words were cut at the edge of narrow terminals."""
    with in_terminal("demo", "--yes", width=width) as demo:
        assert demo.exit_code() == 0
        assert max(map(len, demo.text.splitlines())) <= width
        # The words are whole: the thought reads the same when its lines are joined.
        lines = demo.text.splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("The tests will"))
        thought = " ".join(takewhile(bool, lines[start:]))
        assert thought.endswith("I run them first, then read the code.")


@pytest.mark.parametrize(
    ("env", "code"),
    [
        ({"NO_COLOR": "", "TERM": "xterm"}, "\x1b[36madd\x1b[0m in \x1b[1msums.py\x1b[0m"),
        ({"NO_COLOR": "1", "TERM": "xterm"}, "add in sums.py"),
        ({"NO_COLOR": "", "TERM": "dumb"}, "add in sums.py"),
    ],
)
def test_markdown_is_styled_where_there_are_colours(env: dict[str, str], code: str) -> None:
    """Newcomers: raw Markdown on the screen."""
    with in_terminal("demo", "--yes", env=env) as demo:
        assert demo.exit_code() == 0
        assert code in demo.text
        assert "`" not in demo.text
        assert "**" not in demo.text

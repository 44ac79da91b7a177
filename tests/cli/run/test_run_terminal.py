"""`accord run` as a person sees it: in a terminal, with a keyboard."""

from __future__ import annotations

import os
import re

import pytest

from tests.cli.home import AGENT, Home
from tests.cli.terminal import CTRL_C, in_terminal

QUESTION = "Allow it? "


def test_a_person_at_the_terminal_is_asked_and_sees_what_for(home: Home) -> None:
    """Issue 3: tool calls as lines, diffs, and a question."""
    words = ["run", "write a.txt", "--cwd", str(home.project), "--", *AGENT]
    with in_terminal(*words, env=home.env) as program:
        program.wait_for(QUESTION)
        assert "Create a.txt" in program.text
        assert "+new text" in program.text
        assert "because of the test" in program.text
        program.press("y\n")
        assert program.exit_code() == 0
        assert "wrote=True" in program.text
    assert not (home.state / "grants.toml").exists()


def test_what_was_typed_before_the_question_is_no_answer(home: Home) -> None:
    """Found in review: a `y` from before was a yes to what nobody had seen."""
    os.mkfifo(home.project / "go")
    words = ["run", "pause; write a.txt", "--cwd", str(home.project), "--", *AGENT]
    with in_terminal(*words, env=home.env) as program:
        program.wait_for("pausing")
        program.press("y\n")
        (home.project / "go").write_text("")
        program.wait_for(QUESTION)
        program.press("n\n")
        assert program.exit_code() == 4
    assert not (home.project / "a.txt").exists()


@pytest.mark.parametrize("where", ["error", "stderr"])
def test_no_error_of_an_agent_commands_the_terminal(home: Home, where: str) -> None:
    """Found in review: a title, a message and the last words of an agent are its own."""
    words = ["run", f"shout {where}", "--cwd", str(home.project), "--", *AGENT]
    with in_terminal(*words, env={**home.env, "NO_COLOR": "1"}) as program:
        assert program.exit_code() == 1
        assert "loud" in program.text
        assert not {"\x1b", "\x07", "\x9b"} & set(program.text)


def test_a_no_is_a_denial_and_an_unclear_answer_is_asked_for_again(home: Home) -> None:
    """docs/reference/run.md: only a clear yes is a yes."""
    words = ["run", "write a.txt", "--cwd", str(home.project), "--", *AGENT]
    with in_terminal(*words, env=home.env) as program:
        program.wait_for(QUESTION)
        program.press("perhaps\n")
        program.wait_for(QUESTION, 2)
        program.press("\n")
        assert program.exit_code() == 4
        assert "denied: you said no" in program.text
    assert not (home.project / "a.txt").exists()


def test_always_is_remembered_listed_and_revoked(home: Home) -> None:
    """Issue 3: "always" answers are saved; `accord permissions list|revoke`."""
    words = ["run", "write a.txt", "--cwd", str(home.project), "--", *AGENT]
    with in_terminal(*words, env=home.env) as program:
        program.wait_for(QUESTION)
        assert "Always allow changing a.txt in this folder (Accord remembers)" in program.text
        program.press("f\n")
        assert program.exit_code() == 0
    (home.project / "a.txt").unlink()
    # Now nobody needs to be there; another file is another matter.
    assert home.run("write a.txt").code == 0
    assert home.run("write b.txt").code == 4
    listed = home.accord("permissions", "list")
    found = re.search(r"grant_\w+", listed.out)
    assert found is not None
    assert f"path={home.project}/a.txt" in listed.out
    assert "for tester" in listed.out
    assert home.accord("permissions", "revoke", found[0]).code == 0
    assert home.accord("permissions", "revoke", found[0]).code == 1
    (home.project / "a.txt").unlink()
    assert home.run("write a.txt").code == 4


def test_ask_asks_at_the_terminal_when_the_input_is_a_pipe(home: Home) -> None:
    """Issue 3: --ask reads /dev/tty when stdin is a pipe."""
    accord = f"{AGENT[0]} -m accord"
    line = f"echo 'write a.txt' | {accord} run --ask --format quiet -- {' '.join(AGENT)} > out.txt"
    with in_terminal(program=["sh", "-c", line], env=home.env, cwd=home.project) as program:
        program.wait_for(QUESTION)
        assert "+new text" in program.text
        program.press("y\n")
        assert program.exit_code() == 0
    assert (home.project / "out.txt").read_text() == "wrote=True\n"


def test_ctrl_c_cancels_and_a_second_one_leaves(home: Home) -> None:
    """Issue 3: Ctrl-C cancels the turn properly, twice quits."""
    words = ["run", "wait", "--cwd", str(home.project), "--", *AGENT]
    with in_terminal(*words, env=home.env) as program:
        program.wait_for("waiting")
        program.press(CTRL_C)
        program.wait_for("cancelling")
        assert program.exit_code() == 130
    with in_terminal(*words[:1], "deaf", *words[2:], env=home.env) as program:
        program.wait_for("deaf now")
        program.press(CTRL_C)
        program.wait_for("cancelling")
        program.press(CTRL_C)
        assert program.exit_code() == 130
        assert "Traceback" not in program.text


def test_ctrl_c_at_a_question_cancels_the_turn(home: Home) -> None:
    """Ours: a question that is open is answered by nobody."""
    words = ["run", "write a.txt", "--cwd", str(home.project), "--", *AGENT]
    with in_terminal(*words, env=home.env) as program:
        program.wait_for(QUESTION)
        program.press(CTRL_C)
        assert program.exit_code() == 130
    assert not (home.project / "a.txt").exists()
    outcomes = [one["outcome"] for one in home.audit if one["event"] == "decision"]
    assert outcomes == ["cancelled"]

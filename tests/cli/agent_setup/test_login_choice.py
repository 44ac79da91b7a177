"""Logging in to an agent: `accord login`, and the question of `accord run`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.home import Home
from tests.cli.terminal import CTRL_C, TerminalProgram, in_terminal

AGENT = Path(__file__).parent / "login_agent.py"
QUESTION = "Number (press Enter for none): "
WAYS = pytest.mark.parametrize("wanted_by", ["session", "prompt", "prompt v1"])


def agent(home: Home, wanted_by: str = "session") -> list[str]:
    """How to start the agent."""
    return [sys.executable, str(AGENT), str(home.project), *wanted_by.split()]


def log_in_by_word(program: TerminalProgram, word: str) -> None:
    """Choose the login in the terminal and type the word."""
    program.wait_for(QUESTION)
    program.press("2\n")
    program.wait_for("The word? ")
    program.press(f"{word}\n")


@WAYS
def test_run_asks_for_a_login_and_goes_on(home: Home, wanted_by: str) -> None:
    """Issue 14: a login that the agent asks for works, by the terminal's question."""
    words = ["run", "hi", "--cwd", str(home.project), "--", *agent(home, wanted_by)]
    with in_terminal(*words, env=home.env) as program:
        program.wait_for(QUESTION)
        assert "1  By a page: Opens a page\n  2  By a word (in this terminal)" in program.text
        program.press("nine\n")
        program.wait_for(QUESTION, 2)
        program.press("1\n")
        assert program.exit_code() == 0
        assert "\nVisit https://example.org/device\n" in program.text
        assert "hello by page" in program.text


@WAYS
def test_a_login_in_the_terminal_starts_the_agent_again(home: Home, wanted_by: str) -> None:
    """Issue 14: also where the prompt itself was refused, whose session ends with the agent."""
    words = ["run", "hi", "--cwd", str(home.project), "--", *agent(home, wanted_by)]
    with in_terminal(*words, env=home.env) as program:
        log_in_by_word(program, "sesame")
        assert program.exit_code() == 0
        assert "hello by sesame" in program.text


def test_a_login_that_is_not_wanted_or_fails_is_told(home: Home) -> None:
    """Ours: nothing is prompted then."""
    words = ["run", "hi", "--cwd", str(home.project), "--", *agent(home, "prompt")]
    with in_terminal(*words, env=home.env) as program:
        program.wait_for(QUESTION)
        program.press("\n")
        assert program.exit_code() == 1
        assert "accord: the agent needs a login: " in program.text
    with in_terminal(*words, env=home.env) as program:
        log_in_by_word(program, "wrong")
        assert program.exit_code() == 1
        assert "the login 'By a word' failed with status 3" in program.text
    (home.project / "logged-in").unlink()
    with in_terminal(*words, env=home.env) as program:
        program.wait_for(QUESTION)
        program.press(CTRL_C)
        assert program.exit_code() == 130


def test_without_a_terminal_run_says_how_to_log_in(home: Home) -> None:
    """Issue 14: nobody can be asked there."""
    wanted_by = "session"
    done = home.run("hi", agent=agent(home, wanted_by))
    assert done.code == 1
    command = " ".join(agent(home, wanted_by))
    assert f"\nrun `accord login -- {command}` to log in\n" in done.error
    name = home.config / "config.toml"
    listed = ", ".join(f'"{word}"' for word in agent(home, wanted_by))
    name.write_text(f"[agents.guarded]\ncommand = [{listed}]\n")
    done = home.accord("run", "hi", "--agent", "guarded")
    assert "\nrun `accord login guarded` to log in\n" in done.error
    done = home.accord("login", "guarded", "--method", "page")
    assert (done.code, done.out) == (0, "Logged in to guarded.\n")
    assert done.error == "Visit https://example.org/device\n"
    assert home.accord("run", "hi", "--agent", "guarded").out == "hello by page\n"
    done = home.accord("login", "guarded", "--logout")
    assert (done.code, done.out) == (0, "Logged out of guarded.\n")
    assert home.accord("run", "hi", "--agent", "guarded").code == 1


def test_login_asks_which_way_where_there_are_several(home: Home) -> None:
    """Issue 14: `accord login AGENT`."""
    words = ["login", "--", *agent(home)]
    with in_terminal(*words, env=home.env) as program:
        log_in_by_word(program, "sesame")
        assert program.exit_code() == 0
        assert "Logged in to guarded." in program.text
    assert (home.project / "logged-in").read_text() == "sesame"
    with in_terminal(*words, env=home.env) as program:
        program.wait_for(QUESTION)
        program.press("\n")
        assert program.exit_code() == 1
        assert "not logged in" in program.text


def test_login_uses_the_only_way_and_lists_them(home: Home) -> None:
    """Ours: without a terminal an agent offers no login in one."""
    done = home.accord("login", "--list", "--", *agent(home))
    assert (done.code, done.out) == (0, "page  By a page: Opens a page\n")
    done = home.accord("login", "--", *agent(home))
    assert done.code == 0
    assert done.out.endswith("Logged in to guarded.\n")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--method", "nope", "--", *[sys.executable, str(AGENT), ".", "prompt"]], 2, "'nope'"),
        (["nobody"], 2, "no agent 'nobody' (known: built-in)"),
        (["--"], 2, "after -- is missing"),
        (["built-in"], 2, "the agent offers no way to log in"),
        (["--", "/nowhere/agent"], 1, "cannot start"),
    ],
)
def test_what_cannot_be_is_a_sentence(home: Home, words: list[str], code: int, said: str) -> None:
    """docs/reference/login.md: exit codes."""
    done = home.accord("login", *words)
    assert done.code == code
    assert said in done.error
    assert "Traceback" not in done.error

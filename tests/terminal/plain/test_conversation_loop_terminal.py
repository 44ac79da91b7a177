"""The line mode as a user sees it: in a terminal, with a keyboard and a real agent."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from accord.terminal.model.prompt.history import History
from tests.cli.terminal import CTRL_C, CTRL_D, TerminalProgram, in_terminal
from tests.client.draft.draft_script import PROGRAM as DRAFT_AGENT
from tests.terminal.plain.line_conversation import AGENT

PROGRAM = (sys.executable, str(Path(__file__).parent / "line_chat.py"))
PROMPT = "\n> "
QUESTION = "(n)o "
# Whatever moves a cursor or draws: the line mode has none of it.
MOVES = re.compile(r"\x1b\[(?![0-9;]*m)|\x1b[^\[]|\x9b")


@contextmanager
def talk(
    folder: Path, *more: str, width: int = 80, env: Mapping[str, str] | None = None
) -> Generator[TerminalProgram]:
    with in_terminal(*AGENT, *more, width=width, env=env, program=PROGRAM, cwd=folder) as program:
        program.wait_for(PROMPT)
        yield program
        assert "Traceback" not in program.text
        assert not MOVES.search(program.text)


def test_what_is_written_while_the_agent_works_is_said_next(tmp_path: Path) -> None:
    """Issue 6: a queue of next prompts, visible, and editable."""
    with talk(tmp_path) as chat:
        chat.press("wait\n")
        chat.wait_for("waiting now")
        chat.press("first\n")
        chat.wait_for("Queued: first (1 prompt waiting; /queue)")
        chat.press("second\n/queue drop 1\n")
        chat.wait_for("Removed: first")
        chat.press(CTRL_C)
        chat.wait_for("You stopped the turn.")
        chat.wait_for("(1 prompt queued")
        chat.press("/queue now 1\n")
        chat.wait_for("echo: second")
        assert "echo: first" not in chat.text
        chat.press("/quit\n")
        assert chat.exit_code() == 0


def test_an_agent_that_died_is_started_again(tmp_path: Path) -> None:
    """Issue 6: what happened, and restart; nothing that was typed is lost."""
    with talk(tmp_path) as chat:
        chat.press("die\n")
        chat.wait_for("the disk is on fire")
        chat.wait_for("/restart to restart the agent.")
        chat.press("hello again\n")
        chat.wait_for("/restart starts it and then sends this")
        chat.press("/restart\n")
        chat.wait_for("echo: hello again")
        chat.press(CTRL_D)
        assert chat.exit_code() == 0


def test_keys_that_were_pressed_before_a_question_answer_nothing(tmp_path: Path) -> None:
    """Issue 6: never answered by a stray key press."""
    with talk(tmp_path) as chat:
        # All at once: the y's come before the question.
        chat.press("write a.txt\nyyy")
        chat.wait_for(PROMPT + "yyy")
        # What the user has begun to write holds the question back; they end it.
        chat.press("\n")
        chat.wait_for("Queued: yyy")
        chat.wait_for(QUESTION)
        chat.press("yy")
        chat.wait_for("Please press y, f, a")
        assert not (tmp_path / "a.txt").exists()
        chat.wait_for(QUESTION, 2)
        chat.press("\x1b")
        chat.wait_for("denied: you said no")
        chat.wait_for("echo: yyy")
        assert not (tmp_path / "a.txt").exists()


def test_a_line_can_be_corrected_and_said_again(tmp_path: Path) -> None:
    """Issue 6: editing, and what was said before."""
    with talk(tmp_path) as chat:
        chat.press("helo\x1b[Dl\n")
        chat.wait_for("echo: hello")
        chat.wait_for(PROMPT, 2)
        chat.press("\x1b[A!\n")
        chat.wait_for("echo: hello!")
        chat.wait_for(PROMPT, 3)
        chat.press("/sta\t\n")
        chat.wait_for("is ready in")
        chat.press("one\\\ntwo\n")
        chat.wait_for("\n... two\n")
        chat.wait_for("echo: one\ntwo")


def test_what_the_agent_says_waits_while_a_person_writes(tmp_path: Path) -> None:
    """Ours: nobody can write in a line that is being written over."""
    with talk(tmp_path) as chat:
        chat.press("wait\n")
        chat.wait_for("waiting now")
        chat.press("begun")
        chat.wait_for(PROMPT + "begun")
        chat.press("\x15")
        chat.press(CTRL_C)
        chat.wait_for("You stopped the turn.")
        chat.wait_for(PROMPT, 3)
        chat.press(CTRL_C)
        assert chat.exit_code() == 130


def test_what_was_begun_when_the_turn_was_stopped_comes_back_with_arrow_up(tmp_path: Path) -> None:
    """Ours: Ctrl-C is for the turn; what was being written meanwhile is not lost by it."""
    with talk(tmp_path) as chat:
        chat.press("wait\n")
        chat.wait_for("waiting now")
        chat.press("and then this")
        chat.wait_for(PROMPT + "and then this")
        chat.press(CTRL_C)
        chat.wait_for("You stopped the turn.")
        chat.wait_for(PROMPT, 3)
        chat.press("\x1b[A\n")
        chat.wait_for("echo: and then this")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_was_begun_when_somebody_ended_it_is_there_the_next_time(
    tmp_path: Path, number: signal.Signals
) -> None:
    """Ours: what people expect of a line mode is a history, not a line that writes itself."""
    env = {"ACCORD_CONFIG_DIR": str(tmp_path / "config"), "ACCORD_STATE_DIR": str(tmp_path)}
    words = ("chat", "--plain", "--", *AGENT)
    with in_terminal(*words, env=env, cwd=tmp_path) as chat:
        chat.wait_for(PROMPT)
        chat.press("half a sen")
        chat.wait_for(PROMPT + "half a sen")
        chat.send(number)
        assert chat.exit_code() == 128 + number
    history = History(tmp_path / "prompts.jsonl")
    history.load()
    assert history.texts == ["half a sen"]


def test_a_question_is_gone_when_the_turn_is_stopped(tmp_path: Path) -> None:
    """Issue 6: denied, cancelled and waiting are told apart."""
    with talk(tmp_path) as chat:
        chat.press("run echo hello\n")
        chat.wait_for(QUESTION)
        chat.press(CTRL_C)
        chat.wait_for("This question is no longer open.")
        chat.wait_for("cancelled")
        chat.wait_for("You stopped the turn.")
        assert "denied" not in chat.text
        chat.wait_for(PROMPT, 2)
        chat.press("bye\n")
        assert chat.exit_code() == 0


@pytest.mark.parametrize("width", [40, 60])
def test_narrow_terminals_have_room_for_everything(tmp_path: Path, width: int) -> None:
    """Issue 6: 60 columns."""
    with talk(tmp_path, width=width) as chat:
        chat.press("write a.txt\n")
        chat.wait_for(QUESTION)
        chat.press("n")
        chat.wait_for("denied")
        chat.wait_for(PROMPT, 2)
        chat.press("/help\n")
        chat.wait_for(PROMPT, 3)
        assert max(map(len, chat.text.splitlines())) <= width


def test_a_dumb_terminal_gets_plain_letters_only(tmp_path: Path) -> None:
    """Issue 6: screen readers and dumb terminals."""
    with talk(tmp_path, env={"TERM": "dumb", "NO_COLOR": ""}) as chat:
        chat.press("plan\n")
        chat.wait_for("1. first")
        chat.wait_for(PROMPT, 2)
        chat.press("write a.txt\n")
        chat.wait_for(QUESTION)
        chat.press("n")
        chat.wait_for("denied")
        assert chat.text.isascii()
        assert "\x1b" not in chat.text


def test_a_login_has_the_terminal_for_itself(tmp_path: Path) -> None:
    """Issue 6: login flows, in a terminal too; what is typed there is for the login."""
    with talk(tmp_path, "logins") as chat:
        chat.press("/login\n")
        chat.wait_for("Which number? (Enter for none) ")
        chat.press("1\n")
        chat.wait_for("The word? ")
        chat.press("please\n")
        chat.wait_for("failed with status 1")
        chat.press("/login\n")
        chat.wait_for("Which number? (Enter for none) ", 2)
        chat.press("1\n")
        chat.wait_for("The word? ", 2)
        chat.press("sesame\n")
        chat.wait_for("You are logged in.")
        chat.press("/login\n")
        chat.wait_for("Which number? (Enter for none) ", 3)
        chat.press("2\n")
        chat.wait_for("You are logged in.", 2)
        chat.press("/quit\n")
        assert chat.exit_code() == 0


def test_a_key_is_not_shown_while_it_is_typed(tmp_path: Path) -> None:
    """Issue 6: credentials without echo."""
    agent = (*DRAFT_AGENT, "--key", "sk-0123456789abcdef")
    env = {"ACCORD_STATE_DIR": str(tmp_path / "state")}
    with in_terminal(*agent, program=PROGRAM, cwd=tmp_path, env=env) as chat:
        chat.wait_for("Key (Enter for none): ")
        chat.press("sk-0123456789abcdeg\x7ff\n")
        chat.wait_for(PROMPT)
        chat.press("hello\n")
        chat.wait_for("Hello.")
        assert "sk-" not in chat.text


def test_a_form_is_left_by_escape(tmp_path: Path) -> None:
    """Issue 6: closing is neither sending nor declining."""
    with talk(tmp_path) as chat:
        chat.press("form\n")
        chat.wait_for("Text: ")
        chat.press("Ada\x1b")
        chat.wait_for("form: cancel []")

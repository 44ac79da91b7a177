"""`accord chat --plain`, as a person and as a pipe see it."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

from tests.cli.home import Home
from tests.cli.terminal import CTRL_D, in_terminal
from tests.terminal.plain.line_conversation import AGENT

PROMPT = "\n> "


def test_lines_of_a_pipe_are_prompts_and_answers(home: Home) -> None:
    """Issue 6: where there is no terminal it is line by line by itself."""
    done = home.accord("chat", "--", *AGENT, stdin="write a.txt\ny\nhello\n")
    assert (done.code, done.error) == (0, "")
    assert "wrote=True" in done.out
    assert "echo: hello" in done.out
    assert (home.project / "a.txt").read_text() == "new text\n"
    assert any(one["event"] == "decision" for one in home.audit), "it is in the audit log"


def test_a_turn_that_fails_fails_the_pipe(home: Home) -> None:
    """Ours: scripts look at the exit code."""
    done = home.accord("chat", "--", *AGENT, stdin="fail\n")
    assert done.code == 1
    assert "the model broke" in done.out


def test_an_agent_is_chosen_and_what_was_said_is_remembered(home: Home) -> None:
    """Issue 6: with several known agents a picker; history is kept."""
    command = json.dumps([*AGENT])
    (home.config / "config.toml").write_text(f"[agents.liner]\ncommand = {command}\n")
    for number in range(2):
        with in_terminal("chat", "--plain", env=home.env, cwd=home.project) as chat:
            chat.wait_for("Which one? (press Enter to quit) ")
            chat.press("nobody\n" if number else "liner\n")
            if number:
                chat.wait_for("Unknown value 'nobody'; choose one of built-in, liner.")
                chat.press("2\n")
            chat.wait_for(PROMPT)
            # What the first said is what the second remembers.
            chat.press("remember me\n" if not number else "\x1b[A\n")
            chat.wait_for("echo: remember me")
            chat.wait_for(PROMPT, 2)
            chat.press(CTRL_D)
            assert chat.exit_code() == 0
    done = home.accord("chat", stdin="hello\n")
    assert done.code == 2
    assert "choose an agent" in done.error


def test_a_prompt_is_written_in_an_editor(home: Home, tmp_path: Path) -> None:
    """Issue 6: external editor."""
    editor = tmp_path / "editor.py"
    editor.write_text("import sys\nopen(sys.argv[1], 'a').write(' and\\nedited\\n')\n")
    env = {**home.env, "EDITOR": f"{shlex.quote(sys.executable)} {shlex.quote(str(editor))}"}
    env.pop("VISUAL", None)
    with in_terminal("chat", "--plain", "--", *AGENT, env=env, cwd=home.project) as chat:
        chat.wait_for(PROMPT)
        chat.press("/edit begun\n")
        chat.wait_for("echo: begun and\nedited")
        chat.wait_for(PROMPT, 3)
        chat.press("/traffic all.jsonl\n")
        chat.wait_for("saved; accord trace all.jsonl shows them.")
        chat.press("/quit\n")
        assert chat.exit_code() == 0
    assert "edited" in (home.project / "all.jsonl").read_text()


def test_a_session_goes_on_where_the_last_one_ended(home: Home) -> None:
    """Issue 6: --continue, with what was said before."""
    (home.project / "calc.py").write_text("def mean(values):\n    return 1\n")
    agent = (sys.executable, "-m", "accord", "agent", "--model", "offline")
    first = home.accord("chat", "--plain", "--", *agent, stdin="where is mean\n")
    assert "calc.py:1" in first.out
    again = home.accord("chat", "--plain", "--continue", "--", *agent, stdin="")
    assert again.code == 0
    assert "Earlier in this session:" in again.out
    assert "> where is mean" in again.out
    assert "calc.py:1" in again.out

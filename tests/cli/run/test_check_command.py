"""`accord run --check` and `--retry`: what happens after a turn, and before it succeeds."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.home import AGENT, Home
from tests.cli.terminal import CTRL_C, in_terminal, is_running
from tests.hang_limit import HANG_SECONDS, Patience


def test_a_check_that_passes_changes_nothing(home: Home) -> None:
    """docs/reference/run.md: it runs in the session's folder, and its output is shown."""
    inner = home.project / "inner"
    inner.mkdir()
    done = home.run("hello", "--cwd", str(inner), "--check", "pwd; echo err >&2; cat; printf half")
    assert (done.code, done.out) == (0, "echo: hello\n")
    expected = f"\n$ pwd; echo err >&2; cat; printf half\n{inner}\nerr\nhalf\n"
    assert done.error == f"{expected}(the check passed: exit code 0)\n"


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("hello", "accord: the check failed"),
        ("write a.txt", "accord: permission was denied for:"),
        ("stop refusal", "accord: the agent refused\nthe check failed"),
        ("stop max_tokens", "accord: the agent reached a limit: max_tokens\nthe check failed"),
    ],
)
def test_a_check_that_fails_is_the_exit_code_6(home: Home, prompt: str, said: str) -> None:
    """Issue 14: the exit code for "tests are red", or "nothing was repaired"."""
    done = home.run(prompt, "--check", "echo 1 failed; exit 3")
    assert done.code == 6
    assert "\n1 failed\n" in done.error
    assert said in done.error
    assert done.error.endswith("the check failed: `echo 1 failed; exit 3` ended with exit code 3\n")


@pytest.mark.parametrize(("prompt", "code"), [("fail", 1), ("stop cancelled", 130)])
def test_what_did_not_come_to_an_end_is_not_checked(home: Home, prompt: str, code: int) -> None:
    """docs/reference/run.md: those codes say more."""
    done = home.run(prompt, "--check", "touch checked; exit 1")
    assert done.code == code
    assert not (home.project / "checked").exists()


def test_a_check_is_an_event_and_quiet_shows_what_fails(home: Home) -> None:
    """docs/reference/run.md: JSON, and quiet."""
    done = home.run("hello", "--format", "json", "--check", "echo red; kill -9 $$")
    assert done.code == 6
    check, end = done.events[-2:]
    command = "echo red; kill -9 $$"
    assert check == {
        "type": "check",
        "command": command,
        "passed": False,
        "signal": "SIGKILL",
        "text": "red\n",
    }
    assert (end["exitCode"], end["stopReason"]) == (6, "end_turn")
    assert end["error"] == f"the check failed: `{command}` was killed by SIGKILL"
    done = home.run("hello", "--format", "quiet", "--check", "echo red; false")
    assert (done.code, done.out) == (6, "echo: hello\n")
    assert done.error.startswith("red\naccord: the check failed")
    done = home.run("hello", "--format", "quiet", "--check", "echo green")
    assert (done.code, done.out, done.error) == (0, "echo: hello\n", "")


def test_the_check_is_ended_with_the_run(home: Home) -> None:
    """docs/reference/run.md: --timeout and Ctrl-C are about all of it."""
    hold = "echo $$ > pid; exec sleep 600"
    assert home.run("hello", "--timeout", "5", "--check", hold).code == 124
    first = int((home.project / "pid").read_text())
    words = ["run", "hello", "--cwd", str(home.project), "--check", "echo on; " + hold]
    with in_terminal(*words, "--", *AGENT, env=home.env) as program:
        program.wait_for("\non\n")
        program.press(CTRL_C)
        assert program.exit_code() == 130
        assert "cancelling" not in program.text
    second = int((home.project / "pid").read_text())
    assert not is_running(first)
    assert not is_running(second)


# ---- rate limits


def test_a_rate_limit_is_waited_for_by_default(home: Home) -> None:
    """Issue 14: retry with back-off, which the user is told."""
    done = home.run("limit 1 0.01")
    assert (done.code, done.out) == (0, "after 2 tries\n")
    told = "accord: the agent reached a rate limit (one at a time); trying again in 1 s\n"
    assert done.error == told
    events = home.run("limit 1 0.01", "--format", "json").events
    assert {"type": "retry", "seconds": 1, "error": "one at a time"} in events


def test_the_wait_is_bounded_and_can_be_switched_off(home: Home) -> None:
    """Issue 14: for a bounded time; an agent that wants more is told of at once."""
    done = home.run("limit 9 3600")
    assert done.code == 1
    assert "it asks to wait 3600 s; use `--retry 3600` to wait that long\n" in done.error
    done = home.run("limit 1 0", "--retry", "0")
    assert done.code == 1
    assert "trying again" not in done.error
    done = home.run("limit 9 0.01", "--retry", "1.5")
    assert done.code == 1
    assert done.error.count("trying again") == 2
    assert "gave up after 1.5 s (see --retry)" in done.error


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--check", " "], "the command is empty"),
        (["--check", "false", "--check", "true"], "may be given only once; join commands with &&"),
        (["--retry", "-0.1"], "'-0.1' is not a number of seconds"),
        (["--retry", "nan"], "'nan' is not a number of seconds"),
        (["--timeout", "0.0"], "'0.0' is not a positive number of seconds"),
    ],
)
def test_a_check_or_a_time_that_cannot_be_meant_is_told(
    home: Home, words: list[str], said: str
) -> None:
    """Issue 14: `--check "$UNSET"` passed, and of two checks only the last one was run."""
    done = home.run("hello", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.error


def test_any_zero_does_not_wait(home: Home) -> None:
    """docs/reference/run.md: 0 does not wait."""
    assert "trying again" not in home.run("limit 1 0", "--retry", "0.0").error


# ---- lines


def test_no_line_of_stdout_has_one_of_stderr_behind_it(home: Home) -> None:
    """Issue 14: lines of the two streams are never glued, on a terminal or in one file."""
    words = ["run", "half", "--cwd", str(home.project), "--", *AGENT]
    with in_terminal(*words, env=home.env) as program:
        # The last word is held until it is known to be whole.
        program.wait_for("half a")
        program.press(CTRL_C)
        assert program.exit_code() == 130
        lines = program.text.replace("^C", "").split("\n")
        assert "half a line" in lines
        assert "accord: cancelling; press Ctrl-C again to quit at once" in lines
        assert "accord: cancelled" in lines
    command = [sys.executable, "-m", "accord", *words]
    log = home.project / "log"
    with log.open("wb") as both:
        process = subprocess.Popen(
            command, env=home.env, stdin=subprocess.DEVNULL, stdout=both, stderr=both
        )
        patience = Patience()
        while b"half a line" not in log.read_bytes():
            assert patience.left
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(HANG_SECONDS) == 130
    said = [
        "half a line",
        "accord: cancelling; press Ctrl-C again to quit at once",
        "accord: cancelled",
    ]
    assert [line for line in log.read_text().split("\n") if line] == said
    assert log.read_text().endswith("\n")


def test_what_an_agent_prints_without_an_end_has_nothing_behind_it(home: Home) -> None:
    """Issue 14: nor has the stderr of an agent that ends in the middle of a line."""
    script = "import os; os.write(2, b'half a line'); os._exit(3)"
    first = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}
    for command in (["translate", "--to", "1"], ["proxy"]):
        agent = ["--", sys.executable, "-c", script]
        done = home.accord(*command, *agent, stdin=json.dumps(first) + "\n")
        assert done.error == "half a line\n"

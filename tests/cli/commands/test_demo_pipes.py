"""`accord demo` without a person: pipes, files, closed descriptors, terminals of plain letters."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from accord.cli.commands.demo import FIRST_MINUTE
from tests.cli.terminal import ACCORD, SECONDS_MAX

PIPE_CLOSED = 141
ONE = ("--prompt", "what is this project?")


def demo(*arguments: str, given: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (*ACCORD, "demo", *arguments),
        input=given,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        env={**os.environ, **env},
        check=False,
    )


def test_without_a_terminal_the_first_minute_plays_by_itself() -> None:
    """Issue 3: so that CI can run it."""
    finished = demo()
    assert (finished.returncode, finished.stderr) == (0, "")
    said = [line[2:] for line in finished.stdout.splitlines() if line.startswith("> ")]
    assert said == list(FIRST_MINUTE)
    assert "(n)o yes\n" in finished.stdout, "the questions and their answers are shown"
    assert "+    return sum(values)" in finished.stdout


def test_prompts_of_ones_own_are_said_and_it_ends() -> None:
    """Ours: for trying a sentence."""
    finished = demo("--prompt", "where is mean", "--prompt", "/help")
    assert (finished.returncode, finished.stderr) == (0, "")
    assert "calc.py" in finished.stdout
    assert "/undo" in finished.stdout


@pytest.mark.parametrize("redirection", ["< /dev/null", "<&-"])
def test_what_its_input_is_does_not_matter(redirection: str) -> None:
    """Ours: a descriptor may not be there at all."""
    finished = subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {redirection}', "sh", *ACCORD, "demo", *ONE],
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert (finished.returncode, finished.stderr) == (0, "")
    assert "calc.py" in finished.stdout


def test_a_reader_that_leaves_ends_it_quietly() -> None:
    """Newcomers: `| head -3` showed a traceback."""
    process = subprocess.Popen(
        (*ACCORD, "demo", "--script"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(SECONDS_MAX) == PIPE_CLOSED
    assert said == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_a_sentence() -> None:
    """Newcomers: `>/dev/full` showed a traceback."""
    with open("/dev/full", "w") as full:
        finished = subprocess.run(
            (*ACCORD, "demo", *ONE),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )
    assert finished.returncode == 1
    assert finished.stderr == "accord: No space left on device\n"


def test_a_closed_output_is_no_fault() -> None:
    """Ours: who closes it wants to see nothing."""
    finished = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *ACCORD, "demo", *ONE],
        stderr=subprocess.PIPE,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert (finished.returncode, finished.stderr) == (0, "")


def test_a_terminal_without_unicode_gets_plain_letters() -> None:
    """Newcomers: UnicodeEncodeError."""
    finished = demo(PYTHONIOENCODING="ascii")
    assert (finished.returncode, finished.stderr) == (0, "")
    assert "    + completed\n" in finished.stdout


def test_lines_fit_into_the_width_that_is_said() -> None:
    """Ours: COLUMNS is what people set where there is no terminal."""
    finished = demo(COLUMNS="40")
    assert max(map(len, finished.stdout.splitlines())) <= 40


def test_nothing_of_the_user_is_touched(tmp_path: Path) -> None:
    """Issue 3: a throw-away copy, and no session that stays."""
    places = {"ACCORD_CONFIG_DIR": str(tmp_path / "c"), "ACCORD_STATE_DIR": str(tmp_path / "s")}
    finished = demo(*ONE, TMPDIR=str(tmp_path), **places)
    assert finished.returncode == 0
    assert list(tmp_path.iterdir()) == []

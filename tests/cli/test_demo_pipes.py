"""`accord demo` without a person: pipes, files, closed descriptors, terminals of plain letters."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.terminal import ACCORD, SECONDS_MAX

PIPE_CLOSED = 141


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


def test_the_lines_of_a_pipe_are_the_answers() -> None:
    """Newcomers: input that was no terminal meant yes to everything."""
    finished = demo(given="y\nyes\nn\n")
    assert (finished.returncode, finished.stderr) == (0, "")
    assert finished.stdout.count("Allow it? [y/N] yes\n") == 2
    assert finished.stdout.count("Allow it? [y/N] no\n") == 1
    assert "I have not tested the change." in finished.stdout


def test_without_anything_to_read_the_answer_is_no() -> None:
    """Ours: silence is never approval."""
    finished = demo()
    assert (finished.returncode, finished.stderr) == (0, "")
    assert "no (no answer came)" in finished.stdout
    assert "I left sums.py as it is." in finished.stdout


def test_yes_for_all_is_an_option() -> None:
    """Issue 2: the demo runs unattended as well."""
    finished = demo("--yes")
    assert (finished.returncode, finished.stderr) == (0, "")
    assert "Allow it?" not in finished.stdout
    assert "The tests pass" in finished.stdout


def test_a_file_and_a_closed_descriptor_are_read_as_well(tmp_path: Path) -> None:
    """Ours: some loops cannot wait for a file; a descriptor may not be there at all."""
    answers = tmp_path / "answers"
    answers.write_text("y\ny\ny\n")
    for redirection, said in ((f"< {answers}", "The tests pass"), ("<&-", "I left")):
        finished = subprocess.run(
            ["/bin/sh", "-c", f'exec "$@" {redirection}', "sh", *ACCORD, "demo"],
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )
        assert (finished.returncode, finished.stderr) == (0, "")
        assert said in finished.stdout


def test_a_reader_that_leaves_ends_it_quietly() -> None:
    """Newcomers: `| head -3` showed a traceback."""
    process = subprocess.Popen(
        (*ACCORD, "demo", "--yes"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
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
            (*ACCORD, "demo", "--yes"),
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
        ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *ACCORD, "demo", "--yes"],
        stderr=subprocess.PIPE,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert (finished.returncode, finished.stderr) == (0, "")


def test_a_terminal_without_unicode_gets_plain_letters() -> None:
    """Newcomers: UnicodeEncodeError."""
    finished = demo("--yes", PYTHONIOENCODING="ascii")
    assert (finished.returncode, finished.stderr) == (0, "")
    assert "  - Mend it\n" in finished.stdout
    assert "    + completed\n" in finished.stdout


def test_lines_fit_into_the_width_that_is_said() -> None:
    """Ours: COLUMNS is what people set where there is no terminal."""
    finished = demo("--yes", COLUMNS="40")
    assert max(map(len, finished.stdout.splitlines())) <= 40


def test_the_help_says_that_it_is_scripted() -> None:
    """Newcomers: people typed prompts of their own and wondered."""
    assert "scripted" in demo("--help").stdout

"""Command lines: an argument vector where there is one, else nothing but the very line."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from accord.client.permissions.command_patterns import (
    COMMAND_CHARACTERS_MAX,
    pattern_words,
    read_command,
    terminal_line,
)
from accord.client.shell.programs.shells import shell_line
from tests.hang_limit import HANG_SECONDS

# Mostly harmless, so that most lines have words.
PIECES = st.sampled_from(
    [
        "a",
        "b-c",
        " ",
        " ",
        "\t",
        "'x  y'",
        '"q  r"',
        "'$;|`'",
        '";|&"',
        "--o=1",
        "/.,:@%+",
        '""',
        "*",
        "$a",
    ]
)
PRINTABLE = st.text("abc -_/.:=$`;|&<>()*?'\"\\\n", min_size=1)


@given(st.lists(PRINTABLE, min_size=1, max_size=4))
def test_quoted_words_are_read_back(words: list[str]) -> None:
    """Ours: what came as an argument vector is compared as one."""
    assume(words[0].find("=") <= 0 and shell_line(words) is None)
    assert read_command(shlex.join(words)).words == tuple(words)


@settings(max_examples=60)
@given(st.lists(PIECES, min_size=1, max_size=8).map("".join))
def test_a_shell_sees_the_same_words(line: str) -> None:
    """Ours: a line that has words is split alike by the shell that will run it."""
    words = read_command(line).words
    if not words:
        return
    # The words are arguments of printf here, so nothing of the line is run.
    done = subprocess.run(
        ["/bin/sh", "-c", f"printf '%s\\0' {line}"],
        capture_output=True,
        check=True,
        timeout=HANG_SECONDS,
    )
    assert done.stdout.decode().split("\0")[:-1] == list(words or ())


@given(st.text("git status;|&<>()$`\\\"'\n*?{}~#! ", max_size=20))
def test_nothing_after_a_prefix_smuggles_in_another_command(tail: str) -> None:
    """Issue: `git status` does not cover `git status; rm -rf /`.

    Whatever has words at all is one plain command, so none of the shell's signs is active in it.
    """
    line = "git status " + tail
    read = read_command(line)
    if read.words is None:
        assert not read.begins(("git", "status"))
    else:
        assert list(read.words) == shlex.split(line)


@pytest.mark.parametrize(
    "line",
    [
        "git status; rm -rf /",
        "git status && rm x",
        "git status | sh",
        "git status & rm x",
        "git status\nrm x",
        "git status $(rm x)",
        "git status `rm x`",
        'git status "$(rm x)"',
        "git status > /etc/passwd",
        "git status <(rm x)",
        "git status $IFS",
        "git status \\; rm",
        "git status *",
        "git status ~root",
        "git status {a,b}",
        "git status # x",
        "git status 'open",
        'git status "open',
        "git status \x1b[2K",
        "git status \u202e",
        "LD_PRELOAD=x git status",
        "PATH+=x git status",
        "git status\0",
    ],
)
def test_a_line_for_the_shell_is_no_plain_command(line: str) -> None:
    """Issue: a shell line with operators only matches an exact rule."""
    read = read_command(line)
    assert read.words is None
    assert not read.begins(("git",))
    assert read.same(read_command(f"  {line.rstrip()} ")) or line != line.strip()


@pytest.mark.parametrize(
    "line",
    [
        "bash -c 'git status -s'",
        "/bin/sh -c 'git status -s'",
        "/usr/bin/zsh -lc 'git status -s'",
        "git  status\t-s",
        "'git' \"status\" -s",
    ],
)
def test_a_shell_that_only_runs_a_line_is_looked_through(line: str) -> None:
    """Ours: agents wrap what they asked for."""
    assert read_command(line).words == ("git", "status", "-s")
    assert read_command(line).same(read_command("git status -s"))


@pytest.mark.parametrize(
    "line", ["./bash -c 'git status'", "/tmp/sh -c 'git status'", "bash -x -c 'git status'"]
)
def test_an_unknown_shell_is_not_looked_through(line: str) -> None:
    """Ours: a program named bash is not bash."""
    assert not read_command(line).begins(("git",))


def test_a_shell_line_inside_a_shell_stays_a_line() -> None:
    """Ours: looking through must not lose the operators."""
    assert read_command("bash -c 'git status; rm x'").words is None


def test_a_plain_line_is_read_whole() -> None:
    """Ours: else every rule that rejects would reject everything."""
    assert not read_command("git status -s > out && ls 'a b'").reading.unclear


def test_a_longer_line_than_anybody_types_is_not_read() -> None:
    """Ours: everything has a bound."""
    read = read_command("a " * COMMAND_CHARACTERS_MAX)
    assert read.words is None
    assert "longer than" in (read.concern(("rm",)) or "")


def test_the_words_of_a_rule_may_have_wildcards() -> None:
    """Ours: `npm run test:*` is a rule, `a | b` is a line."""
    assert pattern_words("npm run test:*") == ("npm", "run", "test:*")
    assert pattern_words("a | b") is None
    # `reject git push *` without this would let a bare `git push` pass.
    assert pattern_words("git push *") == ("git", "push")
    assert pattern_words("*") == ("*",)
    assert read_command("npm run test:unit -v").begins(("npm", "run", "test:*"))
    assert not read_command("npm run").begins(("npm", "run", "test:*"))
    assert not read_command("npm").begins(())


def test_a_terminal_is_told_in_one_line() -> None:
    """Ours: what the user is shown is what runs."""
    assert terminal_line("git", ["status", "a b"]) == "git status 'a b'"
    assert terminal_line("git status; ls") == "git status; ls"
    assert terminal_line("ls") == "ls"
    assert terminal_line("ls", (), {"NO_COLOR": "1", "LC_ALL": "C", "PAGER": "cat"}) == "ls"


@pytest.mark.parametrize("name", ["PATH", "LD_PRELOAD", "BASH_ENV", "PYTHONPATH", "PAGER", "X"])
def test_a_variable_that_may_change_a_command_is_part_of_it(name: str) -> None:
    """Issue: what is not understood is never approval; LD_PRELOAD makes any command another."""
    for line in (
        terminal_line("git", ["status"], {name: "evil"}),
        terminal_line("git status", (), {name: "evil"}),
    ):
        read = read_command(line)
        assert not read.begins(("git",))
        assert not read.same(read_command("git status"))
        assert f"{name}=evil" in line

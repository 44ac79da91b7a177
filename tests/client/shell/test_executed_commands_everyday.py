"""Failing closed must not make a rule useless: everyday commands pass."""

from __future__ import annotations

import pytest

from accord.client.permissions.command_patterns import read_command
from tests.client.shell.everyday import everyday_commands

# What cannot be known before it runs: code on a standard input, output that is evaluated, and a
# program that is told later what to run.
NOT_KNOWN = {
    "echo 'console.log(1)' | node",
    'eval "$(ssh-agent -s)"',
    "eval $(opam env)",
    "tmux new -s work",
}


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        (("rm",), frozenset[str]()),
        (("git", "push"), {"git push origin main", "git push -u origin feature/new"}),
        (("shutdown",), frozenset[str]()),
    ],
)
def test_a_rule_refuses_no_everyday_command_that_it_does_not_mean(
    pattern: tuple[str, ...], meant: frozenset[str]
) -> None:
    """Issue 12: every reject rule that could concern a command applies, and no other."""
    commands = everyday_commands()
    refused = {line for line in commands if read_command(line).concern(pattern) is not None}
    assert len(commands) > 400
    assert refused == meant | NOT_KNOWN

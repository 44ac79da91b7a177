"""Commands as values: what is run, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, cast

from accord.agent.serving.outgoing_checks import check_text
from accord.errors import LocalProtocolError

if TYPE_CHECKING:
    from accord.agent.terminals.output_report import OutputMask


class Done(NamedTuple):
    """How a command ended.  `exit_code` is None if a signal ended it or it never ran."""

    exit_code: int | None
    output: str
    signal: str | None = None
    truncated: bool = False
    timed_out: bool = False
    denied: bool = False
    cancelled: bool = False
    # Where the client separates them; `output` has both, in order of arrival.
    stdout: str | None = None
    stderr: str | None = None
    pid: int | None = None


def check_environment(env: Mapping[str, object]) -> dict[str, str]:
    """Check that the variables for a command are text.

    Raises:
        LocalProtocolError: one is not.
    """
    for name, value in env.items():
        check_text(f"the variable {name!r} of a command", value)
    return cast("dict[str, str]", dict(env))


def check_words(*words: object) -> None:
    """Check that a command and its arguments are text, and not a list, a common mistake.

    Raises:
        LocalProtocolError: one is not.
    """
    for word in words:
        if not isinstance(word, str):
            raise LocalProtocolError(
                f"a command is run as run('git', 'status') or run('git status'), not with {word!r}"
            )
    if not words[0]:
        raise LocalProtocolError("a command needs the name of a program")


class Job(NamedTuple):
    """A command to run."""

    command: str
    args: tuple[str, ...]
    cwd: str
    env: dict[str, str]
    timeout: float | None
    output_bytes: int
    # The three below apply only to processes of the agent.
    # Most bytes of output that are sent to the client; None is all.
    told_bytes: int | None = None
    # Makes the filter that hides secrets in the output for the client.
    mask: Callable[[], OutputMask] | None = None
    # Names or patterns of variables that the command does not inherit.
    without_env: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The command as a person would type it."""
        from shlex import join

        return join((self.command, *self.args)) if self.args else self.command

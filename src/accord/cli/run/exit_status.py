"""The exit code of `accord run`, and the sentence that explains it.

Must not know how a run works.  docs/reference/run.md has the same table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from accord.cli.run.check_command import Checked
from accord.cli.run.denied_requests import denial_sentence
from accord.client.permissions.request import Decided
from accord.machine.console.control_characters import visible_line


class ExitCode(IntEnum):
    """The exit codes of `accord run`."""

    DONE = 0
    AGENT_FAILED = 1
    USAGE = 2
    REFUSED = 3
    DENIED = 4
    LIMIT = 5
    CHECK_FAILED = 6
    TIMEOUT = 124
    CANCELLED = 130


STOP_REASONS = {
    "end_turn": ExitCode.DONE,
    "refusal": ExitCode.REFUSED,
    "cancelled": ExitCode.CANCELLED,
    "max_tokens": ExitCode.LIMIT,
    "max_turn_requests": ExitCode.LIMIT,
}
"""An unknown stop reason counts as done, since the agent has stopped."""

CHECKED_AFTER = frozenset({ExitCode.DONE, ExitCode.REFUSED, ExitCode.DENIED, ExitCode.LIMIT})
"""The outcomes after which `--check` runs: the agent stopped and did not fail."""


@dataclass(slots=True)
class Outcome:
    """The outcome of a run; `code` is its exit code."""

    stop_reason: str | None = None
    error: str | None = None
    timed_out: bool = False
    interrupted: bool = False
    denied: list[Decided] = field(default_factory=list)
    check: Checked | None = None

    @property
    def code(self) -> ExitCode:
        """The exit code: of our own action, of a failure, or of the stop reason."""
        code = self._code_of_turn
        if code in CHECKED_AFTER and self.check is not None and not self.check.passed:
            return ExitCode.CHECK_FAILED
        return code

    @property
    def is_to_be_checked(self) -> bool:
        """Whether the check should run after this turn."""
        return self._code_of_turn in CHECKED_AFTER

    @property
    def _code_of_turn(self) -> ExitCode:
        if self.timed_out:
            return ExitCode.TIMEOUT
        if self.interrupted:
            return ExitCode.CANCELLED
        if self.error is not None:
            return ExitCode.AGENT_FAILED
        said = STOP_REASONS.get(self.stop_reason or "", ExitCode.DONE)
        if said in (ExitCode.DONE, ExitCode.CANCELLED) and self.denied:
            # Some agents end the turn after a denial and report it as cancelled.
            return ExitCode.DENIED
        return said

    def sentence(self) -> str | None:
        """Return a message about the outcome, or None."""
        of_turn = self._sentence_of_turn()
        if self.code is not ExitCode.CHECK_FAILED or self.check is None:
            return of_turn
        ended = "was" if self.check.exit.signal else "ended with"
        command = visible_line(self.check.command)
        failed = f"the check failed: `{command}` {ended} {self.check.exit}"
        return failed if of_turn is None else f"{of_turn}\n{failed}"

    def _sentence_of_turn(self) -> str | None:
        code = self._code_of_turn
        if code is ExitCode.DENIED:
            return denial_sentence(self.denied)
        if code is ExitCode.AGENT_FAILED:
            return self.error
        return {
            ExitCode.TIMEOUT: "timed out; the run was cancelled",
            ExitCode.CANCELLED: "cancelled",
            ExitCode.REFUSED: "the agent refused",
            ExitCode.LIMIT: f"the agent reached a limit: {self.stop_reason}",
        }.get(code)

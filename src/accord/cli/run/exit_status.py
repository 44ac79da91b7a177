"""The exit code of `accord run`, and the sentence that explains it.

Must not know how a run works.  docs/reference/run.md has the same table.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from enum import IntEnum

from accord import PermissionRequest
from accord.cli.run.check_command import Checked
from accord.client.audit.services import why_denied
from accord.client.permissions.changed_files import CHANGING_KINDS
from accord.client.permissions.request import Decided
from accord.machine.console.control_characters import visible_line
from accord.machine.redaction.redactor import Redactor

DENIED_SHOWN_MAX = 5
SUBJECT_CHARACTERS_MAX = 200


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
            return self._denied()
        if code is ExitCode.AGENT_FAILED:
            return self.error
        return {
            ExitCode.TIMEOUT: "timed out; the run was cancelled",
            ExitCode.CANCELLED: "cancelled",
            ExitCode.REFUSED: "the agent refused",
            ExitCode.LIMIT: f"the agent reached a limit: {self.stop_reason}",
        }.get(code)

    def _denied(self) -> str:
        lines = ["permission was denied for:"]
        for one in self.denied[:DENIED_SHOWN_MAX]:
            lines.append(f"  {one.request.kind}: {_subject(one.request)}")
            if one.rule is not None or one.by != "default":
                lines.append(f"    {_shown(why_denied(one))}")
        if len(self.denied) > DENIED_SHOWN_MAX:
            lines.append(f"  and {len(self.denied) - DENIED_SHOWN_MAX} more")
        undecided = [one for one in self.denied if one.by == "default" and one.rule is None]
        lacking = {one.request.kind for one in undecided if one.beyond is None}
        if lacking:
            flag = ",".join(sorted(lacking))
            lines.append(
                f"use `--allow {flag}` to allow it, --ask to be asked, or --policy FILE for rules"
            )
        lines += dict.fromkeys(_beyond(one) for one in undecided if one.beyond is not None)
        return "\n".join(lines)


def _beyond(decided: Decided) -> str:
    """Explain why the flag for a kind is not enough, and which one is."""
    # A call with a diff counts as an edit, whatever its kind.
    said = decided.request.kind
    kind = said if said in CHANGING_KINDS else "edit"
    path, why = decided.beyond or (None, "")
    if path is None:
        return f"`--allow {kind}` is for files of the session's folders, and {why}; --ask asks"
    shown = shlex.quote(f"{kind}={visible_line(path)}")
    return f"`--allow {kind}` does not cover {visible_line(path)}: {why}; `--allow {shown}` does"


def _subject(request: PermissionRequest) -> str:
    """Return the subject of a request on one line: some agents ask just "Run command?".

    Secrets are removed, because many people read CI logs.  Both ends of a long command are shown,
    since it may start with many variables.
    """
    shown = _shown(request.command or request.title)
    if len(shown) <= SUBJECT_CHARACTERS_MAX:
        return shown
    half = SUBJECT_CHARACTERS_MAX // 2
    return f"{shown[:half]} … {shown[-half:]}"


def _shown(text: str) -> str:
    return visible_line(" ".join(Redactor.of_environment().line(text).split()))

"""How `accord run` ends: a number for the shell, and the sentence that goes with it.

Must not know how a run is done.  docs/reference/run.md has the same table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from accord import PermissionRequest
from accord.client.audited import Decided
from accord.machine.redaction import Redactor
from accord.terminal.model.text.cleaning import harmless

DENIED_SHOWN_MAX = 5
SUBJECT_CHARACTERS_MAX = 200


class ExitCode(IntEnum):
    """What the shell is told."""

    DONE = 0
    AGENT_FAILED = 1
    USAGE = 2
    REFUSED = 3
    DENIED = 4
    LIMIT = 5
    TIMEOUT = 124
    CANCELLED = 130


STOP_REASONS = {
    "end_turn": ExitCode.DONE,
    "refusal": ExitCode.REFUSED,
    "cancelled": ExitCode.CANCELLED,
    "max_tokens": ExitCode.LIMIT,
    "max_turn_requests": ExitCode.LIMIT,
}
"""A stop reason that we do not know counts as done: the agent has stopped by itself."""


@dataclass(slots=True)
class Outcome:
    """What happened, as it becomes known; `code` is what it adds up to."""

    stop_reason: str | None = None
    error: str | None = None
    timed_out: bool = False
    interrupted: bool = False
    denied: list[Decided] = field(default_factory=list)

    @property
    def code(self) -> ExitCode:
        """The first of these that holds: what we did, what failed, what the agent says."""
        if self.timed_out:
            return ExitCode.TIMEOUT
        if self.interrupted:
            return ExitCode.CANCELLED
        if self.error is not None:
            return ExitCode.AGENT_FAILED
        said = STOP_REASONS.get(self.stop_reason or "", ExitCode.DONE)
        if said in (ExitCode.DONE, ExitCode.CANCELLED) and self.denied:
            # Some agents take a denial for the end of the turn and call it cancelled.
            return ExitCode.DENIED
        return said

    def sentence(self) -> str | None:
        """What a person should know about it; None where there is nothing."""
        code = self.code
        if code is ExitCode.DENIED:
            return self._denied()
        if code is ExitCode.AGENT_FAILED:
            return self.error
        return {
            ExitCode.TIMEOUT: "the time was up, and the turn was cancelled",
            ExitCode.CANCELLED: "cancelled",
            ExitCode.REFUSED: "the agent refused",
            ExitCode.LIMIT: f"the agent stopped at a limit: {self.stop_reason}",
        }.get(code)

    def _denied(self) -> str:
        lines = ["permission was denied for:"]
        lines += [
            f"  {one.request.kind}: {_subject(one.request)}"
            for one in self.denied[:DENIED_SHOWN_MAX]
        ]
        if len(self.denied) > DENIED_SHOWN_MAX:
            lines.append(f"  and {len(self.denied) - DENIED_SHOWN_MAX} more")
        lacking = {one.request.kind for one in self.denied if one.by == "default"}
        if lacking:
            flag = ",".join(sorted(lacking))
            lines.append(f"`--allow {flag}` allows it; --ask asks, --policy FILE decides by rules")
        return "\n".join(lines)


def _subject(request: PermissionRequest) -> str:
    """What it was about, on one line: some agents ask just "Run command?".

    CI logs are read by many, so secrets are left out, and nothing else.  Of a long command both
    ends are shown: it begins with its variables and ends with what they are for.
    """
    said = Redactor.of_environment().line(request.command or request.title)
    shown = " ".join(harmless(said).split())
    if len(shown) <= SUBJECT_CHARACTERS_MAX:
        return shown
    half = SUBJECT_CHARACTERS_MAX // 2
    return f"{shown[:half]} … {shown[-half:]}"


__all__ = ["STOP_REASONS", "ExitCode", "Outcome"]

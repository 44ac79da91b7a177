"""Makes text of a judged program safe for a report: without secrets, visible, on one line.

Its frames, its standard error, what the checks quote of them, and its own command line go into
reports that are handed on.

What always holds: what `plain` returns has no control character, no escape sequence and no letter
that changes the direction of text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from accord.conformance.check_definition import Finding
from accord.conformance.frames.raw_peer import Frame
from accord.conformance.run.check_runner import CheckRun
from accord.machine.console.control_characters import visible_line
from accord.machine.redaction.conversation_redactor import ConversationRedactor
from accord.machine.redaction.redactor import Redactor


def without_secrets(runs: Iterable[CheckRun], redactor: Redactor) -> list[CheckRun]:
    """Return the runs without secrets; verdicts are unchanged."""
    return [
        replace(
            run,
            # First, since it teaches the redactor values that findings may quote.
            conversations=tuple(_frames(redactor, frames) for frames in run.conversations),
            findings=tuple(_finding(redactor, one) for one in run.findings),
            stderr=redactor.line(run.stderr),
        )
        for run in runs
    ]


def _frames(redactor: Redactor, frames: Sequence[Frame]) -> tuple[Frame, ...]:
    redacting: ConversationRedactor[Frame] = ConversationRedactor(redactor)
    made: list[tuple[Frame, bytes]] = []
    for frame in frames:
        speaker = "client" if frame.sent else "agent"
        made += redacting.frame(frame, speaker, frame.raw)
    made += redacting.finish()
    return tuple(
        frame if raw == frame.raw else replace(frame, raw=raw, message=None) for frame, raw in made
    )


def _finding(redactor: Redactor, finding: Finding) -> Finding:
    return replace(
        finding,
        said=redactor.line(finding.said),
        sent=_evidence(redactor, finding.sent),
        came=_evidence(redactor, finding.came),
    )


def _evidence(redactor: Redactor, evidence: str) -> str:
    """Redact evidence, which is one frame per line, or any text."""
    redacting: ConversationRedactor[None] = ConversationRedactor(redactor)
    made: list[tuple[None, bytes]] = []
    for line in evidence.split("\n"):
        made += redacting.frame(None, "agent", line.encode("utf-8", "surrogatepass"))
    made += redacting.finish()
    return "\n".join(raw.decode("utf-8", "surrogatepass") for _, raw in made)


TEXT_CHARACTERS_MAX = 2_000


def plain(text: str, *, characters_max: int = TEXT_CHARACTERS_MAX) -> str:
    """Return text on one line, with invisible characters escaped."""
    shown = visible_line(text[: characters_max + 1])
    return shown if len(text) <= characters_max else shown[:characters_max] + " …"

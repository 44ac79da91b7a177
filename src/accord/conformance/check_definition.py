"""Checks and their findings: one verdict per rule that a check judges, with evidence.

Must not know: any program, any transport.

What always holds: a check says something about each rule that it names, and about no other.  What
it left open when it stopped is `not_exercised`, and its first open rule fails when it stopped
because the program did not answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from accord.conformance.frames.raw_peer import ErrorOf, Frame, as_json
from accord.conformance.rule_definition import Verdict, Version

Role = Literal["agent", "client"]
StageT = TypeVar("StageT")

# The worse verdict of two about one rule wins.
_ORDER: dict[Verdict, int] = {"skipped": 0, "not_exercised": 1, "pass": 2, "fail": 3}


@dataclass(frozen=True, slots=True)
class Finding:
    """The finding of one check about one rule."""

    rule: str
    verdict: Verdict
    said: str = ""
    sent: str = ""
    came: str = ""


@dataclass(slots=True)
class Findings:
    """The findings of a check so far; one per rule, the worst."""

    rules: tuple[str, ...]
    found: dict[str, Finding] = field(default_factory=dict)
    # Whether the prompt had the intended effect.
    due: bool = False

    def brought_about(self) -> None:
        """Note that a tentative prompt has worked: from here on silence is a breach."""
        self.due = True

    def _note(self, finding: Finding) -> None:
        assert finding.rule in self.rules, f"the check does not name {finding.rule}"
        known = self.found.get(finding.rule)
        if known is None or _ORDER[finding.verdict] > _ORDER[known.verdict]:
            self.found[finding.rule] = finding

    def passed(self, *rules: str) -> None:
        for rule in rules:
            self._note(Finding(rule, "pass"))

    def failed(self, rule: str, said: str, *, sent: Any = "", came: Any = "") -> None:
        """Fail a rule: how it is broken, and what was sent and came (frames, messages or text)."""
        self._note(Finding(rule, "fail", said, shown(sent), shown(came)))

    def skipped(self, rule: str, said: str) -> None:
        """Skip a rule that does not bind this program, which lacks a capability."""
        self._note(Finding(rule, "skipped", said))

    def not_exercised(self, rule: str, said: str) -> None:
        """Note that a rule binds, but nothing showed whether it is followed."""
        self._note(Finding(rule, "not_exercised", said))

    def judge(self, rule: str, ok: bool, said: str, *, sent: Any = "", came: Any = "") -> bool:
        """Pass or fail; `said` tells what is wrong when it fails.  Returns `ok`."""
        if ok:
            self.passed(rule)
        else:
            self.failed(rule, said, sent=sent, came=came)
        return ok

    def skip_open(self, said: str) -> None:
        """Skip every rule without a finding so far."""
        for rule in self.rules:
            if rule not in self.found:
                self.skipped(rule, said)

    def close(self, said: str, *, failing: bool) -> None:
        """Give the rules without a finding this one; the first fails if `failing`.

        If nothing was open, the check had judged all and went on to make sure: the first fails.
        """
        if failing and all(rule in self.found for rule in self.rules):
            self.failed(self.rules[0], said)
        for rule in self.rules:
            if rule in self.found:
                continue
            if failing:
                self.failed(rule, said)
                failing = False
            else:
                self.not_exercised(rule, said)


@dataclass(frozen=True, slots=True)
class Check(Generic[StageT]):
    """A function that drives a fresh program and judges the rules that it names.

    `needs` names the prompt of a scenario without which it cannot run.
    """

    name: str
    rules: tuple[str, ...]
    role: Role
    version: Version
    run: Callable[[StageT], Awaitable[None]]
    needs: str | None = None
    faults: bool = False
    # Whether this judges the start, which other checks rely on.
    basic: bool = False
    # Prompts by purposes that the scenario lacks; they are only tried.
    prompts: Mapping[str, str] = field(default_factory=dict, compare=False)


def check(
    *rules: str,
    role: Role = "agent",
    version: Version = "1",
    needs: str | None = None,
    faults: bool = False,
    basic: bool = False,
) -> Callable[[Callable[[StageT], Awaitable[None]]], Check[StageT]]:
    """Make a check of an async function that takes a stage."""

    def made(run: Callable[[StageT], Awaitable[None]]) -> Check[StageT]:
        module = run.__module__.rpartition(".checks.")[2]
        name = f"{module}.{getattr(run, '__name__', 'check')}"
        return Check(name, rules, role, version, run, needs, faults, basic)

    return made


@dataclass(frozen=True, slots=True)
class Monitor:
    """A function that judges rules over the frames of any check, without driving anything."""

    rules: tuple[str, ...]
    role: Role
    version: Version
    look: Callable[[Sequence[Frame], Findings], None]


def monitor(
    *rules: str, role: Role = "agent", version: Version = "1"
) -> Callable[[Callable[[Sequence[Frame], Findings], None]], Monitor]:
    """Make a monitor of a function over the frames of one conversation."""

    def made(look: Callable[[Sequence[Frame], Findings], None]) -> Monitor:
        return Monitor(rules, role, version, look)

    return made


def shown(evidence: Any) -> str:
    """Return evidence as text; frames and messages become JSON.  The caller escapes it."""
    if isinstance(evidence, str):
        return evidence
    if isinstance(evidence, Frame):
        return evidence.raw.decode("utf-8", "backslashreplace").rstrip("\n")
    if isinstance(evidence, bytes):
        return evidence.decode("utf-8", "backslashreplace")
    if isinstance(evidence, (list, tuple)) and any(isinstance(one, Frame) for one in evidence):
        return "\n".join(shown(one) for one in evidence)
    return as_json(evidence.answer if isinstance(evidence, ErrorOf) else evidence)


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict about a rule that several checks judged."""
    found: Verdict = "not_exercised"
    for verdict in verdicts:
        if found == "not_exercised" and verdict == "skipped":
            found = verdict
    return max([found, *verdicts], key=_ORDER.__getitem__)

"""Combines the findings of checks into a verdict per rule, and a conclusion about the program.

Must not know: how anything was checked.

What always holds: a program is conformant when every binding rule that applies to it was judged,
at least one, and none failed that the baseline does not name.  One that showed too little is
incomplete.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from accord.conformance.check_definition import Check, Finding, Monitor, worst
from accord.conformance.rule_definition import Rule, Verdict
from accord.conformance.run.check_runner import CheckRun

# About a program: `incomplete` if no rule failed and not all applicable ones were judged.
Conclusion = Literal["conformant", "not conformant", "incomplete"]


JUDGED: frozenset[Verdict] = frozenset({"pass", "fail"})


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict about one rule: the worst of all checks.

    `excuse` says why the rule does not apply to what the program was seen to do, `asked` that the
    caller named it.
    """

    rule: Rule
    verdict: Verdict
    seconds: float = 0.0
    # The findings with that verdict, and the checks that they come from.
    findings: tuple[tuple[str, Finding], ...] = ()
    known: bool = False
    excuse: str = ""
    asked: bool = False

    @property
    def said(self) -> str:
        """The text of the first finding."""
        return next((finding.said for _, finding in self.findings if finding.said), "")


@dataclass(frozen=True, slots=True)
class Report:
    """One run of the kit over one program and one version."""

    command: tuple[str, ...]
    role: str
    version: str
    results: tuple[Result, ...]
    runs: tuple[CheckRun, ...]
    seconds: float
    require_all: bool = False
    # Whether only some rules were selected, so that the verdict is only about them.
    selected: bool = False
    # Behaviour that the program never shows, according to the scenario.
    never: frozenset[str] = frozenset()
    # Further options of the command line, to reproduce a failure.
    options: tuple[str, ...] = ()

    @property
    def conclusion(self) -> Conclusion:
        """The conclusion of this run about the program."""
        if any(self.counts_against(result) for result in self.results):
            return "not conformant"
        return "conformant" if self.judged and not self.unjudged else "incomplete"

    @property
    def conformant(self) -> bool:
        return self.conclusion == "conformant"

    @property
    def unjudged(self) -> tuple[Result, ...]:
        """The applicable binding rules without a verdict."""
        return tuple(
            one
            for one in self.results
            if one.verdict == "not_exercised"
            and not one.excuse
            and (one.asked or (one.rule.binding and one.rule.visible))
        )

    @property
    def applying(self) -> int:
        """How many binding rules apply to this program."""
        return self.judged + sum(1 for one in self.unjudged if one.rule.binding)

    @property
    def judged(self) -> int:
        """How many binding rules were judged."""
        return sum(1 for one in self.results if one.rule.binding and one.verdict in JUDGED)

    def counts_against(self, result: Result) -> bool:
        """Whether this result alone makes the program not conformant."""
        if not result.rule.binding or result.known:
            return False
        if result.verdict == "fail":
            return True
        return self.require_all and result.verdict == "not_exercised" and result.rule.visible

    def count(self, verdict: Verdict) -> int:
        return sum(1 for result in self.results if result.verdict == verdict)


def results(
    rules: Mapping[str, Rule],
    judged: Sequence[str],
    runs: Sequence[CheckRun],
    *,
    baseline: frozenset[str] = frozenset(),
    excuse: Callable[[Rule], str] = lambda rule: "",
    asked: frozenset[str] = frozenset(),
) -> tuple[Result, ...]:
    """Return one result for each of the rules `judged`, in the order of the tables.

    `asked` are those that the caller named: they apply in any case.
    """
    found: dict[str, list[tuple[CheckRun, Finding]]] = {}
    for run in runs:
        for finding in run.findings:
            found.setdefault(finding.rule, []).append((run, finding))
    made: list[Result] = []
    for rule in rules.values():
        if rule.id not in judged:
            continue
        about = found.get(rule.id, [])
        verdict = worst([finding.verdict for _, finding in about])
        those = [(run, finding) for run, finding in about if finding.verdict == verdict]
        made.append(
            Result(
                rule,
                verdict,
                sum(run.seconds for run, finding in about if finding.rule in run.check.rules),
                tuple((run.check.name, finding) for run, finding in those),
                known=verdict == "fail" and rule.id in baseline,
                excuse="" if rule.id in asked else excuse(rule),
                asked=rule.id in asked,
            )
        )
    return tuple(made)


def covered(checks: Sequence[Check[Any]], monitors: Sequence[Monitor]) -> frozenset[str]:
    """Return the rules that a check or monitor judges."""
    judged = [rule for check in checks for rule in check.rules]
    return frozenset(judged + [rule for monitor in monitors for rule in monitor.rules])

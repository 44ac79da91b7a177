"""A run as a table that a person reads in a terminal.

Must not know: whether colours are wanted; the caller says.

What always holds: nothing that a judged program sent is in it unescaped.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from accord.conformance.reports.plain import plain
from accord.conformance.rule import Verdict
from accord.conformance.verdicts import Report, Result

WORDS: dict[Verdict, str] = {
    "pass": "pass",
    "fail": "FAIL",
    "skipped": "skipped",
    "not_exercised": "not exercised",
}
COLOURS = {"pass": "32", "fail": "31", "skipped": "2", "not_exercised": "33"}
EVIDENCE_CHARACTERS = 400


def table(report: Report, *, colour: bool = False, everything: bool = False) -> Iterator[str]:
    """The lines of the table: every rule that was judged, then each failure in full.

    Rules that were neither passed nor failed are counted; `everything` lists them too.
    """
    width = max((len(result.rule.id) for result in report.results), default=10)
    for result in report.results:
        if result.verdict in ("pass", "fail") or everything:
            yield _row(result, width, colour)
    for result in report.results:
        if result.verdict == "fail":
            yield from _failure(report, result)
    yield ""
    yield from _summary(report)


def word(result: Result) -> str:
    """The verdict in a word; what fails without binding is advice."""
    if result.verdict == "fail" and not result.rule.binding:
        return "advice"
    return WORDS[result.verdict] + (" (known)" if result.known else "")


def _row(result: Result, width: int, colour: bool) -> str:
    painted = f"{word(result):<13}"
    if colour:
        colour_of = "33" if word(result) == "advice" else COLOURS[result.verdict]
        painted = f"\x1b[{colour_of}m{painted}\x1b[0m"
    time = f"{result.seconds:5.1f} s" if result.seconds else "       "
    rule = result.rule
    return f"{rule.id:<{width}}  {painted}  {time}  {rule.tier:<13}  {rule.sentence}"


def _failure(report: Report, result: Result) -> Iterator[str]:
    rule = result.rule
    yield ""
    yield f"{rule.id} ({rule.level}, {rule.tier}): {rule.sentence}"
    for check, finding in result.findings[:3]:
        yield f"  in    {check}"
        yield f"  found {plain(finding.said)}"
        if finding.sent:
            yield f"  sent  {plain(finding.sent, characters_max=EVIDENCE_CHARACTERS)}"
        if finding.came:
            yield f"  came  {plain(finding.came, characters_max=EVIDENCE_CHARACTERS)}"
    yield f"  from  {rule.source}"
    yield f"  again {again(report, rule.id)}"


def again(report: Report, rule_id: str) -> str:
    """The command that shows this failure again."""
    words = ["accord", "check", "--only", rule_id]
    if report.version != "1":
        words += ["--protocol", report.version]
    if report.role == "client" and "--client-stdio" not in report.options:
        words.append("--client")
    return plain(shlex.join([*words, *report.options, "--", *report.command]))


def _summary(report: Report) -> Iterator[str]:
    counts = {verdict: report.count(verdict) for verdict in WORDS}
    unseen = sum(
        1
        for result in report.results
        if result.verdict == "not_exercised" and not result.rule.visible
    )
    advice = sum(
        1 for result in report.results if result.verdict == "fail" and not result.rule.binding
    )
    verdict = "conformant" if report.conformant else "NOT conformant"
    yield (
        f"{report.role}, version {report.version}: {verdict}. "
        f"{counts['pass']} passed, {counts['fail']} failed ({advice} of them advice), "
        f"{counts['skipped']} skipped, {counts['not_exercised']} not exercised "
        f"({unseen} of them cannot be seen on the wire), {report.seconds:.1f} s."
    )

"""A run as a table that a person reads in a terminal.

Must not know: whether colours are wanted; the caller says.

What always holds: nothing that a judged program sent is in it unescaped.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from textwrap import wrap

from accord.conformance.reports.plain_text import plain
from accord.conformance.rule import Verdict
from accord.conformance.run.verdicts import Conclusion, Report, Result

WORDS: dict[Verdict, str] = {
    "pass": "pass",
    "fail": "FAIL",
    "skipped": "skipped",
    "not_exercised": "not exercised",
}
COLOURS = {"pass": "32", "fail": "31", "skipped": "2", "not_exercised": "33"}
CONCLUSIONS: dict[Conclusion, str] = {
    "conformant": "conformant",
    "not conformant": "NOT conformant",
    "incomplete": "INCOMPLETE",
}
CONCLUSION_COLOURS: dict[Conclusion, str] = {
    "conformant": "32",
    "not conformant": "31",
    "incomplete": "33",
}
FINDINGS_MAX = 3
EVIDENCE_CHARACTERS = 400
# A folder that was made for one check, and is another one in the next.
SCRATCH = re.compile(r"[^\s'\"]*accord-(check|client)-\w{8}")
WIDTH = 100


def summary(report: Report, *, colour: bool = False) -> Iterator[str]:
    """The verdict on one line, each failure in full, then what was not exercised."""
    yield _verdict(report, colour)
    failed = [one for one in report.results if one.verdict == "fail"]
    for result in sorted(failed, key=lambda one: not one.rule.binding):
        yield from _failure(report, result)
    yield from _unexercised(report)


def table(report: Report, *, colour: bool = False) -> Iterator[str]:
    """One line for each rule, in the order of the tables."""
    width = max((len(result.rule.id) for result in report.results), default=10)
    for result in report.results:
        yield _row(result, width, colour)


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
    for check, finding in result.findings[: FINDINGS_MAX if rule.binding else 1]:
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


def _verdict(report: Report, colour: bool) -> str:
    conclusion = report.conclusion
    shown = CONCLUSIONS[conclusion]
    if colour:
        shown = f"\x1b[{CONCLUSION_COLOURS[conclusion]}m{shown}\x1b[0m"
    failed = [one for one in report.results if one.verdict == "fail"]
    known = sum(1 for one in failed if one.known)
    counts = [
        f"{report.count('pass')} passed",
        f"{sum(1 for one in failed if one.rule.binding)} failed"
        + (f" ({known} of them known)" if known else ""),
        f"{sum(1 for one in failed if not one.rule.binding)} with advice",
        f"{report.count('skipped')} skipped",
    ]
    return (
        f"{report.role}, version {report.version}: {shown}. {told_unjudged(report)}"
        f"{', '.join(counts)}, {report.seconds:.1f} s."
    )


def told_unjudged(report: Report) -> str:
    """How many of the rules that apply were not judged, as a sentence; empty where all were."""
    left = len(report.unjudged)
    if report.conclusion == "incomplete" and not left:
        return "No rule was judged. "
    if not left:
        return ""
    rules = "rule that was asked for" if report.applying == 0 else "binding rules that apply"
    return f"{left} of {max(report.applying, left)} {rules} could not be judged. "


def _unexercised(report: Report) -> Iterator[str]:
    if report.unjudged:
        yield ""
        yield f"Not exercised, and needed for a verdict ({len(report.unjudged)}):"
        for reason, ids in grouped(report.unjudged).items():
            yield from _wrapped(f"{plain(reason)}: ", ids)
        if report.conclusion == "incomplete":
            yield from (f"  {line}" for line in ways_on(report))
    rest = [
        one
        for one in report.results
        if one.verdict == "not_exercised" and one not in report.unjudged
    ]
    if rest:
        yield ""
        yield f"Not exercised, and not needed ({len(rest)}):"
        for reason, ids in _grouped_rest(rest).items():
            yield from _wrapped(f"{reason}: ", ids)
        unseen = sum(1 for one in rest if not one.rule.visible)
        if unseen:
            yield f"  cannot be seen from outside: {unseen} rules"


def grouped(results: Sequence[Result]) -> dict[str, list[str]]:
    """The ids of rules by the reason why they were not exercised."""
    found: dict[str, list[str]] = {}
    for one in results:
        reason = SCRATCH.sub("…", one.said) or "nothing showed it"
        found.setdefault(reason, []).append(one.rule.id)
    return found


def _grouped_rest(results: Sequence[Result]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in results:
        if one.rule.visible:
            found.setdefault(one.excuse or "advice", []).append(one.rule.id)
    return found


def ways_on(report: Report) -> Iterator[str]:
    """What to do so that the rest is exercised too."""
    if report.role == "client":
        yield "A scenario says how your client is made to do it: --scenario FILE with [client]."
    else:
        left = {one.rule.id for one in report.unjudged}
        needs = sorted(
            {
                run.check.needs
                for run in report.runs
                if run.check.needs and left & set(run.check.rules)
            }
        )
        wanted = f" prompts for {', '.join(needs)}" if needs else " the prompts of your agent"
        yield f"Write a scenario with{wanted}: --scenario FILE."
        yield 'What your agent never does, it says there: never = ["tools", "permission"].'
    yield "docs/reference/check.md has the form of the file."


def _wrapped(head: str, ids: Sequence[str]) -> Iterator[str]:
    yield from wrap(
        head + ", ".join(ids),
        WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
        break_on_hyphens=False,
    )

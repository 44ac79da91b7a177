"""A run as a table for the terminal.

Must not know: whether colours are wanted; the caller says.

What always holds: nothing that a judged program sent is in it unescaped.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from textwrap import wrap

from accord.conformance.agent.scenario import PURPOSES, TOOL_PURPOSES
from accord.conformance.optional_behaviour import OCCASIONS
from accord.conformance.reports.untrusted_text import plain
from accord.conformance.rule_definition import DEFAULT_VERSION, Verdict
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
# A temporary folder, which is different in each check.
SCRATCH = re.compile(r"[^\s'\"]*accord-(check|client)-\w{8}")
# The form in which a reason names a prompt that was missing or had no effect.
PROMPT_FOR = re.compile(r"prompt for '(\w+)'")
WIDTH = 100
UNSEEN = "nothing in this run was about it"


def summary(report: Report, *, colour: bool = False) -> Iterator[str]:
    """Return the verdict on one line, each failure in full, and what was not exercised."""
    yield _verdict(report, colour)
    failed = [one for one in report.results if one.verdict == "fail"]
    for result in sorted(failed, key=lambda one: not one.rule.binding):
        yield from _failure(report, result)
    yield from _unexercised(report)


def table(report: Report, *, colour: bool = False) -> Iterator[str]:
    """Return one line for each rule, in the order of the tables."""
    width = max((len(result.rule.id) for result in report.results), default=10)
    for result in report.results:
        yield _row(result, width, colour)


def word(result: Result) -> str:
    """Return the verdict in a word; a failure that does not bind is advice."""
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
    """Return the command that shows this failure again."""
    words = ["accord", "check", "--only", rule_id]
    if report.version != DEFAULT_VERSION:
        words += ["--protocol", report.version]
    if report.role == "client" and "--client-stdio" not in report.options:
        words.append("--client")
    return plain(shlex.join([*words, *report.options, "--", *report.command]))


def _verdict(report: Report, colour: bool) -> str:
    conclusion = report.conclusion
    shown = CONCLUSIONS[conclusion]
    if colour:
        shown = f"\x1b[{CONCLUSION_COLOURS[conclusion]}m{shown}\x1b[0m"
    if report.selected and conclusion == "conformant":
        shown += " with the rules that you selected"
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
    """Return a sentence about applicable rules that were not judged; empty if all were."""
    binding = sum(1 for one in report.unjudged if one.rule.binding)
    advisory = len(report.unjudged) - binding
    sentences = ""
    if binding:
        rules = "binding rule that applies" if report.applying == 1 else "binding rules that apply"
        sentences += f"{binding} of {report.applying} {rules} could not be judged. "
    elif not report.judged and report.conclusion == "incomplete":
        sentences += "No binding rule was judged. "
    if advisory:
        sentences += f"{advisory} advisory {_rules(advisory)} that you named could not be judged. "
    return sentences


def _rules(count: int) -> str:
    return "rule" if count == 1 else "rules"


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
            yield f"  cannot be seen from outside: {unseen} {_rules(unseen)}"


def grouped(results: Sequence[Result]) -> dict[str, list[str]]:
    """Return the ids of rules by the reason why they were not exercised."""
    found: dict[str, list[str]] = {}
    for one in results:
        reason = SCRATCH.sub("…", one.said) or UNSEEN
        found.setdefault(reason, []).append(one.rule.id)
    return found


def _grouped_rest(results: Sequence[Result]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in results:
        if one.rule.visible:
            found.setdefault(one.excuse or "advice", []).append(one.rule.id)
    return found


def ways_on(report: Report) -> Iterator[str]:
    """Return what to do so that the rest is exercised too."""
    if report.role == "client":
        yield "Write a scenario that says how your client is made to do this: --scenario FILE."
        yield "It is a TOML file with a table [client]."
        return
    wanted = _wanted_prompts(report)
    prompts = f"prompts for {', '.join(wanted)}" if wanted else "the prompts of your agent"
    yield f"Write a scenario with {prompts}: --scenario FILE."
    yield "It is a TOML file:"
    never = [
        name
        for name, one in OCCASIONS.items()
        if name in report.never
        or (one.assumed and any(one.about(result.rule.id) for result in report.unjudged))
    ]
    if never:
        yield f"    never = {json.dumps(never)}  # only what your agent never does"
    yield "    [prompts]"
    for name in wanted or ["say"]:
        yield f'    {name} = "…"  # makes the agent {PURPOSES[name]}'


def _wanted_prompts(report: Report) -> list[str]:
    """Return the purposes whose prompts can exercise the rest.

    An agent without tools has no use for a prompt that asks for one.
    """
    left = {one.rule.id for one in report.unjudged}
    needed = {
        str(run.check.needs)
        for run in report.runs
        if run.check.needs and left & set(run.check.rules)
    }
    if "tools" in report.never:
        needed -= TOOL_PURPOSES
    asked = {name for one in report.unjudged for name in PROMPT_FOR.findall(one.said)}
    return [name for name in PURPOSES if name in needed | asked]


def _wrapped(head: str, ids: Sequence[str]) -> Iterator[str]:
    yield from wrap(
        head + ", ".join(ids),
        WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
        break_on_hyphens=False,
    )

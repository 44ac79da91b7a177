"""A run as JSON and as JUnit XML.

What always holds: the JSON has `verdict`, `conformant` and, per rule, `id`, `tier` and `verdict`;
the XML has no character that XML forbids, and an error where the verdict is incomplete.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

from accord.conformance.reports.terminal_table import again, grouped, told_unjudged
from accord.conformance.reports.untrusted_text import plain
from accord.conformance.run.verdicts import Conclusion, Report, Result
from accord.version import __version__


def as_json(reports: Sequence[Report]) -> str:
    """Return all runs as one object; with several versions each result has its version."""
    return json.dumps(
        {
            "kit": f"accord {__version__}",
            "verdict": worst_conclusion(reports),
            "conformant": all(report.conformant for report in reports),
            "command": list(reports[0].command) if reports else [],
            "runs": [_run(report) for report in reports],
            "results": [_result(report, one) for report in reports for one in report.results],
        },
        indent=1,
        ensure_ascii=True,
    )


def worst_conclusion(reports: Sequence[Report]) -> Conclusion:
    """Return the conclusion of several runs together."""
    found = {report.conclusion for report in reports}
    if "not conformant" in found:
        return "not conformant"
    return "incomplete" if "incomplete" in found else "conformant"


def _run(report: Report) -> dict[str, Any]:
    return {
        "role": report.role,
        "protocol": report.version,
        "verdict": report.conclusion,
        "conformant": report.conformant,
        "selected": report.selected,
        "unjudged": [one.rule.id for one in report.unjudged],
        "seconds": round(report.seconds, 3),
        "pass": report.count("pass"),
        "fail": report.count("fail"),
        "skipped": report.count("skipped"),
        "not_exercised": report.count("not_exercised"),
    }


def _result(report: Report, result: Result) -> dict[str, Any]:
    rule = result.rule
    made: dict[str, Any] = {
        "id": rule.id,
        "protocol": report.version,
        "tier": rule.tier,
        "level": rule.level,
        "verdict": result.verdict,
        "seconds": round(result.seconds, 3),
        "rule": rule.sentence,
        "source": rule.source,
    }
    if rule.tck:
        made["tck"] = rule.tck
    if result.known:
        made["known"] = True
    if not rule.visible:
        made["unseen"] = rule.unseen
    if result.verdict == "not_exercised":
        made["needed"] = result in report.unjudged
    if result.said:
        made["said"] = result.said
    if result.verdict == "fail":
        made["again"] = again(report, rule.id)
        made["findings"] = [
            {"check": check, "said": one.said, "sent": one.sent, "came": one.came}
            for check, one in result.findings
        ]
    return made


def as_junit(reports: Sequence[Report]) -> str:
    """Return one test suite per run and one test case per rule; failed advice is not a failure."""
    root = ET.Element("testsuites", name="accord check")
    for report in reports:
        incomplete = int(report.conclusion == "incomplete")
        suite = ET.SubElement(
            root,
            "testsuite",
            name=f"{report.role} {report.version}",
            tests=str(len(report.results) + incomplete),
            errors=str(incomplete),
            failures=str(sum(1 for one in report.results if report.counts_against(one))),
            skipped=str(report.count("skipped") + report.count("not_exercised")),
            time=f"{report.seconds:.3f}",
        )
        ET.SubElement(
            ET.SubElement(suite, "properties"), "property", name="verdict", value=report.conclusion
        )
        for result in report.results:
            _case(suite, report, result)
        if incomplete:
            _error(suite, report)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _error(suite: ET.Element, report: Report) -> None:
    """Make a test case with the reason why there is no verdict."""
    name = f"accord.check.{report.role}.{report.version}"
    case = ET.SubElement(suite, "testcase", name="verdict", classname=name, time="0")
    error = ET.SubElement(case, "error", message=f"incomplete: {told_unjudged(report).strip()}")
    error.text = "\n".join(
        f"{plain(reason)}: {', '.join(ids)}" for reason, ids in grouped(report.unjudged).items()
    )


def _case(suite: ET.Element, report: Report, result: Result) -> None:
    rule = result.rule
    case = ET.SubElement(
        suite,
        "testcase",
        name=rule.id,
        classname=f"accord.check.{report.role}.{report.version}.{rule.tier}",
        time=f"{result.seconds:.3f}",
    )
    if report.counts_against(result):
        said = plain(result.said or "not exercised")
        failure = ET.SubElement(case, "failure", message=f"{rule.sentence}: {said}")
        failure.text = "\n".join(
            f"{check}: {plain(one.said)}\nsent {plain(one.sent)}\ncame {plain(one.came)}"
            for check, one in result.findings
        )
    elif result.verdict in ("skipped", "not_exercised"):
        ET.SubElement(case, "skipped", message=plain(result.said or rule.unseen))
    elif result.verdict == "fail":
        ET.SubElement(case, "system-out").text = f"advice: {plain(result.said)}"

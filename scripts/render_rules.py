"""Writes docs/reference/rules.md from the tables of the conformance kit.

python scripts/render_rules.py           writes the page
python scripts/render_rules.py --check   exit code 1 when the page is not what it would write
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from accord.conformance import rules
from accord.conformance.check_definition import Role
from accord.conformance.checks import gather
from accord.conformance.network.address import Transport
from accord.conformance.rule_definition import Rule, Version
from accord.conformance.run.verdicts import covered

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "rules.md"
ROLES: tuple[Role, ...] = ("agent", "client")
VERSIONS: tuple[Version, ...] = ("1", "2", "draft")
WAYS: tuple[Transport, ...] = ("stdio", "http", "websocket")
GROUPS = {
    "V1-": "Version 1",
    "V2-": "Version 2",
    "TR-": "Transports",
    "LIM-": "Limits",
    "D26-": "The 2026-02 draft",
    "XL-": "Adapters between versions",
    "REG-": "The registry",
    "FAULT-": "Faults",
}
HEAD = """\
# Rules

Every rule that `accord check` knows, {count} in all. This page is written by
`scripts/render_rules.py` from the tables of the kit; [accord check](check.md) says how it is used.

- *binds*: the side that must keep it. *level*: the word of the specification, or of us where it is
  silent.
- *tier*: a failed **mandatory** or **capability** rule makes a program not conformant; the second
  kind binds only programs that have the capability, or the unstable feature (U). **advisory** and
  **informational** rules never do: what is recommended, what is allowed, and limits that are ours.
- *judged*: by which checks, agents (A) and clients (C), in version 1, 2 or the draft (D). Where
  nothing judges a rule the reason stands below it in brackets.

| | rules | judged for agents | judged for clients | cannot be seen on the wire |
|---|---|---|---|---|
{summary}
"""


def judged() -> dict[str, list[str]]:
    """Rule -> the marks of the runs that judge it, such as `A1`."""
    marks: dict[str, list[str]] = {}
    for role in ROLES:
        for version in VERSIONS:
            mark = f"{role[0].upper()}{'D' if version == 'draft' else version}"
            for rule in frozenset().union(*(covered(*gather(role, version, one)) for one in WAYS)):
                marks.setdefault(rule, []).append(mark)
    return marks


def render() -> str:
    every, marks = rules.load(), judged()
    groups = {
        title: [rule for rule in every.values() if rule.id.startswith(prefix)]
        for prefix, title in GROUPS.items()
    }
    assert sum(map(len, groups.values())) == len(every), "a rule belongs to no group"
    lines = [
        HEAD.format(
            count=len(every),
            summary="\n".join(_counts(title, found, marks) for title, found in groups.items()),
        )
    ]
    for title, found in groups.items():
        lines += ["", f"## {title}", "", "| rule | binds | level | tier | judged | |"]
        lines += ["|---|---|---|---|---|---|", *_rows(found, marks)]
    return "\n".join(lines) + "\n"


def _counts(title: str, found: list[Rule], marks: dict[str, list[str]]) -> str:
    def by(side: str) -> int:
        return sum(1 for rule in found if any(m[0] == side for m in marks.get(rule.id, [])))

    unseen = sum(1 for rule in found if not rule.visible and rule.id not in marks)
    return f"| {title} | {len(found)} | {by('A')} | {by('C')} | {unseen} |"


def _rows(found: list[Rule], marks: dict[str, list[str]]) -> Iterator[str]:
    for rule in found:
        text = rule.sentence
        if rule.unseen and rule.id not in marks:
            text += f" ({rule.unseen})"
        for side in ROLES:
            reason = rules.load_for(side)[rule.id].unseen
            if rule.visible and reason:
                text += f" (For {side}s: {reason})"
        if rule.implies:
            text += f" Breaking it breaks {', '.join(rule.implies)}."
        if rule.tck:
            text += f" Official kit: {rule.tck}."
        tier = rule.tier + (" (U)" if rule.unstable else "")
        text = f"{text}<br>*{rule.source}*".replace("|", "\\|")
        seen = " ".join(marks.get(rule.id, ["-"]))
        yield f"| {rule.id} | {rule.side} | {rule.level} | {tier} | {seen} | {text} |"


def main() -> int:
    text = render()
    if "--check" in sys.argv[1:]:
        return 0 if PAGE.exists() and PAGE.read_text("utf-8") == text else 1
    PAGE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

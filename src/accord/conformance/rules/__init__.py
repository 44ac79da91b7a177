"""The rules of the protocol, read from the tables beside this file.

Each table has one line per rule: id, side, level, tier, seen, stability, implied rules, the id of
the official kit, source, sentence, and, where no check is possible, the reason.  `-` is nothing.
`implied.tsv` has the implied rules that the broken peers of tests/defects made plain,
`unjudged.tsv` the reason why a rule is judged for one side and not for the other that it binds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import cast

from accord.conformance.rule_definition import Rule, Tier

TABLES = ("v1.tsv", "v2.tsv", "transports.tsv", "draft.tsv", "others.tsv", "faults.tsv")
COLUMNS = (
    "id", "side", "level", "tier", "seen", "stability", "implies", "tck", "source", "sentence",
    "unseen",
)  # fmt: skip


@cache
def load() -> Mapping[str, Rule]:
    """Return every rule by its id, in the order of the tables."""
    rules: dict[str, Rule] = {}
    both = {one: implied(one, "agent") | implied(one, "client") for one, _, _ in _implied()}
    for name in TABLES:
        for cells in _lines(name):
            row = dict(zip(COLUMNS, cells, strict=True))
            row["implies"] = " ".join(sorted(both.get(row["id"], ()))) or row["implies"]
            rules[row["id"]] = _rule(
                {key: "" if cell == "-" else cell for key, cell in row.items()}
            )
    return MappingProxyType(rules)


@cache
def load_for(side: str) -> Mapping[str, Rule]:
    """Return the rules; `unseen` is also the reason why this side is not judged by a rule."""
    reasons = {name: reason for name, of, reason in _lines("unjudged.tsv") if of == side}
    rules = load()
    changed = {name: replace(rules[name], unseen=reason) for name, reason in reasons.items()}
    return MappingProxyType({name: changed.get(name, rule) for name, rule in rules.items()})


def implied(rule_id: str, side: str) -> frozenset[str]:
    """Return the rules that a program of this side also breaks whenever it breaks this one."""
    found = [
        one.split() for name, of, one in _implied() if name == rule_id and of in (side, "both")
    ]
    return frozenset(rule for names in found for rule in names)


@cache
def _implied() -> tuple[tuple[str, str, str], ...]:
    return tuple((name, side, rules) for name, side, rules in _lines("implied.tsv"))


def _lines(name: str) -> Iterator[list[str]]:
    """Return the rows of a table, without its head."""
    text = files(__name__).joinpath(name).read_text("utf-8")
    yield from (line.split("\t") for line in text.splitlines()[1:])


def _rule(row: Mapping[str, str]) -> Rule:
    return Rule(
        id=row["id"],
        side=row["side"],
        level=row["level"],
        tier=cast("Tier", row["tier"]),
        seen=row["seen"],
        unstable=row["stability"] == "U",
        sentence=row["sentence"],
        source=row["source"],
        implies=tuple(row["implies"].split()),
        unseen=row["unseen"],
        tck=row["tck"],
    )


def part(rule_id: str) -> str:
    """Return the version of a rule: `1`, `2`, `draft`, or another part by its prefix."""
    prefix = rule_id.partition("-")[0]
    return {"V1": "1", "V2": "2", "D26": "draft"}.get(prefix, prefix)

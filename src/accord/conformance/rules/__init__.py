"""The rules of the protocol, read from the tables beside this file.

Each table has one line per rule: id, side, level, tier, seen, stability, implied rules, the id of
the official kit, source, sentence, and, where no check is possible, the reason.  `-` is nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import cast

from accord.conformance.rule import Rule, Tier

TABLES = ("v1.tsv", "v2.tsv", "transports.tsv", "draft.tsv", "others.tsv")
COLUMNS = (
    "id", "side", "level", "tier", "seen", "stability", "implies", "tck", "source", "sentence",
    "unseen",
)  # fmt: skip


@cache
def load() -> Mapping[str, Rule]:
    """Every rule by its id, in the order of the tables."""
    rules: dict[str, Rule] = {}
    for name in TABLES:
        text = files(__name__).joinpath(name).read_text("utf-8")
        for line in text.splitlines()[1:]:
            row = dict(zip(COLUMNS, line.split("\t"), strict=True))
            rules[row["id"]] = _rule(
                {key: "" if cell == "-" else cell for key, cell in row.items()}
            )
    return MappingProxyType(rules)


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
    """The version that a rule belongs to: `1`, `2`, `draft`, or another part by its prefix."""
    prefix = rule_id.partition("-")[0]
    return {"V1": "1", "V2": "2", "D26": "draft"}.get(prefix, prefix)

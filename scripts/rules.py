"""Which rules of the protocol have a test, and which have none.  `make rules` runs it.

tests/rules/table.tsv holds the rules as facts: id, the side that is bound, level, where a breach
is Seen (wire, dump, ui, review), whom the rule Binds (sdk, app, host, proxy, registry), stability.
A test names the rules that it shows, `@pytest.mark.rule("V1-INIT-03")`; the marks are read from
the source, so that nothing has to be imported or run.  tests/rules/reasons.toml says, rule by
rule, why a SHOULD has no test.

With `--require` the exit code is 1 while a rule that this project holds itself to has neither.
"""

from __future__ import annotations

import argparse
import ast
import signal
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
TABLE = TESTS / "rules" / "table.tsv"
REASONS = TESTS / "rules" / "reasons.toml"

# The first prefix that fits names the part.
PARTS = {
    "V1-": "v1",
    "V2-": "v2",
    "TR-STDIO-": "stdio",
    "TR-HTTP-": "http",
    "TR-BATCH-": "batches",
    "D26-": "draft",
    "LIM-": "limits",
    "REG-": "registry",
    "XL-": "adapters",
}
# Rules that the kit alone has.
KIT_PARTS = {"FAULT-": "faults", "TR-SERVER-": "servers", "TR-CLIENT-": "clients"}
HELD_PARTS = ("v1", "v2", "stdio")
GROUPS = {
    "MUST and MUST NOT": ("MUST", "MUST NOT"),
    "SHOULD and SHOULD NOT": ("SHOULD", "SHOULD NOT"),
    "MAY": ("MAY",),
}


@dataclass(frozen=True)
class Rule:
    """One row of the table."""

    id: str
    side: str
    level: str
    seen: str
    binds: str
    stability: str

    @property
    def part(self) -> str:
        return next(part for prefix, part in PARTS.items() if self.id.startswith(prefix))

    @property
    def needs_test(self) -> bool:
        """A MUST of v1, v2 and stdio that a test can see and that the library itself keeps."""
        return (
            self.part in HELD_PARTS
            and self.level in GROUPS["MUST and MUST NOT"]
            and self.seen in ("wire", "dump")
            and self.binds == "sdk"
        )

    @property
    def needs_test_or_reason(self) -> bool:
        return self.part in HELD_PARTS and self.level in GROUPS["SHOULD and SHOULD NOT"]


@dataclass(frozen=True)
class Mark:
    """One argument of one `pytest.mark.rule(...)`; `rule` is None where it is not written out."""

    rule: str | None
    file: str
    line: int


def read_table() -> dict[str, Rule]:
    header, *lines = TABLE.read_text().splitlines()
    assert header.split("\t") == list(Rule.__dataclass_fields__), "the columns of table.tsv"
    return {rule.id: rule for rule in (Rule(*line.split("\t")) for line in lines)}


def read_reasons() -> dict[str, str]:
    reasons = tomllib.loads(REASONS.read_text())
    assert all(isinstance(reason, str) for reason in reasons.values()), "a reason is a sentence"
    return reasons


def read_marks() -> list[Mark]:
    """Every rule mark in the tests: decorators, `pytestmark`, `marks=` of parameters alike."""
    return [mark for path in sorted(TESTS.rglob("*.py")) for mark in _marks_in(path)]


def _marks_in(path: Path) -> Iterator[Mark]:
    text = path.read_text()
    if "mark.rule" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and _is_rule_mark(node.func):
            for argument in node.args:
                value = argument.value if isinstance(argument, ast.Constant) else None
                rule = value if isinstance(value, str) else None
                yield Mark(rule, str(path.relative_to(ROOT)), argument.lineno)


def _is_rule_mark(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "rule"
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "mark"
    )


def matrix(rules: Iterable[Rule], is_shown: Callable[[Rule], bool]) -> list[str]:
    """Lines of a table: a row per part, a column per Seen and Binds, cells `shown/all`."""
    rules = list(rules)
    columns = sorted({(rule.seen, rule.binds) for rule in rules}, key=_column_order)
    rows = [["", *(f"{seen} {binds}" for seen, binds in columns), "all"]]
    for part in [*dict.fromkeys(PARTS.values()), "all"]:
        of_part = [rule for rule in rules if part in (rule.part, "all")]
        if not of_part:
            continue
        cells = [[rule for rule in of_part if (rule.seen, rule.binds) == c] for c in columns]
        counts = [
            f"{sum(map(is_shown, cell))}/{len(cell)}" if cell else "-" for cell in [*cells, of_part]
        ]
        rows.append([part, *counts])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]


def _column_order(column: tuple[str, str]) -> tuple[int, int]:
    seen, binds = column
    return (
        ("wire", "dump", "ui", "review").index(seen),
        ("sdk", "app", "host", "proxy", "registry").index(binds),
    )


def print_missing(title: str, rules: list[Rule]) -> None:
    print(f"\n{title}: {len(rules)}")
    for rule in rules:
        unstable = "  (unstable)" if rule.stability == "unstable" else ""
        print(f"  {rule.id:14} {rule.level:10} {rule.side:6} {rule.seen} {rule.binds}{unstable}")


def print_kit() -> None:
    # The broken peers are found from the root, wherever this was started.
    sys.path.insert(0, str(ROOT))
    from scripts.kit_tally import tally

    print("\nThe conformance kit, rules that a broken peer proves / that are judged / that bind")
    print("(in brackets: cannot be judged, for the reason in docs/reference/rules.md)")
    prefixes = PARTS | KIT_PARTS
    for line in tally(
        lambda rule: next(p for start, p in prefixes.items() if rule.startswith(start))
    ):
        print(line)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Print which rules have a test.")
    parser.add_argument("--require", action="store_true", help="exit 1 while one is missing")
    options = parser.parse_args(arguments)

    table, reasons = read_table(), read_reasons()
    shown = {mark.rule for mark in read_marks()}
    print(f"{sum(rule in shown for rule in table)} of {len(table)} rules have a test")
    for title, levels in GROUPS.items():
        print(f"\n{title}, rules with a test / all, by Seen and Binds")
        of_level = [rule for rule in table.values() if rule.level in levels]
        print("\n".join(matrix(of_level, lambda rule: rule.id in shown)))

    bare = [rule for rule in table.values() if rule.id not in shown]
    musts = [rule for rule in bare if rule.needs_test]
    shoulds = [rule for rule in bare if rule.needs_test_or_reason and rule.id not in reasons]
    parts = ", ".join(HELD_PARTS)
    print_missing(f"MUST and MUST NOT of {parts}, wire or dump, sdk, without a test", musts)
    print_missing(f"SHOULD and SHOULD NOT of {parts} without a test or a reason", shoulds)
    if not options.require:
        print_kit()
    return 1 if options.require and (musts or shoulds) else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `make rules | head` ends quietly
    sys.exit(main(sys.argv[1:]))

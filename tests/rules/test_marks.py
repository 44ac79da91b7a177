"""The marks on our tests and the table of rules agree."""

import pytest

from accord.conformance.check_definition import Role
from accord.conformance.rules import load_for
from scripts.rules import (
    GROUPS,
    KIT_PARTS,
    PARTS,
    Rule,
    matrix,
    read_marks,
    read_reasons,
    read_table,
)


def test_every_rule_that_a_test_names_exists() -> None:
    """Ours: a misspelt id would count as a rule that has a test."""
    table = read_table()
    unknown = [mark for mark in read_marks() if mark.rule is not None and mark.rule not in table]
    assert unknown == []


def test_rule_ids_are_written_out_where_they_are_named() -> None:
    """Ours: `make rules` reads the source and runs nothing."""
    assert [mark for mark in read_marks() if mark.rule is None] == []


def test_a_reason_stands_only_for_a_should_that_has_no_test() -> None:
    """Ours: a MUST has no excuse, and a reason beside a test is out of date."""
    table, shown = read_table(), {mark.rule for mark in read_marks()}
    for rule, reason in read_reasons().items():
        assert table[rule].level in GROUPS["SHOULD and SHOULD NOT"], rule
        assert rule not in shown, rule
        assert reason.strip().endswith("."), rule


def test_every_rule_of_the_table_belongs_to_a_part() -> None:
    """Ours: a rule of no part would be in no count."""
    assert {rule.part for rule in read_table().values()} >= {"v1", "v2", "stdio", "draft"}


@pytest.mark.parametrize("role", ["agent", "client"])
def test_every_rule_of_the_kit_belongs_to_one_part(role: Role) -> None:
    """Ours: `make rules` ended with an error when the kit got rules for servers."""
    prefixes = tuple(PARTS | KIT_PARTS)
    for rule in load_for(role):
        assert sum(rule.startswith(prefix) for prefix in prefixes) == 1, rule


@pytest.mark.parametrize(
    ("rule", "needed"),
    [
        (Rule("V1-GEN-01", "both", "MUST", "wire", "sdk", "-"), True),
        (Rule("V2-UPS-01", "client", "MUST NOT", "dump", "sdk", "-"), True),
        (Rule("TR-STDIO-01", "both", "MUST", "wire", "sdk", "-"), True),
        (Rule("V1-GEN-07", "both", "MUST", "wire", "app", "-"), False),
        (Rule("V1-TOOL-01", "client", "MUST", "ui", "sdk", "-"), False),
        (Rule("D26-01", "agent", "MUST", "wire", "sdk", "-"), False),
        (Rule("V1-GEN-05", "both", "SHOULD NOT", "wire", "sdk", "-"), False),
    ],
)
def test_a_test_is_owed_for_what_the_library_keeps_and_a_peer_sees(
    rule: Rule, needed: bool
) -> None:
    """Ours: the bar that `make rules` measures."""
    assert rule.needs_test is needed


def test_the_matrix_counts_what_is_shown_of_each_part_and_column() -> None:
    """Ours: the summary must add up."""
    rules = [
        Rule("V1-GEN-01", "both", "MUST", "wire", "sdk", "-"),
        Rule("V1-GEN-02", "both", "MUST", "wire", "sdk", "-"),
        Rule("V2-GEN-01", "both", "MUST", "dump", "sdk", "-"),
    ]
    lines = matrix(rules, lambda rule: rule.id == "V1-GEN-02")
    assert [line.split() for line in lines[1:]] == [
        ["v1", "1/2", "-", "1/2"],
        ["v2", "-", "0/1", "0/1"],
        ["all", "1/2", "0/1", "1/3"],
    ]

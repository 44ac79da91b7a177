"""The tables of the kit: complete, and the page that is written from them up to date."""

import pytest

from accord.conformance import rules
from accord.conformance.check_definition import Role
from accord.conformance.checks import gather
from accord.conformance.network.address import Transport
from accord.conformance.rule_definition import Version
from accord.conformance.run.verdicts import covered
from scripts.render_rules import PAGE, render
from scripts.rules import read_table

# Rules that the kit adds to those of the project.
OWN = ("FAULT-", "TR-SERVER-", "TR-CLIENT-")
TRANSPORTS: tuple[Transport, ...] = ("stdio", "http", "websocket")
# Rules of one side whose sentence says something about the other too.
ALSO = ("V1-AUTH-01", "V1-MODE-02", "V1-TOOL-13")


def test_the_kit_knows_every_rule_of_the_project() -> None:
    """Issue: the ids are kept, and what cannot be seen is listed and not left out."""
    known = {name: rule for name, rule in rules.load().items() if not name.startswith(OWN)}
    table = read_table()
    assert set(known) == set(table)
    for name, rule in known.items():
        row = table[name]
        assert (rule.side, rule.level, rule.seen) == (row.side, row.level, row.seen), name
        assert rule.unstable == (row.stability == "U"), name


def test_every_rule_has_a_sentence_and_a_source() -> None:
    """Issue: each rule has one sentence and its source."""
    for rule in rules.load().values():
        assert rule.sentence.endswith("."), rule.id
        assert rule.source.strip(), rule.id
        assert not rule.unseen or rule.unseen.endswith("."), rule.id


def test_what_a_must_not_break_binds_and_what_is_allowed_does_not() -> None:
    """Issue: tiers are mandatory, capability, advisory, informational."""
    for rule in rules.load().values():
        if rule.level == "MAY":
            assert rule.tier == "informational"
        elif rule.level.startswith("SHOULD"):
            assert rule.tier == "advisory"
        elif rule.tier == "advisory":
            assert rule.source.startswith("Accord's decision"), rule.id


@pytest.mark.parametrize("role", ["agent", "client"])
@pytest.mark.parametrize("version", ["1", "2", "draft"])
def test_checks_name_rules_that_exist_and_bind_who_is_judged(role: Role, version: Version) -> None:
    """Ours: a misspelt id would be judged and never shown."""
    known = rules.load()
    for way in TRANSPORTS:
        for name in covered(*gather(role, version, way)):
            assert name in known, name
            assert known[name].binds(role) or name in ALSO, name


def test_implied_rules_exist() -> None:
    """Ours: the sets that the broken peers fail are made of them."""
    known = rules.load()
    for rule in known.values():
        assert set(rule.implies) <= set(known), rule.id


def test_the_page_of_rules_is_what_the_tables_say() -> None:
    """Ours: `python scripts/render_rules.py` writes it."""
    assert PAGE.read_text("utf-8") == render()


@pytest.mark.parametrize("role", ["agent", "client"])
def test_every_rule_has_a_check_for_whom_it_binds_or_the_reason_why_not(role: Role) -> None:
    """Issue: rules that cannot be seen on the wire are listed with the reason, not left out."""
    versions: tuple[Version, ...] = ("1", "2", "draft")
    judged = frozenset().union(
        *(covered(*gather(role, one, way)) for one in versions for way in TRANSPORTS)
    )
    for rule in rules.load_for(role).values():
        if rule.binds(role):
            assert (rule.id in judged) != bool(rule.unseen), rule.id


def test_every_visible_rule_of_an_agent_has_a_check() -> None:
    """Issue: everything in the rules that is visible on stdio."""
    for version, prefix in (("1", "V1-"), ("2", "V2-")):
        named = covered(*gather("agent", version))  # type: ignore[arg-type]
        missing = [
            rule.id
            for rule in rules.load().values()
            if rule.id.startswith(prefix)
            and rule.binds("agent")
            and rule.visible
            and rule.id not in named
        ]
        # Only clients can be sent a format that nobody knows.
        assert [name for name in missing if name != "V1-ELIC-23"] == []

"""Rules and remembered answers in words."""

from __future__ import annotations

import pytest

from accord.client.permissions.grants import Grant
from accord.client.permissions.rules import Rule
from accord.terminal.model.permissions.rule_text import rows_of, rule_words
from accord.transcript.items.tool_call import KINDS_OF_TOOL


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Rule(effect="allow"), "everything"),
        (Rule(effect="allow", kind="edit"), "changing any file"),
        (Rule(effect="allow", kind="edit", path="/w/a.py", exact=True), "changing a.py"),
        (Rule(effect="allow", kind="edit", path="/x/a.py", exact=True), "changing /x/a.py"),
        (Rule(effect="allow", kind="read", path="src/**"), "reading files matching src/**"),
        (Rule(effect="allow", kind="read", path="**"), "reading all files of the project"),
        (Rule(effect="reject", path=".env"), "anything with .env"),
        (Rule(effect="allow", command="git *"), "running commands that begin with `git *`"),
        (
            Rule(effect="allow", command="make", cwd="/w", exact=True),
            "running exactly `make` in /w",
        ),
        (Rule(effect="allow", mcp_tool="s/t"), "the tool t of the MCP server s"),
        (Rule(effect="allow", mcp_tool="s/*"), "every tool of the MCP server s"),
        (Rule(effect="allow", kind="fetch", host="a.example"), "fetching from a.example"),
        # Nothing is left out of what will be allowed for longer.
        (Rule(effect="allow", title="A \x1b[1mb"), "requests titled “A ⟨U+001B⟩[1mb”"),
        (
            Rule(effect="allow", command="rm \u202e-rf\nx\xa0y", exact=True),
            "running exactly `rm ⟨U+202E⟩-rf⏎x⟨U+00A0⟩y`",
        ),
    ],
)
def test_a_rule_is_said_in_words(rule: Rule, words: str) -> None:
    """Brief: shows what each covers in words."""
    assert rule_words(rule, "/w") == words


def test_every_kind_has_words() -> None:
    """Ours: no kind is shown by its code name alone."""
    said = {rule_words(Rule(effect="allow", kind=kind)) for kind in KINDS_OF_TOOL}
    assert len(said) == len(KINDS_OF_TOOL)
    assert rule_words(Rule(effect="allow", path="/w/a")) == "anything with /w/a"


def test_newer_answers_come_first_then_rules_and_all_words_must_be_there() -> None:
    """Brief: rules and remembered grants with search."""
    rule = Rule(effect="allow", kind="edit", path="/w/a", exact=True)
    run = Rule(effect="allow", command="make", cwd="/w", exact=True)
    (row,) = rows_of([], [Grant(grant_id="0", rule=run, scope="workspace", workspace="/w")])
    assert (row.words, row.place) == ("running exactly `make`", "in /w")
    grants = [
        Grant(grant_id="1", rule=rule, scope="session", session_id="s"),
        Grant(grant_id="2", rule=rule, scope="workspace", workspace="/w", agent="demo"),
        Grant(grant_id="3", rule=rule, scope="always"),
    ]
    rows = rows_of([Rule(effect="ask")], grants, "/w")
    assert [row.place for row in rows] == [
        "everywhere",
        "in /w, for demo",
        "until its session ends",
        "a rule",
    ]
    assert [row.grant for row in rows] == [*grants[::-1], None]
    assert [row.grant for row in rows_of([], grants, "/w", "DEMO changing")] == [grants[1]]
    assert rows_of([], grants, "/w", "demo deleting") == []

"""Remembered answers: where they hold, and that they are gone when they are revoked."""

from __future__ import annotations

import pytest

from accord.client.permissions import grants as module
from accord.client.permissions.grants import Grant, Grants, LastingScope, Place
from accord.client.permissions.rules import Effect, Rule


def rule(effect: Effect = "allow", path: str = "/a") -> Rule:
    return Rule(effect=effect, kind="edit", path=path, exact=True)


HERE = Place(session_id="s", connection=1, workspace="/w", agent="cat")
OTHERS = {
    "another session": Place(session_id="t", connection=1, workspace="/w", agent="cat"),
    "the same id at another agent": Place(
        session_id="s", connection=2, workspace="/w", agent="cat"
    ),
    "another workspace": Place(session_id="s", connection=1, workspace="/w2", agent="cat"),
    "no workspace": Place(session_id="s", connection=1, workspace=None, agent="cat"),
    "another agent": Place(session_id="s", connection=1, workspace="/w", agent="dog"),
}


@pytest.mark.parametrize(
    ("scope", "holds_in"),
    [
        ("session", {"another workspace", "no workspace"}),
        ("workspace", {"another session", "the same id at another agent"}),
        (
            "always",
            {
                "another session",
                "the same id at another agent",
                "another workspace",
                "no workspace",
            },
        ),
    ],
)
def test_a_scope_is_where_a_grant_holds(scope: LastingScope, holds_in: set[str]) -> None:
    """Issue: scopes session, workspace, always; what is granted to one agent is no other's."""
    kept = Grants()
    assert kept.add(rule(), scope, HERE) is not None
    assert kept.rules_at(HERE)
    assert {name for name, place in OTHERS.items() if kept.rules_at(place)} == holds_in


def test_a_grant_without_an_agent_holds_for_every_agent() -> None:
    """Ours: a stored grant may be meant for all."""
    kept = Grants([Grant(grant_id="g", rule=rule(), scope="always")])
    assert all(kept.rules_at(place) for place in (HERE, *OTHERS.values()))


def test_a_later_answer_takes_the_place_of_the_earlier() -> None:
    """Issue: allow and reject are remembered alike."""
    kept = Grants()
    kept.add(rule("allow"), "session", HERE)
    last = kept.add(rule("reject"), "session", HERE)
    other = kept.add(rule("allow", "/b"), "session", HERE)
    assert list(kept) == [last, other]
    assert len(kept) == 2


def test_a_revoked_grant_is_gone_at_once() -> None:
    """Issue: a revoked rule binds running sessions at once."""
    kept = Grants()
    grant = kept.add(rule(), "always", HERE)
    assert grant is not None
    read = kept.rule(grant.grant_id)
    assert kept.holds(read)
    assert grant.grant_id in kept
    assert kept.revoke(grant.grant_id)
    assert not kept.rules_at(HERE)
    assert not kept.holds(read)
    assert not kept.revoke(grant.grant_id)


def test_the_end_of_a_session_ends_its_grants_only() -> None:
    """Ours: the id of a session may come again."""
    kept = Grants()
    for scope in ("session", "workspace", "always"):
        kept.add(rule(), scope, HERE)
    kept.add(rule(), "session", OTHERS["another session"])
    kept.end_session("s", 1)
    kept.end_session("unknown")
    assert [grant.scope for grant in kept] == ["workspace", "always", "session"]


def test_every_change_is_told_to_listeners() -> None:
    """Ours: a later store starts with what was kept and hears of each change."""
    seen: list[tuple[Grant, ...]] = []
    kept = Grants(on_change=seen.append)
    grant = kept.add(rule(), "always", HERE)
    kept.add(rule(), "session", HERE)
    assert grant is not None
    kept.revoke(grant.grant_id)
    kept.end_session("s", 1)
    assert [len(all_of_them) for all_of_them in seen] == [1, 2, 1, 0]
    again = Grants(seen[1])
    assert list(again) == list(seen[1])
    assert len(again.rules_at(HERE)) == 2


def test_a_full_memory_takes_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: dropping an old refusal to make room would approve."""
    monkeypatch.setattr(module, "GRANTS_MAX", 1)
    kept = Grants()
    refused = kept.add(rule("reject"), "always", HERE)
    assert kept.add(rule("allow", "/b"), "always", HERE) is None
    assert list(kept) == [refused]


def test_a_revoke_can_be_taken_back_unless_there_is_a_newer_answer() -> None:
    """Issue: the screen of grants revokes by one key; a slip of the finger must do no harm."""
    told: list[int] = []
    kept = Grants(on_change=lambda grants: told.append(len(grants)))
    place = Place(session_id="s", workspace="/w")
    grant = kept.add(Rule(effect="allow", kind="edit", path="/w/a"), "workspace", place)
    assert grant is not None
    assert kept.revoke(grant.grant_id)
    assert kept.restore(grant)
    assert list(kept) == [grant]
    assert not kept.restore(grant)
    assert kept.revoke(grant.grant_id)
    newer = kept.add(Rule(effect="reject", kind="edit", path="/w/a"), "workspace", place)
    assert not kept.restore(grant)
    assert list(kept) == [newer]
    assert told == [1, 0, 1, 0, 1]

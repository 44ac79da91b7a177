"""`accord permissions`: rules and answers, shown and taken back."""

from __future__ import annotations

import json

from accord.client.grants import Grant, Place
from accord.client.policy import Rule
from accord.discovery.grants_file import GrantsFile
from tests.cli.running import Home


def _remember(home: Home, workspace: str, title: str) -> Grant:
    grants = GrantsFile(home.state / "grants.toml").open()
    place = Place(session_id="s", workspace=workspace, agent="tester")
    grant = grants.add(Rule(effect="allow", kind="other", title=title), "workspace", place)
    assert grant is not None
    return grant


def test_rules_and_answers_are_listed_fit_for_a_terminal(home: Home) -> None:
    """Issue 3; ours: a title is an agent's text."""
    (home.config / "permissions.toml").write_text(
        '[[rule]]\neffect = "reject"\npath = "secrets/**"\nworkspace = "/w"\n'
    )
    grant = _remember(home, "/w", "evil \x1b[31mred")
    listed = home.accord("permissions", "list")
    assert listed.code == 0
    assert "reject path=secrets/**  in /w" in listed.out
    assert grant.grant_id in listed.out
    assert "\x1b" not in listed.out
    assert home.accord("permissions", "list", "--here").out.count("/w") == 0


def test_the_list_is_also_for_programs(home: Home) -> None:
    """Design: --json where a program may read it."""
    grant = _remember(home, "/w", "it")
    shown = json.loads(home.accord("permissions", "list", "--json").out)
    assert shown["rules"] == []
    (found,) = shown["grants"]
    wanted = {"id": grant.grant_id, "workspace": "/w", "agent": "tester", "effect": "allow"}
    assert wanted.items() <= found.items()


def test_answers_are_revoked_by_folder_and_all_at_once(home: Home) -> None:
    """Issue 3: revoke."""
    here, there = _remember(home, str(home.project), "a"), _remember(home, "/w", "b")
    done = home.accord("permissions", "revoke", "--here")
    assert here.grant_id in done.out
    assert there.grant_id not in done.out
    assert home.accord("permissions", "revoke", "--all").code == 0
    assert home.accord("permissions", "revoke", "--all").code == 1
    assert home.accord("permissions", "revoke").code == 2


def test_a_damaged_file_is_named(home: Home) -> None:
    """Ours: never overwritten."""
    home.state.mkdir()
    (home.state / "grants.toml").write_text("no toml")
    for words in (["list"], ["revoke", "--all"]):
        done = home.accord("permissions", *words)
        assert done.code == 2
        assert "grants.toml" in done.error

"""`accord permissions`: rules and answers, shown and taken back."""

from __future__ import annotations

import json

from accord.client.permissions.grants import Grant, Place
from accord.client.permissions.rules import Rule
from accord.configuration.grants_file import GrantsFile
from tests.cli.home import Home


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


def test_a_key_in_a_remembered_answer_is_not_printed(home: Home) -> None:
    """Ours: the list goes into reports, and a command may have a token in it."""
    key = "ghp_" + "a1B2" * 9
    _remember(home, "/w", f"curl -H 'X: {key}'")
    for words in (["list"], ["list", "--json"], ["revoke", "--all"]):
        done = home.accord("permissions", *words)
        assert done.code == 0
        assert key not in done.out
        assert "[secret]" in done.out


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


def _rules(home: Home) -> None:
    (home.config / "permissions.toml").write_text(
        '[[rule]]\neffect = "reject"\ncommand = "rm"\n\n'
        '[[rule]]\neffect = "ask"\ncommand = "git push"\n\n'
        '[[rule]]\neffect = "allow"\ncommand = "ls"\n'
    )


def test_a_refusal_is_explained(home: Home) -> None:
    """Issue 12: what would be decided, by which rule, and how the command was read."""
    _rules(home)
    said = home.accord("permissions", "explain", "env A=1 rm x")
    assert said.code == 4
    assert "reject: the command would be refused" in said.out
    assert f"rule: reject command=rm  ({home.config / 'permissions.toml'})" in said.out
    assert "why: it runs `rm x`, run by `env`" in said.out
    assert "  rm x  (run by `env`)" in said.out


def test_what_is_not_understood_is_explained(home: Home) -> None:
    """Issue 12: the answer says which rule applies and why."""
    _rules(home)
    said = home.accord("permissions", "explain", "$X y")
    assert said.code == 4
    assert "not understood:\n  the program is known only at run time: $X" in said.out


def test_what_is_allowed_or_asked_is_explained(home: Home) -> None:
    """Issue 12: a policy can be questioned."""
    _rules(home)
    allowed = home.accord("permissions", "explain", "ls -la")
    assert allowed.code == 0
    assert "rule: allow command=ls" in allowed.out
    asked = home.accord("permissions", "explain", "git -C . push")
    assert asked.code == 3
    assert "rule: ask command=git push" in asked.out
    assert "why: it runs `git -C . push`" in asked.out
    nothing = home.accord("permissions", "explain", "make")
    assert nothing.code == 3
    assert "rule: none; nothing in " in nothing.out


def test_a_policy_file_is_explained_alone(home: Home) -> None:
    """Issue 12: `--policy FILE`; it decides as it does for `accord run`, without answers."""
    _rules(home)
    policy = home.project / "ci.toml"
    policy.write_text('otherwise = "reject"\n[[rule]]\neffect = "allow"\ncommand = "rm"\n')
    shown = home.accord("permissions", "explain", "rm x", "--policy", str(policy), "--json")
    assert shown.code == 0
    found = json.loads(shown.out)
    assert found["decision"] == "allow"
    assert found["source"] == str(policy)
    assert found["programs"] == [{"words": ["rm", "x"], "how": None, "handsOn": None}]
    other = home.accord("permissions", "explain", "ls", "--policy", str(policy))
    assert other.code == 4
    assert home.accord("permissions", "explain", "ls", "--policy", "nowhere.toml").code == 2
    assert home.accord("permissions", "explain", " ").code == 2
    assert home.accord("permissions", "explain", "ls", "--cwd", "nowhere").code == 2


def test_remembered_answers_are_asked_for_the_agent_that_is_named(home: Home) -> None:
    """Issue 12: the same answers as `accord run` uses; they are given for one agent."""
    grants = GrantsFile(home.state / "grants.toml").open()
    place = Place(session_id="s", workspace=str(home.project), agent="tester")
    rule = Rule(effect="allow", command="make all", exact=True)
    grant = grants.add(rule, "workspace", place)
    assert grant is not None
    without = home.accord("permissions", "explain", "make all")
    assert without.code == 3
    assert "not included: answers for one agent (1)" in without.out
    named = home.accord("permissions", "explain", "make all", "--agent", "tester")
    assert named.code == 0
    assert f"remembered answer {grant.grant_id}" in named.out


def test_an_explanation_is_fit_for_a_terminal(home: Home) -> None:
    """Ours: a command is an agent's text."""
    said = home.accord("permissions", "explain", "echo \x1b[31m")
    assert "\x1b" not in said.out


def test_a_line_end_in_a_command_is_no_line_of_an_explanation(home: Home) -> None:
    """Ours: a command could otherwise write what looks like our verdict."""
    said = home.accord("permissions", "explain", "ls 'a\nallow: the command would run'\nrule: none")
    assert said.out.startswith("command: ls 'a⏎allow: the command would run'⏎rule: none\n")
    assert not any(line.startswith("allow:") for line in said.out.splitlines())

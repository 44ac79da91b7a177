"""Permission rules as a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.client.permissions.rules import Rule
from accord.configuration.policy_file import load_policy
from accord.errors import ConfigError


def _write(folder: Path, text: str) -> Path:
    path = folder / "permissions.toml"
    path.write_text(text)
    return path


def test_without_a_file_there_is_no_policy(tmp_path: Path) -> None:
    """Ours: no file is not an empty one."""
    assert load_policy(tmp_path / "permissions.toml") is None


def test_rules_are_read_in_their_order(tmp_path: Path) -> None:
    """docs/reference/configuration.md."""
    path = _write(
        tmp_path,
        'otherwise = "ask"\n'
        '[[rule]]\neffect = "reject"\npath = "secrets/**"\n'
        '[[rule]]\neffect = "allow"\nkind = "execute"\ncommand = "git status"\n'
        '[[rule]]\neffect = "allow"\nmcp_tool = "files/*"\nexact = false\n',
    )
    policy = load_policy(path)
    assert policy is not None
    assert policy.otherwise == "ask"
    assert policy.rules_in("/anywhere") == (
        Rule(effect="reject", path="secrets/**"),
        Rule(effect="allow", kind="execute", command="git status"),
        Rule(effect="allow", mcp_tool="files/*"),
    )


def test_a_rule_for_a_workspace_holds_there_and_below(tmp_path: Path) -> None:
    """Issue 3: workspace scope; a part of a name is not the whole."""
    here = tmp_path / "here"
    (here / "deep").mkdir(parents=True)
    (tmp_path / "hereafter").mkdir()
    (tmp_path / "link").symlink_to(here)
    path = _write(tmp_path, f'[[rule]]\neffect = "allow"\nkind = "edit"\nworkspace = "{here}"\n')
    policy = load_policy(path)
    assert policy is not None
    for folder, holds in (("here", 1), ("here/deep", 1), ("link", 1), ("hereafter", 0), (".", 0)):
        assert len(policy.rules_in(str(tmp_path / folder))) == holds, folder


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('otherwise = "yes"', "otherwise: must be one of allow, reject, ask"),
        ("rule = 5", "rule: must be a list"),
        ("rule = [5]", r"written \[\[rule\]\]"),
        ("[[rule]]", r"rule\[0\].effect: is missing"),
        ('[[rule]]\neffect = "maybe"', r"rule\[0\].effect: must be one of"),
        ('[[rule]]\neffect = "allow"\nkind = "fly"', "no such tool kind: 'fly'"),
        ('[[rule]]\neffect = "allow"\npath = "a"\nhost = "b"', "a rule names one of"),
        ('[[rule]]\neffect = "allow"\nworkspace = "here"', "must be an absolute path"),
        ('[[rule]]\neffect = "allow"\npaht = "src/**"', r"rule\[0\].paht is unknown"),
        ('[[rules]]\neffect = "allow"', "rules is unknown"),
    ],
)
def test_what_is_not_understood_allows_nothing(tmp_path: Path, text: str, said: str) -> None:
    """Ours: a misspelled condition would make an approval wider."""
    with pytest.raises(ConfigError, match=said):
        load_policy(_write(tmp_path, text))


def test_where_the_folder_is_not_known_only_what_allows_is_left_out(tmp_path: Path) -> None:
    """Issue 12: a session that nobody opened gets no rights of a folder, and all of its limits."""
    file = tmp_path / "permissions.toml"
    effects = ("allow", "ask", "reject")
    rules = [f'[[rule]]\neffect = "{one}"\nworkspace = "/w"\n' for one in effects]
    file.write_text("".join([*rules, '[[rule]]\neffect = "allow"\nkind = "read"\n']))
    policy = load_policy(file)
    assert policy is not None
    assert [rule.effect for rule in policy.rules_in(None)] == ["ask", "reject", "allow"]

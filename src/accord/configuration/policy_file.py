"""Reads permission rules: the user's `permissions.toml`, or a file named on the command line.

Must not know how rules match; `accord.client.permissions.rule_matcher` does.

    otherwise = "ask"            # if no rule applies: allow, ask or reject

    [[rule]]
    effect = "allow"
    kind = "edit"
    path = "src/**"
    workspace = "/home/me/project"    # only there; without it, everywhere

What always holds
    * An invalid rule is an error that names the file and the rule; no other rule of it is used.
    * An unknown key is an error here, unlike in the configuration: a misspelled condition would
      make an approval wider than intended.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from accord.client.permissions.rules import Effect, Rule
from accord.configuration.toml_table import Table, read_toml
from accord.configuration.user_paths import config_folder
from accord.errors import ConfigError

RULES_MAX = 10_000

_TEXTS = ("kind", "path", "command", "mcp_tool", "host", "title", "cwd")


def policy_path() -> Path:
    """Return the path of the file of the user's permission rules."""
    return config_folder() / "permissions.toml"


@dataclass(frozen=True, slots=True)
class PlacedRule:
    """A rule, and the folder that it is limited to."""

    rule: Rule
    workspace: str | None = None

    def holds_in(self, folder: str | None) -> bool:
        """Whether the rule applies to sessions in this folder.

        If the session's folder is unknown, it applies unless it allows something.
        """
        if self.workspace is None:
            return True
        if folder is None:
            return self.rule.effect != "allow"
        here, there = os.path.realpath(folder), os.path.realpath(self.workspace)
        return here == there or here.startswith(there.rstrip("/") + "/")


@dataclass(frozen=True, slots=True)
class Policy:
    """The content of a policy file."""

    rules: tuple[PlacedRule, ...] = ()
    otherwise: Effect | None = None
    file: Path | None = None

    def rules_in(self, folder: str | None) -> tuple[Rule, ...]:
        """Return the rules for sessions in this folder, or in an unknown one."""
        return tuple(placed.rule for placed in self.rules if placed.holds_in(folder))


def load_policy(path: Path) -> Policy | None:
    """Read a policy; return None if there is no file.

    Raises:
        ConfigError: it cannot be read, or is invalid.
    """
    table = read_toml(path)
    if table is None:
        return None
    otherwise = table.text("otherwise", among=get_args(Effect))
    tables = table.list_of_tables("rule")
    if len(tables) > RULES_MAX:
        raise table.wrong("rule", f"there are more than {RULES_MAX}")
    rules = tuple(_placed(one) for one in tables)
    unknown = table.unknown()
    if unknown:
        raise ConfigError(unknown[0].replace("has no effect", "nothing is allowed by guessing"))
    effect: Effect | None = None
    for one in get_args(Effect):
        effect = one if otherwise == one else effect
    return Policy(rules, effect, path)


def _placed(table: Table) -> PlacedRule:
    workspace = table.text("workspace")
    if workspace is not None and not os.path.isabs(workspace):
        raise table.wrong("workspace", "must be an absolute path")
    return PlacedRule(read_rule(table), workspace)


def read_rule(table: Table) -> Rule:
    """Read the rule of one table.

    Raises:
        ConfigError: it is not a valid rule.
    """
    said = table.text("effect", among=get_args(Effect))
    if said is None:
        raise table.wrong("effect", "is missing; it must be allow, reject or ask")
    texts = {name: table.optional_text(name) for name in _TEXTS}
    exact = table.flag("exact", False)
    try:
        for effect in get_args(Effect):
            if effect == said:
                return Rule(effect=effect, exact=exact, **texts)
    except ValueError as error:
        raise table.wrong("rule", str(error)) from None
    raise AssertionError(said)

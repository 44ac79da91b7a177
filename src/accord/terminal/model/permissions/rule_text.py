"""Permission rules and remembered answers as text.

This module does not know how rules match, nor any screen.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from accord.client.permissions.grants import Grant
from accord.client.permissions.request import Scope
from accord.client.permissions.rules import Effect, Rule
from accord.terminal.model.text.display_text import exact_line

SCOPES: tuple[Scope, ...] = ("once", "session", "workspace", "always")
SCOPE_WORDS: dict[Scope, str] = {
    "once": "once",
    "session": "until this session ends",
    "workspace": "always in this folder",
    "always": "always, everywhere",
}
_DOING = {
    "read": "reading",
    "edit": "changing",
    "delete": "deleting",
    "move": "moving",
    "search": "searching",
    "execute": "running",
    "think": "thinking about",
    "fetch": "fetching",
    "switch_mode": "switching the mode with",
    "other": "other work with",
}
_ALL_OF = {
    "read": "reading any file",
    "edit": "changing any file",
    "delete": "deleting any file",
    "move": "moving any file",
    "search": "searching anywhere",
    "execute": "running any command",
    "think": "thinking",
    "fetch": "fetching from any host",
    "switch_mode": "switching the mode",
    "other": "any other work",
}
# Where a remembered answer holds.
Where: TypeAlias = Literal["rule", "session", "workspace", "always"]


def rule_words(rule: Rule, folder: str | None = None) -> str:
    """What a rule is about; paths below the folder are shown from there."""
    doing = _DOING.get(rule.kind or "", "anything with")
    if rule.path is not None:
        if rule.path == "**" and not rule.exact:
            return f"{doing} all files of the project"
        what = exact_line(near(rule.path, folder))
        wild = not rule.exact and any(sign in rule.path for sign in "*?[")
        return f"{doing} files matching {what}" if wild else f"{doing} {what}"
    if rule.command is not None:
        how = "exactly" if rule.exact else "commands that begin with"
        where = "" if rule.cwd is None else f" in {exact_line(rule.cwd)}"
        return f"running {how} `{exact_line(rule.command)}`{where}"
    if rule.mcp_tool is not None:
        server, _, tool = rule.mcp_tool.partition("/")
        every = tool == "*" and not rule.exact
        which = "every tool" if every else f"the tool {exact_line(tool)}"
        return f"{which} of the MCP server {exact_line(server)}"
    if rule.host is not None:
        return f"{doing} from {exact_line(rule.host)}"
    if rule.title is not None:
        return f"requests titled “{exact_line(rule.title)}”"
    return "everything" if rule.kind is None else _ALL_OF.get(rule.kind, rule.kind)


def near(path: str, folder: str | None) -> str:
    """The path from the folder on; as it is, where it is elsewhere."""
    if folder is None or not os.path.isabs(path):
        return path
    root = os.path.realpath(folder).rstrip("/") + "/"
    return path[len(root) :] if path.startswith(root) else path


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the list of what agents may and may not do; without a grant it is a rule."""

    effect: Effect
    words: str
    where: Where
    place: str
    grant: Grant | None = None

    @property
    def text(self) -> str:
        """All of it, for searching."""
        return f"{self.effect} {self.words} {self.place}".lower()


def row_of_rule(rule: Rule, folder: str | None = None) -> Row:
    """Describe a rule of a permissions file."""
    return Row(rule.effect, rule_words(rule, folder), "rule", "a rule")


def row_of_grant(grant: Grant, folder: str | None = None) -> Row:
    """Describe an answer that was remembered."""
    place = {
        "session": "until its session ends",
        "workspace": f"in {exact_line(grant.workspace or '')}",
        "always": "everywhere",
    }[grant.scope]
    if grant.agent:
        place += f", for {exact_line(grant.agent)}"
    rule = grant.rule
    if rule.cwd is not None and rule.cwd == grant.workspace:
        # Already mentioned.
        rule = replace(rule, cwd=None)
    return Row(rule.effect, rule_words(rule, folder), grant.scope, place, grant)


def rows_of(
    rules: Iterable[Rule], grants: Iterable[Grant], folder: str | None = None, search: str = ""
) -> list[Row]:
    """Remembered answers, newest first, then rules; only those that contain all words."""
    rows = [row_of_grant(grant, folder) for grant in grants][::-1]
    rows += [row_of_rule(rule, folder) for rule in rules]
    wanted = search.lower().split()
    return [row for row in rows if all(word in row.text for word in wanted)]

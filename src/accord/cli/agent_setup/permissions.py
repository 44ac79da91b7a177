"""Combines flags, policy files, remembered answers and the user into permissions.

Must not know the connection or how rules match.

What always holds
    * By default, only reading in the session's folders is allowed.
    * Nothing in the project can allow anything: rules and answers are in the user's folders.
    * `--policy FILE` and the flags are used alone: a run in CI depends on nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accord import Permissions, Rule
from accord.client.permissions.path_and_host_patterns import WILD
from accord.client.permissions.permissions import Callback
from accord.client.permissions.rules import Effect
from accord.configuration.config_file import Config
from accord.configuration.grants_file import GrantsFile, grants_path
from accord.configuration.policy_file import Policy, load_policy, policy_path
from accord.errors import ConfigError
from accord.transcript.items.tool_call import KINDS_OF_TOOL

# Names on the command line for several kinds of the protocol.
GROUPS = {
    "all": tuple(sorted(KINDS_OF_TOOL)),
    "write": ("edit", "delete", "move"),
    "run": ("execute",),
}
KIND_WORDS = (
    "read, search, edit, delete, move, execute, fetch, think, switch_mode, other, write, run, all"
)
"""The kinds and groups, in the order of the help text."""
# What `kind=VALUE` on the command line limits: `edit=PATH`, `execute=COMMAND`.
_SUBJECTS = {
    "read": "path",
    "search": "path",
    "edit": "path",
    "delete": "path",
    "move": "path",
    "execute": "command",
    "fetch": "host",
    "other": "mcp_tool",
}
_ALWAYS_READABLE = ("read", "search")


class KindError(Exception):
    """A word that is not a kind of tool."""


def read_kinds(words: Iterable[str]) -> tuple[str, ...]:
    """Parse `--allow read,edit=PATH` into kinds, each with its `=VALUE`.

    Raises:
        KindError: a word is not a kind.
    """
    found: dict[str, None] = {}
    for word in words:
        before, equals, what = word.partition("=")
        names = [one.strip() for one in before.split(",") if one.strip()]
        for number, name in enumerate(names, 1):
            if name not in KINDS_OF_TOOL and name not in GROUPS:
                known = ", ".join(sorted((*KINDS_OF_TOOL, *GROUPS)))
                raise KindError(f"{name!r} is not a kind of tool; the kinds are {known}")
            # The value belongs to the last name; it may contain commas.
            rest = f"={what}" if equals and number == len(names) else ""
            for kind in GROUPS.get(name, (name,)):
                if rest and (kind not in _SUBJECTS or name == "all"):
                    raise KindError(f"{name} takes no value; write {name} alone")
                found[f"{kind}{rest}"] = None
    return tuple(found)


@dataclass(frozen=True, slots=True)
class PermissionFlags:
    """The permission options of the command line."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    policy: Path | None = None
    ask: bool = False

    @property
    def are_none(self) -> bool:
        """Whether there are no permission options."""
        return not (self.allow or self.deny or self.policy or self.ask)


@dataclass(frozen=True, slots=True)
class PermissionSetup:
    """The permissions of a run, before it is known how to ask the user."""

    rules: tuple[Rule, ...]
    otherwise: Effect
    grants: GrantsFile | None
    may_ask: bool

    def permissions(self, ask: Callback | None) -> Permissions:
        """Return the permissions; without `ask`, everything that needs the user is denied."""
        return Permissions(
            self.rules,
            otherwise=self.otherwise,
            ask=ask if self.may_ask else None,
            grants=None if self.grants is None else self.grants.open(),
        )


def deciding(
    wishes: PermissionFlags, config: Config, roots: Sequence[str], *, attended: bool
) -> PermissionSetup:
    """Combine all sources of rules; `attended` means that a user can answer.

    Raises:
        ConfigError: a policy or the remembered answers cannot be read.
        KindError: the value of a kind is invalid.
    """
    policy = _policy(wishes, config)
    rules = [
        *_of_kinds("reject", wishes.deny, roots[0]),
        *_of_kinds("allow", wishes.allow, roots[0]),
    ]
    rules += policy.rules_in(roots[0])
    if policy.otherwise is None or policy.otherwise == "ask":
        rules += _reading(roots)
    if policy.otherwise is not None:
        otherwise = policy.otherwise
    else:
        otherwise = "ask" if wishes.ask or (wishes.are_none and attended) else "reject"
    if wishes.ask and otherwise == "reject":
        otherwise = "ask"
    grants = None if wishes.policy is not None else GrantsFile(grants_path())
    return PermissionSetup(tuple(rules), otherwise, grants, may_ask=wishes.ask or attended)


def _of_kinds(effect: Effect, kinds: Sequence[str], folder: str) -> list[Rule]:
    """Return rules for kinds; all kinds together include calls of an unknown kind."""
    if set(kinds) >= KINDS_OF_TOOL:
        return [Rule(effect=effect)]
    return [_of_kind(effect, kind, folder) for kind in kinds]


def _of_kind(effect: Effect, word: str, folder: str) -> Rule:
    kind, equals, what = word.partition("=")
    if not equals:
        return Rule(effect=effect, kind=kind)
    subject = _SUBJECTS[kind]
    if subject == "path" and os.path.isdir(os.path.join(folder, os.path.expanduser(what))):
        # A folder stands for its content.
        what = f"{what.rstrip('/')}/"
    try:
        named: dict[str, Any] = {subject: what}
        return Rule(effect=effect, kind=kind, **named)
    except ValueError as error:
        raise KindError(f"{word!r}: {error}") from None


def _policy(wishes: PermissionFlags, config: Config) -> Policy:
    named = wishes.policy or config.permissions.policy
    found = load_policy(named if named is not None else policy_path())
    if found is None and named is not None:
        raise ConfigError(f"the policy {named} does not exist", file=str(named))
    return found or Policy()


def _reading(roots: Sequence[str]) -> list[Rule]:
    """Return the rules for what is always allowed: reading files of the session, and thinking."""
    # Relative patterns start at the session's folder.  A folder whose name looks like a pattern is
    # skipped, since it could match others.
    more = [f"{os.path.realpath(one)}/**" for one in roots[1:] if not WILD & set(one)]
    rules = [
        Rule(effect="allow", kind=kind, path=pattern)
        for kind in _ALWAYS_READABLE
        for pattern in ("**", *more)
    ]
    return [*rules, Rule(effect="allow", kind="think")]

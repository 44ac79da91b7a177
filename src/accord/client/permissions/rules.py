"""A permission rule, as a program or a user writes it.

It must not know requests: `policy.py` says how rules match them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from accord.client.permissions.changed_files import CHANGING_KINDS
from accord.client.permissions.patterns import PathPattern, host_pattern
from accord.transcript.items.tool_call import DEFAULT_KIND, KINDS_OF_TOOL

Effect: TypeAlias = Literal["allow", "reject", "ask"]
EFFECTS: frozenset[str] = frozenset({"allow", "reject", "ask"})

# What a rule may be about.
_SUBJECTS = ("path", "command", "mcp_tool", "host", "title")


def check_effect(effect: object, what: str) -> None:
    """An effect is one of three words, so that a typing error is not an approval."""
    if effect not in EFFECTS:
        raise ValueError(f"{what} is allow, reject or ask, not {effect!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What to do with requests of a kind.

    `kind` is a tool kind of the protocol, or None for every kind.  To allow `edit`, `delete` or
    `move` alone means files in the session's folders that nothing executes.  At most one of:
        path      a pattern; relative ones are beneath the session's directory; `src/**`.  To allow
                  a change of an executed file, it has to spell it out: `.git/**`, not `**`
        command   the first words of a command, `*` within a word: `git status`, `npm run test:*`;
                  a line with shell operators is that very line; a rule that rejects applies
                  wherever the line may run such a command, with other words in between
        mcp_tool  `server/tool` or `server/*`
        host      `example.org`, or `*.example.org` for what is below it
        title     the very title of a request that has none of these
    With `exact` nothing is a wildcard and a command is the whole command.  `cwd` limits a command
    to one directory and what is in it.

    Raises:
        ValueError: a word or pattern that cannot be, so that a typing error is not an approval.
    """

    effect: Effect
    kind: str | None = None
    path: str | None = None
    command: str | None = None
    mcp_tool: str | None = None
    host: str | None = None
    title: str | None = None
    cwd: str | None = None
    exact: bool = False

    def __post_init__(self) -> None:
        check_effect(self.effect, "the effect of a rule")
        if self.kind is not None and self.kind not in KINDS_OF_TOOL:
            known = ", ".join(sorted(KINDS_OF_TOOL))
            raise ValueError(f"no such tool kind: {self.kind!r}; the kinds are {known}")
        named = {name: getattr(self, name) for name in _SUBJECTS}
        given = [name for name, value in named.items() if value is not None]
        if len(given) > 1:
            raise ValueError(
                f"a rule names one of {', '.join(_SUBJECTS)}, not {' and '.join(given)}"
            )
        for name in (*given, *(["cwd"] if self.cwd is not None else [])):
            if not isinstance(getattr(self, name), str):
                raise ValueError(f"{name} is text, not {getattr(self, name)!r}")
        if self.command is not None and self.kind not in (None, "execute", DEFAULT_KIND):
            raise ValueError(
                f"no call of kind {self.kind!r} has a command, so the rule would never hold;"
                " leave the kind out"
            )
        if self.cwd is not None and (self.command is None or not self.cwd.startswith("/")):
            raise ValueError("cwd is the absolute directory of a command")
        if self.mcp_tool is not None and "/" not in self.mcp_tool:
            raise ValueError(f"an MCP tool is server/tool, not {self.mcp_tool!r}")
        if self.command is not None and not self.command.strip():
            raise ValueError("a command must not be empty")
        if self.path is not None:
            PathPattern.of(self.path, literal=self.exact)
        if self.host is not None:
            host_pattern(self.host)

    @property
    def is_blanket(self) -> bool:
        """Whether it speaks of a kind, or of everything, and not of one thing."""
        return all(
            value is None
            for value in (self.path, self.command, self.mcp_tool, self.host, self.title)
        )

    @property
    def is_bounded(self) -> bool:
        """Whether it says less than its kind: "always" in the agent's words would say more."""
        return not self.is_blanket or self.kind in CHANGING_KINDS


__all__ = ["EFFECTS", "Effect", "Rule", "check_effect"]

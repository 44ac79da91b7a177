"""A permission rule, as a program or a user writes it.

It must not know requests: `rule_matcher.py` says how rules match them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from accord.client.permissions.changed_files import CHANGING_KINDS
from accord.client.permissions.path_and_host_patterns import PathPattern, host_pattern
from accord.transcript.items.tool_call import DEFAULT_KIND, KINDS_OF_TOOL

if TYPE_CHECKING:
    from accord.schema.v2 import ToolKind

Effect: TypeAlias = Literal["allow", "reject", "ask"]
EFFECTS: frozenset[str] = frozenset({"allow", "reject", "ask"})

# The subjects of rules.
_SUBJECTS = ("path", "command", "mcp_tool", "host", "title")


def check_effect(effect: object, what: str) -> None:
    """Refuse anything but the three effects, so that a typo is not an approval."""
    if effect not in EFFECTS:
        raise ValueError(f"{what} is allow, reject or ask, not {effect!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The effect for requests of one kind or about one subject.

    `kind` is a tool kind of the protocol, or None for every kind.  To allow `edit`, `delete` or
    `move` alone means files in the session's folders that nothing executes.  At most one of:
        path      a pattern such as `src/**`; relative ones are in the session's directory.  To
                  allow changes of executed files, it must spell them out: `.git/**`, not `**`
        command   the first words of a command, `*` within a word: `git status`, `npm run test:*`;
                  a line with shell operators matches only itself; a rule that rejects applies
                  wherever a line may run such a command, with other words in between
        mcp_tool  `server/tool` or `server/*`
        host      `example.org`, or `*.example.org` for its subdomains
        title     the exact title of a request that has none of these
    With `exact` there are no wildcards, and a command is the whole command.  `cwd` limits a command
    to one directory and its contents.

    Raises:
        ValueError: a value or pattern is impossible; a typo must not be an approval.
    """

    effect: Effect
    kind: ToolKind | None = None
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
                f"calls of kind {self.kind!r} have no command, so the rule would never match;"
                " leave the kind out"
            )
        if self.cwd is not None and (self.command is None or not self.cwd.startswith("/")):
            raise ValueError("cwd must be an absolute directory, and needs a command")
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
        """Whether it is about a kind, or about everything, and names no subject."""
        return all(
            value is None
            for value in (self.path, self.command, self.mcp_tool, self.host, self.title)
        )

    @property
    def is_bounded(self) -> bool:
        """Whether it covers less than its kind, and so less than the agent's "always"."""
        return not self.is_blanket or self.kind in CHANGING_KINDS

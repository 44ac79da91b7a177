"""Matches rules with requests.

It must not know sessions, users, tasks or where rules are stored.

Always holds
    * A request is judged by its points: its command, its MCP tool, each path, each host.  It is
      allowed only when every relevant point is, and rejected when any of them is.
    * A rejecting rule beats a remembered approval, which beats asking, which beats allowing.
    * A rule that cannot be compared with certainty asks.  For commands, rejecting fails closed: a
      rule applies where the command cannot be fully read, or passes its words to another program.

Rules that allow look at real paths and plain argument vectors only; rules that reject also look
at the spelling, and at every program that a shell line may run.  A rule that allows a kind of
change means files in the session's folders that nothing executes (`changed_files.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from accord.client.permissions.changed_files import (
    CHANGING_KINDS,
    are_ordinary,
    not_ordinary,
    spells,
    title_paths,
)
from accord.client.permissions.command_patterns import CommandLine, pattern_words, read_command
from accord.client.permissions.path_and_host_patterns import (
    PathPattern,
    PlacedPath,
    beneath,
    host_matches,
    host_pattern,
    place,
    plain_host,
    tool_matches,
)
from accord.client.permissions.request import PermissionRequest
from accord.client.permissions.rules import Effect, Rule
from accord.transcript.items.tool_call import DEFAULT_KIND, KINDS_OF_TOOL

Fit: TypeAlias = Literal["yes", "no", "unsure"]

_HARMLESS_KINDS = frozenset({"read", "search", "think", "fetch", "switch_mode"})
# Calls of these kinds are about a file, a host or a command, even if they do not name it.
_FILE_KINDS = frozenset({"read", "edit", "delete", "move"})
_FETCH_KINDS = frozenset({"fetch"})
_COMMAND_KINDS = frozenset({"execute"})

PATHS_MAX = 256
"""Paths of one request that are checked; a request with more is not understood."""


@dataclass(frozen=True, slots=True)
class Facts:
    """A request, read once for all rules.  An unreadable path or host is None."""

    kind: str
    title: str
    workspace: str | None
    paths: tuple[PlacedPath | None, ...] = ()
    command: CommandLine | None = None
    cwd: str | None = None
    mcp_tool: str | None = None
    hosts: tuple[str | None, ...] = ()
    # The session's folders, as real paths.
    roots: tuple[str, ...] = ()
    # Files from the title, for a change that does not name all of its files elsewhere.
    titled: tuple[PlacedPath | None, ...] = ()
    # Whether the call shows text or input, so that its title does not say everything.
    is_detailed: bool = False
    # Whether the command gets variables or standard input that its line does not show.
    is_given_more: bool = False

    @classmethod
    def of(
        cls, request: PermissionRequest, workspace: str | None, roots: Sequence[str] = ()
    ) -> Facts:
        """Read a request of a session that works in these directories (real paths)."""
        where = workspace
        if request.cwd is not None:
            placed = place(request.cwd, workspace)
            where = None if placed is None else placed.real
        call = request.tool_call
        # A call with a diff changes files, whatever kind it claims; some agents send no kind.
        is_other = request.command is None and request.mcp_tool is None
        looking = _HARMLESS_KINDS | {DEFAULT_KIND} if is_other else _HARMLESS_KINDS
        changes = call is not None and bool(call.diffs) and request.kind in looking
        kind = "edit" if changes else request.kind
        paths = _placed(request.paths, workspace)
        return cls(
            kind=kind,
            title=request.title,
            workspace=workspace,
            roots=tuple(roots) or (() if workspace is None else (workspace,)),
            paths=paths,
            titled=_titled(kind, paths, request.title, workspace),
            is_detailed=call is not None and (bool(call.text) or call.raw_input is not None),
            command=None if request.command is None else read_command(request.command),
            cwd=where,
            mcp_tool=request.mcp_tool,
            hosts=tuple(plain_host(host) for host in request.hosts),
            is_given_more=request.is_given_more,
        )

    def points(self) -> tuple[Facts, ...]:
        """The points that an approval must cover; a tool or a command stands for all it touches."""
        if self.mcp_tool is not None or self.command is not None:
            return (self,)
        alone = replace(self, paths=(), hosts=())
        paths = (replace(alone, paths=(path,)) for path in self.paths)
        hosts = (replace(alone, hosts=(host,)) for host in self.hosts)
        return (*paths, *hosts) or (alone,)

    def lacks(self, part: Literal["paths", "hosts", "command"], kinds: frozenset[str]) -> bool:
        """Whether a call of these kinds does not name the relevant part."""
        return self.kind in kinds and self.mcp_tool is None and not getattr(self, part)

    def beyond_its_kind(self) -> tuple[str | None, str] | None:
        """The file and the reason why a rule for this kind of change does not cover it."""
        if self.kind not in CHANGING_KINDS:
            return None
        return not_ordinary((*self.paths, *self.titled), self.roots)

    @property
    def is_bare(self) -> bool:
        """Whether nothing but kind and title is known."""
        return not self.paths and not self.hosts and self.command is None and self.mcp_tool is None


def _placed(paths: Sequence[str], workspace: str | None) -> tuple[PlacedPath | None, ...]:
    placed = tuple(place(path, workspace) for path in paths[:PATHS_MAX])
    return placed if len(paths) <= PATHS_MAX else (*placed, None)


def _titled(
    kind: str, paths: tuple[PlacedPath | None, ...], title: str, workspace: str | None
) -> tuple[PlacedPath | None, ...]:
    # A move has two files.
    wanted = {"edit": 1, "delete": 1, "move": 2}.get(kind, 0)
    if len(paths) >= wanted:
        return ()
    found = _placed(title_paths(title), workspace)
    others = {path.real for path in found if path is not None}
    others -= {path.real for path in paths if path is not None}
    return found if len(paths) + len(others) >= wanted else (*found, None)


class ReadRule:
    """A rule with its patterns read; links in them are resolved when it is made."""

    __slots__ = ("_command", "_cwd", "_host", "_path", "_words", "rule")

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._path = None if rule.path is None else PathPattern.of(rule.path, literal=rule.exact)
        self._host = None if rule.host is None else host_pattern(rule.host)
        self._command = None if rule.command is None else read_command(rule.command)
        self._words: Sequence[str] | None = None
        if rule.command is not None and not rule.exact:
            self._words = pattern_words(rule.command)
        placed = None if rule.cwd is None else place(rule.cwd, None)
        self._cwd = None if placed is None else placed.real

    def covers(self, point: Facts) -> bool:
        """Whether this rule certainly allows the point."""
        rule = self.rule
        if rule.kind is not None and rule.kind != point.kind:
            return False
        if self._path is not None:
            if point.mcp_tool is not None or point.command is not None or len(point.paths) != 1:
                return False
            path = point.paths[0]
            if path is None or not self._path.matches(path.real, point.workspace):
                return False
            return point.kind in _HARMLESS_KINDS or spells(self._path, path)
        if self._host is not None:
            if point.mcp_tool is not None or point.command is not None or len(point.hosts) != 1:
                return False
            host = point.hosts[0]
            return host is not None and host_matches(self._host, host)
        if rule.mcp_tool is not None:
            return point.mcp_tool is not None and self._is_tool(point.mcp_tool)
        if self._command is not None:
            return point.mcp_tool is None and self._is_command(point)
        if rule.title is not None:
            # A remembered answer was about everything that was shown.
            is_all = not (rule.exact and point.is_detailed)
            return point.is_bare and point.title == rule.title and is_all
        if rule.kind in CHANGING_KINDS and not are_ordinary(
            (*point.paths, *point.titled), point.roots
        ):
            return False
        # A command is not a read or the like, whatever kind the agent gives it.
        return point.command is None or rule.kind in (None, "execute")

    def _is_tool(self, tool: str) -> bool:
        wanted = self.rule.mcp_tool or ""
        return tool == wanted if self.rule.exact else tool_matches(wanted, tool)

    def _is_command(self, point: Facts) -> bool:
        command = point.command
        if command is None or self._command is None or point.is_given_more:
            return False
        if self._cwd is not None and (point.cwd is None or not beneath(point.cwd, self._cwd)):
            return False
        if self._words is None:
            # The same line may do something else in a subfolder.
            is_here = not self.rule.exact or self._cwd is None or point.cwd == self._cwd
            return is_here and command.same(self._command)
        return command.begins(self._words)

    def touches(self, facts: Facts) -> Fit:
        """Whether a rule that rejects or asks concerns any part of the request."""
        fit = self._touches_part(facts)
        if fit == "no" or self.rule.kind in (None, facts.kind):
            return fit
        if self.rule.kind == "execute" and facts.command is not None:
            # A command executes, whatever kind the agent gives the call.
            return fit
        # A call without a kind may be of this kind.
        return "unsure" if facts.kind == DEFAULT_KIND or facts.kind not in KINDS_OF_TOOL else "no"

    def _touches_part(self, facts: Facts) -> Fit:
        rule = self.rule
        if self._path is not None:
            if facts.lacks("paths", _FILE_KINDS):
                return "unsure"
            return _any_of(self._touches_path(path, facts.workspace) for path in facts.paths)
        if self._host is not None:
            if facts.lacks("hosts", _FETCH_KINDS):
                return "unsure"
            return _any_of(self._touches_host(host) for host in facts.hosts)
        if rule.mcp_tool is not None:
            named = facts.mcp_tool is not None and self._is_tool(facts.mcp_tool)
            return "yes" if named else "no"
        if self._command is not None:
            return self._touches_command(facts)
        if rule.title is not None:
            return "yes" if facts.is_bare and facts.title == rule.title else "no"
        return "yes"

    def _touches_path(self, path: PlacedPath | None, workspace: str | None) -> Fit:
        if path is None or self._path is None:
            return "unsure"
        spellings = (path.real, path.spelled)
        return "yes" if any(self._path.matches(one, workspace) for one in spellings) else "no"

    def _touches_host(self, host: str | None) -> Fit:
        if host is None or self._host is None:
            return "unsure"
        return "yes" if host_matches(self._host, host) else "no"

    def _touches_command(self, facts: Facts) -> Fit:
        command = facts.command
        if command is None:
            return "unsure" if facts.lacks("command", _COMMAND_KINDS) else "no"
        outside = (
            self._cwd is not None and facts.cwd is not None and not beneath(facts.cwd, self._cwd)
        )
        if outside and not command.reading.changes_folder:
            return "no"
        if self.why(facts) is None:
            # An exact rule means one spelling and does not refuse what may be another.
            return "unsure" if self.rule.exact and command.reading.unclear else "no"
        return "unsure" if self._cwd is not None and facts.cwd is None else "yes"

    def why(self, facts: Facts) -> str | None:
        """Why this rule concerns the command of a request; None if it does not."""
        command, wanted = facts.command, self._command
        if command is None or wanted is None:
            return None
        if self._words is not None:
            return command.concern(self._words)
        if command.includes(wanted):
            return f"it runs `{wanted.line}`"
        if command.reading.unclear and not self.rule.exact:
            return f"it cannot be parsed completely: {command.reading.unclear[0]}"
        return None

    def refusal(self, facts: Facts) -> str | None:
        """A sentence that names the rule and why it refuses; None for rules about other things."""
        why = self.why(facts)
        return None if why is None else f"a rule rejects `{self.rule.command}`: {why}"


def read_rules(rules: object) -> list[ReadRule]:
    """Read the rules that a program wrote.

    Raises:
        ValueError: one of them is not a rule.
    """
    if isinstance(rules, Rule | str) or not isinstance(rules, Iterable):
        raise ValueError(f"rules are a list of Rule, not {rules!r}")
    read: list[ReadRule] = []
    for rule in rules:
        if not isinstance(rule, Rule):
            raise ValueError(f"{rule!r} is not a rule; write Rule(effect='allow', kind='edit')")
        read.append(ReadRule(rule))
    return read


def _any_of(fits: Iterable[Fit]) -> Fit:
    found = set(fits)
    return "yes" if "yes" in found else ("unsure" if "unsure" in found else "no")


def judge(
    rules: Iterable[ReadRule], grants: Iterable[ReadRule], facts: Facts, otherwise: Effect
) -> tuple[Effect, tuple[ReadRule, ...]]:
    """The effect of rules and remembered answers, and the rules that an approval rests on."""
    written, remembered = tuple(rules), tuple(grants)
    asking: list[ReadRule] = []
    for rule in (*written, *remembered):
        if rule.rule.effect == "allow":
            continue
        fit = rule.touches(facts)
        if fit == "yes" and rule.rule.effect == "reject":
            return "reject", (rule,)
        if fit != "no":
            asking.append(rule)
    grounds: list[ReadRule] = []
    for point in facts.points():
        grant = _covering(remembered, point)
        if grant is None:
            doubt = any(rule.touches(point) != "no" for rule in asking)
            grant = None if doubt else _covering(written, point)
            if grant is None:
                if doubt or otherwise != "allow":
                    return ("ask" if doubt else otherwise), ()
                continue
        grounds.append(grant)
    return "allow", tuple(grounds)


def _covering(rules: Sequence[ReadRule], point: Facts) -> ReadRule | None:
    for rule in rules:
        if rule.rule.effect == "allow" and rule.covers(point):
            return rule
    return None


def rules_of(facts: Facts, effect: Effect, *, bind_cwd: bool) -> tuple[Rule, ...]:
    """The narrowest rules that repeat this answer for the same request; none if it is unclear."""
    if facts.mcp_tool is not None:
        if "/" not in facts.mcp_tool:
            return ()
        return (Rule(effect=effect, mcp_tool=facts.mcp_tool, exact=True),)
    if facts.command is not None:
        if not facts.command.line.strip() or (facts.is_given_more and effect == "allow"):
            return ()
        if bind_cwd and facts.cwd is None and effect == "allow":
            return ()
        cwd = facts.cwd if bind_cwd else None
        return (Rule(effect=effect, command=facts.command.line, cwd=cwd, exact=True),)
    if None in facts.paths or None in facts.hosts:
        return ()
    kind = facts.kind if facts.kind in KINDS_OF_TOOL else DEFAULT_KIND
    paths = [path.real for path in facts.paths if path is not None]
    hosts = [host for host in facts.hosts if host is not None]
    if not paths and not hosts:
        if facts.is_detailed and effect == "allow":
            # The next call with this title may be about anything.
            return ()
        return (Rule(effect=effect, kind=kind, title=facts.title, exact=True),)
    return (
        *(Rule(effect=effect, kind=kind, path=path, exact=True) for path in paths),
        *(Rule(effect=effect, kind=kind, host=host, exact=True) for host in hosts),
    )

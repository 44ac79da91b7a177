"""Permission requests and decisions, as values of no version.

It must not know the wire, tasks, or how rules match.

Always holds
    * A decision without an option is never an approval.
    * `options` are what was offered; an option whose id was offered twice cannot be chosen
      (`usable_options`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from accord.client.permissions.rules import Rule
from accord.transcript.items.tool_call import ToolCall

if TYPE_CHECKING:
    from accord.schema.v2 import PermissionOptionKind, ToolKind

ALLOWING_KINDS: frozenset[str] = frozenset({"allow_once", "allow_always"})
REJECTING_KINDS: frozenset[str] = frozenset({"reject_once", "reject_always"})
LASTING_KINDS: frozenset[str] = frozenset({"allow_always", "reject_always"})

COMMAND_CHARACTERS_MAX = 80
"""A longer command is called "this exact command" in the name of an option."""

Origin: TypeAlias = Literal["agent", "read", "write", "terminal"]
# The origin of a decision: the user, a remembered answer, a rule, the default where nobody could be
# asked, or a withdrawn question.
DecidedBy: TypeAlias = Literal["user", "remembered", "rule", "default", "cancelled"]
Scope: TypeAlias = Literal["once", "session", "workspace", "always"]


@dataclass(frozen=True, slots=True)
class PermissionOption:
    """An offered answer.  Kinds other than the protocol's four are never approvals."""

    option_id: str
    name: str
    kind: PermissionOptionKind
    # How long the answer is remembered, where the option says so; otherwise we decide.
    scope: Literal["session", "workspace", "always"] | None = None

    @property
    def allows(self) -> bool:
        """Whether choosing it approves."""
        return self.kind in ALLOWING_KINDS

    @property
    def rejects(self) -> bool:
        """Whether choosing it refuses."""
        return self.kind in REJECTING_KINDS


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """A question to the user, with everything that is known about the operation.

    Rules look at `paths`, `command`, `hosts` and `mcp_tool` (server/tool); `cwd` is the folder of
    the command.  `origin` says where the question comes from: the agent, or the client because the
    agent reads, writes or runs something without an approval.
    """

    session_id: str
    title: str
    options: tuple[PermissionOption, ...]
    reason: str | None = None
    tool_call: ToolCall | None = None
    kind: ToolKind = "other"
    paths: tuple[str, ...] = ()
    command: str | None = None
    cwd: str | None = None
    mcp_tool: str | None = None
    hosts: tuple[str, ...] = ()
    origin: Origin = "agent"
    # For questions of the client: the title of an approved call that does not cover this.
    approved_call: str | None = None
    # Whether the command gets variables or standard input that its line does not show.
    is_given_more: bool = False
    # For questions about a write: the new text.
    new_text: str | None = field(default=None, repr=False)

    @property
    def usable_options(self) -> tuple[PermissionOption, ...]:
        """The options with a unique id."""
        counts = Counter(option.option_id for option in self.options)
        return tuple(option for option in self.options if counts[option.option_id] == 1)

    def option(self, option_id: str) -> PermissionOption | None:
        """The offered option with this id; None if there is none, or more than one."""
        for option in self.usable_options:
            if option.option_id == option_id:
                return option
        return None

    def of_kind(self, *kinds: str) -> PermissionOption | None:
        """The first usable option of the first of these kinds that was offered."""
        for kind in kinds:
            for option in self.usable_options:
                if option.kind == kind:
                    return option
        return None


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer: the id of an offered option, or None for cancelled, which approves nothing.

    `scope` says how long the answer is remembered.  `rule` says for what, where the user chose
    something wider or narrower than this request.  `by` is the origin, which is shown with
    refusals.
    """

    option_id: str | None
    scope: Scope = "once"
    rule: Rule | None = None
    by: DecidedBy = field(default="user", compare=False)


CANCELLED = Decision(None, by="cancelled")


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision that was made: the request, the outcome, and where the decision came from."""

    request: PermissionRequest
    allowed: bool
    cancelled: bool
    # As in `Decision`, or "call" where the approval of a tool call covered it.
    by: str
    rule: Rule | None = None
    scope: str = "once"
    # Why a rule for its kind would not cover it: the file that is the reason, if any, and a text.
    beyond: tuple[str | None, str] | None = None
    # Why a rule refuses the command.
    why: str | None = None


# The options of the client's own questions; the ids are the kinds.
OWN_OPTIONS: tuple[PermissionOption, ...] = (
    PermissionOption("allow_once", "Allow once", "allow_once"),
    PermissionOption("allow_always", "Always allow", "allow_always"),
    PermissionOption("reject_once", "Reject", "reject_once"),
    PermissionOption("reject_always", "Always reject", "reject_always"),
)


def own_options(words: str) -> tuple[PermissionOption, ...]:
    """The client's options, with names that say what a lasting answer covers."""
    return tuple(
        replace(one, name=f"{one.name} {words} for this session")
        if one.kind in LASTING_KINDS
        else one
        for one in OWN_OPTIONS
    )


def own_request(
    session_id: str,
    title: str,
    kind: str,
    origin: Origin,
    *,
    paths: tuple[str, ...] = (),
    command: str | None = None,
    cwd: str | None = None,
    new_text: str | None = None,
) -> PermissionRequest:
    """A question of the client, about an operation that the agent did not ask for."""
    words = f"{'reading' if origin == 'read' else 'writing'} {', '.join(paths)}"
    if command is not None:
        is_short = len(command) <= COMMAND_CHARACTERS_MAX and command.isprintable()
        what = f"`{command}`" if is_short else "this exact command"
        words = f"{what} in {'the same folder' if cwd is None else cwd}"
    return PermissionRequest(
        session_id=session_id,
        title=title,
        options=own_options(words),
        kind=kind,
        paths=paths,
        command=command,
        cwd=cwd,
        origin=origin,
        new_text=new_text,
    )

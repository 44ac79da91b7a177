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
from typing import Literal, TypeAlias

from accord.client.permissions.rules import Rule
from accord.transcript.items.tool_call import ToolCall

ALLOWING_KINDS: frozenset[str] = frozenset({"allow_once", "allow_always"})
REJECTING_KINDS: frozenset[str] = frozenset({"reject_once", "reject_always"})
LASTING_KINDS: frozenset[str] = frozenset({"allow_always", "reject_always"})

COMMAND_CHARACTERS_MAX = 80
"""A longer command is "this exact command" in the name of an option; the question shows it."""

Origin: TypeAlias = Literal["agent", "read", "write", "terminal"]
# Who decided: the user now, an earlier answer of theirs, a rule, nobody because nobody could be
# asked, or nobody because the question was withdrawn.
DecidedBy: TypeAlias = Literal["user", "remembered", "rule", "default", "cancelled"]
Scope: TypeAlias = Literal["once", "session", "workspace", "always"]


@dataclass(frozen=True, slots=True)
class PermissionOption:
    """One answer that is offered.  Kinds other than the protocol's four never count as approval."""

    option_id: str
    name: str
    kind: str
    # How long choosing it is remembered, where it says so; of the others that is left to us.
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
    """A question to the user, with all that is known about what would happen.

    `paths`, `command`, `hosts` and `mcp_tool` (server/tool) are what rules look at; `cwd` is
    where the command would run.  `origin` says who asks: the agent, or we because a read, a write
    or a terminal came without a grant.
    """

    session_id: str
    title: str
    options: tuple[PermissionOption, ...]
    reason: str | None = None
    tool_call: ToolCall | None = None
    kind: str = "other"
    paths: tuple[str, ...] = ()
    command: str | None = None
    cwd: str | None = None
    mcp_tool: str | None = None
    hosts: tuple[str, ...] = ()
    origin: Origin = "agent"
    # The title of an open call that was approved and does not cover this, where we ask.
    approved_call: str | None = None
    # Whether the command gets variables or standard input that its line does not tell.
    is_given_more: bool = False
    # What would be written, where we ask because of a write.
    new_text: str | None = field(default=None, repr=False)

    @property
    def usable_options(self) -> tuple[PermissionOption, ...]:
        """The options whose id means one of them only."""
        counts = Counter(option.option_id for option in self.options)
        return tuple(option for option in self.options if counts[option.option_id] == 1)

    def option(self, option_id: str) -> PermissionOption | None:
        """The offered option of this id; None when there is none, or more than one."""
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
    something wider or narrower than just this request.  `by` says who it comes from, which is told
    wherever a refusal is.
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


# What we offer where we ask ourselves; the ids are the kinds.
OWN_OPTIONS: tuple[PermissionOption, ...] = (
    PermissionOption("allow_once", "Allow once", "allow_once"),
    PermissionOption("allow_always", "Always allow", "allow_always"),
    PermissionOption("reject_once", "Reject", "reject_once"),
    PermissionOption("reject_always", "Always reject", "reject_always"),
)


def own_options(words: str) -> tuple[PermissionOption, ...]:
    """The same, with names that say what a lasting answer covers."""
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
    """A question of ours, about something that the agent did not ask for."""
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


__all__ = [
    "ALLOWING_KINDS",
    "CANCELLED",
    "LASTING_KINDS",
    "OWN_OPTIONS",
    "REJECTING_KINDS",
    "Decided",
    "DecidedBy",
    "Decision",
    "Origin",
    "PermissionOption",
    "PermissionRequest",
    "Scope",
    "own_options",
    "own_request",
]

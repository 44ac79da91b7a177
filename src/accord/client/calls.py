"""What an approved tool call may do through the client: write its files, run its command.

It must not know rules' patterns, users or the wire.

Always holds
    * What counts is what was asked: a path or command that the agent adds to the call later is
      not covered.
    * An approval ends with its tool call, and when a rule that it rests on is revoked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from accord.client.asking import PermissionRequest
from accord.client.commands import CommandLine
from accord.client.patterns import beneath, place
from accord.client.policy import Facts, ReadRule
from accord.transcript.tool_call import DEFAULT_KIND, ToolCall

CALLS_MAX = 256
"""Approved calls remembered per session; beyond it the oldest must be asked for again."""

_WRITING_KINDS = frozenset({"edit", "move"})


@dataclass(frozen=True, slots=True, eq=False)
class ApprovedCall:
    """One approval.  Without a tool call it is good for one use."""

    tool_call: ToolCall | None
    writes: frozenset[str]
    command: CommandLine | None
    cwd: str | None
    grounds: tuple[ReadRule, ...]

    @property
    def is_over(self) -> bool:
        """Whether its tool call has ended, or was cancelled with its turn."""
        call = self.tool_call
        return call is not None and (call.is_final or call.cancelled)


def approve(
    request: PermissionRequest, facts: Facts, grounds: tuple[ReadRule, ...]
) -> ApprovedCall:
    """What an approval of this request covers."""
    writes: set[str] = set()
    diffs = () if request.tool_call is None else request.tool_call.diffs
    if facts.kind in _WRITING_KINDS or (not diffs and _may_be_edit(facts, grounds)):
        writes.update(path.real for path in facts.paths if path is not None)
    # Whatever the call is named, its changes were shown.
    for diff in diffs:
        placed = place(diff.path, facts.workspace)
        writes.update(() if placed is None else (placed.real,))
    return ApprovedCall(request.tool_call, frozenset(writes), facts.command, facts.cwd, grounds)


def _may_be_edit(facts: Facts, grounds: tuple[ReadRule, ...]) -> bool:
    """Whether a call that says nothing of its kind was approved with its files in view.

    A command or a tool stands for itself, and a rule for the kind `other` looks at no file.
    """
    if facts.kind != DEFAULT_KIND or facts.command is not None or facts.mcp_tool is not None:
        return False
    return not any(read.rule.is_blanket and read.rule.kind is not None for read in grounds)


class ApprovedCalls:
    """The approvals of one session."""

    def __init__(self) -> None:
        self._calls: deque[ApprovedCall] = deque(maxlen=CALLS_MAX)

    def add(self, call: ApprovedCall) -> None:
        """Remember one, and forget those that are over."""
        self._calls = deque((old for old in self._calls if not old.is_over), maxlen=CALLS_MAX)
        self._calls.append(call)

    def clear(self) -> None:
        """Forget all."""
        self._calls.clear()

    def cover_write(self, real_path: str, holds: Callable[[ReadRule], bool]) -> bool:
        """Whether an approved call was about changing this file."""
        return self._find(lambda call: real_path in call.writes, holds)

    def cover_run(self, facts: Facts, holds: Callable[[ReadRule], bool]) -> bool:
        """Whether an approved call was about running this command here."""
        command, cwd = facts.command, facts.cwd
        if command is None or cwd is None:
            return False
        return self._find(
            lambda call: (
                call.command is not None
                and call.cwd is not None
                and call.command.same(command)
                and beneath(cwd, call.cwd)
            ),
            holds,
        )

    def _find(
        self, fits: Callable[[ApprovedCall], bool], holds: Callable[[ReadRule], bool]
    ) -> bool:
        for call in self._calls:
            if call.is_over or not fits(call) or not all(map(holds, call.grounds)):
                continue
            if call.tool_call is None:
                self._calls.remove(call)
            return True
        return False


__all__ = ["CALLS_MAX", "ApprovedCall", "ApprovedCalls", "approve"]

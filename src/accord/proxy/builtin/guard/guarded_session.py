"""One session as `guard` sees it: its rules, its approved tool calls, and its open requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from accord.client.permissions.request import PermissionRequest
from accord.client.permissions.rule_matcher import Facts, ReadRule, judge
from accord.client.permissions.rules import Effect
from accord.proxy.approved_calls import ApprovedCalls
from accord.proxy.permission_facts import Json


class Judgement(NamedTuple):
    """The effect of the rules on one request, and the rules that decided it."""

    effect: Effect
    facts: Facts
    grounds: tuple[ReadRule, ...]

    @property
    def why(self) -> str:
        """The reason of a rule that rejects a command, as the end of a sentence."""
        is_rule = self.effect == "reject" and bool(self.grounds)
        refusal = self.grounds[0].refusal(self.facts) if is_rule else None
        return "" if refusal is None else f"; {refusal}"


@dataclass(slots=True)
class GuardedSession:
    """The rules and approvals of one session; a session that nobody opened has no folder."""

    folder: str | None
    rules: list[ReadRule]
    calls: ApprovedCalls
    roots: tuple[str, ...] = ()
    # Tool calls as they were when they were permitted.
    permitted: dict[str, Json] = field(default_factory=dict)
    stopped: set[str] = field(default_factory=set)
    # Files that the agent read with secrets removed.
    redacted: set[str] = field(default_factory=set)
    # Open prompts, whether the user has cancelled them, and requests that replay the history.
    prompts: int = 0
    is_cancelled: bool = False
    replays: int = 0

    def judge(self, request: PermissionRequest, otherwise: Effect) -> Judgement:
        """Judge a request by the rules."""
        facts = Facts.of(request, self.folder, self.roots)
        effect, grounds = judge(self.rules, (), facts, otherwise)
        return Judgement(effect, facts, grounds)

    def end_turn(self) -> None:
        self.calls.clear()
        self.permitted.clear()
        self.is_cancelled &= self.prompts > 0

    def cancel(self) -> None:
        """Cancel: the user is not asked again until the agent has stopped."""
        self.end_turn()
        self.is_cancelled = self.prompts > 0

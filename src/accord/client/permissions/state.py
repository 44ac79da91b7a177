"""The state of `Permissions`: shared by all connections, and of one session.

It must not know how anything is decided.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

import anyio

from accord.client.permissions.approvals import Approvals
from accord.client.permissions.callback_answers import Callback, DecisionListener
from accord.client.permissions.grants import Grant, Grants, Place
from accord.client.permissions.rule_matcher import ReadRule
from accord.client.permissions.rules import Effect
from accord.client.question_queue import Queue


@dataclass(slots=True)
class SharedPermissions:
    """The state that all connections of one `Permissions` share."""

    rules: list[ReadRule]
    otherwise: Effect
    callback: Callback | None
    grants: Grants
    per_session: bool
    on_decided: DecisionListener | None = None
    before_decision: Callable[[], None] | None = None
    session_grants: Grants = field(default_factory=Grants)
    queue: Queue = field(default_factory=Queue)
    connections: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def can_allow(self) -> bool:
        """Whether anything at all may be allowed."""
        if self.callback is not None or self.otherwise == "allow":
            return True
        rules = (*(read.rule for read in self.rules), *(grant.rule for grant in self.grants))
        return any(rule.effect == "allow" for rule in rules)

    def holds(self, read: ReadRule) -> bool:
        """Whether this rule object is still written or remembered."""
        return any(read is one for one in self.rules) or any(
            grants.holds(read) for grants in (self.session_grants, self.grants)
        )

    def grants_at(self, here: Place) -> list[ReadRule]:
        """The remembered rules for this place."""
        return self.session_grants.rules_at(here) + self.grants.rules_at(here)

    def line(self, connection: int, session_id: str) -> Hashable:
        """The line in which requests of a session wait for the user."""
        return (connection, session_id) if self.per_session else None

    def waiting(self, connection: int, session_id: str | None) -> int:
        """The number of requests behind those that the user sees.

        If every session has its own line, only those of `session_id` count; without a connection,
        those of all sessions with this id.
        """
        if not self.per_session:
            return self.queue.waiting()
        return sum(
            self.queue.waiting(key)
            for key in self.queue.keys
            if isinstance(key, tuple) and connection in (0, key[0]) and session_id in (None, key[1])
        )

    def restore(self, grant: Grant) -> bool:
        """Remember a revoked answer again; False if there is a newer one on the same subject."""
        kept = self.session_grants if grant.scope == "session" else self.grants
        return kept.restore(grant)


@dataclass(slots=True)
class SessionPermissions:
    """One session: its folders, its approvals, and its open questions."""

    workspace: str | None = None
    roots: tuple[str, ...] = ()
    approvals: Approvals = field(default_factory=Approvals)
    asking: set[anyio.CancelScope] = field(default_factory=set)

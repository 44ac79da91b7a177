"""Remembered answers: for a session, for a workspace, or always.

It must not know requests, users or the wire; `rule_matcher.py` says how rules match.

Always holds
    * A revoked grant is gone for the next decision, also in running sessions.
    * Each subject has one answer per scope: a later answer replaces the earlier one.
    * Approvals and refusals are treated alike.

Grants are kept in memory; to store them, use `Grants(stored, on_change=store)`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from accord.client.permissions.rule_matcher import ReadRule
from accord.client.permissions.rules import Rule

GRANTS_MAX = 10_000
"""Grants kept; further answers hold once only, since dropping an old refusal would approve."""

LastingScope: TypeAlias = Literal["session", "workspace", "always"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A remembered answer and where it holds.

    `workspace` is the real path of a directory.  `connection` distinguishes sessions of two agents
    that have the same id.  Without `agent` the answer holds for every agent.
    """

    grant_id: str
    rule: Rule
    scope: LastingScope
    session_id: str | None = None
    connection: int = 0
    workspace: str | None = None
    agent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a decision is made."""

    session_id: str
    connection: int = 0
    workspace: str | None = None
    agent: str | None = None

    def has(self, grant: Grant) -> bool:
        """Whether the grant holds here."""
        if grant.agent is not None and grant.agent != self.agent:
            return False
        if grant.scope == "session":
            here = (self.session_id, self.connection)
            return (grant.session_id, grant.connection) == here
        if grant.scope == "workspace":
            return grant.workspace is not None and grant.workspace == self.workspace
        return True


class Grants:
    """The remembered answers, oldest first.  Guards the invariants at the head of this file."""

    def __init__(
        self,
        grants: Iterable[Grant] = (),
        *,
        on_change: Callable[[tuple[Grant, ...]], None] | None = None,
    ) -> None:
        """`on_change` gets all grants after each change, before they are used."""
        self._grants: dict[str, tuple[Grant, ReadRule]] = {
            grant.grant_id: (grant, ReadRule(grant.rule)) for grant in grants
        }
        self._on_change = on_change

    def __iter__(self) -> Iterator[Grant]:
        return iter([grant for grant, _ in self._grants.values()])

    def __len__(self) -> int:
        return len(self._grants)

    def __contains__(self, grant_id: object) -> bool:
        return grant_id in self._grants

    def add(self, rule: Rule, scope: LastingScope, place: Place) -> Grant | None:
        """Remember an answer; None when there are too many."""
        grant = Grant(
            grant_id=f"grant_{os.urandom(8).hex()}",
            rule=rule,
            scope=scope,
            session_id=place.session_id if scope == "session" else None,
            connection=place.connection if scope == "session" else 0,
            workspace=place.workspace if scope == "workspace" else None,
            agent=place.agent,
        )
        for other in self:
            if _subject(other) == _subject(grant):
                del self._grants[other.grant_id]
        if len(self._grants) >= GRANTS_MAX:
            return None
        self._grants[grant.grant_id] = (grant, ReadRule(rule))
        self._changed()
        return grant

    def revoke(self, grant_id: str) -> bool:
        """Forget an answer; False when there is none with this id."""
        if self._grants.pop(grant_id, None) is None:
            return False
        self._changed()
        return True

    def restore(self, grant: Grant) -> bool:
        """Remember a revoked answer again; False if there is a newer one on the same subject."""
        is_newer = any(_subject(other) == _subject(grant) for other in self)
        if is_newer or len(self._grants) >= GRANTS_MAX:
            return False
        self._grants[grant.grant_id] = (grant, ReadRule(grant.rule))
        self._changed()
        return True

    def end_session(self, session_id: str, connection: int = 0) -> None:
        """Forget the answers for a closed session."""
        over = [
            grant.grant_id
            for grant in self
            if grant.scope == "session"
            and (grant.session_id, grant.connection) == (session_id, connection)
        ]
        for grant_id in over:
            del self._grants[grant_id]
        if over:
            self._changed()

    def rules_at(self, place: Place) -> list[ReadRule]:
        """The rules that hold in this place."""
        return [rule for grant, rule in self._grants.values() if place.has(grant)]

    def rule(self, grant_id: str) -> ReadRule:
        """The rule of a grant."""
        return self._grants[grant_id][1]

    def holds(self, read: ReadRule) -> bool:
        """Whether this very rule is still remembered."""
        return any(read is kept for _, kept in self._grants.values())

    def _changed(self) -> None:
        if self._on_change is not None:
            self._on_change(tuple(self))


def _subject(grant: Grant) -> Grant:
    return replace(grant, grant_id="", rule=replace(grant.rule, effect="ask"))

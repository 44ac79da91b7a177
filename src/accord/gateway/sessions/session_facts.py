"""What is known about a session besides its log, and who may do what in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from accord.gateway.access.principal import Principal
from accord.gateway.agents.agent_process import Version
from accord.gateway.configuration.rights import Role


@dataclass
class SessionFacts:
    """What is stored about a session besides its log."""

    session_id: str
    agent: str
    version: Version
    agent_session_id: str
    owner: str
    cwd: str
    # The params that opened it, without the id, and what the agent answered, kept up to date.
    opened_with: dict[str, Any]
    opened: dict[str, Any]
    initialize: dict[str, Any]
    members: dict[str, Role] = field(default_factory=dict)
    title: str | None = None
    # Somebody has chosen the title: the agent does not change it any more.
    is_renamed: bool = False
    updated_at: str | None = None
    turn_open: bool = False
    # Open invitations: the hash of each code, and what it gives.
    invites: dict[str, dict[str, Any]] = field(default_factory=dict)
    # No prompt was sent yet, so that the agent may have forgotten the session.
    unused: bool = True

    def role_of(self, principal: str) -> Role | None:
        """Return what somebody may do here; None if it is nothing."""
        return "admin" if principal == self.owner else self.members.get(principal)


def role_in(facts: SessionFacts, principal: Principal) -> Role | None:
    """Return what somebody may do in a session; None if they may not see it.

    An admin of the agent may do everything, a viewer of the agent only look, and everybody only
    while they may use the agent.
    """
    of_agent = principal.role_for(facts.agent)
    if of_agent is None or of_agent == "admin":
        return of_agent
    here = facts.role_of(principal.name)
    return here if here is None or of_agent == "editor" else of_agent

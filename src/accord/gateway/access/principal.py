"""The user behind a request, once the credentials were checked."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from accord.gateway.configuration.rights import Rights, Role, role_for

OAUTH_PREFIX = "oauth:"
"""In front of a name from an identity provider.  No user in the configuration has such a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A user, and what they may do.

    `name` is who they are: what they own belongs to it.  `identity` also tells apart tokens of one
    user that allow different things, and is what the transport knows a request's sender by: a
    connection that was opened with one of them cannot be used with another.
    """

    name: str
    display_name: str
    rights: Rights = field(default_factory=dict)
    identity: str = ""
    # When the credentials expire, in seconds since 1970; None for never.
    expires_at: float | None = field(default=None, compare=False)

    def role_for(self, agent: str) -> Role | None:
        """Return the role for an agent; None if the principal may not use it."""
        return role_for(self.rights, agent)


def principal_of_token(
    name: str, display_name: str, rights: Rights, expires_at: float
) -> Principal:
    """Return the principal of a token whose user the configuration does not name."""
    told = "\0".join(f"{agent}={role}" for agent, role in sorted(rights.items()))
    digest = hashlib.sha256(told.encode()).hexdigest()[:16]
    return Principal(
        name=OAUTH_PREFIX + name,
        display_name=display_name,
        rights=rights,
        # Always so many characters after the last '#', so that no name can look like another one.
        identity=f"{OAUTH_PREFIX}{name}#{digest}",
        expires_at=expires_at,
    )


__all__ = ["OAUTH_PREFIX", "Principal", "principal_of_token"]

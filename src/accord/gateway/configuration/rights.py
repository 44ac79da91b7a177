"""What a user may do with an agent, as the configuration says it.  Pure.

    viewer    follows sessions that were shared with them
    editor    also starts sessions, and sends prompts in those that were shared with them
    admin     also has every right in everybody's sessions of the agent

Whoever starts a session has every right in it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, Literal, get_args

from accord.configuration.toml_table import Table

Role = Literal["viewer", "editor", "admin"]

ROLES: Final[tuple[Role, ...]] = get_args(Role)
"""From the fewest rights to the most."""

EVERY_AGENT: Final = "*"

Rights = Mapping[str, Role]
"""Agent -> role.  `*` stands for every agent that is not named."""


def includes(role: Role | None, needed: Role) -> bool:
    """Whether a role has all rights of another one."""
    return role is not None and ROLES.index(role) >= ROLES.index(needed)


def role_for(rights: Rights, agent: str) -> Role | None:
    """Return the role for an agent; None if it may not be used."""
    return rights.get(agent) or rights.get(EVERY_AGENT)


def joined(first: Rights, second: Rights) -> dict[str, Role]:
    """Return the rights of a user who has both: for each agent the higher role."""
    names = {*first, *second}
    found = {}
    for name in names:
        roles = [role for one in (first, second) if (role := role_for(one, name)) is not None]
        found[name] = max(roles, key=ROLES.index)
    return found


def read_rights(table: Table, name: str, agents: Collection[str]) -> dict[str, Role]:
    """Read `{ agent = "role", … }`; empty if the key is missing.

    Raises:
        ConfigError: an agent is unknown, or a role is.
    """
    inner = table.table(name)
    found: dict[str, Role] = {}
    for agent in table.text_map(name):
        if agent != EVERY_AGENT and agent not in agents:
            known = ", ".join(sorted(agents)) or "none"
            raise inner.wrong(agent, f"must be one of the agents ({known}), or *")
        said = inner.text(agent, among=ROLES)
        for role in ROLES:
            if said == role:
                found[agent] = role
    return found


__all__ = [
    "EVERY_AGENT",
    "ROLES",
    "Rights",
    "Role",
    "includes",
    "joined",
    "read_rights",
    "role_for",
]

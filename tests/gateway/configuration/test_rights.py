"""Roles: what one includes, and what two grants give together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.gateway.configuration.rights import ROLES, Role, includes, joined, role_for

AGENTS = st.sampled_from(["*", "codex", "other"])
RIGHTS = st.dictionaries(AGENTS, st.sampled_from(ROLES))


@pytest.mark.parametrize(
    ("role", "needed", "expected"),
    [
        (None, "viewer", False),
        ("viewer", "viewer", True),
        ("viewer", "editor", False),
        ("editor", "viewer", True),
        ("editor", "admin", False),
        ("admin", "editor", True),
    ],
)
def test_a_role_includes_those_below_it(role: Role | None, needed: Role, expected: bool) -> None:
    """Issue 17: viewer, editor, admin."""
    assert includes(role, needed) is expected


@given(RIGHTS, RIGHTS, st.sampled_from(["codex", "other", "third"]))
def test_two_grants_give_the_higher_role_for_each_agent(
    first: dict[str, Role], second: dict[str, Role], agent: str
) -> None:
    """Ours: also where one says `*` and the other names the agent."""
    together = role_for(joined(first, second), agent)
    for role in ROLES:
        of_either = includes(role_for(first, agent), role) or includes(
            role_for(second, agent), role
        )
        assert includes(together, role) is of_either

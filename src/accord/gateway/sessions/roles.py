"""What a person may do in a session: viewer, editor, admin.

Must not know: how requests travel.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

Role: TypeAlias = Literal["viewer", "editor", "admin"]

ROLES: Final[tuple[Role, ...]] = get_args(Role)
"""From the one who may do least to the one who may do everything."""

VIEWER_METHODS: Final = frozenset(
    {"session/load", "session/resume", "session/status", "_accord.session/members"}
)
"""What everybody may do who may see a session."""

ADMIN_METHODS: Final = frozenset(
    {
        "session/close",
        "session/delete",
        "session/archive",
        "session/unarchive",
        "_accord.session/invite",
        "_accord.session/set_role",
        "_accord.session/remove",
    }
)
"""What only an admin may do.  Everything else that names a session needs an editor."""


def role_needed(method: str) -> Role:
    """Return the least role that may send a method."""
    if method in VIEWER_METHODS:
        return "viewer"
    return "admin" if method in ADMIN_METHODS else "editor"


def covers(role: Role, needed: Role) -> bool:
    """Whether somebody with a role may do what needs another."""
    return ROLES.index(role) >= ROLES.index(needed)

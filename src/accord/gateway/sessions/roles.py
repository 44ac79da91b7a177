"""The role that each method needs in a session: viewer, editor or admin.

Must not know: how requests travel.
"""

from __future__ import annotations

from typing import Final

from accord.gateway.configuration.rights import Role

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

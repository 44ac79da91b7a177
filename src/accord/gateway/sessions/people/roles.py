"""The role that each method needs in a session: viewer, editor or admin.

Must not know: how requests travel.
"""

from __future__ import annotations

from typing import Final

from accord.errors import RequestFailed
from accord.gateway.configuration.rights import Role, includes
from accord.jsonrpc.error_codes import PERMISSION_DENIED

VIEWER_METHODS: Final = frozenset(
    {
        "session/load",
        "session/resume",
        "session/status",
        "_accord.session/join",
        "_accord.session/members",
        "_accord.session/presence",
    }
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


def refusal(role: Role | None, method: str) -> tuple[str, dict[str, str]]:
    """Return the sentence and the data that refuse a method to a role."""
    needed = role_needed(method)
    mine = role or "viewer"
    article = "an" if needed[0] in "ae" else "a"
    said = f"{method} needs {article} {needed}; your role is {mine}"
    return said, {"reason": "role", "role": mine, "needed": needed}


def require(role: Role | None, method: str) -> None:
    """Check that a role may send a method.

    Raises:
        RequestFailed: it may not.
    """
    if not includes(role, role_needed(method)):
        said, data = refusal(role, method)
        raise RequestFailed(method, PERMISSION_DENIED, said, data)

"""Permissions of one agent: shared rules and answers, and questions in the right chat.

This module does not know how a question is shown.

Invariants
    * All agents share the rules and the remembered answers; each asks in its own chats.
    * Every decision, and who made it, is reported to the audit log and to the chat.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from accord.client.audit.services import AuditedPermissions, Decided
from accord.client.permissions.permissions import Permissions
from accord.client.permissions.state import Callback


class ChatPermissions(AuditedPermissions):
    """Shared permissions that ask in the chats of one agent.  Create it with `asking`."""

    @classmethod
    def asking(
        cls,
        permissions: Permissions,
        ask: Callback,
        tell: Callable[[Decided, str | None], None],
        refresh: Callable[[], None] | None = None,
    ) -> ChatPermissions:
        """The same rules and remembered answers; questions go to `ask`, one per session."""
        other = cls.of(permissions, tell, refresh)
        assert isinstance(other, ChatPermissions)
        other._shared = replace(other._shared, callback=ask, per_session=True)
        return other


__all__ = ["ChatPermissions"]

"""The login status that one client knows: `auth/status` and its updates (unstable).

What always holds
    * Asking changes nothing and is never answered with an error.
    * A client is told of a status only when it differs from what it was told last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from accord.agent.login.auth_status import AuthStatus
from accord.machine.redacted_logs import logger
from accord.schema import v2
from accord.schema.codec import encode
from accord.schema.struct import UNSET

if TYPE_CHECKING:
    from accord.agent.definition import AgentDefinition
    from accord.agent.serving.wire import Features
    from accord.connection import Connection

STATUS_UPDATE = "auth/status_update"

_log = logger("accord.agent")


class AuthStatusReporter:
    """What one client knows of the login.  v1 and v2 say it alike."""

    def __init__(
        self,
        agent: AgentDefinition,
        connection: Connection,
        features: Features,
        is_authenticated: Callable[[], bool],
    ) -> None:
        self._agent = agent
        self._connection = connection
        self._features = features
        self._is_authenticated = is_authenticated
        self._told: AuthStatus | None = None

    async def answer(self) -> bytes:
        """The result of `auth/status`."""
        self._told = await self._current()
        return encode(v2.AuthStatusResponse(state=self._told.state, accounts=_said(self._told)))

    async def announce(self) -> None:
        """Tell the client if the status is another one now."""
        wanted = self._agent.unstable and self._features.auth_status
        if not wanted or self._connection.error is not None:
            return
        status = await self._current()
        if status == self._told or self._connection.error is not None:
            return
        self._told = status
        update = v2.AuthStatusUpdateNotification(state=status.state, accounts=_said(status))
        self._connection.post(STATUS_UPDATE, encode(update))

    async def _current(self) -> AuthStatus:
        hook = self._agent.auth_status_hook
        if hook is not None:
            try:
                return await hook()
            except Exception:  # noqa: BLE001 - asking is never answered with an error
                _log.exception("the agent's on_auth_status failed")
                return AuthStatus("unknown")
        if self._is_authenticated():
            return AuthStatus("authenticated")
        required = self._agent.login_required
        return AuthStatus("unauthenticated" if required else "not_required")


def _said(status: AuthStatus) -> list[v2.AuthAccount]:
    return [
        v2.AuthAccount(
            label=account.label,
            active=UNSET if account.active is None else account.active,
            name=account.name or UNSET,
            email=account.email or UNSET,
            organization=account.organization or UNSET,
        )
        for account in status.accounts
    ]

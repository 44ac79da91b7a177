"""Whether a client must log in before it can work, and as whom (unstable).

What always holds
    * Asking changes nothing and is never answered with an error.
    * A client is told of a status only when it differs from what it was told last.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from accord.errors import LocalProtocolError
from accord.machine.logs import logger
from accord.schema import v2
from accord.schema.codec import encode
from accord.schema.struct import UNSET

if TYPE_CHECKING:
    from accord.agent.serving.service import Service

_log = logger("accord.agent")

STATUS_UPDATE = "auth/status_update"
STATES = ("authenticated", "unauthenticated", "not_required", "unknown")


@dataclass(frozen=True, slots=True)
class Account:
    """An account to show to the user.  Several may be active at once."""

    label: str
    active: bool | None = None
    name: str | None = None
    email: str | None = None
    organization: str | None = None


@dataclass(frozen=True, slots=True)
class AuthStatus:
    """The state that clients act on, and the accounts that they may show."""

    state: str
    accounts: tuple[Account, ...] = ()

    def __post_init__(self) -> None:
        if self.state not in STATES and not self.state.startswith("_"):
            raise LocalProtocolError(f"no state of a login: {self.state!r}")


StatusHook = Callable[[], Awaitable[AuthStatus]]


class AuthStatusReporter:
    """What one client knows of the login.  v1 and v2 say it alike."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._told: AuthStatus | None = None

    async def answer(self) -> bytes:
        """The result of `auth/status`."""
        self._told = await self._current()
        return encode(v2.AuthStatusResponse(state=self._told.state, accounts=_said(self._told)))

    async def announce(self) -> None:
        """Tell the client if the status is another one now."""
        wanted = self._service.agent.unstable and self._service.wire.features.auth_status
        if not wanted or self._service.connection.error is not None:
            return
        status = await self._current()
        if status == self._told or self._service.connection.error is not None:
            return
        self._told = status
        update = v2.AuthStatusUpdateNotification(state=status.state, accounts=_said(status))
        self._service.connection.post(STATUS_UPDATE, encode(update))

    async def _current(self) -> AuthStatus:
        hook = self._service.agent.auth_status_hook
        if hook is not None:
            try:
                return await hook()
            except Exception:  # noqa: BLE001 - asking is never answered with an error
                _log.exception("the agent's on_auth_status failed")
                return AuthStatus("unknown")
        if self._service.authenticated:
            return AuthStatus("authenticated")
        required = self._service.agent.login_required
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

"""Whether one client is logged in: `authenticate`, `logout`, and requests that need a login.

What always holds of `auth/status` and its updates (unstable)
    * Asking changes nothing and is never answered with an error.
    * A client is told of a status only when it differs from what it was told last.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from accord.agent.serving.wire import Features, Wire
from accord.connection import Connection, IncomingRequest
from accord.errors import RequestError
from accord.machine.redacted_logs import logger
from accord.schema import v2
from accord.schema.codec import encode
from accord.schema.struct import UNSET

if TYPE_CHECKING:
    from datetime import datetime

    # Loaded behind the answer to `initialize`.
    from accord.agent.definition import AgentDefinition
    from accord.agent.login import AuthStatus


STATUS_UPDATE = "auth/status_update"
_log = logger("accord.agent")


class LoginState:
    """The login of one connection."""

    def __init__(self, agent: AgentDefinition, connection: Connection, wire: Wire) -> None:
        self.agent = agent
        self.connection = connection
        self.wire = wire
        self.authenticated = False
        # When the login ends; None is with the connection.
        self.expires: datetime | None = None
        agent.login_states.add(self)

    def require(self) -> None:
        """Refuse until the client has logged in, if the agent requires that."""
        if self.expires is not None:
            from accord.machine import clock

            if clock.now() >= self.expires:
                self.expires, self.authenticated = None, False
        known = self.agent.login_check
        if self.agent.login_required and not self.authenticated and not (known and known()):
            usable = [
                method.described()
                for method in self.agent.auth_methods.values()
                if self.wire.features.terminal_login or not method.is_terminal
            ]
            raise RequestError.authentication_required(auth_methods=usable)

    async def authenticate(self, method_id: str, request: IncomingRequest) -> None:
        """Log in by one of the methods that were offered."""
        method = self.agent.auth_methods.get(method_id)
        if method is None or method.is_terminal:
            raise RequestError.invalid_params(f"unknown auth method {method_id!r}", "$.methodId")
        hook = self.agent.authenticate_hook
        if hook is not None:
            from accord.agent.login import Login

            login = Login(self.connection, self.wire, request, method_id)
            try:
                await hook(method_id, login, {})
            finally:
                login.finish()
        self.authenticated = True
        await self.announce()

    async def logout(self) -> None:
        """Call the program's logout function, and forget the login."""
        if self.agent.logout_hook is not None:
            await self.agent.logout_hook()
        self.authenticated = False
        await self.announce()

    @cached_property
    def auth_status(self) -> AuthStatusReporter:
        """Reports the status of the login to this client (unstable)."""

        return AuthStatusReporter(
            self.agent, self.connection, self.wire.features, lambda: self.authenticated
        )

    async def announce(self) -> None:
        """Report the login status to the client if it has changed (unstable)."""
        if self.agent.unstable:
            await self.auth_status.announce()


class AuthStatusReporter:
    """The login state of one client, the same in v1 and v2."""

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
        """Report the status to the client if it has changed."""
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
        from accord.agent.login import AuthStatus

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

"""Whether one client is logged in: `authenticate`, `logout`, and requests that need a login."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from accord.agent.serving.wire import Wire
from accord.connection import Connection, IncomingRequest
from accord.errors import RequestError

if TYPE_CHECKING:
    from datetime import datetime

    # Loaded behind the answer to `initialize`.
    from accord.agent.definition import AgentDefinition
    from accord.agent.serving.unstable.auth_status_reports import AuthStatusReporter


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
            from accord.agent.login.login import Login

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
        from accord.agent.serving.unstable.auth_status_reports import AuthStatusReporter

        return AuthStatusReporter(
            self.agent, self.connection, self.wire.features, lambda: self.authenticated
        )

    async def announce(self) -> None:
        """Tell the client if the status of its login has changed (unstable)."""
        if self.agent.unstable:
            await self.auth_status.announce()

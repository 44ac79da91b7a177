"""The check of everybody who comes to a gateway: `Access.auth` is the transport's `auth` hook.

What always holds
    * Nobody comes in without a credential: there is always a token, a key or an identity provider.
    * What is wrong with a credential goes to the log, never to its sender, and the credential goes
      to neither.
    * A name from the identity provider is never the name of a user in the configuration, unless the
      configuration says so.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from accord.errors import ConfigError, LocalProtocolError
from accord.gateway.access.api_keys import TOKEN_CHARS_MIN, KeyRing, digest_of
from accord.gateway.access.browser_sessions import BrowserSessions
from accord.gateway.access.credentials import (
    Credential,
    CredentialRefused,
    read_credential,
)
from accord.gateway.access.login_tickets import LoginTickets
from accord.gateway.access.principal import Principal, principal_of_token
from accord.gateway.configuration.config_file import GatewayConfig
from accord.gateway.configuration.rights import EVERY_AGENT, Role
from accord.gateway.configuration.users import TOKEN_USER, User
from accord.machine.clock import seconds as time_of_day
from accord.machine.redacted_logs import logger
from accord.transport.request_headers import is_token
from accord.transport.server.requests import RemoteRequest

if TYPE_CHECKING:
    from accord.gateway.access.issuer_keys import Fetch
    from accord.gateway.access.jwt_verifier import JwtVerifier

KNOWN_TOKEN_USERS_MAX: Final = 10_000
"""Principals of tokens that are remembered by their identity; the one that was away longest is
forgotten first.  It is known again with its next request."""

_log = logger("accord.gateway")


class Access:
    """Guards: a principal is found by its identity only after its credentials were accepted."""

    def __init__(
        self,
        config: GatewayConfig,
        *,
        token: str | None = None,
        fetch: Fetch | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Check credentials as a configuration says; `token` is another one, with every right.

        Raises:
            LocalProtocolError: the token is too short, or there is nothing to come in with.
            ConfigError: the packages for tokens of an identity provider are not installed.
        """
        if token is not None and not (is_token(token) and len(token) >= TOKEN_CHARS_MIN):
            raise LocalProtocolError(
                f"a token is visible ASCII without spaces, at least {TOKEN_CHARS_MIN} characters"
            )
        if token is None and not config.users and config.oauth is None:
            raise LocalProtocolError("there is no token, no user and no identity provider")
        listener = config.listener
        self.browser_sessions = BrowserSessions(
            is_secure=listener.has_secure_cookies, port=listener.port, clock=clock
        )
        self.tickets = LoginTickets(clock=clock)
        self._token_digest = None if token is None else digest_of(token)
        self._fetch = fetch
        self._clock = clock
        # Principals of tokens whose users the configuration does not name, by identity.
        self._of_tokens: OrderedDict[str, Principal] = OrderedDict()
        self.reload(config)

    def reload(self, config: GatewayConfig) -> None:
        """Use another configuration; keys that it does not have are refused from now on.

        What belongs to the listener stays as it was.
        """
        verifier = None
        if config.oauth is not None:
            verifier = _verifier(config, self._fetch, self._clock)
        users = {name: _principal_of(user) for name, user in config.users.items()}
        owners = {key: user.name for user in config.users.values() for key in user.keys}
        if self._token_digest is not None:
            users[TOKEN_USER] = Principal(
                name=TOKEN_USER,
                display_name=TOKEN_USER,
                rights={EVERY_AGENT: "admin"},
                identity=TOKEN_USER,
            )
            owners[self._token_digest] = TOKEN_USER
        self._agents = frozenset(config.agents)
        self._users = users
        self._keys = KeyRing(owners)
        self._verifier = verifier
        self._by_oauth_name = {
            user.oauth_name: user.name for user in config.users.values() if user.oauth_name
        }
        # What tokens allow may have changed with the configuration.
        self._of_tokens.clear()
        self.browser_sessions.end_those_of_tokens()

    async def auth(self, request: RemoteRequest) -> str | None:
        """Return the identity of a request's sender, or None to refuse it."""
        try:
            return (await self.principal_of(request)).identity
        except CredentialRefused as refused:
            sender = request.client or "an unknown address"
            _log.info("a request from %s was refused: %s", sender, refused.reason)
            return None

    async def principal_of(self, request: RemoteRequest) -> Principal:
        """Return who sends a request.

        Raises:
            CredentialRefused: its credentials are missing or wrong.
        """
        return await self.check(read_credential(request, self.browser_sessions.cookie_name))

    async def check(self, credential: Credential) -> Principal:
        """Return whose credential this is.

        Raises:
            CredentialRefused: nobody's, or not at this time.
        """
        secret = credential.secret
        if credential.kind == "cookie":
            return self._of_cookie(secret)
        if credential.kind != "oauth2":
            owner = self._keys.owner(digest_of(secret))
            if owner is not None:
                return self._users[owner]
            if credential.kind == "api_key" or self._verifier is None:
                raise CredentialRefused("unknown_key")
        if self._verifier is None:
            raise CredentialRefused("unknown_key")
        return await self._of_token(self._verifier, secret)

    def principal(self, identity: str) -> Principal | None:
        """Return the principal of an identity that `auth` has returned."""
        return self._users.get(identity) or self._of_tokens.get(identity)

    def rights(self, principal: Principal, agent: str) -> Role | None:
        """Return a principal's role for an agent; None if it may not use it or there is none."""
        return principal.role_for(agent) if agent in self._agents else None

    def begin_browser_session(self, credential: Credential, principal: Principal) -> str:
        """Begin the session of a browser that showed a credential; return the cookie's header."""
        digest = digest_of(credential.secret)
        key = digest if self._keys.owner(digest) is not None else None
        seconds = None
        if principal.expires_at is not None:
            seconds = max(0.0, principal.expires_at - time_of_day())
        return self.browser_sessions.begin(principal, key, seconds)

    def _of_cookie(self, value: str) -> Principal:
        session = self.browser_sessions.find(value)
        if session is None:
            raise CredentialRefused("unknown_session")
        if session.key is None:
            return self._remember(session.principal)
        # A key that was withdrawn takes the sessions along that it began.
        owner = self._keys.owner(session.key)
        if owner is None or owner != session.principal.name:
            self.browser_sessions.end(value)
            raise CredentialRefused("unknown_key")
        return self._users[owner]

    async def _of_token(self, verifier: JwtVerifier, token: str) -> Principal:
        verified = await verifier.verify(token)
        name = self._by_oauth_name.get(verified.name)
        if name is not None:
            user = self._users[name]
            return Principal(
                name=user.name,
                display_name=user.display_name,
                rights=user.rights,
                identity=user.identity,
                expires_at=verified.expires_at,
            )
        if not verified.rights:
            raise CredentialRefused("no_rights")
        return self._remember(
            principal_of_token(
                verified.name, verified.display_name, verified.rights, verified.expires_at
            )
        )

    def _remember(self, principal: Principal) -> Principal:
        if principal.identity not in self._users:
            self._of_tokens[principal.identity] = principal
            self._of_tokens.move_to_end(principal.identity)
            while len(self._of_tokens) > KNOWN_TOKEN_USERS_MAX:
                self._of_tokens.popitem(last=False)
        return principal


def _principal_of(user: User) -> Principal:
    return Principal(
        name=user.name,
        display_name=user.display_name,
        rights=user.rights,
        identity=user.name,
    )


def _verifier(
    config: GatewayConfig, fetch: Fetch | None, clock: Callable[[], float]
) -> JwtVerifier:
    assert config.oauth is not None
    try:
        from accord.gateway.access.https_fetch import fetch as fetch_document
        from accord.gateway.access.issuer_keys import IssuerKeys
        from accord.gateway.access.jwt_verifier import JwtVerifier
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"tokens of an identity provider need the package {error.name}; install accord[gateway]"
        ) from None
    keys = IssuerKeys(config.oauth, fetch or fetch_document, clock)
    return JwtVerifier(config.oauth, keys)


__all__ = ["Access"]

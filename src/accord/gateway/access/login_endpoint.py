"""Where a web page exchanges its token for a cookie, and ends that again.

The page gets its token in the fragment of its URL, which browsers send to nobody, removes it from
the address, and sends it once: `POST /login` with `Authorization: Bearer TOKEN`.  From then on the
browser has a cookie that scripts cannot read.  `POST /logout` ends it.

What always holds
    * Pages of other origins are refused, also those that may use the agents.
    * A cookie is never exchanged for another one: only a token begins a session.
"""

from __future__ import annotations

import json
from typing import Final

from accord.gateway.access.access import Access
from accord.gateway.access.credentials import (
    Credential,
    CredentialRefused,
    cookie_values,
    is_from_own_page,
    read_bearer,
)
from accord.machine.redacted_logs import logger
from accord.transport.server.answers import HttpAnswer, json_answer, text_answer
from accord.transport.server.request_guard import RequestGuard
from accord.transport.server.requests import RemoteRequest

LOGIN_PATH: Final = "/login"
LOGOUT_PATH: Final = "/logout"
# Two browsers of a person may have cookies of the same name from before.
COOKIES_ENDED_MAX: Final = 10

_NO_STORE: Final = ("cache-control", "no-store")

_log = logger("accord.gateway")


class LoginEndpoint:
    """Answers the two paths; the body of a request is not read."""

    def __init__(self, access: Access, guard: RequestGuard) -> None:
        self._access = access
        self._guard = guard

    def serves(self, request: RemoteRequest) -> bool:
        """Whether a request is for one of the two paths."""
        return request.path in (LOGIN_PATH, LOGOUT_PATH) and not request.is_websocket

    async def answer(self, request: RemoteRequest) -> HttpAnswer:
        """Begin or end a browser's session."""
        refusal = self._guard.refusal(request)
        if refusal is not None:
            return text_answer(refusal.status, refusal.reason)
        if request.method != "POST":
            return text_answer(405, "Use POST", ("allow", "POST"))
        if not is_from_own_page(request):
            return text_answer(403, "Only pages of this server log in here")
        if request.path == LOGOUT_PATH:
            return self._log_out(request)
        return await self._log_in(request)

    async def _log_in(self, request: RemoteRequest) -> HttpAnswer:
        try:
            header = request.headers.get("authorization")
            if header is None:
                raise CredentialRefused("missing")
            token = self._access.tickets.redeem(read_bearer(header))
            credential = Credential("bearer", token)
            principal = await self._access.check(credential)
        except CredentialRefused as refused:
            sender = request.client or "an unknown address"
            _log.info("a login from %s was refused: %s", sender, refused.reason)
            return text_answer(
                401, "Credentials are missing or were refused", ("www-authenticate", "Bearer")
            )
        cookie = self._access.begin_browser_session(credential, principal)
        shown = {"name": principal.name, "displayName": principal.display_name}
        return json_answer(200, json.dumps(shown).encode(), _NO_STORE, ("set-cookie", cookie))

    def _log_out(self, request: RemoteRequest) -> HttpAnswer:
        sessions = self._access.browser_sessions
        values = cookie_values(request.headers.get("cookie", ""), sessions.cookie_name)
        for value in list(values)[:COOKIES_ENDED_MAX]:
            sessions.end(value)
        return HttpAnswer(204, headers=(_NO_STORE, ("set-cookie", sessions.forgetting_cookie())))


__all__ = ["LOGIN_PATH", "LOGOUT_PATH", "LoginEndpoint"]

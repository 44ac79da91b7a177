"""`authenticate` of the 2026-02 draft, for logins at the gateway itself (dialect.md, 3.2).

A client of a gateway has shown who it is before it could send this.  So the method confirms that:
credentials of somebody else are refused, and nobody becomes somebody else within a connection.
"""

from __future__ import annotations

from typing import Any

from accord.gateway.access.access import Access
from accord.gateway.access.credentials import CredentialRefused, read_draft_login
from accord.gateway.access.principal import Principal
from accord.machine import clock
from accord.machine.redacted_logs import logger

REFUSED = "The credentials were refused"

_log = logger("accord.gateway")


async def authenticate(access: Access, sender: Principal, params: object) -> dict[str, Any]:
    """Return the result of `authenticate`, sent on a connection of this principal.

    Raises:
        RequestError: the parameters are not valid (-32602).
    """
    try:
        principal = await access.check(read_draft_login(params))
        if principal.name != sender.name:
            raise CredentialRefused("another_principal")
    except CredentialRefused as refused:
        _log.info("a login of %s was refused: %s", sender.name, refused.reason)
        return {"success": False, "error": REFUSED}
    result: dict[str, Any] = {"success": True}
    if principal.expires_at is not None and principal.expires_at <= clock.SECONDS_MAX:
        result["expiresAt"] = clock.timestamp_of(principal.expires_at, "seconds")
    return result


__all__ = ["REFUSED", "authenticate"]

"""An invitation to a session, as an address that can be passed on.  Pure.

It is the address of the gateway with the session and the code behind it, in the part of a URL that
is sent to no server: `https://agents.example.com/acp#invite=SESSION.CODE`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, unquote

_MARK: Final = "invite="


@dataclass(frozen=True, slots=True)
class Invitation:
    """A session, and the code that lets one person in, once."""

    session_id: str
    code: str = field(repr=False)


def invitation_address(url: str, invitation: Invitation) -> str:
    """Return the address that invites to a session behind a URL."""
    session_id, code = quote(invitation.session_id, safe=""), quote(invitation.code, safe="")
    return f"{url.partition('#')[0]}#{_MARK}{session_id}.{code}"


def split_address(address: str) -> tuple[str, Invitation | None]:
    """Return the URL of an address, and the invitation behind it, if there is one."""
    url, _, fragment = address.partition("#")
    session_id, found, code = fragment.removeprefix(_MARK).rpartition(".")
    if not fragment.startswith(_MARK) or not found or not session_id or not code:
        return address, None
    return url, Invitation(unquote(session_id), unquote(code))

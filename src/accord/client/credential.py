"""Credentials for agents that ask for one: agents of the 2026-02 draft of the protocol.

What always holds: a secret is in no text of any object here.
"""

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from accord.errors import LocalProtocolError

API_KEY_VARIABLE = "ACCORD_AGENT_API_KEY"
TOKEN_VARIABLE = "ACCORD_AGENT_TOKEN"

METHODS = frozenset({"api_key", "oauth2", "custom"})


@dataclass(frozen=True, slots=True)
class Credential:
    """The secrets for a login: `method` is api_key, oauth2 or custom."""

    method: str
    secrets: Mapping[str, Any] = field(repr=False)

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            known = ", ".join(sorted(METHODS))
            raise LocalProtocolError(f"a login method is one of {known}, not {self.method!r}")

    @classmethod
    def api_key(cls, key: str) -> "Credential":
        """Log in with a plain key."""
        return cls("api_key", {"apiKey": key})

    @classmethod
    def oauth2(cls, token: str) -> "Credential":
        """Log in with a bearer token."""
        return cls("oauth2", {"accessToken": token, "tokenType": "Bearer"})

    @classmethod
    def custom(cls, **secrets: Any) -> "Credential":
        """Log in with whatever members the agent wants."""
        return cls("custom", secrets)


# Called whenever a login is due; None means that there is no credential, or that the user does not
# want to log in.
CredentialSource: TypeAlias = Callable[[], "Credential | Awaitable[Credential | None] | None"]


def from_environment(variables: Mapping[str, str] | None = None) -> Credential | None:
    """The credential in the environment of this process, if there is one."""
    found = os.environ if variables is None else variables
    key, token = found.get(API_KEY_VARIABLE), found.get(TOKEN_VARIABLE)
    if key:
        return Credential.api_key(key)
    return Credential.oauth2(token) if token else None

"""A gateway's configuration for tests: two users with keys, and an identity provider."""

from __future__ import annotations

from typing import Any

from accord.gateway.access.access import Access
from accord.gateway.access.api_keys import digest_of
from accord.gateway.configuration.agent_settings import AgentSettings
from accord.gateway.configuration.config_file import GatewayConfig
from accord.gateway.configuration.listener import ListenerSettings
from accord.gateway.configuration.oauth import OauthGrant, OauthSettings
from accord.gateway.configuration.users import User
from tests.gateway.access.issuer import AUDIENCE, ISSUER, key_set, private_key, public_jwk

TOKEN = "accord_token-of-the-command-line"
ANN_KEY = "accord_key-of-ann"
BOB_KEY = "accord_key-of-bob"

ANN = User(
    name="ann",
    display_name="Ann",
    rights={"codex": "admin", "*": "viewer"},
    keys=(digest_of(ANN_KEY),),
    oauth_name="ann@example.com",
)
BOB = User(name="bob", display_name="Bob", rights={"codex": "editor"}, keys=(digest_of(BOB_KEY),))
OAUTH = OauthSettings(
    issuer=ISSUER,
    audience=(AUDIENCE,),
    jwks_url=f"{ISSUER}/keys",
    grants=(
        OauthGrant(claim=("scope",), value="accord:codex", rights={"codex": "editor"}),
        OauthGrant(claim=("scope",), value="accord:all", rights={"*": "admin"}),
    ),
)
AGENTS = {name: AgentSettings(name=name, command=(name,)) for name in ("codex", "other")}


def config(*users: User, **changes: Any) -> GatewayConfig:
    """A configuration; without users it has both."""
    made: dict[str, Any] = {
        "agents": AGENTS,
        "users": {user.name: user for user in users or (ANN, BOB)},
        "oauth": OAUTH,
        "listener": ListenerSettings(),
        **changes,
    }
    return GatewayConfig(**made)


async def fetch(url: str) -> bytes:
    """What stands in for the issuer."""
    return key_set(public_jwk(private_key("RSA"), "k1"))


def make_access(made: GatewayConfig | None = None, **options: Any) -> Access:
    """The check with this configuration."""
    return Access(made or config(), **{"token": TOKEN, "fetch": fetch, **options})

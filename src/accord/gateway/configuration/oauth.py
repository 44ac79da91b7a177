"""The identity provider whose tokens a gateway accepts, and what they allow."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from accord.configuration.toml_table import Table
from accord.errors import LocalProtocolError
from accord.gateway.configuration.rights import Rights, joined, read_rights
from accord.transport.remote_address import parse_address

# The key type and the curve that belong to each algorithm.  All of them are asymmetric: whoever can
# check a token must not be able to make one.
ALGORITHMS: Final[Mapping[str, tuple[str, str | None]]] = {
    "RS256": ("RSA", None),
    "RS384": ("RSA", None),
    "RS512": ("RSA", None),
    "PS256": ("RSA", None),
    "PS384": ("RSA", None),
    "PS512": ("RSA", None),
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "EdDSA": ("OKP", "Ed25519"),
}
DEFAULT_ALGORITHMS: Final = ("RS256", "PS256", "ES256", "EdDSA")
LEEWAY_SECONDS: Final = 30
LEEWAY_SECONDS_MAX: Final = 300
GRANTS_MAX: Final = 100
DISCOVERY_PATH: Final = "/.well-known/openid-configuration"


@dataclass(frozen=True, slots=True, kw_only=True)
class OauthGrant:
    """Rights for tokens in which a claim has a value.

    `claim` is the way to the claim: its name, or the names of the objects around it first.
    """

    claim: tuple[str, ...]
    value: str
    rights: Rights

    def applies_to(self, claims: Mapping[str, Any]) -> bool:
        """Whether the claim is this text, or a list or a scope that has it."""
        found: Any = claims
        for name in self.claim:
            found = found.get(name) if isinstance(found, Mapping) else None
        if isinstance(found, str):
            # Scopes are one text with spaces between them.
            return self.value == found or self.value in found.split(" ")
        return isinstance(found, list) and self.value in found


@dataclass(frozen=True, slots=True, kw_only=True)
class OauthSettings:
    """One issuer.  Without `jwks_url` it is looked up at the issuer (OpenID Connect discovery)."""

    issuer: str
    audience: tuple[str, ...]
    jwks_url: str | None = None
    algorithms: tuple[str, ...] = DEFAULT_ALGORITHMS
    name_claim: str = "sub"
    display_name_claim: str = "name"
    leeway_seconds: int = LEEWAY_SECONDS
    # What every valid token allows.
    rights: Rights = field(default_factory=dict)
    grants: tuple[OauthGrant, ...] = ()

    def rights_of(self, claims: Mapping[str, Any]) -> Rights:
        """Return what the claims of a valid token allow."""
        found = self.rights
        for grant in self.grants:
            if grant.applies_to(claims):
                found = joined(found, grant.rights)
        return found


def read_oauth(table: Table, agents: Collection[str]) -> OauthSettings | None:
    """Read the table `oauth`; None if there is none.

    Raises:
        ConfigError: it does not describe an issuer.
    """
    if "oauth" not in table:
        return None
    inner = table.table("oauth")
    issuer = inner.text("issuer")
    if issuer is None:
        raise inner.wrong("issuer", "is missing; give the issuer as its tokens name it")
    audience = inner.one_or_more("audience")
    if not audience:
        # Otherwise tokens for any other service of the issuer would be accepted here.
        raise inner.wrong("audience", "is missing; give the audience of tokens for this gateway")
    _check_url(inner, "issuer", issuer)
    jwks_url = inner.text("jwks_url")
    if jwks_url is not None:
        _check_url(inner, "jwks_url", jwks_url)
    leeway = inner.whole("leeway_seconds", least=0)
    leeway = LEEWAY_SECONDS if leeway is None else leeway
    if leeway > LEEWAY_SECONDS_MAX:
        raise inner.wrong("leeway_seconds", f"must be at most {LEEWAY_SECONDS_MAX}")
    return OauthSettings(
        issuer=issuer,
        audience=audience,
        jwks_url=jwks_url,
        algorithms=_algorithms(inner),
        name_claim=inner.text("name_claim") or "sub",
        display_name_claim=inner.text("display_name_claim") or "name",
        leeway_seconds=leeway,
        rights=read_rights(inner, "agents", agents),
        grants=_grants(inner, agents),
    )


def _algorithms(table: Table) -> tuple[str, ...]:
    said = table.one_or_more("algorithms")
    if said is None:
        return DEFAULT_ALGORITHMS
    if not said or not all(one in ALGORITHMS for one in said):
        raise table.wrong("algorithms", f"must be among {', '.join(ALGORITHMS)}")
    return said


def _grants(table: Table, agents: Collection[str]) -> tuple[OauthGrant, ...]:
    tables = table.list_of_tables("grant")
    if len(tables) > GRANTS_MAX:
        raise table.wrong("grant", f"there are more than {GRANTS_MAX}")
    return tuple(_grant(one, agents) for one in tables)


def _grant(table: Table, agents: Collection[str]) -> OauthGrant:
    value = table.text("value")
    if value is None:
        raise table.wrong("value", "is missing; give the scope, group or role")
    rights = read_rights(table, "agents", agents)
    if not rights:
        raise table.wrong("agents", 'is missing; name agents and roles, as { codex = "editor" }')
    return OauthGrant(claim=table.one_or_more("claim") or ("scope",), value=value, rights=rights)


def _check_url(table: Table, name: str, url: str) -> None:
    try:
        address = parse_address(url)
        is_safe = address.scheme == "https" or (address.scheme == "http" and address.is_loopback)
    except LocalProtocolError:
        is_safe = False
    if not is_safe:
        raise table.wrong(name, "must be a URL with https://; http:// leads to this computer only")


__all__ = ["ALGORITHMS", "OauthGrant", "OauthSettings", "read_oauth"]

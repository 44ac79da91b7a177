"""Bearer tokens that an identity provider signed (JWT, RFC 7519 and RFC 8725)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import jwt

from accord.gateway.access.credentials import CredentialRefused, Reason
from accord.gateway.access.issuer_keys import IssuerKeys
from accord.gateway.access.jwks import KID_CHARS_MAX
from accord.gateway.configuration.oauth import OauthSettings
from accord.gateway.configuration.rights import Rights
from accord.machine.console.control_characters import visible_line

NAME_CHARS_MAX: Final = 200
DISPLAY_NAME_CHARS_MAX: Final = 100
REQUIRED_CLAIMS: Final = ("exp", "iss", "aud")
_DOTS: Final = 2

# Beside its own, `jwt` raises some of Python's for claims and headers of odd types.
_ERRORS: Final = (
    jwt.PyJWTError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
# The first that fits; the classes of `jwt` derive from each other.
_REASONS: Final[tuple[tuple[type[Exception], Reason], ...]] = (
    (jwt.ExpiredSignatureError, "expired"),
    (jwt.ImmatureSignatureError, "not_yet_valid"),
    (jwt.InvalidAudienceError, "wrong_audience"),
    (jwt.InvalidIssuerError, "wrong_issuer"),
    (jwt.InvalidSignatureError, "bad_signature"),
    (jwt.InvalidAlgorithmError, "wrong_algorithm"),
    (jwt.InvalidKeyError, "wrong_algorithm"),
)


@dataclass(frozen=True, slots=True)
class VerifiedToken:
    """What a valid token says of its user."""

    name: str
    display_name: str
    expires_at: float
    rights: Rights = field(default_factory=dict)


def looks_like_jwt(token: str) -> bool:
    """Whether a token has the three parts of a signed JWT."""
    return token.count(".") == _DOTS


class JwtVerifier:
    """Checks tokens of one issuer."""

    def __init__(self, settings: OauthSettings, keys: IssuerKeys) -> None:
        self._settings = settings
        self._keys = keys

    async def verify(self, token: str) -> VerifiedToken:
        """Return what a token says, after everything about it was checked.

        Raises:
            CredentialRefused: something about it is wrong.
        """
        if not looks_like_jwt(token):
            raise CredentialRefused("not_a_jwt")
        algorithm, kid = self._read_header(token)
        key = await self._keys.key_for(kid, algorithm)
        settings = self._settings
        try:
            claims = jwt.decode(
                token,
                key.key,
                algorithms=[key.algorithm],
                audience=settings.audience,
                issuer=settings.issuer,
                leeway=settings.leeway_seconds,
                options={"require": list(REQUIRED_CLAIMS), "enforce_minimum_key_length": True},
            )
            expires_at = float(claims["exp"])
        except _ERRORS as error:
            raise CredentialRefused(_reason_of(error)) from None
        name = _text(claims, settings.name_claim, NAME_CHARS_MAX)
        if name is None:
            raise CredentialRefused("bad_claims")
        shown = _text(claims, settings.display_name_claim, DISPLAY_NAME_CHARS_MAX)
        return VerifiedToken(name, shown or name, expires_at, settings.rights_of(claims))

    def _read_header(self, token: str) -> tuple[str, str | None]:
        try:
            header = jwt.get_unverified_header(token)
        except _ERRORS:
            raise CredentialRefused("malformed") from None
        algorithm, kid = header.get("alg"), header.get("kid")
        # Before anything is fetched or computed for it.
        if not isinstance(algorithm, str) or algorithm not in self._settings.algorithms:
            raise CredentialRefused("wrong_algorithm")
        if kid is not None and (not isinstance(kid, str) or len(kid) > KID_CHARS_MAX):
            raise CredentialRefused("malformed")
        return algorithm, kid


def _reason_of(error: Exception) -> Reason:
    for kind, reason in _REASONS:
        if isinstance(error, kind):
            return reason
    return "bad_claims"


def _text(claims: Mapping[str, Any], name: str, chars_max: int) -> str | None:
    """Return a claim that is a visible text of a reasonable length."""
    value = claims.get(name)
    if not isinstance(value, str) or not value.strip() or len(value) > chars_max:
        return None
    # Two names that differ must look different wherever they are shown.
    return value if visible_line(value) == value else None


__all__ = ["JwtVerifier", "VerifiedToken", "looks_like_jwt"]

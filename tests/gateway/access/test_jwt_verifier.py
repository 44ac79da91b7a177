"""Tokens of an identity provider: every way in which one can be wrong."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from accord.gateway.access.credentials import CredentialRefused
from accord.gateway.access.issuer_keys import IssuerKeys
from accord.gateway.access.jwt_verifier import JwtVerifier, VerifiedToken
from accord.gateway.configuration.oauth import OauthGrant, OauthSettings
from accord.machine.console.control_characters import visible_line
from tests.gateway.access.issuer import (
    AUDIENCE,
    ISSUER,
    Clock,
    claims,
    key_set,
    now,
    private_key,
    public_jwk,
    raw_token,
    token,
)

SETTINGS = OauthSettings(
    issuer=ISSUER,
    audience=(AUDIENCE, "https://agents.example"),
    jwks_url=f"{ISSUER}/keys",
    rights={"codex": "viewer"},
    grants=(OauthGrant(claim=("scope",), value="accord:codex", rights={"codex": "editor"}),),
)
RSA, EC, ED, STRANGER = (
    private_key("RSA"),
    private_key("P-256"),
    private_key("Ed25519"),
    private_key("RSA", 1),
)
KEYS = key_set(public_jwk(RSA, "k1"), public_jwk(EC, "ec"), public_jwk(ED, "ed", alg="EdDSA"))
PEM = RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def verifier(**changes: Any) -> JwtVerifier:
    async def fetch(url: str) -> bytes:
        return KEYS

    settings = OauthSettings(
        **{name: getattr(SETTINGS, name) for name in SETTINGS.__slots__} | changes
    )
    return JwtVerifier(settings, IssuerKeys(settings, fetch, Clock()))


def changed(made: str, part: int) -> str:
    """A token of which the first character of a part is another one."""
    parts = made.split(".")
    first = "B" if parts[part][0] == "A" else "A"
    parts[part] = first + parts[part][1:]
    return ".".join(parts)


def hs256_with_public_key() -> str:
    """The classic: what everybody may know is used as the secret."""
    unsigned = raw_token({"alg": "HS256", "kid": "k1"}, claims()).rpartition(".")[0]
    signature = hmac.new(PEM, unsigned.encode(), hashlib.sha256).digest()
    return f"{unsigned}.{raw_token(b'', b'', signature).rpartition('.')[2]}"


def claims_of_someone_else() -> str:
    """The signature of one token under the claims of another."""
    head, _, signature = token().split(".")
    _, payload, _ = token(sub="bob").split(".")
    return f"{head}.{payload}.{signature}"


HOUR = 3600
WRONG: dict[str, tuple[Callable[[], str], str]] = {
    "not a token": (lambda: "accord_0123456789", "not_a_jwt"),
    "two parts": (lambda: "a.b", "not_a_jwt"),
    "five parts, encrypted": (lambda: "a.b.c.d.e", "not_a_jwt"),
    "dots": (lambda: "..", "malformed"),
    "not base64": (lambda: "*.*.*", "malformed"),
    "a header that is not JSON": (lambda: raw_token(b"{", claims()), "malformed"),
    "a header that is a list": (lambda: raw_token([], claims()), "malformed"),
    "a deep header": (lambda: raw_token(b"[" * 5000, claims()), "malformed"),
    "no alg": (lambda: raw_token({"kid": "k1"}, claims()), "wrong_algorithm"),
    "none": (lambda: raw_token({"alg": "none", "kid": "k1"}, claims(), b""), "wrong_algorithm"),
    "None": (lambda: raw_token({"alg": "None", "kid": "k1"}, claims(), b""), "wrong_algorithm"),
    "a list of algs": (lambda: raw_token({"alg": ["RS256"]}, claims()), "wrong_algorithm"),
    "HS256 with a public key": (hs256_with_public_key, "wrong_algorithm"),
    "HS256 with a guess": (
        lambda: token("x" * 32, "HS256"),
        "wrong_algorithm",
    ),
    "an algorithm that is not wanted": (lambda: token(algorithm="RS512"), "wrong_algorithm"),
    "ES256 by the id of an RSA key": (lambda: token(EC, "ES256", "k1"), "unknown_kid"),
    "a number for a kid": (lambda: raw_token({"alg": "RS256", "kid": 1}, claims()), "malformed"),
    "a huge kid": (
        lambda: raw_token({"alg": "RS256", "kid": "k" * 300}, claims()),
        "malformed",
    ),
    "an unknown kid": (lambda: token(kid="k9"), "unknown_kid"),
    "a key in the header": (
        lambda: token(STRANGER, kid="k9", headers={"jwk": public_jwk(STRANGER)}),
        "unknown_kid",
    ),
    "keys at another URL": (
        lambda: token(STRANGER, headers={"jku": "https://evil.example/keys"}),
        "bad_signature",
    ),
    "another key with our id": (lambda: token(STRANGER), "bad_signature"),
    "a changed signature": (lambda: changed(token(), 2), "bad_signature"),
    "no signature": (lambda: token().rpartition(".")[0] + ".", "bad_signature"),
    "claims of somebody else": (claims_of_someone_else, "bad_signature"),
    "an unknown critical header": (
        lambda: token(headers={"crit": ["exp2"], "exp2": 1}),
        "malformed",
    ),
    "expired": (lambda: token(exp=now() - HOUR), "expired"),
    "expired at the end of the leeway": (lambda: token(exp=now() - 31), "expired"),
    "not yet valid": (lambda: token(nbf=now() + HOUR), "not_yet_valid"),
    "issued in the future": (lambda: token(iat=now() + HOUR), "not_yet_valid"),
    "another issuer": (lambda: token(iss="https://evil.example"), "wrong_issuer"),
    "an issuer with a slash more": (lambda: token(iss=f"{ISSUER}/"), "wrong_issuer"),
    "another audience": (lambda: token(aud="other"), "wrong_audience"),
    "other audiences": (lambda: token(aud=["other", "more"]), "wrong_audience"),
    "an audience that begins alike": (lambda: token(aud=f"{AUDIENCE}2"), "wrong_audience"),
    "an audience of numbers": (lambda: token(aud=[1]), "wrong_audience"),
    "no expiry": (lambda: token(exp=None), "bad_claims"),
    "no issuer": (lambda: token(iss=None), "bad_claims"),
    "no audience": (lambda: token(aud=None), "bad_claims"),
    "an empty audience": (lambda: token(aud=""), "bad_claims"),
    "no name": (lambda: token(sub=None), "bad_claims"),
    "an empty name": (lambda: token(sub=" "), "bad_claims"),
    "a number for a name": (lambda: token(sub=7), "bad_claims"),
    "a name with an escape": (lambda: token(sub="ann\x1b[31m"), "bad_claims"),
    "a name with a line end": (lambda: token(sub="ann\nbob"), "bad_claims"),
    "a name with half a pair": (lambda: token(sub="ann\ud83d"), "bad_claims"),
    "a name with nothing in it that is drawn": (lambda: token(sub="ann\u200b"), "bad_claims"),
    "a long name": (lambda: token(sub="a" * 201), "bad_claims"),
    "an expiry that is a text": (lambda: token(exp="never"), "bad_claims"),
    "an expiry without end": (lambda: token(exp=float("inf")), "bad_claims"),
    "an expiry that is not a number": (lambda: token(exp=float("nan")), "bad_claims"),
    "an expiry that is a list": (lambda: token(exp=[9999999999]), "bad_claims"),
    "an expiry of a thousand digits": (lambda: token(exp=10**999), "bad_claims"),
}


@pytest.mark.parametrize(("make", "reason"), WRONG.values(), ids=WRONG)
async def test_a_wrong_token_is_refused_for_its_reason(
    make: Callable[[], str], reason: str
) -> None:
    """Issue 17; RFC 7519, RFC 8725."""
    with pytest.raises(CredentialRefused) as refused:
        await verifier().verify(make())
    assert refused.value.reason == reason


RIGHT: dict[str, Callable[[], str]] = {
    "RSA": token,
    "PSS": lambda: token(algorithm="PS256"),
    "an elliptic curve": lambda: token(EC, "ES256", "ec"),
    "Ed25519": lambda: token(ED, "EdDSA", "ed"),
    "no kid, and one key for the algorithm": lambda: token(kid=None),
    "several audiences": lambda: token(aud=["other", AUDIENCE]),
    "the other audience": lambda: token(aud="https://agents.example"),
    "expired within the leeway": lambda: token(exp=now() - 5),
    "valid soon, within the leeway": lambda: token(nbf=now() + 5),
    "a type": lambda: token(headers={"typ": "at+jwt"}),
}


@pytest.mark.parametrize("make", RIGHT.values(), ids=RIGHT)
async def test_a_right_token_is_accepted(make: Callable[[], str]) -> None:
    """Issue 17: the table of wrong ones would pass if nothing were right."""
    found = await verifier().verify(make())
    assert (found.name, found.display_name, found.rights) == ("ann", "Ann", {"codex": "editor"})
    assert found.expires_at > now() - 100


async def test_rights_and_names_come_from_the_claims_that_are_configured() -> None:
    """Issue 17: the claim for the name; claims and scopes give rights."""
    found = await verifier(name_claim="email").verify(token(email="ann@example.com", scope="x"))
    assert found == VerifiedToken("ann@example.com", "Ann", found.expires_at, {"codex": "viewer"})
    # A display name that cannot be shown is replaced.
    assert (await verifier().verify(token(name="a\x1b[2J"))).display_name == "ann"
    assert (await verifier().verify(token(name=["x"]))).display_name == "ann"


async def test_leeway_is_what_is_configured() -> None:
    """Issue 17."""
    with pytest.raises(CredentialRefused):
        await verifier(leeway_seconds=0).verify(token(exp=now() - 5))
    await verifier(leeway_seconds=300).verify(token(exp=now() - 200))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
)
HEADER = st.dictionaries(
    st.sampled_from(["alg", "kid", "typ", "crit", "b64"]), JSON | st.just("RS256")
)


@given(JSON | HEADER, JSON, st.binary(max_size=80))
async def test_any_token_is_refused_and_not_an_exception(
    header: object, payload: object, signature: bytes
) -> None:
    """Ours: bad input is a refusal."""
    with pytest.raises(CredentialRefused):
        await verifier().verify(raw_token(header, payload, signature))


CLAIM = st.sampled_from(["exp", "nbf", "iat", "iss", "aud", "sub", "jti", "name", "scope"])


@given(st.dictionaries(CLAIM, JSON))
async def test_any_signed_claims_are_a_user_or_refused(odd: dict[str, Any]) -> None:
    """Ours: an issuer may be careless, too."""
    unsigned = {**claims(), **odd}
    made = jwt.api_jws.encode(json.dumps(unsigned).encode(), RSA, "RS256", headers={"kid": "k1"})
    try:
        found = await verifier().verify(made)
    except CredentialRefused:
        return
    for name in (found.name, found.display_name):
        assert visible_line(name) == name

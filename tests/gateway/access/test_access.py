"""Who may enter a gateway: every kind of wrong credential, and who the right ones are."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Literal

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from accord.errors import ConfigError, LocalProtocolError
from accord.gateway.access import access as access_module
from accord.gateway.access.access import Access
from accord.gateway.access.api_keys import digest_of
from accord.gateway.access.credentials import Credential, CredentialRefused
from accord.gateway.configuration.config_file import GatewayConfig
from accord.transport.server.authorization import principal_of as transport_principal_of
from accord.transport.server.requests import RemoteRequest
from tests.gateway.access.gateway_users import (
    AGENTS,
    ANN,
    ANN_KEY,
    BOB,
    BOB_KEY,
    TOKEN,
    config,
    fetch,
    make_access,
)
from tests.gateway.access.issuer import Clock, claims, now, private_key, raw_token, token


def request(authorization: str | None = None, **headers: str) -> RemoteRequest:
    """A request as it comes from the transport."""
    found = {name.replace("_", "-"): value for name, value in headers.items()}
    if authorization is not None:
        found["authorization"] = authorization
    return RemoteRequest(method="POST", path="/acp", query="", headers=found, client="192.0.2.7")


def bearer(secret: str, **headers: str) -> RemoteRequest:
    return request(f"Bearer {secret}", **headers)


def public_pem() -> str:
    key = private_key("RSA").public_key()
    return bytes(key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)).hex()


COOKIE = {"host": "localhost", "origin": "http://localhost", "cookie": "accord-8000=made-up"}
WRONG: dict[str, tuple[Callable[[], RemoteRequest], str]] = {
    "missing": (request, "missing"),
    "another scheme": (lambda: request(f"Basic {ANN_KEY}"), "wrong_scheme"),
    "no scheme": (lambda: request(ANN_KEY), "wrong_scheme"),
    "an empty token": (lambda: request("Bearer "), "missing"),
    "two headers": (lambda: request(f"Bearer {ANN_KEY}, Bearer {BOB_KEY}"), "malformed"),
    "beyond ASCII": (lambda: bearer("schlüssel"), "malformed"),
    "with a line end": (lambda: bearer(f"{ANN_KEY}\n"), "malformed"),
    "huge": (lambda: bearer("x" * 100_000), "too_long"),
    "a wrong key": (lambda: bearer("accord_wrong"), "not_a_jwt"),
    "a key that is cut": (lambda: bearer(ANN_KEY[:-1]), "not_a_jwt"),
    "a key in capital letters": (lambda: bearer(ANN_KEY.upper()), "not_a_jwt"),
    "the hash of a key": (lambda: bearer(f"sha256:{digest_of(ANN_KEY).hex()}"), "not_a_jwt"),
    "the name of a user": (lambda: bearer("ann"), "not_a_jwt"),
    "a key in another header": (lambda: request(None, x_api_key=ANN_KEY), "missing"),
    "an expired token": (lambda: bearer(token(exp=now() - 99)), "expired"),
    "a token for later": (lambda: bearer(token(nbf=now() + 99)), "not_yet_valid"),
    "a token for others": (lambda: bearer(token(aud="other")), "wrong_audience"),
    "a token of others": (lambda: bearer(token(iss="https://x.example")), "wrong_issuer"),
    "a token without a signature": (
        lambda: bearer(raw_token({"alg": "none"}, claims(), b"")),
        "wrong_algorithm",
    ),
    "a token with a shared secret": (
        lambda: bearer(token(public_pem(), "HS256")),
        "wrong_algorithm",
    ),
    "a token with an unknown key": (lambda: bearer(token(kid="k2")), "unknown_kid"),
    "a token with a wrong key": (lambda: bearer(token(private_key("RSA", 1))), "bad_signature"),
    "a token that allows nothing": (lambda: bearer(token(scope="openid")), "no_rights"),
    "a made-up cookie": (lambda: request(None, **COOKIE), "unknown_session"),
    "a cookie of another site": (
        lambda: request(None, **{**COOKIE, "origin": "http://evil.example"}),
        "cross_site",
    ),
    "a token in the cookie": (
        lambda: request(None, **{**COOKIE, "cookie": f"accord-8000={ANN_KEY}"}),
        "unknown_session",
    ),
}


@pytest.mark.parametrize(("make", "reason"), WRONG.values(), ids=WRONG)
async def test_every_wrong_credential_is_refused_and_logged_without_itself(
    make: Callable[[], RemoteRequest], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Issue 17: who may enter; tokens never in logs."""
    caplog.set_level(logging.DEBUG)
    access, asked = make_access(), make()
    with pytest.raises(CredentialRefused) as refused:
        await access.principal_of(asked)
    assert refused.value.reason == reason
    assert await access.auth(asked) is None
    assert await transport_principal_of(access.auth, asked, 5) is None
    assert f"a request from 192.0.2.7 was refused: {reason}" in caplog.text
    for value in asked.headers.values():
        secret = value.rpartition(" ")[2].rpartition("=")[2]
        assert not secret or secret in ("localhost", "ann") or secret not in caplog.text


RIGHT: dict[str, tuple[Callable[[], RemoteRequest], str, dict[str, str | None]]] = {
    "the token of the command line": (
        lambda: bearer(TOKEN),
        "user",
        {"codex": "admin", "other": "admin", "none": None},
    ),
    "a key": (lambda: bearer(ANN_KEY), "ann", {"codex": "admin", "other": "viewer"}),
    "another key": (lambda: bearer(BOB_KEY), "bob", {"codex": "editor", "other": None}),
    "a token": (lambda: bearer(token()), "oauth:ann", {"codex": "editor", "other": None}),
    "a token of a user of the file": (
        lambda: bearer(token(sub="ann@example.com", scope="accord:all")),
        "ann",
        {"codex": "admin", "other": "viewer"},
    ),
    "a token with the name of a user of the file": (
        lambda: bearer(token(sub="bob", scope="accord:all")),
        "oauth:bob",
        {"codex": "admin", "other": "admin", "none": None},
    ),
}


@pytest.mark.parametrize(("make", "name", "rights"), RIGHT.values(), ids=RIGHT)
async def test_a_right_credential_is_its_user_with_their_rights(
    make: Callable[[], RemoteRequest], name: str, rights: dict[str, str | None]
) -> None:
    """Issue 17: rights per agent; a token of one user is never another's."""
    access = make_access()
    identity = await transport_principal_of(access.auth, make(), 5)
    assert identity is not None
    principal = access.principal(identity)
    assert principal is not None
    assert principal.name == name
    assert {agent: access.rights(principal, agent) for agent in rights} == rights


async def test_tokens_that_allow_different_things_are_different_identities() -> None:
    """Ours: a token for little must not use the connection of one for much."""
    access = make_access()
    narrow = await access.auth(bearer(token()))
    again = await access.auth(bearer(token(exp=now() + 10)))
    wide = await access.auth(bearer(token(scope="accord:all")))
    assert narrow == again != wide
    for identity, role in ((narrow, "editor"), (wide, "admin")):
        assert identity is not None
        principal = access.principal(identity)
        assert principal is not None
        assert principal.name == "oauth:ann"
        assert access.rights(principal, "codex") == role


async def test_a_name_cannot_look_like_another_identity() -> None:
    """Ours: the identity ends with a digest of fixed length."""
    access = make_access()
    identity = await access.auth(bearer(token()))
    assert identity is not None
    other = await access.auth(bearer(token(sub=identity.removeprefix("oauth:"))))
    assert other is not None
    assert other != identity
    assert access.principal("oauth:ann") is None
    assert access.principal("") is None


async def test_a_key_that_was_withdrawn_is_refused_with_its_browsers() -> None:
    """Issue 17: revoked keys."""
    access = make_access()
    ann = await access.principal_of(bearer(ANN_KEY))
    cookie = access.begin_browser_session(Credential("bearer", ANN_KEY), ann).partition(";")[0]
    asked = request(None, **{**COOKIE, "cookie": cookie})
    assert await access.auth(asked) == "ann"
    access.reload(config(BOB))
    with pytest.raises(CredentialRefused) as refused:
        await access.principal_of(asked)
    assert refused.value.reason == "unknown_key"
    assert await access.auth(bearer(ANN_KEY)) is None
    assert await access.auth(bearer(BOB_KEY)) == "bob"
    assert access.principal("ann") is None
    # It does not come back with the key.
    access.reload(config(ANN))
    assert await access.auth(asked) is None
    assert await access.auth(bearer(ANN_KEY)) == "ann"


async def test_a_key_that_became_somebody_elses_does_not_take_the_browser_along() -> None:
    """Ours: the session is bound to its principal."""
    access = make_access()
    ann = await access.principal_of(bearer(ANN_KEY))
    cookie = access.begin_browser_session(Credential("bearer", ANN_KEY), ann).partition(";")[0]
    access.reload(config(BOB_WITH_KEY_OF_ANN))
    assert await access.auth(request(None, **{**COOKIE, "cookie": cookie})) is None
    assert await access.auth(bearer(ANN_KEY)) == "bob"


BOB_WITH_KEY_OF_ANN = type(BOB)(
    name="bob", display_name="Bob", rights=BOB.rights, keys=(digest_of(ANN_KEY),)
)


async def test_browsers_with_tokens_log_in_again_after_a_change() -> None:
    """Ours: what their tokens allow may have changed."""
    access = make_access()
    made = token()
    principal = await access.principal_of(bearer(made))
    cookie = access.begin_browser_session(Credential("bearer", made), principal).partition(";")[0]
    asked = request(None, **{**COOKIE, "cookie": cookie})
    assert await access.auth(asked) == principal.identity
    access.reload(config(oauth=None))
    assert await access.auth(asked) is None
    with pytest.raises(CredentialRefused) as refused:
        await access.principal_of(bearer(made))
    assert refused.value.reason == "unknown_key"


async def test_a_browser_with_a_token_is_out_when_that_expires() -> None:
    """Issue 17: expiry."""
    clock = Clock()
    access = make_access(clock=clock)
    made = token(exp=now() + 100)
    principal = await access.principal_of(bearer(made))
    cookie = access.begin_browser_session(Credential("bearer", made), principal).partition(";")[0]
    asked = request(None, **{**COOKIE, "cookie": cookie})
    clock.now += 50
    assert await access.auth(asked) == principal.identity
    clock.now += 60
    assert await access.auth(asked) is None


async def test_without_an_identity_provider_there_are_no_tokens_of_one() -> None:
    """Ours: also where a login says that it has one."""
    access = make_access(config(oauth=None))
    kinds: tuple[Literal["bearer", "oauth2"], ...] = ("bearer", "oauth2")
    for kind in kinds:
        with pytest.raises(CredentialRefused) as refused:
            await access.check(Credential(kind, token()))
        assert refused.value.reason == "unknown_key"


async def test_an_issuer_that_is_away_refuses_its_tokens_and_nobody_else() -> None:
    """Issue 17: network failures refuse with a log, not a crash."""
    from accord.gateway.access.https_fetch import FetchFailed

    async def away(url: str) -> bytes:
        raise FetchFailed("it is away")

    access = make_access(fetch=away)
    with pytest.raises(CredentialRefused) as refused:
        await access.principal_of(bearer(token()))
    assert refused.value.reason == "keys_unavailable"
    assert await access.auth(bearer(ANN_KEY)) == "ann"


async def test_remembered_identities_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: an identity provider may have more users than memory is for."""
    monkeypatch.setattr(access_module, "KNOWN_TOKEN_USERS_MAX", 2)
    access = make_access()
    identities = [await access.auth(bearer(token(sub=name))) for name in ("a", "b", "c")]
    # A user of the file is not one of them.
    assert await access.auth(bearer(token(sub="ann@example.com"))) == "ann"
    known = [identity is not None and access.principal(identity) for identity in identities]
    assert [bool(one) for one in known] == [False, True, True]


@pytest.mark.parametrize("wrong", ["", "short", "with spaces in between", "schlüssel" * 3])
def test_a_token_that_could_be_guessed_or_not_be_sent_is_refused(wrong: str) -> None:
    """Ours."""
    with pytest.raises(LocalProtocolError) as refused:
        Access(config(), token=wrong)
    assert not wrong or wrong not in str(refused.value)


def test_there_is_always_a_credential() -> None:
    """Issue 17: a token always."""
    with pytest.raises(LocalProtocolError, match="no token"):
        Access(GatewayConfig(agents=AGENTS))


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: only tokens of an identity provider need them."""
    for name in [name for name in sys.modules if name.startswith("accord.gateway.access.j")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "accord.gateway.access.issuer_keys")
    monkeypatch.setitem(sys.modules, "jwt", None)
    Access(config(oauth=None), token=TOKEN)
    with pytest.raises(ConfigError, match=r"package jwt.*accord\[gateway\]"):
        Access(config(), token=TOKEN, fetch=fetch)


def test_the_token_itself_is_not_kept() -> None:
    """Issue 17: tokens are known by their hash."""
    assert TOKEN not in repr(vars(make_access()))

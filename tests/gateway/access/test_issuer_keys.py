"""The issuer's keys: how often they are fetched, how long they are used."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable

import anyio
import pytest

from accord.gateway.access.credentials import CredentialRefused
from accord.gateway.access.https_fetch import FetchFailed
from accord.gateway.access.issuer_keys import (
    ATTEMPT_SECONDS_MIN,
    FRESH_SECONDS,
    KEPT_SECONDS_MAX,
    IssuerKeys,
)
from accord.gateway.configuration.oauth import OauthSettings
from tests.gateway.access.issuer import Clock, key_set, private_key, public_jwk

URL = "https://issuer.example/keys"
WITH_URL = OauthSettings(issuer="https://issuer.example", audience=("a",), jwks_url=URL)
DISCOVERED = OauthSettings(issuer="https://issuer.example/team", audience=("a",))
DISCOVERY = "https://issuer.example/team/.well-known/openid-configuration"


class Documents:
    """What stands in for the network."""

    def __init__(self, **documents: bytes) -> None:
        self.documents: dict[str, bytes | Exception] = dict(documents)
        self.asked: list[str] = []
        self.gate: anyio.Event | None = None
        self.before: Callable[[], None] = lambda: None

    def keys(self, *kids: str) -> None:
        self.documents[URL] = key_set(*(public_jwk(private_key("RSA"), kid) for kid in kids))

    async def __call__(self, url: str) -> bytes:
        self.asked.append(url)
        self.before()
        if self.gate is not None:
            await self.gate.wait()
        found = self.documents.get(url, FetchFailed(f"{url} answered with status 404"))
        if isinstance(found, Exception):
            raise found
        return found


async def reason_for(keys: IssuerKeys, kid: str | None) -> str:
    """Why there is no key; an empty text if there is one."""
    try:
        await keys.key_for(kid, "RS256")
    except CredentialRefused as refused:
        return refused.reason
    return ""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def documents() -> Documents:
    made = Documents()
    made.keys("k1")
    return made


async def test_keys_are_fetched_once_and_used_while_they_are_fresh(
    documents: Documents, clock: Clock
) -> None:
    """Issue 17: cached with a bound."""
    keys = IssuerKeys(WITH_URL, documents, clock)
    for _ in range(3):
        assert await reason_for(keys, "k1") == ""
    assert documents.asked == [URL]
    clock.now += FRESH_SECONDS + 1
    documents.keys("k2")
    # What was withdrawn is unknown from the next fetch on.
    assert await reason_for(keys, "k1") == "unknown_kid"
    assert await reason_for(keys, "k2") == ""
    assert documents.asked == [URL, URL]


async def test_a_new_key_is_found_at_a_bounded_rate(documents: Documents, clock: Clock) -> None:
    """Issue 17: an unknown kid fetches again, but not as often as tokens with one come."""
    keys = IssuerKeys(WITH_URL, documents, clock)
    assert await reason_for(keys, "k1") == ""
    for number in range(20):
        assert await reason_for(keys, f"made-up-{number}") == "unknown_kid"
    assert documents.asked == [URL]
    documents.keys("k1", "k2")
    clock.now += ATTEMPT_SECONDS_MIN
    assert await reason_for(keys, "k2") == ""
    assert documents.asked == [URL, URL]


async def test_known_keys_are_used_for_a_while_when_the_issuer_is_away(
    documents: Documents, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """Issue 17: network failures refuse with a log, and do not crash."""
    keys = IssuerKeys(WITH_URL, documents, clock)
    assert await reason_for(keys, "k1") == ""
    documents.documents.clear()
    clock.now += FRESH_SECONDS + 1
    with caplog.at_level(logging.WARNING, "accord.gateway"):
        assert await reason_for(keys, "k1") == ""
    assert "status 404" in caplog.text
    clock.now += KEPT_SECONDS_MAX
    assert await reason_for(keys, "k1") == "keys_unavailable"
    documents.keys("k1")
    # The last attempt was just now.
    assert await reason_for(keys, "k1") == "keys_unavailable"
    clock.now += ATTEMPT_SECONDS_MIN
    assert await reason_for(keys, "k1") == ""


async def test_an_issuer_that_was_never_there_refuses(clock: Clock) -> None:
    """Issue 17."""
    documents = Documents()
    keys = IssuerKeys(WITH_URL, documents, clock)
    for _ in range(5):
        assert await reason_for(keys, "k1") == "keys_unavailable"
    assert documents.asked == [URL]


@pytest.mark.parametrize("document", [b"<html>", b"{}", b'{"keys": 5}'])
async def test_what_is_not_a_set_of_keys_does_not_replace_one(
    documents: Documents, clock: Clock, document: bytes
) -> None:
    """Ours: a page of a proxy is not the end of all logins."""
    keys = IssuerKeys(WITH_URL, documents, clock)
    assert await reason_for(keys, "k1") == ""
    documents.documents[URL] = document
    clock.now += FRESH_SECONDS + 1
    assert await reason_for(keys, "k1") == ""


async def test_a_set_without_a_usable_key_is_logged(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: otherwise nobody finds out why every token is refused."""
    documents = Documents()
    documents.documents[URL] = key_set(public_jwk(private_key("P-384")))
    keys = IssuerKeys(WITH_URL, documents, clock)
    with caplog.at_level(logging.WARNING, "accord.gateway"):
        assert await reason_for(keys, "k1") == "unknown_kid"
    assert "oauth.algorithms" in caplog.text


async def test_requests_at_once_share_one_fetch(documents: Documents, clock: Clock) -> None:
    """Ours: the first minute of a gateway must not be a flood for the issuer."""
    documents.gate = anyio.Event()
    keys = IssuerKeys(WITH_URL, documents, clock)
    found: list[str] = []

    async def ask() -> None:
        found.append(await reason_for(keys, "k1"))

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        documents.gate.set()
    assert found == [""] * 10
    assert documents.asked == [URL]


async def test_known_keys_serve_others_while_one_request_fetches(
    documents: Documents, clock: Clock
) -> None:
    """Ours: a slow issuer must not stop everybody who has a valid token."""
    keys = IssuerKeys(WITH_URL, documents, clock)
    assert await reason_for(keys, "k1") == ""
    clock.now += FRESH_SECONDS + 1
    documents.gate = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reason_for, keys, "k1")
        await anyio.wait_all_tasks_blocked()
        assert await reason_for(keys, "k1") == ""
        documents.gate.set()


async def test_a_request_that_is_cancelled_does_not_hold_up_the_next_for_long(
    documents: Documents, clock: Clock
) -> None:
    """Ours: nor can requests that are broken off flood the issuer."""
    documents.gate = anyio.Event()
    keys = IssuerKeys(WITH_URL, documents, clock)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reason_for, keys, "k1")
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    documents.gate = None
    assert await reason_for(keys, "k1") == "keys_unavailable"
    clock.now += 1
    assert await reason_for(keys, "k1") == ""
    assert documents.asked == [URL, URL]


def described(**changes: object) -> bytes:
    """The issuer's own description."""
    return json.dumps({"issuer": DISCOVERED.issuer, "jwks_uri": URL, **changes}).encode()


async def test_keys_are_found_through_the_issuer(documents: Documents, clock: Clock) -> None:
    """OpenID Connect Discovery 1.0, 4."""
    documents.documents[DISCOVERY] = described()
    keys = IssuerKeys(DISCOVERED, documents, clock)
    assert await reason_for(keys, "k1") == ""
    assert documents.asked == [DISCOVERY, URL]


@pytest.mark.parametrize(
    "description",
    [
        described(issuer="https://evil.example"),
        described(jwks_uri="http://issuer.example/keys"),
        described(jwks_uri="http://127.0.0.1/keys"),
        described(jwks_uri="file:///etc/passwd"),
        described(jwks_uri=5),
        described(jwks_uri="x"),
        b"[]",
        b"<html>",
    ],
)
async def test_a_description_that_leads_elsewhere_is_not_followed(
    documents: Documents, clock: Clock, description: bytes
) -> None:
    """Discovery 1.0, 4.3: the issuer must be the one that was asked; and keys need TLS."""
    documents.documents[DISCOVERY] = description
    keys = IssuerKeys(DISCOVERED, documents, clock)
    assert await reason_for(keys, "k1") == "keys_unavailable"
    assert documents.asked == [DISCOVERY]


async def test_an_issuer_on_this_computer_may_name_keys_there(clock: Clock) -> None:
    """Ours: for tests of a set-up."""
    issuer = "http://127.0.0.1:8080"
    documents = Documents()
    documents.documents[f"{issuer}/.well-known/openid-configuration"] = json.dumps(
        {"issuer": issuer, "jwks_uri": f"{issuer}/keys"}
    ).encode()
    documents.documents[f"{issuer}/keys"] = key_set(public_jwk(private_key("RSA")))
    keys = IssuerKeys(OauthSettings(issuer=issuer, audience=("a",)), documents, clock)
    assert await reason_for(keys, "k1") == ""

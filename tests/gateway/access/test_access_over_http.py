"""Access to a server on a real socket: every verb and the upgrade, with a real issuer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from accord.gateway.access.access import Access
from accord.gateway.access.credentials import TOKEN_CHARS_MAX, Credential
from tests.gateway.access.gateway_users import ANN_KEY, BOB_KEY, OAUTH, TOKEN, config, make_access
from tests.gateway.access.issuer import (
    document_server,
    key_set,
    now,
    private_key,
    public_jwk,
    token,
)
from tests.transport.server.raw_http import NEW_SESSION, RawClient
from tests.transport.server.served_agent import Served, serving

UPGRADE = {
    "upgrade": "websocket",
    "connection": "Upgrade",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
    "sec-websocket-version": "13",
}


def bearer(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}"}


WRONG: dict[str, Callable[[], Mapping[str, str]]] = {
    "missing": dict,
    "a wrong scheme": lambda: {"authorization": f"Basic {ANN_KEY}"},
    "a wrong key": lambda: bearer("accord_wrong"),
    "two headers": lambda: {
        "authorization": f"Bearer {ANN_KEY}",
        "Authorization": f"Bearer {ANN_KEY}",
    },
    "beyond ASCII": lambda: bearer("schl\xfcssel"),
    "huge": lambda: bearer("x" * (TOKEN_CHARS_MAX + 1)),
    "expired": lambda: bearer(token(exp=now() - 99)),
    "for others": lambda: bearer(token(aud="other")),
    "an unknown kid": lambda: bearer(token(kid="k9")),
    "a made-up cookie": lambda: {"cookie": "accord-8000=made-up", "sec-fetch-site": "same-origin"},
}


@pytest.mark.parametrize("make", WRONG.values(), ids=WRONG)
async def test_wrong_credentials_get_401_by_every_verb(
    make: Callable[[], Mapping[str, str]], caplog: pytest.LogCaptureFixture
) -> None:
    """Issue 17: every wrong combination refused; tokens never in logs."""
    caplog.set_level(logging.DEBUG)
    async with serving(auth=make_access().auth) as served:
        client, headers = RawClient(served.port), make()
        for method in ("POST", "GET", "DELETE"):
            answer = await client.request(method, headers, b"not even JSON")
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
            assert answer.body == b"Credentials are missing or were refused"
        # The listener reads no header of this length before an upgrade.
        is_huge = any(len(value) > TOKEN_CHARS_MAX for value in headers.values())
        upgrade = await client.request("GET", {**headers, **UPGRADE})
        assert upgrade.status == (400 if is_huge else 401)
        assert served.open_connections == 0
    for secret in (ANN_KEY, *(value.rpartition(" ")[2] for value in headers.values())):
        assert secret == "same-origin" or secret not in caplog.text


async def test_a_connection_belongs_to_the_identity_that_opened_it() -> None:
    """Research, 3, threat 6: with the credentials of somebody else it does not exist."""
    async with serving(auth=make_access().auth) as served:
        owner = RawClient(served.port, bearer(token()))
        await owner.initialize()
        ids = {"acp-connection-id": owner.headers["acp-connection-id"]}
        others = (TOKEN, ANN_KEY, BOB_KEY, token(sub="eve"), token(scope="accord:all"))
        for secret in others:
            stranger = RawClient(served.port, {**ids, **bearer(secret)})
            assert (await stranger.post(NEW_SESSION)).status == 404
        renewed = RawClient(served.port, {**ids, **bearer(token(exp=now() + 50))})
        assert (await renewed.post(NEW_SESSION)).status == 202


async def with_cookie(access: Access, served: Served, headers: Mapping[str, str]) -> list[int]:
    """The statuses of a POST, a stream and an upgrade with a cookie and these headers."""
    principal = await access.check(Credential("bearer", ANN_KEY))
    cookie = access.begin_browser_session(Credential("bearer", ANN_KEY), principal)
    given = {"cookie": cookie.partition(";")[0], **headers}
    client = RawClient(served.port)
    posted = await client.post(b"{}", given)
    stream = await client.request("GET", {**given, "accept": "text/event-stream"})
    return [
        posted.status,
        stream.status,
        (await client.request("GET", {**given, **UPGRADE})).status,
    ]


async def test_a_cookie_counts_in_requests_of_an_own_page_only() -> None:
    """Research, 3, threat 1: no request that another page caused."""
    access = make_access()
    async with serving(auth=access.auth, origins=["https://app.example"]) as served:
        own = f"http://127.0.0.1:{served.port}"
        # 400: it is let in, and has no id of a connection.
        for headers in ({"origin": own}, {"sec-fetch-site": "same-origin"}):
            assert await with_cookie(access, served, headers) == [400, 400, 101]
        refused: list[dict[str, str]] = [
            {},
            {"origin": "https://app.example"},
            {"sec-fetch-site": "same-site"},
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "none"},
            {"origin": own, "sec-fetch-site": "cross-site"},
        ]
        for headers in refused:
            assert await with_cookie(access, served, headers) == [401, 401, 401]
        for origin in ("https://evil.example", "null"):
            assert await with_cookie(access, served, {"origin": origin}) == [403, 403, 403]


async def test_keys_of_a_real_issuer_are_fetched_and_change() -> None:
    """Issue 17: JWT by JWKS, found through the issuer, with a key that is new."""
    async with document_server() as issuer:
        oauth = replace(OAUTH, issuer=issuer.url, jwks_url=None)
        issuer.documents["/.well-known/openid-configuration"] = (
            b'{"issuer": "%b", "jwks_uri": "%b/keys"}' % (issuer.url.encode(), issuer.url.encode())
        )
        issuer.documents["/keys"] = key_set(public_jwk(private_key("RSA"), "k1"))
        clock_now = [0.0]
        access = Access(config(oauth=oauth), clock=lambda: clock_now[0])
        async with serving(auth=access.auth) as served:

            async def status(secret: str) -> int:
                return (await RawClient(served.port, bearer(secret)).request("DELETE")).status

            first = token(iss=issuer.url)
            second = token(private_key("P-256"), "ES256", "k2", iss=issuer.url)
            assert await status(first) == 400
            assert await status(second) == 401
            issuer.documents["/keys"] = key_set(public_jwk(private_key("P-256"), "k2"))
            assert await status(second) == 401
            clock_now[0] += 30
            assert await status(second) == 400
            assert await status(first) == 401
            assert issuer.asked == ["/.well-known/openid-configuration", "/keys"] * 2
            del issuer.documents["/keys"]
            clock_now[0] += 700
            assert await status(second) == 400
            clock_now[0] += 3600
            assert await status(second) == 401
            assert await status(ANN_KEY) == 400

"""What counts as a credential of a request, and what does not."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.errors import RequestError
from accord.gateway.access.credentials import (
    TOKEN_CHARS_MAX,
    Credential,
    CredentialRefused,
    cookie_values,
    is_from_own_page,
    read_credential,
    read_draft_login,
)
from accord.transport.server.requests import RemoteRequest, read_request

COOKIE = "__Host-accord"
OWN = {"host": "agents.example", "origin": "https://agents.example"}


def request(headers: dict[str, str], **more: Any) -> RemoteRequest:
    """A request with these headers."""
    return RemoteRequest(method="POST", path="/acp", query="", headers=headers, **more)


REFUSED: dict[str, tuple[dict[str, str], str]] = {
    "nothing": ({}, "missing"),
    "an empty header": ({"authorization": ""}, "wrong_scheme"),
    "no token": ({"authorization": "Bearer"}, "missing"),
    "spaces for a token": ({"authorization": "Bearer   "}, "missing"),
    "a password": ({"authorization": "Basic YW5uOnB3"}, "wrong_scheme"),
    "a token alone": ({"authorization": "accord_0123456789abcdef"}, "wrong_scheme"),
    "two tokens": ({"authorization": "Bearer a b"}, "malformed"),
    "two headers": ({"authorization": "Bearer one, Bearer two"}, "malformed"),
    "the same header twice": ({"authorization": "Bearer one, Bearer one"}, "malformed"),
    "beyond ASCII": ({"authorization": "Bearer schlüssel"}, "malformed"),
    "a control character": ({"authorization": "Bearer a\x00b"}, "malformed"),
    "a huge token": ({"authorization": f"Bearer {'x' * (TOKEN_CHARS_MAX + 1)}"}, "too_long"),
    "another cookie": ({**OWN, "cookie": "accord=x"}, "missing"),
    "an empty cookie": ({**OWN, "cookie": f"{COOKIE}="}, "missing"),
    "two cookies of the name": ({**OWN, "cookie": f"{COOKIE}=a; {COOKIE}=b"}, "malformed"),
    "a cookie beyond ASCII": ({**OWN, "cookie": f"{COOKIE}=ü"}, "malformed"),
    "a cookie from nowhere": ({"host": "agents.example", "cookie": f"{COOKIE}=a"}, "cross_site"),
    "a cookie from another page": (
        {"host": "agents.example", "origin": "https://evil.example", "cookie": f"{COOKIE}=a"},
        "cross_site",
    ),
    "a cookie from a sub-domain": (
        {**OWN, "sec-fetch-site": "same-site", "cookie": f"{COOKIE}=a"},
        "cross_site",
    ),
    "a cookie from the address bar": (
        {"host": "agents.example", "sec-fetch-site": "none", "cookie": f"{COOKIE}=a"},
        "cross_site",
    ),
    "a wrong header beside a cookie": (
        {**OWN, "authorization": "Basic x", "cookie": f"{COOKIE}=a"},
        "wrong_scheme",
    ),
}


@pytest.mark.parametrize(("headers", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_one_clear_credential_is_refused(headers: dict[str, str], reason: str) -> None:
    """Issue 17: Host, Origin, token."""
    with pytest.raises(CredentialRefused) as refused:
        read_credential(request(headers), COOKIE)
    assert refused.value.reason == reason


ACCEPTED: dict[str, tuple[dict[str, str], Credential]] = {
    "a token": ({"authorization": "Bearer abc"}, Credential("bearer", "abc")),
    "a scheme in other letters": ({"authorization": "bEARER  abc "}, Credential("bearer", "abc")),
    "a cookie of an own page": ({**OWN, "cookie": f"{COOKIE}=a"}, Credential("cookie", "a")),
    "a cookie among others": (
        {**OWN, "cookie": f"x=1; {COOKIE}=a, y=2"},
        Credential("cookie", "a"),
    ),
    "the same cookie twice": (
        {**OWN, "cookie": f"{COOKIE}=a; {COOKIE}=a"},
        Credential("cookie", "a"),
    ),
    "a stream of an own page": (
        {"host": "agents.example", "sec-fetch-site": "same-origin", "cookie": f"{COOKIE}=a"},
        Credential("cookie", "a"),
    ),
    "a token beside a cookie": (
        {"authorization": "Bearer abc", "cookie": f"{COOKIE}=a"},
        Credential("bearer", "abc"),
    ),
}


@pytest.mark.parametrize(("headers", "credential"), ACCEPTED.values(), ids=ACCEPTED)
def test_one_clear_credential_is_read(headers: dict[str, str], credential: Credential) -> None:
    """Issue 17."""
    assert read_credential(request(headers), COOKIE) == credential


def test_a_token_in_the_url_is_not_a_credential() -> None:
    """Research, 3: secrets never in URLs; a query is logged by every proxy."""
    asked = RemoteRequest(
        method="GET", path="/acp", query="token=accord_0123456789abcdef", headers={}
    )
    with pytest.raises(CredentialRefused) as refused:
        read_credential(asked, COOKIE)
    assert refused.value.reason == "missing"


def test_two_headers_on_the_wire_are_refused() -> None:
    """Ours: as an ASGI server passes them on."""
    scope = {
        "type": "http",
        "path": "/acp",
        "headers": [(b"authorization", b"Bearer one"), (b"Authorization", b"Bearer two")],
    }
    with pytest.raises(CredentialRefused) as refused:
        read_credential(read_request(scope), COOKIE)
    assert refused.value.reason == "malformed"


def test_a_page_without_tls_is_not_of_a_server_with_it() -> None:
    """Ours: anybody on the way could have written it."""
    headers = {"host": "agents.example", "origin": "http://agents.example"}
    assert is_from_own_page(request(headers))
    assert not is_from_own_page(request(headers, is_encrypted=True))


def test_a_secret_is_in_no_repr(caplog: pytest.LogCaptureFixture) -> None:
    """Issue 17: tokens never in logs."""
    logging.getLogger("accord.gateway").warning("%r", Credential("bearer", "s3cret"))
    assert "s3cret" not in repr(Credential("bearer", "s3cret"))
    assert "s3cret" not in caplog.text


@given(st.text(), st.text(min_size=1))
def test_any_cookie_header_is_read(header: str, name: str) -> None:
    """Ours: bad input is not an exception."""
    assert all(isinstance(value, str) for value in cookie_values(header, name))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(
    JSON
    | st.fixed_dictionaries(
        {"method": st.sampled_from(["api_key", "x"]) | JSON, "credentials": JSON}
    )
)
def test_any_parameters_of_a_login_are_a_credential_or_an_error(params: object) -> None:
    """Ours: bad input is not another exception."""
    try:
        found = read_draft_login(params)
    except (RequestError, CredentialRefused):
        return
    assert found.secret


LOGINS: dict[str, tuple[object, Credential]] = {
    "a key": (
        {"method": "api_key", "credentials": {"apiKey": "k"}},
        Credential("api_key", "k"),
    ),
    "a token": (
        {"method": "oauth2", "credentials": {"accessToken": "t"}},
        Credential("oauth2", "t"),
    ),
    "a token by another name": (
        {"method": "oauth2", "credentials": {"token": "t", "scope": "all"}},
        Credential("oauth2", "t"),
    ),
}


@pytest.mark.parametrize(("params", "credential"), LOGINS.values(), ids=LOGINS)
def test_logins_of_the_draft_are_read(params: object, credential: Credential) -> None:
    """dialect.md, 3.2."""
    assert read_draft_login(params) == credential


WRONG_LOGINS: dict[str, object] = {
    "no object": [],
    "no method": {"credentials": {}},
    "a number for a method": {"method": 1, "credentials": {}},
    "a method of agents": {"method": "custom", "credentials": {}},
    "no credentials": {"method": "api_key"},
    "a text for credentials": {"method": "api_key", "credentials": "k"},
    "no key": {"method": "api_key", "credentials": {"accessToken": "k"}},
    "a number for a key": {"method": "api_key", "credentials": {"apiKey": 1}},
    "two keys": {"method": "api_key", "credentials": {"apiKey": "k", "key": "k"}},
}


@pytest.mark.parametrize("params", WRONG_LOGINS.values(), ids=WRONG_LOGINS)
def test_malformed_logins_are_invalid_params(params: object) -> None:
    """dialect.md, 3.2; -32602 quotes nothing of what was sent."""
    with pytest.raises(RequestError) as refused:
        read_draft_login(params)
    assert refused.value.code == -32602

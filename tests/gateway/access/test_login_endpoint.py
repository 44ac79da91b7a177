"""The exchange of a page's token for a cookie."""

from __future__ import annotations

import json
import logging

import pytest

from accord.gateway.access.access import Access
from accord.gateway.access.login_endpoint import LOGIN_PATH, LOGOUT_PATH, LoginEndpoint
from accord.transport.server.answers import HttpAnswer
from accord.transport.server.request_guard import guard_of
from accord.transport.server.requests import RemoteRequest
from tests.gateway.access.gateway_users import ANN_KEY, TOKEN, make_access
from tests.gateway.access.issuer import token

ORIGIN = {"host": "localhost:8000", "origin": "http://localhost:8000"}
GUARD = guard_of(None, ["https://app.example"], has_auth=True)


def post(path: str = LOGIN_PATH, method: str = "POST", **headers: str) -> RemoteRequest:
    """A request of a page of the gateway."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return RemoteRequest(method=method, path=path, query="", headers={**ORIGIN, **given})


@pytest.fixture
def access() -> Access:
    return make_access()


@pytest.fixture
def endpoint(access: Access) -> LoginEndpoint:
    return LoginEndpoint(access, GUARD)


def cookie_of(answer: HttpAnswer) -> str:
    """The cookie that a browser sends after this answer."""
    return dict(answer.headers)["set-cookie"].partition(";")[0]


@pytest.mark.parametrize(
    ("secret", "name"),
    [
        (TOKEN, "user"),
        (ANN_KEY, "ann"),
        (token(), "oauth:ann"),
        (token(sub="ann@example.com"), "ann"),
    ],
)
async def test_a_token_is_exchanged_for_a_cookie(
    access: Access, endpoint: LoginEndpoint, secret: str, name: str
) -> None:
    """Issue 17: once, from the fragment of the page's URL."""
    answer = await endpoint.answer(post(authorization=f"Bearer {secret}"))
    assert answer.status == 200
    assert json.loads(answer.body)["name"] == name
    headers = dict(answer.headers)
    assert headers["cache-control"] == "no-store"
    assert "HttpOnly" in headers["set-cookie"]
    assert secret not in headers["set-cookie"]
    principal = await access.principal_of(post("/acp", cookie=cookie_of(answer)))
    assert principal.name == name


async def test_a_logout_ends_the_session_and_removes_the_cookie(
    access: Access, endpoint: LoginEndpoint
) -> None:
    """Issue 17: revoked on logout."""
    cookie = cookie_of(await endpoint.answer(post(authorization=f"Bearer {TOKEN}")))
    assert await access.auth(post("/acp", cookie=cookie)) == "user"
    answer = await endpoint.answer(post(LOGOUT_PATH, cookie=cookie))
    assert (answer.status, answer.body) == (204, b"")
    assert "Max-Age=0" in dict(answer.headers)["set-cookie"]
    assert await access.auth(post("/acp", cookie=cookie)) is None
    # Whoever is not logged in is logged out, too.
    assert (await endpoint.answer(post(LOGOUT_PATH))).status == 204


REFUSED: dict[str, tuple[RemoteRequest, int]] = {
    "no token": (post(), 401),
    "a wrong token": (post(authorization="Bearer accord_wrong-wrong-wrong"), 401),
    "a password": (post(authorization="Basic x"), 401),
    "a huge token": (post(authorization=f"Bearer {'x' * 10_000}"), 401),
    "the wrong verb": (post(method="GET", authorization=f"Bearer {TOKEN}"), 405),
    "a logout by a link": (post(LOGOUT_PATH, method="GET"), 405),
    "another host": (post(host="evil.example", authorization=f"Bearer {TOKEN}"), 421),
    "another origin": (
        post(origin="https://evil.example", authorization=f"Bearer {TOKEN}"),
        403,
    ),
    "an origin that may use the agents": (
        post(origin="https://app.example", authorization=f"Bearer {TOKEN}"),
        403,
    ),
    "a logout from another site": (post(LOGOUT_PATH, sec_fetch_site="cross-site"), 403),
}


@pytest.mark.parametrize(("request_", "status"), REFUSED.values(), ids=REFUSED)
async def test_everything_else_is_refused(
    endpoint: LoginEndpoint,
    request_: RemoteRequest,
    status: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Issue 17: the matrix of Host, Origin, token and verb."""
    caplog.set_level(logging.DEBUG)
    answer = await endpoint.answer(request_)
    assert answer.status == status
    assert "set-cookie" not in dict(answer.headers)
    assert TOKEN not in caplog.text + answer.body.decode()
    if status == 401:
        assert dict(answer.headers)["www-authenticate"] == "Bearer"


async def test_a_program_without_a_page_does_not_need_a_cookie(endpoint: LoginEndpoint) -> None:
    """Ours: without Origin nobody says that this is a page of ours."""
    asked = RemoteRequest(
        method="POST",
        path=LOGIN_PATH,
        query="",
        headers={"host": "localhost", "authorization": f"Bearer {TOKEN}"},
    )
    assert (await endpoint.answer(asked)).status == 403


async def test_a_cookie_does_not_begin_another_session(endpoint: LoginEndpoint) -> None:
    """Ours: a session would last for ever."""
    cookie = cookie_of(await endpoint.answer(post(authorization=f"Bearer {TOKEN}")))
    assert (await endpoint.answer(post(cookie=cookie))).status == 401


def test_it_serves_its_two_paths(endpoint: LoginEndpoint) -> None:
    """Ours."""
    assert endpoint.serves(post(LOGIN_PATH))
    assert endpoint.serves(post(LOGOUT_PATH))
    assert not endpoint.serves(post("/acp"))
    upgrade = RemoteRequest(method="GET", path=LOGIN_PATH, query="", headers={}, is_websocket=True)
    assert not endpoint.serves(upgrade)

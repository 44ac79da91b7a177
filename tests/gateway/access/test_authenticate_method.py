"""`authenticate` of the draft at a gateway."""

from __future__ import annotations

import json
import re
from datetime import datetime

import pytest

from accord.errors import RequestError
from accord.gateway.access.access import Access
from accord.gateway.access.authenticate_method import REFUSED, authenticate
from accord.gateway.access.principal import Principal
from accord.schema.codec import decode
from accord.schema.draft import AuthenticateResponse
from tests.gateway.access.gateway_users import ANN_KEY, BOB_KEY, make_access
from tests.gateway.access.issuer import now, token


@pytest.fixture
def access() -> Access:
    return make_access()


@pytest.fixture
def ann(access: Access) -> Principal:
    found = access.principal("ann")
    assert found is not None
    return found


@pytest.mark.rule("D26-05")
async def test_a_key_of_the_same_user_succeeds(access: Access, ann: Principal) -> None:
    """dialect.md, 3.2: the result has `success`."""
    params = {"method": "api_key", "credentials": {"apiKey": ANN_KEY}}
    login = await authenticate(access, ann, params)
    assert login == {"success": True}


async def test_a_token_succeeds_and_says_until_when(access: Access, ann: Principal) -> None:
    """dialect.md, 3.2: `expiresAt` in ISO 8601."""
    expires = now() + 1000
    made = token(sub="ann@example.com", exp=expires)
    params = {"method": "oauth2", "credentials": {"accessToken": made}}
    login = await authenticate(access, ann, params)
    assert login["success"] is True
    assert datetime.fromisoformat(login["expiresAt"]).timestamp() == expires
    assert re.fullmatch(r"[\d-]+T[\d:]+Z", login["expiresAt"])


async def test_an_expiry_beyond_all_dates_is_left_out(access: Access, ann: Principal) -> None:
    """Ours: no calendar has it."""
    made = token(sub="ann@example.com", exp=10**15)
    params = {"method": "oauth2", "credentials": {"accessToken": made}}
    assert await authenticate(access, ann, params) == {"success": True}


REFUSALS: dict[str, tuple[str, str]] = {
    "a wrong key": ("api_key", "accord_wrong"),
    "somebody else's key": ("api_key", BOB_KEY),
    "somebody else's token": ("oauth2", token(sub="eve")),
    "an expired token": ("oauth2", token(sub="ann@example.com", exp=now() - 1000)),
    "a key as a token": ("oauth2", ANN_KEY),
    "a token as a key": ("api_key", token(sub="ann@example.com")),
    "a huge key": ("api_key", "x" * 10_000),
    "a key beyond ASCII": ("api_key", "schlüssel"),
    "an empty key": ("api_key", ""),
}
MEMBERS = {"api_key": "apiKey", "oauth2": "accessToken"}


@pytest.mark.rule("D26-05")
@pytest.mark.parametrize(("method", "secret"), REFUSALS.values(), ids=REFUSALS)
async def test_wrong_credentials_are_an_answer_and_not_an_error(
    access: Access,
    ann: Principal,
    method: str,
    secret: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """dialect.md, 3.2; nobody becomes somebody else within a connection."""
    caplog.set_level("DEBUG")
    params = {"method": method, "credentials": {MEMBERS[method]: secret}}
    login = await authenticate(access, ann, params)
    assert login == {"success": False, "error": REFUSED}
    assert not secret or secret not in caplog.text


@pytest.mark.parametrize(
    "params",
    [{"method": "api_key"}, {"method": "custom", "credentials": {}}],
    ids=["without credentials", "a method of agents"],
)
async def test_malformed_parameters_are_an_error(
    access: Access, ann: Principal, params: dict[str, object]
) -> None:
    """D26-04: -32602; `custom` has no meaning here."""
    with pytest.raises(RequestError) as refused:
        await authenticate(access, ann, params)
    assert refused.value.code == -32602


async def test_every_result_is_one_of_the_draft(access: Access, ann: Principal) -> None:
    """dialect.md, 3.2."""
    for secret in (ANN_KEY, "wrong"):
        params = {"method": "api_key", "credentials": {"apiKey": secret}}
        login = await authenticate(access, ann, params)
        found = decode(AuthenticateResponse, json.dumps(login).encode())
        assert found.success is (secret == ANN_KEY)

"""Access to `accord serve`, and how much users may send: a real process, file and sockets."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.gateway.access.api_keys import digest_of
from accord.transport.remote_transport import remote_transport
from tests.gateway.access.issuer import (
    AUDIENCE,
    document_server,
    key_set,
    now,
    private_key,
    public_jwk,
    raw_token,
    token,
)
from tests.gateway.gateway_process import GatewayProcess, gateway_process
from tests.hang_limit import HANG_SECONDS
from tests.proxy.wires import Wire
from tests.transport.server.raw_http import INITIALIZE, UPGRADE, RawClient

pytestmark = pytest.mark.anyio

KEYS = {name: f"accord_key-of-{name}-0123456789" for name in ("ann", "bob")}
DRAFT = {"protocolVersion": 1, "capabilities": {}, "clientInfo": {"name": "d", "version": "1"}}
SCHEMES = ("ws", "http")


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


@asynccontextmanager
async def serving(folder: Path, more: str = "") -> AsyncIterator[GatewayProcess]:
    """Serve the built-in agent to two users, and to those whom an issuer knows."""
    async with document_server() as issuer:
        issuer.documents["/keys"] = key_set(public_jwk(private_key("RSA"), "k1"))
        users = "".join(
            f'[users.{name}]\napi_keys = ["sha256:{digest_of(key).hex()}"]\n'
            f'oauth_name = "{name}@example.com"\nagents = {{ own = "editor" }}\n'
            for name, key in KEYS.items()
        )
        file = folder / "gateway.toml"
        file.write_text(
            f'[agents.own]\ncommand = ["{sys.executable}", "-m", "accord", "agent"]\n{users}'
            f'[oauth]\nissuer = "https://issuer.example"\naudience = ["{AUDIENCE}"]\n'
            f'jwks_url = "{issuer.url}/keys"\n'
            '[[oauth.grant]]\nclaim = "scope"\nvalue = "accord:codex"\n'
            f'agents = {{ own = "editor" }}\n{more}'
        )
        with anyio.fail_after(HANG_SECONDS):
            with gateway_process(folder, "--config", str(file), target=(), token=None) as gateway:
                yield gateway


@asynccontextmanager
async def connected(gateway: GatewayProcess, scheme: str, secret: str) -> AsyncIterator[Wire]:
    """Connect over a real socket, and say nothing yet."""
    url = f"{scheme}://127.0.0.1:{gateway.port}/acp"
    transport: Any = remote_transport(url, token=secret)()
    async with anyio.create_task_group() as tasks:
        wire = Wire(transport)
        await transport.start(wire, tasks)
        yield wire
        await transport.aclose()
        tasks.cancel_scope.cancel()


OTHER = "the key of somebody else"
BEARERS: dict[str, tuple[Callable[[], str], bool]] = {
    "an api key": (lambda: KEYS["ann"], True),
    "a token with a scope": (token, True),
    "a token of a user of the file": (lambda: token(sub="ann@example.com", scope=None), True),
    "a token without rights": (lambda: token(scope="openid"), False),
    "expired": (lambda: token(exp=now() - 1000), False),
    "not valid yet": (lambda: token(nbf=now() + 1000), False),
    "without an expiry": (lambda: token(exp=None), False),
    "for others": (lambda: token(aud="other"), False),
    "of another issuer": (lambda: token(iss="https://evil.example"), False),
    "an unknown key": (lambda: token(kid="k9"), False),
    "signed by somebody else": (lambda: token(private_key("RSA", 1)), False),
    "not signed": (lambda: raw_token({"alg": "none", "kid": "k1"}, {"sub": "ann"}, b""), False),
    "no token": (lambda: "accord_wrong-key-0123456789", False),
}


async def test_bearer_tokens_are_checked_on_every_way_in(tmp_path: Path) -> None:
    """Issue 17: OAuth 2 by JWKS, issuer, audience and expiry; over HTTP and WebSocket."""
    async with serving(tmp_path) as gateway:
        client = RawClient(gateway.port)
        for name, (make, comes_in) in BEARERS.items():
            headers = {"authorization": f"Bearer {make()}"}
            posted = await client.post(INITIALIZE, headers)
            upgraded = await client.request("GET", {**headers, **UPGRADE})
            expected = (200, 101) if comes_in else (401, 401)
            assert (posted.status, upgraded.status) == expected, name


LOGINS: dict[str, tuple[Callable[[], dict[str, Any]], bool]] = {
    "her key": (lambda: {"method": "api_key", "credentials": {"apiKey": KEYS["ann"]}}, True),
    "his key": (lambda: {"method": "api_key", "credentials": {"apiKey": KEYS["bob"]}}, False),
    "her token": (lambda: login_by(token(sub="ann@example.com")), True),
    "a token of somebody": (lambda: login_by(token()), False),
    "an expired one": (lambda: login_by(token(sub="ann@example.com", exp=now() - 1000)), False),
}


def login_by(made: str) -> dict[str, Any]:
    return {"method": "oauth2", "credentials": {"accessToken": made}}


@pytest.mark.rule("D26-05")
@pytest.mark.parametrize("scheme", SCHEMES)
async def test_logins_of_the_draft_are_checked(scheme: str, tmp_path: Path) -> None:
    """Issue 17: `authenticate` with api_key and oauth2, mapped to the users of the file."""
    async with serving(tmp_path) as gateway, connected(gateway, scheme, KEYS["ann"]) as wire:
        wire.request(0, "initialize", DRAFT)
        assert "capabilities" in (await wire.hear())["result"]
        for name, (make, succeeds) in LOGINS.items():
            wire.request(name, "authenticate", make())
            result = (await wire.hear())["result"]
            assert result["success"] is succeeds, name
            assert ("expiresAt" in result) is ("token" in name and succeeds), name


LIMITS = {
    "frames_per_second": ("frames_per_second = 1", {}),
    "bytes_per_second": ("bytes_per_second = 2000", {"cwd": "/" + "x" * 2000}),
}


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("scheme", SCHEMES)
async def test_a_user_over_a_limit_is_told_when_to_go_on(
    scheme: str, limit: str, tmp_path: Path
) -> None:
    """Issue 17: limits per principal, with errors that say when to come back."""
    line, params = LIMITS[limit]
    async with (
        serving(tmp_path, f"[limits]\n{line}\n") as gateway,
        connected(gateway, scheme, KEYS["ann"]) as ann,
        connected(gateway, scheme, KEYS["bob"]) as bob,
    ):
        ann.request(0, "initialize", INITIALIZE["params"])
        assert "result" in await ann.hear()
        count = 50
        for number in range(1, count + 1):
            ann.request(number, "session/list", params)
        answers = [await ann.hear() for _ in range(count)]
        refused = [one["error"] for one in answers if "error" in one]
        assert 0 < len(refused) < count
        for error in refused:
            assert error["code"] == -32058
            assert error["data"]["limit"] == limit
            assert error["data"]["retryAfter"] > 0
        # It is her limit alone.
        bob.request(0, "initialize", INITIALIZE["params"])
        assert "result" in await bob.hear()
        bob.request(1, "session/list", {})
        assert json.loads(await bob.line())["result"] == {"sessions": []}

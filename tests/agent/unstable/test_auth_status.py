"""`auth/status` and `auth/status_update`."""

from __future__ import annotations

import pytest

from accord.agent.login import Account, AuthStatus
from accord.errors import LocalProtocolError
from tests.agent.raw_client import RawClient, raw_client
from tests.agent.unstable.play import made

LOGIN = {1: "authenticate", 2: "auth/login"}
LOGOUT = {1: "logout", 2: "auth/logout"}


def news(client: RawClient) -> list[str]:
    """The states that the agent announced."""
    return [
        frame["params"]["state"]
        for frame in client.frames
        if frame.get("method") == "auth/status_update"
    ]


@pytest.mark.rule("V1-AUTH-13")
async def test_asking_needs_no_login_and_changes_nothing(version: int) -> None:
    """Spec: never -32000, and a query."""
    agent = made()
    agent.add_auth_method("token", "Token")
    async with raw_client(agent, version=version) as client:
        for _ in range(2):
            status = await client.result("auth/status", {})
            assert status["state"] == "unauthenticated"
        error = await client.error("session/new", {"cwd": "/tmp", "mcpServers": []})
        assert error["code"] == -32000
        assert news(client) == []


async def test_an_agent_without_logins_requires_none(version: int) -> None:
    """Spec: `not_required`."""
    async with raw_client(made(), version=version) as client:
        assert (await client.result("auth/status", {}))["state"] == "not_required"


@pytest.mark.rule("V1-AUTH-17")
async def test_a_change_is_announced_once(version: int) -> None:
    """Spec: only what differs from the last one sent."""
    agent = made()
    agent.add_auth_method("token", "Token")
    async with raw_client(agent, version=version) as client:
        await client.result("auth/status", {})
        await agent.auth_status_changed()
        for _ in range(2):
            await client.result(LOGIN[version], {"methodId": "token"})
        await agent.auth_status_changed()
        assert (await client.result("auth/status", {}))["state"] == "authenticated"
        for _ in range(2):
            await client.result(LOGOUT[version], {})
        assert news(client) == ["authenticated", "unauthenticated"]


@pytest.mark.rule("V1-AUTH-16", "V1-AUTH-17")
async def test_the_agents_own_word_lists_every_account(version: int) -> None:
    """Spec: several accounts, those in effect marked; a change reaches every client."""
    agent = made()
    home, work = Account("home", active=True), Account("work", email="me@work.test", active=False)
    known = [AuthStatus("authenticated", (home, work))]

    @agent.on_auth_status
    async def status() -> AuthStatus:
        return known[-1]

    async with raw_client(agent, version=version) as one, raw_client(agent, version=version) as two:
        told = await one.result("auth/status", {})
        assert told["accounts"] == [
            {"label": "home", "active": True},
            {"label": "work", "active": False, "email": "me@work.test"},
        ]
        await agent.auth_status_changed()
        await two.next("auth/status_update")
        known.append(AuthStatus("authenticated", (work,)))
        for _ in range(2):
            await agent.auth_status_changed()
        assert (await one.next("auth/status_update"))["params"]["accounts"][0]["label"] == "work"
        await two.next("auth/status_update")
        assert (len(news(one)), len(news(two))) == (1, 2)
    await agent.auth_status_changed()


@pytest.mark.rule("V1-AUTH-13")
async def test_a_status_that_cannot_be_found_out_is_unknown(
    version: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: the agent's failure is not the client's."""
    agent = made()

    @agent.on_auth_status
    async def status() -> AuthStatus:
        raise RuntimeError("keyring is locked")

    async with raw_client(agent, version=version) as client:
        assert (await client.result("auth/status", {}))["state"] == "unknown"
    assert "keyring is locked" in caplog.text


def test_a_state_that_the_protocol_lacks_is_a_mistake() -> None:
    """Ours: named before anything is sent; own states start with `_`."""
    with pytest.raises(LocalProtocolError, match="logged_in"):
        AuthStatus("logged_in")
    assert AuthStatus("_sso").state == "_sso"

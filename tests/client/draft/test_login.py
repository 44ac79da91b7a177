"""Logging in to agents of the 2026-02 draft, and what becomes of secrets: nothing."""

from __future__ import annotations

import logging
import traceback
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

import accord.client.wire.draft.login as draft_login
from accord.client import Client
from accord.client.credential import (
    API_KEY_VARIABLE,
    TOKEN_VARIABLE,
    Credential,
    from_environment,
)
from accord.client.options import DraftOptions
from accord.client.wire.draft.login import LoginRefused, seconds_to_renewal
from accord.errors import AuthenticationRequired, LocalProtocolError, RemoteProtocolError
from tests.client.draft.draft_script import PROGRAM, drafting, open_session
from tests.client.scripted_agent import Json, ScriptedAgent

ONLY_ASYNCIO = pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
KEY = "sk-very-secret-0123456789"


@ONLY_ASYNCIO
@pytest.mark.rule("D26-05", "D26-03")
async def test_a_login_is_done_where_the_agent_wants_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Issue 5: on -32001, and then the request is made again."""
    caplog.set_level(logging.DEBUG)
    options: Any = {"draft": DraftOptions(credential=Credential.api_key(KEY))}
    async with Client.spawn(*PROGRAM, "--key", KEY, **options) as client:
        session = await client.new_session(tmp_path)
        assert (await session.ask("hello")).text == "Hello."
    assert KEY not in caplog.text


@ONLY_ASYNCIO
async def test_a_program_of_ours_gets_the_key_of_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 5: from the environment, which it inherits anyway; a remote agent is not told."""
    async with Client.spawn(*PROGRAM, "--key", KEY) as client:
        with pytest.raises(AuthenticationRequired):
            await client.new_session(tmp_path)
        with pytest.raises(LocalProtocolError, match="one in DraftOptions"):
            await client.authenticate()
        monkeypatch.setenv(API_KEY_VARIABLE, KEY)
        await client.new_session(tmp_path)

    async def script(agent: ScriptedAgent) -> None:
        agent.error(await agent.expect("session/new"), -32001, "log in")

    async with drafting(script) as (client, agent):
        with pytest.raises(AuthenticationRequired):
            await client.new_session()
        assert agent.sent("authenticate") == []


def test_the_environment_has_a_key_or_a_token() -> None:
    """Ours: the names are documented; the key is looked for first."""
    assert from_environment({}) is None
    assert from_environment({TOKEN_VARIABLE: "t"}) == Credential.oauth2("t")
    both = from_environment({TOKEN_VARIABLE: "t", API_KEY_VARIABLE: "k"})
    assert both == Credential.api_key("k")


@pytest.mark.rule("D26-05")
@pytest.mark.parametrize(
    ("credential", "params"),
    [
        (Credential.api_key("k"), {"method": "api_key", "credentials": {"apiKey": "k"}}),
        (
            Credential.oauth2("t"),
            {"method": "oauth2", "credentials": {"accessToken": "t", "tokenType": "Bearer"}},
        ),
        (Credential.custom(pin=5), {"method": "custom", "credentials": {"pin": 5}}),
    ],
)
async def test_a_credential_may_come_from_a_function(credential: Credential, params: Json) -> None:
    """Issue 5: from the user; sync or async, and asked when it is needed."""
    asked: list[str] = []

    async def ask() -> Credential:
        asked.append("asked")
        return credential

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent)
        agent.error(await agent.expect("session/prompt"), -32001, "log in")
        login = await agent.expect("authenticate")
        assert login["params"] == params
        agent.result(login, {"success": True})
        agent.result(await agent.expect("session/prompt"), {"stopReason": "end_turn"})

    async with drafting(script, credential=ask) as (client, _):
        session = await client.new_session()
        assert asked == []
        assert (await session.ask("x")).stop_reason == "end_turn"
    assert asked == ["asked"]


async def test_a_user_who_does_not_want_to_is_told_what_the_agent_said() -> None:
    """Ours: None means no."""

    async def script(agent: ScriptedAgent) -> None:
        agent.error(await agent.expect("session/new"), -32001, "log in")
        agent.error(await agent.expect("session/new"), -32001, "log in")

    async with drafting(script, credential=lambda: None) as (client, _):
        with pytest.raises(AuthenticationRequired):
            await client.new_session()
    async with drafting(script, credential=lambda: "sk-oops") as (client, _):
        with pytest.raises(LocalProtocolError, match="str, not a Credential") as caught:
            await client.new_session()
        assert "sk-oops" not in str(caught.value)


async def test_a_login_that_is_refused_says_so_without_the_secret() -> None:
    """Issue 5: secrets are in no text; some agents quote what they refuse."""

    async def script(agent: ScriptedAgent) -> None:
        agent.error(await agent.expect("session/new"), -32001, "log in")
        login = await agent.expect("authenticate")
        agent.result(login, {"success": False, "error": f"wrong: {KEY}"})
        agent.result(await agent.expect("authenticate"), {"success": "maybe"})

    credential = Credential.api_key(KEY)
    async with drafting(script, credential=credential) as (client, _):
        with pytest.raises(LoginRefused, match=r"wrong: \[secret\]") as caught:
            await client.new_session()
        with pytest.raises(RemoteProtocolError):
            await client.authenticate()
    told = "".join(traceback.format_exception(caught.value))
    assert KEY not in told + repr(credential) + repr(client) + str(vars(caught.value))


def test_a_credential_shows_nothing_and_has_a_known_method() -> None:
    """Issue 5."""
    assert repr(Credential.api_key(KEY)) == "Credential(method='api_key')"
    with pytest.raises(LocalProtocolError, match="api_key, custom, oauth2"):
        Credential("password", {})
    with pytest.raises(LocalProtocolError, match="credential="):
        DraftOptions(credential="sk-oops")  # type: ignore[arg-type]


@pytest.mark.parametrize("fails", [False, True])
async def test_a_login_is_renewed_before_it_expires(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fails: bool
) -> None:
    """Issue 5: before `expiresAt`."""
    monkeypatch.setattr(draft_login, "RENEWAL_SECONDS_MIN", 0.0)
    renewed = anyio.Event()
    soon = (datetime.now(UTC) + timedelta(milliseconds=20)).isoformat()

    async def script(agent: ScriptedAgent) -> None:
        agent.result(await agent.expect("authenticate"), {"success": True, "expiresAt": soon})
        request = await agent.expect("authenticate")
        answer: Json = {"success": False, "error": "no"} if fails else {"success": True}
        agent.result(request, answer)
        await open_session(agent)
        renewed.set()

    async with drafting(script, credential=Credential.api_key(KEY)) as (client, agent):
        await client.authenticate()
        while len(agent.sent("authenticate")) < 2:
            await anyio.wait_all_tasks_blocked()
        await client.new_session()
        await renewed.wait()
    assert ("logging in again" in caplog.text) is fails


@pytest.mark.parametrize("expires", ["never", "2000-01-01T00:00:00", "9999-01-01T00:00:00Z"])
async def test_an_odd_time_of_expiry_does_no_harm(expires: str) -> None:
    """Ours: unreadable, long ago, or far away; and another login takes the place of the last."""

    async def script(agent: ScriptedAgent) -> None:
        for _ in range(2):
            login = await agent.expect("authenticate")
            agent.result(login, {"success": True, "expiresAt": expires})
        await open_session(agent)

    async with drafting(script, credential=Credential.api_key(KEY)) as (client, agent):
        await client.authenticate()
        await client.authenticate()
        await client.new_session()
        assert len(agent.sent("authenticate")) == 2


def test_a_login_is_renewed_a_minute_before_its_end_or_in_its_middle() -> None:
    """Ours: the time to wait, as a function of the clock."""
    now = datetime(2026, 2, 4, 10, 30, tzinfo=UTC)
    assert seconds_to_renewal("2026-02-04T11:30:00Z", now) == 3540
    assert seconds_to_renewal("2026-02-04T10:31:00", now) == 30
    assert seconds_to_renewal("2026-02-04T10:00:00+00:00", now) == 0
    assert seconds_to_renewal("tomorrow", now) is None

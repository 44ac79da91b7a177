"""Logins with credentials, as the 2026-02 draft has them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accord.agent import Agent, Turn
from accord.agent.login import Login
from accord.agent.serving.draft.logins import expiry
from accord.errors import LocalProtocolError, RequestError
from accord.machine import clock as machine_clock
from tests.agent.draft.draft_client import draft_client
from tests.agent.raw_client import raw_client

KEY = "sk-a-very-secret-key"
GOOD = {"method": "api_key", "credentials": {"apiKey": KEY}}


def guarded(answer: Any = None, **more: Any) -> tuple[Agent, list[tuple[str, dict[str, Any]]]]:
    """An agent that wants a login, and what its login was given."""
    agent = Agent("guarded", version="1", **more)
    agent.add_auth_method("api_key", "API key")
    seen: list[tuple[str, dict[str, Any]]] = []

    @agent.on_authenticate
    async def log_in(method: str, credentials: Mapping[str, Any]) -> Any:
        seen.append((method, dict(credentials)))
        if isinstance(answer, Exception):
            raise answer
        return answer

    @agent.on_prompt
    async def talk(turn: Turn) -> None:
        await turn.say("in")

    return agent, seen


@pytest.mark.rule("D26-05", "D26-33")
async def test_a_session_needs_a_login_first() -> None:
    """The draft's table 9: -32001, never -32000, which is a missing session here."""
    agent, seen = guarded()
    async with draft_client(agent) as client:
        new = {"workingDirectory": "/tmp"}
        assert (await client.error("session/new", new))["code"] == -32001
        assert (await client.error("session/load", {"sessionId": "s"}))["code"] == -32001
        assert await client.result("authenticate", GOOD) == {"success": True}
        session = await client.new_session()
        assert (await client.prompt(session))["stopReason"] == "end_turn"
    assert seen == [("api_key", {"apiKey": KEY})]


@pytest.mark.parametrize("method", ["api_key", "oauth2", "custom"])
async def test_all_three_methods_are_served(method: str) -> None:
    """Issue 5: `@agent.on_authenticate` serves api_key, oauth2 and custom."""
    agent, seen = guarded()
    async with draft_client(agent) as client:
        params = {"method": method, "credentials": {"token": {"value": KEY}}}
        assert (await client.result("authenticate", params))["success"] is True
    assert seen == [(method, {"token": {"value": KEY}})]


@pytest.mark.rule("D26-05")
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RequestError.permission_denied(f"{KEY} is wrong"), "[secret] is wrong"),
        (ValueError("no such key"), "no such key"),
        (PermissionError("expired"), "expired"),
        (KeyError(KEY), "the login failed because of an error in the agent"),
    ],
)
async def test_a_wrong_secret_is_an_answer(
    error: Exception,
    said: str,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Draft, 3.2: `success` is false; the secret is in no log, no error, no traceback."""
    caplog.set_level(logging.DEBUG)
    agent, _ = guarded(error)
    async with draft_client(agent) as client:
        assert await client.result("authenticate", GOOD) == {"success": False, "error": said}
        assert (await client.error("session/new", {"workingDirectory": "/tmp"}))["code"] == -32001
    shown = capfd.readouterr()
    assert KEY not in shown.err + shown.out + caplog.text
    assert ("KeyError" in shown.err) == isinstance(error, KeyError)


async def test_credentials_are_shown_nowhere_by_accident() -> None:
    """Issue 5: no `repr` has them."""
    agent = Agent("careless", version="1")
    shown: list[str] = []

    @agent.on_authenticate
    async def log_in(method: str, credentials: Mapping[str, Any]) -> None:
        shown.append(f"{credentials} {credentials!r} {credentials['apiKey'] == KEY}")

    async with draft_client(agent) as client:
        assert (await client.result("authenticate", GOOD))["success"] is True
    assert shown == ["Credentials(<hidden>) Credentials(<hidden>) True"]


NOON = datetime(2026, 2, 4, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "until",
    [
        timedelta(hours=1),
        "2026-02-04T13:00:00Z",
        "2026-02-04T14:00:00+01:00",
        datetime(2026, 2, 4, 13, 0, tzinfo=UTC),
        datetime(2026, 2, 4, 13, 0),  # noqa: DTZ001 - what a program may return
    ],
)
async def test_a_login_holds_until_it_expires(until: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 5: `expiresAt` is told; afterwards the login is asked for again."""
    clock = [NOON]
    monkeypatch.setattr(machine_clock, "now", lambda: clock[0])
    agent, seen = guarded(until)
    async with draft_client(agent) as client:
        result = await client.result("authenticate", GOOD)
        assert result == {"success": True, "expiresAt": "2026-02-04T13:00:00Z"}
        session = await client.new_session()
        assert (await client.prompt(session))["stopReason"] == "end_turn"
        clock[0] = NOON + timedelta(hours=1)
        error = await client.answer(client.start_prompt(session))
        assert error["error"]["code"] == -32001
        assert (await client.error("session/new", {"workingDirectory": "/tmp"}))["code"] == -32001
        clock[0] = NOON
        await client.result("authenticate", GOOD)
        assert (await client.prompt(session))["stopReason"] == "end_turn"
    assert len(seen) == 2


@pytest.mark.parametrize("value", ["tomorrow", 3, True, [], object()])
def test_an_end_that_is_no_time_is_a_mistake(value: Any) -> None:
    """A caller's mistake raises."""
    with pytest.raises(LocalProtocolError):
        expiry(value)


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"method": "magic", "credentials": {}}, -32602),
        ({"method": "api_key"}, -32602),
        ({"method": "api_key", "credentials": "x"}, -32602),
        ({"credentials": {}}, -32602),
    ],
)
async def test_a_login_that_is_none_is_refused(params: dict[str, Any], code: int) -> None:
    """The draft's table 3.2."""
    agent, seen = guarded()
    async with draft_client(agent) as client:
        assert (await client.error("authenticate", params))["code"] == code
    assert seen == []


async def test_an_agent_without_logins_says_so() -> None:
    """The draft's table 9: a capability that is missing."""
    async with draft_client(Agent("open", version="1")) as client:
        assert (await client.error("authenticate", GOOD))["code"] == -32007
        assert await client.new_session()


async def test_a_login_that_reads_no_credentials_has_its_own_methods() -> None:
    """The draft's table 3.2: the same id is the same method; others are unknown."""
    agent = Agent("own", version="1")
    agent.add_auth_method("custom", "Custom")
    agent.add_auth_method("tty", "Terminal", terminal_args=["--login"])
    seen: list[Any] = []

    @agent.on_authenticate
    async def log_in(method: str, login: Login) -> None:
        answer = await login.ask_to_visit("Sign in", "https://example.org")
        seen.append((method, answer.action))

    async with draft_client(agent) as client:
        for method in ("api_key", "tty"):
            nothing: dict[str, Any] = {"method": method, "credentials": {}}
            assert (await client.error("authenticate", nothing))["code"] == -32602
        params = {"method": "custom", "credentials": {"any": 1}}
        assert (await client.result("authenticate", params))["success"] is True
        assert await client.new_session()
    assert seen == [("custom", "unsupported")]


async def test_a_method_without_a_function_just_works() -> None:
    """As for official clients: what was offered is accepted."""
    agent = Agent("plain", version="1")
    agent.add_auth_method("api_key", "API key")
    async with draft_client(agent) as client:
        assert await client.result("authenticate", GOOD) == {"success": True}


async def test_an_official_login_brings_no_credentials() -> None:
    """The same function serves all clients; v1's logins carry no secrets."""
    agent, seen = guarded()
    async with raw_client(agent) as client:
        assert await client.result("authenticate", {"methodId": "api_key"}) == {}
    assert seen == [("api_key", {})]


async def test_a_failed_login_ends_the_one_before() -> None:
    """A second login with a wrong key does not use the old one."""
    agent, _ = guarded()
    async with draft_client(agent) as client:
        await client.result("authenticate", GOOD)
        hook, agent._definition.authenticate_hook = agent._definition.authenticate_hook, None
        assert hook is not None

        @agent.on_authenticate
        async def refuse(method: str, credentials: Mapping[str, Any]) -> None:
            raise PermissionError("no")

        assert (await client.result("authenticate", GOOD))["success"] is False
        assert (await client.error("session/new", {"workingDirectory": "/tmp"}))["code"] == -32001


async def test_a_client_of_the_draft_hears_nothing_of_unstable_logins() -> None:
    """The draft's table 3.8: what the draft has no method for is not sent to its clients."""
    agent, _ = guarded(unstable=True)
    async with draft_client(agent) as client:
        await client.result("authenticate", GOOD)
        await agent.auth_status_changed()
        await client.new_session()
        assert client.methods() == []

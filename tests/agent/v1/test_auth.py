"""Logging in and out in v1."""

from __future__ import annotations

from typing import Any

import pytest

from accord.agent import Agent, Turn
from accord.errors import RequestError
from tests.agent.raw_client import initialize_params, raw_client

NEW = {"cwd": "/tmp", "mcpServers": []}


def guarded_agent() -> Agent:
    """An agent that wants a login; the method `broken` fails."""
    agent = Agent("guarded", version="1")
    agent.add_auth_method("token", "Token", "Uses the stored token")
    agent.add_auth_method("broken", "Broken")
    agent.add_auth_method(
        "tty", "In a terminal", terminal_args=["--login"], terminal_env={"A": "b"}
    )

    @agent.on_authenticate
    async def login(method_id: str) -> None:
        if method_id == "broken":
            raise RequestError(-32052, "the token has expired", {"reason": "permission_denied"})

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        await turn.say("in")

    return agent


@pytest.mark.rule("V1-AUTH-02")
@pytest.mark.parametrize(
    ("capabilities", "listed"),
    [
        ({}, ["token", "broken"]),
        ({"auth": {"terminal": False}}, ["token", "broken"]),
        ({"auth": {}}, ["token", "broken"]),
        ({"auth": {"terminal": True}}, ["token", "broken", "tty"]),
    ],
)
async def test_terminal_methods_are_listed_only_for_clients_that_have_terminals(
    capabilities: dict[str, Any], listed: list[str]
) -> None:
    """Spec: authentication."""
    async with raw_client(guarded_agent(), initialize=False) as client:
        result = await client.result("initialize", initialize_params(1, capabilities))
    methods = {method["id"]: method for method in result["authMethods"]}
    assert list(methods) == listed
    assert methods["token"] == {
        "id": "token",
        "name": "Token",
        "description": "Uses the stored token",
    }
    if "tty" in methods:
        tty = methods["tty"]
        assert (tty["type"], tty["args"], tty["env"]) == ("terminal", ["--login"], {"A": "b"})
    assert result["agentCapabilities"]["auth"]["logout"] == {}


@pytest.mark.rule("V1-AUTH-10", "V1-AUTH-11")
async def test_sessions_need_a_login_and_the_refusal_lists_the_methods() -> None:
    """Seed: -32000 with `auth_required` and the methods."""
    async with raw_client(guarded_agent()) as client:
        stored = NEW | {"sessionId": "x"}
        for method, params in (
            ("session/new", NEW),
            ("session/load", stored),
            ("session/resume", stored),
        ):
            error = await client.error(method, params)
            assert error["code"] == -32000
            assert error["data"]["reason"] == "auth_required"
            # A client without terminals cannot use a terminal method, so it is not told of one.
            assert [one["id"] for one in error["data"]["authMethods"]] == ["token", "broken"]
        assert await client.result("authenticate", {"methodId": "token"}) == {}
        session_id = await client.new_session()
        assert await client.prompt(session_id) == {"stopReason": "end_turn"}


@pytest.mark.rule("V1-AUTH-08")
async def test_after_logout_a_login_is_needed_again() -> None:
    """Spec: logging out."""
    async with raw_client(guarded_agent()) as client:
        await client.result("authenticate", {"methodId": "token"})
        session_id = await client.new_session()
        assert await client.result("logout", {}) == {}
        assert (await client.error("session/new", NEW))["code"] == -32000
        prompt = {"sessionId": session_id, "prompt": [{"type": "text", "text": "x"}]}
        assert (await client.error("session/prompt", prompt))["code"] == -32000


@pytest.mark.parametrize("method_id", ["nope", "tty", ""])
async def test_methods_that_were_not_offered_for_authenticate_are_refused(method_id: str) -> None:
    """Spec: an advertised method that is not `terminal`."""
    agent = guarded_agent()
    async with raw_client(agent, capabilities={"auth": {"terminal": True}}) as client:
        error = await client.error("authenticate", {"methodId": method_id})
        assert (error["code"], error["data"]["path"]) == (-32602, "$.methodId")
        assert (await client.error("session/new", NEW))["code"] == -32000


async def test_a_login_that_fails_says_why_and_lets_nobody_in() -> None:
    """Ours: the handler's own error reaches the client."""
    async with raw_client(guarded_agent()) as client:
        error = await client.error("authenticate", {"methodId": "broken"})
        assert (error["code"], error["message"]) == (-32052, "the token has expired")
        assert (await client.error("session/new", NEW))["code"] == -32000


async def test_without_login_methods_there_is_no_logout() -> None:
    """Capabilities: a method behind a missing capability is -32601."""
    async with raw_client(Agent("open", version="1"), initialize=False) as client:
        result = await client.result("initialize", initialize_params(1, {}))
        assert "logout" not in result["agentCapabilities"].get("auth", {})
        assert (await client.error("logout", {}))["data"]["method"] == "logout"


async def test_a_login_in_a_terminal_is_known_by_what_it_left_behind() -> None:
    """Spec: the client reconnects after it; there is nothing to authenticate any more."""
    agent = Agent("terminal only", version="1")
    agent.add_auth_method("tty", "In a terminal", terminal_args=["--login"])
    tokens: list[str] = []

    @agent.knows_login
    def is_logged_in() -> bool:
        return bool(tokens)

    @agent.on_logout
    async def forget() -> None:
        tokens.clear()

    async with raw_client(agent, capabilities={"auth": {"terminal": True}}) as client:
        assert (await client.error("session/new", NEW))["code"] == -32000
    tokens.append("left by the login")
    async with raw_client(agent, capabilities={"auth": {"terminal": True}}) as client:
        assert "sessionId" in await client.result("session/new", NEW)
        await client.result("logout", {})
        assert (await client.error("session/new", NEW))["code"] == -32000

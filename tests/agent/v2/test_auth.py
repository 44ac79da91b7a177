"""Logins in v2: `auth/login`, `auth/logout`, the methods that are offered, and their questions."""

from __future__ import annotations

from typing import Any

import pytest

from accord.agent import Agent
from accord.agent.login import Login
from accord.agent.tools.elicitation import FormField
from accord.errors import LocalProtocolError, RequestError
from tests.agent.raw_client import initialize_params
from tests.agent.v2.play import made, playing


def guarded() -> tuple[Agent, list[str]]:
    """An agent that wants a login, and what happened to it."""
    agent, seen = made(), list[str]()
    agent.add_auth_method("key", "API key", "From the environment")

    @agent.on_authenticate
    async def login(method_id: str) -> None:
        seen.append(method_id)

    @agent.on_logout
    async def logout() -> None:
        seen.append("out")

    return agent, seen


@pytest.mark.rule("V2-AUTH-01")
async def test_a_listed_method_means_that_login_and_logout_both_work() -> None:
    """Spec: a non-empty `authMethods` obliges to both; after logout a login is needed again."""
    agent, seen = guarded()
    async with playing(agent) as client:
        before = await client.error("session/new", {"cwd": "/tmp"})
        assert before["code"] == -32000
        assert await client.result("auth/login", {"methodId": "key"}) == {}
        assert await client.new_session()
        assert await client.result("auth/logout", {}) == {}
        after = await client.error("session/new", {"cwd": "/tmp"})
        assert after["code"] == -32000
    assert seen == ["key", "out"]


@pytest.mark.rule("V2-AUTH-01")
async def test_a_login_that_fails_is_an_error_and_no_login() -> None:
    """Ours: the error of the agent's function reaches the client, and nothing is open."""
    agent, _ = guarded()

    @agent.on_authenticate
    async def login(method_id: str) -> None:
        raise RequestError.authentication_required("wrong key")

    async with playing(agent) as client:
        error = await client.error("auth/login", {"methodId": "key"})
        assert (error["code"], error["message"]) == (-32000, "wrong key")
        assert (await client.error("session/new", {"cwd": "/tmp"}))["code"] == -32000
        unknown = await client.error("auth/login", {"methodId": "guess"})
        assert unknown["code"] == -32602


@pytest.mark.parametrize("method", ["auth/login", "auth/logout"])
async def test_without_a_listed_method_neither_exists(method: str) -> None:
    """Spec: an empty or absent list forbids the calls; -32601."""
    terminal_only = made()
    terminal_only.add_auth_method("tui", "In a terminal", terminal_args=["login"])
    for agent in (made(), terminal_only):
        async with playing(agent) as client:
            error = await client.error(method, {"methodId": "tui"})
            assert error["code"] == -32601


@pytest.mark.rule("V2-AUTH-03", "V2-AUTH-04")
async def test_terminal_methods_are_listed_only_for_clients_with_terminals() -> None:
    """Spec: each has `methodId`, `type`, `name`; `env` is a list of unique names."""
    agent = made()
    agent.add_auth_method("key", "API key")
    agent.add_auth_method(
        "tui", "In a terminal", terminal_args=["login", "--tui"], terminal_env={"A": "1", "B": "2"}
    )
    async with playing(agent, initialize=False) as client:
        without = await client.result("initialize", initialize_params(2, {}))
        offers: dict[str, Any] = {"auth": {"terminal": {}}}
        with_them = await client.result("initialize", initialize_params(2, offers))
        refused = await client.error("auth/login", {"methodId": "tui"})
    key = {"type": "agent", "methodId": "key", "name": "API key"}
    assert without["authMethods"] == [key]
    assert with_them["authMethods"] == [
        key,
        {
            "type": "terminal",
            "methodId": "tui",
            "name": "In a terminal",
            "args": ["login", "--tui"],
            "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        },
    ]
    assert refused["code"] == -32602


@pytest.mark.rule("V2-ELIC-01", "V2-ELIC-05")
async def test_a_login_asks_in_the_name_of_its_request_and_no_state_changes() -> None:
    """Spec: the one scope is `requestId`, which names the pending login; no session is touched."""
    agent, _ = guarded()

    @agent.on_authenticate
    async def login(method_id: str, login: Login) -> None:
        answer = await login.ask("Which account?", account=FormField())
        visit = await login.ask_to_visit("Sign in", "https://example.com/signin")
        assert answer.values == {"account": "me"}
        assert visit.accepted

    offers: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}
    async with playing(agent, offers) as client:
        request_id = client.start("auth/login", {"methodId": "key"})
        form = await client.next("elicitation/create")
        assert form["params"]["requestId"] == request_id
        assert "sessionId" not in form["params"]
        client.reply(form, {"action": "accept", "content": {"account": "me"}})
        page = await client.next("elicitation/create")
        assert page["params"]["requestId"] == request_id
        client.reply(page, {"action": "accept"})
        assert (await client.answer(request_id))["result"] == {}
    assert client.updates() == []


@pytest.mark.rule("V2-ELIC-02")
async def test_nothing_can_be_asked_for_a_login_that_is_over() -> None:
    """Spec: `requestId` names a pending request; ours: the program is told."""
    agent, _ = guarded()
    kept: list[Any] = []

    @agent.on_authenticate
    async def login(method_id: str, login: Login) -> None:
        kept.append(login)

    async with playing(agent, {"elicitation": {"form": {}, "url": {}}}) as client:
        await client.result("auth/login", {"methodId": "key"})
        with pytest.raises(LocalProtocolError, match="has ended"):
            await kept[0].ask("Too late?", name=FormField())
        with pytest.raises(LocalProtocolError, match="has ended"):
            await kept[0].ask_to_visit("Too late?", "https://example.com")
    assert "elicitation/create" not in client.methods()


@pytest.mark.rule("V2-CANCEL-14")
async def test_a_login_that_is_withdrawn_is_answered_once() -> None:
    """Spec: -32800, and its question is withdrawn as well."""
    agent, _ = guarded()

    @agent.on_authenticate
    async def login(method_id: str, login: Login) -> None:
        await login.ask("Which account?", account=FormField())

    async with playing(agent, {"elicitation": {"form": {}}}) as client:
        request_id = client.start("auth/login", {"methodId": "key"})
        form = await client.next("elicitation/create")
        client.notify("$/cancel_request", {"requestId": request_id})
        assert (await client.answer(request_id))["error"]["code"] == -32800
        withdrawn = await client.next("$/cancel_request")
        assert withdrawn["params"] == {"requestId": form["id"]}
        client.reply(form, {"action": "cancel"})
        assert (await client.error("session/new", {"cwd": "/tmp"}))["code"] == -32000

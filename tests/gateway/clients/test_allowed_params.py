"""What a client may not ask of an agent that others use too."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord import Agent, Client
from accord.errors import RequestFailed
from accord.gateway.clients.allowed_params import ACCOUNT_METHODS
from accord.schema.v1 import methods as v1
from accord.schema.v2 import methods as v2
from tests.gateway.hosting import hosting
from tests.gateway.scripted_agent import Scripted, scripted

pytestmark = pytest.mark.anyio

FROM_THE_TABLES = ("authenticate", "auth/login", "logout", "providers/")
READS = {"providers/list"}


def test_the_methods_are_those_of_the_versions() -> None:
    """Ours: a method that is added upstream is looked at."""
    known = {*v1.AGENT_METHODS, *v2.AGENT_METHODS}
    found = {name for name in known if any(part in name for part in FROM_THE_TABLES)}
    assert found - READS == ACCOUNT_METHODS


async def answered(one: Scripted, role: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request of somebody with this role; the agent agrees to everything."""
    person = await one.person("somebody", role)
    request = person.ask(method, params)

    async def agree() -> None:
        agent, asked = await one.hears(method)
        agent.answer(asked["id"], {"done": True})

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(agree)
        answer = await person.answer_to(request)
        tasks.cancel_scope.cancel()
    return answer


@pytest.mark.parametrize("method", sorted(ACCOUNT_METHODS))
async def test_only_an_admin_changes_a_shared_account(method: str) -> None:
    """Issue 17: what one user changes does not count for the others."""
    async with scripted() as one:
        for role in ("viewer", "editor"):
            # A name of a session does not help.
            for params in ({}, {"sessionId": "s1"}):
                error = (await answered(one, role, method, params))["error"]
                assert error["data"] == {"reason": "role", "role": role, "needed": "admin"}
                assert "ask an admin" in error["message"]
        assert (await answered(one, "admin", method, {}))["result"] == {"done": True}


async def test_everybody_logs_in_where_accounts_are_separate() -> None:
    """Issue 17: each process has a user of its own."""
    async with scripted(accounts="separate") as one:
        for role in ("viewer", "editor", "admin"):
            answer = await answered(one, role, "authenticate", {"methodId": "x"})
            assert answer["result"] == {"done": True}
        assert len(one.agents) > 3


@pytest.mark.parametrize("version", [1, 2])
async def test_a_login_of_somebody_does_not_reach_an_agent_that_all_share(version: int) -> None:
    """Issue 17: an agent in the gateway's process, through our own client."""
    logins: list[str] = []
    agent = Agent("shared", version="1")
    agent.add_auth_method("key", "A key")

    @agent.on_authenticate
    async def log_in(method: str) -> None:
        logins.append(method)

    @agent.on_prompt
    async def answer(turn: Any) -> None:
        await turn.say("hello")

    async with hosting(agent) as one:
        client: Client = await one.client("bob", version=version)
        with pytest.raises(RequestFailed, match="ask an admin"):
            await client.authenticate("key")
        assert logins == []
        one.role = "admin"
        await (await one.client("ann", version=version)).authenticate("key")
        assert logins == ["key"]

"""What `guard` lets pass as an edit, and what an answer "always" to its questions covers."""

from __future__ import annotations

import pytest

from accord.client.policy import Rule
from accord.proxy.ready.guard import guard
from tests.proxy.ready.opening import VERSIONS, opened
from tests.proxy.ready.test_guard import asks
from tests.proxy.wires import Json, around

pytestmark = pytest.mark.anyio

EDIT = Rule(effect="allow", kind="edit")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("call", "passes"),
    [
        ({"locations": [{"path": "/w/a.py"}]}, True),
        ({"rawInput": {"file_path": "/w/a.py"}}, True),
        ({"locations": [{"path": "/w/.git/hooks/pre-commit"}]}, False),
        ({"rawInput": {"file_path": "/w/.envrc"}}, False),
        ({"rawInput": {"file_path": "/home/me/.bashrc"}}, False),
        ({"locations": [{"path": "/w/a.py"}], "rawInput": {"path": "/etc/passwd"}}, False),
        ({}, False),
    ],
)
async def test_a_rule_for_edits_means_ordinary_files_of_the_session(
    version: int, call: Json, passes: bool
) -> None:
    """Issue 12: the same list of executing files is used by guard."""
    async with around(guard([EDIT])) as (client, agent, _, _):
        await opened(client, agent, version)
        asks(agent, version, "a", kind="edit", **call)
        if not passes:
            asked = await client.hear()
            assert asked["method"] == "session/request_permission"
            client.answer(asked["id"], {"outcome": {"outcome": "selected", "optionId": "n"}})
        chosen = (await agent.hear())["result"]["outcome"]["optionId"]
        assert chosen == ("y" if passes else "n")


async def test_an_always_of_a_command_is_for_its_folder() -> None:
    """Issue 12: the option says what it covers, and that is what is stored."""
    async with around(guard()) as (client, agent, _, _):
        await opened(client, agent, 1)

        async def run(cwd: str) -> bool:
            """Whether the user is asked."""
            agent.request(cwd, "terminal/create", {"sessionId": "s", "command": "make", "cwd": cwd})
            asked = await client.hear()
            is_asked = bool(asked["method"] == "session/request_permission")
            if not is_asked:
                client.answer(asked["id"], {"terminalId": "t"})
            else:
                names = {one["optionId"]: one["name"] for one in asked["params"]["options"]}
                assert names["allow_always"] == f"Always allow `make` in {cwd} for this session"
                outcome = {"outcome": "selected", "optionId": "allow_always"}
                client.answer(asked["id"], {"outcome": outcome})
                client.answer((await client.hear())["id"], {"terminalId": "t"})
            assert "result" in await agent.hear()
            return is_asked

        assert await run("/w")
        assert not await run("/w")
        assert await run("/w/sub")

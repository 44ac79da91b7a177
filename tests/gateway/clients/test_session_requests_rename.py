"""`_accord.session/rename`: a title that somebody has chosen."""

from __future__ import annotations

from typing import Any

import pytest

from accord import Agent
from accord.gateway.engine.memory import MemoryDisk
from tests.gateway.hosting import echoing_agent, hosting

pytestmark = pytest.mark.anyio
RENAME = "_accord.session/rename"


def titling_agent() -> Any:
    """An agent that names its session after each prompt."""
    agent = Agent("test", version="1.0")

    @agent.on_prompt
    async def answer(turn: Any) -> None:
        await turn.session.set_title(f"about {turn.text}")
        await turn.say("done")

    return agent


async def titles(client: Any) -> list[str | None]:
    return [info.title async for info in client.list_sessions()]


@pytest.mark.parametrize("version", [1, 2])
async def test_everybody_sees_the_title_and_the_agent_does_not_change_it(version: int) -> None:
    disk = MemoryDisk()
    async with hosting(titling_agent(), disk=disk) as one:
        ann = await one.client("ann", version=version)
        session = await ann.new_session(cwd="/")
        await session.ask("one")
        assert await titles(ann) == ["about one"]
        answer = await ann.call_extension(RENAME, {"sessionId": session.id, "title": " Mine "})
        assert answer == {"title": "Mine"}
        assert await titles(ann) == ["Mine"]
        await session.ask("two")
        assert await titles(ann) == ["Mine"]
        assert session.transcript.info.title == "Mine"
    async with hosting(titling_agent(), disk=disk) as one:
        ann = await one.client("ann", version=version)
        assert await titles(ann) == ["Mine"]


@pytest.mark.parametrize("title", ["", "  ", "a\nb", "x" * 201, 3, None, "a\u202eb"])
async def test_a_title_is_one_line(title: object) -> None:
    async with hosting(echoing_agent()) as one:
        wire = await one.raw("ann")
        wire.request("new", "session/new", {"cwd": "/", "mcpServers": []})
        answer = await wire.hear()
        wire.request("name", RENAME, {**answer["result"], "title": title})
        while (answer := await wire.hear()).get("id") != "name":
            pass
        assert answer["error"]["code"] == -32602

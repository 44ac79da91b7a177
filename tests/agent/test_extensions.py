"""The client's methods beyond the protocol, as an agent sees and calls them, in both versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import pytest

from accord.agent import Agent, Turn
from accord.errors import LocalProtocolError, RemoteProtocolError, RequestFailed
from tests.agent.raw_client import RawClient, raw_client

META = {"_meta": {"accord.extensions": {"methods": ["_player/add"]}}}
VERSIONS = pytest.mark.parametrize("version", [1, 2])


async def first_words(client: RawClient, version: int) -> str:
    """What the agent says first; v1 has one block a message and v2 a list of them."""
    update = await client.update("agent_message_chunk" if version == 1 else "agent_message")
    content = update["content"]
    return str(content["text"] if version == 1 else content[0]["text"])


@pytest.mark.rule("V1-EXT-04")
@VERSIONS
async def test_an_agent_calls_what_its_client_has_registered(version: int) -> None:
    """Ours: extensions work in both directions, typed."""
    agent = Agent("a", version="1")

    @agent.on_prompt
    async def work(turn: Turn) -> None:
        await turn.notify_extension("_player/note")
        plain = await turn.call_extension("_player/add", {"a": 1})
        typed = await turn.call_extension("_player/add", {"a": 2}, dict[str, int])
        await turn.say(f"{sorted(turn.client_extensions)} {plain} {typed}")

    async with raw_client(agent, version=version, capabilities=META) as client:
        client.serve["_player/add"] = lambda params: {"sum": params["a"] + 1}
        client.start_prompt(await client.new_session())
        assert await first_words(client, version) == "['_player/add'] {'sum': 2} {'sum': 3}"
        assert (await client.next("_player/note"))["params"] == {}


@VERSIONS
async def test_what_comes_of_a_bad_call_is_an_error_of_ours(version: int) -> None:
    """Ours: a name that is not free, an answer of another type, a client without the method."""
    agent = Agent("a", version="1")

    @agent.on_prompt
    async def work(turn: Turn) -> None:
        with pytest.raises(LocalProtocolError, match="starts with `_`"):
            await turn.call_extension("session/update")
        with pytest.raises(RemoteProtocolError, match="the answer to _player/add is invalid"):
            await turn.call_extension("_player/add", result=dict[str, int])
        with pytest.raises(RequestFailed) as failed:
            await turn.call_extension("_player/sub")
        await turn.say(f"{sorted(turn.client_extensions)} {failed.value.code}")

    async with raw_client(agent, version=version) as client:
        client.serve["_player/add"] = lambda _: {"sum": "many"}
        client.start_prompt(await client.new_session())
        client.refuse(await client.next("_player/sub"), -32601)
        assert await first_words(client, version) == "[] -32601"


@dataclass
class Search:
    """The params of an extension, written down as most programs would."""

    words: str


class Place(TypedDict):
    """The other usual way."""

    line: int


@VERSIONS
async def test_a_bad_field_of_an_extension_is_named_by_its_path(version: int) -> None:
    """Issue 4: the path and the reason of the bad field with -32602."""
    agent = Agent("a", version="1")

    @agent.method("_own/search")
    async def search(params: Search) -> None: ...

    @agent.method("_own/go")
    async def go(params: Place) -> None: ...

    async with raw_client(agent, version=version) as client:
        wrong = await client.error("_own/search", {"words": 5})
        missing = await client.error("_own/search", {})
        place = await client.error("_own/go", {"line": "one"})
    assert [one["data"]["path"] for one in (wrong, missing, place)] == ["$.words"] * 2 + ["$.line"]
    assert wrong["data"]["reason"] == "Expected `str`, got `int`"

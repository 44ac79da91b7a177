"""Models in sessions of the built-in agent: found, chosen, asked, remembered after a restart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agent.raw_client import Message, RawClient, raw_client
from tests.builtin.agent.play import begin, made, option, say, spoken
from tests.fake_llm import FakeLLM, serve


@pytest.fixture
def model() -> Iterator[FakeLLM]:
    """A server on this machine."""
    with serve() as server:
        yield server


def reaching(model: FakeLLM) -> dict[str, str]:
    """The environment in which it is found, as Ollama's is."""
    return {"OLLAMA_HOST": model.url}


def values(setting: Message) -> list[str]:
    """All values of a select option."""
    return [one["value"] for group in setting["options"] for one in group.get("options", [group])]


async def choose(client: RawClient, session: str, value: str) -> None:
    """Pick a model as an editor does."""
    wanted: dict[str, Any] = {"sessionId": session, "configId": "model", "value": value}
    wanted |= {} if client.version == 1 else {"type": "id"}
    await client.result("session/set_config_option", wanted)


@pytest.mark.parametrize("version", [1, 2])
async def test_models_of_a_server_that_answers_are_offered_and_can_be_asked(
    version: int, tmp_path: Path, model: FakeLLM
) -> None:
    """Issue 3: found on loopback, picked by config option; /commands need no model at all."""
    async with raw_client(made(reaching(model)), version=version) as client:
        session = (await begin(client, tmp_path))["sessionId"]
        update = await client.update("config_option_update")
        offered = values(option(update, "model"))
        [fake] = [one for one in offered if one.endswith(":fake-model")]
        assert option(update, "model")["currentValue"] == "offline"
        await choose(client, session, fake)
        await say(client, session, "hello [[say I am the model]]")
        assert "I am the model" in spoken(client)
        asked = len(model.requests)
        await say(client, session, "/help")
        assert len(model.requests) == asked
        assert "rename" in spoken(client)


async def test_a_conversation_goes_on_after_a_restart_with_what_the_model_knew(
    tmp_path: Path, model: FakeLLM
) -> None:
    """Issue 3: model history is stored beside the session, and so is the choice of the model."""
    async with raw_client(made(reaching(model))) as client:
        session = (await begin(client, tmp_path))["sessionId"]
        update = await client.update("config_option_update")
        [fake] = [one for one in values(option(update, "model")) if one.endswith(":fake-model")]
        await choose(client, session, fake)
        await say(client, session, "my number is 4711 [[say noted]]")
    async with raw_client(made(reaching(model))) as client:
        place = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
        await client.result("session/load", place)
        # At once: the server may not have been asked yet.
        await say(client, session, "what was it? [[say as you said]]")
        assert "as you said" in spoken(client)
    assert "4711" in str(model.requests[-1])


async def test_a_model_that_is_gone_after_a_restart_is_said(tmp_path: Path) -> None:
    """Ours: nobody is to wonder who answers."""
    with serve() as model:
        async with raw_client(made(reaching(model))) as client:
            session = (await begin(client, tmp_path))["sessionId"]
            update = await client.update("config_option_update")
            await choose(client, session, values(option(update, "model"))[-1])
            await say(client, session, "/help")
    async with raw_client(made()) as client:
        place = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
        await client.result("session/load", place)
        await say(client, session, "hello")
        await say(client, session, "hello")
        assert spoken(client).count("is not there now; offline answers instead") == 1


async def test_commands_know_that_a_model_is_chosen(tmp_path: Path) -> None:
    """A review was told by /model that there is no model, in a session that had one."""
    environ = {"OPENAI_API_KEY": "sk-test-key-of-nobody"}
    async with raw_client(made(environ, model="openai:gpt-5", in_memory=True)) as client:
        session = (await begin(client, tmp_path))["sessionId"]
        for typed in ("/model", "/help", "/where nothing_here"):
            await say(client, session, typed)
        shown = spoken(client)
        assert shown.count("`openai:gpt-5` answers") == 3
        assert "without a language model" not in shown
        assert "No language model is set" not in shown

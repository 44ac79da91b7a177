"""Models in sessions of the built-in agent: found, chosen, asked, remembered after a restart."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agent.raw_client import Message, RawClient, raw_client
from tests.builtin.agent.turns import begin, made, option, say, spoken
from tests.fake_llm import FakeLLM, serve


class SlowList(FakeLLM):
    """Lists its models when it is told to."""

    def __init__(self) -> None:
        super().__init__(models=["late-model"])
        self.may_list = threading.Event()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Each connection in a thread of its own, which can wait."""
        self.may_list.wait(60)
        super().process_request_thread(request, client_address)


@pytest.fixture
def slow_model() -> Iterator[SlowList]:
    """A server on this machine that takes its time."""
    server = SlowList()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server
    server.may_list.set()
    server.shutdown()
    server.server_close()


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
        result = await begin(client, tmp_path)
        session = result["sessionId"]
        offered = values(option(result, "model"))
        [fake] = [one for one in offered if one.endswith(":fake-model")]
        # Issue 14: a running Ollama, alone, is enough.
        assert option(result, "model")["currentValue"] == fake
        await choose(client, session, "offline")
        await say(client, session, "thanks")
        assert model.asked == []
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
            result = await begin(client, tmp_path)
            session = result["sessionId"]
            await choose(client, session, values(option(result, "model"))[-1])
            await say(client, session, "/help")
    async with raw_client(made()) as client:
        place = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
        await client.result("session/load", place)
        await say(client, session, "hello")
        await say(client, session, "hello")
        assert spoken(client).count("is not available; using offline instead") == 1


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
        assert "No language model answers" not in shown


@pytest.mark.parametrize(
    ("environ", "begins_with"),
    [
        (("OPENAI_BASE_URL", "/v1", "OPENAI_API_KEY"), "openai:"),
        (("OPENAI_BASE_URL", "/v1", None), "openai:"),
        (("ANTHROPIC_BASE_URL", "", "ANTHROPIC_API_KEY"), "anthropic:claude"),
        (("ANTHROPIC_BASE_URL", "", None), "anthropic:claude"),
        (("GEMINI_BASE_URL", "", "GEMINI_API_KEY"), "google:gemini"),
        (("OLLAMA_HOST", "", None), "ollama:"),
    ],
)
async def test_what_is_set_alone_is_enough_for_a_model(
    environ: tuple[str, str, str | None], begins_with: str, tmp_path: Path, model: FakeLLM
) -> None:
    """Issue 14: a model at first try."""
    variable, path, key = environ
    given = {variable: f"{model.url}{path}"} | ({} if key is None else {key: "sk-test-of-nobody"})
    async with raw_client(made(given)) as client:
        result = await begin(client, tmp_path)
        assert option(result, "model")["currentValue"].startswith(begins_with)
        await say(client, result["sessionId"], "hello [[say I am the model]]")
        assert "I am the model" in spoken(client)


async def test_a_slow_list_does_not_hold_up_the_session_and_the_prompt_waits_for_it(
    tmp_path: Path, slow_model: SlowList, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 14: nobody is answered offline because a server took two seconds."""
    monkeypatch.setattr("accord.builtin.agent.LIST_SECONDS", 0.01)
    monkeypatch.setattr("accord.builtin.models.model_servers.NAMED_SECONDS", 50.0)
    async with raw_client(made(reaching(slow_model))) as client:
        result = await begin(client, tmp_path)
        session = result["sessionId"]
        assert option(result, "model")["currentValue"] == "offline"
        # What is set meanwhile does not count as a choice of the model.
        wanted = {"sessionId": session, "modeId": "plan"}
        await client.result("session/set_mode", wanted)
        prompt = [{"type": "text", "text": "hello [[say I am the model]]"}]
        asked = client.start("session/prompt", {"sessionId": session, "prompt": prompt})
        slow_model.may_list.set()
        update = await client.update("config_option_update")
        while option(update, "model")["currentValue"] == "offline":
            update = await client.update("config_option_update")
        await client.answer(asked)
        assert "I am the model" in spoken(client)


async def test_a_server_that_cannot_be_used_is_told_once_with_what_to_do(tmp_path: Path) -> None:
    """Issue 14: offline in silence."""
    async with raw_client(made({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"})) as client:
        session = (await begin(client, tmp_path))["sessionId"]
        await say(client, session, "thanks")
        await say(client, session, "thanks")
        shown = spoken(client)
        assert shown.count("http://127.0.0.1:1/v1 cannot be reached") == 1
        assert shown.count("Until then I work without a model") == 1


async def test_without_the_packages_for_models_a_key_is_told_and_the_agent_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 14: many have a key in their environment; a prompt without --model must not fail."""
    monkeypatch.setattr("accord.builtin.user_setup.can_be_had", lambda: False)
    async with raw_client(made({"ANTHROPIC_API_KEY": "sk-test-of-nobody"})) as client:
        result = await begin(client, tmp_path)
        assert option(result, "model")["currentValue"] == "offline"
        await say(client, result["sessionId"], "thanks")
        shown = spoken(client)
        assert "Anthropic needs packages that are not installed. Run `" in shown
        assert "All right. What next?" in shown


@pytest.mark.parametrize("named", [True, False])
async def test_of_several_models_it_is_said_which_one_answers(
    named: bool, tmp_path: Path, model: FakeLLM
) -> None:
    """Issue 14: several keys at once; who named the model knows it."""
    environ = {
        "OPENAI_API_KEY": "sk-test-of-nobody",
        "ANTHROPIC_API_KEY": "sk-test-of-nobody",
        "ANTHROPIC_BASE_URL": model.url,
    }
    capabilities: dict[str, Any] = {"session": {"notices": {}}}
    chosen = "anthropic:fake-model" if named else None
    agent = made(environ, model=chosen)
    async with raw_client(agent, version=2, capabilities=capabilities) as client:
        session = (await begin(client, tmp_path))["sessionId"]
        await say(client, session, "hello [[say one]]")
        await say(client, session, "hello [[say two]]")
        titles = [update["title"] for update in client.updates("notice")]
        said = " (key from ANTHROPIC_API_KEY). You can also choose OpenAI."
        assert sum(said in title for title in titles) == (0 if named else 1)


async def test_a_name_that_nobody_has_is_told(
    tmp_path: Path, model: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 14: it was asked of an Ollama that was not there, four times, for half a minute."""
    address = f"{model.url}/v1"
    monkeypatch.setattr("accord.builtin.models.available_models.OLLAMA_ADDRESS", address)
    monkeypatch.setattr("accord.builtin.models.model_servers.LOOPBACK", {address: "ollama"})
    probing = {"ACCORD_PROBE": "on", "ACCORD_MODEL": "no-such-model"}
    async with raw_client(made(probing)) as client:
        result = await begin(client, tmp_path)
        assert option(result, "model")["currentValue"] == "offline"
        await say(client, result["sessionId"], "thanks")
        assert "There is no model 'no-such-model'" in spoken(client)


async def test_the_newest_block_decides_who_answers(tmp_path: Path) -> None:
    """Issue 14: an editor may send an older prompt along; slash commands need no model."""
    environ = {"OPENAI_API_KEY": "sk-test-key-of-nobody", "OPENAI_BASE_URL": "http://127.0.0.1:9"}
    async with raw_client(made({**environ, "ACCORD_MODEL": "openai:gpt-5"}), version=1) as client:
        session = (await begin(client, tmp_path))["sessionId"]
        prompt = [{"type": "text", "text": text} for text in ("$ sleep 60", "/help")]
        await client.result("session/prompt", {"sessionId": session, "prompt": prompt})
        assert "work by rules" in spoken(client)

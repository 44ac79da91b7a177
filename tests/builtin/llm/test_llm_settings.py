"""What the user sets and sends: limits, thinking, instructions, pictures; and what it costs."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from accord.builtin.models.providers import ModelChoice
from accord.store import MemoryStore
from tests.agent.raw_client import raw_client
from tests.builtin.llm.talk import Talk, choice_of, made, talk
from tests.fake_llm import FakeLLM

VERSIONS = pytest.mark.parametrize("version", [1, 2])
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(16)).decode()
LOOP = '[[tool glob {"pattern": "*"}]][[tool glob {"pattern": "*"}]][[tool glob {"pattern": "*"}]]'


@VERSIONS
async def test_a_turn_ends_at_the_limit_of_requests(
    version: int, llm: FakeLLM, project: Path
) -> None:
    """Issue 3: max requests is a stop reason."""
    async with talk(made(choice_of("chat", llm)), project, version=version) as session:
        await session.set("request_limit", "2")
        end = await session.say(LOOP)
        assert end["stopReason"] == "max_turn_requests"
        assert len(llm.asked) == 2
        assert (await session.say("[[say fine]]"))["stopReason"] == "end_turn"


async def test_a_turn_ends_at_the_limit_of_tokens(llm: FakeLLM, project: Path) -> None:
    """Issue 3: the limit holds for the turn, and each request is told what is left."""
    async with talk(made(choice_of("anthropic", llm)), project) as session:
        await session.set("token_limit", "10")
        end = await session.say(LOOP)
        assert end["stopReason"] == "max_tokens"
    assert [body["max_tokens"] for body in llm.asked] == [10, 3]


async def test_the_window_and_the_cost_are_told_after_every_answer(
    llm: FakeLLM, project: Path
) -> None:
    """Issue 3: usage and cost as `usage_update`; the cost is the session's."""
    async with talk(made(choice_of("anthropic", llm)), project) as session:
        await session.say("[[say one]][[usage 1000 100]]")
        await session.say("[[say two]][[usage 2000 100]]")
        first, second = session.client.updates("usage_update")
    assert (first["used"], second["used"]) == (1100, 2100)
    assert first["size"] == 1_000_000
    assert first["cost"]["currency"] == "USD"
    assert second["cost"]["amount"] > first["cost"]["amount"] > 0


@pytest.mark.parametrize("form", ["chat", "ollama"])
async def test_a_server_of_ones_own_costs_nothing_that_we_know_of(
    form: str, llm: FakeLLM, project: Path
) -> None:
    """Ours: unknown is not zero."""
    async with talk(made(choice_of(form, llm)), project) as session:
        await session.say("[[say one]][[usage 1000 100]]")
        (update,) = session.client.updates("usage_update")
    assert update["used"] == 1100
    assert "cost" not in update


async def test_the_beginning_of_a_conversation_is_cached_where_that_must_be_asked_for(
    llm: FakeLLM, project: Path
) -> None:
    """Issue 3: prompt caching where the provider has it."""
    async with talk(made(choice_of("anthropic", llm)), project) as session:
        await session.say("[[say hi]]")
    body = llm.asked[0]
    assert body["system"][0]["cache_control"]["type"] == "ephemeral"
    assert body["tools"][-1]["cache_control"]["type"] == "ephemeral"
    assert "cache_control" not in body["system"][-1]


async def test_the_level_of_thinking_reaches_the_model(llm: FakeLLM, project: Path) -> None:
    """Issue 3: thinking level likewise."""
    async with talk(made(choice_of("responses", llm)), project) as session:
        await session.set("thinking", "high")
        await session.say("[[say hi]]")
        await session.set("thinking", "low")
        await session.say("[[say hi]]")
    assert [body["reasoning"]["effort"] for body in llm.asked] == ["high", "low"]
    assert llm.asked[0]["store"] is False


@VERSIONS
@pytest.mark.parametrize("mode", ["append", "override"])
async def test_the_clients_instructions_reach_the_model(
    mode: str, version: int, llm: FakeLLM, project: Path
) -> None:
    """Issue 3: a client's system prompt, after ours or in place of them."""
    given = {"mode": mode, "content": [{"type": "text", "text": "Speak like a pirate."}]}
    agent = made(choice_of("chat", llm))
    async with talk(agent, project, version=version, systemPrompt=given) as session:
        await session.say("[[say hi]]")
    told = json.dumps(llm.asked[0]["messages"][0])
    assert "Speak like a pirate." in told
    assert ("You are Accord" in told) is (mode == "append")


def resource(uri: str, **content: Any) -> dict[str, Any]:
    """A block with a file in it."""
    return {"type": "resource", "resource": {"uri": uri, **content}}


PICTURE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
SOUND = {"type": "audio", "data": PIXEL, "mimeType": "audio/wav"}
FILE = resource("file:///p/a%20b.py", text="print('embedded')", mimeType="text/x-python")
PDF = resource("file:///p/x.pdf", blob=PIXEL, mimeType="application/pdf")
LINK = {"type": "resource_link", "uri": "file:///p/linked.md", "name": "linked.md"}


async def test_everything_in_a_prompt_reaches_a_model_that_takes_it(
    llm: FakeLLM, project: Path
) -> None:
    """Issue 3: images, embedded context, audio and blobs where the model takes them."""
    async with talk(made(choice_of("google", llm)), project) as session:
        await session.say("look [[say hi]]", PICTURE, SOUND, FILE, PDF, LINK)
    parts = llm.asked[0]["contents"][-1]["parts"]
    kinds = [part["inlineData"]["mime_type"] for part in parts if "inlineData" in part]
    assert kinds == ["image/png", "audio/wav", "application/pdf"]
    text = json.dumps([part for part in parts if "text" in part])
    assert "print('embedded')" in text
    assert "/p/a b.py" in text
    assert "/p/linked.md" in text


async def test_what_a_model_cannot_take_is_named_to_it(llm: FakeLLM, project: Path) -> None:
    """Ours: it knows what it did not see, and can say so."""
    async with talk(made(choice_of("ollama", llm)), project) as session:
        end = await session.say("look [[say hi]]", PICTURE, SOUND, PDF)
        assert end["stopReason"] == "end_turn"
    text = json.dumps(llm.asked[0]["messages"][-1])
    assert text.count("this model does not take it") == 3
    assert PIXEL not in text


async def test_a_picture_that_another_model_saw_is_no_stone_in_the_way(
    llm: FakeLLM, project: Path
) -> None:
    """Ours: the user may change to a model that sees nothing, in the same session."""
    store = MemoryStore()
    async with talk(made(choice_of("google", llm), store=store), project, version=1) as session:
        await session.say("look [[say I see]]", PICTURE)
        session_id = session.session_id
    async with raw_client(made(choice_of("ollama", llm), store=store)) as client:
        params = {"sessionId": session_id, "cwd": str(project), "mcpServers": []}
        await client.result("session/load", params)
        end = await Talk(client, session_id).say("[[say and now]]")
        assert end["stopReason"] == "end_turn"
    text = json.dumps(llm.asked[-1])
    assert "this model does not take it" in text
    assert PIXEL not in text


@pytest.mark.parametrize(
    ("choice", "accepted"),
    [
        (None, {"embedded_context"}),
        (ModelChoice("anthropic", "claude-sonnet-5-5"), {"embedded_context", "image"}),
        (ModelChoice("google", "gemini-3.8-flash"), {"embedded_context", "image", "audio"}),
        (ModelChoice("openai", "gpt-6.1-sol"), {"embedded_context", "image"}),
        (ModelChoice("openai", "gpt-4o-audio-preview"), {"embedded_context", "audio"}),
        (ModelChoice("openai", "o3-mini"), {"embedded_context"}),
        (ModelChoice("ollama", "qwen3"), {"embedded_context"}),
        (ModelChoice("ollama", "qwen2.5-vl:7b"), {"embedded_context", "image"}),
        (ModelChoice("openai", "anything", "http://x/v1"), {"embedded_context"}),
    ],
)
def test_what_is_advertised_is_what_the_model_takes(
    choice: ModelChoice | None, accepted: set[str]
) -> None:
    """Issue 3: advertised exactly then."""
    from accord.builtin.models.accepted_content import accepted_content

    assert accepted_content(choice) == accepted

"""`providers/*`: which service runs the model."""

from __future__ import annotations

from typing import Any

import pytest

from accord.agent import Agent, Turn
from accord.agent.serving.unstable.providers import Provider, ProviderConfig
from accord.errors import LocalProtocolError, RequestError
from tests.agent.raw_client import Message, RawClient, raw_client
from tests.agent.unstable.play import made, run_turn

URL = "https://gateway.test/v1"
SET = {"providerId": "main", "apiType": "openai", "baseUrl": URL}


def with_providers(agent: Agent) -> Agent:
    current = ProviderConfig("anthropic", "https://llm.test", {"x-key": "s3cret"})
    agent.add_provider("main", ["anthropic", "openai"], required=True, current=current)
    agent.add_provider("extra", ["_own"], current=ProviderConfig("_own", "https://own.test"))
    return agent


async def slots(client: RawClient) -> dict[str, Message]:
    result = await client.result("providers/list", {})
    return {one["providerId"]: one for one in result["providers"]}


@pytest.mark.rule("V1-PROV-03", "V1-PROV-04")
async def test_a_disabled_provider_stays_listed_without_a_current(version: int) -> None:
    """Spec: a required one is not disabled, an unknown one is as good as disabled."""
    agent = with_providers(made())
    async with raw_client(agent, version=version) as client:
        assert await client.result("providers/disable", {"providerId": "extra"}) == {}
        assert await client.result("providers/disable", {"providerId": "nope"}) == {}
        error = await client.error("providers/disable", {"providerId": "main"})
        assert (error["code"], error["data"]["path"]) == (-32602, "$.providerId")
        told = await slots(client)
        assert "current" not in told["extra"]
        assert told["main"]["current"]["apiType"] == "anthropic"
        assert agent._definition.providers["extra"].current is None


@pytest.mark.rule("V1-PROV-05", "V1-PROV-09")
@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"providerId": "nope"}, "$.providerId"),
        ({"apiType": "bedrock"}, "$.apiType"),
        ({"apiType": "_x"}, "$.apiType"),
        ({"baseUrl": "gateway"}, "$.baseUrl"),
        ({"baseUrl": "http://[broken"}, "$.baseUrl"),
        ({"headers": {"a": 1}}, "$.headers"),
    ],
)
async def test_a_setup_that_cannot_be_is_refused(version: int, change: Message, path: str) -> None:
    """Spec: -32602, and nothing changed."""
    async with raw_client(with_providers(made()), version=version) as client:
        before = await slots(client)
        error = await client.error("providers/set", SET | change)
        assert error["code"] == -32602
        assert error["data"]["path"].startswith(path)
        assert await slots(client) == before


@pytest.mark.rule("V1-PROV-06", "V1-PROV-07")
async def test_a_setup_counts_from_then_on_and_its_headers_are_never_told(version: int) -> None:
    """Spec: the whole setup is replaced; headers are secrets."""
    seen: list[ProviderConfig | None] = []
    agent = with_providers(made())

    @agent.on_prompt
    async def use(turn: Turn) -> None:
        seen.append(agent._definition.providers["main"].current)

    async with raw_client(agent, version=version) as client:
        wanted = SET | {"headers": {"authorization": "Bearer s3cret"}}
        assert await client.result("providers/set", wanted) == {}
        assert (await slots(client))["main"]["current"] == {"apiType": "openai", "baseUrl": URL}
        await run_turn(client, version, await client.new_session())
        await client.result("providers/set", SET)
        await run_turn(client, version, await client.new_session())
        assert "s3cret" not in str(client.frames)
    assert seen == [
        ProviderConfig("openai", URL, {"authorization": "Bearer s3cret"}),
        ProviderConfig("openai", URL),
    ]
    assert "s3cret" not in repr(seen)


async def test_the_agent_may_refuse_a_change(version: int) -> None:
    """Ours: its function is asked first, and its error is the answer."""
    agent = with_providers(made())
    asked: list[tuple[str, str | None]] = []

    @agent.on_provider_change
    async def check(provider: Provider, wanted: ProviderConfig | None) -> None:
        asked.append((provider.provider_id, None if wanted is None else wanted.base_url))
        if wanted is not None:
            raise RequestError.invalid_params("that gateway is not trusted", "$.baseUrl")

    async with raw_client(agent, version=version) as client:
        assert (await client.error("providers/set", SET))["data"]["path"] == "$.baseUrl"
        assert (await slots(client))["main"]["current"]["baseUrl"] == "https://llm.test"
        await client.result("providers/disable", {"providerId": "extra"})
    assert asked == [("main", URL), ("extra", None)]


def test_a_slot_that_makes_no_sense_is_a_mistake() -> None:
    """Ours: named when it is registered."""
    agent = with_providers(made())
    mistakes: list[dict[str, Any]] = [
        {"provider_id": "main", "supported": ["openai"]},
        {"provider_id": "none", "supported": []},
        {"provider_id": "off", "supported": ["openai"], "required": True},
        {"provider_id": "odd", "supported": ["openai"], "current": ProviderConfig("azure", URL)},
    ]
    for bad in mistakes:
        with pytest.raises(LocalProtocolError, match=str(bad["provider_id"])):
            agent.add_provider(**bad)

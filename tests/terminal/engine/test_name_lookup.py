"""Which model is meant, also where the agent lists it late."""

from __future__ import annotations

from typing import Any

import pytest

from accord.errors import LocalProtocolError
from accord.terminal.engine import name_lookup
from accord.terminal.engine.name_lookup import choose_model
from tests.client.scripted_agent import ScriptedAgent, connected


def models(*values: str) -> list[dict[str, Any]]:
    """The option for models with these values."""
    choices = [{"value": value, "name": value.rpartition(":")[2]} for value in values]
    option = {"id": "model", "name": "Model", "category": "model", "type": "select"}
    return [{**option, "currentValue": values[0], "options": choices}]


@pytest.mark.parametrize("wanted", ["ollama:late", "late"])
async def test_a_model_that_is_listed_late_is_waited_for(wanted: str) -> None:
    """Issue 14: `accord run --model` waits for the model list."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session(configOptions=models("offline"))
        for values in (("offline", "other"), ("offline", "other", "ollama:late")):
            update = {"sessionUpdate": "config_option_update", "configOptions": models(*values)}
            agent.update(update)
        request = await agent.expect("session/set_config_option")
        assert request["params"]["value"] == "ollama:late"
        agent.result(request, {"configOptions": models("ollama:late", "offline")})

    async with connected(script) as (client, _):
        session = await client.new_session("/tmp")
        await choose_model(session, wanted)
        assert session.transcript.config_options[0].value == "ollama:late"


async def test_a_model_that_never_comes_is_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Issue 14: the error names what there is by then."""
    monkeypatch.setattr(name_lookup, "MODEL_LIST_SECONDS_MAX", 0.05)

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session(configOptions=models("offline", "small"))

    async with connected(script) as (client, _):
        session = await client.new_session("/tmp")
        with pytest.raises(LocalProtocolError, match="has no model 'nope'; it has offline, small"):
            await choose_model(session, "nope")

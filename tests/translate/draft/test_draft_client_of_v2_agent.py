"""A draft client in front of a v2 agent: modes, which v2 has as an option."""

from typing import Any

import pytest

from accord.translate.chain import Chain
from accord.translate.draft.client import DraftClient
from accord.translate.message import AGENT, CLIENT, Json, Notification, Result
from accord.translate.v2_agent import V2Agent
from tests.translate.draft.scripted_peers import Clock, Wire, both

INFO = {"name": "n", "version": "1"}


def _options(mode: str, model: str = "small") -> list[Json]:
    def option(key: str, value: str, *offered: str) -> Json:
        named = [{"value": one, "name": one} for one in offered]
        what = {"configId": key, "name": key, "category": key, "type": "select"}
        return {**what, "currentValue": value, "options": named}

    return [
        option("mode", mode, "code", "plan"),
        option("model", model, "small", "large"),
    ]


def _opened() -> Wire:
    clock = Clock()
    chain = Chain(DraftClient(clock.surroundings()), V2Agent(clock.surroundings()))
    wire = Wire(chain, both("draft", "v2"), clock)
    params = {"protocolVersion": 1, "clientInfo": INFO, "capabilities": {}}
    wire.ask(CLIENT, "initialize", params)
    result: Json = {"protocolVersion": 2, "info": INFO, "capabilities": {"session": {}}}
    wire.answer(AGENT, wire.one(AGENT, "initialize").key, result)
    wire.take()
    wire.ask(CLIENT, "session/new", {"workingDirectory": "/w"})
    result = {"sessionId": "s", "configOptions": _options("code")}
    wire.answer(AGENT, wire.one(AGENT, "session/new").key, result)
    wire.take()
    return wire


def _tell(wire: Wire, options: list[Json]) -> None:
    update = {"sessionUpdate": "config_option_update", "configOptions": options}
    wire.tell(AGENT, "session/update", {"sessionId": "s", "update": update})


def _told(said: list[Any]) -> list[Any]:
    return [one.params for _, one in said if isinstance(one, Notification)]


@pytest.mark.rule("D26-09", "D26-35")
@pytest.mark.parametrize("agent_says", ["nothing", "within", "after"])
@pytest.mark.parametrize("model", ["small", "large"])
def test_a_change_of_mode_is_told_once(agent_says: str, model: str) -> None:
    """The draft's table 3.6: exactly one update per change, behind the answer."""
    wire = _opened()
    key = wire.ask(CLIENT, "session/set_mode", {"sessionId": "s", "mode": "plan"})
    asked = wire.one(AGENT, "session/set_config_option")
    assert asked.params["value"] == "plan"
    if agent_says == "within":
        _tell(wire, _options("plan", model))
        assert wire.take() == []
    wire.answer(AGENT, asked.key, {"configOptions": _options("plan", model)})
    if agent_says == "after":
        _tell(wire, _options("plan", model))
    said = wire.take()
    result = said[0][1]
    assert isinstance(result, Result)
    assert result.key == key
    assert (result.result["previousMode"], result.result["currentMode"]) == ("code", "plan")
    mode, *others = _told(said)
    assert (mode["type"], mode["data"]["currentMode"]) == ("current_mode_update", "plan")
    # What changed with it is another change.
    assert [one["data"]["key"] for one in others] == ([] if model == "small" else ["model"])


@pytest.mark.rule("D26-35")
def test_a_change_of_mode_that_failed_is_not_told() -> None:
    """The draft's table 3.6."""
    wire = _opened()
    key = wire.ask(CLIENT, "session/set_mode", {"sessionId": "s", "mode": "plan"})
    wire.fail(AGENT, wire.one(AGENT, "session/set_config_option").key, -32602)
    assert wire.error(CLIENT, key).code == -32602

"""Config options, modes and models."""

from typing import Any

from accord.translate.message import AGENT, CLIENT, Failure, Result
from tests.translate.v2_agent.scripted_peers import CWD, SESSION, World, X, started

MODE = {
    "configId": "m",
    "name": "Mode",
    "type": "select",
    "category": "mode",
    "currentValue": "ask",
    "options": [
        {"value": "ask", "name": "Ask", "description": "d", "_meta": {"k": 1}},
        {"value": "code", "name": "Code"},
    ],
}
MODEL = {
    "configId": "l",
    "name": "Model",
    "type": "select",
    "category": "model",
    "currentValue": "big",
    "options": [{"groupId": "g", "name": "G", "options": [{"value": "big", "name": "Big"}]}],
}
FAST = {"configId": "f", "name": "Fast", "type": "boolean", "currentValue": True}
DIAL = {"configId": "d", "name": "Dial", "type": "_dial", "turn": 7}


def _v1(option: dict[str, Any]) -> dict[str, Any]:
    said = {**option, "id": option["configId"]}
    del said["configId"]
    return said


V1_MODEL = {
    **_v1(MODEL),
    "options": [{"group": "g", "name": "G", "options": [{"value": "big", "name": "Big"}]}],
}


def _opened(*options: dict[str, Any], client: Any = None, **result: Any) -> tuple[World, Any]:
    world = World()
    world.initialize(client)
    return world, world.new({"configOptions": list(options), **result})


def _changed(option: dict[str, Any], value: Any) -> dict[str, Any]:
    return {**option, "currentValue": value}


def test_options_have_v1s_names_and_the_mode_is_told_twice() -> None:
    """translate 9: the first option of category `mode` also becomes `modes`."""
    plain = {**MODE, "configId": "p", "category": None}
    _, result = _opened(plain, MODE, MODEL)
    assert result["configOptions"] == [_v1(plain), _v1(MODE), V1_MODEL]
    assert result["modes"] == {
        "currentModeId": "ask",
        "availableModes": [
            {"id": "ask", "name": "Ask", "description": "d", "_meta": {"k": 1}},
            {"id": "code", "name": "Code"},
        ],
    }


def test_modes_in_groups_are_one_list() -> None:
    """v1 has no groups of modes."""
    _, result = _opened({**MODEL, "category": "mode"})
    assert result["modes"]["availableModes"] == [{"id": "big", "name": "Big"}]


def test_a_boolean_is_a_choice_of_two_for_clients_that_cannot_show_it() -> None:
    """translate 9: set maps back."""
    world, result = _opened(FAST)
    [option] = result["configOptions"]
    assert option["type"] == "select"
    assert option["currentValue"] == "true"
    assert [one["value"] for one in option["options"]] == ["true", "false"]
    assert option["_meta"] == {X: {"type": "boolean"}}
    key = _set(world, "f", "false")
    assert world.last(AGENT).params == {
        "sessionId": SESSION,
        "configId": "f",
        "type": "boolean",
        "value": False,
    }
    world.answer(AGENT, world.last(AGENT).key, {"configOptions": [_changed(FAST, False)]})
    assert world.answer_to(key).result["configOptions"][0]["currentValue"] == "false"
    key = _set(world, "f", "perhaps")
    assert world.answer_to(key).code == -32602


def test_a_boolean_is_itself_for_clients_that_can_show_it() -> None:
    """translate 9."""
    world, result = _opened(FAST, client={"session": {"configOptions": {"boolean": {}}}})
    assert result["configOptions"] == [_v1(FAST)]
    _set(world, "f", False, type="boolean")
    assert world.last(AGENT).params["value"] is False
    assert world.last(AGENT).params["type"] == "boolean"


def _set(world: World, config_id: str, value: Any, **fields: Any) -> int:
    return world.ask(
        CLIENT,
        "session/set_config_option",
        {"sessionId": SESSION, "configId": config_id, "value": value, **fields},
    )


def test_setting_the_option_of_the_mode_also_tells_the_mode() -> None:
    """translate 9: a changed value also gives `current_mode_update`."""
    world, _ = _opened(MODE)
    key = _set(world, "m", "code")
    assert world.last(AGENT).params["type"] == "id"
    world.answer(AGENT, world.last(AGENT).key, {"configOptions": [_changed(MODE, "code")]})
    assert world.updates() == [{"sessionUpdate": "current_mode_update", "currentModeId": "code"}]
    assert world.answer_to(key) == Result(key, {"configOptions": [_v1(_changed(MODE, "code"))]})
    key = _set(world, "m", "ask")
    world.fail(AGENT, world.last(AGENT).key, -32602)
    assert world.answer_to(key).code == -32602


def test_setting_the_mode_sets_the_option() -> None:
    """translate 9: and the client hears of the option, not of the mode it has set."""
    world, _ = _opened(MODE, MODEL)
    key = world.ask(CLIENT, "session/set_mode", {"sessionId": SESSION, "modeId": "code"})
    assert world.last(AGENT).method == "session/set_config_option"
    assert world.last(AGENT).params == {
        "sessionId": SESSION,
        "configId": "m",
        "type": "id",
        "value": "code",
    }
    world.answer(
        AGENT,
        world.last(AGENT).key,
        {"configOptions": [_changed(MODE, "code")], "_meta": {"k": 1}},
    )
    assert world.answer_to(key) == Result(key, {})
    assert world.updates() == [
        {"sessionUpdate": "config_option_update", "configOptions": [_v1(_changed(MODE, "code"))]}
    ]
    key = world.ask(CLIENT, "session/set_mode", {"sessionId": SESSION, "modeId": "ask"})
    world.fail(AGENT, world.last(AGENT).key, -32602)
    assert world.answer_to(key) == Failure(key, -32602, "no", None)


def test_setting_a_model_the_old_way_sets_the_option() -> None:
    """v1: gone from the schema, still spoken."""
    world, _ = _opened(MODEL)
    key = world.ask(CLIENT, "session/set_model", {"sessionId": SESSION, "modelId": "big"})
    assert world.last(AGENT).params["configId"] == "l"
    world.answer(AGENT, world.last(AGENT).key, {"configOptions": [MODEL]})
    assert world.answer_to(key) == Result(key, {})
    key = world.ask(CLIENT, "session/set_mode", {"sessionId": SESSION, "modeId": "big"})
    assert world.answer_to(key).code == -32602


def test_an_update_of_the_options_tells_the_mode_if_it_changed() -> None:
    """translate 9."""
    world, _ = _opened(MODE)
    update = {"sessionUpdate": "config_option_update", "configOptions": [MODE]}
    assert [one["sessionUpdate"] for one in world.update(update)] == ["config_option_update"]
    update["configOptions"] = [_changed(MODE, "code")]
    assert [one["sessionUpdate"] for one in world.update(update)] == [
        "current_mode_update",
        "config_option_update",
    ]
    fresh = started()
    assert [one["sessionUpdate"] for one in fresh.update(update)] == ["config_option_update"]


def test_an_option_that_v1_has_not_is_kept_beside_the_list() -> None:
    """translate 9: an unknown type."""
    world, result = _opened(DIAL, MODEL)
    assert result["configOptions"] == [V1_MODEL]
    assert result["_meta"] == {X: {"configOptions": [DIAL]}}
    assert world.losses == {"config option": 1}


def test_choices_without_values_come_back() -> None:
    """translate 9: dropped on the way to v2."""
    empty = {"id": "e", "name": "E", "type": "select", "currentValue": "", "options": []}
    _, result = _opened(MODEL, _meta={"k": 1, X: {"configOptions": [empty], "l": 2}})
    assert result["configOptions"] == [V1_MODEL, empty]
    assert result["_meta"] == {"k": 1, X: {"l": 2}}
    odd = {X: {"configOptions": [{"id": 1}]}}
    _, result = _opened(MODEL, _meta=odd)
    assert result["_meta"] == odd


def test_modes_that_became_an_option_are_modes_again() -> None:
    """translate 9: v1's own modes come back, and the made up option is not shown."""
    made = {**MODE, "configId": "mode", "_meta": {X: {"made": True}}}
    modes = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "A"}]}
    world, result = _opened(made, _meta={X: {"modes": modes, "models": {"odd": 1}}})
    assert result == {
        "sessionId": SESSION,
        "modes": modes,
        "_meta": {X: {"models": {"odd": 1}}},
    }
    changed = _changed(made, "code")
    update: dict[str, Any] = {"sessionUpdate": "config_option_update", "configOptions": [changed]}
    assert world.update(update) == [
        {"sessionUpdate": "current_mode_update", "currentModeId": "code"}
    ]
    update["configOptions"] = [changed, MODEL]
    assert world.update(update) == [
        {"sessionUpdate": "config_option_update", "configOptions": [V1_MODEL]}
    ]
    world.ask(CLIENT, "session/set_mode", {"sessionId": SESSION, "modeId": "ask"})
    assert world.last(AGENT).params["configId"] == "mode"
    models = {"currentModelId": "b", "availableModels": [{"modelId": "b", "name": "B"}]}
    _, result = _opened(_meta={X: {"models": models}})
    assert result["models"] == models
    assert result["configOptions"] == []


def test_options_come_with_every_way_to_open_a_session() -> None:
    """translate 4."""
    world = World()
    world.initialize()
    for method in ("session/load", "session/resume"):
        key = world.ask(CLIENT, method, {"sessionId": SESSION, "cwd": CWD, "mcpServers": []})
        world.answer(AGENT, world.last(AGENT).key, {"configOptions": [MODE]})
        assert world.answer_to(key).result["modes"]["currentModeId"] == "ask"

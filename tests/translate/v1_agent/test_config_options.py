"""Modes, models and config options of a v1 agent (the translation's table 9)."""

from typing import Any

import pytest

from accord.jsonrpc.error_codes import INVALID_PARAMS, RESOURCE_NOT_FOUND
from tests.translate.v1_agent.scripted_peers import Stage

X = "acp.translate"
MODES = {
    "currentModeId": "ask",
    "availableModes": [
        {"id": "ask", "name": "Ask", "description": "Asks", "_meta": {"k": 1}},
        {"id": "code", "name": "Code"},
    ],
}
MODELS = {"currentModelId": "big", "availableModels": [{"modelId": "small", "name": "Small"}]}
SWITCH = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": True}
GROUP = {"name": "G", "options": [{"value": "low", "name": "Low"}]}
LEVEL = {
    "id": "level",
    "name": "Level",
    "type": "select",
    "category": "thought_level",
    "currentValue": "low",
    "options": [{"group": "g", **GROUP}],
}
MODE_OPTION = {
    "id": "how",
    "name": "How",
    "type": "select",
    "category": "mode",
    "currentValue": "ask",
    "options": [{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}],
}


def opened(stage: Stage, **more: Any) -> Any:
    stage.start()
    return stage.new(**more)


def values(options: list[Any]) -> dict[str, Any]:
    return {option["configId"]: option["currentValue"] for option in options}


def test_options_have_v2s_names() -> None:
    said = opened(Stage(), configOptions=[SWITCH, LEVEL])
    assert said["configOptions"] == [
        {"configId": "fast", "name": "Fast", "type": "boolean", "currentValue": True},
        {
            "configId": "level",
            "name": "Level",
            "type": "select",
            "category": "thought_level",
            "currentValue": "low",
            "options": [
                {"groupId": "g", "name": "G", "options": [{"value": "low", "name": "Low"}]}
            ],
        },
    ]


def test_an_option_without_values_is_left_out_and_kept() -> None:
    empty = {**LEVEL, "id": "a", "options": []}
    group = {**LEVEL, "id": "b", "options": [{"group": "g", "name": "G", "options": []}]}
    said = opened(Stage(), configOptions=[empty, SWITCH, group])
    assert values(said["configOptions"]) == {"fast": True}
    assert said["_meta"] == {X: {"configOptions": [empty, group]}}


def test_options_that_cannot_be_listed_are_kept_beside_every_list() -> None:
    stage = Stage()
    empty = {**LEVEL, "id": "a", "options": []}
    opened(stage, configOptions=[empty], modes=MODES)
    stage.update({"sessionUpdate": "current_mode_update", "currentModeId": "ask"})
    assert stage.updates() == []
    stage.update({"sessionUpdate": "current_mode_update", "currentModeId": "code"})
    assert stage.updates()[0]["_meta"] == {X: {"configOptions": [empty]}}
    key = put(stage, "mode", "ask")
    stage.reply("session/set_mode")
    assert stage.answer(key)["_meta"] == {X: {"configOptions": [empty]}}


def test_options_of_other_types_that_were_kept_come_back() -> None:
    other = {"type": "_slider", "configId": "s", "name": "S", "currentValue": 3}
    said = opened(Stage(), configOptions=[SWITCH], _meta={X: {"configOptions": [other]}})
    assert said["configOptions"][1] == other
    assert "_meta" not in said
    for odd in ([5], [{**other, "type": "select"}], [{"type": "_x"}], "x"):
        said = opened(Stage(), configOptions=[SWITCH], _meta={X: {"configOptions": odd}})
        assert said["_meta"] == {X: {"configOptions": odd}}


def test_modes_and_models_become_options_and_are_kept() -> None:
    said = opened(Stage(), modes=MODES, models=MODELS)
    mode, model = said["configOptions"]
    assert mode == {
        "configId": "mode",
        "name": "Mode",
        "type": "select",
        "category": "mode",
        "currentValue": "ask",
        "options": [
            {"value": "ask", "name": "Ask", "description": "Asks", "_meta": {"k": 1}},
            {"value": "code", "name": "Code"},
        ],
        "_meta": {X: {"made": True}},
    }
    assert model["options"] == [
        {"value": "small", "name": "Small"},
        {"value": "big", "name": "big"},
    ]
    assert said["_meta"] == {X: {"modes": MODES, "models": MODELS}}


def test_modes_beside_an_option_of_their_category_are_that_option() -> None:
    said = opened(Stage(), modes=MODES, configOptions=[MODE_OPTION])
    assert values(said["configOptions"]) == {"how": "ask"}


def test_only_a_choice_stands_for_the_modes() -> None:
    stage = Stage()
    said = opened(stage, modes=MODES, configOptions=[{**SWITCH, "category": "mode"}])
    assert values(said["configOptions"]) == {"fast": True, "mode": "ask"}
    stage.update({"sessionUpdate": "current_mode_update", "currentModeId": "code"})
    assert values(stage.updates()[0]["configOptions"]) == {"fast": True, "mode": "code"}


def test_an_option_that_is_made_up_has_an_id_of_its_own() -> None:
    said = opened(Stage(), modes=MODES, configOptions=[{**SWITCH, "id": "mode"}])
    assert values(said["configOptions"]) == {"mode": True, "mode_": "ask"}


@pytest.mark.rule("V2-SESS-03")
def test_no_options_are_no_list() -> None:
    assert opened(Stage(), configOptions=None, modes=None) == {"sessionId": "s1"}
    assert opened(Stage(), configOptions=[]) == {"sessionId": "s1", "configOptions": []}


def test_a_changed_mode_is_told_as_all_options() -> None:
    stage = Stage()
    opened(stage, modes=MODES, configOptions=[SWITCH])
    stage.update({"sessionUpdate": "current_mode_update", "currentModeId": "code"})
    stage.update({"sessionUpdate": "config_option_update", "configOptions": []})
    first, second = stage.updates()
    assert first["sessionUpdate"] == "config_option_update"
    assert values(first["configOptions"]) == {"fast": True, "mode": "code"}
    assert values(second["configOptions"]) == {"mode": "code"}


def test_a_changed_mode_of_an_agent_with_an_option_for_it_changes_that_option_once() -> None:
    stage = Stage()
    opened(stage, modes=MODES, configOptions=[MODE_OPTION])
    for mode in ("ask", "code", "code", "unheard of"):
        stage.update({"sessionUpdate": "current_mode_update", "currentModeId": mode})
    (said,) = stage.updates()
    assert values(said["configOptions"]) == {"how": "code"}


def test_a_mode_inside_a_group_is_found() -> None:
    stage = Stage()
    grouped = [{"group": "g", "name": "G", "options": MODE_OPTION["options"]}]
    opened(stage, configOptions=[{**MODE_OPTION, "options": grouped}])
    stage.update({"sessionUpdate": "current_mode_update", "currentModeId": "code"})
    assert values(stage.updates()[0]["configOptions"]) == {"how": "code"}


def test_a_mode_of_an_agent_that_has_none_is_dropped_and_counted() -> None:
    stage = Stage()
    opened(stage)
    stage.update({"sessionUpdate": "current_mode_update", "currentModeId": "code"})
    assert stage.updates() == []
    assert stage.adapter.losses == {"current_mode_update": 1}


# ---- setting


def put(stage: Stage, config_id: str, value: Any, kind: str = "id") -> int:
    params = {"sessionId": "s1", "configId": config_id, "type": kind, "value": value}
    return stage.ask("session/set_config_option", params)


def test_setting_an_option_drops_the_tag_that_v1_lacks() -> None:
    stage = Stage()
    opened(stage, configOptions=[SWITCH, LEVEL], modes=MODES)
    put(stage, "level", "low")
    asked = stage.opened("session/set_config_option")
    assert asked.params == {"sessionId": "s1", "configId": "level", "value": "low"}
    key = put(stage, "fast", False, "boolean")
    asked = stage.opened("session/set_config_option")
    assert asked.params["type"] == "boolean"
    stage.to_agent.append(asked)
    changed = [{**SWITCH, "currentValue": False}]
    stage.reply("session/set_config_option", {"configOptions": changed})
    assert values(stage.answer(key)["configOptions"]) == {"fast": False, "mode": "ask"}


def test_setting_a_mode_or_a_model_calls_its_own_method() -> None:
    stage = Stage()
    opened(stage, modes=MODES, models=MODELS)
    key = put(stage, "mode", "code")
    asked = stage.opened("session/set_mode")
    assert asked.params == {"sessionId": "s1", "modeId": "code"}
    stage.to_agent.append(asked)
    stage.reply("session/set_mode", {"_meta": {"a": 1}})
    said = stage.answer(key)
    assert (values(said["configOptions"]), said["_meta"]) == (
        {"mode": "code", "model": "big"},
        {"a": 1},
    )
    key = put(stage, "model", "small")
    stage.reply("session/set_model")
    assert values(stage.answer(key)["configOptions"]) == {"mode": "code", "model": "small"}
    key = put(stage, "mode", "ask")
    stage.fail("session/set_mode", -32603, "not now")
    assert stage.error(key).message == "not now"
    assert stage.updates() == []


@pytest.mark.parametrize(
    ("config_id", "value", "kind"),
    [("mode", "unheard of", "id"), ("mode", True, "boolean"), ("fast", "x", "_other")],
)
def test_values_that_do_not_fit_are_refused(config_id: str, value: Any, kind: str) -> None:
    stage = Stage()
    opened(stage, modes=MODES, configOptions=[SWITCH])
    assert stage.error(put(stage, config_id, value, kind)).code == INVALID_PARAMS
    assert stage.to_agent == []


def test_a_refusal_of_the_agent_and_an_unknown_session() -> None:
    stage = Stage()
    opened(stage, configOptions=[SWITCH])
    key = put(stage, "nope", "x")
    stage.fail("session/set_config_option", INVALID_PARAMS, "no such option")
    assert stage.error(key).code == INVALID_PARAMS
    params = {"sessionId": "nope", "configId": "a", "type": "id", "value": "b"}
    assert stage.error(stage.ask("session/set_config_option", params)).code == RESOURCE_NOT_FOUND

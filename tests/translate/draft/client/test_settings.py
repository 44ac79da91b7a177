"""Modes and options of a v1 agent for a draft client: set, and every change told once."""

from typing import Any

import pytest

from accord.translate.message import AGENT, CLIENT, Notification, Result
from accord.translate.meta_store import DRAFT
from tests.translate.draft.open_sessions import Before, before, options

MODE_OPTION = {
    "id": "how",
    "name": "Mode",
    "type": "select",
    "category": "mode",
    "currentValue": "default",
    "options": [
        {"value": "default", "name": "Default"},
        {"value": "plan", "name": "Plan"},
        {"group": "g", "name": "G", "options": [{"value": "deep", "name": "Deep"}]},
    ],
}


def _set_mode(scene: Before, mode: str) -> tuple[int, Any]:
    key = scene.wire.ask(CLIENT, "session/set_mode", {"sessionId": "s", "mode": mode})
    return key, scene.wire.one(AGENT, "session/set_mode")


def _mode(mode: str, **more: Any) -> Any:
    return {"sessionUpdate": "current_mode_update", "currentModeId": mode, **more}


def _told(said: list[Any]) -> list[Any]:
    return [one.params["data"] for _, one in said if isinstance(one, Notification)]


@pytest.mark.rule("D26-09", "D26-35")
@pytest.mark.parametrize("agent_says", ["nothing", "within", "after"])
def test_a_change_of_mode_is_told_once_after_the_answer(agent_says: str) -> None:
    """The draft's table 3.6."""
    scene = before()
    key, asked = _set_mode(scene, "ask_permission")
    assert asked.params == {"sessionId": "s", "modeId": "ask"}
    if agent_says == "within":
        assert scene.update(_mode("ask", _meta={"x": 1})) == []
    scene.wire.answer(AGENT, asked.key, {})
    said = scene.wire.take()
    change = {"previousMode": "default", "currentMode": "ask_permission"}
    assert isinstance(said[0][1], Result)
    assert said[0][1].key == key
    assert {**said[0][1].result, "_meta": None} == {**change, "_meta": None}
    (told,) = _told(said)
    assert {**told, "_meta": None} == {**change, "_meta": None}
    if agent_says == "after":
        assert scene.update(_mode("ask")) == []
    (told,) = scene.update(_mode("plan"))
    assert told["data"]["previousMode"] == "ask_permission"


def test_options_in_the_answer_to_a_mode_are_nobodys() -> None:
    """Ours: v1 has none there, so that nobody has read whether they are any."""
    scene = before()
    _, asked = _set_mode(scene, "plan")
    scene.wire.answer(AGENT, asked.key, {"configOptions": "none"})
    scene.wire.take()
    params = {"sessionId": "s", "key": "model", "value": "7"}
    scene.wire.ask(CLIENT, "session/set_config_option", params)
    assert scene.wire.one(AGENT, "session/set_config_option").params["configId"] == "model"


def test_another_mode_within_the_call_is_told_at_once() -> None:
    """The draft's table 3.6: only the same value is the same word."""
    scene = before()
    _, asked = _set_mode(scene, "plan")
    (told,) = scene.update(_mode("ask"))
    assert told["data"]["currentMode"] == "ask_permission"
    scene.wire.answer(AGENT, asked.key, {})
    assert _told(scene.wire.take())[0]["currentMode"] == "plan"


def test_a_mode_that_was_on_already_is_told_only_if_the_agent_does() -> None:
    """The draft's table 3.6."""
    scene = before()
    _, asked = _set_mode(scene, "default")
    scene.wire.answer(AGENT, asked.key, {})
    assert _told(scene.wire.take()) == []
    _, asked = _set_mode(scene, "default")
    scene.update(_mode("default"))
    scene.wire.answer(AGENT, asked.key, {})
    assert len(_told(scene.wire.take())) == 1


def test_a_change_that_failed_is_not_told() -> None:
    """The draft's table 3.6: but what the agent said itself is."""
    scene = before()
    key, asked = _set_mode(scene, "plan")
    scene.wire.fail(AGENT, asked.key, -32602)
    assert scene.wire.error(CLIENT, key).code == -32602
    _, asked = _set_mode(scene, "plan")
    scene.update(_mode("plan"))
    scene.wire.fail(AGENT, asked.key, -32602)
    assert len(_told(scene.wire.take())) == 1


def test_a_session_without_modes_has_none_to_set() -> None:
    """The draft's table 9: -32007."""
    scene = Before()
    scene.initialize()
    scene.open(modes=None)
    key = scene.wire.ask(CLIENT, "session/set_mode", {"sessionId": "s", "mode": "plan"})
    assert scene.wire.error(CLIENT, key).code == -32007


def test_an_option_that_is_the_mode_is_set_as_the_mode() -> None:
    """The draft's table 3.4: `modes` or the option of that category."""
    scene = Before()
    scene.initialize()
    scene.open(modes=None, configOptions=[*options(), MODE_OPTION])
    key = scene.wire.ask(CLIENT, "session/set_mode", {"sessionId": "s", "mode": "plan"})
    asked = scene.wire.one(AGENT, "session/set_config_option")
    assert asked.params == {"sessionId": "s", "configId": "how", "value": "plan"}
    now = [*options(), {**MODE_OPTION, "currentValue": "plan"}]
    scene.wire.answer(AGENT, asked.key, {"configOptions": now})
    said = scene.wire.take()
    assert said[0][1].result["currentMode"] == "plan"  # type: ignore[union-attr]
    assert said[0][1].key == key  # type: ignore[union-attr]
    assert len(_told(said)) == 1


def _by_option(scene: Before, mode: str, *more: Any) -> list[Any]:
    """The agent says by its options that it is in a mode."""
    now = [*(more or options()), {**MODE_OPTION, "currentValue": mode}]
    return scene.update({"sessionUpdate": "config_option_update", "configOptions": now})


@pytest.mark.rule("D26-35")
@pytest.mark.parametrize("has_modes", [True, False])
@pytest.mark.parametrize("also_by_mode", [True, False])
def test_a_mode_that_is_an_option_too_is_told_once(has_modes: bool, also_by_mode: bool) -> None:
    """The draft's table 3.6: exactly one update per change."""
    scene = Before()
    scene.initialize()
    modes: dict[str, Any] = {} if has_modes else {"modes": None}
    scene.open(configOptions=[*options(), MODE_OPTION], **modes)
    scene.wire.ask(CLIENT, "session/set_mode", {"sessionId": "s", "mode": "plan"})
    ((_, asked),) = scene.wire.take()
    if also_by_mode:
        assert scene.update(_mode("plan")) == []
    assert _by_option(scene, "plan") == []
    now = [*options(), {**MODE_OPTION, "currentValue": "plan"}]
    result = {} if has_modes else {"configOptions": now}
    scene.wire.answer(AGENT, asked.key, result)  # type: ignore[union-attr]
    said = scene.wire.take()
    assert isinstance(said[0][1], Result)
    (told,) = _told(said)
    assert (told["previousMode"], told["currentMode"]) == ("default", "plan")
    assert told["_meta"][DRAFT]["configOptions"] == now
    assert _by_option(scene, "plan") == []


def test_what_changed_with_the_mode_is_told_behind_it() -> None:
    """The draft's table 3.6, 5: one update for each key that changed."""
    scene = Before()
    scene.initialize()
    scene.open(configOptions=[*options(), MODE_OPTION])
    _, asked = _set_mode(scene, "plan")
    # Another mode is not a name for the one that was asked for.
    assert [one["data"]["key"] for one in _by_option(scene, "deep")] == ["how"]
    assert _by_option(scene, "plan", *options("7")) == []
    scene.wire.answer(AGENT, asked.key, {})
    mode, option = _told(scene.wire.take())
    assert mode["currentMode"] == "plan"
    assert (option["key"], option["source"]) == ("model", "agent")


def test_an_option_that_said_the_mode_is_told_also_if_the_change_failed() -> None:
    """Ours: what the agent said itself is said."""
    scene = Before()
    scene.initialize()
    scene.open(configOptions=[*options(), MODE_OPTION])
    _, asked = _set_mode(scene, "plan")
    assert _by_option(scene, "plan") == []
    scene.wire.fail(AGENT, asked.key, -32602)
    (told,) = _told(scene.wire.take())
    assert (told["key"], told["currentValue"]) == ("how", "plan")


def test_options_that_are_out_of_date_when_the_mode_is_set_are_not_told() -> None:
    """Ours: what the agent said last is what is so."""
    scene = Before()
    scene.initialize()
    scene.open(configOptions=[*options(), MODE_OPTION])
    _, asked = _set_mode(scene, "plan")
    assert _by_option(scene, "plan", *options("7")) == []
    assert [one["data"]["currentValue"] for one in _by_option(scene, "deep")] == ["deep"]
    scene.wire.fail(AGENT, asked.key, -32602)
    assert _told(scene.wire.take()) == []
    assert _by_option(scene, "deep") == []


def test_what_a_draft_agent_behind_had_said_of_a_mode_comes_back() -> None:
    """The draft's table 5."""
    kept = {"previousMode": "code", "reason": "asked", "y": 1}
    (told,) = before().update(_mode("plan", _meta={DRAFT: kept}))
    assert told["data"] == {
        "previousMode": "code",
        "currentMode": "plan",
        "reason": "asked",
        "_meta": {DRAFT: {"y": 1}},
    }
    (told,) = before().update(_mode("plan"))
    assert told["data"]["_meta"] == {DRAFT: {"made": ["previousMode"]}}


# ---- options


def _set(scene: Before, key: str, value: Any) -> int:
    params = {"sessionId": "s", "key": key, "value": value}
    return scene.wire.ask(CLIENT, "session/set_config_option", params)


@pytest.mark.rule("D26-09", "D26-35")
def test_an_option_is_told_first_and_then_what_changed_with_it() -> None:
    """The draft's table 3.7."""
    scene = before()
    key = _set(scene, "fast", True)
    asked = scene.wire.one(AGENT, "session/set_config_option")
    assert asked.params == {"sessionId": "s", "configId": "fast", "value": True, "type": "boolean"}
    scene.wire.answer(AGENT, asked.key, {"configOptions": options("7", True)})
    said = scene.wire.take()
    result = said[0][1]
    assert isinstance(result, Result)
    assert result.key == key
    kept = {DRAFT: {"configOptions": options("7", True)}}
    change = {"key": "fast", "previousValue": False, "currentValue": True}
    assert result.result == {**change, "_meta": kept}
    first, second = _told(said)
    assert {**first, "_meta": 0} == {**change, "source": "user", "_meta": 0}
    assert (second["key"], second["source"]) == ("model", "user")
    echo = {"sessionUpdate": "config_option_update", "configOptions": options("7", True)}
    assert scene.update(echo) == []


def test_what_the_agent_says_within_the_call_is_the_same_word() -> None:
    """The draft's table 3.6."""
    scene = before()
    _set(scene, "model", 7)
    asked = scene.wire.one(AGENT, "session/set_config_option")
    assert asked.params == {"sessionId": "s", "configId": "model", "value": "7"}
    update = {"sessionUpdate": "config_option_update", "configOptions": options("7")}
    assert scene.update(update) == []
    scene.wire.answer(AGENT, asked.key, {"configOptions": options("7")})
    (told,) = _told(scene.wire.take())
    assert "made" not in told["_meta"][DRAFT]


@pytest.mark.parametrize("says", [False, True])
def test_an_option_that_is_refused(says: bool) -> None:
    """The draft's table 3.6."""
    scene = before()
    key = _set(scene, "model", "7")
    asked = scene.wire.one(AGENT, "session/set_config_option")
    if says:
        update = {"sessionUpdate": "config_option_update", "configOptions": options("small", True)}
        scene.update(update)
    scene.wire.fail(AGENT, asked.key, -32002)
    said = scene.wire.take()
    assert said[0][1].code == -32000  # type: ignore[union-attr]
    assert said[0][1].key == key  # type: ignore[union-attr]
    assert [one["source"] for one in _told(said)] == (["agent"] if says else [])


@pytest.mark.parametrize(
    ("key", "value"),
    [("odd", "x"), ("model", "huge"), ("model", True), ("model", None), ("fast", 1), ("model", {})],
)
def test_a_value_that_is_not_offered_is_refused(key: str, value: Any) -> None:
    """The draft's table 3.7: -32602."""
    scene = before()
    error = scene.wire.error(CLIENT, _set(scene, key, value))
    assert (error.code, error.data) == (-32602, {"key": key})


def test_an_option_that_is_gone_after_it_was_set() -> None:
    """Ours: the answer still says what was set."""
    scene = before()
    key = _set(scene, "model", "7")
    asked = scene.wire.one(AGENT, "session/set_config_option")
    scene.wire.answer(AGENT, asked.key, {"configOptions": []})
    assert scene.wire.took(CLIENT)[0].result["currentValue"] == "7"
    assert key


def test_each_option_that_the_agent_changed_is_told() -> None:
    """The draft's table 5: one update per changed key, by the agent."""
    scene = before()
    added = {**MODE_OPTION, "currentValue": "plan"}
    update = {
        "sessionUpdate": "config_option_update",
        "configOptions": [*options("7", True), added],
        "_meta": {"x": 1, DRAFT: {"key": "fast", "source": "timer"}},
    }
    odd = {**update, "_meta": {DRAFT: {"key": "fast", "source": 5}}}
    assert [one["data"]["source"] for one in before().update(odd)] == ["agent"] * 3
    told = scene.update(update)
    assert [one["data"]["key"] for one in told] == ["model", "fast", "how"]
    assert [one["data"]["source"] for one in told] == ["agent", "timer", "agent"]
    assert "previousValue" not in told[2]["data"]
    assert told[1]["data"]["_meta"] == {DRAFT: {"made": True}}


def test_options_that_a_loaded_session_does_not_tell_again_are_as_they_were() -> None:
    """Draft, 3.4: `configOptions` is the map of what holds, `{}` only where there are none."""
    scene = before()
    key = scene.wire.ask(CLIENT, "session/load", {"sessionId": "s"})
    scene.wire.answer(AGENT, scene.wire.one(AGENT, "session/load").key, {})
    loaded = scene.wire.result(CLIENT, key)
    assert loaded["configOptions"] == {"model": "small", "fast": False}
    assert loaded["mode"] == "default"

"""What a draft agent tells, as updates of v1."""

from typing import Any

import pytest

from accord.translate.message import AGENT, CLIENT, CannotTranslate, Notification
from accord.translate.meta_store import DRAFT
from tests.translate.draft.open_sessions import V1_CLIENT, behind, options


def _text(text: str, **more: Any) -> Any:
    return {"type": "text", "text": text, **more}


@pytest.mark.rule("D26-14")
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("agent_message_chunk", "agent_message_chunk"),
        ("user_message_chunk", "user_message_chunk"),
        ("thought_message_chunk", "agent_thought_chunk"),
    ],
)
def test_a_chunk_is_a_block_of_text(kind: str, name: str) -> None:
    """The draft's table 5."""
    (update,) = behind().update(kind, {"content": "hi"})
    assert update == {"sessionUpdate": name, "content": _text("hi")}


def test_indexes_and_ends_make_messages() -> None:
    """The draft's table 5: index 0, or the chunk after a final one, starts a message."""
    scene = behind()
    ids = []
    for data in (
        {"content": "a", "index": 0},
        {"content": "b", "index": 1},
        {"content": "c"},
        {"content": "d", "index": 2, "final": True},
        {"content": "e"},
        {"content": "f"},
        {"content": "g", "index": 0, "final": False},
    ):
        (update,) = scene.update("agent_message_chunk", data)
        ids.append(update.get("messageId"))
        kept = {name: data[name] for name in ("index", "final") if name in data}
        assert update.get("_meta") == ({DRAFT: kept} if kept else None)
    made = [f"d26-message-fresh-{number}" for number in (1, 2, 3)]
    assert ids == made[:1] * 4 + made[1:2] * 2 + made[2:]
    scene.update("thought_message_chunk", {"content": "hm"})
    (update,) = scene.update("agent_message_chunk", {"content": "h", "index": 1})
    assert update["messageId"] == made[2]
    scene.update("thought_message_chunk", {"content": "hm"})
    (update,) = scene.update("agent_message_chunk", {"content": "i"})
    assert "messageId" not in update


def test_thoughts_that_are_not_visible_are_for_the_assistant_alone() -> None:
    """The draft's table 5."""
    scene = behind()
    (hidden,) = scene.update("thought_message_chunk", {"content": "hm", "visible": False})
    assert hidden["content"]["annotations"] == {"audience": ["assistant"]}
    (shown,) = scene.update("thought_message_chunk", {"content": "hm", "visible": True})
    assert shown["_meta"] == {DRAFT: {"visible": True}}


def test_what_a_bridge_before_us_kept_comes_back() -> None:
    """The draft's table 5: the block and the id of the message, without the index that it made."""
    block = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
    data = {
        "content": "[image]",
        "index": 0,
        "_meta": {DRAFT: {"block": block, "messageId": "m"}, "x": 1},
    }
    (update,) = behind().update("agent_message_chunk", data)
    assert update == {
        "sessionUpdate": "agent_message_chunk",
        "content": block,
        "messageId": "m",
        "_meta": {"x": 1},
    }


@pytest.mark.parametrize("data", [5, {}, {"content": 5}, {"content": "a", "index": "x"}])
def test_data_that_is_not_of_its_type_is_dropped_and_logged(data: Any) -> None:
    """Issue 5: the other side is never sent something invalid."""
    scene = behind()
    assert scene.update("agent_message_chunk", data) == []
    assert "agent_message_chunk" in scene.clock.log[-1]


def test_data_that_can_be_understood_is_written_as_it_should_be() -> None:
    """Ours: the tolerant reader's word."""
    (update,) = behind().update("agent_message_chunk", {"content": "a", "index": None})
    assert update["content"] == _text("a")
    assert "_meta" not in update


def test_a_type_that_nobody_knows_is_dropped_and_counted() -> None:
    """The draft's table 5: the list of types is closed."""
    scene = behind()
    assert scene.update("weather", {}) == []
    assert scene.bridge.losses == {"session/update weather": 1}
    with pytest.raises(CannotTranslate):
        behind(strict=True).bridge.lost("weather")


def test_what_stands_beside_the_data_is_kept() -> None:
    """The draft's table 5: the time, and what nobody knows."""
    scene = behind()
    params = {
        "sessionId": "s",
        "type": "agent_message_chunk",
        "data": {"content": "a"},
        "timestamp": "2026-02-04T10:30:00Z",
        "_meta": {"x": 1},
    }
    scene.wire.tell(AGENT, "session/update", params)
    (made,) = scene.wire.updates(CLIENT)
    assert made["_meta"] == {"x": 1, DRAFT: {"timestamp": "2026-02-04T10:30:00Z"}}
    without = {key: one for key, one in params.items() if key != "timestamp"}
    scene.wire.tell(AGENT, "session/update", without)
    (made,) = scene.wire.updates(CLIENT)
    assert made["_meta"] == {"x": 1}


# ---- tool calls


@pytest.mark.rule("D26-32")
def test_statuses_in_the_words_of_v1() -> None:
    """The draft's table 5.1."""
    scene = behind()
    for status, official in (
        ("pending", "pending"),
        ("awaiting_permission", "pending"),
        ("in_progress", "in_progress"),
        ("completed", "completed"),
        ("failed", "failed"),
        ("denied", "failed"),
        ("cancelled", "failed"),
        ("odd", None),
    ):
        call = {"id": f"c-{status}", "tool": "t", "input": 1}
        scene.update("tool_call", call)
        (update,) = scene.update("tool_call_update", {"id": f"c-{status}", "status": status})
        assert update.get("status") == official
        assert update.get("_meta") == ({DRAFT: {"status": status}} if official != status else None)


@pytest.mark.rule("D26-32")
def test_nothing_leads_out_of_a_final_status_but_output_counts() -> None:
    """The draft's table 5.1."""
    scene = behind()
    scene.update("tool_call", {"id": "a", "tool": "t", "input": {}, "status": "completed"})
    output = {"type": "text", "text": "late"}
    late = {"id": "a", "status": "failed", "output": output}
    (update,) = scene.update("tool_call_update", late)
    assert "status" not in update
    assert update["rawOutput"] == output
    (update,) = scene.update("tool_call_update", {"id": "a", "status": "completed"})
    assert update["status"] == "completed"


def test_what_a_bridge_before_us_made_up_is_taken_out() -> None:
    """The draft's table 3.6, 5.1: the draft wants it told, v1 does not."""
    scene = behind()
    made = {"_meta": {DRAFT: {"made": True}}}
    change = {"previousMode": "default", "currentMode": "plan", **made}
    option = {"key": "depth", "currentValue": 1, **made}
    assert scene.update("current_mode_update", change) == []
    assert scene.update("config_option_update", option) == []
    assert scene.update("tool_call", {"id": "a", "tool": "t", "input": {}, **made}) == []
    assert scene.update("tool_call_update", {"id": "a", "status": "completed", **made}) == []
    session = scene.bridge.state.sessions["s"]
    assert session.mode == "plan"
    assert session.calls["a"].status == "completed"


# ---- modes, options, plans, commands


def test_a_mode_that_a_bridge_before_us_completed() -> None:
    """The draft's table 5."""
    kept = {"_meta": {DRAFT: {"made": ["previousMode"]}}}
    data = {"previousMode": "default", "currentMode": "plan", **kept}
    (update,) = behind().update("current_mode_update", data)
    assert update == {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}


@pytest.mark.rule("D26-35")
def test_an_option_is_told_with_the_whole_list() -> None:
    """The draft's table 5: the bridge patches its copy."""
    scene = behind()
    data = {"key": "depth", "previousValue": 1, "currentValue": "deep", "source": "user"}
    (update,) = scene.update("config_option_update", data)
    (option,) = update["configOptions"]
    assert option["currentValue"] == "deep"
    assert [one["value"] for one in option["options"]] == ["deep"]
    assert update["_meta"] == {DRAFT: data}


def test_a_list_of_options_that_was_kept_is_told() -> None:
    """The draft's table 5."""
    kept = {"_meta": {DRAFT: {"configOptions": options()}}}
    data = {"key": "model", "currentValue": "small", **kept}
    (update,) = behind().update("config_option_update", data)
    assert update == {"sessionUpdate": "config_option_update", "configOptions": options()}


# ---- what only the official versions have


def _official(**update: Any) -> Any:
    return {"sessionId": "s", "update": update}


def test_official_updates_come_back_as_such() -> None:
    """The draft's table 5: a peer that we told so sends them under a name of their own."""
    scene = behind()
    params = _official(sessionUpdate="usage_update", used=1, size=2)
    scene.wire.tell(AGENT, "_acp/session_update", params)
    assert scene.wire.take() == [(CLIENT, Notification("session/update", params))]


def test_official_updates_that_the_client_did_not_ask_for_are_dropped_and_counted() -> None:
    """V1: they hang on a capability."""
    params = _official(sessionUpdate="notice", severity="info", title="t")
    scene = behind()
    scene.wire.tell(AGENT, "_acp/session_update", params)
    assert scene.wire.take() == []
    assert scene.bridge.losses == {"notice": 1}
    scene = behind(client={"session": 5})
    scene.wire.tell(AGENT, "_acp/session_update", params)
    assert scene.wire.take() == []
    scene = behind(client={**V1_CLIENT, "session": {"notices": {}}})
    scene.wire.tell(AGENT, "_acp/session_update", params)
    assert scene.wire.take() == [(CLIENT, Notification("session/update", params))]


def test_an_official_update_that_is_none_is_dropped_and_logged() -> None:
    """Issue 5: the other side is never sent something invalid."""
    scene = behind()
    scene.wire.tell(AGENT, "_acp/session_update", {"sessionId": "s"})
    assert scene.wire.take() == []
    assert "official" in scene.clock.log[-1]


def test_an_update_of_a_session_that_nobody_opened_is_passed_on() -> None:
    """Ours: the client judges what it knows."""
    assert behind().update("agent_message_chunk", {"content": "a"}, "other")

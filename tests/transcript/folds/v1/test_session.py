"""What v1 says about the session as a whole."""

import pytest

from accord.schema import v1
from accord.schema.codec import decode, encode
from accord.transcript import Choice, Command, ConfigOption, Cost, Mode
from accord.transcript.items.options_and_commands import MODELS_OPTION_ID
from tests.transcript.wire_updates import folding_v1, image, text

OPTION = {
    "id": "depth",
    "name": "Depth",
    "type": "select",
    "currentValue": "deep",
    "options": [{"value": "deep", "name": "Deep", "description": "slow"}],
}


@pytest.mark.rule("V1-CMD-02")
def test_a_list_of_commands_replaces_the_former_one() -> None:
    """v1."""
    fold = folding_v1()
    held = fold.transcript.commands
    hinted = {"name": "b", "description": "B", "input": {"hint": "what"}}
    update = fold(
        "available_commands_update",
        availableCommands=[{"name": "a", "description": "A"}, hinted],
    )
    assert update.kind == "commands"
    assert update.item is held
    assert list(held) == [Command("a", "A"), Command("b", "B", "what")]
    fold("available_commands_update", availableCommands=[{"name": "c", "description": "C"}])
    assert list(held) == [Command("c", "C")]


@pytest.mark.rule("V1-USAGE-13")
def test_session_info_keeps_what_is_left_out_and_clears_what_is_null() -> None:
    """v1."""
    fold = folding_v1()
    seen = []
    for fields in ({"title": "A"}, {"updatedAt": "2026-01-01T00:00:00Z"}, {"title": None}):
        update = fold("session_info_update", **fields)
        seen.append(fold.dumped("info")["title"])
    assert seen == ["A", "A", None]
    assert update.kind == "session_info"
    assert fold.transcript.info.updated_at == "2026-01-01T00:00:00Z"
    assert repr(fold.transcript.info) == "SessionInfo(None, '2026-01-01T00:00:00Z')"


def test_usage_is_what_was_reported_last() -> None:
    """v1; a cost that is left out stays."""
    fold = folding_v1()
    assert fold.dumped("usage") == {"used": None, "size": None, "cost": None}
    fold("usage_update", used=1, size=10, cost={"amount": 0.5, "currency": "EUR"})
    update = fold("usage_update", used=2, size=20)
    usage = fold.transcript.usage
    assert update.item is usage
    assert (usage.used, usage.size, usage.cost) == (2, 20, Cost(0.5, "EUR"))
    fold("usage_update", used=2, size=20, cost=None)
    assert repr(usage) == "Usage(2, 20, None)"


def test_the_current_mode_follows_its_updates() -> None:
    """v1."""
    fold = folding_v1()
    fold.transcript.session_setup(
        decode(
            v1.NewSessionResponse,
            encode(
                {
                    "sessionId": "s",
                    "modes": {
                        "currentModeId": "ask",
                        "availableModes": [
                            {"id": "ask", "name": "Ask"},
                            {"id": "code", "name": "Code", "description": "writes"},
                        ],
                    },
                }
            ),
        )
    )
    modes = fold.transcript.modes
    assert modes.current == "ask"
    assert modes.available == (Mode("ask", "Ask"), Mode("code", "Code", "writes"))
    assert fold("current_mode_update", currentModeId="code").item is modes
    assert repr(modes) == "Modes('code', ['ask', 'code'])"
    fold.transcript.mode_selected("ask")
    assert modes.current == "ask"
    assert fold.dumped("modes")["available"][1]["description"] == "writes"


@pytest.mark.rule("V1-CFG-08")
def test_options_need_no_category_that_we_know() -> None:
    """v1: missing and unknown ones are fine."""
    fold = folding_v1()
    update = fold(
        "config_option_update",
        configOptions=[
            OPTION,
            {**OPTION, "id": "x", "category": "_x"},
            {"id": "y", "name": "Y", "type": "boolean", "currentValue": True, "category": 5},
            {"id": "z", "name": "Z", "type": "_slider", "currentValue": 5},
        ],
    )
    deep = (Choice("deep", "Deep", "slow"),)
    assert update.kind == "config_options"
    assert list(fold.transcript.config_options) == [
        ConfigOption("depth", "Depth", "select", "deep", deep),
        ConfigOption("x", "Depth", "select", "deep", deep, category="_x"),
        ConfigOption("y", "Y", "boolean", value=True),
        ConfigOption("z", "Z", "unknown"),
    ]


def test_choices_in_groups_know_their_group() -> None:
    """v1."""
    fold = folding_v1()
    group = {"group": "g", "name": "G", "options": [{"value": "v", "name": "V"}]}
    fold("config_option_update", configOptions=[{**OPTION, "options": [group]}])
    assert fold.transcript.config_options[0].choices == (
        Choice("v", "V", group_id="g", group_name="G"),
    )


MODELS = {
    "currentModelId": "small",
    "availableModels": [
        {"modelId": "small", "name": "Small"},
        {"modelId": "big", "name": "Big", "description": "costly"},
    ],
}


def test_models_of_the_old_form_are_an_option_of_category_model() -> None:
    """S003: real agents still speak it, and no report of options mentions it."""
    fold = folding_v1()
    response = {"modes": None, "configOptions": [OPTION], "models": MODELS}
    fold.transcript.session_setup(decode(v1.LoadSessionResponse, encode(response)))
    held = fold.transcript.config_options
    assert [option.option_id for option in held] == ["depth", MODELS_OPTION_ID]
    assert (held[1].category, held[1].value, held[1].is_models) == ("model", "small", True)
    assert [choice.value for choice in held[1].choices] == ["small", "big"]
    fold("config_option_update", configOptions=[OPTION])
    fold.transcript.model_selected("big")
    assert [option.option_id for option in held] == ["depth", MODELS_OPTION_ID]
    assert held[1].value == "big"
    fold("config_option_update", configOptions=[{**OPTION, "category": "model"}])
    assert [option.option_id for option in held] == ["depth"]


def test_an_option_that_the_agent_took_without_a_report_has_its_value() -> None:
    """Issue 14: the other options, and models of the old form, stay as they are."""
    fold = folding_v1()
    mode = {**OPTION, "id": "mode", "category": "mode"}
    response = {"configOptions": [OPTION, mode], "models": MODELS}
    fold.transcript.session_setup(decode(v1.LoadSessionResponse, encode(response)))
    before = {option.option_id: option.value for option in fold.transcript.config_options}
    fold.transcript.option_selected("mode", "deep")
    after = {option.option_id: option.value for option in fold.transcript.config_options}
    assert after == {**before, "mode": "deep"}
    assert fold.transcript.modes.current == "deep"


def test_a_choice_of_model_without_models_changes_nothing() -> None:
    """Ours."""
    fold = folding_v1()
    fold.transcript.model_selected("big")
    assert list(fold.transcript.config_options) == []


def test_answers_without_options_leave_them_alone() -> None:
    """Ours: absent and null are not lists."""
    fold = folding_v1()
    changed = v1.SetSessionConfigOptionResponse(config_options=[])
    fold("config_option_update", configOptions=[OPTION])
    fold.transcript.session_setup(v1.ResumeSessionResponse())
    fold.transcript.session_setup(v1.ForkSessionResponse(session_id="f", config_options=None))
    assert len(fold.transcript.config_options) == 1
    fold.transcript.session_setup(changed)
    assert len(fold.transcript.config_options) == 0


def test_notices_stand_in_the_timeline() -> None:
    """v1: and end a message without an id."""
    fold = folding_v1()
    fold("agent_message_chunk", content=text("a"))
    update = fold("notice", severity="warning", title="Careful")
    fold("notice", severity="_odd", title="Hm", description="d")
    assert update.kind == "notice"
    assert update.item is fold.transcript.notices[0]
    assert [notice.description for notice in fold.transcript.notices] == [None, "d"]
    assert [entry["type"] for entry in fold.dumped("timeline")] == ["message", "notice", "notice"]


@pytest.mark.rule("V1-USAGE-12")
def test_a_compaction_keeps_the_place_of_its_first_sight() -> None:
    """v1: omitted keeps, null clears, a value replaces, chunks append."""
    fold = folding_v1()
    fold("compaction_update", compactionId="k", status="in_progress")
    fold("agent_message_chunk", content=text("a"))
    whole = fold(
        "compaction_update", compactionId="k", status="completed", summary=[text("s")], error="e"
    )
    assert whole.text == "s"
    fold("compaction_update", compactionId="k", status="completed", meta_={"x": 1})
    compaction = fold.transcript.compactions[0]
    assert (compaction.text, compaction.error) == ("s", "e")
    fold("compaction_update", compactionId="k", status="completed", summary=None, error=None)
    chunk = fold("compaction_summary_chunk", compactionId="k", content=text("chunk"))
    assert (chunk.kind, chunk.text) == ("compaction", "chunk")
    assert (compaction.text, compaction.error) == ("chunk", None)
    assert [entry["type"] for entry in fold.dumped("timeline")] == ["compaction", "message"]
    assert fold.dumped("compactions")[0]["meta"] == {"x": 1}
    assert repr(compaction) == "Compaction('k', 'completed')"


def test_a_chunk_of_an_unseen_compaction_creates_it_in_progress() -> None:
    """v1."""
    fold = folding_v1()
    fold("compaction_summary_chunk", compactionId="k", content=image())
    assert fold.transcript.compactions[0].status == "in_progress"


@pytest.mark.rule("V1-PROXY-11")
def test_the_state_of_a_child_that_cannot_be_told_is_not_confirmed() -> None:
    """v1 (unstable)."""
    fold = folding_v1()
    fold("subagent_update", sessionId="k", state={"state": "running"})
    child = fold.transcript.subagents[0]
    seen = [child.state.confirmed]
    states: list[object] = [
        {"state": "unknown"},
        {"state": "requires_action"},
        {"state": "_dreaming"},
        {"state": "idle", "stopReason": "end_turn", "error": None},
        None,
    ]
    for state in states:
        fold("subagent_update", sessionId="k", state=state)
        seen.append(child.state.confirmed)
    assert seen == ["running", None, "requires_action", None, "idle", None]
    assert child.state.completions == 1


def test_a_child_session_is_patched_field_by_field() -> None:
    """v1 (unstable): without a word the client may do nothing to it."""
    fold = folding_v1()
    fold(
        "subagent_update",
        sessionId="k",
        title="T",
        description="D",
        capabilities={"cancel": {}},
        cwd="/w",
        additionalDirectories=["/x"],
        meta_={"a": 1},
    )
    child = fold.transcript.subagents[0]
    before = child.dump()
    assert fold("subagent_update", sessionId="k").item is child
    assert child.dump() == before
    assert (child.title, child.cwd, child.additional_directories) == ("T", "/w", ("/x",))
    assert before["cancellable"] is True
    fold("subagent_update", sessionId="k", capabilities={})
    assert child.dump()["cancellable"] is False
    nulls: dict[str, object] = dict.fromkeys(
        ("title", "description", "capabilities", "cwd", "additionalDirectories", "meta_")
    )
    fold("subagent_update", sessionId="k", **nulls)
    assert child.dump() == {
        **before,
        "title": None,
        "description": None,
        "cancellable": False,
        "cwd": None,
        "additionalDirectories": None,
        "meta": {},
    }
    assert repr(child) == "Subagent('k', None, State(None, stop_reason=None))"


def test_messages_between_sessions_are_upserts() -> None:
    """v1 (unstable)."""
    fold = folding_v1()
    whole = fold(
        "session_message",
        messageId="m",
        senderSessionId="a",
        recipientSessionId="b",
        senderMessageId="c",
        recipientMessageId="d",
        content=[text("hello")],
    )
    chunk = fold("session_message_chunk", messageId="m", content=text(" there"))
    kept = fold("session_message", messageId="m")
    assert (whole.kind, whole.text, chunk.text, kept.text) == (
        "session_message",
        "hello",
        " there",
        "",
    )
    message = fold.transcript.session_messages[0]
    assert repr(message) == "SessionMessage('m', 'hello there')"
    assert message.sender_session_id == "a"
    nulls: dict[str, object] = dict.fromkeys(
        ("senderSessionId", "recipientSessionId", "senderMessageId", "recipientMessageId")
    )
    fold("session_message", messageId="m", content=None, **nulls)
    assert fold.dumped("sessionMessages") == [
        {
            "type": "session_message",
            "messageId": "m",
            "senderSessionId": None,
            "recipientSessionId": None,
            "senderMessageId": None,
            "recipientMessageId": None,
            "text": "",
            "meta": {},
        }
    ]

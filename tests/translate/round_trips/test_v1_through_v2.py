"""v1 to v2 and back: a v1 client and a v1 agent hear each other as if they were connected directly.

Sessions are generated from the official schema.  What may differ is listed in
`v1_exceptions`; everything else must be equal, message by message and in the transcript at the
end.
"""

from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from accord.translate.message import AGENT, CLIENT, Failure, Json, Notification, Result
from tests.schema.generation import BASE64, PATHS, FromSchema
from tests.schema.official_schema import load
from tests.translate.round_trips.chain_v1 import AGENT_CAPABILITIES, Line, working
from tests.translate.round_trips.differences_v1 import (
    MODES,
    Expected,
    X,
    comparable,
    compare,
    empty_meta_is_none,
    folded,
    is_choice,
)

IDS = st.sampled_from(["a", "b"])
GENERATED = FromSchema(
    load("v1").unstable,
    {
        "ImageContent.data": BASE64,
        "AudioContent.data": BASE64,
        "BlobResourceContents.blob": BASE64,
        "ToolCall.toolCallId": IDS,
        "ToolCallUpdate.toolCallId": IDS,
        "ContentChunk.messageId": IDS,
        "CurrentModeUpdate.currentModeId": IDS,
        "SubagentUpdate.cwd": st.none() | PATHS,
        "SubagentUpdate.additionalDirectories": st.none() | st.lists(PATHS, max_size=2),
        "SubagentUpdate.sessionId": st.just("child"),
        "SessionConfigSelect.currentValue": IDS,
        # What becomes of the category `mode` has a test of its own.
        "SessionConfigOption.category": st.none() | st.sampled_from(["model", "_own"]),
        "RequestPermissionRequest.sessionId": st.just("s"),
        "ElicitationSessionScope.sessionId": st.just("s"),
    },
    always=frozenset({"ContentChunk.messageId", "ElicitationSchema.type"}),
)
# What fails here is large, and making it small takes minutes.
QUICKLY = (Phase.explicit, Phase.generate)

# ---- updates


@settings(max_examples=60, phases=QUICKLY)
@given(st.lists(GENERATED.definition("SessionUpdate"), min_size=1, max_size=6))
def test_updates_come_back_as_they_were_said(updates: list[Json]) -> None:
    """Ours: message by message, and nothing follows when the turn has ended."""
    line = Line()
    line.start()
    line.new(modes=MODES)
    key = line.prompt()
    expected = Expected()
    for update in updates:
        compare(expected.of(update), line.update(update))
    before = len(line.sent[CLIENT])
    line.end({"stopReason": "max_tokens", "_meta": {"k": 1}})
    line.wait(10)
    assert line.answer_to(CLIENT, key) == Result(
        key, {"stopReason": "max_tokens", "_meta": {"k": 1}}
    )
    assert len(line.sent[CLIENT]) == before + 1


@settings(max_examples=50, phases=QUICKLY)
@given(st.lists(GENERATED.definition("SessionUpdate"), min_size=1, max_size=8))
def test_the_transcript_is_the_same_in_the_end(updates: list[Json]) -> None:
    """Ours: however each message was said."""
    line = Line()
    line.start()
    line.new(modes=MODES)
    line.prompt()
    heard = [one for update in updates for one in line.update(update)]
    assert comparable(folded(heard)) == comparable(folded(updates))


def test_chunks_without_ids_get_some_and_are_otherwise_the_same() -> None:
    """v2 wants every message to have an id (the translation's table 7)."""
    line = working()
    kinds = ["agent_thought_chunk", "agent_message_chunk", "agent_message_chunk"]
    heard = [
        line.update({"sessionUpdate": kind, "content": {"type": "text", "text": str(count)}})[0]
        for count, kind in enumerate(kinds)
    ]
    ids = [one.pop("messageId") for one in heard]
    assert ids[0] != ids[1] == ids[2]
    assert [one["sessionUpdate"] for one in heard] == kinds


@pytest.mark.parametrize("size", [-(2**63), -1, 0, 2**63 - 1])
def test_every_size_of_v1_goes_to_v2_and_back(size: int) -> None:
    """v2 has no sizes below zero (the translation's table 7)."""
    line = Line()
    line.start()
    line.new()
    link = {"type": "resource_link", "name": "a", "uri": "u", "size": size}
    line.prompt(link)
    assert line.asked(AGENT, "session/prompt").params["prompt"] == [link]
    chunk = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": link}
    assert line.update(chunk) == [chunk]


def test_a_choice_of_category_mode_is_also_told_as_a_mode() -> None:
    """The translation's table 9: for clients that know modes alone."""
    line = Line()
    line.start()
    choice: Json = {
        "id": "how",
        "name": "How",
        "type": "select",
        "category": "mode",
        "currentValue": "a",
        "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}],
    }
    said = line.new(configOptions=[choice])
    assert said["configOptions"] == [choice]
    assert said["modes"]["currentModeId"] == "a"
    update = {
        "sessionUpdate": "config_option_update",
        "configOptions": [{**choice, "currentValue": "b"}],
    }
    mode = {"sessionUpdate": "current_mode_update", "currentModeId": "b"}
    assert line.update(update) == [mode, update]


# ---- what is asked


@settings(max_examples=40, phases=QUICKLY)
@given(GENERATED.definition("RequestPermissionRequest"), st.data())
def test_a_question_for_permission_comes_back_and_so_does_its_answer(
    asked: Json, data: st.DataObject
) -> None:
    """Ours; an option is the same option, or none."""
    line = working()
    ids = [option["optionId"] for option in asked["options"]]
    key = line.ask(AGENT, "session/request_permission", asked)
    said = line.asked(CLIENT, "session/request_permission")
    shown = said.params["options"]
    if not asked["options"]:
        # v2 wants one to choose; choosing it is not an answer of the agent's.
        line.put(CLIENT, Result(said.key, _chosen(shown[0]["optionId"])))
        cancelled = {"outcome": {"outcome": "cancelled"}}
        assert line.answer_to(AGENT, key) == Result(key, cancelled)
        return
    assert [(one["name"], one["kind"]) for one in shown] == [
        (one["name"], one["kind"]) for one in asked["options"]
    ]
    assert said.params["toolCall"]["toolCallId"] == asked["toolCall"]["toolCallId"]
    index = data.draw(st.integers(0, len(ids) - 1))
    line.put(CLIENT, Result(said.key, _chosen(shown[index]["optionId"])))
    assert line.answer_to(AGENT, key) == Result(key, _chosen(ids[index]))


def _chosen(option_id: str) -> Json:
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


def test_the_tool_call_of_a_question_is_the_same() -> None:
    line = working()
    line.update({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Write"})
    diff = {"type": "diff", "path": "/a", "oldText": "x", "newText": "y"}
    asked = {
        "sessionId": "s",
        "toolCall": {"toolCallId": "t", "status": "pending", "content": [diff]},
        "options": [{"optionId": "o", "name": "O", "kind": "allow_once"}],
        "_meta": {"k": 1},
    }
    line.ask(AGENT, "session/request_permission", asked)
    said = line.asked(CLIENT, "session/request_permission").params
    assert said.pop("_meta") == {"k": 1, X: {"state": "requires_action"}}
    del asked["_meta"]
    assert said == asked


def test_a_question_that_nobody_answers_is_refused_rather_than_cancelled() -> None:
    """The translation's table 11: `cancelled` is wider in v2, and might end the agent's turn."""
    line = working()
    options = [{"optionId": "no", "name": "No", "kind": "reject_once"}]
    asked = {"sessionId": "s", "toolCall": {"toolCallId": "t"}, "options": options}
    key = line.ask(AGENT, "session/request_permission", asked)
    said = line.asked(CLIENT, "session/request_permission")
    line.put(CLIENT, Result(said.key, {"outcome": {"outcome": "cancelled"}}))
    assert line.answer_to(AGENT, key) == Result(key, _chosen("no"))


@settings(max_examples=40, phases=QUICKLY)
@given(GENERATED.definition("CreateElicitationRequest"))
def test_forms_come_back_as_they_were_asked(asked: Json) -> None:
    """Ours; of two scopes the session stays, and a way of asking that v1 has not is refused."""
    line = working()
    if "sessionId" not in asked:
        asked = {**asked, "requestId": line.asked(AGENT, "session/prompt").key}
    key = line.ask(AGENT, "elicitation/create", asked)
    if asked["mode"] not in ("form", "url"):
        assert isinstance(line.answer_to(AGENT, key), Failure)
        return
    said = empty_meta_is_none(line.asked(CLIENT, "elicitation/create").params)
    expected = empty_meta_is_none({**asked, "sessionId": "s"})
    expected.pop("requestId", None)
    if asked["mode"] == "form":
        expected["requestedSchema"].setdefault("properties", {})
    assert said == expected


@pytest.mark.parametrize("required", [None, ["a", "b"]])
def test_a_choice_of_nothing_comes_back_into_its_form(required: Any) -> None:
    """v2 has no such choice (the translation's table 11)."""
    line = working()
    choice = {"type": "array", "items": {"type": "string", "enum": []}}
    schema = {"type": "object", "properties": {"b": choice}, "required": required}
    asked = {"mode": "form", "message": "?", "sessionId": "s", "requestedSchema": schema}
    line.ask(AGENT, "elicitation/create", asked)
    assert line.asked(CLIENT, "elicitation/create").params == asked


# ---- what the client says


@settings(max_examples=40, phases=QUICKLY)
@given(st.lists(GENERATED.definition("ContentBlock"), min_size=1, max_size=3))
def test_prompts_arrive_as_they_were_sent(blocks: list[Json]) -> None:
    """Ours; and the client is not told its own words."""
    line = Line()
    line.start()
    line.new()
    line.prompt(*blocks)
    said = line.asked(AGENT, "session/prompt").params
    assert empty_meta_is_none(said) == empty_meta_is_none({"sessionId": "s", "prompt": blocks})
    assert not [one for one in line.sent[CLIENT] if isinstance(one, Notification)]


@settings(max_examples=40, phases=QUICKLY)
@given(GENERATED.definition("NewSessionResponse"))
def test_a_new_session_is_what_the_agent_said(said: Json) -> None:
    """Ours; null is silence, and what v2 cannot list comes last."""
    line = Line()
    line.start()
    heard = line.new(**{key: value for key, value in said.items() if key != "sessionId"})
    expected: Json = empty_meta_is_none({**said, "sessionId": "s"})
    expected = {key: value for key, value in expected.items() if value is not None}
    if "configOptions" in expected:
        options: list[Json] = expected["configOptions"]
        options.sort(key=lambda one: not is_choice(one))
    if "modes" in heard and "modes" not in expected:
        # An option of category `mode` is also told as modes (the translation's table 9).
        del heard["modes"]
    if expected.get("configOptions") == [] and "modes" in expected:
        # There are none but the modes, either way.
        del expected["configOptions"]
    assert empty_meta_is_none(heard) == expected


def test_modes_and_options_are_set_by_their_own_methods() -> None:
    line = Line()
    line.start()
    switch = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": False}
    line.new(modes=MODES, configOptions=[switch])
    said = line.call("session/set_mode", {"sessionId": "s", "modeId": "b"}, {})
    assert said == {}
    assert line.asked(AGENT, "session/set_mode").params == {"sessionId": "s", "modeId": "b"}
    params = {"sessionId": "s", "configId": "fast", "type": "boolean", "value": True}
    changed = {"configOptions": [{**switch, "currentValue": True}]}
    assert line.call("session/set_config_option", params, changed) == changed
    assert line.asked(AGENT, "session/set_config_option").params == params


def test_the_two_introduce_each_other() -> None:
    """Lossy point 10: files and terminals of the client; what we make up for the agent is said."""
    line = Line()
    files = {"readTextFile": True, "writeTextFile": True}
    client = {"fs": files, "terminal": True, "auth": {"terminal": True}, "session": {"notices": {}}}
    said = line.start(client, {**AGENT_CAPABILITIES, "auth": {}})
    asked = line.asked(AGENT, "initialize").params
    assert asked["clientCapabilities"] == {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
        "auth": {"terminal": True},
        "session": {"notices": {}},
        "plan": {},
        "subagents": {},
    }
    assert asked["_meta"] == {X: {"fs": files, "terminal": True}}
    assert said["agentInfo"] == {"name": "agent", "version": "1"}
    assert said["agentCapabilities"] == AGENT_CAPABILITIES


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_old_sessions_are_opened_by_the_same_method(method: str) -> None:
    line = Line()
    line.start()
    params = {"sessionId": "s", "cwd": "/w", "mcpServers": []}
    key = line.ask(CLIENT, method, params)
    assert line.asked(AGENT, method).params == params
    chunk = {
        "sessionUpdate": "user_message_chunk",
        "messageId": "m",
        "content": {"type": "text", "text": "old"},
    }
    said = line.update(chunk)
    line.put(AGENT, Result(line.asked(AGENT, method).key, {"modes": MODES}))
    line.wait(1)
    assert line.answer_to(CLIENT, key) == Result(key, {"modes": MODES})
    # Only with what follows is it known to be whole; and its id is that of its prompt in v2.
    assert said == []
    told = [one.params["update"] for one in line.sent[CLIENT] if isinstance(one, Notification)]
    assert [{**one, "messageId": "m"} for one in told] == [chunk]


def test_a_cancelled_turn_is_cancelled_and_its_calls_have_ended() -> None:
    """Translation, 6: calls that the agent left open are `cancelled` in v2, `failed` in v1."""
    line = working()
    line.update({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Run"})
    line.put(CLIENT, Notification("session/cancel", {"sessionId": "s"}))
    assert Notification("session/cancel", {"sessionId": "s"}) in line.sent[AGENT]
    line.end({"stopReason": "cancelled"})
    *_, ended, answer = line.sent[CLIENT]
    assert isinstance(answer, Result)
    assert answer.result == {"stopReason": "cancelled"}
    assert isinstance(ended, Notification)
    assert ended.params["update"] == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t",
        "status": "failed",
        "_meta": {X: {"status": "cancelled"}},
    }


@pytest.mark.parametrize("data", [None, {"why": 1}])
@pytest.mark.parametrize("is_late", [False, True])
def test_an_error_of_a_prompt_is_that_error(data: Any, is_late: bool) -> None:
    line = Line()
    line.start()
    line.new()
    key = line.ask(
        CLIENT, "session/prompt", {"sessionId": "s", "prompt": [{"type": "text", "text": "x"}]}
    )
    if is_late:
        line.wait(1)
    line.put(AGENT, Failure(line.asked(AGENT, "session/prompt").key, -32001, "no", data))
    assert line.answer_to(CLIENT, key) == Failure(key, -32001, "no", data)


def test_usage_of_a_turn_comes_back_without_a_trace() -> None:
    line = working()
    usage = {"totalTokens": 3, "inputTokens": 2, "outputTokens": 1}
    key = line.asked(AGENT, "session/prompt").key
    line.put(AGENT, Result(key, {"stopReason": "end_turn", "usage": usage}))
    answer = line.sent[CLIENT][-1]
    assert isinstance(answer, Result)
    assert answer.result == {"stopReason": "end_turn", "usage": usage}

"""A draft client in front of our own v1 agent: what v1 has no field for goes through `_meta`."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.translate.draft.client.files import PARTS_MAX
from accord.translate.draft.client.terminals import ENDED_TERMINALS_KEPT
from accord.translate.draft.client.tool_calls import HOLD_SECONDS, INPUT_SECONDS_MAX
from accord.translate.draft.vocabulary import NEXT_STATUSES
from accord.translate.message import AGENT, CLIENT, UNREADABLE, Json, Notification
from tests.translate.draft.open_sessions import (
    DRAFT_CLIENT,
    FOLDER,
    MODES,
    Before,
    before,
    options,
)
from tests.translate.draft.scripted_peers import STAMP

M = "acp.draft/2026-02"


def scene_of(**settings: Any) -> Before:
    return before(details=True, **settings)


def meta(**members: Any) -> Json:
    return {"_meta": {M: members}}


def kept(holder: Json) -> Any:
    return holder["_meta"][M]


def told(scene: Before, *kinds: str) -> list[Json]:
    """The data of the updates of some types since the last look; of all if none is named."""
    return [one["data"] for one in scene.wire.updates(CLIENT) if not kinds or one["type"] in kinds]


def tell(scene: Before, **update: Any) -> None:
    scene.wire.tell(AGENT, "session/update", {"sessionId": "s", "update": update})


def call(scene: Before, **fields: Any) -> None:
    tell(scene, sessionUpdate="tool_call", toolCallId="c", title="Look", **fields)


def patch(scene: Before, **fields: Any) -> None:
    tell(scene, sessionUpdate="tool_call_update", toolCallId="c", **fields)


def text(words: str) -> Json:
    return {"type": "content", "content": {"type": "text", "text": words}}


# ---- the first exchange


def test_a_missing_capability_has_the_drafts_name_and_advice() -> None:
    scene = Before(details=True)
    params = {
        "protocolVersion": 1,
        "clientInfo": {"name": "x", "version": "1"},
        "capabilities": DRAFT_CLIENT,
    }
    key = scene.wire.ask(CLIENT, "initialize", params)
    asked = scene.wire.one(AGENT, "initialize")
    data = {"reason": "capability_not_supported", "missing": ["terminal", "_meta.a", "auth", 3]}
    scene.wire.fail(AGENT, asked.key, -32601, "no", data)
    error = scene.wire.error(CLIENT, key)
    assert error.code == -32007
    assert error.data["missing"] == ["terminal.create", "_custom.a", "auth"]
    assert "initialize" in error.data["suggestion"]


def test_a_client_that_wants_official_updates_gets_all_of_them() -> None:
    client = {**DRAFT_CLIENT, "_custom": {"acpUpdates": True}}
    scene = Before(details=True, client=client)
    params = {
        "protocolVersion": 1,
        "clientInfo": {"name": "x", "version": "1"},
        "capabilities": client,
    }
    scene.wire.ask(CLIENT, "initialize", params)
    asked = scene.wire.one(AGENT, "initialize").params["clientCapabilities"]
    assert asked["session"] == {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}}


def test_advice_is_kept_and_only_where_it_fits() -> None:
    scene = scene_of()
    for data, expected in (
        ({"suggestion": "mine", "sessionId": "s"}, {"suggestion": "mine", "sessionId": "s"}),
        ("words", "words"),
    ):
        key = scene.wire.ask(CLIENT, "session/set_mode", {"sessionId": "s", "mode": "plan"})
        asked = scene.wire.request(AGENT, "session/set_mode")
        scene.wire.fail(AGENT, asked.key, -32002, "no", data)
        assert scene.wire.error(CLIENT, key).data == expected


def test_a_login_is_asked_for_by_its_own_name() -> None:
    scene = scene_of()
    params = {"method": "oauth2", "credentials": {"token": "t"}}
    scene.wire.ask(CLIENT, "authenticate", params)
    assert scene.wire.one(AGENT, "authenticate").params == {"methodId": "oauth2"}
    assert scene.clock.secrets == [("oauth2", {"token": "t"})]


# ---- sessions


def test_a_session_begins_with_all_wishes() -> None:
    scene = scene_of()
    wishes = {"initialMode": "plan", "configOptions": {"fast": True}, "systemPrompt": "Be brief."}
    key = scene.wire.ask(CLIENT, "session/new", {"workingDirectory": FOLDER, **wishes})
    asked = scene.wire.one(AGENT, "session/new")
    assert kept(asked.params) == wishes
    result = {"sessionId": "t", **meta(rejectedConfigOptions={"fast": True})}
    scene.wire.answer(AGENT, asked.key, result)
    assert kept(scene.wire.result(CLIENT, key))["rejectedConfigOptions"] == {"fast": True}


def test_an_unknown_transport_is_a_mistake() -> None:
    scene = scene_of()
    server = {"name": "x", "transport": {"type": "carrier-pigeon"}}
    params = {"workingDirectory": FOLDER, "mcpServers": [server]}
    assert scene.wire.error(CLIENT, scene.wire.ask(CLIENT, "session/new", params)).code == -32602


def test_the_agent_knows_the_folder_of_a_session() -> None:
    scene = scene_of()
    for found, folder in (({"workingDirectory": "/found"}, "/found"), ({}, "/found")):
        key = scene.wire.ask(CLIENT, "session/load", {"sessionId": "old"})
        asked = scene.wire.one(AGENT, "session/load")
        mode: Json = {"id": "mode", "name": "Mode", "category": "mode", "type": "select"}
        mode |= {"currentValue": "plan", "options": [{"value": "plan", "name": "Plan"}]}
        result = {"modes": MODES, "configOptions": [mode, *options()], **meta(**found)}
        scene.wire.answer(AGENT, asked.key, result)
        loaded = scene.wire.result(CLIENT, key)
        assert loaded["workingDirectory"] == folder
        assert loaded["configOptions"] == {"model": "small", "fast": False}


def test_a_session_that_was_not_opened_here_is_the_agents_to_refuse() -> None:
    scene = scene_of()
    key = scene.wire.ask(CLIENT, "session/set_mode", {"sessionId": "no", "mode": "plan"})
    asked = scene.wire.one(AGENT, "session/set_mode")
    scene.wire.fail(AGENT, asked.key, -32002, "no such session", {"sessionId": "no"})
    assert scene.wire.error(CLIENT, key).code == -32000


@pytest.mark.parametrize(
    ("value", "said"), [(True, {"value": True, "type": "boolean"}), (3, {"value": "3"})]
)
def test_an_option_of_such_a_session_is_the_agents_to_refuse(value: Any, said: Json) -> None:
    scene = scene_of()
    params = {"sessionId": "no", "key": "model", "value": value}
    key = scene.wire.ask(CLIENT, "session/set_config_option", params)
    asked = scene.wire.one(AGENT, "session/set_config_option")
    assert asked.params == {"sessionId": "no", "configId": "model", **said}
    scene.wire.fail(AGENT, asked.key, -32002, "no such session", {"sessionId": "no"})
    assert scene.wire.error(CLIENT, key).code == -32000
    key = scene.wire.ask(CLIENT, "session/set_config_option", params)
    asked = scene.wire.one(AGENT, "session/set_config_option")
    scene.wire.answer(AGENT, asked.key, {"configOptions": options()})
    assert scene.wire.result(CLIENT, key) == {"key": "model", "currentValue": value}


def test_the_mode_is_no_option() -> None:
    scene = scene_of()
    mode: Json = {"id": "mode", "name": "Mode", "category": "mode", "type": "select"}
    mode |= {"currentValue": "plan", "options": [{"value": "plan", "name": "Plan"}]}
    tell(scene, sessionUpdate="config_option_update", configOptions=[mode, *options("7")])
    assert [one["key"] for one in told(scene)] == ["model"]
    params = {"sessionId": "s", "key": "mode", "value": "plan"}
    error = scene.wire.error(CLIENT, scene.wire.ask(CLIENT, "session/set_config_option", params))
    assert error.code == -32602


# ---- files


def read(scene: Before, *answers: Json, **params: Any) -> tuple[list[Json], Any]:
    """Read a file whose client answers so; what it was asked, and the agent's key."""
    key = scene.wire.ask(AGENT, "fs/read_text_file", {"sessionId": "s", "path": "/a", **params})
    asked: list[Json] = []
    for answer in answers:
        request = scene.wire.request(CLIENT, "fs/read_text_file")
        asked.append({name: request.params.get(name) for name in ("startLine", "endLine")})
        scene.wire.answer(CLIENT, request.key, {"encoding": "utf-8", **answer})
    return asked, key


def test_a_file_that_was_cut_is_read_on() -> None:
    scene = scene_of()
    asked, key = read(
        scene,
        {"content": "1\n2\n3", "truncated": True},
        {"content": "3\n4\n", "truncated": True, "totalLines": 5},
        {"content": "5\n", "totalLines": 5},
    )
    assert asked == [
        {"startLine": None, "endLine": None},
        {"startLine": 3, "endLine": None},
        {"startLine": 5, "endLine": None},
    ]
    assert scene.wire.result(AGENT, key)["content"] == "1\n2\n3\n4\n5\n"


@pytest.mark.parametrize(
    ("answer", "whole"),
    [
        ({"content": "1\n2\n", "truncated": True}, "1\n2\n"),
        ({"content": "1\n2\n3", "truncated": True}, "1\n2\n"),
        ({"content": "1\n2\n", "truncated": True, "totalLines": 2}, "1\n2\n"),
    ],
)
def test_more_than_what_was_asked_for_is_not_missing(answer: Json, whole: str) -> None:
    scene = scene_of()
    _, key = read(scene, answer, line=1, limit=2)
    assert scene.wire.result(AGENT, key)["content"] == whole


def test_a_file_that_cannot_be_had_whole_is_an_error() -> None:
    scene = scene_of()
    _, key = read(scene, {"content": "endless", "truncated": True})
    assert scene.wire.error(AGENT, key).data == {"reason": "truncated"}
    _, key = read(scene, *[{"content": "1\n", "truncated": True}] * PARTS_MAX)
    assert scene.wire.error(AGENT, key).data == {"reason": "truncated"}


def test_encodings_are_asked_for() -> None:
    scene = scene_of()
    params = {"sessionId": "s", "path": "/a", **meta(encoding="latin-1")}
    scene.wire.ask(AGENT, "fs/read_text_file", params)
    assert scene.wire.request(CLIENT, "fs/read_text_file").params["encoding"] == "latin-1"


# ---- terminals


def create(scene: Before, terminal_id: str = "T") -> None:
    params = {"sessionId": "s", "command": "make", "args": ["all"], "cwd": "/w"}
    key = scene.wire.ask(AGENT, "terminal/create", params)
    request = scene.wire.one(CLIENT, "terminal/create")
    scene.wire.answer(CLIENT, request.key, {"terminalId": terminal_id})
    # Nobody waits for its end yet.
    assert scene.wire.result(AGENT, key) == {"terminalId": terminal_id}


def push(scene: Before, data: str, **more: Any) -> None:
    params = {"terminalId": "T", "data": data, **more}
    scene.wire.tell(CLIENT, "terminal/output", params)


def ask(scene: Before, method: str, *, of: str = "T", **more: Any) -> tuple[Any, Any]:
    params = {"sessionId": "s", "terminalId": of, **(meta(**more) if more else {})}
    key = scene.wire.ask(AGENT, f"terminal/{method}", params)
    return key, scene.wire.request(CLIENT, f"terminal/{method}")


def test_a_command_is_waited_for_as_long_as_the_agent_says() -> None:
    scene = scene_of()
    create(scene)
    key, asked = ask(scene, "wait_for_exit", timeout=500)
    assert asked.params["timeout"] == 500
    scene.wire.answer(CLIENT, asked.key, {"exitCode": -1, "timedOut": True})
    assert kept(scene.wire.result(AGENT, key))["timedOut"] is True
    key, asked = ask(scene, "wait_for_exit")
    scene.wire.fail(CLIENT, asked.key, -32603)
    assert scene.wire.error(AGENT, key).code == -32603
    for signal, said in (("SIGKILL", "SIGKILL"), (3, None)):
        create(scene)
        key, asked = ask(scene, "wait_for_exit")
        data = {"reason": UNREADABLE, "answer": {"signal": signal}}
        scene.wire.fail(CLIENT, asked.key, -32603, "?", data)
        ended = scene.wire.result(AGENT, key)
        assert (ended["exitCode"], ended["signal"]) == (None, said)


def test_streams_are_kept_apart_up_to_the_release() -> None:
    scene = scene_of()
    create(scene)
    push(scene, "out\n")
    push(scene, "err\n", stream="stderr")
    key, asked = ask(scene, "wait_for_exit")
    scene.wire.answer(CLIENT, asked.key, {"exitCode": 3})
    scene.wire.take()
    params = {"sessionId": "s", "terminalId": "T"}
    shown = scene.wire.result(AGENT, scene.wire.ask(AGENT, "terminal/output", params))
    assert shown["output"] == "out\nerr\n"
    assert kept(shown) == {"stdout": "out\n", "stderr": "err\n"}
    key, asked = ask(scene, "release")
    push(scene, "last\n")
    scene.wire.answer(CLIENT, asked.key, {"released": True})
    printed = kept(scene.wire.result(AGENT, key))["printed"]
    assert kept(printed)["stdout"] == "out\nlast\n"
    # A call that shows it says at its end how the command ended.
    call(scene, rawInput={}, content=[{"type": "terminal", "terminalId": "T"}])
    patch(scene, status="completed")
    assert told(scene, "tool_call_update")[-1]["output"] == {
        "type": "terminal",
        "terminalId": "T",
        "command": "make all",
        "exitCode": 3,
        "stdout": "out\nlast\n",
        "stderr": "err\n",
    }


def test_a_terminal_that_runs_or_that_nobody_knows_is_shown_by_its_name() -> None:
    scene = scene_of()
    create(scene)
    for terminal_id in ("T", "nobody"):
        shown = [{"type": "terminal", "terminalId": terminal_id}]
        call_id = f"of-{terminal_id}"
        fields: Json = {"toolCallId": call_id, "title": "Run", "content": shown}
        tell(scene, sessionUpdate="tool_call", status="in_progress", rawInput={}, **fields)
        tell(scene, sessionUpdate="tool_call_update", toolCallId=call_id, status="completed")
        assert "exitCode" not in told(scene, "tool_call_update")[0].get("output", {})


def test_of_terminals_that_are_over_the_last_are_kept() -> None:
    scene = scene_of()
    for number in range(ENDED_TERMINALS_KEPT + 1):
        create(scene, f"t{number}")
        _, asked = ask(scene, "release", of=f"t{number}")
        scene.wire.answer(CLIENT, asked.key, {"released": number > 0})
        scene.wire.take()
    codes: list[Any] = []
    for number in range(2):
        content = [{"type": "terminal", "terminalId": f"t{number}"}]
        fields: Json = {"toolCallId": f"c{number}", "title": "Run", "content": content}
        tell(scene, sessionUpdate="tool_call", status="in_progress", rawInput={}, **fields)
        scene.wire.take()
        tell(scene, sessionUpdate="tool_call_update", toolCallId=f"c{number}", status="completed")
        codes.append(told(scene, "tool_call_update")[-1].get("output", {}).get("exitCode"))
    assert codes == [None, -1]


def test_a_release_or_a_kill_that_fails_is_told() -> None:
    scene = scene_of()
    create(scene)
    for method in ("kill", "release"):
        key, asked = ask(scene, method)
        scene.wire.fail(CLIENT, asked.key, -32603)
        assert scene.wire.error(AGENT, key).code == -32603


# ---- tool calls


def test_the_input_is_waited_for() -> None:
    """Issue 15: a model announces a call before it has written its input."""
    scene = scene_of()
    call(scene, name="Look")
    assert told(scene) == []
    scene.wire.wait(INPUT_SECONDS_MAX / 2)
    patch(scene, title="Read a", locations=[{"path": "/a"}])
    patch(scene, rawInput={"path": "/a"})
    assert told(scene) == []
    patch(scene, status="in_progress")
    scene.wire.wait(HOLD_SECONDS)
    announced, begun = told(scene)
    assert announced["input"] == {"path": "/a"}
    assert announced["location"] == {"path": "/a"}
    assert "requiresPermission" not in announced
    assert begun["status"] == "in_progress"


@pytest.mark.parametrize(
    ("known", "seconds"),
    [({"name": "Look"}, INPUT_SECONDS_MAX), ({"rawInput": {}}, HOLD_SECONDS), ({}, HOLD_SECONDS)],
)
def test_an_announcement_waits_only_so_long(known: Json, seconds: float) -> None:
    scene = scene_of()
    call(scene, **known)
    scene.wire.wait(seconds / 2)
    assert told(scene) == []
    scene.wire.wait(seconds / 2)
    assert [one["input"] for one in told(scene)] == [{}]


def test_what_follows_an_announcement_comes_behind_it() -> None:
    scene = scene_of()
    call(scene, rawInput={"a": 1})
    tell(scene, sessionUpdate="agent_message_chunk", content={"type": "text", "text": "x"})
    assert [one["type"] for one in scene.wire.updates(CLIENT)] == [
        "tool_call",
        "agent_message_chunk",
    ]


@pytest.mark.parametrize("known", [True, False])
def test_a_question_shows_that_permission_is_required(known: bool) -> None:
    scene = scene_of()
    diff = {"type": "diff", "path": "/a", "newText": "x\n"}
    call(scene, content=[diff], **({"rawInput": {"path": "/a"}} if known else {}))
    params = {
        "sessionId": "s",
        "toolCall": {"toolCallId": "c", "content": [diff, text("Because")]},
        "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
    }
    scene.wire.ask(AGENT, "session/request_permission", params)
    announced, shown, waiting = scene.wire.updates(CLIENT)
    assert announced["data"]["requiresPermission"] is True
    assert shown["data"]["output"]["type"] == "diff"
    assert waiting["data"]["status"] == "awaiting_permission"


def test_an_answer_that_cannot_be_read_is_no() -> None:
    scene = scene_of()
    call(scene, rawInput={})
    params = {
        "sessionId": "s",
        "toolCall": {"toolCallId": "c"},
        "options": [{"optionId": "no", "name": "No", "kind": "reject_once"}],
    }
    key = scene.wire.ask(AGENT, "session/request_permission", params)
    asked = scene.wire.request(CLIENT, "session/request_permission")
    scene.wire.fail(CLIENT, asked.key, -32603, "?", {"reason": UNREADABLE, "answer": []})
    assert scene.wire.result(AGENT, key)["outcome"]["optionId"] == "no"
    patch(scene, status="failed")
    assert told(scene)[-1]["status"] == "denied"


@pytest.mark.parametrize(("granted", "last"), [(True, "cancelled"), (False, "denied")])
def test_a_call_that_was_cancelled_has_not_failed(granted: bool, last: str) -> None:
    scene = scene_of()
    call(scene, rawInput={})
    params = {
        "sessionId": "s",
        "toolCall": {"toolCallId": "c"},
        "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
    }
    scene.wire.ask(AGENT, "session/request_permission", params)
    asked = scene.wire.request(CLIENT, "session/request_permission")
    scene.wire.answer(CLIENT, asked.key, {"granted": granted})
    scene.wire.take()
    patch(scene, status="failed", **meta(status="cancelled"))
    assert told(scene)[-1]["status"] == last


def test_how_long_a_call_took_and_why_it_failed() -> None:
    scene = scene_of()
    call(scene, rawInput={}, status="in_progress", content=[text("it broke")])
    scene.wire.wait(HOLD_SECONDS)
    scene.wire.wait(2)
    scene.wire.take()
    patch(scene, status="failed")
    (ended,) = told(scene)
    assert (ended["error"], ended["duration"]) == ("it broke", 2000)
    # Said once more, which the draft has no step for.
    patch(scene, status="failed")
    assert told(scene) == []


def test_of_a_past_nobody_knows_how_long_it_took_or_when() -> None:
    scene = scene_of()
    scene.wire.ask(CLIENT, "session/load", {"sessionId": "s"})
    scene.wire.take()
    call(scene)
    patch(scene, status="completed")
    updates = scene.wire.updates(CLIENT)
    assert [one["data"]["status"] for one in updates] == ["pending", "in_progress", "completed"]
    assert not any("duration" in one["data"] or "timestamp" in one for one in updates)


def test_a_command_of_the_agents_own_is_a_terminal() -> None:
    scene = scene_of()
    about: Json = {"terminalId": "t", "command": "make", "exitCode": 0}
    for said in (about, {**about, "command": None}):
        call(scene, rawInput={}, content=[{**text("done\n"), **meta(terminal=said)}])
        scene.wire.wait(HOLD_SECONDS)
        output = told(scene, "tool_call_update")[0]["output"]
        assert (output["type"], output["stdout"], output["exitCode"]) == ("terminal", "done\n", 0)
        assert output.get("command") == said["command"]
    patch(scene, content=[{**text("x"), **meta(terminal={"terminalId": 3})}])
    assert told(scene)[0]["output"] == {"type": "text", "text": "x"}


STEPS = st.one_of(
    st.tuples(
        st.just("status"), st.sampled_from(["pending", "in_progress", "completed", "failed"])
    ),
    st.tuples(st.just("content"), st.just("x")),
    st.tuples(st.just("input"), st.just("y")),
    st.tuples(st.just("ask"), st.sampled_from([True, False])),
    st.tuples(st.just("wait"), st.sampled_from([0.05, 20.0])),
)


@pytest.mark.rule("D26-32")
@given(st.booleans(), st.lists(STEPS, max_size=12))
def test_whatever_an_agent_does_its_calls_go_by_the_drafts_steps(
    is_forming: bool, steps: list[Any]
) -> None:
    """One announcement, legal pairs, nothing after a final status."""
    scene = scene_of()
    updates: list[Json] = []
    call(scene, **({"name": "Look"} if is_forming else {}))
    for kind, value in steps:
        if kind == "status":
            patch(scene, status=value)
        elif kind == "content":
            patch(scene, content=[text(value)])
        elif kind == "input":
            patch(scene, rawInput={"path": value})
        elif kind == "wait":
            scene.wire.wait(value)
        else:
            params = {
                "sessionId": "s",
                "toolCall": {"toolCallId": "c"},
                "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
            }
            scene.wire.ask(AGENT, "session/request_permission", params)
            said = scene.wire.take()
            updates += [m.params for _, m in said if isinstance(m, Notification)]
            asked = next(m for to, m in said if to is CLIENT and not isinstance(m, Notification))
            scene.wire.answer(CLIENT, asked.key, {"granted": value})
        updates += scene.wire.updates(CLIENT)
    scene.wire.wait(INPUT_SECONDS_MAX)
    updates += scene.wire.updates(CLIENT)
    assert [one["type"] for one in updates].count("tool_call") == 1
    assert updates[0]["type"] == "tool_call"
    statuses = [one["data"]["status"] for one in updates if "status" in one["data"]]
    assert statuses[0] == "pending"
    for earlier, later in pairwise(statuses):
        assert later in NEXT_STATUSES[earlier]


# ---- turns


def prompt(scene: Before, *content: Json) -> tuple[Any, Any]:
    params = {"sessionId": "s", "content": list(content) or [{"type": "text", "text": "hi"}]}
    key = scene.wire.ask(CLIENT, "session/prompt", params)
    return key, scene.wire.request(AGENT, "session/prompt")


def test_a_turn_tells_the_prompt_ends_its_messages_and_says_when() -> None:
    """Issue 15: the live user echo, `final`, `timestamp`."""
    scene = scene_of()
    image = {
        "type": "image",
        "source": {"type": "base64", "mediaType": "image/png", "data": "aGk="},
    }
    _, asked = prompt(scene, {"type": "text", "text": "hi"}, image)
    for words in ("a", "b"):
        block = {"type": "text", "text": words}
        tell(scene, sessionUpdate="agent_message_chunk", content=block, messageId="m")
    thought = {"type": "text", "text": "hm"}
    tell(scene, sessionUpdate="agent_thought_chunk", content=thought, messageId="t")
    block = {"type": "text", "text": "whole"}
    tell(
        scene,
        sessionUpdate="agent_message_chunk",
        content=block,
        messageId="n",
        **meta(final=True),
    )
    tell(scene, sessionUpdate="agent_message_chunk", content=block, messageId="o")
    scene.wire.answer(AGENT, asked.key, {"stopReason": "end_turn"})
    updates = scene.wire.updates(CLIENT)
    assert {one["timestamp"] for one in updates} == {STAMP}
    assert [
        (one["type"].split("_")[0], one["data"]["content"], one["data"].get("final"))
        for one in updates
    ] == [
        ("user", "hi", None),
        ("user", "[image image/png]", True),
        ("agent", "a", None),
        ("agent", "b", None),
        ("agent", "", True),
        ("thought", "hm", None),
        ("agent", "whole", True),
        ("agent", "whole", None),
        ("agent", "", True),
    ]
    assert updates[5]["data"]["visible"] is True
    assert [one["data"]["index"] for one in updates[2:5]] == [0, 1, 2]


def test_prompts_behind_each_other_are_each_told() -> None:
    scene = scene_of()
    _, first = prompt(scene, {"type": "text", "text": "one"})
    _, second = prompt(scene, {"type": "text", "text": "two"})
    _, third = prompt(scene, {"type": "text", "text": "three"})
    # One that waits may be answered first.
    scene.wire.answer(AGENT, third.key, {"stopReason": "cancelled"})
    assert [one["content"] for one in told(scene)] == ["three"]
    scene.wire.answer(AGENT, first.key, {"stopReason": "end_turn"})
    assert [one["content"] for one in told(scene)] == ["one"]
    tell(scene, sessionUpdate="agent_message_chunk", content={"type": "text", "text": "x"})
    assert [one["content"] for one in told(scene)] == ["two", "x"]
    scene.wire.answer(AGENT, second.key, {"stopReason": "end_turn"})
    assert told(scene) == []


def test_a_turn_that_failed_says_why() -> None:
    """Issue 15: a visible reason when a turn ends in `error`."""
    scene = scene_of()
    for data in (None, {"sessionId": "s"}):
        key, asked = prompt(scene)
        error = {"code": -32002, "message": "it is gone", "data": data}
        scene.wire.answer(AGENT, asked.key, {"stopReason": "end_turn", **meta(error=error)})
        said = scene.wire.take()
        result = said[-1][1].result  # type: ignore[union-attr]
        assert result["stopReason"] == "error"
        assert kept(result)["error"]["code"] == -32000
        assert ("data" in kept(result)["error"]) == (data is not None)
        last = said[-2][1]
        assert isinstance(last, Notification)
        assert last.params["data"]["content"] == "The turn failed: it is gone"
    # What is no error is not taken for one.
    key, asked = prompt(scene)
    scene.wire.answer(AGENT, asked.key, {"stopReason": "end_turn", **meta(error="no")})
    assert scene.wire.result(CLIENT, key)["stopReason"] == "end_turn"


def test_a_turn_that_was_refused_tells_nothing() -> None:
    scene = scene_of()
    _, asked = prompt(scene)
    scene.wire.fail(AGENT, asked.key, -32603)
    assert [type(one).__name__ for _, one in scene.wire.take()] == ["Failure"]


def test_calls_that_were_held_back_are_told_when_the_turn_ends() -> None:
    scene = scene_of()
    _, asked = prompt(scene)
    call(scene)
    scene.wire.tell(CLIENT, "session/cancel", {"sessionId": "s"})
    scene.wire.answer(AGENT, asked.key, {"stopReason": "cancelled"})
    statuses = [one["status"] for one in told(scene, "tool_call", "tool_call_update")]
    assert statuses == ["pending", "cancelled"]
    _, asked = prompt(scene)
    tell(scene, sessionUpdate="tool_call", toolCallId="d", title="Look")
    scene.wire.answer(AGENT, asked.key, {"stopReason": "end_turn"})
    assert [one["id"] for one in told(scene, "tool_call")] == ["d"]


def test_content_that_the_draft_does_not_have_is_refused() -> None:
    scene = scene_of()
    params = {"sessionId": "s", "content": [{"type": "hologram"}]}
    error = scene.wire.error(CLIENT, scene.wire.ask(CLIENT, "session/prompt", params))
    assert (error.code, error.data["path"]) == (-32602, "$.content[0]")


def test_a_request_can_be_taken_back_though_the_draft_has_no_word_for_it() -> None:
    scene = scene_of()
    key, asked = prompt(scene)
    ((side, message),) = scene.bridge.withdraw(CLIENT, key)
    assert side is AGENT
    assert isinstance(message, Notification)
    assert message.params == {"requestId": asked.key}

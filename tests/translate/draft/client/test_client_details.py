"""A draft client in front of our own v1 agent: what v1 has no field for goes through `_meta`."""

from typing import Any

import pytest

from accord.translate.draft.client.files import PARTS_MAX
from accord.translate.draft.client.terminals import ENDED_TERMINALS_KEPT
from accord.translate.message import AGENT, CLIENT, UNREADABLE, Json
from tests.translate.draft.details import call, kept, meta, patch, scene_of, tell, told
from tests.translate.draft.open_sessions import (
    DRAFT_CLIENT,
    FOLDER,
    MODES,
    Before,
    options,
)

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


def test_a_number_that_an_option_does_not_list_is_the_agents_to_refuse() -> None:
    """Issue 15: the draft's `maxTokens` is any number."""
    scene = scene_of()
    params = {"sessionId": "s", "key": "model", "value": 4321}
    key = scene.wire.ask(CLIENT, "session/set_config_option", params)
    asked = scene.wire.one(AGENT, "session/set_config_option")
    assert asked.params == {"sessionId": "s", "configId": "model", "value": "4321"}
    scene.wire.fail(AGENT, asked.key, -32602, "no such value")
    assert scene.wire.error(CLIENT, key).code == -32602
    for value in ("many", 1.5):
        params = {"sessionId": "s", "key": "model", "value": value}
        key = scene.wire.ask(CLIENT, "session/set_config_option", params)
        assert scene.wire.error(CLIENT, key).code == -32602


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

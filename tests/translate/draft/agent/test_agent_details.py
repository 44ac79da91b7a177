"""A draft agent behind our own client: what v1 has no field for goes through `_meta`."""

from typing import Any

import pytest

from accord.translate.draft.agent.terminals import PUSHED_OUTPUT
from accord.translate.draft.conversion.capabilities import ACP_UPDATES
from accord.translate.message import AGENT, CLIENT, Json, Notification
from tests.translate.draft.details import kept, meta
from tests.translate.draft.open_sessions import DRAFT_AGENT, FOLDER, V1_CLIENT, Behind, behind

CLIENT_DETAILS: Json = {
    **V1_CLIENT,
    **meta(
        fs={"watch": False},
        terminal={"interactive": False, "maxConcurrent": 2},
        ui={"permissionDialogs": False, "diffViewer": True},
    ),
}


def scene_of(**settings: Any) -> Behind:
    return behind(details=True, client=CLIENT_DETAILS, **settings)


def asked_of_client(scene: Behind, method: str, params: Json) -> tuple[int, Json]:
    """The agent asks; the client's key, and what the client is asked."""
    scene.wire.ask(AGENT, method, params)
    request = scene.wire.one(CLIENT, method)
    assert isinstance(request.key, int)
    return request.key, request.params


# ---- the first exchange


@pytest.mark.parametrize("custom", [{}, {"accord": {"x": 1}}])
def test_the_agent_is_told_our_abilities_and_nothing_else(custom: Json) -> None:
    client = {**CLIENT_DETAILS, "_meta": {**CLIENT_DETAILS["_meta"], **custom}}
    scene = Behind(details=True, client=client)
    info = {"name": "pencil", "version": "3", "title": "Pencil"}
    params = {"protocolVersion": 1, "clientCapabilities": client, "clientInfo": info}
    scene.wire.ask(CLIENT, "initialize", params)
    asked = scene.wire.one(AGENT, "initialize").params
    assert asked["clientInfo"] == {"name": "pencil", "version": "3"}
    assert asked["capabilities"] == {
        "fs": {"read": True, "write": True, "watch": False},
        "terminal": {"create": True, "interactive": False, "maxConcurrent": 2},
        "ui": {"permissionDialogs": False, "diffViewer": True},
        **({"_custom": custom} if custom else {}),
    }
    assert ACP_UPDATES not in asked["capabilities"].get("_custom", {})


def test_the_client_is_told_the_capabilities_as_they_were() -> None:
    agent = {**DRAFT_AGENT, "_custom": {"x": 1}}
    scene = Behind(details=True, agent=agent)
    told = scene.initialize()
    assert kept(told["agentCapabilities"])["capabilities"] == agent


@pytest.mark.rule("D26-18")
@pytest.mark.parametrize(
    ("required", "said"),
    [
        ({"terminal": {"maxConcurrent": 5}}, "terminal.maxConcurrent of at least 5"),
        ({"teleport": "yes", "fs": {"watch": None}}, "teleport"),
        ({"ui": {"diffViewer": False}}, None),
    ],
)
def test_every_demand_counts(required: Json, said: str | None) -> None:
    scene = Behind(details=True, client=CLIENT_DETAILS)
    params = {"protocolVersion": 1, "clientCapabilities": CLIENT_DETAILS}
    key = scene.wire.ask(CLIENT, "initialize", params)
    asked = scene.wire.one(AGENT, "initialize")
    answer: Json = {
        "protocolVersion": 1,
        "agentInfo": {"name": "a", "version": "1"},
        "capabilities": {},
        "requiredClientCapabilities": required,
    }
    scene.wire.answer(AGENT, asked.key, answer)
    if said is None:
        assert scene.wire.result(CLIENT, key)
    else:
        assert said in scene.wire.error(CLIENT, key).message


def test_a_login_that_is_refused_is_told_apart_from_one_that_is_missing() -> None:
    scene = scene_of()
    key = scene.wire.ask(CLIENT, "authenticate", {"methodId": "api_key"})
    asked = scene.wire.one(AGENT, "authenticate")
    scene.wire.answer(AGENT, asked.key, {"success": False, "error": "wrong"})
    error = scene.wire.error(CLIENT, key)
    assert (error.message, error.data) == ("wrong", {"reason": "login_refused"})


# ---- sessions


@pytest.mark.parametrize(("mode", "sent"), [("ask_questions", "ask"), ("ask", "ask")])
def test_a_session_begins_with_all_wishes(mode: str, sent: str) -> None:
    scene = scene_of()
    wishes = meta(initialMode=mode, configOptions={"depth": 3, "model": "big", "fast": True})
    key = scene.wire.ask(CLIENT, "session/new", {"cwd": FOLDER, "mcpServers": [], **wishes})
    asked = scene.wire.one(AGENT, "session/new")
    assert asked.params == {
        "workingDirectory": FOLDER,
        "initialMode": sent,
        "configOptions": {"depth": 3, "model": "big", "fast": True},
    }
    scene.wire.answer(AGENT, asked.key, {"sessionId": "n", "createdAt": "then"})
    result = scene.wire.result(CLIENT, key)
    assert result["modes"]["currentModeId"] == "ask_questions"
    assert result["configOptions"] == [
        {"id": "depth", "name": "depth", "type": "any", "currentValue": 3},
        {"id": "model", "name": "model", "type": "any", "category": "model", "currentValue": "big"},
        {"id": "fast", "name": "fast", "type": "boolean", "currentValue": True},
    ]


def test_a_loaded_session_is_named_and_nothing_else() -> None:
    scene = scene_of()
    params = {"sessionId": "old", "cwd": FOLDER, "mcpServers": []}
    scene.wire.ask(CLIENT, "session/load", params)
    assert scene.wire.one(AGENT, "session/load").params == {"sessionId": "old"}


def test_the_mode_that_the_agent_answers_is_told() -> None:
    scene = scene_of()
    key = scene.wire.ask(CLIENT, "session/set_mode", {"sessionId": "s", "modeId": "plan"})
    asked = scene.wire.one(AGENT, "session/set_mode")
    change = {"previousMode": "default", "currentMode": "ask"}
    scene.wire.answer(AGENT, asked.key, change)
    result = scene.wire.result(CLIENT, key)
    assert kept(result)["modes"]["currentModeId"] == "ask_questions"


def test_an_option_takes_any_value() -> None:
    scene = scene_of()
    params = {"sessionId": "s", "configId": "depth", "value": "", **meta(value={"deep": [1]})}
    key = scene.wire.ask(CLIENT, "session/set_config_option", params)
    asked = scene.wire.one(AGENT, "session/set_config_option")
    assert asked.params == {"sessionId": "s", "key": "depth", "value": {"deep": [1]}}
    scene.wire.answer(AGENT, asked.key, {"key": "depth", "currentValue": {"deep": [1]}})
    (option,) = scene.wire.result(CLIENT, key)["configOptions"]
    assert option["currentValue"] == {"deep": [1]}


def test_a_session_that_was_closed_here_owns_nothing() -> None:
    scene = scene_of()
    _, params = asked_of_client(scene, "terminal/create", {"command": "ls", "timeout": 900})
    scene.wire.answer(CLIENT, next(iter(scene.wire.asked))[1], {"terminalId": "T"})
    assert params["sessionId"] == "s"
    scene.wire.take()
    scene.bridge.forget("s")
    assert scene.bridge.wake_at is None
    key = scene.wire.ask(AGENT, "fs/read_text_file", {"path": "a"})
    assert scene.wire.error(AGENT, key).code == -32006


# ---- turns


@pytest.mark.parametrize(
    ("said", "exact", "told"),
    [
        ("error", None, "error"),
        ("bored", None, "bored"),
        ("max_tokens", "max_turn_requests", "max_turn_requests"),
        ("cancelled", "refusal", "cancelled"),
    ],
)
def test_a_turn_ends_for_the_reason_that_the_agent_gave(
    said: str, exact: str | None, told: str
) -> None:
    scene = scene_of()
    key, asked = scene.prompt()
    notes = meta(stopReason=exact) if exact else {}
    usage = {"usage": {"inputTokens": 2, "outputTokens": 3}} if exact else {}
    scene.wire.answer(AGENT, asked, {"stopReason": said, **usage, **notes})
    result = scene.wire.result(CLIENT, key)
    assert result["stopReason"] == told
    assert result.get("usage", {}).get("totalTokens") == (5 if exact else None)


def test_a_failed_turn_says_why() -> None:
    scene = scene_of()
    key, asked = scene.prompt()
    error = {"code": -32050, "message": "model is down"}
    scene.wire.answer(AGENT, asked, {"stopReason": "error", **meta(error=error)})
    assert kept(scene.wire.result(CLIENT, key))["error"] == error


def test_an_attachment_is_the_one_that_was_given() -> None:
    scene = scene_of()
    attachment = {"path": "beds/a.txt"}
    block = {"type": "resource_link", "uri": "file:///beds/a.txt", "name": "a.txt"}
    prompt = [{"type": "text", "text": "x"}, {**block, **meta(attachment=attachment)}]
    scene.wire.ask(CLIENT, "session/prompt", {"sessionId": "s", "prompt": prompt})
    asked = scene.wire.one(AGENT, "session/prompt").params
    assert asked["attachments"] == [attachment]
    assert asked["content"] == [{"type": "text", "text": "x"}]


# ---- updates


@pytest.mark.parametrize(
    ("said", "told", "note"),
    [
        ("awaiting_permission", "pending", "awaiting_permission"),
        ("denied", "denied", "denied"),
        ("cancelled", "cancelled", None),
        ("in_progress", "in_progress", None),
        (None, None, None),
    ],
)
def test_a_status_is_told_as_far_as_v2_has_it(
    said: str | None, told: str | None, note: str | None
) -> None:
    scene = scene_of()
    status = {} if said is None else {"status": said}
    call = {"id": "c", "tool": "x", "input": {}, **status}
    (update,) = scene.update("tool_call", call)
    assert update.get("status") == told
    assert update.get("_meta") == (None if said is None else meta(status=note)["_meta"])


def test_the_place_of_a_call_keeps_its_column() -> None:
    place = {"path": "a.txt", "line": 2, "column": 3}
    (update,) = scene_of().update(
        "tool_call", {"id": "c", "tool": "x", "input": {}, "location": place}
    )
    assert update["locations"][0]["path"] == f"{FOLDER}/a.txt"
    assert kept(update) == {"location": place}


@pytest.mark.parametrize("content", ["+new\n", "@@ -0,0 +1,1 @@\n+new"])
def test_a_diff_is_told_as_a_patch(content: str) -> None:
    scene = scene_of()
    hunk = {"oldStart": 0, "oldLines": 0, "newStart": 1, "newLines": 1, "content": content}
    output = {"type": "diff", "path": "a.txt", "hunks": [hunk]}
    (update,) = scene.update("tool_call_update", {"id": "c", "output": output})
    (diff,) = update["content"]
    assert diff["path"] == f"{FOLDER}/a.txt"
    assert kept(diff) == {"patch": "@@ -0,0 +1,1 @@\n+new\n"}


def test_the_output_of_a_command_and_one_that_nobody_knows_are_told_whole() -> None:
    scene = scene_of()
    output = {"type": "terminal", "terminalId": "T", "stdout": "out", "exitCode": 3}
    data = {"id": "c", "output": output, "duration": 7}
    (update,) = scene.update("tool_call_update", data)
    assert update["content"] == [{"type": "terminal", "terminalId": "T"}]
    assert kept(update) == {"terminal": output, "duration": 7}
    (update,) = scene.update("tool_call_update", {"id": "d", "output": {"type": "smell"}})
    assert update["rawOutput"] == {"type": "smell"}


def test_an_error_stands_behind_what_was_put_out() -> None:
    scene = scene_of()
    output = {"type": "text", "text": "so far"}
    scene.update("tool_call_update", {"id": "c", "status": "in_progress", "output": output})
    (update,) = scene.update("tool_call_update", {"id": "c", "error": "broken"})
    texts = [one["content"]["text"] for one in update["content"]]
    assert texts == ["so far", "broken"]
    (update,) = scene.update("tool_call_update", {"id": "c", "status": "failed"})
    assert "content" not in update


def test_a_plan_keeps_its_id_and_its_words() -> None:
    scene = scene_of()
    step = {"id": "1", "description": "Dig", "status": "skipped"}
    (update,) = scene.update("plan", {"planId": "p", "steps": [step]})
    entry = {"content": "Dig", "priority": "medium", "status": "skipped", **meta(id="1")}
    assert update["plan"] == {"type": "items", "planId": "p", "entries": [entry]}


@pytest.mark.parametrize("data", [{"steps": 3}, 5])
def test_an_update_that_nobody_knows_is_passed_on(data: Any) -> None:
    scene = scene_of()
    (update,) = scene.update("dance", data)
    assert update == {"sessionUpdate": "dance", **(data if isinstance(data, dict) else {})}


# ---- what the agent asks


def test_a_permission_request_is_told_as_it_was_made() -> None:
    scene = scene_of()
    asked = {"operation": "file_write", "resource": "a.txt", "reason": "why", "toolCallId": "c"}
    key, params = asked_of_client(scene, "session/request_permission", {"sessionId": "s", **asked})
    assert kept(params) == asked
    outcome = {"outcome": {"outcome": "selected", "optionId": "deny"}, "_meta": {"by": "rule"}}
    scene.wire.answer(CLIENT, key, outcome)
    (answer,) = scene.wire.took(AGENT)
    assert answer.result == {"granted": False, "remember": False}
    key = scene.wire.ask(AGENT, "session/request_permission", {"sessionId": "no", **asked})
    assert scene.wire.error(AGENT, key).code == -32000


def test_a_read_is_asked_for_and_answered_in_full() -> None:
    scene = scene_of()
    params = {"path": "a.txt", "encoding": "latin-1", "startLine": 2, "endLine": 3}
    agent_key = scene.wire.ask(AGENT, "fs/read_text_file", params)
    request = scene.wire.one(CLIENT, "fs/read_text_file")
    assert request.params == {
        "sessionId": "s",
        "path": f"{FOLDER}/a.txt",
        "line": 2,
        "limit": 2,
        **meta(encoding="latin-1"),
    }
    found = meta(encoding="latin-1", totalLines=9, truncated=True)
    scene.wire.answer(CLIENT, request.key, {"content": "b\nc\n", **found})
    assert scene.wire.result(AGENT, agent_key) == {
        "content": "b\nc\n",
        "encoding": "latin-1",
        "totalLines": 9,
        "truncated": True,
    }
    key = scene.wire.ask(AGENT, "fs/read_text_file", {**params, "endLine": 1})
    assert scene.wire.error(AGENT, key).data == {"path": "$.endLine"}


def test_a_write_is_asked_for_and_answered_in_full() -> None:
    scene = scene_of()
    wishes = {"encoding": "utf-16", "overwrite": False, "createDirectories": False}
    key = scene.wire.ask(AGENT, "fs/write_text_file", {"path": "/a", "content": "x", **wishes})
    request = scene.wire.one(CLIENT, "fs/write_text_file")
    assert kept(request.params) == wishes
    scene.wire.answer(CLIENT, request.key, meta(bytesWritten=4, created=True))
    assert scene.wire.result(AGENT, key) == {"bytesWritten": 4, "created": True}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("fs/read_text_file", {"path": "/a", "sessionId": "s"}),
        ("fs/write_text_file", {"path": "/a", "content": "", "sessionId": "s"}),
        ("terminal/kill", {"terminalId": "T", "sessionId": "s"}),
    ],
)
def test_a_request_that_names_a_session_mixes_two_dialects(method: str, params: Json) -> None:
    scene = scene_of()
    key = scene.wire.ask(AGENT, method, params)
    assert scene.wire.error(AGENT, key).data["reason"] == "mixed_dialects"


# ---- terminals


def _create(scene: Behind, **params: Any) -> Any:
    key = scene.wire.ask(AGENT, "terminal/create", {"command": "ls", **params})
    asked = scene.wire.one(CLIENT, "terminal/create")
    scene.wire.answer(CLIENT, asked.key, {"terminalId": "T", **meta(pid=77)})
    return scene.wire.result(AGENT, key)


def test_output_is_pushed_by_the_client_and_not_polled() -> None:
    scene = scene_of()
    assert _create(scene) == {"terminalId": "T", "pid": 77}
    scene.wire.wait(5)
    assert scene.wire.take() == []
    piece = {"terminalId": "T", "data": "x", "stream": "stderr"}
    for answer in ({"received": True}, None):
        key = scene.wire.ask(CLIENT, PUSHED_OUTPUT, piece)
        asked = scene.wire.one(AGENT, "terminal/output")
        assert asked.params == piece
        if answer is not None:
            scene.wire.answer(AGENT, asked.key, answer)
            assert scene.wire.result(CLIENT, key) == answer
        else:
            scene.wire.fail(AGENT, asked.key, -32004)
            assert scene.wire.error(CLIENT, key).code == -32002
    outs = scene.bridge.receive(CLIENT, Notification(PUSHED_OUTPUT, piece))
    assert list(outs) == [(AGENT, Notification("terminal/output", piece))]


def test_a_command_whose_time_is_over_says_so() -> None:
    scene = scene_of()
    _create(scene, timeout=100)
    key = scene.wire.ask(AGENT, "terminal/wait_for_exit", {"terminalId": "T"})
    waiting = scene.wire.one(CLIENT, "terminal/wait_for_exit")
    scene.wire.wait(0.2)
    killed = scene.wire.one(CLIENT, "terminal/kill")
    scene.wire.answer(CLIENT, killed.key, {})
    scene.wire.answer(CLIENT, waiting.key, {"exitCode": None, "signal": "SIGTERM"})
    told = scene.wire.result(AGENT, key)
    assert told == {"exitCode": 143, "signal": "SIGTERM", "timedOut": True}


def test_a_terminal_has_no_limit_of_no_time() -> None:
    scene = scene_of()
    _create(scene, timeout=0, cwd="beds")
    assert scene.bridge.wake_at is None


def test_a_signal_is_passed_on_and_what_came_of_it_is_told() -> None:
    scene = scene_of()
    _create(scene)
    for done in (True, False):
        params = {"terminalId": "T", "signal": "SIGINT"}
        key = scene.wire.ask(AGENT, "terminal/kill", params)
        asked = scene.wire.one(CLIENT, "terminal/kill")
        assert kept(asked.params) == {"signal": "SIGINT"}
        scene.wire.answer(CLIENT, asked.key, meta(killed=done))
        assert scene.wire.result(AGENT, key) == {"killed": done}


def test_a_terminal_that_is_not_there_is_refused_here() -> None:
    scene = scene_of()
    for method in ("wait_for_exit", "kill"):
        key = scene.wire.ask(AGENT, f"terminal/{method}", {"terminalId": "T"})
        assert scene.wire.error(AGENT, key).code == -32004
    key = scene.wire.ask(AGENT, "terminal/release", {"terminalId": "T"})
    assert scene.wire.result(AGENT, key) == {"released": False}


def test_the_bound_on_terminals_is_the_one_that_was_told() -> None:
    scene = scene_of()
    for data, code in (({"reason": "too_many_terminals"}, -32006), (None, -32603)):
        key = scene.wire.ask(AGENT, "terminal/create", {"command": "ls"})
        asked = scene.wire.one(CLIENT, "terminal/create")
        scene.wire.fail(CLIENT, asked.key, -32603, "2 run", data)
        error = scene.wire.error(AGENT, key)
        assert error.code == code
        assert ("maxConcurrent" in error.message) is (data is not None)

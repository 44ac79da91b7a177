"""What a draft agent asks of a v1 client: permission, files, calls to MCP servers."""

from typing import Any

import pytest

from accord.translate.draft.agent.session_memory import SHOWN_BYTES_MAX, SHOWN_CALLS_MAX
from accord.translate.message import AGENT, CLIENT
from accord.translate.meta_store import DRAFT
from tests.translate.draft.open_sessions import FOLDER, V1_CLIENT, Behind, behind


def _ask(scene: Behind, **params: Any) -> tuple[int, Any]:
    params = {"sessionId": "s", "operation": "file_write", "resource": "/a", **params}
    key = scene.wire.ask(AGENT, "session/request_permission", params)
    return key, scene.wire.one(CLIENT, "session/request_permission")


# ---- permission


def test_a_question_about_a_file() -> None:
    """The draft's table 4.1: the six options, the place, the reason."""
    scene = behind()
    _, asked = _ask(scene, resource="beds/a.txt", reason="to plant", _meta={"x": 1})
    call = asked.params["toolCall"]
    assert call == {
        "toolCallId": "d26-perm-1",
        "title": "file_write: beds/a.txt",
        "kind": "edit",
        "status": "pending",
        "locations": [{"path": f"{FOLDER}/beds/a.txt"}],
        "rawInput": {"resource": "beds/a.txt"},
        "content": [{"type": "content", "content": {"type": "text", "text": "to plant"}}],
        "_meta": {DRAFT: {"status": "awaiting_permission", "operation": "file_write"}},
    }
    assert [(one["optionId"], one["kind"]) for one in asked.params["options"]] == [
        ("once", "allow_once"),
        ("session", "allow_always"),
        ("workspace", "allow_always"),
        ("always", "allow_always"),
        ("deny", "reject_once"),
        ("deny_always", "reject_always"),
    ]
    assert asked.params["_meta"] == {"x": 1}


def test_a_question_about_a_command_keeps_the_input_of_its_call() -> None:
    """The draft's table 4.1: the resource is in the raw input."""
    scene = behind()
    scene.update("tool_call", {"id": "c", "tool": "terminal/create", "input": {"command": "ls"}})
    _, asked = _ask(scene, operation="terminal_execute", resource="ls", toolCallId="c")
    call = asked.params["toolCall"]
    assert call["rawInput"] == {"command": "ls", "resource": "ls"}
    assert "locations" not in call
    scene.update("tool_call", {"id": "d", "tool": "fs/write", "input": 5})
    _, asked = _ask(scene, toolCallId="d")
    assert "rawInput" not in asked.params["toolCall"]
    large = {"command": "x" * 20_000}
    scene.update("tool_call", {"id": "e", "tool": "terminal/create", "input": large})
    _, asked = _ask(scene, operation="terminal_execute", resource="x", toolCallId="e")
    assert asked.params["toolCall"]["rawInput"] == {"command": "x", "resource": "x"}
    _, asked = _ask(scene, operation="mcp_tool", resource="shed/dig", toolCallId="d")
    named = {"server": "shed", "tool": "dig"}
    assert asked.params["toolCall"]["rawInput"] == {**named, "resource": "shed/dig"}


@pytest.mark.parametrize(
    ("operation", "resource", "named"),
    [
        ("terminal_execute", "rm x", {"command": "rm x"}),
        ("network_access", "https://a.example/", {"url": "https://a.example/"}),
        ("mcp_tool", "disk/read", {"server": "disk", "tool": "read"}),
        ("mcp_tool", "read", {}),
    ],
)
def test_a_question_names_its_resource_as_rules_look_for_it(
    operation: str, resource: str, named: dict[str, str]
) -> None:
    """Issue 12: the same act is judged the same; what the call said before does not hide it."""
    scene = behind()
    given = {"command": "ls", "url": "https://b.example/", "server": "x", "tool": "y"}
    scene.update("tool_call", {"id": "c", "tool": "x", "input": given})
    _, asked = _ask(scene, operation=operation, resource=resource, toolCallId="c")
    assert asked.params["toolCall"]["rawInput"] == {**given, **named, "resource": resource}


@pytest.mark.rule("D26-10")
@pytest.mark.parametrize(
    ("outcome", "grant"),
    [
        ("once", {"granted": True, "scope": "once", "remember": False}),
        ("session", {"granted": True, "scope": "session", "remember": True}),
        ("workspace", {"granted": True, "scope": "workspace", "remember": True}),
        ("always", {"granted": True, "scope": "always", "remember": True}),
        ("deny", {"granted": False, "remember": False}),
        ("deny_always", {"granted": False, "remember": True}),
        ("not offered", {"granted": False}),
        (None, {"granted": False}),
    ],
)
def test_the_users_word_in_the_drafts(outcome: str | None, grant: Any) -> None:
    """The draft's table 4.1."""
    scene = behind()
    key, asked = _ask(scene)
    said: Any = {"outcome": "cancelled"}
    if outcome is not None:
        said = {"outcome": "selected", "optionId": outcome}
    scene.wire.answer(CLIENT, asked.key, {"outcome": said, "_meta": {"x": 1}})
    assert scene.wire.result(AGENT, key) == {**grant, "_meta": {"x": 1}}


def test_nothing_that_was_kept_grants_anything() -> None:
    """contradiction 46: no grant, scope, option or path comes from `_meta`."""
    scene = behind()
    kept = {DRAFT: {"options": [{"optionId": "y", "kind": "allow_always", "name": "Y"}]}}
    key, asked = _ask(scene, _meta=kept)
    assert len(asked.params["options"]) == 6
    result = {"outcome": {"outcome": "cancelled"}, "_meta": {DRAFT: {"granted": True}}}
    scene.wire.answer(CLIENT, asked.key, result)
    assert scene.wire.result(AGENT, key)["granted"] is False


def test_a_client_that_fails_to_ask() -> None:
    """The draft's table 9."""
    scene = behind()
    key, asked = _ask(scene)
    scene.wire.fail(CLIENT, asked.key, -32800)
    assert scene.wire.error(AGENT, key).code == -32003


# ---- files


def _file(scene: Behind, method: str, **params: Any) -> tuple[int, Any]:
    key = scene.wire.ask(AGENT, method, params)
    return key, scene.wire.one(CLIENT, method)


@pytest.mark.rule("D26-11", "D26-25")
@pytest.mark.parametrize(
    ("lines", "asked", "content", "told"),
    [
        ({}, {}, "a\nb", {"totalLines": 2, "truncated": False}),
        ({}, {}, "", {"totalLines": 0, "truncated": False}),
        ({"startLine": 2}, {"line": 2}, "b\n", {"totalLines": 2, "truncated": False}),
        ({"startLine": 9}, {"line": 9}, "", {}),
        ({"endLine": 2}, {"limit": 2}, "a\nb\n", {}),
        ({"endLine": 3}, {"limit": 3}, "a\nb\n", {"totalLines": 2, "truncated": False}),
        (
            {"startLine": 2, "endLine": 4},
            {"line": 2, "limit": 3},
            "b\n",
            {"totalLines": 2, "truncated": False},
        ),
        ({"startLine": 0}, {"line": 1}, "a", {"totalLines": 1, "truncated": False}),
    ],
)
def test_reading_lines(lines: Any, asked: Any, content: str, told: Any) -> None:
    """The draft's table 4.2."""
    scene = behind()
    key, read = _file(scene, "fs/read_text_file", path="a.txt", encoding="UTF-8", **lines)
    assert read.params == {"sessionId": "s", "path": f"{FOLDER}/a.txt", **asked}
    scene.wire.answer(CLIENT, read.key, {"content": content})
    assert scene.wire.result(AGENT, key) == {"content": content, "encoding": "utf-8", **told}


def test_what_a_draft_client_had_said_of_a_file_comes_back() -> None:
    """The draft's table 4.2."""
    scene = behind()
    key, read = _file(scene, "fs/read_text_file", path="/a", endLine=1)
    kept = {"totalLines": 7, "truncated": True, "encoding": "latin-1"}
    scene.wire.answer(CLIENT, read.key, {"content": "a\n", "_meta": {DRAFT: kept}})
    assert scene.wire.result(AGENT, key) == {"content": "a\n", **kept}


def test_no_lines_are_read_without_asking() -> None:
    """The draft's table 4.2."""
    scene = behind()
    key = scene.wire.ask(AGENT, "fs/read_text_file", {"path": "/a", "startLine": 3, "endLine": 2})
    assert scene.wire.result(AGENT, key) == {"content": "", "encoding": "utf-8"}


@pytest.mark.parametrize("method", ["fs/read_text_file", "fs/write_text_file"])
def test_files_that_cannot_be_had(method: str) -> None:
    """The draft's table 4.2, 9: another encoding, no such ability, no such file."""
    params: Any = {"path": "/a", "content": "x"} if "write" in method else {"path": "/a"}
    key = (scene := behind()).wire.ask(AGENT, method, {**params, "encoding": "latin-1"})
    assert scene.wire.error(AGENT, key).code == -32602
    key = (scene := behind(client={})).wire.ask(AGENT, method, params)
    assert scene.wire.error(AGENT, key).code == -32007
    key, asked = _file(scene := behind(), method, **params)
    scene.wire.fail(CLIENT, asked.key, -32002)
    assert scene.wire.error(AGENT, key).code == -32004


@pytest.mark.rule("D26-11")
def test_writing() -> None:
    """The draft's table 4.2: the size in UTF-8, the hints for the client."""
    scene = behind()
    key, write = _file(
        scene, "fs/write_text_file", path="/a", content="ü", createDirectories=True, overwrite=True
    )
    assert write.params == {
        "sessionId": "s",
        "path": "/a",
        "content": "ü",
        "_meta": {DRAFT: {"createDirectories": True, "overwrite": True}},
    }
    scene.wire.answer(CLIENT, write.key, {})
    assert scene.wire.result(AGENT, key) == {"bytesWritten": 2, "created": False}


def test_what_a_draft_client_had_said_of_a_write_comes_back() -> None:
    """The draft's table 4.2."""
    scene = behind()
    key, write = _file(scene, "fs/write_text_file", path="/a", content="u")
    kept = {"bytesWritten": 4, "created": True}
    scene.wire.answer(CLIENT, write.key, {"_meta": {DRAFT: kept}})
    assert scene.wire.result(AGENT, key) == kept


@pytest.mark.parametrize("found", [True, False, None])
def test_a_file_that_must_not_be_replaced_is_looked_for(found: bool | None) -> None:
    """The draft's table 4.2: read first; what is there is refused with -32005."""
    scene = behind()
    params = {"path": "/a", "content": "u", "overwrite": False}
    key = scene.wire.ask(AGENT, "fs/write_text_file", params)
    look = scene.wire.one(CLIENT, "fs/read_text_file")
    assert look.params == {"sessionId": "s", "path": "/a", "line": 1, "limit": 1}
    if found:
        scene.wire.answer(CLIENT, look.key, {"content": ""})
        error = scene.wire.error(AGENT, key)
        assert (error.code, error.data) == (-32005, {"path": "/a"})
    elif found is None:
        scene.wire.fail(CLIENT, look.key, -32055)
        assert scene.wire.error(AGENT, key).code == -32005
    else:
        scene.wire.fail(CLIENT, look.key, -32002)
        write = scene.wire.one(CLIENT, "fs/write_text_file")
        scene.wire.answer(CLIENT, write.key, {})
        assert scene.wire.result(AGENT, key) == {"bytesWritten": 1, "created": True}


def test_without_reading_nobody_can_tell_whether_a_file_is_there() -> None:
    """Ours."""
    scene = behind(client={"fs": {"writeTextFile": True}})
    params = {"path": "/a", "content": "u", "overwrite": False}
    key = scene.wire.ask(AGENT, "fs/write_text_file", params)
    assert scene.wire.error(AGENT, key).code == -32007


# ---- whose request it is


def test_requests_without_a_session_find_their_owner() -> None:
    """The draft's table 4: by path, by running prompt, the only one; else -32006."""
    scene = behind()
    read = "fs/read_text_file"
    assert _file(scene, read, path="/elsewhere")[1].params["sessionId"] == "s"
    scene.open("t", "/srv/orchard")
    assert _file(scene, read, path="/srv/orchard/a")[1].params["sessionId"] == "t"
    assert _file(scene, read, path="/srv/garden")[1].params["sessionId"] == "s"
    key = scene.wire.ask(AGENT, read, {"path": "/elsewhere"})
    assert scene.wire.error(AGENT, key).code == -32006
    scene.prompt(session_id="t")
    assert _file(scene, read, path="/elsewhere")[1].params["sessionId"] == "t"
    assert _file(scene, read, path="relative")[1].params["path"] == "/srv/orchard/relative"
    assert _file(scene, read, path="/srv/garden/a")[1].params["sessionId"] == "s"
    kept = {DRAFT: {"sessionId": "s"}}
    assert _file(scene, read, path="/elsewhere", _meta=kept)[1].params["sessionId"] == "s"
    assert _file(scene, read, path="/srv/orchard/a", sessionId="s")[1].params["sessionId"] == "s"


# ---- MCP


def _with_server(unstable: bool = True) -> Behind:
    scene = Behind(unstable=unstable)
    scene.initialize()
    server = {"name": "shed", "type": "acp", "serverId": "srv-1"}
    scene.wire.ask(CLIENT, "session/new", {"cwd": "/a", "mcpServers": [server]})
    scene.wire.take()
    return scene


def test_a_call_to_a_server_of_the_client() -> None:
    """The draft's table 11.1: R1, R5, R6."""
    scene = _with_server()
    params = {"serverName": "srv-1", "mcpMethod": "tools/call", "mcpParams": {"name": "dig"}}
    key = scene.wire.ask(AGENT, "_mcp/request", params)
    asked = scene.wire.one(CLIENT, "mcp/message")
    assert asked.params == {
        "serverId": "srv-1",
        "requestId": "fresh-1",
        "method": "tools/call",
        "params": {"name": "dig"},
    }
    scene.wire.answer(CLIENT, asked.key, {"result": {"dug": True}})
    assert scene.wire.result(AGENT, key) == {"dug": True}
    key = scene.wire.ask(AGENT, "_mcp/request", {"serverName": "srv-1", "mcpMethod": "ping"})
    asked = scene.wire.one(CLIENT, "mcp/message")
    assert "params" not in asked.params
    inner = {"code": -32000, "message": "rain"}
    scene.wire.answer(CLIENT, asked.key, {"error": inner})
    error = scene.wire.error(AGENT, key)
    assert (error.code, error.message) == (-32603, "rain")
    assert error.data == {"reason": "mcp_error", "error": inner}
    key = scene.wire.ask(AGENT, "_mcp/request", {"serverName": "srv-1", "mcpMethod": "ping"})
    scene.wire.fail(CLIENT, scene.wire.one(CLIENT, "mcp/message").key, -32000)
    assert scene.wire.error(AGENT, key).code == -32001


def test_other_calls_go_on_as_the_extension_that_they_are() -> None:
    """The draft's table 11.1."""
    scene = _with_server()
    scene.wire.ask(AGENT, "_mcp/request", {"serverName": "other", "mcpMethod": "ping"})
    scene.wire.one(CLIENT, "_mcp/request")
    odd = {"serverName": "srv-1", "mcpMethod": "ping", "mcpParams": [1]}
    scene.wire.ask(AGENT, "_mcp/request", odd)
    scene.wire.one(CLIENT, "_mcp/request")
    scene.wire.ask(CLIENT, "_mcp/request", {"serverName": "other", "mcpMethod": "ping"})
    scene.wire.one(AGENT, "_mcp/request")
    for side in (CLIENT, AGENT):
        key = scene.wire.ask(side, "_mcp/request", {"serverName": "other"})
        assert scene.wire.error(side, key).code == -32602


def test_a_client_that_serves_only_some_files() -> None:
    """The draft's table 7: both respect the intersection."""
    scene = behind(client={**V1_CLIENT, "fs": {"readTextFile": True}})
    key = scene.wire.ask(AGENT, "fs/write_text_file", {"path": "/a", "content": ""})
    assert scene.wire.error(AGENT, key).code == -32007


def _shows(scene: Behind, call_id: str, text: str) -> None:
    scene.update("tool_call", {"id": call_id, "tool": "x", "input": {}, "status": "pending"})
    scene.update("tool_call_update", {"id": call_id, "output": {"type": "text", "text": text}})


def _texts(asked: Any) -> list[str]:
    return [one["content"]["text"] for one in asked.params["toolCall"]["content"]]


def test_the_reason_stands_beside_what_the_call_shows() -> None:
    """v1's clients take the contents of a question for all that the call shows."""
    scene = behind()
    _shows(scene, "c", "shown")
    _, asked = _ask(scene, toolCallId="c", reason="why")
    assert _texts(asked) == ["why", "shown"]
    scene.update("tool_call_update", {"id": "c", "status": "awaiting_permission"})
    scene.update("tool_call_update", {"id": "c", "status": "in_progress"})
    _, asked = _ask(scene, toolCallId="c", reason="why")
    assert _texts(asked) == ["why"]


def test_what_calls_show_before_they_are_asked_about_is_bounded() -> None:
    """No agent fills the memory: what is too large is not repeated, and the oldest gives way."""
    scene = behind()
    _shows(scene, "large", "x" * SHOWN_BYTES_MAX)
    _, asked = _ask(scene, toolCallId="large", reason="why")
    assert _texts(asked) == ["why"]
    for number in range(SHOWN_CALLS_MAX + 1):
        _shows(scene, str(number), "shown")
    _, asked = _ask(scene, toolCallId="0", reason="why")
    assert _texts(asked) == ["why"]
    _, asked = _ask(scene, toolCallId="1", reason="why")
    assert _texts(asked) == ["why", "shown"]

"""What a v1 agent asks of a draft client: files, terminals, calls to MCP servers."""

from typing import Any

import pytest

from accord.translate.draft.client import terminals as bounds
from accord.translate.message import AGENT, CLIENT, Request, Result
from accord.translate.meta_store import DRAFT
from tests.translate.draft.open_sessions import DRAFT_CLIENT, FOLDER, Before, before


def _ask(scene: Before, method: str, **params: Any) -> tuple[int, Any]:
    key = scene.wire.ask(AGENT, method, {"sessionId": "s", **params})
    return key, scene.wire.request(CLIENT, method)


# ---- files


@pytest.mark.parametrize(
    ("lines", "asked"),
    [
        ({}, {}),
        ({"line": None, "limit": None}, {}),
        ({"line": 3}, {"startLine": 3}),
        ({"limit": 3}, {"startLine": 1, "endLine": 3}),
        ({"line": 3, "limit": 2}, {"startLine": 3, "endLine": 4}),
        ({"line": 2**32 - 1, "limit": 9}, {"startLine": 2**32 - 1, "endLine": 2**32 - 1}),
        ({"line": 0}, {"startLine": 1}),
    ],
)
def test_reading_lines(lines: Any, asked: Any) -> None:
    """The draft's table 4.2."""
    scene = before()
    key, read = _ask(scene, "fs/read_text_file", path="/a", **lines)
    kept: Any = {"_meta": {DRAFT: {"sessionId": "s"}}}
    assert read.params == {"path": "/a", **asked, **kept}
    result = {"content": "x", "encoding": "utf-8", "totalLines": 7, "truncated": True}
    scene.wire.answer(CLIENT, read.key, result)
    kept = {"_meta": {DRAFT: {"totalLines": 7, "truncated": True}}}
    assert scene.wire.result(AGENT, key) == {"content": "x", **kept}


def test_an_encoding_that_is_another_is_kept() -> None:
    """The draft's table 4.2."""
    scene = before()
    key, read = _ask(scene, "fs/read_text_file", path="/a")
    scene.wire.answer(CLIENT, read.key, {"content": "x", "encoding": "latin-1"})
    assert scene.wire.result(AGENT, key)["_meta"] == {DRAFT: {"encoding": "latin-1"}}


def test_no_lines_are_read_without_asking() -> None:
    """The draft's table 4.2: a limit of 0."""
    scene = before()
    params = {"sessionId": "s", "path": "/a", "limit": 0}
    key = scene.wire.ask(AGENT, "fs/read_text_file", params)
    assert scene.wire.result(AGENT, key) == {"content": ""}


def test_writing() -> None:
    """The draft's table 4.2: the hints of a draft agent behind come back."""
    scene = before()
    kept = {"_meta": {DRAFT: {"createDirectories": True, "overwrite": False}}}
    key, write = _ask(scene, "fs/write_text_file", path="/a", content="x", **kept)
    assert write.params == {
        "path": "/a",
        "content": "x",
        "createDirectories": True,
        "overwrite": False,
        "_meta": {DRAFT: {"sessionId": "s"}},
    }
    scene.wire.answer(CLIENT, write.key, {"bytesWritten": 1, "created": True})
    assert scene.wire.result(AGENT, key) == {"_meta": {DRAFT: {"bytesWritten": 1, "created": True}}}


@pytest.mark.parametrize("method", ["fs/read_text_file", "fs/write_text_file"])
def test_files_that_cannot_be_had(method: str) -> None:
    """The draft's table 7, 9."""
    params: Any = {"path": "/a b", "content": "x"} if "write" in method else {"path": "/a b"}
    scene = before(client={})
    key = scene.wire.ask(AGENT, method, {"sessionId": "s", **params})
    assert scene.wire.error(AGENT, key).code == -32601
    scene = before()
    key, asked = _ask(scene, method, **params)
    scene.wire.fail(CLIENT, asked.key, -32004)
    error = scene.wire.error(AGENT, key)
    assert (error.code, error.data) == (-32002, {"uri": "file:///a%20b"})
    key, asked = _ask(scene, method, **params)
    scene.wire.fail(CLIENT, asked.key, -32005)
    assert scene.wire.error(AGENT, key).code == -32055


# ---- terminals


def _create(scene: Before, **params: Any) -> Any:
    key, asked = _ask(scene, "terminal/create", command="ls", **params)
    scene.wire.answer(CLIENT, asked.key, {"terminalId": "T", "pid": 4})
    said = scene.wire.take()
    assert said[0] == (
        AGENT,
        Result(key, {"terminalId": "T", "_meta": {DRAFT: {"pid": 4}}}),
    )
    wait = said[1][1]
    assert isinstance(wait, Request)
    assert wait.params == {"terminalId": "T"}
    return wait


def _push(scene: Before, data: str, terminal_id: str = "T") -> bool:
    params = {"terminalId": terminal_id, "data": data, "stream": "stderr"}
    key = scene.wire.ask(CLIENT, "terminal/output", params)
    received: bool = scene.wire.result(CLIENT, key)["received"]
    return received


def _poll(scene: Before, terminal_id: str = "T") -> Any:
    params = {"sessionId": "s", "terminalId": terminal_id}
    return scene.wire.result(AGENT, scene.wire.ask(AGENT, "terminal/output", params))


def test_a_command_is_started_in_the_sessions_folder() -> None:
    """The draft's table 4.3."""
    scene = before()
    env = [{"name": "A", "value": "1"}]
    _, asked = _ask(
        scene, "terminal/create", command="make", args=["all"], env=env, outputByteLimit=9
    )
    kept = {"sessionId": "s", "outputByteLimit": 9, "noCwd": True}
    assert asked.params == {
        "command": "make",
        "args": ["all"],
        "env": {"A": "1"},
        "cwd": FOLDER,
        "_meta": {DRAFT: kept},
    }
    meta = {"_meta": {DRAFT: {"timeout": 900}}}
    _, asked = _ask(scene, "terminal/create", command="make", cwd="/x", **meta)
    assert (asked.params["cwd"], asked.params["timeout"]) == ("/x", 900)
    key = scene.wire.ask(AGENT, "terminal/create", {"sessionId": "unknown", "command": "x"})
    assert "cwd" not in scene.wire.request(CLIENT, "terminal/create").params
    assert key


def test_terminals_that_cannot_be_had() -> None:
    """The draft's table 7, 9: no such ability, the maximum, refused by the client."""
    scene = before(client={})
    params = {"sessionId": "s", "command": "ls"}
    key = scene.wire.ask(AGENT, "terminal/create", params)
    assert scene.wire.error(AGENT, key).code == -32601
    scene = before(client={"terminal": {"create": True, "maxConcurrent": 1}})
    key, asked = _ask(scene, "terminal/create", command="ls")
    more = scene.wire.ask(AGENT, "terminal/create", params)
    error = scene.wire.error(AGENT, more)
    assert (error.code, error.data) == (-32603, {"reason": "too_many"})
    scene.wire.fail(CLIENT, asked.key, -32005)
    assert scene.wire.error(AGENT, key).code == -32055
    _create(scene)
    more = scene.wire.ask(AGENT, "terminal/create", params)
    assert scene.wire.error(AGENT, more).code == -32603


def test_pushed_output_answers_polls() -> None:
    """The draft's table 4.3: both streams in the order of arrival."""
    scene = before()
    wait = _create(scene)
    assert _poll(scene) == {"output": "", "truncated": False}
    assert _push(scene, "one\n") is True
    scene.wire.tell(CLIENT, "terminal/output", {"terminalId": "T", "data": "two\n"})
    assert scene.wire.take() == []
    assert _poll(scene) == {"output": "one\ntwo\n", "truncated": False}
    scene.wire.answer(CLIENT, wait.key, {"exitCode": 3})
    assert _poll(scene)["exitStatus"] == {"exitCode": 3, "signal": None}


def test_output_is_kept_within_the_agents_limit_and_ours() -> None:
    """The draft's table 4.3: the front goes, at a character boundary."""
    scene = before()
    _create(scene, outputByteLimit=5)
    for data in ("abc", "dü", "ü"):
        _push(scene, data)
    assert _poll(scene) == {"output": "düü", "truncated": True}
    _push(scene, "€€")
    assert _poll(scene) == {"output": "€", "truncated": True}
    _push(scene, "12345")
    assert _poll(scene) == {"output": "12345", "truncated": True}
    scene = before()
    _create(scene)
    _push(scene, "x" * (bounds.OUTPUT_BYTES_MAX + 1))
    assert len(_poll(scene)["output"]) == bounds.OUTPUT_BYTES_MAX
    scene = before()
    _create(scene, outputByteLimit=0)
    _push(scene, "x")
    assert _poll(scene) == {"output": "", "truncated": True}


def test_output_that_comes_before_its_terminal_is_kept_within_bounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours: a client may push before it has answered."""
    monkeypatch.setattr(bounds, "EARLY_TERMINALS_MAX", 1)
    scene = before()
    assert _push(scene, "x") is False
    _, asked = _ask(scene, "terminal/create", command="ls", outputByteLimit=3)
    _, other = _ask(scene, "terminal/create", command="ls")
    assert _push(scene, "early") is True
    assert _push(scene, "early", "U") is False
    scene.wire.answer(CLIENT, asked.key, {"terminalId": "T"})
    scene.wire.take()
    assert _poll(scene) == {"output": "rly", "truncated": True}
    scene.wire.answer(CLIENT, other.key, {"terminalId": "U"})
    scene.wire.take()
    assert _poll(scene, "U") == {"output": "", "truncated": False}


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"exitCode": 0}, {"exitCode": 0, "signal": None}),
        ({"exitCode": 137, "signal": "SIGKILL"}, {"exitCode": 137, "signal": "SIGKILL"}),
        (
            {"exitCode": 137, "signal": "SIGKILL", "_meta": {DRAFT: {"exitCode": None}}},
            {"exitCode": None, "signal": "SIGKILL"},
        ),
        (
            {"exitCode": -1, "timedOut": False},
            {"exitCode": None, "signal": None, "_meta": {DRAFT: {"exitCode": -1}}},
        ),
    ],
)
def test_the_end_is_told_to_every_waiting_request(answer: Any, status: Any) -> None:
    """The draft's table 4.3."""
    scene = before()
    wait = _create(scene)
    params = {"sessionId": "s", "terminalId": "T"}
    keys = [scene.wire.ask(AGENT, "terminal/wait_for_exit", params) for _ in range(2)]
    assert scene.wire.take() == []
    scene.wire.answer(CLIENT, wait.key, answer)
    assert scene.wire.take() == [(AGENT, Result(key, status)) for key in keys]
    late = scene.wire.ask(AGENT, "terminal/wait_for_exit", params)
    assert scene.wire.result(AGENT, late) == status


@pytest.mark.parametrize("how", ["failure", "timed out"])
def test_a_wait_that_fails_is_asked_again_by_the_next_who_waits(how: str) -> None:
    """The draft's table 9."""
    scene = before()
    wait = _create(scene)
    params = {"sessionId": "s", "terminalId": "T"}
    key = scene.wire.ask(AGENT, "terminal/wait_for_exit", params)
    if how == "failure":
        scene.wire.fail(CLIENT, wait.key, -32009)
    else:
        scene.wire.answer(CLIENT, wait.key, {"exitCode": -1, "timedOut": True})
    assert scene.wire.error(AGENT, key).code == -32059
    scene.wire.ask(AGENT, "terminal/wait_for_exit", params)
    again = scene.wire.one(CLIENT, "terminal/wait_for_exit")
    scene.wire.answer(CLIENT, again.key, {"exitCode": 0})
    assert len(scene.wire.took(AGENT, Result)) == 1


@pytest.mark.parametrize(("method", "word"), [("kill", "killed"), ("release", "released")])
def test_killing_and_releasing(method: str, word: str) -> None:
    """The draft's table 4.3."""
    for outcome in (True, False, None):
        scene = before()
        _create(scene)
        hints = {"signal": "SIGINT", "force": True} if method == "kill" else {}
        meta = {"_meta": {DRAFT: hints}} if hints else {}
        key, asked = _ask(scene, f"terminal/{method}", terminalId="T", **meta)
        kept = {"_meta": {DRAFT: {"sessionId": "s"}}}
        assert asked.params == {"terminalId": "T", **hints, **kept}
        if outcome is None:
            scene.wire.fail(CLIENT, asked.key, -32603)
            assert scene.wire.error(AGENT, key).code == -32603
        else:
            scene.wire.answer(CLIENT, asked.key, {word: outcome})
            told = {} if outcome else {"_meta": {DRAFT: {word: False}}}
            assert scene.wire.result(AGENT, key) == told


def test_a_terminal_that_nobody_knows() -> None:
    """The draft's table 9."""
    scene = before()
    _create(scene)
    _ask(scene, "terminal/release", terminalId="T")
    for method in ("output", "wait_for_exit", "kill", "release"):
        params = {"sessionId": "s", "terminalId": "T"}
        key = scene.wire.ask(AGENT, f"terminal/{method}", params)
        assert scene.wire.error(AGENT, key).code == -32002


# ---- MCP


def test_a_call_to_a_server_of_the_client() -> None:
    """The draft's table 11.1: inner errors stay apart."""
    scene = before(unstable=True)
    inner = {"code": 3, "message": "rain"}
    params = {"serverId": "shed", "requestId": "r", "method": "tools/call", "params": {"a": 1}}
    for fail, result in (
        (None, {"result": {"dug": True}}),
        ({"reason": "mcp_error", "error": inner}, {"error": inner}),
    ):
        key = scene.wire.ask(AGENT, "mcp/message", params)
        asked = scene.wire.one(CLIENT, "_mcp/request")
        call = {"serverName": "shed", "mcpMethod": "tools/call", "mcpParams": {"a": 1}}
        assert asked.params == call
        if fail is None:
            scene.wire.answer(CLIENT, asked.key, {"dug": True})
        else:
            scene.wire.fail(CLIENT, asked.key, -32603, "rain", fail)
        assert scene.wire.result(AGENT, key) == result
    for data in (None, {"reason": "mcp_error", "error": 5}):
        bare = {"serverId": "shed", "requestId": "r", "method": "ping"}
        key = scene.wire.ask(AGENT, "mcp/message", bare)
        scene.wire.fail(CLIENT, scene.wire.one(CLIENT, "_mcp/request").key, -32001, "no", data)
        assert scene.wire.error(AGENT, key).code == -32000


def test_calls_of_the_draft_go_on_as_the_extension_that_they_are() -> None:
    """The draft's table 11.1."""
    scene = before(client=DRAFT_CLIENT)
    call = {"serverName": "shed", "mcpMethod": "ping"}
    for side, other in ((CLIENT, AGENT), (AGENT, CLIENT)):
        scene.wire.ask(side, "_mcp/request", dict(call))
        scene.wire.one(other, "_mcp/request")
        key = scene.wire.ask(side, "_mcp/request", {"mcpMethod": "ping"})
        assert scene.wire.error(side, key).code == -32602

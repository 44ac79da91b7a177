"""The draft through v1 and back: what comes out is what went in, up to the points that are named.

A draft client, both bridges and a draft agent must give what a direct connection gives.
"""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accord.schema.draft.updates import UPDATE_TYPES
from accord.translate.message import AGENT, CLIENT, Failure, Json, Notification, Result
from tests.translate.draft.generated_messages import draft_value
from tests.translate.draft.open_sessions import DRAFT_AGENT, DRAFT_CLIENT, FOLDER
from tests.translate.round_trips.chain_draft import Pair, plain, without_kept

# ---- the draft, through v1


def started_draft() -> Pair:
    """A session of the draft on both."""
    pair = Pair.of_draft()
    client = {**DRAFT_CLIENT, "fs": {"read": True, "write": True, "watch": False}}
    info = {"name": "pencil", "version": "3"}
    params = {"protocolVersion": 1, "clientInfo": info, "capabilities": client}
    result = {"protocolVersion": 1, "agentInfo": info, "capabilities": DRAFT_AGENT}
    keys = pair.ask(CLIENT, "initialize", params)
    direct, through = pair.arrived(AGENT, "initialize")
    # Lossy: the bridge itself takes official updates, and says so.
    assert through.params["capabilities"].pop("_custom") == {"acpUpdates": True}
    assert without_kept(through.params) == direct.params
    pair.answer(AGENT, (direct, through), result)
    first, second = pair.answers(CLIENT, keys)
    assert without_kept(second) == first
    new = {"workingDirectory": FOLDER}
    session = {"sessionId": "s", "createdAt": "then"}
    first, second = pair.call(CLIENT, "session/new", new, session)
    assert without_kept(second) == first
    return pair


def test_a_turn_of_the_draft() -> None:
    """The draft's table 3.5, 6."""
    pair = started_draft()
    source = {"type": "base64", "mediaType": "image/png", "data": "AAAA"}
    params = {
        "sessionId": "s",
        "content": [
            {"type": "text", "text": "look"},
            {"type": "image", "source": source},
            {"type": "audio", "source": {"type": "url", "mediaType": "audio/wav", "url": "u"}},
            {"type": "resource", "uri": "u", "content": "c", "title": "T"},
        ],
        "attachments": [{"path": "a"}, {"uri": "u", "content": "c"}],
    }
    usage = {"inputTokens": 3, "outputTokens": 4}
    result = {"stopReason": "end_turn", "usage": usage}
    direct, through = pair.call(CLIENT, "session/prompt", params, result)
    assert without_kept(through) == direct


def test_modes_and_options_of_the_draft() -> None:
    """The draft's table 3.6, 3.7; lossy: a change that the agent does not announce is announced."""
    pair = started_draft()
    change = {"previousMode": "default", "currentMode": "ask"}
    params: Json = {"sessionId": "s", "mode": "ask"}
    pair.ask(CLIENT, "session/set_mode", params)
    arrived = pair.arrived(AGENT, "session/set_mode")
    assert arrived[1].params == arrived[0].params
    pair.answer(AGENT, arrived, change)
    said = pair.through.take()
    assert [without_kept(one.result) for _, one in said if isinstance(one, Result)] == [change]
    told = [one for _, one in said if isinstance(one, Notification)]
    assert [without_kept(one.params["data"]) for one in told] == [change]
    assert len(pair.direct.took(CLIENT, Result)) == 1


@pytest.mark.parametrize("method", ["session/set_mode", "session/prompt", "session/load"])
@pytest.mark.parametrize("code", [*range(-32009, -31999), -32601, -32602, -32603])
def test_errors_of_the_draft_are_the_same(code: int, method: str) -> None:
    """The draft's table 9; lossy: a cancelled prompt is a result."""
    pair = started_draft()
    params: Json = {"sessionId": "s"}
    if method == "session/set_mode":
        params["mode"] = "plan"
    elif method == "session/prompt":
        params["content"] = []
    keys = pair.ask(CLIENT, method, params)
    arrived = pair.arrived(AGENT, method)
    data = {"sessionId": "s"} if code == -32000 else {"uri": "u"} if code == -32004 else None
    pair.fail(AGENT, arrived, Failure(0, code, "why", data))
    direct, through = pair.answers(CLIENT, keys)
    if code == -32003 and method == "session/prompt":
        assert through.result == {"stopReason": "cancelled"}
    else:
        assert through == direct


@settings(max_examples=15)
@given(st.data(), st.lists(st.sampled_from(sorted(UPDATE_TYPES)), min_size=1, max_size=5))
def test_updates_of_the_draft_are_the_same(data: Any, kinds: list[str]) -> None:
    """The draft's table 5: message by message."""
    pair = started_draft()
    for kind in kinds:
        if kind in ("tool_call", "tool_call_update", "config_option_update"):
            continue
        made = draft_value(data.draw, UPDATE_TYPES[kind])
        params = {"sessionId": "s", "type": kind, "data": made, "timestamp": "t"}
        heard = pair.tell(AGENT, "session/update", params)
        first, second = ([without_kept(one.params) for one in side] for side in heard)
        assert plain(second) == plain(first)


@settings(max_examples=15)
@given(st.data(), st.lists(st.sampled_from(["in_progress", "completed", "failed"]), max_size=3))
def test_calls_of_the_draft_take_legal_steps_and_keep_their_output(
    data: Any, statuses: list[str]
) -> None:
    """Draft, 5.1; lossy: missing steps are made up, paths are whole, absent is pending."""
    pair = started_draft()
    call = draft_value(data.draw, UPDATE_TYPES["tool_call"])
    call.update(id="c", status="pending")
    if "location" in call:
        call["location"]["path"] = "/" + call["location"]["path"]
    heard = pair.tell(
        AGENT, "session/update", {"sessionId": "s", "type": "tool_call", "data": call}
    )
    first, second = (plain(without_kept(one[0].params)) for one in heard)
    assert second == first
    for status in statuses:
        change = draft_value(data.draw, UPDATE_TYPES["tool_call_update"])
        change.update(id="c", status=status)
        params = {"sessionId": "s", "type": "tool_call_update", "data": change}
        heard = pair.tell(AGENT, "session/update", params)
        said = [without_kept(one.params["data"]) for one in heard[1]]
        parts: Json = {}
        for one in said:
            parts.update(one)
        wanted = without_kept(change)
        for name in ("output", "error", "duration"):
            assert parts.get(name) == wanted.get(name)


def test_options_of_the_draft_keep_their_values() -> None:
    """The draft's table 5; lossy: the former value is what the bridge knew."""
    pair = started_draft()
    for value in (3, "deep", True, None, {"a": [1]}):
        data = {"key": "depth", "currentValue": value, "source": "timer"}
        params = {"sessionId": "s", "type": "config_option_update", "data": data}
        _, heard = pair.tell(AGENT, "session/update", params)
        (told,) = [without_kept(one.params["data"]) for one in heard]
        told.pop("previousValue", None)
        assert told == data


def test_permission_of_the_draft() -> None:
    """Draft, 4.1: operation, resource, reason; lossy: the scope is the nearest option's."""
    pair = started_draft()
    call = {"id": "c", "tool": "fs/write_text_file", "input": {}, "status": "pending"}
    pair.tell(AGENT, "session/update", {"sessionId": "s", "type": "tool_call", "data": call})
    for operation in ("file_read", "file_write", "file_delete", "terminal_execute",
                      "network_access", "mcp_tool"):  # fmt: skip
        params = {
            "sessionId": "s",
            "operation": operation,
            "resource": "/a",
            "reason": "why",
            "toolCallId": "c",
        }
        keys = pair.ask(AGENT, "session/request_permission", params)
        direct, through = pair.arrived(CLIENT, "session/request_permission")
        assert without_kept(through.params) == direct.params
        grant = {"granted": True, "scope": "session", "remember": True}
        pair.answer(CLIENT, (direct, through), grant)
        first, second = pair.answers(AGENT, keys)
        assert without_kept(second.result) == first.result


def test_files_and_terminals_of_the_draft() -> None:
    """The draft's table 4.2, 4.3."""
    pair = started_draft()
    read = {"path": f"{FOLDER}/a", "startLine": 2, "endLine": 3}
    result = {"content": "x", "encoding": "utf-8", "totalLines": 9, "truncated": True}
    keys = pair.ask(AGENT, "fs/read_text_file", read)
    arrived = pair.arrived(CLIENT, "fs/read_text_file")
    assert without_kept(arrived[1].params) == arrived[0].params
    pair.answer(CLIENT, arrived, result)
    first, second = pair.answers(AGENT, keys)
    assert second == first
    write = {"path": f"{FOLDER}/a", "content": "x", "createDirectories": True}
    keys = pair.ask(AGENT, "fs/write_text_file", write)
    arrived = pair.arrived(CLIENT, "fs/write_text_file")
    assert without_kept(arrived[1].params) == arrived[0].params
    pair.answer(CLIENT, arrived, {"bytesWritten": 1, "created": True})
    first, second = pair.answers(AGENT, keys)
    assert second == first
    create = {"command": "ls", "cwd": "/x", "env": {"A": "1"}, "timeout": 90_000}
    keys = pair.ask(AGENT, "terminal/create", create)
    arrived = pair.arrived(CLIENT, "terminal/create")
    assert without_kept(arrived[1].params) == arrived[0].params
    pair.answer(CLIENT, arrived, {"terminalId": "T", "pid": 7})
    first, second = pair.answers(AGENT, keys)
    assert second == first

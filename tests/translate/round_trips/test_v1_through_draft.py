"""Through the draft and back: what comes out is what went in, up to the points that are named.

A v1 client, both bridges and a v1 agent must give what a direct connection gives.  Each point
where they differ has a function or a test that says which row of the tables makes it so.
"""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accord.translate.message import AGENT, CLIENT, Failure, Json, Notification, Result
from tests.translate.draft.generated_messages import OFFICIAL
from tests.translate.draft.open_sessions import FOLDER, MODES, options
from tests.translate.round_trips.chain_draft import Pair, plain, without_kept

INFO = {"name": "pencil", "version": "3", "title": "Pencil"}
V1_CLIENT: Json = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "session": {"configOptions": {"boolean": {}}, "compaction": {}, "notices": {}},
    "plan": {},
    "subagents": {},
}
V1_AGENT: Json = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": False, "acp": False},
    "sessionCapabilities": {"close": {}},
}


def started_v1() -> Pair:
    """A session of v1 on both."""
    pair = Pair.of_v1()
    params = {"protocolVersion": 1, "clientCapabilities": V1_CLIENT, "clientInfo": INFO}
    result = {
        "protocolVersion": 1,
        "agentCapabilities": V1_AGENT,
        "agentInfo": INFO,
        "authMethods": [{"id": "sso", "name": "S"}],
    }
    direct, through = pair.call(CLIENT, "initialize", params, result)
    # Lossy: what a bridge says of its own abilities is kept beside them.
    assert without_kept(through) == direct
    new = {"cwd": FOLDER, "mcpServers": []}
    session = {"sessionId": "s", "modes": MODES, "configOptions": options()}
    direct, through = pair.call(CLIENT, "session/new", new, session)
    assert through == direct
    return pair


# ---- v1, through the draft


def test_the_beginning_of_v1_is_the_same() -> None:
    """The draft's table 3.1, 3.2, 3.3."""
    pair = started_v1()
    direct, through = pair.call(CLIENT, "authenticate", {"methodId": "sso"}, {})
    assert through == direct


SERVER = {"name": "m", "command": "/m", "args": ["a"], "env": [{"name": "K", "value": "v"}]}


def test_a_session_of_v1_with_servers() -> None:
    """The draft's table 8; lossy: `additionalDirectories`, the draft has nothing for them."""
    pair = started_v1()
    params = {
        "cwd": "/a",
        "mcpServers": [SERVER, {"type": "http", "name": "h", "url": "u", "headers": []}],
        "additionalDirectories": ["/b"],
    }
    pair.ask(CLIENT, "session/new", params)
    direct, through = pair.arrived(AGENT, "session/new")
    del direct.params["additionalDirectories"]
    assert without_kept(through.params) == direct.params


def test_loading_a_session_of_v1_replays_it() -> None:
    """Draft, 3.4; lossy: servers are those that the session had, as the draft names none."""
    pair = started_v1()
    params = {"sessionId": "s", "cwd": FOLDER, "mcpServers": []}
    keys = pair.ask(CLIENT, "session/load", params)
    arrived = pair.arrived(AGENT, "session/load")
    assert without_kept(arrived[1].params) == arrived[0].params
    update = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "x"}}
    heard = pair.tell(AGENT, "session/update", {"sessionId": "s", "update": update})
    assert heard[0] == heard[1]
    pair.answer(AGENT, arrived, {"modes": MODES, "configOptions": options("7")})
    direct, through = pair.answers(CLIENT, keys)
    assert through == direct


@pytest.mark.parametrize("stop", ["end_turn", "max_tokens", "max_turn_requests", "refusal"])
def test_a_turn_of_v1(stop: str) -> None:
    """The draft's table 3.5."""
    pair = started_v1()
    prompt = [
        {"type": "text", "text": "look", "annotations": {"priority": 1.0}},
        {"type": "image", "mimeType": "image/png", "data": "AAAA", "uri": "file:///a"},
        {"type": "resource_link", "uri": "file:///a", "name": "n", "size": 3},
        {"type": "resource", "resource": {"uri": "file:///a", "blob": "AAAA"}},
    ]
    usage = {"totalTokens": 9, "inputTokens": 3, "outputTokens": 4, "thoughtTokens": 2}
    result = {"stopReason": stop, "usage": usage, "_meta": {"x": 1}}
    params = {"sessionId": "s", "prompt": prompt}
    direct, through = pair.call(CLIENT, "session/prompt", params, result)
    assert through == direct


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("code", [-32603, -32602, -32000, -32058, -32002, -32022, -32007, 7])
def test_errors_of_a_turn_of_v1(code: int, begun: bool) -> None:
    """The draft's table 3.5, 9: before the turn began and after it."""
    pair = started_v1()
    keys = pair.ask(CLIENT, "session/prompt", {"sessionId": "s", "prompt": []})
    arrived = pair.arrived(AGENT, "session/prompt")
    if begun:
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}
        pair.tell(AGENT, "session/update", {"sessionId": "s", "update": update})
    data: Any = {"x": 1, "reason": "rate_limited"} if code == -32058 else {"x": 1}
    pair.fail(AGENT, arrived, Failure(0, code, "why", data))
    direct, through = pair.answers(CLIENT, keys)
    if code == -32002 and not begun:
        # The draft's number for a missing session says which one.
        direct = direct._replace(data={"x": 1, "sessionId": "s"})
    assert through == direct


def test_modes_and_options_of_v1() -> None:
    """The draft's table 3.6, 3.7: what the draft wants announced is taken out again."""
    pair = started_v1()
    params: Json = {"sessionId": "s", "modeId": "ask"}
    direct, through = pair.call(CLIENT, "session/set_mode", params, {})
    assert through == direct
    params = {"sessionId": "s", "configId": "fast", "value": True, "type": "boolean"}
    now = {"configOptions": options("7", True)}
    direct, through = pair.call(CLIENT, "session/set_config_option", params, now)
    assert through == direct
    assert pair.through.updates(CLIENT) == []
    update = {"sessionUpdate": "config_option_update", "configOptions": options("small", False)}
    heard = pair.tell(AGENT, "session/update", {"sessionId": "s", "update": update})
    assert heard[0] == heard[1]
    update = {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}
    heard = pair.tell(AGENT, "session/update", {"sessionId": "s", "update": update})
    assert heard[0] == heard[1]


@pytest.mark.parametrize("also_by_mode", [True, False])
def test_options_that_say_the_mode_come_back(also_by_mode: bool) -> None:
    """The draft's table 3.6: the draft is told once, but nothing is lost by that."""
    pair = started_v1()
    offered = [{"value": one, "name": one} for one in ("default", "plan")]
    mode = {"id": "how", "name": "Mode", "type": "select", "category": "mode", "options": offered}
    now = [*options(), {**mode, "currentValue": "plan"}]
    keys = pair.ask(CLIENT, "session/set_mode", {"sessionId": "s", "modeId": "plan"})
    arrived = pair.arrived(AGENT, "session/set_mode")
    told: list[Json] = [{"sessionUpdate": "config_option_update", "configOptions": now}]
    if also_by_mode:
        told.insert(0, {"sessionUpdate": "current_mode_update", "currentModeId": "plan"})
    for update in told:
        pair.tell(AGENT, "session/update", {"sessionId": "s", "update": update})
    pair.answer(AGENT, arrived, {})
    said = pair.through.take()
    # Lossy: the updates come behind the answer.
    assert [one for _, one in said if isinstance(one, Result)] == [Result(keys[1], {})]
    heard = [one.params["update"] for _, one in said if isinstance(one, Notification)]
    assert heard == told


def test_lossy_options_that_did_not_change_are_not_told() -> None:
    """The draft's table 5: one update per changed key, so none where no value changed."""
    pair = started_v1()
    update = {"sessionUpdate": "config_option_update", "configOptions": options()}
    heard = pair.tell(AGENT, "session/update", {"sessionId": "s", "update": update})
    assert (len(heard[0]), len(heard[1])) == (1, 0)


# An announcement and a change of a call, an id of their own each: see the lossy points below.
_NOT_HERE = ("tool_call", "tool_call_update", "config_option_update", "current_mode_update")


@settings(max_examples=30)
@given(st.lists(OFFICIAL.definition("SessionUpdate"), min_size=1, max_size=2))
def test_updates_of_v1_are_the_same(updates: list[Any]) -> None:
    """The draft's table 5: message by message, variants that nobody knows included."""
    pair = started_v1()
    for update in updates:
        if update["sessionUpdate"] in _NOT_HERE:
            continue
        params = {"sessionId": "s", "update": update, "_meta": {"x": 1}}
        heard = pair.tell(AGENT, "session/update", params)
        assert plain([one.params for one in heard[1]]) == plain([one.params for one in heard[0]])


@settings(max_examples=15)
@given(OFFICIAL.definition("ToolCall"), st.lists(OFFICIAL.definition("ToolCallUpdate"), max_size=2))
def test_tool_calls_of_v1_are_the_same(call: Any, changes: list[Any]) -> None:
    """The draft's table 5.1: the steps that the draft wants are taken out again."""
    pair = started_v1()
    updates = [{"sessionUpdate": "tool_call", **call}]
    updates += [{"sessionUpdate": "tool_call_update", **one} for one in changes]
    for update in updates:
        update["toolCallId"] = "c"
        if update.get("status") not in ("pending", "in_progress", "completed", "failed"):
            # Lossy: a status that nobody knows has no step and is kept beside the call.
            update.pop("status", None)
        heard = pair.tell(AGENT, "session/update", {"sessionId": "s", "update": update})
        ours, theirs = (plain([one.params for one in side]) for side in (heard[1], heard[0]))
        if ours == [] and set(plain(update)) <= {"sessionUpdate", "toolCallId"}:
            # Lossy: a change of nothing is not told.
            continue
        assert ours == theirs


def test_lossy_a_call_is_announced_once() -> None:
    """Draft, 5.1: a second announcement changes the call, a change of none announces it."""
    pair = started_v1()
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T"}
    change = {"sessionUpdate": "tool_call_update", "toolCallId": "d", "title": "T"}
    kinds = []
    for update in (call, {**call, "title": "U"}, change):
        _, heard = pair.tell(AGENT, "session/update", {"sessionId": "s", "update": update})
        kinds += [one.params["update"]["sessionUpdate"] for one in heard]
    assert kinds == ["tool_call", "tool_call_update", "tool_call"]


def test_lossy_the_options_of_a_permission_are_the_drafts() -> None:
    """Draft, 4.1: the list of v1 is lost; the answer is one of its options all the same."""
    pair = started_v1()
    offered = [
        {"optionId": "y", "kind": "allow_once", "name": "Y"},
        {"optionId": "n", "kind": "reject_once", "name": "N"},
    ]
    call = {"toolCallId": "c", "kind": "execute", "rawInput": {"command": "ls"}, "title": "Run"}
    params = {"sessionId": "s", "toolCall": call, "options": offered}
    for chosen, outcome in (("once", "y"), ("always", "y"), ("deny", "n"), ("deny_always", "n")):
        key = pair.through.ask(AGENT, "session/request_permission", copy.deepcopy(params))
        asked = pair.through.request(CLIENT, "session/request_permission")
        assert asked.params["toolCall"]["kind"] == "execute"
        assert asked.params["toolCall"]["rawInput"]["command"] == "ls"
        said = {"outcome": {"outcome": "selected", "optionId": chosen}}
        pair.through.answer(CLIENT, asked.key, said)
        result = pair.through.result(AGENT, key)
        assert result["outcome"] == {"outcome": "selected", "optionId": outcome}


def test_files_of_v1() -> None:
    """The draft's table 4.2; lossy: what the draft demands to be answered is kept beside it."""
    pair = started_v1()
    read = {"sessionId": "s", "path": f"{FOLDER}/a", "line": 2, "limit": 3}
    direct, through = pair.call(AGENT, "fs/read_text_file", read, {"content": "x"})
    assert without_kept(through) == direct
    write = {"sessionId": "s", "path": f"{FOLDER}/a", "content": "x"}
    direct, through = pair.call(AGENT, "fs/write_text_file", write, {})
    assert without_kept(through) == direct
    keys = pair.ask(AGENT, "fs/read_text_file", read)
    arrived = pair.arrived(CLIENT, "fs/read_text_file")
    pair.fail(CLIENT, arrived, Failure(0, -32002, "gone", {"uri": "file:///a"}))
    direct, through = pair.answers(AGENT, keys)
    assert through == direct


def test_terminals_of_v1() -> None:
    """The draft's table 4.3: output comes by polls and pushes in between."""
    pair = started_v1()
    create = {"sessionId": "s", "command": "make", "outputByteLimit": 100}
    direct, through = pair.call(AGENT, "terminal/create", create, {"terminalId": "T"})
    assert through == direct
    wire = pair.through
    wire.wait(1.0)
    waits: list[int] = []
    polls: list[int] = []
    for (side, key), method in list(wire.asked.items()):
        assert side is CLIENT
        (waits if method == "terminal/wait_for_exit" else polls).append(key)
    wire.answer(CLIENT, polls[0], {"output": "all\n", "truncated": False})
    params = {"sessionId": "s", "terminalId": "T"}
    wire.take()
    key = wire.ask(AGENT, "terminal/output", params)
    assert wire.result(AGENT, key) == {"output": "all\n", "truncated": False}
    wire.answer(CLIENT, waits[0], {"exitCode": None, "signal": "SIGTERM"})
    poll = wire.request(CLIENT, "terminal/output")
    wire.answer(CLIENT, poll.key, {"output": "all\ndone\n", "truncated": False})
    wire.take()
    key = wire.ask(AGENT, "terminal/wait_for_exit", params)
    assert wire.result(AGENT, key) == {"exitCode": None, "signal": "SIGTERM"}
    key = wire.ask(AGENT, "terminal/output", params)
    assert wire.result(AGENT, key)["output"] == "all\ndone\n"

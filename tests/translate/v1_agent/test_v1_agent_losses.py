"""The lossy points from v1 to v2, by the numbers of the table, and what is kept of each.

The points that are not here are losses of the other direction.
"""

from accord.jsonrpc.error_codes import INVALID_PARAMS, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND
from accord.translate.message import AGENT
from accord.translate.v1_agent.turns import INSERTED_AFTER, SILENCE
from tests.translate.v1_agent.agent_messages import chunk, tool
from tests.translate.v1_agent.scripted_peers import Stage

X = "acp.translate"


def test_3_the_whole_texts_of_a_diff_are_kept_beside_its_patch() -> None:
    """v2 has changes and a patch, which need not have every line."""
    stage = Stage()
    stage.working()
    lines = "".join(f"{count}\n" for count in range(50))
    texts = {"oldText": lines, "newText": lines.replace("25\n", "twenty-five\n")}
    stage.update(tool(title="T", content=[{"type": "diff", "path": "/a", **texts}]))
    (said,) = stage.updates()
    (diff,) = said["content"]
    assert diff["changes"] == [{"operation": "modify", "path": "/a"}]
    assert "49" not in diff["patch"]["text"]
    assert diff["_meta"] == {X: texts}


def test_10_files_and_terminals_of_the_client_are_not_there() -> None:
    """A v2 client serves none; the agent is told so and refused."""
    stage = Stage()
    stage.working()
    for method in ("fs/read_text_file", "fs/write_text_file", "terminal/create"):
        key = stage.ask(method, {"sessionId": "s1"}, AGENT)
        assert stage.error(key).code == METHOD_NOT_FOUND


def test_10_a_terminal_of_the_client_is_a_line_of_text() -> None:
    """With the reference kept, and counted."""
    stage = Stage()
    stage.working()
    terminal = {"type": "terminal", "terminalId": "x"}
    stage.update(tool(title="T", content=[terminal]))
    (item,) = stage.updates()[0]["content"]
    assert item["content"]["type"] == "text"
    assert item["_meta"] == {X: {"raw": terminal}}
    assert stage.adapter.losses == {"terminal content": 1}


def test_10_servers_by_sse_cannot_be_offered() -> None:
    """That the agent could is kept; such servers are refused."""
    stage = Stage()
    said = stage.start({"mcpCapabilities": {"sse": True}})
    assert said["capabilities"]["session"]["mcp"] == {"stdio": {}}
    assert said["_meta"] == {X: {"mcpCapabilities": {"sse": True}}}
    servers = [{"type": "sse", "name": "a", "url": "https://a", "headers": []}]
    key = stage.ask("session/new", {"cwd": "/work", "mcpServers": servers})
    assert stage.error(key).code == INVALID_PARAMS


def test_11_a_prompt_is_inserted_when_something_is_heard_of_it_and_not_when_it_is_sent() -> None:
    """v1 says nothing of insertion: the first update, or a short time, stands for it."""
    stage = Stage()
    stage.start()
    stage.new()
    key = stage.prompt()
    assert key not in stage.answers
    stage.wait(INSERTED_AFTER)
    assert "messageId" in stage.answer(key)


def test_11_a_prompt_is_held_while_the_agent_works() -> None:
    """v1 has one turn at a time, v2 any number of prompts."""
    stage = Stage()
    stage.working()
    held = stage.prompt("meanwhile")
    stage.wait(100)
    assert held not in stage.answers
    stage.end()
    stage.wait(INSERTED_AFTER)
    assert "messageId" in stage.answer(held)


def test_11_where_work_of_the_agents_own_begins_and_ends_is_guessed() -> None:
    """v1 has no states: messages begin it, silence ends it."""
    stage = Stage()
    stage.start()
    stage.new()
    stage.update(chunk("by the way"))
    stage.wait(SILENCE)
    stage.update(chunk("and"))
    assert stage.said() == [
        "running",
        "agent_message by the way",
        "idle end_turn",
        "running",
        "agent_message and",
    ]


def test_12_an_agent_that_lists_nothing_has_the_sessions_of_this_connection() -> None:
    """Those of others are not known."""
    stage = Stage()
    stage.start({})
    stage.new()
    (info,) = stage.answer(stage.ask("session/list", {}))["sessions"]
    assert info["sessionId"] == "s1"


def test_12_an_agent_that_resumes_nothing_has_only_what_is_alive_here() -> None:
    """Everything else is not found."""
    stage = Stage()
    stage.start({})
    stage.new()
    stage.ask("session/close", {"sessionId": "s1"})
    assert stage.answer(stage.ask("session/resume", {"sessionId": "s1", "cwd": "/work"})) == {}
    key = stage.ask("session/resume", {"sessionId": "old", "cwd": "/work"})
    assert stage.error(key).code == RESOURCE_NOT_FOUND


def test_12_an_agent_that_loads_nothing_replays_only_what_was_heard_here() -> None:
    """What it never told this connection is not made up."""
    stage = Stage()
    stage.start({"sessionCapabilities": {"resume": {}}})
    stage.ask("session/resume", {"sessionId": "s1", "cwd": "/work"})
    stage.reply("session/resume")
    stage.update(chunk("since then"))
    stage.updates()
    start = {"replayFrom": {"type": "start"}}
    stage.ask("session/resume", {"sessionId": "s1", "cwd": "/work", **start})
    stage.reply("session/resume")
    stage.wait(0.2)
    assert stage.said() == ["agent_message", "agent_message since then", "running"]
    key = stage.ask("session/resume", {"sessionId": "old", "cwd": "/work", **start})
    assert stage.error(key).code == INVALID_PARAMS

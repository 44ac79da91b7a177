"""What is the same in both versions and is passed on, and how much is remembered."""

import pytest

from accord.translate.message import AGENT, CLIENT, Notification
from accord.translate.v1_agent.session_state import TERMINALS_KEPT, TOOL_CALLS_KEPT
from tests.translate.v1_agent.agent_messages import tool
from tests.translate.v1_agent.scripted_peers import Stage


def test_methods_of_implementations_are_passed_on_both_ways() -> None:
    stage = Stage()
    stage.start()
    key = stage.ask("_x/do", {"a": 1})
    stage.reply("_x/do", [1, 2])
    assert stage.answer(key) == [1, 2]
    key = stage.ask("_x/back", {"a": 1}, AGENT)
    stage.fail("_x/back", -32601, "no", side=CLIENT)
    assert stage.error(key).code == -32601
    stage.tell("_x/told", {"a": 1})
    stage.tell("_x/told", {"b": 1}, AGENT)
    assert stage.to_agent == [Notification("_x/told", {"a": 1})]
    assert stage.to_client == [Notification("_x/told", {"b": 1})]


def test_mcp_over_acp_and_what_is_told_of_logins_and_forms_is_the_same_in_both() -> None:
    stage = Stage()
    stage.start()
    inner = {"serverId": "a", "requestId": "1", "method": "tools/list"}
    key = stage.ask("mcp/message", inner, AGENT)
    stage.reply("mcp/message", {"result": None}, CLIENT)
    assert stage.answer(key) == {"result": None}
    stage.tell("mcp/message", inner)
    assert stage.to_agent == [Notification("mcp/message", inner)]
    for method, params in (
        ("auth/status_update", {"state": "authenticated"}),
        ("elicitation/complete", {"elicitationId": "e"}),
    ):
        stage.tell(method, params, AGENT)
        assert stage.to_client.pop() == Notification(method, params)


@pytest.mark.parametrize("method", ["session/load", "session/set_mode", "fs/read_text_file"])
def test_methods_of_v1_are_not_served_outside(method: str) -> None:
    stage = Stage()
    stage.start()
    assert stage.error(stage.ask(method, {"sessionId": "s1"})).code == -32601


def test_of_tool_calls_and_terminals_only_so_many_are_remembered() -> None:
    stage = Stage()
    stage.working()
    for count in range(TOOL_CALLS_KEPT + 1):
        stage.update({**tool(title="T", status="in_progress"), "toolCallId": f"t{count}"})
    session = stage.adapter.sessions["s1"]
    assert len(session.tool_calls) == len(session.running_tools) == TOOL_CALLS_KEPT
    for count in range(TERMINALS_KEPT + 1):
        session.shows(str(count))
    assert len(session.terminals) == TERMINALS_KEPT

"""Whole conversations of a v1 client with a v2 agent."""

from __future__ import annotations

from accord.translate.message import AGENT, CLIENT, Failure, Notification, Request, Result
from tests.translate.v2_agent.world import CWD, SESSION, World, X, started

OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


def _chunk(text: str, message_id: str = "a1") -> dict[str, object]:
    return {
        "sessionUpdate": "agent_message_chunk",
        "messageId": message_id,
        "content": {"type": "text", "text": text},
    }


def test_a_turn_with_streaming_a_tool_call_and_a_permission_is_a_turn_of_v1() -> None:
    """translate 5, 7, 8, 11: the prompt is open until the agent is idle."""
    world = started()
    key = world.prompt()
    echo = {
        "sessionUpdate": "user_message",
        "messageId": f"u{key}",
        "content": [{"type": "text", "text": "hello"}],
    }
    assert world.update(echo) == []
    assert world.update(_chunk("one ")) == [_chunk("one ")]
    assert world.update(_chunk("two")) == [_chunk("two")]
    [call] = world.update(
        {"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Run", "kind": "execute"}
    )
    assert call["sessionUpdate"] == "tool_call"
    asked = world.ask(
        AGENT,
        "session/request_permission",
        {
            "sessionId": SESSION,
            "title": "Run",
            "subject": {"type": "tool_call", "toolCall": {"toolCallId": "t", "title": "Run"}},
            "options": OPTIONS,
        },
    )
    question = world.last(CLIENT)
    assert question.params["toolCall"] == {"toolCallId": "t", "title": "Run"}
    world.answer(CLIENT, question.key, {"outcome": {"outcome": "selected", "optionId": "yes"}})
    assert world.last(AGENT, Result).key == asked
    assert world.last(AGENT, Result).result["outcome"]["optionId"] == "yes"
    [done] = world.update(
        {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"}
    )
    assert done == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t",
        "status": "completed",
    }
    assert world.answer_to(key) is None
    world.idle()
    assert world.answer_to(key) == Result(key, {"stopReason": "end_turn"})
    assert not world.open


def test_cancel_reaches_the_agent_and_its_idle_answers_the_prompt() -> None:
    """translate 6."""
    world = started()
    key = world.prompt()
    world.tell(CLIENT, "session/cancel", {"sessionId": SESSION})
    assert world.agent[-1] == Notification("session/cancel", {"sessionId": SESSION})
    world.idle("cancelled")
    assert world.answer_to(key) == Result(key, {"stopReason": "cancelled"})

"""Whole conversations of a v1 client with a v2 agent, cut off at every step."""

from collections.abc import Callable
from typing import Any

import pytest

from accord.translate.message import AGENT, CLIENT, Failure, Notification, Request, Result
from tests.translate.v2_agent.scripted_peers import CWD, SESSION, World, started

OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
PROMPT = {"sessionId": SESSION, "prompt": [{"type": "text", "text": "hello"}]}
PERMISSION = {
    "sessionId": SESSION,
    "title": "Run",
    "subject": {"type": "tool_call", "toolCall": {"toolCallId": "t", "title": "Run"}},
    "options": OPTIONS,
}


def _chunk(text: str, message_id: str = "a1") -> dict[str, object]:
    return {
        "sessionUpdate": "agent_message_chunk",
        "messageId": message_id,
        "content": {"type": "text", "text": text},
    }


def _call(**fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": "t", **fields}


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
    [call] = world.update(_call(title="Run", kind="execute"))
    assert call["sessionUpdate"] == "tool_call"
    asked = world.ask(AGENT, "session/request_permission", PERMISSION)
    question = world.last(CLIENT)
    assert question.params["toolCall"] == {"toolCallId": "t", "title": "Run"}
    world.answer(CLIENT, question.key, {"outcome": {"outcome": "selected", "optionId": "yes"}})
    assert world.last(AGENT, Result).key == asked
    assert world.last(AGENT, Result).result["outcome"]["optionId"] == "yes"
    assert world.update(_call(status="completed")) == [_call(status="completed")]
    assert world.answer_to(key) is None
    world.idle()
    assert world.answer_to(key) == Result(key, {"stopReason": "end_turn"})
    assert not world.open


# ---- every step of a conversation


def _answer_agent(result: dict[str, Any]) -> Callable[[World], Any]:
    return lambda world: world.answer(AGENT, world.last(AGENT).key, result)


def _tells(update: dict[str, Any]) -> Callable[[World], Any]:
    return lambda world: world.update(update)


def _asks(method: str, params: dict[str, Any]) -> Callable[[World], Any]:
    return lambda world: world.ask(CLIENT, method, dict(params))


def _asks_permission(world: World) -> Any:
    return world.ask(AGENT, "session/request_permission", PERMISSION)


def _allows(world: World) -> Any:
    outcome = {"outcome": "selected", "optionId": "yes"}
    return world.answer(CLIENT, world.last(CLIENT).key, {"outcome": outcome})


PLAN = {
    "sessionUpdate": "plan_update",
    "plan": {
        "type": "items",
        "planId": "p",
        "entries": [{"content": "1", "status": "pending", "priority": "low"}],
    },
}
OPENING = [
    _asks("initialize", {"protocolVersion": 1}),
    _answer_agent(
        {
            "protocolVersion": 2,
            "info": {"name": "a", "version": "1"},
            "capabilities": {"session": {"mcp": {"stdio": {}}}},
        }
    ),
    _asks("session/new", {"cwd": CWD, "mcpServers": []}),
    _answer_agent({"sessionId": SESSION}),
]
TURN = [
    _asks("session/prompt", PROMPT),
    _tells({"sessionUpdate": "state_update", "state": "running"}),
    _answer_agent({"messageId": "u"}),
    _tells(_chunk("one")),
    _tells(PLAN),
    _tells(_call(title="Run")),
    _tells(
        {
            "sessionUpdate": "tool_call_content_chunk",
            "toolCallId": "t",
            "content": {"type": "content", "content": {"type": "text", "text": "1"}},
        }
    ),
    _tells(
        {
            "sessionUpdate": "tool_call_content_chunk",
            "toolCallId": "t",
            "content": {"type": "content", "content": {"type": "text", "text": "2"}},
        }
    ),
    _asks_permission,
    _allows,
    _tells(_call(status="completed")),
    _asks("session/prompt", PROMPT),
    _tells({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}),
]
REST = [
    _asks("session/load", {"sessionId": SESSION, "cwd": CWD, "mcpServers": []}),
    _tells({"sessionUpdate": "agent_message", "messageId": "a1", "content": []}),
    _asks("session/list", {}),
    _asks("session/set_title", {"sessionId": SESSION, "title": "t"}),
    _asks("session/close", {"sessionId": SESSION}),
]
STEPS = OPENING + TURN + REST


@pytest.mark.parametrize("steps", range(1, len(STEPS) + 1))
def test_when_the_agent_dies_every_request_of_the_client_is_answered_once(steps: int) -> None:
    """Ours: at every step, and what was waiting is told before."""
    world = World(unstable=True)
    for step in STEPS[:steps]:
        step(world)
    still_open = [key for side, key in world.open if side is CLIENT]
    world.die()
    for key in still_open:
        answer = world.answer_to(key)
        assert (answer.code, answer.data) == (-32603, {"reason": "agent_gone"})
    assert not [key for side, key in world.open if side is CLIENT]
    assert world.die() == []


@pytest.mark.parametrize("steps", range(1, len(TURN)))
def test_a_turn_that_is_cancelled_at_any_step_ends_cancelled(steps: int) -> None:
    """translate 6: the agent's own confirmation, or its refusal, answers the prompt."""
    world = started()
    for step in TURN[:steps]:
        step(world)
    prompts = [key for (_, key), method in world.open.items() if method == "session/prompt"]
    world.tell(CLIENT, "session/cancel", {"sessionId": SESSION})
    assert Notification("session/cancel", {"sessionId": SESSION}) in world.agent
    for (side, key), method in list(world.asked.items()):
        if side is CLIENT:
            # What a v1 client has to do with open questions.
            world.answer(CLIENT, key, {"outcome": {"outcome": "cancelled"}})
        elif method == "session/prompt":
            world.fail(AGENT, key, -32800)
    world.idle("cancelled")
    for key in prompts:
        assert world.answer_to(key) == Result(key, {"stopReason": "cancelled"})
    assert not world.open


@pytest.mark.parametrize("steps", range(1, len(STEPS) + 1))
def test_nothing_of_a_conversation_is_answered_twice(steps: int) -> None:
    """Ours: late answers and answers to nothing change nothing."""
    world = World(unstable=True)
    for step in STEPS[:steps]:
        step(world)
    answered = [
        one.key
        for one in world.agent
        if isinstance(one, Request) and (AGENT, one.key) not in world.asked
    ]
    for key in [*answered, 12345]:
        assert list(world.translator.receive(AGENT, Result(key, {}))) == []
        assert list(world.translator.receive(AGENT, Failure(key, -1, "x"))) == []

"""Prompts of a v1 client to a draft agent, and their cancellation."""

from collections.abc import Callable
from typing import Any

import pytest

from accord.translate.draft.agent import turns as turn_bounds
from accord.translate.message import AGENT, CLIENT, Notification, Result
from accord.translate.meta_store import DRAFT
from tests.translate.draft.open_sessions import DRAFT_AGENT, Behind, behind


def test_a_prompt_in_the_drafts_blocks() -> None:
    """The draft's table 3.5, 6."""
    scene = behind()
    prompt = [
        {"type": "text", "text": "look"},
        {"type": "image", "mimeType": "image/png", "data": "AAAA", "uri": "file:///a.png"},
        {
            "type": "resource_link",
            "uri": "file:///b%20c.txt",
            "name": "b c.txt",
            "_meta": {DRAFT: {"attachment": {"uri": "file:///b%20c.txt"}}},
        },
    ]
    scene.wire.ask(CLIENT, "session/prompt", {"sessionId": "s", "prompt": prompt})
    assert scene.wire.one(AGENT, "session/prompt").params == {
        "sessionId": "s",
        "content": [
            {"type": "text", "text": "look"},
            {
                "type": "image",
                "source": {"type": "base64", "mediaType": "image/png", "data": "AAAA"},
                "_meta": {DRAFT: {"uri": "file:///a.png"}},
            },
        ],
        "attachments": [{"uri": "file:///b%20c.txt"}],
    }


@pytest.mark.rule("D26-08")
@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ({"stopReason": "end_turn"}, {"stopReason": "end_turn"}),
        ({"stopReason": "cancelled"}, {"stopReason": "cancelled"}),
        ({"stopReason": "max_tokens"}, {"stopReason": "max_tokens"}),
        (
            {"stopReason": "max_tokens", "_meta": {DRAFT: {"stopReason": "max_turn_requests"}}},
            {"stopReason": "max_turn_requests"},
        ),
        (
            {"stopReason": "end_turn", "_meta": {DRAFT: {"stopReason": "refusal"}}},
            {"stopReason": "refusal"},
        ),
        (
            {"stopReason": "end_turn", "_meta": {DRAFT: {"stopReason": "max_tokens"}}},
            {"stopReason": "end_turn", "_meta": {DRAFT: {"stopReason": "max_tokens"}}},
        ),
        (
            {"stopReason": "bored"},
            {"stopReason": "end_turn", "_meta": {DRAFT: {"stopReason": "bored"}}},
        ),
    ],
)
def test_how_a_turn_ends(answer: Any, result: Any) -> None:
    """The draft's table 3.5."""
    scene = behind()
    key, asked = scene.prompt()
    scene.wire.answer(AGENT, asked, answer)
    assert scene.wire.result(CLIENT, key) == result


def test_usage_is_told_where_it_may_be() -> None:
    """The draft's table 3.5: a field of the unstable schema, else kept."""
    usage = {"inputTokens": 3, "outputTokens": 4}
    whole = {"totalTokens": 9, "inputTokens": 3, "outputTokens": 4, "thoughtTokens": 2}
    answer: Any = {"stopReason": "end_turn", "usage": usage}
    for unstable, kept, told in (
        (False, {}, None),
        (True, {}, {"totalTokens": 7, **usage}),
        (True, {"_meta": {DRAFT: {"wholeUsage": whole}}}, whole),
        (True, {"_meta": {DRAFT: {"wholeUsage": 4}}}, {"totalTokens": 7, **usage}),
    ):
        scene = behind(unstable=unstable)
        key, asked = scene.prompt()
        scene.wire.answer(AGENT, asked, {**answer, **kept})
        result = scene.wire.result(CLIENT, key)
        assert result.get("usage") == told
        if not unstable:
            assert result["_meta"] == {DRAFT: {"usage": usage}}


@pytest.mark.rule("D26-08")
def test_an_error_of_the_turn_is_an_official_error() -> None:
    """The draft's table 3.5: with the reason `agent_error`, or the error that it was."""
    scene = behind()
    key, asked = scene.prompt()
    scene.wire.answer(AGENT, asked, {"stopReason": "error"})
    error = scene.wire.error(CLIENT, key)
    assert (error.code, error.data) == (-32603, {"reason": "agent_error"})
    key, asked = scene.prompt()
    was = {"code": -32058, "message": "slow down", "data": {"retryAfter": 3}}
    scene.wire.answer(AGENT, asked, {"stopReason": "error", "_meta": {DRAFT: {"error": was}}})
    error = scene.wire.error(CLIENT, key)
    assert (error.code, error.message, error.data) == (-32058, "slow down", {"retryAfter": 3})


@pytest.mark.parametrize(
    ("code", "official"), [(-32000, -32002), (-32001, -32000), (-32008, -32058), (-32602, -32602)]
)
def test_a_prompt_that_is_refused(code: int, official: int) -> None:
    """The draft's table 9."""
    scene = behind()
    key, asked = scene.prompt()
    scene.wire.fail(AGENT, asked, code)
    assert scene.wire.error(CLIENT, key).code == official


def test_a_cancelled_operation_is_a_cancelled_turn() -> None:
    """The draft's table 9: -32003 on a prompt."""
    scene = behind()
    key, asked = scene.prompt()
    scene.wire.fail(AGENT, asked, -32003)
    assert scene.wire.result(CLIENT, key) == {"stopReason": "cancelled"}


@pytest.mark.rule("D26-15")
@pytest.mark.parametrize("end", ["cancelled", "error", "failure", "death"])
def test_a_cancelled_turn_stays_cancelled(end: str) -> None:
    """The draft's table 3.5: never an error."""
    scene = behind()
    key, asked = scene.prompt()
    kept = {"_meta": {DRAFT: {"reason": "user_requested", "x": 1}}}
    scene.wire.tell(CLIENT, "session/cancel", {"sessionId": "s", **kept})
    params = {"sessionId": "s", "reason": "user_requested", "_meta": {DRAFT: {"x": 1}}}
    assert scene.wire.take() == [(AGENT, Notification("session/cancel", params))]
    if end == "failure":
        scene.wire.fail(AGENT, asked, -32603)
    elif end == "death":
        scene.wire.agent_dies()
    else:
        scene.wire.answer(AGENT, asked, {"stopReason": end})
    assert scene.wire.result(CLIENT, key) == {"stopReason": "cancelled"}


def test_cancelling_the_request_cancels_the_turn() -> None:
    """The draft's table 3.8: the draft knows no `$/cancel_request`."""
    scene = behind()
    scene.open("t")
    key, _ = scene.prompt()
    scene.wire.tell(CLIENT, "$/cancel_request", {"requestId": 77})
    scene.wire.tell(AGENT, "$/cancel_request", {"requestId": 77})
    assert scene.wire.take() == []
    scene.wire.tell(CLIENT, "$/cancel_request", {"requestId": key})
    assert scene.wire.take() == [(AGENT, Notification("session/cancel", {"sessionId": "s"}))]


def test_a_cancel_without_a_turn_is_passed_on() -> None:
    """Ours: the agent may know more than we do."""
    scene = behind()
    scene.wire.tell(CLIENT, "session/cancel", {"sessionId": "s"})
    assert scene.wire.take() == [(AGENT, Notification("session/cancel", {"sessionId": "s"}))]


# ---- an agent that cannot be cancelled


def _stubborn() -> Behind:
    prompt = {"streaming": True, "cancellation": False}
    return behind(agent={**DRAFT_AGENT, "promptCapabilities": prompt})


def test_the_bridge_answers_for_an_agent_that_cannot_be_cancelled() -> None:
    """The draft's table 7: at once, and what comes late is dropped."""
    scene = _stubborn()
    key, asked = scene.prompt()
    scene.wire.tell(CLIENT, "session/cancel", {"sessionId": "s"})
    assert scene.wire.take() == [(CLIENT, Result(key, {"stopReason": "cancelled"}))]
    scene.wire.tell(CLIENT, "session/cancel", {"sessionId": "s"})
    assert scene.wire.take() == []
    assert scene.update("agent_message_chunk", {"content": "late"}) == []
    late = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "late"}}
    scene.wire.tell(AGENT, "_acp/session_update", {"sessionId": "s", "update": late})
    assert scene.wire.take() == []
    granted = scene.wire.ask(
        AGENT,
        "session/request_permission",
        {"sessionId": "s", "operation": "file_write", "resource": "/a"},
    )
    assert scene.wire.result(AGENT, granted) == {"granted": False}
    for method, params in (
        ("fs/read_text_file", {"path": "/a"}),
        ("terminal/create", {"command": "ls"}),
    ):
        refused = scene.wire.ask(AGENT, method, params)
        assert scene.wire.error(AGENT, refused).code == -32003
    scene.wire.answer(AGENT, asked, {"stopReason": "end_turn"})
    assert scene.wire.take() == []
    assert scene.update("agent_message_chunk", {"content": "now"})


def test_the_next_prompt_waits_for_an_agent_that_cannot_be_cancelled() -> None:
    """The draft's table 7."""
    scene = _stubborn()
    _, asked = scene.prompt()
    scene.wire.tell(CLIENT, "session/cancel", {"sessionId": "s"})
    scene.wire.take()
    params = {"sessionId": "s", "prompt": [{"type": "text", "text": "again"}]}
    again = scene.wire.ask(CLIENT, "session/prompt", params)
    assert scene.wire.take() == []
    scene.wire.answer(AGENT, asked, {"stopReason": "end_turn"})
    second = scene.wire.one(AGENT, "session/prompt")
    scene.wire.answer(AGENT, second.key, {"stopReason": "end_turn"})
    assert scene.wire.result(CLIENT, again) == {"stopReason": "end_turn"}


def test_waiting_prompts_are_bounded_and_cancelled_with_the_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours: no peer can fill our memory, and every request is answered once."""
    monkeypatch.setattr(turn_bounds, "HELD_PROMPTS_MAX", 1)
    scene = _stubborn()
    scene.prompt()
    scene.wire.tell(CLIENT, "session/cancel", {"sessionId": "s"})
    params: Any = {"sessionId": "s", "prompt": []}
    held = scene.wire.ask(CLIENT, "session/prompt", params)
    more = scene.wire.ask(CLIENT, "session/prompt", params)
    assert scene.wire.error(CLIENT, more).code == -32600
    scene.wire.tell(CLIENT, "session/cancel", {"sessionId": "s"})
    assert scene.wire.result(CLIENT, held) == {"stopReason": "cancelled"}


def test_a_second_prompt_during_a_turn_is_the_agents_to_judge() -> None:
    """Ours."""
    scene = behind()
    first, asked = scene.prompt()
    second, asked_too = scene.prompt()
    scene.wire.fail(AGENT, asked_too, -32006)
    assert scene.wire.error(CLIENT, second).code == -32056
    scene.wire.answer(AGENT, asked, {"stopReason": "end_turn"})
    assert scene.wire.result(CLIENT, first) == {"stopReason": "end_turn"}


@pytest.mark.parametrize("step", range(8))
def test_an_agent_that_dies_leaves_no_request_open(step: int) -> None:
    """Issue 5: every request is answered exactly once."""
    scene = Behind()
    wire = scene.wire
    acts: list[Callable[[], Any]] = [
        lambda: wire.ask(CLIENT, "initialize", {"protocolVersion": 1}),
        scene.initialize,
        lambda: wire.ask(CLIENT, "session/new", {"cwd": "/a", "mcpServers": []}),
        scene.open,
        lambda: wire.ask(CLIENT, "session/set_mode", {"sessionId": "s", "modeId": "plan"}),
        scene.prompt,
        lambda: wire.ask(AGENT, "terminal/create", {"command": "ls", "timeout": 50}),
        lambda: scene.update("agent_message_chunk", {"content": "x"}),
    ]
    for number, act in enumerate(acts):
        wire.take()
        act()
        if number == step:
            break
    wire.agent_dies()
    assert [one for one in wire.open if one[0] is CLIENT] == []
    assert scene.bridge.wake_at is None
    wire.take()
    wire.wait(10)
    assert wire.take() == []

"""Prompts, states and cancelling."""

from typing import Any

import pytest

from accord.translate.message import AGENT, CLIENT, Failure, Notification, Result
from accord.translate.v2_agent import turns as turns_module
from tests.translate.v2_agent.scripted_peers import SESSION, World, X, started

HELLO = [{"type": "text", "text": "hello"}]


def _ask(world: World, blocks: list[dict[str, Any]] | None = None) -> int:
    return world.ask(
        CLIENT,
        "session/prompt",
        {"sessionId": SESSION, "prompt": HELLO if blocks is None else blocks},
    )


def _running(world: World) -> None:
    world.update({"sessionUpdate": "state_update", "state": "running"})


def _user(message_id: str, text: str = "hello") -> dict[str, Any]:
    return {
        "sessionUpdate": "user_message",
        "messageId": message_id,
        "content": [{"type": "text", "text": text}],
    }


def _user_chunk(message_id: str, text: str = "hello") -> dict[str, Any]:
    return {
        "sessionUpdate": "user_message_chunk",
        "messageId": message_id,
        "content": {"type": "text", "text": text},
    }


# ---- how a turn ends


@pytest.mark.parametrize(
    "reason", ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]
)
def test_the_stop_reason_answers_the_prompt(reason: str) -> None:
    """translate 5: copied."""
    world = started()
    key = world.prompt()
    world.idle(reason)
    assert world.answer_to(key) == Result(key, {"stopReason": reason})


def test_usage_and_what_is_attached_come_with_the_answer() -> None:
    """translate 5: copied; a scope that only v2's side noted goes."""
    usage = {"totalTokens": 3, "inputTokens": 1, "outputTokens": 2}
    world = started()
    key = world.prompt()
    world.idle("end_turn", usage=usage, _meta={"k": 1, X: {"scope": "session"}})
    assert world.answer_to(key) == Result(
        key, {"stopReason": "end_turn", "usage": usage, "_meta": {"k": 1}}
    )


def test_an_error_without_details_is_an_internal_error() -> None:
    """translate 5: -32603 if there is no code."""
    world = started()
    key = world.prompt()
    world.idle("error")
    assert world.answer_to(key) == Failure(key, -32603, "Internal error", None)


def test_a_refused_prompt_is_refused_and_the_next_one_starts() -> None:
    """translate 5: an error before insertion is forwarded."""
    world = started()
    first, second = _ask(world), _ask(world)
    world.fail(AGENT, world.last(AGENT).key, -32602, {"type": "x"})
    assert world.answer_to(first) == Failure(first, -32602, "no", {"type": "x"})
    assert world.last(AGENT).method == "session/prompt"
    _running(world)
    world.answer(AGENT, world.last(AGENT).key, {"messageId": "u"})
    world.idle()
    assert world.answer_to(second).result == {"stopReason": "end_turn"}


def test_idle_that_comes_before_the_answer_ends_the_turn_with_it() -> None:
    """V2: echo, answer and states have no fixed order."""
    world = started()
    key = _ask(world)
    _running(world)
    world.idle()
    assert world.answer_to(key) is None
    world.answer(AGENT, world.last(AGENT).key, {"messageId": "u"})
    assert world.answer_to(key) == Result(key, {"stopReason": "end_turn"})


def test_the_end_of_other_work_does_not_answer_a_prompt_that_waits_for_it() -> None:
    """V2: the agent may hold a prompt while it works on its own."""
    world = started()
    _running(world)
    key = _ask(world)
    world.idle()
    _running(world)
    world.answer(AGENT, world.last(AGENT).key, {"messageId": "u"})
    assert world.answer_to(key) is None
    world.idle("refusal")
    assert world.answer_to(key) == Result(key, {"stopReason": "refusal"})


def test_idle_that_is_said_again_ends_nothing() -> None:
    """translate 5: ignored, kept as state."""
    world = started()
    assert world.idle() == []
    key = _ask(world)
    world.idle()
    world.answer(AGENT, world.last(AGENT).key, {"messageId": "u"})
    world.idle(None, background=[])
    assert world.answer_to(key) is None
    world.idle("end_turn")
    assert world.answer_to(key).result == {"stopReason": "end_turn"}


def test_an_answer_of_the_first_drafts_is_the_end_of_the_turn() -> None:
    """V2, point 2 of the differences: `stopReason` in the answer."""
    world = started()
    key = _ask(world)
    world.answer(AGENT, world.last(AGENT).key, {"stopReason": "max_tokens"})
    assert world.answer_to(key) == Result(key, {"stopReason": "max_tokens"})


def test_work_of_the_agents_own_is_told_outside_a_turn() -> None:
    """translate 5: legal in v1, and there is no prompt to answer."""
    world = started()
    _running(world)
    chunk = {"sessionUpdate": "agent_message_chunk", "messageId": "a", "content": HELLO[0]}
    assert world.update(chunk) == [chunk]
    assert world.idle() == []


def test_a_state_that_nobody_knows_is_work() -> None:
    """V2: never idle."""
    world = started()
    key = world.prompt()
    world.update({"sessionUpdate": "state_update", "state": "_dreaming"})
    assert world.answer_to(key) is None


def test_a_prompt_without_content_is_refused() -> None:
    """V2: at least one block."""
    world = started()
    key = _ask(world, [])
    assert world.answer_to(key).code == -32602


# ---- several prompts


@pytest.mark.rule("LIM-04")
def test_a_second_prompt_waits_for_the_idle_of_the_first_and_16_may_wait() -> None:
    """rules, LIM-04: each is a turn of its own with its own result, one more is refused."""
    world = started()
    keys = [world.prompt() for _ in range(17)]
    refused = _ask(world)
    assert world.answer_to(refused).code == -32600
    for key in keys:
        assert world.answer_to(key) is None
        if key != keys[0]:
            _running(world)
            world.answer(AGENT, world.last(AGENT).key, {"messageId": f"u{key}"})
        world.idle()
        assert world.answer_to(key) == Result(key, {"stopReason": "end_turn"})
    assert not world.open


# ---- cancelling


def test_cancel_ends_what_waits_at_once_and_what_runs_by_its_idle() -> None:
    """translate 6 and rules, contradiction 44: queued v1 prompts get `cancelled`."""
    world = started()
    first, second = world.prompt(), world.prompt()
    world.tell(CLIENT, "session/cancel", {"sessionId": SESSION})
    assert world.answer_to(first) is None
    assert world.answer_to(second) == Result(second, {"stopReason": "cancelled"})
    world.idle("cancelled")
    assert world.answer_to(first) == Result(first, {"stopReason": "cancelled"})


def test_a_prompt_that_the_agent_gives_back_unread_is_cancelled() -> None:
    """V1: what the user stops is never an error; v2 answers held prompts with -32800."""
    world = started()
    key = _ask(world)
    world.tell(CLIENT, "session/cancel", {"sessionId": SESSION})
    world.fail(AGENT, world.last(AGENT).key, -32800)
    assert world.answer_to(key) == Result(key, {"stopReason": "cancelled"})


def test_taking_back_a_prompt_cancels_the_session_or_takes_it_out_of_the_line() -> None:
    """translate 6."""
    world = started()
    first, second, third = world.prompt(), world.prompt(), world.prompt()
    for key in (third, second):
        world.tell(CLIENT, "$/cancel_request", {"requestId": key})
        assert world.answer_to(key) == Result(key, {"stopReason": "cancelled"})
    world.tell(CLIENT, "$/cancel_request", {"requestId": first})
    assert world.agent[-1] == Notification("session/cancel", {"sessionId": SESSION})
    world.idle("cancelled")
    assert world.answer_to(first) == Result(first, {"stopReason": "cancelled"})


def test_taking_back_another_request_follows_it_to_the_agent() -> None:
    """translate 6: the id is mapped."""
    world = started()
    key = world.ask(CLIENT, "session/list", {})
    asked = world.last(AGENT)
    world.tell(CLIENT, "$/cancel_request", {"requestId": key})
    assert world.agent[-1] == Notification("$/cancel_request", {"requestId": asked.key})


# ---- whose words


@pytest.mark.parametrize("first", ["echo", "answer"])
def test_the_echo_of_the_clients_own_prompt_is_not_told(first: str) -> None:
    """translate 5: v1 clients show it already; echo and answer have no fixed order."""
    world = started()
    _ask(world)
    request = world.last(AGENT)
    if first == "echo":
        assert world.update(_user("u")) == []
    world.answer(AGENT, request.key, {"messageId": "u"})
    if first == "answer":
        assert world.update(_user("u", "hello, expanded by the agent")) == []
    assert world.updates() == []
    [said] = world.update(_user("u", "something else"))
    assert said["sessionUpdate"] == "user_message_chunk"
    assert said["_meta"][X] == {"replaces": "u"}


def test_an_echo_in_chunks_is_not_told_either() -> None:
    """translate 5."""
    world = started()
    _ask(world)
    assert world.update(_user_chunk("u")) == []
    world.answer(AGENT, world.last(AGENT).key, {"messageId": "u"})
    assert world.update(_user_chunk("u", "more")) == []


def test_an_echo_ends_the_doubt_whether_the_prompt_was_inserted() -> None:
    """V2: neither echo nor answer may precede insertion."""
    world = started()
    key = _ask(world)
    _running(world)
    world.update(_user("u"))
    world.idle()
    assert world.answer_to(key) == Result(key, {"stopReason": "end_turn"})
    assert world.answer(AGENT, world.last(AGENT).key, {"messageId": "u"}) == []


def test_words_of_somebody_else_are_told() -> None:
    """translate 5: as chunks."""
    world = started()
    assert world.update(_user("x", "hi")) == [_user_chunk("x", "hi")]
    world.prompt()
    assert world.update(_user("y", "hi")) == [_user_chunk("y", "hi")]


def test_words_that_may_be_the_prompts_wait_for_its_answer() -> None:
    """Ours: an agent may change a prompt; only the id says whose it is."""
    world = started()
    _ask(world)
    assert world.update(_user("u", "HELLO")) == []
    assert world.update(_user_chunk("x", "hi")) == []
    outs = world.answer(AGENT, world.last(AGENT).key, {"messageId": "u"})
    assert [out[1].params["update"] for out in outs] == [_user_chunk("x", "hi")]


def test_of_words_that_wait_there_are_only_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: bounded."""
    monkeypatch.setattr(turns_module, "ECHOES_HELD_MAX", 1)
    world = started()
    _ask(world)
    assert world.update(_user("x", "1")) == []
    assert world.update(_user("y", "2")) == [_user_chunk("y", "2")]
    world.fail(AGENT, world.last(AGENT).key, -32603)
    assert world.updates()[-1] == _user_chunk("x", "1")


def test_an_answer_without_an_id_is_an_answer() -> None:
    """V2: peers of August 2026 answer `{}`."""
    world = started()
    key = _ask(world)
    _running(world)
    world.answer(AGENT, world.last(AGENT).key, {})
    assert world.update(_user("u")) == [_user_chunk("u")]
    world.idle()
    assert world.answer_to(key).result == {"stopReason": "end_turn"}

"""An agent of the first pages about v2 behind a client of today's, and one of today unharmed."""

from typing import Any

import pytest

from accord.schema.codec import encode
from accord.schema.v2.methods import AGENT_METHODS, CLIENT_METHODS
from accord.translate.adapter import Outs
from accord.translate.early_v2.agent import (
    EarlyAgent,
    diff_of_today,
    permission_of_today,
    update_of_today,
)
from accord.translate.message import AGENT, CLIENT, Failure, Json, Notification, Request, Result
from tests.translate.surroundings import Around

BLOCKS = [{"type": "text", "text": "go"}]


def made() -> EarlyAgent:
    return EarlyAgent(Around().surroundings)


def prompted(agent: EarlyAgent, key: int = 1, session_id: str = "s") -> int:
    [(side, message)] = agent.receive(
        CLIENT, Request(key, "session/prompt", {"sessionId": session_id, "prompt": BLOCKS})
    )
    assert side is AGENT
    assert isinstance(message, Request)
    return message.key


def told(agent: EarlyAgent, update: Json, session_id: str = "s") -> Outs:
    params = {"sessionId": session_id, "update": update}
    return agent.receive(AGENT, Notification("session/update", params))


def chunk(text: str) -> Json:
    content = {"type": "text", "text": text}
    return {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": content}


def shown(outs: Outs) -> list[Any]:
    """What a client is told, in short; each valid by the types of v2."""
    short: list[Any] = []
    for side, message in outs:
        assert side is CLIENT
        if isinstance(message, Notification):
            CLIENT_METHODS[message.method].decode_params(encode(message.params), strict=True)
            update = message.params["update"]
            kind = update["sessionUpdate"]
            short.append(f"{kind} {update['state']}" if kind == "state_update" else kind)
        elif isinstance(message, Result):
            AGENT_METHODS["session/prompt"].decode_result(encode(message.result), strict=True)
            short.append((message.key, message.result))
        else:
            short.append(message)
    return short


def test_work_on_an_unanswered_prompt_makes_its_answer_its_echo_and_its_state() -> None:
    """v2's first pages, 2, 3, 5: insertion, echo and running are made up."""
    agent = made()
    inner = prompted(agent)
    assert shown(told(agent, chunk("a"))) == [
        "user_message",
        (1, {"messageId": "u-fresh-1"}),
        "state_update running",
        "agent_message_chunk",
    ]
    assert shown(told(agent, chunk("b"))) == ["agent_message_chunk"]
    ended = agent.receive(AGENT, Result(inner, {"stopReason": "max_tokens"}))
    assert shown(ended) == ["state_update idle"]
    assert ended[0][1].params["update"]["stopReason"] == "max_tokens"  # type: ignore[union-attr]


def test_an_echo_of_its_own_is_the_one_that_counts() -> None:
    """v2's first pages, 5: the echo is optional, and has the message's id."""
    agent = made()
    inner = prompted(agent)
    echo = {"sessionUpdate": "user_message", "messageId": "mine", "content": BLOCKS}
    assert shown(told(agent, echo)) == ["user_message"]
    assert shown(told(agent, chunk("a")))[:1] == [(1, {"messageId": "mine"})]
    assert shown(agent.receive(AGENT, Result(inner, {"stopReason": "end_turn"}))) == [
        "state_update idle"
    ]


def test_a_turn_without_a_word_is_told_whole_at_its_end() -> None:
    """v2's first pages, 2: insertion and idle at once."""
    agent = made()
    inner = prompted(agent)
    usage = {"sessionUpdate": "usage_update", "used": 1, "size": 2}
    assert shown(told(agent, usage)) == ["usage_update"]
    assert shown(agent.receive(AGENT, Result(inner, {"stopReason": "cancelled"}))) == [
        "user_message",
        (1, {"messageId": "u-fresh-1"}),
        "state_update running",
        "state_update idle",
    ]


def test_a_failure_is_the_prompts_own_before_the_work_and_a_state_after() -> None:
    """v2: what fails before insertion is an error, later it is idle with one."""
    agent = made()
    inner = prompted(agent)
    failure = Failure(inner, -32000, "login", {"a": 1})
    assert agent.receive(AGENT, failure) == [(CLIENT, Failure(1, -32000, "login", {"a": 1}))]
    for data in ({"a": 1}, None):
        inner = prompted(agent, 2)
        told(agent, chunk("a"))
        [(_, idle)] = agent.receive(AGENT, Failure(inner, -32603, "broken", data))
        assert isinstance(idle, Notification)
        assert shown([(CLIENT, idle)]) == ["state_update idle"]
        assert idle.params["update"]["error"]["message"] == "broken"
        assert idle.params["update"]["error"].get("data") == data


def test_an_agent_of_today_is_passed_on() -> None:
    """Nothing is made up for whoever says it itself."""
    agent = made()
    inner = prompted(agent)
    echo = {"sessionUpdate": "user_message", "messageId": "u", "content": BLOCKS}
    running = {"sessionUpdate": "state_update", "state": "running"}
    idle = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}
    assert shown(told(agent, echo)) == ["user_message"]
    assert shown(agent.receive(AGENT, Result(inner, {"messageId": "u"}))) == [
        (1, {"messageId": "u"})
    ]
    assert shown(told(agent, running)) == ["state_update running"]
    assert shown(told(agent, chunk("a"))) == ["agent_message_chunk"]
    prompted(agent, 2)
    assert shown(told(agent, chunk("b"))) == ["agent_message_chunk"]
    assert shown(told(agent, idle)) == ["state_update idle"]


def test_one_of_today_that_told_of_other_work_first_is_not_ended_by_its_answer() -> None:
    """A guess that was wrong costs an id, not a turn."""
    agent = made()
    inner = prompted(agent)
    told(agent, chunk("of other work"))
    assert agent.receive(AGENT, Result(inner, {"messageId": "u"})) == ()
    assert shown(told(agent, chunk("a"), "another")) == ["agent_message_chunk"]


def test_of_two_prompts_the_first_is_the_one_at_work() -> None:
    """What an early agent answers later is told when it is answered."""
    agent = made()
    first, second = prompted(agent), prompted(agent, 2)
    assert shown(told(agent, chunk("a")))[1] == (1, {"messageId": "u-fresh-1"})
    assert shown(told(agent, chunk("x"), "other")) == ["agent_message_chunk"]
    agent.receive(AGENT, Result(first, {"stopReason": "end_turn"}))
    later = shown(agent.receive(AGENT, Result(second, {"stopReason": "end_turn"})))
    assert later[1] == (2, {"messageId": "u-fresh-2"})


def test_a_permission_request_is_about_a_subject_and_begins_the_work() -> None:
    """v2's first pages, 16: top-level `toolCall` becomes the subject."""
    agent = made()
    prompted(agent)
    option = {"optionId": "y", "name": "Yes", "kind": "allow_once"}
    tool_call = {"toolCallId": "t", "title": "Edit", "locations": [{"path": "/a", "line": 0}]}
    params = {"sessionId": "s", "toolCall": tool_call, "options": [option]}
    outs = agent.receive(AGENT, Request(9, "session/request_permission", params))
    assert len(outs) == 4
    request = outs[-1][1]
    assert isinstance(request, Request)
    assert request.params["title"] == "Edit"
    assert request.params["subject"]["toolCall"]["locations"] == [{"path": "/a"}]
    CLIENT_METHODS[request.method].decode_params(encode(request.params), strict=True)
    chosen = {"outcome": {"outcome": "selected", "optionId": "y"}}
    assert agent.receive(CLIENT, Result(request.key, chosen)) == [(AGENT, Result(9, chosen))]
    today = {"sessionId": "s", "title": "T", "subject": None, "options": [option]}
    again = agent.receive(AGENT, Request(10, "session/request_permission", dict(today)))
    assert again[-1][1].params == today  # type: ignore[union-attr]


def test_a_title_is_found_somewhere() -> None:
    params: Json = {"toolCall": {"toolCallId": "t"}, "options": []}
    permission_of_today(params)
    assert params["title"] == "Permission requested"


def test_when_the_agent_goes_a_turn_that_runs_ends_as_an_error() -> None:
    agent = made()
    prompted(agent)
    told(agent, chunk("a"))
    prompted(agent, 2, "quiet")
    assert shown(agent.agent_gone("it died")) == [
        "state_update idle",
        Failure(2, -32603, "it died", {"reason": "agent_gone"}),
    ]


def test_an_update_that_is_none_goes_nowhere() -> None:
    agent = made()
    params: Json = {"sessionId": "s", "update": 5}
    assert agent.receive(AGENT, Notification("session/update", params)) == ()


def test_a_plan_is_named_as_today() -> None:
    """v2's first pages, 7: `id` is read where `planId` is absent."""
    update: Json = {"sessionUpdate": "plan_update", "plan": {"type": "items", "id": "p"}}
    update_of_today(update)
    assert update["plan"] == {"type": "items", "planId": "p"}
    update_of_today(update)
    assert update["plan"] == {"type": "items", "planId": "p"}


@pytest.mark.parametrize(("old_text", "operation"), [(None, "add"), ("a\n", "modify")])
def test_a_diff_of_two_texts_has_changes_and_a_patch(old_text: Any, operation: str) -> None:
    """v2's first pages, 19."""
    early = {"type": "diff", "path": "/f", "oldText": old_text, "newText": "b\n", "_meta": {"k": 1}}
    update: Json = {"sessionUpdate": "tool_call_content_chunk", "content": dict(early)}
    update_of_today(update)
    diff = update["content"]
    assert diff["changes"][0]["operation"] == operation
    assert "+b" in diff["patch"]["text"]
    assert diff["_meta"] == {"k": 1}
    assert diff.keys() == {"type", "changes", "patch", "_meta"}
    whole: Json = {"sessionUpdate": "tool_call_update", "content": [dict(early), diff, 5]}
    update_of_today(whole)
    assert whole["content"][0]["changes"] == diff["changes"]
    assert whole["content"][1:] == [diff, 5]
    # As the tolerant reader hands it on.
    assert diff_of_today({**early, "changes": []}) == diff


@pytest.mark.parametrize("item", [5, {"type": "diff", "path": 5, "newText": "x"}])
def test_what_is_no_diff_of_two_texts_stays(item: Any) -> None:
    assert diff_of_today(item) == item


def test_places_that_are_none_stay() -> None:
    update: Json = {"sessionUpdate": "tool_call_update", "content": None, "locations": [5]}
    update_of_today(update)
    assert update["locations"] == [5]

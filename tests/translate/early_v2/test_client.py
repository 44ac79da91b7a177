"""A client of the first pages about v2 in front of an agent of today's."""

from typing import Any

import pytest

from accord.translate.adapter import Outs
from accord.translate.early_v2.agent import EarlyAgent
from accord.translate.early_v2.client import EarlyClient
from accord.translate.message import (
    AGENT,
    CLIENT,
    Failure,
    Json,
    Message,
    Notification,
    Request,
    Result,
    Side,
)
from tests.translate.surroundings import Around

BLOCKS = [{"type": "text", "text": "go"}]
OPTIONS = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
RUNNING = {"sessionUpdate": "state_update", "state": "running"}


class Stage:
    """A translator with an agent of today behind it that does as it is told."""

    def __init__(self) -> None:
        self.around = Around()
        self.translator = EarlyClient(self.around.surroundings)

    def client(self, message: Message) -> list[tuple[Side, Message]]:
        return list(self.translator.receive(CLIENT, message))

    def prompt(self, key: int = 1) -> Request | None:
        params = {"sessionId": "s", "prompt": BLOCKS}
        outs = self.client(Request(key, "session/prompt", params))
        if not outs:
            return None
        [(side, message)] = outs
        assert side is AGENT
        assert isinstance(message, Request)
        return message

    def answered(self, request: Request | None) -> None:
        assert request is not None
        self.translator.receive(AGENT, Result(request.key, {"messageId": "u"}))

    def told(self, update: Json) -> list[Any]:
        params = {"sessionId": "s", "update": update}
        return short(self.translator.receive(AGENT, Notification("session/update", params)))

    def idle(self, **more: Any) -> list[Any]:
        return self.told({"sessionUpdate": "state_update", "state": "idle", **more})


def short(outs: Outs) -> list[Any]:
    """What the client is told: updates as they are, answers by key."""
    found: list[Any] = []
    for side, message in outs:
        assert side is CLIENT
        if isinstance(message, Notification):
            found.append(message.params["update"])
        else:
            found.append(message)
    return found


def test_a_prompt_is_answered_by_idle_and_no_state_is_told() -> None:
    """v2's first pages, 2, 3 and 12."""
    stage = Stage()
    stage.answered(stage.prompt())
    assert stage.told(RUNNING) == []
    message = {"sessionUpdate": "agent_message", "messageId": "m", "content": BLOCKS}
    assert stage.told(dict(message)) == [message]
    assert stage.idle(stopReason="max_tokens") == [Result(1, {"stopReason": "max_tokens"})]


def test_a_failed_turn_is_an_error_of_its_prompt() -> None:
    stage = Stage()
    stage.answered(stage.prompt())
    stage.told(RUNNING)
    error = {"code": -32050, "message": "away", "data": {"a": 1}}
    assert stage.idle(stopReason="error", error=error) == [Failure(1, -32050, "away", {"a": 1})]


def test_one_prompt_at_a_time_and_a_cancel_ends_those_that_wait() -> None:
    stage = Stage()
    stage.answered(stage.prompt(1))
    stage.told(RUNNING)
    assert stage.prompt(2) is None
    outs = stage.client(Notification("session/cancel", {"sessionId": "s"}))
    assert outs == [
        (CLIENT, Result(2, {"stopReason": "cancelled"})),
        (AGENT, Notification("session/cancel", {"sessionId": "s"})),
    ]
    assert stage.idle(stopReason="cancelled") == [Result(1, {"stopReason": "cancelled"})]


def test_a_prompt_that_is_withdrawn_is_cancelled_and_other_requests_are_followed() -> None:
    stage = Stage()
    stage.answered(stage.prompt(1))
    cancelled = stage.client(Notification("$/cancel_request", {"requestId": 1}))
    assert cancelled == [(AGENT, Notification("session/cancel", {"sessionId": "s"}))]
    [(_, asked)] = stage.client(Request(5, "_x/y", {}))
    assert isinstance(asked, Request)
    followed = stage.client(Notification("$/cancel_request", {"requestId": 5}))
    assert followed == [(AGENT, Notification("$/cancel_request", {"requestId": asked.key}))]


def test_a_plan_has_an_id() -> None:
    """v2's first pages, 7."""
    stage = Stage()
    plan = {"type": "items", "planId": "p", "entries": []}
    [update] = stage.told({"sessionUpdate": "plan_update", "plan": plan})
    assert update["plan"] == {"type": "items", "id": "p", "entries": []}


def test_tool_calls_have_diffs_of_two_texts_and_one_kind_of_update() -> None:
    """v2's first pages, 19 to 21."""
    stage = Stage()
    patch = "diff --git /f /f\n--- /f\n+++ /f\n@@ -1 +1 @@\n-a\n+b\n"
    diff = {
        "type": "diff",
        "changes": [{"operation": "modify", "path": "/f"}],
        "patch": {"format": "git_patch", "text": patch},
    }
    stage.around.files["/f"] = "a\n"
    call = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Edit"}
    [first] = stage.told({**call, "content": [diff], "status": "paused"})
    assert first["sessionUpdate"] == "tool_call_update"
    assert first["status"] == "in_progress"
    assert (first["content"][0]["oldText"], first["content"][0]["newText"]) == ("a\n", "b\n")
    piece = {"type": "content", "content": {"type": "text", "text": "more"}}
    chunk = {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "t", "content": piece}
    told = stage.told(chunk)
    stage.around.time += 1
    told += short(stage.translator.wake())
    assert told[-1]["content"][-1]["content"]["text"] == "more"


def test_what_a_terminal_prints_is_text_of_its_call() -> None:
    """v2's first pages, 20."""
    stage = Stage()
    stage.told({"sessionUpdate": "terminal_update", "terminalId": "x", "command": "ls", "cwd": "/"})
    terminal = {"type": "terminal", "terminalId": "x"}
    call = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Run"}
    stage.told({**call, "content": [terminal]})
    output = {"sessionUpdate": "terminal_output_chunk", "terminalId": "x", "data": "aGk="}
    told = stage.told(output)
    stage.around.time += 1
    told += short(stage.translator.wake())
    assert "hi" in str(told)
    assert all(update["sessionUpdate"] == "tool_call_update" for update in told)


def test_a_permission_request_has_its_tool_call_on_top() -> None:
    """v2's first pages, 16."""
    stage = Stage()
    subject = {"type": "tool_call", "toolCall": {"toolCallId": "t", "title": "Edit"}}
    params = {"sessionId": "s", "title": "Edit", "subject": subject, "options": OPTIONS}
    outs = stage.translator.receive(AGENT, Request(9, "session/request_permission", params))
    assert [update["sessionUpdate"] for update in short(outs[:-1])] == ["tool_call_update"]
    side, asked = outs[-1]
    assert side is CLIENT
    assert isinstance(asked, Request)
    assert asked.params["toolCall"]["toolCallId"] == "t"
    assert not {"title", "subject", "description"} & asked.params.keys()
    chosen = {"outcome": {"outcome": "selected", "optionId": "y"}}
    assert stage.client(Result(asked.key, chosen)) == [(AGENT, Result(9, chosen))]


def test_everything_else_is_passed_on() -> None:
    stage = Stage()
    [(side, asked)] = stage.client(Request(3, "session/new", {"cwd": "/"}))
    assert (side, asked.method) == (AGENT, "session/new")  # type: ignore[union-attr]
    assert stage.client(Notification("_x/y", {})) == [(AGENT, Notification("_x/y", {}))]
    told = stage.translator.receive(AGENT, Notification("elicitation/complete", {"a": 1}))
    assert told == [(CLIENT, Notification("elicitation/complete", {"a": 1}))]


@pytest.mark.parametrize("method", ["session/close", "session/delete"])
def test_what_is_open_when_its_session_ends_is_cancelled(method: str) -> None:
    stage = Stage()
    stage.answered(stage.prompt(1))
    outs = stage.client(Request(2, method, {"sessionId": "s"}))
    assert outs[0] == (CLIENT, Result(1, {"stopReason": "cancelled"}))
    assert outs[1][0] is AGENT


def test_a_replay_begins_anew() -> None:
    stage = Stage()
    stage.prompt(1)
    call = {"sessionUpdate": "tool_call_update", "toolCallId": "t"}
    assert stage.told(dict(call))[0]["title"] == "t"
    assert stage.told(dict(call))[0].get("title") is None
    stage.client(Request(2, "session/resume", {"sessionId": "s", "cwd": "/"}))
    assert stage.told(dict(call))[0]["title"] == "t"


def test_when_the_agent_goes_every_prompt_is_answered() -> None:
    stage = Stage()
    stage.answered(stage.prompt(1))
    stage.prompt(2)
    answers = [message for _, message in stage.translator.agent_gone("it died")]
    assert sorted(one.key for one in answers) == [1, 2]  # type: ignore[union-attr]
    assert all(isinstance(one, Failure) for one in answers)


def test_an_early_client_and_an_early_agent_meet() -> None:
    """Both ends of the first pages: what one says the other reads, through today's form."""
    client, agent = EarlyClient(Around().surroundings), EarlyAgent(Around().surroundings)
    [(_, asked)] = client.receive(
        CLIENT, Request(1, "session/prompt", {"sessionId": "s", "prompt": BLOCKS})
    )
    [(_, inner)] = agent.receive(CLIENT, asked)
    ended = agent.receive(AGENT, Result(inner.key, {"stopReason": "refusal"}))  # type: ignore[union-attr]
    said = [out for _, message in ended for out in client.receive(AGENT, message)]
    assert said[-1] == (CLIENT, Result(1, {"stopReason": "refusal"}))

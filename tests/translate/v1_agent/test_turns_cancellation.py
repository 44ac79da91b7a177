"""Cancelling, states and the end: what stops a v1 agent's work (translation, 5 and 6)."""

import pytest

from accord.jsonrpc.error_codes import INTERNAL_ERROR, REQUEST_CANCELLED
from accord.translate.message import CLIENT, Notification, Request
from accord.translate.v1_agent.sessions.end import CLOSING_SECONDS
from accord.translate.v1_agent.turns import SILENCE
from tests.translate.v1_agent.agent_messages import SELECTED, chunk, permission, tool
from tests.translate.v1_agent.scripted_peers import Stage

# ---- cancelling


@pytest.mark.rule("V2-CANCEL-03", "V2-CANCEL-05", "V2-CANCEL-06")
def test_cancel_stops_the_turn_the_held_prompts_and_the_questions() -> None:
    stage = Stage()
    stage.working()
    stage.update({**tool(title="Done", status="completed"), "toolCallId": "t0"})
    stage.update(tool(title="Run", status="pending"))
    asked = permission(stage)
    request = stage.opened("session/request_permission", CLIENT)
    held = stage.prompt("later")
    stage.updates()
    stage.tell("session/cancel", {"sessionId": "s1"})
    assert stage.told_agent("session/cancel") == [{"sessionId": "s1"}]
    assert stage.error(held).code == REQUEST_CANCELLED
    assert stage.answer(asked) == {"outcome": {"outcome": "cancelled"}}
    assert stage.to_client == [Notification("$/cancel_request", {"requestId": request.key})]
    after = stage.prompt("after all")
    stage.end("cancelled")
    assert stage.said() == ["tool t1 cancelled", "idle cancelled"]
    stage.wait(1)
    assert "messageId" in stage.answer(after)
    # The client answers what was withdrawn: too late, and nobody minds.
    stage.to_client.append(request)
    stage.reply("session/request_permission", {"outcome": SELECTED}, CLIENT)


@pytest.mark.rule("V2-CANCEL-04")
def test_an_error_of_an_agent_that_was_cancelled_is_cancelled() -> None:
    stage = Stage()
    stage.working()
    stage.tell("session/cancel", {"sessionId": "s1"})
    stage.fail("session/prompt", INTERNAL_ERROR, "aborted")
    assert stage.said() == ["idle cancelled"]


def test_cancel_at_once_inserts_what_the_agent_already_has() -> None:
    stage = Stage()
    stage.start()
    stage.new()
    key = stage.prompt()
    stage.tell("session/cancel", {"sessionId": "s1"})
    stage.end("cancelled")
    assert stage.said() == ["user_message", "running", "idle cancelled"]
    assert "messageId" in stage.answer(key)


@pytest.mark.rule("V2-CANCEL-08")
def test_cancel_while_nothing_happens_says_nothing() -> None:
    stage = Stage()
    stage.start()
    stage.new()
    stage.tell("session/cancel", {"sessionId": "s1"})
    stage.tell("session/cancel", {"sessionId": "other"})
    assert stage.updates() == []
    assert len(stage.told_agent("session/cancel")) == 1
    stage.prompt()
    stage.end()
    assert stage.said()[-1] == "idle end_turn"


@pytest.mark.rule("V2-CANCEL-14", "V2-CANCEL-15")
def test_a_held_prompt_can_be_withdrawn_and_an_inserted_one_cannot() -> None:
    stage = Stage()
    inserted = stage.working()
    one, two = stage.prompt("one"), stage.prompt("two")
    for key in (two, two, inserted, 4711):
        stage.tell("$/cancel_request", {"requestId": key})
    assert stage.error(two).code == REQUEST_CANCELLED
    assert one not in stage.answers
    assert stage.told_agent("$/cancel_request") == []


def test_cancelling_another_request_follows_it_to_the_agent() -> None:
    stage = Stage()
    stage.start()
    key = stage.ask("session/new", {"cwd": "/work"})
    asked = stage.opened("session/new")
    stage.tell("$/cancel_request", {"requestId": key})
    assert stage.told_agent("$/cancel_request") == [{"requestId": asked.key}]


def test_a_turn_that_ends_with_the_session_leaves_no_timer_behind() -> None:
    """Two timers fall due at once, and what the first does takes the second away."""
    stage = Stage()
    stage.start()
    stage.new("s2")
    stage.new("s1")
    stage.update(chunk("hm"), "s2")
    stage.prompt()
    stage.ask("session/close", {"sessionId": "s1"})
    stage.around.time += CLOSING_SECONDS + SILENCE
    stage.adapter.wake()
    assert stage.adapter.wake_at is None


# ---- states


@pytest.mark.rule("V2-PROMPT-12")
def test_a_session_requires_action_only_when_nothing_else_goes_on() -> None:
    stage = Stage()
    stage.working()
    stage.update({**tool(title="Long", status="in_progress"), "toolCallId": "t2"})
    permission(stage)
    assert stage.said() == ["tool t2 in_progress"]
    stage.update({**tool("tool_call_update", status="completed"), "toolCallId": "t2"})
    assert stage.said() == ["tool t2 completed", "requires_action"]
    stage.update({**tool("tool_call_update", status="in_progress"), "toolCallId": "t3"})
    assert stage.said() == ["tool t3 in_progress", "running"]
    stage.reply("session/request_permission", {"outcome": SELECTED}, CLIENT)
    assert stage.said() == []


def test_questions_that_outlive_their_turn_are_withdrawn() -> None:
    stage = Stage()
    stage.working()
    key = permission(stage)
    stage.end()
    assert stage.said() == ["requires_action", "idle end_turn"]
    assert stage.answer(key) == {"outcome": {"outcome": "cancelled"}}


def test_work_that_the_agent_begins_by_itself_ends_with_silence() -> None:
    """Translation, 5: running for messages and tool calls, idle after two seconds of silence."""
    stage = Stage()
    stage.start()
    stage.new()
    stage.update({"sessionUpdate": "usage_update", "used": 1, "size": 2})
    assert stage.said() == ["usage_update"]
    stage.update(chunk("by the way"))
    stage.wait(SILENCE / 2)
    stage.update({"sessionUpdate": "usage_update", "used": 1, "size": 2})
    stage.wait(SILENCE / 2)
    assert stage.said() == ["running", "agent_message by the way", "usage_update"]
    stage.wait(SILENCE / 2)
    assert stage.said() == ["idle end_turn"]
    assert stage.adapter.wake_at is None


def test_a_question_of_the_agents_own_work_is_waited_for() -> None:
    stage = Stage()
    stage.start()
    stage.new()
    permission(stage)
    assert stage.said() == ["running", "requires_action"]
    stage.wait(3 * SILENCE)
    assert stage.said() == []
    stage.reply("session/request_permission", {"outcome": SELECTED}, CLIENT)
    stage.wait(SILENCE)
    assert stage.said() == ["running", "idle end_turn"]


def test_work_of_the_agents_own_can_be_cancelled() -> None:
    stage = Stage()
    stage.start()
    stage.new()
    stage.update(tool(title="Mine"))
    stage.tell("session/cancel", {"sessionId": "s1"})
    stage.wait(SILENCE)
    assert stage.said() == ["running", "tool t1 None", "idle cancelled"]


@pytest.mark.rule("V2-PROMPT-21")
def test_a_call_that_goes_on_behind_a_turn_does_not_make_the_session_busy() -> None:
    stage = Stage()
    stage.working()
    stage.update(tool(title="Background", status="in_progress"))
    stage.end()
    stage.updates()
    stage.update(tool("tool_call_update", status="completed"))
    assert stage.said() == ["tool t1 completed"]
    stage.update({**tool("tool_call_update", status="completed"), "toolCallId": "new"})
    assert stage.said() == ["running", "tool new completed"]


def test_a_prompt_takes_over_from_the_agents_own_work() -> None:
    stage = Stage()
    stage.start()
    stage.new()
    stage.update(chunk("hm"))
    refused = stage.prompt()
    stage.fail("session/prompt", INTERNAL_ERROR, "not now")
    assert stage.error(refused).code == INTERNAL_ERROR
    stage.prompt()
    stage.end()
    assert stage.said()[2:] == ["user_message", "running", "idle end_turn"]
    assert stage.adapter.wake_at is None


@pytest.mark.rule("V2-CANCEL-03", "V2-CANCEL-05")
@pytest.mark.parametrize("ends", ["cancelled", "end_turn", "error"])
@pytest.mark.parametrize("step", ["asked", "inserted", "streaming", "tool", "permission", "held"])
def test_cancel_at_every_step_ends_the_work_once(step: str, ends: str) -> None:
    stage = Stage()
    stage.start()
    stage.new()
    keys = [stage.prompt()]
    if step != "asked":
        stage.wait(1)
    if step == "streaming":
        stage.update(chunk("so"))
    if step == "tool":
        stage.update(tool(title="T", status="in_progress"))
    if step == "permission":
        keys.append(permission(stage))
    if step == "held":
        keys.append(stage.prompt())
    stage.tell("session/cancel", {"sessionId": "s1"})
    stage.update(chunk("late"))
    if ends == "error":
        stage.fail("session/prompt")
    else:
        stage.end(ends)
    assert all(len(stage.answers[key]) == 1 for key in keys)
    said = stage.said()
    assert [one for one in said if one.startswith("idle")] == [said[-1]]
    assert said[-1] == ("idle end_turn" if ends == "end_turn" else "idle cancelled")
    assert stage.adapter.wake_at is None


# ---- the agent dies

STEPS = ["initialized", "opening", "open", "asked", "inserted", "streaming", "permission", "held"]


@pytest.mark.parametrize("step", [*STEPS, "cancelled", "closing", "loading", "own work"])
def test_when_the_agent_dies_every_request_is_answered_once(step: str) -> None:
    stage = Stage()
    keys: list[int] = []
    stage.start()
    if step == "opening":
        keys.append(stage.ask("session/new", {"cwd": "/"}))
    elif step == "loading":
        keys.append(stage.ask("session/resume", {"sessionId": "s1", "cwd": "/"}))
    elif step == "own work":
        stage.new()
        stage.update(chunk("hm"))
    elif step != "initialized":
        stage.new()
    if step in STEPS[3:] or step in ("cancelled", "closing"):
        keys.append(stage.prompt())
    if step in STEPS[4:] or step in ("cancelled", "closing"):
        stage.wait(1)
    if step == "streaming":
        stage.update(chunk("so"))
    if step == "permission":
        permission(stage)
    if step == "held":
        keys.append(stage.prompt())
    if step == "cancelled":
        stage.tell("session/cancel", {"sessionId": "s1"})
    if step == "closing":
        keys += [stage.ask("session/close", {"sessionId": "s1"}) for _ in range(2)]
    stage.die()
    assert all(len(stage.answers[key]) == 1 for key in keys)
    said = stage.said()
    if "running" in said:
        assert said[-1] == "idle error"
    stage.wait(100)
    assert stage.updates() == []
    withdrawn = [one for one in stage.to_client if not isinstance(one, Request)]
    assert bool(withdrawn) == (step == "permission")

"""A draft client cancels a turn of a v1 agent at every step of it."""

from collections.abc import Callable
from typing import Any

import pytest

from accord.translate.message import AGENT, CLIENT, Failure, Notification, Result
from tests.translate.draft.open_sessions import before
from tests.translate.draft.scripted_peers import check_steps

OPTIONS = [{"optionId": "yes", "kind": "allow_once", "name": "Yes"}]
TEXT = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hm"}}
CALL = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Dig", "kind": "execute"}


@pytest.mark.rule("D26-15", "D26-32")
@pytest.mark.parametrize("end", ["cancelled", "error", "death"])
@pytest.mark.parametrize("step", range(10))
def test_a_cancel_at_every_step_ends_the_turn_cancelled(step: int, end: str) -> None:
    """Issue 5: whatever happens, once, and by legal steps."""
    scene = before()
    wire = scene.wire
    key, prompt = scene.prompt()
    question: list[int] = []
    said: list[Any] = []

    def update(**more: Any) -> None:
        params = {"sessionId": "s", "update": {**CALL, **more}}
        wire.tell(AGENT, "session/update", params)

    def ask() -> None:
        params = {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": OPTIONS}
        question.append(wire.ask(AGENT, "session/request_permission", params))

    def grant() -> None:
        (asked,) = [one for (_, one), name in wire.asked.items() if name.endswith("permission")]
        wire.answer(CLIENT, asked, {"granted": True})

    def create() -> None:
        wire.ask(AGENT, "terminal/create", {"sessionId": "s", "command": "ls"})

    def created() -> None:
        (asked,) = [one for (_, one), name in wire.asked.items() if name == "terminal/create"]
        wire.answer(CLIENT, asked, {"terminalId": "T"})

    acts: list[Callable[[], Any]] = [
        lambda: None,
        lambda: wire.tell(AGENT, "session/update", {"sessionId": "s", "update": TEXT}),
        lambda: update(status="pending"),
        ask,
        grant,
        lambda: update(sessionUpdate="tool_call_update", status="in_progress"),
        create,
        created,
        lambda: wire.ask(CLIENT, "terminal/output", {"terminalId": "T", "data": "x"}),
        lambda: update(sessionUpdate="tool_call_update", status="completed"),
    ]
    for act in acts[: step + 1]:
        act()
    said += wire.take()
    wire.tell(CLIENT, "session/cancel", {"sessionId": "s"})
    assert (AGENT, Notification("session/cancel", {"sessionId": "s"})) in wire.said
    if end == "death":
        wire.agent_dies()
    elif end == "error":
        wire.fail(AGENT, prompt, -32603)
    else:
        update(sessionUpdate="tool_call_update", status="failed")
        wire.answer(AGENT, prompt, {"stopReason": "cancelled"})
    said += wire.take()
    answers = [one for _, one in said if isinstance(one, Result | Failure) and one.key == key]
    assert answers == [Result(key, {"stopReason": "cancelled"})]
    assert all(any(getattr(one, "key", 0) == asked for _, one in said) for asked in question)
    assert [one for one in wire.open if one[0] is CLIENT] == []
    check_steps(said)
    statuses = [
        one.params["data"].get("status")
        for _, one in said
        if isinstance(one, Notification) and "data" in one.params
    ]
    if step >= 2:
        assert [one for one in statuses if one][-1] in ("denied", "cancelled", "completed")

"""A v1 client cancels a turn of a draft agent at every step of it."""

from collections.abc import Callable
from typing import Any

import pytest

from accord.translate.message import AGENT, CLIENT, Failure, Notification, Result
from tests.translate.draft.open_sessions import DRAFT_AGENT, behind

STUBBORN = {**DRAFT_AGENT, "promptCapabilities": {"cancellation": False}}


@pytest.mark.rule("D26-15")
@pytest.mark.parametrize("agent", [DRAFT_AGENT, STUBBORN], ids=["able", "stubborn"])
@pytest.mark.parametrize("end", ["cancelled", "error", "death"])
@pytest.mark.parametrize("step", range(8))
def test_a_cancel_at_every_step_ends_the_turn_cancelled(step: int, end: str, agent: Any) -> None:
    """Issue 5: whatever happens, once."""
    scene = behind(agent=agent)
    wire = scene.wire
    key, prompt = scene.prompt()
    said: list[Any] = []

    def update(kind: str, **data: Any) -> None:
        params = {"sessionId": "s", "type": kind, "data": data}
        wire.tell(AGENT, "session/update", params)

    def ask() -> None:
        params = {"sessionId": "s", "operation": "terminal_execute", "resource": "ls"}
        wire.ask(AGENT, "session/request_permission", params)

    def answer(method: str, result: Any) -> None:
        (asked,) = [one for (_, one), name in wire.asked.items() if name == method]
        wire.answer(CLIENT, asked, result)

    acts: list[Callable[[], Any]] = [
        lambda: None,
        lambda: update("agent_message_chunk", content="hm"),
        lambda: update("tool_call", id="c", tool="t", input={}),
        ask,
        lambda: wire.ask(AGENT, "terminal/create", {"command": "ls"}),
        lambda: answer("terminal/create", {"terminalId": "T"}),
        lambda: wire.ask(AGENT, "terminal/wait_for_exit", {"terminalId": "T"}),
        lambda: wire.wait(0.15),
    ]
    for act in acts[: step + 1]:
        act()
    said += wire.take()
    wire.tell(CLIENT, "session/cancel", {"sessionId": "s"})
    cancel = (AGENT, Notification("session/cancel", {"sessionId": "s"}))
    assert (cancel in wire.said) == (agent is DRAFT_AGENT)
    # A v1 client answers what it is asked when it cancels.
    for (side, one), method in list(wire.asked.items()):
        if side is CLIENT and method == "session/request_permission":
            wire.answer(CLIENT, one, {"outcome": {"outcome": "cancelled"}})
    if end == "death":
        wire.agent_dies()
    elif end == "error":
        wire.answer(AGENT, prompt, {"stopReason": "error"})
    else:
        update("tool_call_update", id="c", status="cancelled")
        wire.answer(AGENT, prompt, {"stopReason": "cancelled"})
    said += wire.take()
    answers = [one for _, one in said if isinstance(one, Result | Failure) and one.key == key]
    assert answers == [Result(key, {"stopReason": "cancelled"})]
    assert [one for one in wire.open if one[0] is CLIENT] == []
    if end != "death":
        assert ("session/request_permission" in [name for _, name in wire.open]) is False

"""`tool_call/cancel` and `terminal/cancel` of foreground work in v2."""

from __future__ import annotations

import anyio
import pytest

from accord.agent import Turn
from tests.agent.raw_client import Message, RawClient
from tests.agent.v2.play import (
    allow,
    idle,
    insert,
    kinds,
    made,
    playing,
    settle,
    states,
    statuses,
    text,
)


def named(session_id: str, tool_call_id: str) -> Message:
    """The params of `tool_call/cancel`."""
    return {"sessionId": session_id, "toolCallId": tool_call_id}


async def slow(turn: Turn) -> None:
    """A tool that never ends by itself, and words after it."""
    async with turn.tool_call("Slow", kind="fetch", cancellable=True) as call:
        await call.start()
        await anyio.sleep_forever()
    await turn.say(f"it was {call.status}")


async def begun(client: RawClient) -> tuple[str, str]:
    """A session in which a tool works: (session, tool call)."""
    session_id = await client.new_session()
    await insert(client, session_id)
    announced = await client.update("tool_call_update")
    assert announced["capabilities"] == {"cancel": {}}
    await client.update("tool_call_update")
    return session_id, announced["toolCallId"]


@pytest.mark.rule("V2-CANCEL-17", "V2-CANCEL-19", "V2-CANCEL-20")
async def test_a_tool_call_is_cancelled_alone_and_the_turn_goes_on() -> None:
    """Spec: `{}` first, then a final status without a button; the state is not touched."""
    async with playing(made(slow)) as client:
        session_id, call_id = await begun(client)
        request_id = client.start("tool_call/cancel", named(session_id, call_id))
        assert (await client.answer(request_id))["result"] == {}
        final = await client.update("tool_call_update")
        assert (final["status"], final["capabilities"]) == ("cancelled", None)
        assert (await idle(client))["stopReason"] == "end_turn"
        assert client.updates("agent_message")[0]["content"] == text("it was cancelled")
        assert states(client) == ["running", "idle"]
        answered = kinds(client).index(f"result {request_id}")
        assert "cancelled" not in str(client.frames[:answered])


@pytest.mark.rule("V2-CANCEL-18")
async def test_what_cannot_be_cancelled_is_refused() -> None:
    """Spec: -32602 for unknown, final and not cancellable things, never -32601."""
    go_on = anyio.Event()

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Brief", kind="read", cancellable=True):
            pass
        async with turn.tool_call("Firm", kind="read"):
            await go_on.wait()

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        await insert(client, session_id)
        brief = (await client.update("tool_call_update"))["toolCallId"]
        while (firm := (await client.update("tool_call_update"))["toolCallId"]) == brief:
            pass
        for call_id in (brief, firm, "unknown"):
            error = await client.error("tool_call/cancel", named(session_id, call_id))
            assert error["code"] == -32602
        params = {"sessionId": session_id, "terminalId": "unknown"}
        assert (await client.error("terminal/cancel", params))["code"] == -32602
        go_on.set()
        assert (await idle(client))["stopReason"] == "end_turn"
        late = await client.error("tool_call/cancel", named(session_id, firm))
        assert late["code"] == -32602
        assert "cancelled" not in statuses(client)


@pytest.mark.rule("V2-CANCEL-18")
async def test_a_call_that_is_no_block_is_never_offered_to_be_cancelled() -> None:
    """Ours: nothing could stop it, so no button is shown."""

    async def work(turn: Turn) -> None:
        call = turn.tool_call("Manual", kind="read", cancellable=True)
        await call.announce()
        await call.start()
        await call.complete()

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        await insert(client, session_id)
        await idle(client)
    assert all("capabilities" not in one for one in client.updates("tool_call_update"))


@pytest.mark.rule("V2-CANCEL-17", "V2-CANCEL-20", "V2-PROMPT-12")
async def test_a_call_that_waits_for_permission_is_cancelled_with_its_question() -> None:
    """Spec: final status, the question withdrawn, and running again since the work goes on."""

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Edit", kind="edit", cancellable=True) as call:
            await call.ask("May I?")
        await turn.say("went on")

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        await insert(client, session_id)
        request = await client.next("session/request_permission")
        call_id = client.updates("tool_call_update")[0]["toolCallId"]
        await client.result("tool_call/cancel", named(session_id, call_id))
        assert (await client.next("$/cancel_request"))["params"] == {"requestId": request["id"]}
        assert (await idle(client))["stopReason"] == "end_turn"
        assert statuses(client) == ["pending", "cancelled"]
        assert states(client) == ["running", "requires_action", "running", "idle"]


@pytest.mark.rule("V2-CANCEL-17", "V2-CANCEL-19", "V2-UPS-16")
@pytest.mark.parametrize("by", ["terminal", "tool_call"])
async def test_a_running_command_is_cancelled_by_its_terminal_or_its_call(by: str) -> None:
    """Spec: accepted, then the exit status and a final status; then neither can be cancelled."""

    async def work(turn: Turn) -> None:
        done = await turn.run("echo up; sleep 60")
        await turn.say(f"cancelled={done.cancelled}")

    async with playing(made(work)) as client:
        allow(client)
        session_id = await client.new_session()
        await insert(client, session_id)
        terminal_id = (await client.update("terminal_update"))["terminalId"]
        await client.update("terminal_output_chunk")
        call_id = client.updates("tool_call_update")[0]["toolCallId"]
        params = {
            "terminal": {"sessionId": session_id, "terminalId": terminal_id},
            "tool_call": named(session_id, call_id),
        }
        request_id = client.start(f"{by}/cancel", params[by])
        assert (await client.answer(request_id))["result"] == {}
        ended = await client.update("terminal_update")
        assert ended["exitStatus"] == {"signal": "SIGTERM"}
        assert ended["capabilities"] is None
        assert (await idle(client))["stopReason"] == "end_turn"
        assert statuses(client)[-1] == "cancelled"
        assert client.updates("agent_message")[0]["content"] == text("cancelled=True")
        for other in ("terminal", "tool_call"):
            assert (await client.error(f"{other}/cancel", params[other]))["code"] == -32602
        await settle(client)
        assert states(client)[-1] == "idle"

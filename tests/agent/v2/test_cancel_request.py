"""`$/cancel_request` in v2: one request is withdrawn, and answered once."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.agent import Turn
from tests.agent.v2.play import chosen, idle, insert, made, playing, settle, states, text


@pytest.mark.rule("V2-CANCEL-14", "V2-CANCEL-15")
async def test_a_held_prompt_can_be_withdrawn_and_is_answered_once() -> None:
    """Spec: -32800 for that one; its neighbours stay; a second cancel changes nothing."""
    go_on = anyio.Event()

    async def work(turn: Turn) -> None:
        if turn.text == "A":
            await go_on.wait()

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        await insert(client, session_id, "A")
        first, second = (client.start_prompt(session_id, word) for word in ("B", "C"))
        for _ in range(2):
            client.notify("$/cancel_request", {"requestId": first})
        assert (await client.answer(first))["error"]["code"] == -32800
        client.notify("$/cancel_request", {"requestId": first})
        go_on.set()
        assert "result" in await client.answer(second)
        await idle(client)
        await idle(client)
        answers = [frame for frame in client.frames if frame.get("id") == first]
        assert len([frame for frame in answers if "method" not in frame]) == 1
        inserted = [one["content"][0]["text"] for one in client.updates("user_message")]
        assert inserted == ["A", "C"]


@pytest.mark.rule("V2-CANCEL-15", "V2-CANCEL-14")
async def test_an_inserted_prompt_is_not_cancelled_by_its_request() -> None:
    """Spec: the id was answered, so the notification is ignored and the work goes on."""
    go_on = anyio.Event()

    async def work(turn: Turn) -> None:
        await go_on.wait()

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        request_id = client.start_prompt(session_id)
        await client.answer(request_id)
        wrongs: list[Any] = [request_id, 999, "unknown", None, 1.5, [], {}]
        for wrong in wrongs:
            client.notify("$/cancel_request", {"requestId": wrong})
        client.notify("$/cancel_request", {})
        await settle(client)
        assert states(client) == ["running"]
        go_on.set()
        assert (await idle(client))["stopReason"] == "end_turn"


@pytest.mark.rule("V2-CANCEL-13")
async def test_only_requests_of_the_sender_can_be_withdrawn() -> None:
    """Spec: the agent's own permission request is not the client's to cancel by id."""

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Edit", kind="edit") as call:
            await turn.say(str(await call.ask("May I?")))

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        await insert(client, session_id)
        request = await client.next("session/request_permission")
        client.notify("$/cancel_request", {"requestId": request["id"]})
        await settle(client)
        assert states(client) == ["running", "requires_action"]
        client.reply(request, chosen("allow_once"))
        await idle(client)
        assert client.updates("agent_message")[0]["content"] == text("True")

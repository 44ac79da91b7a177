"""v2 as its first pages had it, for clients that were written to them: `Agent(early_v2=True)`."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio

from accord.agent import Agent, Turn
from accord.errors import RequestError
from tests.agent.raw_client import Message, RawClient, raw_client
from tests.agent.v2.play import allow, chosen, kinds, leave_open, made, text
from tests.hang_limit import HANG_SECONDS


def early(agent: Agent) -> AbstractAsyncContextManager[RawClient]:
    """A client of the first pages; the schema of today knows other forms."""
    return raw_client(agent, version=2, validate=False)


async def prompted(client: RawClient, session_id: str) -> Message:
    asked = {"sessionId": session_id, "prompt": text("go")}
    result: Message = await client.result("session/prompt", asked)
    return result


async def test_a_prompt_is_answered_with_the_stop_reason_after_all_its_updates() -> None:
    """Issue 5: no state is told, and the answer is the last that the turn says."""

    async def work(turn: Turn) -> None:
        await turn.say("hello")

    async with early(made(work, early_v2=True)) as client:
        session_id = await client.new_session()
        assert await prompted(client, session_id) == {"stopReason": "end_turn"}
        assert [kind for kind in kinds(client) if not kind.startswith("result")] == [
            "user_message",
            "agent_message",
        ]


async def test_a_plan_has_an_id() -> None:
    """Issue 5: `plan.id`, where v2 says `planId` today."""

    async def work(turn: Turn) -> None:
        await turn.plan("read", "write")

    async with early(made(work, early_v2=True)) as client:
        await prompted(client, await client.new_session())
        plan = client.updates("plan_update")[0]["plan"]
        assert (plan["id"], plan["type"]) == ("main", "items")
        assert "planId" not in plan


async def test_a_permission_request_has_its_tool_call_on_top_and_a_diff_both_texts(
    tmp_path: Path,
) -> None:
    """Issue 5: top-level `toolCall`, and `path`, `oldText`, `newText`."""
    target = tmp_path / "a.txt"
    target.write_text("one\n")
    asked: list[Any] = []

    async def work(turn: Turn) -> None:
        await turn.read_text(target)
        await turn.edit(target, "two\n")

    async with early(made(work, early_v2=True)) as client:

        def note_and_allow(params: Any) -> Any:
            asked.append(params)
            return chosen("allow_once")

        client.serve["session/request_permission"] = note_and_allow
        session_id = await client.new_session(cwd=str(tmp_path))
        assert await prompted(client, session_id) == {"stopReason": "end_turn"}
        (params,) = asked
        assert params.keys() <= {"sessionId", "toolCall", "options", "_meta"}
        diffs = [
            item
            for update in [params["toolCall"], *client.updates("tool_call_update")]
            for item in update.get("content", [])
            if item["type"] == "diff"
        ]
        assert {"path", "oldText", "newText"} <= diffs[0].keys()
        assert (diffs[0]["oldText"], diffs[0]["newText"]) == ("one\n", "two\n")
        assert not any("changes" in diff for diff in diffs)
        assert client.updates("tool_call") == []
        assert target.read_text() == "two\n"


async def test_what_a_command_prints_is_text_of_its_tool_call(tmp_path: Path) -> None:
    """Issue 5: the first pages had no terminals of the agent's own."""

    async def work(turn: Turn) -> None:
        await turn.run("echo", "printed")

    async with early(made(work, early_v2=True)) as client:
        allow(client)
        await prompted(client, await client.new_session(cwd=str(tmp_path)))
        said = str(client.updates("tool_call_update"))
        assert "printed" in said
        assert "terminal_update" not in str(client.frames)
        assert "terminal_output_chunk" not in str(client.frames)


async def test_a_cancelled_turn_is_answered_with_cancelled() -> None:
    """Issue 5: the answer to the prompt confirms the cancel, not a state."""
    begun = anyio.Event()

    async def work(turn: Turn) -> None:
        begun.set()
        await anyio.sleep_forever()

    async with early(made(work, early_v2=True)) as client:
        session_id = await client.new_session()
        first = client.start("session/prompt", {"sessionId": session_id, "prompt": text("a")})
        with anyio.fail_after(HANG_SECONDS):
            await begun.wait()
        second = client.start("session/prompt", {"sessionId": session_id, "prompt": text("b")})
        client.notify("session/cancel", {"sessionId": session_id})
        answers = [
            await client.take(lambda one: one.get("id") in (first, second)) for _ in range(2)
        ]
        assert {one["id"] for one in answers} == {first, second}
        assert [one["result"] for one in answers] == [{"stopReason": "cancelled"}] * 2


async def test_a_failed_turn_is_an_error_of_its_prompt() -> None:
    """Issue 5: the first pages had no stop reason `error`."""

    async def work(turn: Turn) -> None:
        await turn.say("so far")
        raise RequestError(-32050, "the model is away", {"reason": "model"})

    async with early(made(work, early_v2=True)) as client:
        session_id = await client.new_session()
        asked = client.start("session/prompt", {"sessionId": session_id, "prompt": text("a")})
        answer = await client.take(lambda one: one.get("id") == asked)
        assert answer["error"]["code"] == -32050
        assert answer["error"]["message"] == "the model is away"


async def test_without_the_switch_today_is_served() -> None:
    """Nobody is served what they did not ask for."""
    async with early(made()) as client:
        result = await prompted(client, await client.new_session())
        assert "messageId" in result


async def test_a_permission_that_a_cancel_overtakes_ends_the_turn() -> None:
    """The first pages: the client answers all that is open with `cancelled`."""

    async def work(turn: Turn) -> None:
        async with turn.tool_call("touch", kind="edit") as call:
            await call.ask()

    async with early(made(work, early_v2=True)) as client:
        leave_open(client, "session/request_permission")
        session_id = await client.new_session()
        asked = client.start("session/prompt", {"sessionId": session_id, "prompt": text("a")})
        request = await client.next("session/request_permission")
        client.notify("session/cancel", {"sessionId": session_id})
        client.reply(request, {"outcome": {"outcome": "cancelled"}})
        answer = await client.take(lambda one: one.get("id") == asked)
        assert answer["result"] == {"stopReason": "cancelled"}

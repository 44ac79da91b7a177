"""A client of the 2026-02 draft that goes away, cancels or refuses at any step of a turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from accord.agent import Agent, Turn
from accord.schema import v2
from tests.agent.draft.draft_client import DraftClient, draft_client
from tests.agent.raw_client import OPEN, Message
from tests.hang_limit import HANG_SECONDS

# More than the messages of the agent in the turn below.
STEPS = 32


def busy_agent(ended: list[str]) -> Agent:
    """An agent whose turn uses all that a client offers."""
    agent = Agent("busy", version="1")
    agent.add_option("model", "Model", ["a", "b"])

    @agent.on_prompt
    async def work(turn: Turn) -> None:
        try:
            await turn.plan("look", "change")
            await turn.think("hm")
            text = await turn.read_text("a.txt")
            await turn.edit("a.txt", f"{text}more\n")
            done = await turn.run("make", timeout=30)
            await turn.set_option("model", "b")
            await turn.say(done.output)
        finally:
            ended.append("ended")

    return agent


class Helpful:
    """Answers everything, and does something else with the message of a number."""

    def __init__(self, client: DraftClient, at: int, instead: Callable[[], None]) -> None:
        self._client = client
        self._left = at
        self._instead = instead
        self.happened = False
        grants = {"granted": True, "scope": "once"}
        answers: dict[str, Any] = {
            "fs/read_text_file": {"content": "one\n", "encoding": "utf-8"},
            "fs/write_text_file": {"bytesWritten": 4, "created": False},
            "session/request_permission": grants,
            "terminal/create": {"terminalId": "t"},
            "terminal/wait_for_exit": {"exitCode": 0},
            "terminal/kill": {"killed": True},
            "terminal/release": {"released": True},
            "session/update": None,
        }
        for method, answer in answers.items():
            client.serve[method] = self._served(answer)

    def _served(self, answer: Any) -> Callable[[Message], Any]:
        def serve(params: Message) -> Any:
            self._left -= 1
            if self._left == 0:
                self.happened = True
                self._instead()
            return OPEN if answer is None else answer

        return serve


@pytest.mark.parametrize("at", range(1, STEPS))
async def test_a_client_that_goes_away_ends_the_turn(at: int) -> None:
    """Issue 5: whatever was open, everything ends, and nothing is left behind."""
    ended: list[str] = []
    gone = anyio.Event()
    with anyio.fail_after(HANG_SECONDS):
        async with draft_client(busy_agent(ended)) as client:
            helpful = Helpful(client, at, gone.set)
            session = await client.new_session("/w")
            prompt = client.start_prompt(session)
            async with anyio.create_task_group() as tasks:

                async def leave() -> None:
                    await gone.wait()
                    await client.close()
                    tasks.cancel_scope.cancel()

                tasks.start_soon(leave)
                assert (await client.answer(prompt))["result"]["stopReason"] == "end_turn"
                tasks.cancel_scope.cancel()
            assert helpful.happened or not gone.is_set()
    assert ended == ["ended"]


@pytest.mark.parametrize("at", range(1, STEPS))
@pytest.mark.rule("D26-15", "D26-32")
async def test_a_turn_can_be_cancelled_at_every_step(at: int) -> None:
    """Issue 5: the statuses stay legal (the client judges), and the next turn works."""
    ended: list[str] = []
    with anyio.fail_after(HANG_SECONDS):
        async with draft_client(busy_agent(ended)) as client:
            session = await client.new_session("/w")

            def cancel() -> None:
                client.notify("session/cancel", {"sessionId": session})

            helpful = Helpful(client, at, cancel)
            result = await client.prompt(session)
            assert result["stopReason"] in (
                {"cancelled", "end_turn"} if helpful.happened else {"end_turn"}
            )
            result = await client.prompt(session)
            assert result["stopReason"] in ("end_turn", "cancelled")
            created = client.methods().count("terminal/create")
            assert client.methods().count("terminal/release") == created


@pytest.mark.parametrize("at", range(1, STEPS, 3))
async def test_an_agent_that_is_stopped_answers_in_the_drafts_numbers(at: int) -> None:
    """Its last answers are of the draft too (the client judges)."""
    ended: list[str] = []
    with anyio.fail_after(HANG_SECONDS):
        async with draft_client(busy_agent(ended)) as client:
            session = await client.new_session("/w")
            prompt = client.start_prompt(session)
            Helpful(client, at, client.stop_agent)
            answer = await client.answer(prompt)
            assert answer["result"]["stopReason"] in ("end_turn", "cancelled")


@pytest.mark.parametrize("code", [-32603, -32601, -32004, -32002, -32009, -32001, -32000, 7])
async def test_a_client_that_refuses_everything_ends_turns_only(code: int) -> None:
    """An error of the client's is never an error of its own prompt."""
    ended: list[str] = []
    async with draft_client(busy_agent(ended)) as client:
        session = await client.new_session("/w")
        prompt = client.start_prompt(session)
        while True:
            message = await client.take(lambda one: "id" in one)
            if "method" not in message:
                break
            client.refuse(message, code)
        assert message["id"] == prompt
        answer = message
        assert answer["result"]["stopReason"] in ("error", "end_turn")
        assert await client.new_session()


async def test_a_session_that_was_cut_off_says_so_when_it_is_loaded() -> None:
    """The past of a turn whose client went away ends, and its calls with it."""
    agent = Agent("cut", version="1")
    begun = anyio.Event()

    @agent.on_prompt
    async def work(turn: Turn) -> None:
        async with turn.tool_call("Wait", content=[v2.Content(content=v2.TextContent(text="x"))]):
            begun.set()
            await anyio.sleep_forever()

    async with draft_client(agent) as client:
        session = await client.new_session()
        client.start_prompt(session)
        await begun.wait()
    async with draft_client(agent) as client:
        result = await client.result("session/load", {"sessionId": session})
        assert result["messageCount"] >= 1
        assert client.statuses()[0] == "pending"
        assert client.statuses()[-1] in ("failed", "cancelled")

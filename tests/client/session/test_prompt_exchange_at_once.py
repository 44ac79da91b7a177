"""Several prompts that are open in one session, and turns that were never entered."""

from __future__ import annotations

import anyio
import pytest

from accord.client import Reply, Session
from accord.errors import LocalProtocolError
from tests.client.scripted_agent import ScriptedAgent, connected

VERSIONS = pytest.mark.parametrize("version", [1, 2])


def look(agent: ScriptedAgent, title: str) -> None:
    """A tool call, in the form of the version."""
    kind = "tool_call" if agent.version == 1 else "tool_call_update"
    agent.update({"sessionUpdate": kind, "toolCallId": title, "title": title})


async def ask_both(session: Session) -> list[Reply]:
    """Two questions, the second sent while the first is open."""
    replies: dict[str, Reply] = {}

    async def ask(text: str) -> None:
        replies[text] = await session.ask(text)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, "one")
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(ask, "two")
    return [replies["one"], replies["two"]]


def summary(reply: Reply) -> tuple[str, list[tuple[object, str]], list[str]]:
    """What a reply says."""
    said: list[tuple[object, str]] = [(one.role, one.text) for one in reply.messages]
    return reply.text, said, [call.title for call in reply.tool_calls]


@VERSIONS
async def test_each_of_two_questions_gets_its_own_reply(version: int) -> None:
    """Issue 2, fault `two prompts at once`: an agent that takes one after the other."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        first = await agent.begin_turn()
        agent.say("first", "m1")
        second = await agent.expect("session/prompt")
        agent.say(" answer", "m1")
        look(agent, "Look")
        agent.end_turn(first)
        if version == 2:
            agent.result(second, {"messageId": "u2"})
            agent.state("running")
        agent.say("second answer", "m2")
        look(agent, "Mend")
        agent.end_turn(second)

    async with connected(script, version) as (client, _):
        session = await client.new_session()
        one, two = await ask_both(session)
    assert summary(one) == (
        "first answer",
        [("user", "one"), ("agent", "first answer")],
        ["Look"],
    )
    assert summary(two) == (
        "second answer",
        [("user", "two"), ("agent", "second answer")],
        ["Mend"],
    )


async def test_a_prompt_that_joins_the_work_has_what_came_after_it() -> None:
    """v2's pages 5.5: an agent may take a prompt into the work that goes on; both end with it."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await agent.begin_turn()
        agent.say("before", "m1")
        second = await agent.expect("session/prompt")
        agent.result(second, {"messageId": "u2"})
        agent.say("after", "m2")
        agent.state("idle", stopReason="end_turn")

    async with connected(script, 2) as (client, _):
        session = await client.new_session()
        replies = await ask_both(session)
    assert [reply.text for reply in replies] == ["before\n\nafter", "after"]


@VERSIONS
async def test_a_reply_does_not_grow_after_its_turn(version: int) -> None:
    """Ours: what the next turn adds is the next turn's."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        for number in ("1", "2"):
            prompt = await agent.begin_turn()
            agent.say(f"answer {number}", f"m{number}")
            look(agent, number)
            agent.end_turn(prompt)

    async with connected(script, version) as (client, _):
        session = await client.new_session()
        async with session.prompt("one") as first:
            assert (await first.wait()).text == "answer 1"
        await session.ask("two")
        assert summary(first.reply) == (
            "answer 1",
            [("user", "one"), ("agent", "answer 1")],
            ["1"],
        )


async def test_a_turn_that_was_not_entered_says_how() -> None:
    """Ours: it used to wait for ever for an answer to a prompt that was never sent."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()

    async with connected(script) as (client, agent):
        session = await client.new_session()
        with pytest.raises(LocalProtocolError, match="enter the turn first: async with"):
            aiter(session.prompt("x"))
        turn = session.prompt("x")
        for look_at in (turn.wait, turn.cancel, turn.__anext__):
            with pytest.raises(LocalProtocolError, match="enter the turn first"):
                await look_at()
        assert turn.reply == Reply("", None)
        assert agent.sent("session/prompt") == []


async def test_what_is_said_about_a_prompt_is_not_taken_for_one_that_was_passed_over() -> None:
    """Ours, found by the simulator: a refusal may come behind the turn of a later prompt."""
    texts: dict[str, str] = {}

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        first = await agent.expect("session/prompt")
        second = await agent.expect("session/prompt")
        agent.result(second, {"messageId": "u2"})
        agent.state("running")
        agent.say("about two", "m2")
        agent.end_turn(second)
        agent.error(first, -32800)

    async with connected(script, 2) as (client, _):
        session = await client.new_session()

        async def follow(text: str) -> None:
            async with session.prompt(text) as turn:
                seen = [update.text async for update in turn]
            texts[text] = f"{seen} {turn.reply.text}"

        async with anyio.create_task_group() as tasks:
            for text in ("one", "two"):
                tasks.start_soon(follow, text)
                await anyio.wait_all_tasks_blocked()
    assert texts == {"one": "[] ", "two": "['about two'] about two"}

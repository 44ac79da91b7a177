"""Prompts that wait to be sent once more: what the agent says meanwhile is about others."""

from __future__ import annotations

from functools import partial

import anyio
import pytest

from accord.client import Reply, Session
from accord.connection.limits import Limits
from accord.errors import RequestFailed
from tests.client.scripted_agent import Json, ScriptedAgent, chunk, connected, playing_with
from tests.client.session.test_retry import WAYS, be_busy, version_of
from tests.client.test_login import answer, login_method
from tests.hang_limit import HANG_SECONDS

VERSIONS = pytest.mark.parametrize("version", [1, 2])
FULL: Json = {"code": -32603, "message": "full"}


async def ask_both(session: Session, first_waits: anyio.Event) -> dict[str, Reply]:
    """Two questions, the second asked while the first waits to be sent again."""
    replies: dict[str, Reply] = {}

    async def ask(text: str) -> None:
        replies[text] = await session.ask(text)

    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, "one")
            await first_waits.wait()
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(ask, "two")
    return replies


async def answer_turn(agent: ScriptedAgent, text: str, message_id: str) -> None:
    """Take the next prompt, say something, and end."""
    prompt = await agent.begin_turn()
    assert prompt["params"]["prompt"][0]["text"] == text
    agent.say(f"about {text}", message_id)
    agent.end_turn(prompt)


@WAYS
async def test_the_reply_to_another_prompt_is_not_given_to_one_that_waits(way: str) -> None:
    """Ours, found by the simulator: a prompt that was too early got what the next one was told."""
    waits = anyio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await be_busy(agent, way, seconds=0.1)
        waits.set()
        await answer_turn(agent, "two", "m2")
        await answer_turn(agent, "one", "m1")

    async with connected(script, version_of(way), retry=1) as (client, _):
        replies = await ask_both(await client.new_session(), waits)
    assert {text: reply.text for text, reply in replies.items()} == {
        "one": "about one",
        "two": "about two",
    }


@VERSIONS
async def test_prompts_that_logged_in_are_told_apart_in_the_order_of_the_wire(version: int) -> None:
    """Ours: the one whose login was the last is also answered last."""
    waits = anyio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        agent.error(await agent.expect("session/prompt"), -32000)
        login = await agent.expect(login_method(version))
        waits.set()
        await answer_turn(agent, "two", "m2")
        agent.result(login, {})
        await answer_turn(agent, "one", "m1")

    async with playing_with(answer(version), script, version, login="key") as (client, _):
        replies = await ask_both(await client.new_session(), waits)
    assert [replies[text].text for text in ("one", "two")] == ["about one", "about two"]


@VERSIONS
async def test_a_prompt_that_waits_for_a_place_is_the_last_in_the_line(version: int) -> None:
    """Ours, found by the simulator: the same where too many requests are open."""
    both_wait = anyio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        first = await agent.expect("_wait")
        await both_wait.wait()
        agent.result(first, {})
        for _ in range(2):
            prompt = await agent.begin_turn()
            text = prompt["params"]["prompt"][0]["text"]
            agent.say(f"about {text}", f"m{text}")
            agent.end_turn(prompt)

    replies: dict[str, Reply] = {}

    async def ask(session: Session, text: str) -> None:
        replies[text] = await session.ask(text)

    async with connected(script, version, limits=Limits(pending_requests=1)) as (client, _):
        session = await client.new_session()
        with anyio.fail_after(HANG_SECONDS):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_extension, "_wait")
                await anyio.wait_all_tasks_blocked()
                tasks.start_soon(ask, session, "one")
                tasks.start_soon(ask, session, "two")
                await anyio.wait_all_tasks_blocked()
                both_wait.set()
    assert [replies[text].text for text in ("one", "two")] == ["about one", "about two"]


@VERSIONS
async def test_a_prompt_that_was_never_sent_holds_no_reading(version: int) -> None:
    """Ours, found by the simulator: what came for it made the reading wait for its program, which
    waited for its place, which was to be read."""
    waits = anyio.Event()
    commands = {"sessionUpdate": "available_commands_update", "availableCommands": []}

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        first = await agent.expect("_wait")
        await waits.wait()
        for _ in range(3):
            agent.update(commands)
        await anyio.wait_all_tasks_blocked()
        agent.result(first, {})
        agent.end_turn(await agent.begin_turn())

    limits = Limits(pending_requests=1, turn_updates=1)
    async with connected(script, version, limits=limits) as (client, _):
        session = await client.new_session()
        with anyio.fail_after(HANG_SECONDS):
            async with anyio.create_task_group() as tasks:
                # In the background, as a prompt is: a call that is waited for keeps reading alive.
                call = client._core.link.connection.call
                tasks.start_soon(partial(call, "_wait", b"{}", background=True))
                await anyio.wait_all_tasks_blocked()
                tasks.start_soon(session.ask, "one")
                await anyio.wait_all_tasks_blocked()
                waits.set()


async def test_a_refusal_is_taken_before_what_comes_behind_it() -> None:
    """Ours, found by the simulator: one that had waited for a place was told what the next was."""
    asked, sent, replies = anyio.Event(), anyio.Event(), dict[str, str]()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        first, second = await agent.begin_turn(), await agent.begin_turn()
        await asked.wait()
        agent.end_turn(first)
        third = await agent.begin_turn()
        sent.set()
        agent.end_turn(second)
        fourth = await agent.begin_turn()
        said = [agent.update_message(chunk(text, text)) for text in ("about", "four")]
        agent.write({"jsonrpc": "2.0", "id": third["id"], "error": FULL}, *said)
        agent.end_turn(fourth)

    async with connected(script, 1, limits=Limits(pending_requests=2)) as (client, _):
        session = await client.new_session()

        async def ask(text: str) -> None:
            try:
                replies[text] = (await session.ask(text)).text
            except RequestFailed as error:
                replies[text] = error.message

        async with anyio.create_task_group() as tasks:
            for text in ("one", "two", "three"):
                tasks.start_soon(ask, text)
                await anyio.wait_all_tasks_blocked()
            # The last one waits for a place.
            asked.set()
            await sent.wait()
            tasks.start_soon(ask, "four")
    assert replies == {"one": "", "two": "", "three": "full", "four": "about\n\nfour"}

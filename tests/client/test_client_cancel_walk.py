"""Cancel at every step of a turn: whatever has happened so far, it ends `cancelled` and in time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import pytest

from accord.client import Extensions
from accord.connection.limits import Limits
from tests.client.deciders import Undecided
from tests.client.scripted_agent import Json, ScriptedAgent, connected

Step = Callable[[ScriptedAgent, Json], Awaitable[None]]

OPEN_CALL: Json = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "T"}


async def _nothing(agent: ScriptedAgent, prompt: Json) -> None:
    pass


async def _begin(agent: ScriptedAgent, prompt: Json) -> None:
    if agent.version == 2:
        agent.result(prompt, {"messageId": "u"})
        agent.state("running")


async def _say(agent: ScriptedAgent, prompt: Json) -> None:
    agent.say("words")


async def _announce(agent: ScriptedAgent, prompt: Json) -> None:
    agent.update({**OPEN_CALL, "status": "pending"})


async def _ask(agent: ScriptedAgent, prompt: Json) -> None:
    agent.ask_permission("t")


async def _progress(agent: ScriptedAgent, prompt: Json) -> None:
    agent.update({**OPEN_CALL, "status": "in_progress"})


async def _complete(agent: ScriptedAgent, prompt: Json) -> None:
    agent.update({**OPEN_CALL, "status": "completed"})


STEPS: dict[str, Step] = {
    "the prompt is sent": _nothing,
    "work begins": _begin,
    "the agent speaks": _say,
    "a tool call is announced": _announce,
    "permission is asked for": _ask,
    "the call is in progress": _progress,
    "the call is completed": _complete,
}


@pytest.mark.rule("V1-CANCEL-09", "V1-CANCEL-03")
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("by", ["cancel", "leaving"])
@pytest.mark.parametrize("last", list(STEPS))
async def test_a_turn_can_be_cancelled_after_every_step(version: int, by: str, last: str) -> None:
    """Issue 2: cancel at every step of a turn; a test walks them all."""
    reached = anyio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.expect("session/prompt")
        for name, step in STEPS.items():
            await step(agent, prompt)
            if name == last:
                break
        agent.write({"jsonrpc": "2.0", "method": "_reached", "params": {}})
        message = await agent.next()
        while message.get("method") != "session/cancel":
            message = await agent.next()
        if version == 2 and last == "the prompt is sent":
            agent.error(prompt, -32800, "Request cancelled")
        else:
            agent.end_turn(prompt, "cancelled")

    limits = Limits(close_seconds=3)
    undecided = Undecided()
    extensions = Extensions()
    extensions.notification("_reached")(lambda params: reached.set())
    options = {"permissions": undecided, "limits": limits, "extensions": extensions}
    async with connected(script, version, **options) as (client, _):
        session = await client.new_session()
        async with session.prompt("go") as turn:
            await reached.wait()
            if by == "cancel":
                await turn.cancel()
                await turn.wait()
        assert turn.stop_reason == "cancelled"
        assert turn.error is None
        assert not session.is_busy
        await anyio.wait_all_tasks_blocked()
        assert session._state.questions == set()
        names = [call.status for call in session.transcript.tool_calls if not call.cancelled]
        assert set(names) <= {"completed"}


@pytest.mark.parametrize("version", [1, 2])
async def test_a_cancel_when_nothing_runs_is_sent_and_changes_nothing(version: int) -> None:
    """v1's pages 4.6: cancel with no turn running is ignored by the agent."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await agent.expect("session/cancel")
        prompt = await agent.begin_turn()
        agent.end_turn(prompt)

    async with connected(script, version) as (client, _):
        session = await client.new_session()
        await session.cancel()
        assert (await session.ask("go")).stop_reason == "end_turn"

"""A client's block, left in ways that its own body did not choose."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from accord.client import Client
from accord.client.connection.client_lifecycle import meant
from accord.client.connection.extensions import Extensions
from accord.client.permissions.permissions import Permissions
from accord.client.session.session import PromptTurn
from accord.errors import LocalProtocolError
from accord.transport.memory import memory_pair
from tests.client.scripted_agent import BARE, Json, ScriptedAgent, connected, playing
from tests.hang_limit import HANG_SECONDS

EXITS = [SystemExit(7), KeyboardInterrupt()]


async def left(script: Any, version: int, leaving: BaseException, **options: Any) -> None:
    """The block around a question that goes on for ever is left by this very exception."""

    async def block() -> None:
        async with connected(script, version, **options) as (client, _):
            session = await client.new_session()
            await session.ask("a")

    with pytest.raises(type(leaving)) as caught:
        await block()
    assert caught.value is leaving


@pytest.mark.parametrize("leaving", EXITS)
@pytest.mark.parametrize("version", [1, 2])
async def test_an_exit_in_a_permission_callback_leaves_the_block(
    version: int, leaving: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ours: no group, no traceback of ours, and the agent is not left without an answer."""
    answers: list[Json] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await agent.begin_turn()
        asked = agent.ask_permission()
        while not answers:
            message = await agent.next()
            answers.extend([message] if message.get("id") == asked else [])

    def decide(request: object) -> bool:
        raise leaving

    await left(script, version, leaving, permissions=Permissions.ask(decide))
    assert [answer["error"]["code"] for answer in answers] == [-32800]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("leaving", EXITS)
async def test_an_exit_in_any_other_callback_leaves_the_block(
    leaving: BaseException,
) -> None:
    """Ours."""

    async def leave(*arguments: object) -> None:
        await anyio.lowlevel.checkpoint()
        raise leaving

    async def wants_login(agent: ScriptedAgent) -> None:
        await agent.open_session()
        agent.error(await agent.expect("session/prompt"), -32000)

    async def tells(agent: ScriptedAgent) -> None:
        await agent.open_session()
        agent.write({"jsonrpc": "2.0", "method": "_x/tell", "params": {}})

    extensions = Extensions()
    extensions.notification("_x/tell")(leave)
    await left(wants_login, 1, leaving, login=leave)
    await left(tells, 1, leaving, extensions=extensions)


TALKS = """
import anyio
from accord import Agent, Turn
agent = Agent("talks", version="1.0.0")
@agent.on_prompt
async def talk(turn: Turn) -> None:
    await turn.say("a")
    await anyio.sleep_forever()
agent.run()
"""


@pytest.mark.parametrize("leaving", EXITS)
async def test_an_exit_in_a_listener_of_updates_leaves_the_block(
    leaving: BaseException,
) -> None:
    """Ours: it is called where no task runs, and everything is closed all the same."""

    def leave(update: object) -> None:
        raise leaving

    async def block() -> None:
        async with Client.spawn(sys.executable, "-c", TALKS) as client:
            session = await client.new_session(on_update=leave)
            await session.ask("a")

    with anyio.fail_after(HANG_SECONDS), pytest.raises(type(leaving)) as caught:
        await block()
    assert caught.value is leaving


async def test_a_client_is_entered_once() -> None:
    """Ours: what the event loop says about it helps nobody."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.shake_hands()

    async with playing(script) as (_, transport):
        opening = Client.connect(transport, **BARE)
        async with opening:
            with pytest.raises(LocalProtocolError, match="entered only once"):
                await opening.__aenter__()
        with pytest.raises(LocalProtocolError, match="entered only once"):
            await opening.__aenter__()


def test_what_is_meant_is_the_end_of_the_program_else_the_only_one_there_is() -> None:
    """Ours."""
    stop, bad, worse = SystemExit(3), ValueError("bad"), ValueError("worse")
    assert meant(BaseExceptionGroup("", [bad, BaseExceptionGroup("", [stop])])) is stop
    assert meant(BaseExceptionGroup("", [BaseExceptionGroup("", [bad])])) is bad
    two: BaseExceptionGroup[BaseException] = BaseExceptionGroup("", [bad, worse])
    assert meant(two) is two
    inner = meant(BaseExceptionGroup("", [two]))
    assert isinstance(inner, BaseExceptionGroup)
    assert inner.exceptions == (bad, worse)


@pytest.mark.parametrize("version", [1, 2])
async def test_a_program_that_is_cancelled_cancels_its_turn_before_it_goes(version: int) -> None:
    """Design: leaving a turn cancels it and waits for it, whoever it was that wanted to leave."""
    told: list[str] = []
    turns: list[PromptTurn] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.shake_hands()
        await agent.open_session()
        prompt = await agent.begin_turn()
        agent.say("a")
        told.append((await agent.next())["method"])
        agent.end_turn(prompt, "cancelled")

    async with playing(script, version) as (_, transport):
        with anyio.CancelScope() as scope:
            async with Client.connect(transport, **BARE) as client:
                session = await client.new_session()
                async with session.prompt("a") as turn:
                    turns.append(turn)
                    async for _update in turn:
                        scope.cancel()
                        await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert told == ["session/cancel"]
    assert [turn.stop_reason for turn in turns] == ["cancelled"]


@pytest.mark.parametrize("count", range(1, 6))
@pytest.mark.parametrize("version", [1, 2])
async def test_a_cancelled_task_is_not_told_of_a_lost_connection(version: int, count: int) -> None:
    """Ours: at whatever moment a deadline comes, even with an answer."""
    heard: list[bytes] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.shake_hands()
        for number in range(4):
            agent.session_id = f"s{number}"
            await agent.open_session()

    async with playing(script, version) as (_, transport):
        with anyio.CancelScope() as scope:

            def listen(way: str, data: bytes) -> None:
                heard.extend([data] if way == "received" else [])
                if len(heard) == count:
                    scope.cancel()

            options: Json = {**BARE, "traffic": listen}
            async with Client.connect(transport, **options) as client:
                for _ in range(4):
                    await client.new_session()
                await anyio.sleep_forever()
    assert scope.cancelled_caught


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("steps", range(1, 16))
async def test_a_task_that_asyncio_cancels_while_it_connects_ends(steps: int) -> None:
    """Ours: `asyncio.timeout` and Ctrl-C cancel at any step, also at that of the connection."""
    near, _far = memory_pair()

    async def program() -> None:
        async with Client.connect(near, **BARE):
            raise AssertionError("nobody answers")

    task = asyncio.create_task(program())
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    with anyio.fail_after(HANG_SECONDS):
        await asyncio.wait([task])
    assert task.cancelled()


AGENT = """
from accord import Agent, Turn
agent = Agent("starter", version="1.0.0")
@agent.on_prompt
async def go(turn: Turn) -> None:
    await turn.start("sh", "-c", "echo $$ > terminal.pid; exec sleep 600")
    while not __import__("os").path.exists(f"{turn.cwd}/terminal.pid"):
        await __import__("anyio").sleep(0.01)
    await turn.edit("x.txt", "x")
agent.run()
"""
PROGRAM = """
import sys
import anyio
import anyio.lowlevel
from accord import Client, Permissions

def decide(request):
    if request.kind == "edit":
        sys.exit(7)
    return True

async def main(version):
    choices = {"permissions": Permissions.ask(decide), "versions": [int(version)]}
    async with Client.spawn(sys.executable, "agent.py", **choices) as client:
        session = await client.new_session()
        await session.ask("go")

anyio.run(main, sys.argv[1])
"""


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_program_that_exits_in_a_callback_ends_so_and_leaves_nothing_behind(
    version: str, tmp_path: Path
) -> None:
    """Issue 2, 3: no crash and no orphan process."""
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "program.py").write_text(PROGRAM)
    ended = subprocess.run(
        [sys.executable, "program.py", version],
        cwd=tmp_path,
        timeout=HANG_SECONDS,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (7, "", "")
    pid = int((tmp_path / "terminal.pid").read_text())
    assert not Path(f"/proc/{pid}").exists()

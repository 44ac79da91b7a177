"""The path of one prompt through the folders, as ARCHITECTURE.md describes it."""

import math
import sys
from itertools import pairwise
from pathlib import Path
from types import FrameType

import anyio
import pytest

import accord
from accord import Agent, Client, Permissions, Session, Turn
from accord.connection import connection
from accord.transport.memory import memory_pair

FOLDER_SWITCHES_MAX = 80
PROMPTS = 5
ROOT = Path(accord.__file__).parent
PAGE = (Path(__file__).parents[2] / "ARCHITECTURE.md").read_text()


async def folders_of_prompt(session: Session) -> list[str]:
    """The folder of each function of ours that one prompt calls, in order."""
    folders: list[str] = []

    def note(frame: FrameType, event: str, argument: object) -> None:
        del argument
        place = Path(frame.f_code.co_filename)
        if event == "call" and place.is_relative_to(ROOT):
            folders.append(place.relative_to(ROOT).parts[0])

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        async with session.prompt("hello") as turn:
            async for _ in turn:
                pass
    finally:
        sys.setprofile(before)
    return folders


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_prompt_changes_folders_seldom(
    version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 15: fewer than 80 times; the least of some prompts, for the first may fill a cache."""
    # A sender lets others run after some milliseconds: on a slow machine within each prompt, which
    # then takes nine switches more.
    monkeypatch.setattr(connection, "YIELD_SECONDS_MAX", math.inf)
    agent = Agent("walk", version="1")

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        await turn.say("hi")

    ours, theirs = memory_pair()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(agent.serve, ours)
        permissions = Permissions.allow_all()
        async with Client.connect(theirs, permissions=permissions, versions=(version,)) as client:
            session = await client.new_session(cwd=".")
            await session.ask("load everything")
            paths = [await folders_of_prompt(session) for _ in range(PROMPTS)]
        tasks.cancel_scope.cancel()
    switches = min(1 + sum(one != other for one, other in pairwise(path)) for path in paths)
    assert {"client", "connection", "jsonrpc", "transport", "agent", "transcript"} <= set(paths[0])
    assert switches < FOLDER_SWITCHES_MAX
    # Section 4 of the page gives the number.
    assert f" {switches} times" in PAGE

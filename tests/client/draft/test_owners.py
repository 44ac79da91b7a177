"""Whose a request is that names no session: several sessions with an agent of the 2026-02 draft."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from accord.client.permissions.permissions import Permissions
from tests.client.draft.draft_script import drafting, open_session
from tests.client.scripted_agent import Json, ScriptedAgent

FREE: Json = {"permissions": Permissions.allow_all(), "files": True}


@pytest.mark.rule("D26-01", "D26-02")
async def test_a_path_belongs_to_the_session_that_works_there(tmp_path: Path) -> None:
    """The draft's table 4: path, else the running prompt, else the only session."""
    for name in ("a", "b", "a/in"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.txt").write_text(name)
    answers: list[Json] = []
    alone, all_there = anyio.Event(), anyio.Event()

    async def read(agent: ScriptedAgent, path: str) -> None:
        request = agent.request("fs/read_text_file", {"path": path})
        answers.append(await agent.answer_to(request))

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent, "s1")
        # The only one.
        await read(agent, "x.txt")
        alone.set()
        await open_session(agent, "s2")
        await open_session(agent, "s3")
        # By the innermost folder.
        await read(agent, str(tmp_path / "a" / "x.txt"))
        await read(agent, str(tmp_path / "a" / "in" / "x.txt"))
        await read(agent, "x.txt")
        all_there.set()
        prompt = await agent.expect("session/prompt")
        # The one whose turn runs.
        await read(agent, "x.txt")
        agent.result(prompt, {"stopReason": "end_turn"})

    async with drafting(script, **FREE) as (client, _):
        first = await client.new_session(tmp_path / "a")
        await alone.wait()
        second = await client.new_session(tmp_path / "b")
        await client.new_session(tmp_path / "a" / "in")
        await all_there.wait()
        await second.ask("x")
        assert not first.is_busy
    contents = [answer.get("result", {}).get("content") for answer in answers]
    assert contents == ["a", "a", "a/in", None, "b"]
    assert answers[3]["error"]["code"] == -32006


@pytest.mark.rule("D26-33")
async def test_without_a_session_there_is_nobody_to_ask_for() -> None:
    """The draft's table 4: else -32006."""
    answers: list[Json] = []

    async def script(agent: ScriptedAgent) -> None:
        request = agent.request("fs/read_text_file", {"path": "/x"})
        answers.append(await agent.answer_to(request))
        await open_session(agent)

    async with drafting(script, **FREE) as (client, _):
        await client.new_session()
    assert answers[0]["error"]["code"] == -32006
    assert "no session" in answers[0]["error"]["message"]

"""Modes of the built-in agent: they change what it really does, and what is asked for."""

from pathlib import Path
from typing import Any

import pytest

from accord.builtin.demo_project import write_demo_project
from tests.agent.raw_client import RawClient, raw_client
from tests.builtin.agent.turns import begin, made, option, say, spoken

EDIT = "change 'no values' to 'nothing' in calc.py"
COMMAND = "$ touch made"


def answering(client: RawClient, chosen: str) -> list[dict[str, Any]]:
    """Answer every question with the option of this id; the questions, as they come."""
    asked: list[dict[str, Any]] = []

    def answer(params: dict[str, Any]) -> dict[str, Any]:
        asked.append(params)
        return {"outcome": {"outcome": "selected", "optionId": chosen}}

    client.serve["session/request_permission"] = answer
    return asked


async def begin_in(client: RawClient, folder: Path, mode: str) -> str:
    """A session in a mode."""
    write_demo_project(folder)
    session: str = (await begin(client, folder))["sessionId"]
    wanted: dict[str, Any] = {"sessionId": session, "configId": "mode", "value": mode}
    wanted |= {} if client.version == 1 else {"type": "id"}
    await client.result("session/set_config_option", wanted)
    return session


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("mode", "questions", "edited", "ran"),
    [
        ("ask", 2, True, True),
        ("read-only", 0, False, False),
        ("auto-edit", 1, True, True),
        ("full-access", 0, True, True),
        ("plan", 0, False, False),
    ],
)
async def test_a_mode_decides_what_is_asked_and_done(
    mode: str, questions: int, edited: bool, ran: bool, version: int, tmp_path: Path
) -> None:
    """Issue 3: modes change real policy, and every question says why."""
    async with raw_client(made(in_memory=True), version=version) as client:
        asked = answering(client, "allow_once")
        session = await begin_in(client, tmp_path, mode)
        await say(client, session, EDIT)
        await say(client, session, COMMAND)
        assert len(asked) == questions
        assert ("nothing" in (tmp_path / "calc.py").read_text()) is edited
        assert (tmp_path / "made").exists() is ran
        if version == 2:
            assert all(one.get("description") for one in asked)
        if not edited:
            assert "not possible" in spoken(client)


@pytest.mark.parametrize(("chosen", "mode"), [("ask", "ask"), ("stay", "plan")])
@pytest.mark.parametrize("version", [1, 2])
async def test_leaving_plan_mode_is_asked_for(
    chosen: str, mode: str, version: int, tmp_path: Path
) -> None:
    """Issue 3: a plan mode whose exit asks permission."""
    async with raw_client(made(in_memory=True), version=version) as client:
        asked = answering(client, chosen)
        session = await begin_in(client, tmp_path, "plan")
        await say(client, session, "/plan add a --json flag")
        assert len(asked) == 1
        assert "switch_mode" in str(asked[0])
        updates = client.updates("config_option_update")
        told = [option(update, "mode")["currentValue"] for update in updates]
        assert (told[-1:] or ["plan"]) == [mode]


async def test_auto_approval_asks_nothing_and_refuses_what_the_mode_refuses(tmp_path: Path) -> None:
    """Issue 3: auto-approval is a config option."""
    async with raw_client(made(in_memory=True), version=2) as client:
        asked = answering(client, "reject_once")
        session = await begin_in(client, tmp_path, "ask")
        switch = {"sessionId": session, "configId": "auto_approve", "type": "boolean"}
        await client.result("session/set_config_option", {**switch, "value": True})
        await say(client, session, EDIT)
        assert "nothing" in (tmp_path / "calc.py").read_text()
        assert asked == []

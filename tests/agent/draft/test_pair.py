"""Our own client and our own agent, which speak the 2026-02 draft with each other."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from accord import Client, PermissionRequest, Permissions
from accord.client.options import DraftOptions
from tests.agent.draft.only_draft import OnlyDraft
from tests.hang_limit import HANG_SECONDS

PROGRAM = """
from accord import Agent
from accord.agent.session.agent_session import session_state

agent = Agent("pair", version="1.0.0")
agent.add_mode("default", "Default")
agent.add_mode("plan", "Plan")

@agent.on_prompt
async def work(turn):
    await turn.plan("one", "two")
    async with turn.message() as message:
        await message.write("hel")
        await message.write("lo")
    changed = await turn.edit("a.txt", "new\\\\n", reason="to change it")
    done = await turn.run("sh", "-c", "echo out; echo err >&2; exit 3")
    words = (changed, done.exit_code, done.stdout, done.stderr, turn.mode)
    await turn.say(f" {words} {type(session_state(turn.session).wire).__name__}")

agent.run()
"""


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.rule("D26-12", "D26-34")
async def test_a_whole_turn_between_our_own_two_ends(tmp_path: Path) -> None:
    """Issue 5: both ends honour the draft's own fields: streams apart, exit code, permission."""
    (tmp_path / "a.txt").write_text("old\n")
    asked: list[str] = []

    async def agree(request: PermissionRequest) -> bool:
        asked.append(request.kind)
        return True

    program = PROGRAM.replace("\\\\", "\\")
    spawned = Client.spawn(
        sys.executable,
        "-c",
        program,
        draft=DraftOptions(dialects=OnlyDraft()),
        permissions=Permissions.ask(agree),
    )
    with anyio.fail_after(HANG_SECONDS):
        async with spawned as client:
            session = await client.new_session(tmp_path)
            await session.set_mode("plan")
            reply = await session.ask("go")
    assert asked == ["edit", "execute"]
    assert (tmp_path / "a.txt").read_text() == "new\n"
    assert "hello" in reply.text
    assert "(True, 3, 'out\\n', 'err\\n', 'plan') DetailedWire" in reply.text
    assert reply.stop_reason == "end_turn"
    assert [call.status for call in reply.tool_calls] == ["completed", "failed"]

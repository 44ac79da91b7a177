"""Instructions that a client brings for the model."""

from __future__ import annotations

from typing import Any

import pytest

from accord.agent import Turn
from tests.agent.raw_client import raw_client
from tests.agent.unstable.play import again, listed, made, reopen, run_turn

IMAGE = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
TEXT = {"type": "text", "text": "be brief"}


def prompt(*blocks: Any, mode: str = "append") -> dict[str, Any]:
    return {"mode": mode, "content": list(blocks)}


@pytest.mark.rule("V1-SESS-25")
@pytest.mark.parametrize(
    ("given", "path"),
    [
        (prompt(TEXT, mode="_louder"), "$.systemPrompt.mode"),
        (prompt(TEXT, mode="override"), "$.systemPrompt.mode"),
        (prompt(TEXT, IMAGE), "$.systemPrompt.content[1].type"),
        (prompt({"type": "_new"}), "$.systemPrompt.content[0].type"),
        (prompt(), "$.systemPrompt.content"),
    ],
)
async def test_a_prompt_that_cannot_be_applied_makes_no_session(
    version: int, given: dict[str, Any], path: str
) -> None:
    """Spec: an error, never another mode, and no session."""
    agent = made()
    agent.accept_system_prompt()
    async with raw_client(agent, version=version) as client:
        params = {"cwd": "/tmp", "mcpServers": [], "systemPrompt": given}
        error = await client.error("session/new", params)
        assert (error["code"], error["data"]["path"]) == (-32602, path)
        assert await listed(client) == {}


@pytest.mark.rule("V1-SESS-25")
async def test_an_agent_that_takes_none_refuses_one(version: int) -> None:
    """Spec: what was not advertised cannot be applied."""
    async with raw_client(made(), version=version) as client:
        params = {"cwd": "/tmp", "mcpServers": [], "systemPrompt": prompt(TEXT)}
        assert (await client.error("session/new", params))["code"] == -32602


async def test_the_handler_sees_the_prompt_and_a_stored_session_keeps_it(version: int) -> None:
    """Ours: absent keeps the stored one; load, resume and fork may bring another."""
    seen: list[tuple[str | None, bool]] = []

    async def look(turn: Turn) -> None:
        seen.append((turn.session.system_prompt, turn.session.system_prompt_overrides))

    agent = made(look)
    agent.accept_system_prompt(override=True)
    async with raw_client(agent, version=version) as client:
        plain = await client.new_session(systemPrompt=None)
        await run_turn(client, version, plain)
        session_id = await client.new_session(systemPrompt=prompt(TEXT, TEXT))
        await run_turn(client, version, session_id)
        await client.result("session/close", {"sessionId": session_id})
        await client.result(again(version), reopen(version, session_id))
        await run_turn(client, version, session_id)
        other = prompt({"type": "text", "text": "obey"}, mode="override")
        await client.result("session/resume", reopen(version, session_id, systemPrompt=other))
        await run_turn(client, version, session_id)
        fork = {"sessionId": session_id, "cwd": "/tmp", "systemPrompt": prompt(TEXT)}
        forked = (await client.result("session/fork", fork))["sessionId"]
        await run_turn(client, version, forked)
        await run_turn(client, version, session_id)
    assert seen == [
        (None, False),
        ("be brief\nbe brief", False),
        ("be brief\nbe brief", False),
        ("obey", True),
        ("be brief", False),
        ("obey", True),
    ]

"""A question shows its change first, and our clients find the reason behind it (issue 14)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord import Client, PermissionRequest, Permissions
from accord.agent import Agent, Turn
from accord.client.options import DraftOptions
from accord.translate.diffs import diff_of
from tests.agent.draft.only_draft import OnlyDraft
from tests.agent.raw_client import raw_client
from tests.agent.v2.play import chosen, insert
from tests.hang_limit import HANG_SECONDS

REASON = "The test wants another name"

PROGRAM = f"""
import sys
from accord import Agent

agent = Agent("editor", version="1.0.0", versions=[int(sys.argv[1])])

@agent.on_prompt
async def work(turn):
    await turn.edit("a.txt", "new" + chr(10), reason={REASON!r})

agent.run()
"""


def made(*content: Any) -> Agent:
    """An agent that asks for a call with some content."""
    agent = Agent("asks", version="1.0")

    @agent.on_prompt
    async def work(turn: Turn) -> None:
        async with turn.tool_call("Edit", kind="edit", content=content) as call:
            await call.ask(None if turn.text == "say nothing" else REASON)

    return agent


DIFF = diff_of("/tmp/a.txt", "old\n", "new\n")


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ([DIFF], ["diff", REASON]),
        (["said before", DIFF], ["diff", REASON, "said before"]),
        ([DIFF, "said before", DIFF], ["diff", "diff", REASON, "said before"]),
        (["said before"], [REASON, "said before"]),
        ([], [REASON]),
    ],
)
async def test_v1_shows_changes_then_the_reason_then_the_rest(
    content: list[Any], shown: list[str]
) -> None:
    """CodeCompanion shows a change before consent where it is the first item."""
    async with raw_client(made(*content)) as client:
        turn = client.start_prompt(await client.new_session())
        request = await client.next("session/request_permission")
        client.reply(request, chosen("allow_once"))
        await client.answer(turn)
    assert items(request["params"]["toolCall"]) == shown


async def test_a_change_is_first_without_a_reason_too() -> None:
    """In v1 and v2 alike; what has no content sends none."""
    async with raw_client(made("said before", DIFF), version=2) as client:
        await insert(client, await client.new_session(), "say nothing")
        request = await client.next("session/request_permission")
        assert items(request["params"]["subject"]["toolCall"]) == ["diff", "said before"]
        assert "description" not in request["params"]
        client.reply(request, chosen("allow_once"))
    async with raw_client(made("said before", DIFF)) as client:
        turn = client.start_prompt(await client.new_session(), "say nothing")
        request = await client.next("session/request_permission")
        assert items(request["params"]["toolCall"]) == ["diff", "said before"]
        client.reply(request, chosen("allow_once"))
        await client.answer(turn)
    async with raw_client(made()) as client:
        turn = client.start_prompt(await client.new_session(), "say nothing")
        request = await client.next("session/request_permission")
        assert "content" not in request["params"]["toolCall"]
        client.reply(request, chosen("allow_once"))
        await client.answer(turn)


def items(call: dict[str, Any]) -> list[str]:
    """Each item in a word: its text, or what it is."""
    return [
        one["content"]["text"] if one["type"] == "content" else one["type"]
        for one in call["content"]
    ]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("to", ["1", "2", "draft"])
@pytest.mark.parametrize("own", ["1", "2", "draft"])
async def test_our_client_finds_the_reason_in_every_version(
    own: str, to: str, tmp_path: Path
) -> None:
    """Issue 14: directly, and behind `accord translate` in all directions."""
    (tmp_path / "a.txt").write_text("old\n")
    (tmp_path / "agent.py").write_text(PROGRAM)
    asked: list[PermissionRequest] = []

    async def agree(request: PermissionRequest) -> bool:
        asked.append(request)
        return True

    command = [sys.executable, str(tmp_path / "agent.py"), "2" if own == "2" else "1"]
    if own != to:
        translate = ["-m", "accord", "translate", "--quiet", "--from", own, "--to", to]
        command = [sys.executable, *translate, "--", *command]
    how: dict[str, Any] = {"draft": DraftOptions(dialects=OnlyDraft())}
    if to != "draft":
        how = {"versions": (int(to),)}
    spawned = Client.spawn(*command, cwd=tmp_path, permissions=Permissions.ask(agree), **how)
    with anyio.fail_after(HANG_SECONDS):
        async with spawned as client:
            session = await client.new_session(tmp_path)
            await session.ask("go")
    [request] = asked
    assert request.reason is not None
    assert request.reason.startswith(REASON)
    assert request.tool_call is not None
    if own != "draft":
        assert [diff.path for diff in request.tool_call.diffs] == [str(tmp_path / "a.txt")]
        assert request.tool_call.text in ("", REASON)
    assert (tmp_path / "a.txt").read_text() == "new\n"

"""The client that the kit plays, where a program does what it should not."""

from pathlib import Path

import anyio
import pytest

from accord.conformance.agent.client_messages import DIALECTS
from accord.conformance.frames.raw_peer import Message, RawPeer, Reply
from accord.conformance.rule_definition import Version
from tests.hang_limit import HANG_SECONDS


class Silent(RawPeer):
    """Has responders, and nobody to talk with."""

    def __init__(self) -> None:
        self.responders = {}

    async def answer(self, method: str, params: Message) -> Reply | None:
        return await self.responders[method](params)


@pytest.mark.parametrize("version", ["1", "2", "draft"])
async def test_a_program_that_asks_while_it_is_ended_starts_nothing(
    version: Version, tmp_path: Path
) -> None:
    """Issue: a run never trusts the judged; a late `terminal/create` ended the whole run."""
    peer = Silent()
    params: Message = {"command": "sh", "args": ["-c", "echo $$ > started; sleep 60"]}
    answers: list[Reply | None] = []
    with anyio.fail_after(HANG_SECONDS):
        tasks = anyio.create_task_group()
        async with tasks:
            pass
        host = DIALECTS[version].host(tmp_path, tasks)
        host.serve(peer)

        async def late() -> None:
            answers.append(await peer.answer("terminal/create", params))

        async with anyio.create_task_group() as others:
            # One is being started when the end comes, another is asked for behind it.
            others.start_soon(late)
            await anyio.lowlevel.checkpoint()
            await host.end()
            await late()
    assert [one.error and one.error["code"] for one in answers if one] == [-32603, -32603]
    assert host.terminals == {}

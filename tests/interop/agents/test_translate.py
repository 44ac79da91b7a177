"""codex-acp speaks both versions itself: what a translator makes of its v1 can be compared."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accord import Client, Permissions
from tests.fake_llm import FakeLLM, serve
from tests.interop.agents.peers import PEERS, Bench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]
CODEX = PEERS[0]


@pytest.fixture
def anyio_backend() -> str:
    """Processes take long enough on one."""
    return "asyncio"


@pytest.fixture(scope="module")
def model() -> Iterator[FakeLLM]:
    with serve() as server:
        yield server


async def told(bench: Bench, command: list[str]) -> tuple[list[str], list[Any], list[Any]]:
    """The messages, the tool calls and the stop reasons of a conversation in v2."""
    made = bench.project / "made.txt"
    made.unlink(missing_ok=True)
    stops: list[Any] = []
    async with Client.spawn(
        *command,
        env=bench.env,
        cwd=bench.project,
        permissions=Permissions.allow_all(),
        versions=(2,),
    ) as client:
        session = await client.new_session(cwd=bench.project)
        for prompt in ("[[say Hello from the model.]]", f"{CODEX.makes} [[say done]]"):
            stops.append((await session.ask(prompt)).stop_reason)
        transcript = session.transcript
    assert made.read_text().strip() == "hi"
    messages = [f"{one.role}: {one.text}" for one in transcript.messages if one.text.strip()]
    calls = [
        {
            "title": call.title,
            "kind": call.kind,
            "status": call.status,
            "locations": [place.path for place in call.locations],
        }
        for call in transcript.tool_calls
    ]
    return messages, calls, stops


async def test_codex_gives_the_same_transcript_in_v2_and_translated_from_v1(
    tmp_path: Path, model: FakeLLM
) -> None:
    """Issue 5: up to the named lossy points."""
    if CODEX.missing is not None:
        pytest.skip(CODEX.missing)
    bench = Bench(CODEX, tmp_path, model.url)
    program = [str(CODEX.program), *CODEX.args]
    translate = [sys.executable, "-m", "accord", "translate", "--to", "2", "--from", "1", "--"]
    assert await told(bench, program) == await told(bench, [*translate, *program])

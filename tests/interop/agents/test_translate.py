"""codex-acp speaks both versions itself: what a translator makes of its v1 can be compared."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accord import Client, Permissions
from tests.fake_llm import FakeLLM, serve
from tests.interop.agents.peers import PEERS, Bench

pytestmark = [pytest.mark.slow]
CODEX = PEERS[0]


@pytest.fixture
def anyio_backend() -> str:
    """Processes take long enough on one."""
    return "asyncio"


@pytest.fixture(scope="module")
def model() -> Iterator[FakeLLM]:
    with serve() as server:
        yield server


async def told(bench: Bench, command: list[str]) -> tuple[Any, list[Any]]:
    """The whole transcript of a conversation in v2, and how its turns stopped."""
    made = bench.project / "made.txt"
    made.unlink(missing_ok=True)
    async with Client.spawn(
        *command,
        env=bench.env,
        cwd=bench.project,
        permissions=Permissions.allow_all(),
        versions=(2,),
    ) as client:
        session = await client.new_session(cwd=bench.project)
        prompts = ("[[say Hello from the model.]]", f"{CODEX.makes} [[say done]]")
        stops = [(await session.ask(prompt)).stop_reason for prompt in prompts]
        transcript = session.transcript.dump()
    assert made.read_text().strip() == "hi"
    return without_ids(transcript, {}), stops


def without_ids(value: Any, seen: dict[str, str]) -> Any:
    """Ids are each run's own, and v1 says in `_meta` what v2 says by itself."""
    if isinstance(value, list):
        return [without_ids(item, seen) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: seen.setdefault(item, f"id {len(seen)}")
        if key.endswith("Id") and isinstance(item, str)
        else without_ids(item, seen)
        for key, item in value.items()
        if key != "meta"
    }


async def test_codex_gives_the_same_transcript_in_v2_and_translated_from_v1(
    tmp_path: Path, model: FakeLLM
) -> None:
    """Issue 5: up to the named lossy points."""
    if CODEX.missing is not None:
        pytest.skip(CODEX.missing)
    bench = Bench(CODEX, tmp_path, model.url)
    program = [str(CODEX.program), *CODEX.args]
    translate = [sys.executable, "-m", "accord", "translate", "--to", "2", "--from", "1", "--"]
    direct = await told(bench, program)
    assert len(direct[0]["toolCalls"]) == len(direct[0]["terminals"]) == 1
    assert await told(bench, [*translate, *program]) == direct

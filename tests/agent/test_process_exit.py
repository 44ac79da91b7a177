"""The end of an agent's process, whatever its handlers do."""

from __future__ import annotations

import pytest

from accord.agent.process_exit import exit_code
from tests.faults.process import agent_process


@pytest.fixture
def anyio_backend() -> str:
    """The agent has a process and a loop of its own; ours only watches."""
    return "asyncio"


@pytest.mark.parametrize("version", [1, 2])
async def test_a_thread_that_blocks_cannot_keep_the_process_alive(version: int) -> None:
    """Issue 3: no orphan process; the interpreter would wait for such a thread for ever."""
    async with agent_process(limits={"close_seconds": 0.2}) as agent:
        await agent.initialize(version)
        await agent.prompt(await agent.new_session(), "thread")
        await agent.until(lambda: "waiting" in agent.stdout.decode())
        await agent.hang_up()
        assert await agent.exit_code() == 0
        assert b"a handler is still running" in agent.stderr


@pytest.mark.parametrize("word", ["exit", "exit_in_a_task"])
@pytest.mark.parametrize("version", [1, 2])
async def test_leaving_the_program_is_not_told_as_a_cancellation(version: int, word: str) -> None:
    """Ours: the user cancelled nothing; the exit code is what the client is to show."""
    async with agent_process() as agent:
        await agent.initialize(version)
        prompt = await agent.prompt(await agent.new_session(), f"{word} 5")
        assert await agent.exit_code() == 5
        assert -32800 not in agent.errors(prompt)
        assert b'"cancelled"' not in agent.stdout


@pytest.mark.parametrize(
    ("error", "code"),
    [(SystemExit(), 0), (SystemExit(7), 7), (SystemExit("no"), 1), (ValueError(), 1)],
)
def test_the_code_of_an_exit_is_what_the_interpreter_makes_of_it(
    error: BaseException, code: int
) -> None:
    """Python: none is 0, a number is itself, anything else is 1."""
    assert exit_code(error) == code

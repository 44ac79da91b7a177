"""The benchmark's client on Accord.  Usage: see `workload.Command`."""

import os
from typing import Any

import anyio

from accord import Client, Session
from benchmarks.workload import (
    Command,
    Measurement,
    big_file,
    client_command,
    condensed_count,
    file_content,
)

# The workload is defined in v1, which all implementations speak; 2 shows what v2 costs us.
VERSION = int(os.environ.get("BENCH_VERSION", "1"))
PAST_SESSION = "past"


class MemoryFiles:
    """Serves two files from memory."""

    def __init__(self, big: str) -> None:
        self._big = big

    def capabilities(self) -> dict[str, bool]:
        return {"readTextFile": True, "writeTextFile": False}

    def read_now(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        """Served without a task, as small files are by the service that comes with Accord."""
        return file_content(path, self._big)

    def read_text(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None
    ) -> str:
        return file_content(path, self._big)

    async def write_text(self, session_id: str, path: str, content: str) -> None:
        raise NotImplementedError


class Counter:
    """How many updates came."""

    def __init__(self) -> None:
        self.count = 0

    async def prompt(self, session: Session, text: str) -> None:
        """One turn, looked at as programs do."""
        async with session.prompt(text) as turn:
            async for _ in turn:
                self.count += 1

    def count_one(self, _: Any) -> None:
        self.count += 1


async def measure(command: Command, client: Client) -> None:
    """Run the scenario on a connection that is initialized."""
    counter = Counter()
    expected = command.expected
    if command.scenario == "replay":
        expected = condensed_count(expected)
        measurement = Measurement(command)
        await client.load_session(PAST_SESSION, cwd="/", on_update=counter.count_one)
    else:
        wanted = command.numbers[0] if command.scenario == "conc" else 1
        sessions = [await client.new_session(cwd="/") for _ in range(wanted)]
        measurement = Measurement(command)
        async with anyio.create_task_group() as turns:
            for session in sessions:
                turns.start_soon(counter.prompt, session, command.prompt)
    measurement.stop(counter.count, expected)
    figures: Any = await client.call_extension("_bench/figures")
    measurement.show(figures)


async def main() -> None:
    command = client_command()
    files = MemoryFiles(big_file(command.numbers[0]) if command.scenario == "read" else "")
    async with Client.spawn(
        *command.agent, files=files, terminals=False, versions=(VERSION,)
    ) as client:
        await measure(command, client)


if __name__ == "__main__":
    anyio.run(main)

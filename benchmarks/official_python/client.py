"""The benchmark's client on the official Python SDK.  Usage: see `workload.Command`."""

import asyncio
import os
import time
from typing import Any

from acp import PROTOCOL_VERSION, spawn_agent_process, text_block
from acp.schema import ClientCapabilities, FileSystemCapabilities, ReadTextFileResponse

from benchmarks.workload import (
    SETTLE_SECONDS_MAX,
    Command,
    Measurement,
    big_file,
    client_command,
    file_content,
    settled,
)


class BenchClient:
    """Counts updates and serves two files from memory."""

    def __init__(self, big: str) -> None:
        self.count = 0
        self._big = big

    def on_connect(self, conn: Any) -> None:
        pass

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.count += 1

    async def read_text_file(self, session_id: str, path: str, **_: Any) -> ReadTextFileResponse:
        return ReadTextFileResponse(content=file_content(path, self._big))

    async def request_permission(self, session_id: str, **_: Any) -> None:
        raise NotImplementedError


async def measure(command: Command, client: BenchClient, agent: Any) -> None:
    """Run the scenario on a connection that is initialized."""
    sessions = [
        (await agent.new_session(cwd="/", mcp_servers=[])).session_id
        for _ in range(command.numbers[0] if command.scenario == "conc" else 1)
    ]
    measurement = Measurement(command)
    if command.scenario == "replay":
        await agent.load_session(cwd="/", session_id=sessions[0], mcp_servers=[])
    else:
        blocks = [text_block(command.prompt)]
        await asyncio.gather(
            *(agent.prompt(session_id=session, prompt=blocks) for session in sessions)
        )
    deadline = time.perf_counter() + SETTLE_SECONDS_MAX
    while not settled(lambda: client.count, command.expected, deadline):
        await asyncio.sleep(0)
    measurement.stop(client.count)
    measurement.show(await agent.ext_method("bench/figures", {}))


async def main() -> None:
    command = client_command()
    client = BenchClient(big_file(command.numbers[0]) if command.scenario == "read" else "")
    environment = {k: v for k, v in os.environ.items() if k.startswith(("BENCH_", "PYTHON"))}
    async with spawn_agent_process(
        client, *command.agent, env=environment, transport_kwargs={"stderr": None}
    ) as (agent, _):
        files = FileSystemCapabilities(read_text_file=True)
        await agent.initialize(
            protocol_version=PROTOCOL_VERSION, client_capabilities=ClientCapabilities(fs=files)
        )
        await measure(command, client, agent)


if __name__ == "__main__":
    asyncio.run(main())

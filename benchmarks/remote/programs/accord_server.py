"""Accord's agent at a URL; prints its port, and ends with its input."""

import gc
import sys

import anyio

from accord import Agent, RemoteServer, Turn
from accord.agent.agent import GARBAGE_THRESHOLDS

agent = Agent("bench", version="1")


@agent.on_prompt
async def stream(turn: Turn) -> None:
    for _ in range(int(turn.text)):
        await turn.say("x" * 40)


@agent.method("_bench/ping")
async def ping(params: dict[str, int]) -> int:
    return params["number"]


async def main() -> None:
    async with RemoteServer(agent.asgi()) as server:
        # As `accord serve` does.
        gc.freeze()
        gc.set_threshold(*GARBAGE_THRESHOLDS)
        print(server.port, flush=True)
        await anyio.to_thread.run_sync(sys.stdin.read)


anyio.run(main)

"""Accord's client: URL COUNT; prints the seconds and the CPU seconds of COUNT messages."""

import sys
import time

import anyio

from accord import Client


async def main(url: str, count: int) -> None:
    async with Client.connect(url, files=False, terminals=False, versions=(1,)) as client:
        session = await client.new_session("/tmp")
        await session.ask("100")
        wall, cpu = time.perf_counter(), time.process_time()
        reply = await session.ask(str(count))
        print(time.perf_counter() - wall, time.process_time() - cpu)
        assert reply.text.count("x") == 40 * count


anyio.run(main, sys.argv[1], int(sys.argv[2]))

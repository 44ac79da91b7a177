"""Accord's client beside idle streams: URL STREAMS COUNT; prints the seconds of each round trip.

A round trip is a POST and the answer on the connection's stream, so it is longer than the POST.
"""

import sys
import time

import anyio

from accord import Client


async def main(url: str, streams: int, count: int) -> None:
    async with Client.connect(url, files=False, terminals=False, versions=(1,)) as client:
        sessions = [await client.new_session("/tmp") for _ in range(streams)]
        for session in sessions:
            await session.ask("1")
        for number in range(count):
            began = time.perf_counter()
            await client.call_extension("_bench/ping", {"number": number})
            print(time.perf_counter() - began)


anyio.run(main, sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

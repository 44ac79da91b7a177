"""The least that a round trip between two Python processes can cost.

Two blocking processes, one line each way, decoded and encoded by msgspec; no event loop.
Usage: python -m benchmarks.limits.round_trip COUNT
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import msgspec

from benchmarks.workload import EDITED_PATH, SMALL_FILE, Latencies

READ_BYTES = 1 << 16
WARM_UP_CALLS = 50


def lines(descriptor: int) -> Iterator[bytes]:
    """Lines of a pipe, as they come."""
    rest = b""
    while data := os.read(descriptor, READ_BYTES):
        *whole, rest = (rest + data).split(b"\n")
        yield from whole


def answer_calls() -> None:
    """The other process: answer every request with a small file."""
    for line in lines(0):
        request = msgspec.json.decode(line)
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": {"content": SMALL_FILE}}
        os.write(1, msgspec.json.encode(answer) + b"\n")


def measure(count: int) -> dict[str, float]:
    """Call the other process so many times, one after the other."""
    peer = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.limits.round_trip", "answer"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
    )
    assert peer.stdin is not None
    assert peer.stdout is not None
    answers = lines(peer.stdout.fileno())
    params = {"sessionId": "s", "path": EDITED_PATH}
    latencies = Latencies()
    for index in range(count + WARM_UP_CALLS):
        started = time.perf_counter()
        request = {"jsonrpc": "2.0", "id": index, "method": "fs/read_text_file", "params": params}
        os.write(peer.stdin.fileno(), msgspec.json.encode(request) + b"\n")
        msgspec.json.decode(next(answers))
        latencies.seconds.append(time.perf_counter() - started)
    peer.stdin.close()
    peer.wait()
    del latencies.seconds[:WARM_UP_CALLS]
    return latencies.summary()


if __name__ == "__main__":
    if sys.argv[1] == "answer":
        answer_calls()
    else:
        print(json.dumps(measure(int(sys.argv[1]))))

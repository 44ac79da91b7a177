"""The least that reading a stream of updates can cost, by how much of each is understood.

A process writes the same line over and over as fast as a pipe takes it; this one reads it and
splits it (`split`), parses it (`json`, `msgspec`), or decodes it to our wire types (`accord`).
Usage: python -m benchmarks.limits.reader MODE
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable

import msgspec

from benchmarks.cases import STREAM_MESSAGES
from benchmarks.workload import TEXT_40, cpu_seconds

READ_BYTES = 1 << 18
LINES_PER_WRITE = 400
UPDATE = {
    "jsonrpc": "2.0",
    "method": "session/update",
    "params": {
        "sessionId": "0123456789abcdef0123456789abcdef",
        "update": {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": TEXT_40},
        },
    },
}


def write_lines(count: int) -> None:
    """The other process: write so many lines, once it is told to go."""
    sys.stdin.readline()
    block = (json.dumps(UPDATE, separators=(",", ":")).encode() + b"\n") * LINES_PER_WRITE
    for _ in range(count // LINES_PER_WRITE):
        rest = memoryview(block)
        while rest:
            rest = rest[os.write(1, rest) :]


def decoder(mode: str) -> Callable[[bytes], object]:
    """What is done with each line."""
    match mode:
        case "split":
            return lambda line: line
        case "json":
            return json.loads
        case "msgspec":
            return msgspec.json.Decoder().decode
        case _:
            return _typed_decoder()


def _typed_decoder() -> Callable[[bytes], object]:
    from accord.schema.v1 import SessionNotification  # only this mode needs our package

    envelope = msgspec.defstruct(
        "UpdateEnvelope", [("method", str), ("params", SessionNotification)]
    )
    return msgspec.json.Decoder(envelope).decode


def measure(mode: str, count: int) -> dict[str, float]:
    """Read so many lines and handle each."""
    decode = decoder(mode)
    writer = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.limits.reader", "write", str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert writer.stdin is not None
    assert writer.stdout is not None
    # The clock starts when the other interpreter is up, not while it starts.
    time.sleep(0.2)
    writer.stdin.write(b"go\n")
    writer.stdin.flush()
    started, cpu_before = time.perf_counter(), cpu_seconds()
    seen, rest = 0, b""
    while data := os.read(writer.stdout.fileno(), READ_BYTES):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            decode(line)
        seen += len(lines)
    result = {
        "elapsed_s": time.perf_counter() - started,
        "cpu_client_s": cpu_seconds() - cpu_before,
        "count": seen,
        "expected": count,
    }
    writer.wait()
    return result


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write_lines(int(sys.argv[2]))
    else:
        print(json.dumps(measure(sys.argv[1], STREAM_MESSAGES)))

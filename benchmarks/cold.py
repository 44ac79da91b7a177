"""Measures a cold start.  Usage: python -m benchmarks.cold COMMAND...; prints one line of JSON.

Starts an agent, sends `initialize`, and stops the clock at the answer; then reads the memory that
the process holds, closes its stdin and times its end.  Reads /proc, so Linux only.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

INITIALIZE = (
    b'{"jsonrpc":"2.0","id":0,"method":"initialize",'
    b'"params":{"protocolVersion":1,"clientCapabilities":{}}}\n'
)
EXIT_SECONDS_MAX = 5.0


def memory_mb(pid: int) -> tuple[float, float]:
    """What a process holds now, and the most that it has held."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    now, most = (int(fields[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM"))
    return now, most


def exit_seconds(process: subprocess.Popen[bytes]) -> float | None:
    """How long a process takes to end once its stdin is closed; None when it has to be killed."""
    assert process.stdin is not None
    process.stdin.close()
    started = time.perf_counter()
    try:
        process.wait(EXIT_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None
    return time.perf_counter() - started


def measure(command: list[str]) -> dict[str, float | None]:
    """Start the agent once."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(INITIALIZE)
    process.stdin.flush()
    line = process.stdout.readline()
    answered = time.perf_counter()
    if not line:
        raise SystemExit(f"the agent ended without an answer, exit code {process.wait()}")
    now, most = memory_mb(process.pid)
    version = json.loads(line)["result"]["protocolVersion"]
    ended = exit_seconds(process)
    if version != 1:
        raise SystemExit(f"the agent answered with version {version}")
    return {
        "start_ms": (answered - started) * 1000,
        "memory_mb": now,
        "peak_memory_mb": most,
        "exit_ms": None if ended is None else ended * 1000,
    }


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1:])))

"""One run of each remote measurement: programs are started, and figures come out."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.cases import OFFICIAL_PYTHON, OFFICIAL_TYPESCRIPT, OURS, ROOT

PROGRAMS = ROOT / "benchmarks" / "remote" / "programs"
IDLE_STREAMS, POSTS = 100, 3000
IDLE_SOCKETS, FIRST_SOCKETS = 10_000, 200
RUN_SECONDS_MAX = 300

Figures = dict[str, float]


class Side(NamedTuple):
    """One implementation: its commands, and how many messages it streams in one run."""

    name: str
    server: list[str]
    client: list[str]
    messages: int


def sides() -> list[Side]:
    """The implementations that are installed here, ours first."""
    found = [_side(OURS, [sys.executable], "accord_server.py", "accord_client.py", 20_000)]
    python = ROOT / ".venvs" / "acp-0.12" / "bin" / "python"
    if python.exists():
        command = [str(python)]
        found.append(
            _side(OFFICIAL_PYTHON, command, "official_server.py", "official_client.py", 3_000)
        )
    node = shutil.which("node")
    if node is not None and (ROOT / "node_modules" / "@agentclientprotocol" / "sdk").exists():
        # Node 20 has a WebSocket, but does not show it by itself.
        command = [node, "--experimental-websocket", "--no-warnings"]
        found.append(
            _side(
                OFFICIAL_TYPESCRIPT, command, "official_server.mjs", "official_client.mjs", 10_000
            )
        )
    return found


def _side(name: str, command: list[str], server: str, client: str, messages: int) -> Side:
    return Side(
        name, [*command, str(PROGRAMS / server)], [*command, str(PROGRAMS / client)], messages
    )


@contextmanager
def _running(command: list[str]) -> Iterator[tuple[int, int]]:
    """A program that prints a number and ends with its input; its process id and the number."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.pid, int(process.stdout.readline())
    finally:
        process.stdin.close()
        try:
            process.wait(timeout=RUN_SECONDS_MAX)
        finally:
            process.kill()
            process.stdout.close()


def _output(command: list[str]) -> list[float]:
    """The numbers that a program prints."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, timeout=RUN_SECONDS_MAX
    )
    return [float(word) for word in done.stdout.split()]


def _cpu_seconds(pid: int) -> float:
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _memory_bytes(pid: int) -> int:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    assert found is not None
    return int(found.group(1)) * 1024


def stream(side: Side, scheme: str) -> Figures:
    """Stream messages from the server of one implementation to its client."""
    with _running(side.server) as (pid, port):
        before = _cpu_seconds(pid)
        url = f"{scheme}://127.0.0.1:{port}/acp"
        wall, client = _output([*side.client, url, str(side.messages)])
        server = _cpu_seconds(pid) - before
    scale = 1e6 / side.messages
    return {
        "messages_per_s": side.messages / wall,
        "client_cpu_us": client * scale,
        "server_cpu_us": server * scale,
    }


def post(side: Side) -> Figures:
    """Round trips over HTTP/2 beside idle streams on the same connection."""
    with _running(side.server) as (_, port):
        program = str(PROGRAMS / "post_client.py")
        url = f"http://127.0.0.1:{port}/acp"
        times = _output([sys.executable, program, url, str(IDLE_STREAMS), str(POSTS)])
    middle, late = statistics.median(times), statistics.quantiles(times, n=100)[98]
    return {"p50_ms": 1000 * middle, "p99_ms": 1000 * late}


def idle(side: Side) -> Figures:
    """What the server needs for each of many idle WebSockets."""
    program = [sys.executable, str(PROGRAMS / "idle_client.py")]
    with (
        _running(side.server) as (pid, port),
        _running([*program, str(port), str(FIRST_SOCKETS)]),
    ):
        before = _memory_bytes(pid)
        count = IDLE_SOCKETS - FIRST_SOCKETS
        with _running([*program, str(port), str(count)]):
            return {
                "kib_each": (_memory_bytes(pid) - before) / count / 1024,
                "memory_mb": _memory_bytes(pid) / 1024 / 1024,
            }


__all__ = ["Figures", "Side", "idle", "post", "sides", "stream"]

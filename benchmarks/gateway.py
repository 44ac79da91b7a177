"""What the gateway adds to an event: `python -m benchmarks.gateway`.

A hosted agent streams updates of some 200 bytes; each goes to the log on disk before a client gets
it.  CPU is what the process of the gateway used for the stream, all threads together, without the
agent and without the clients, which are processes of their own.  A stream of single events makes
the disk commit each of them alone; how many share a commit depends on how fast the disk is.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from benchmarks.cases import OURS
from benchmarks.floors import GATEWAY_FLOORS, judge
from benchmarks.gateway_program import TOKEN

ROOT = Path(__file__).resolve().parents[1]
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Case:
    """One stream: how its agent writes, and who follows it."""

    name: str
    count: int
    burst: int
    clients: int = 1
    # Each of its own agent; `count` is for each of them.
    sessions: int = 1
    pause: float = 0.0


CASES = (
    Case("gateway bursts", 100_000, 50),
    Case("gateway writes", 50_000, 1),
    Case("gateway 3 clients", 50_000, 50, clients=3),
    Case("gateway slow", 2_000, 1, pause=0.002),
    Case("gateway 20 slow", 2_000, 1, sessions=20, pause=0.01),
)


class Follower:
    """A client that reads and looks at nothing but the number of messages."""

    def __init__(self, port: int) -> None:
        headers = {"authorization": f"Bearer {TOKEN}"}
        self._socket: ClientConnection = connect(
            f"ws://127.0.0.1:{port}/acp", additional_headers=headers, compression=None, legacy=True
        )
        self._calls = 0
        self.updates = 0
        self.ask("initialize", {"protocolVersion": 1, "clientCapabilities": {}})

    def ask(self, method: str, params: Any) -> Any:
        """Send a request and wait for its result."""
        self.say(method, params)
        return self.answer()

    def say(self, method: str, params: Any) -> None:
        """Begin a call; `answer` waits for its end."""
        self._calls += 1
        message = {"jsonrpc": "2.0", "id": self._calls, "method": method, "params": params}
        self._socket.send(json.dumps(message))

    def answer(self) -> Any:
        """Read up to the answer to the last request."""
        mark = f'"id":{self._calls}'
        while True:
            text = self._socket.recv()
            assert isinstance(text, str)
            self.updates += '"agent_message_chunk"' in text
            if mark in text[:60] and '"method"' not in text[:60]:
                return json.loads(text)["result"]

    def read(self, count: int) -> None:
        """Read until there were so many updates."""
        while self.updates < count:
            self.updates += '"agent_message_chunk"' in self._socket.recv()

    def close(self) -> None:
        self._socket.close()


@contextmanager
def gateway() -> Iterator[tuple[int, int]]:
    """Run a gateway; the port and the process id."""
    with tempfile.TemporaryDirectory() as folder:
        program = [sys.executable, "-m", "benchmarks.gateway_program", f"{folder}/g.sqlite3"]
        process = subprocess.Popen(program, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline().split()[1]), process.pid
        finally:
            process.kill()
            process.communicate()


def cpu_seconds(pid: int) -> float:
    """What a process has used, all threads together."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICKS_PER_SECOND


def stream(case: Case) -> tuple[float, float]:
    """Stream once; µs of CPU per event, and events per second."""
    with gateway() as (port, pid):
        first = Follower(port)
        opening = {"cwd": "/", "mcpServers": []}
        sessions = [first.ask("session/new", opening)["sessionId"] for _ in range(case.sessions)]
        others = [Follower(port) for _ in range(case.clients - 1)]
        for other in others:
            other.ask("session/load", {"sessionId": sessions[0], **opening})
        used, began = cpu_seconds(pid), time.perf_counter()
        text = f"{case.count} {case.burst} {case.pause}"
        for session in sessions:
            prompt = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
            first.say("session/prompt", prompt)
        events = case.count * case.sessions
        for one in (first, *others):
            one.read(events)
        seconds, used = time.perf_counter() - began, cpu_seconds(pid) - used
        for one in (first, *others):
            one.close()
    return used / events * 1e6, events / seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="part of the name of a case")
    given = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the start")
    medians: dict[tuple[str, str, str], float] = {}
    for case in CASES:
        if given.only not in case.name:
            continue
        runs = [stream(case) for _ in range(given.rounds)]
        cpu_us, per_second = (statistics.median(one) for one in zip(*runs, strict=True))
        medians[case.name, OURS, "cpu_us"] = cpu_us
        print(f"{case.name:20}{cpu_us:8.1f} µs of CPU per event{per_second:12,.0f} events/s")
    missed = 0
    for verdict in judge(medians, GATEWAY_FLOORS):
        if verdict.value is not None:
            missed += not verdict.holds
            word = "holds" if verdict.holds else "MISSED"
            print(f"{word:7} {verdict.floor.title}: {verdict.value:.1f} ({verdict.floor.bound:g})")
    print(f"load {os.getloadavg()[0]:.1f} at the end")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())

"""What one forwarding hop adds to a message: `python -m benchmarks.proxy`.

An agent that streams, asked directly and through a `Proxy` without handlers, in turn in the same
run.  CPU is what the hop's own process used while it passed the messages; latency is
half of what it adds to a round trip.  The agent streams in large writes, and in one write per
message; a hop with a handler for every update, and a chain of a conductor and one member, stand
beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CPU_US_MAX = 4.0
LATENCY_MS_MAX = 0.3

UPDATE = (
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{'
    b'"sessionUpdate":"agent_message_chunk","messageId":"m",'
    b'"content":{"type":"text","text":"a piece of text of some forty characters"}}}}\n'
)

# Told `[count, burst]`, writes so many updates, so many of them at a time; `null` is echoed.
AGENT = f"""
import json, os, sys
update = {UPDATE!r}
for line in sys.stdin.buffer:
    said = json.loads(line)["params"]
    if said == {{}}:
        os.write(1, line)
        continue
    count, burst = said["count"], said["burst"]
    for _ in range(count // burst):
        data = memoryview(update * burst)
        while data:
            data = data[os.write(1, data):]
"""
DIRECT = [sys.executable, "-c", AGENT]
PROGRAM = Path(__file__).with_name("proxy_program.py")


class Talk:
    """A process that is spoken to on its stdin and heard on its stdout."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )

    def say(self, params: object) -> None:
        line = json.dumps({"jsonrpc": "2.0", "method": "_bench", "params": params})
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")

    def hear(self, lines: int) -> None:
        assert self.process.stdout is not None
        fd = self.process.stdout.fileno()
        while lines > 0:
            data = os.read(fd, 1 << 20)
            if not data:
                raise SystemExit("the stream ended early")
            lines -= data.count(b"\n")

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(10)


def stream(command: list[str], count: int, burst: int) -> float:
    """Seconds until all of a stream was heard."""
    talk = Talk(command)
    talk.say({})
    talk.hear(1)
    began = time.perf_counter()
    talk.say({"count": count, "burst": burst})
    talk.hear(count)
    seconds = time.perf_counter() - began
    talk.end()
    return seconds


def trips(command: list[str], count: int) -> list[float]:
    """Sorted seconds of round trips."""
    talk = Talk(command)
    times: list[float] = []
    for number in range(count + 50):
        began = time.perf_counter()
        talk.say({})
        talk.hear(1)
        if number >= 50:
            times.append(time.perf_counter() - began)
    talk.end()
    return sorted(times)


def through(kind: str, folder: Path) -> tuple[list[str], Path]:
    """The agent behind a hop, and where that writes what it used."""
    figures = folder / "used"
    return [sys.executable, str(PROGRAM), kind, str(figures), *DIRECT], figures


def measure(what: str, kind: str, burst: int, given: argparse.Namespace, folder: Path) -> float:
    """Print one row; µs of CPU per message."""
    rows: list[tuple[float, float, float]] = []
    for _ in range(given.turns):
        direct = stream(DIRECT, given.count, burst)
        command, figures = through(kind, folder)
        hop = stream(command, given.count, burst)
        rows.append((direct, hop, float(figures.read_text())))
    direct, hop, used = (sorted(one)[given.turns // 2] for one in zip(*rows, strict=True))
    per: float = used / given.count * 1e6
    print(
        f"{what:36}{given.count / direct:>9.0f}/s{given.count / hop:>9.0f}/s"
        f"{hop / direct:>8.2f}{per:>10.2f} µs"
    )
    return per


def latency(given: argparse.Namespace, folder: Path) -> float:
    """Print what a hop adds to a message; ms at the median."""
    direct, hop = trips(DIRECT, given.trips), trips(through("plain", folder)[0], given.trips)
    p50, p99 = given.trips // 2, given.trips * 99 // 100
    added: float = (hop[p50] - direct[p50]) / 2 * 1e3
    print(
        f"latency of a message, ms: direct p50 {direct[p50] / 2 * 1e3:.3f}"
        f", hop p50 {hop[p50] / 2 * 1e3:.3f} p99 {hop[p99] / 2 * 1e3:.3f}"
        f", added p50 {added:.3f}, ratio {hop[p50] / direct[p50]:.2f}"
    )
    return added


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--trips", type=int, default=3000)
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"streams of {given.count} updates of {len(UPDATE)} bytes; medians of {given.turns}")
        print(f"{'':36}{'direct':>11}{'hop':>11}{'ratio':>8}{'CPU of it':>13}")
        plain = max(
            measure("a hop, large writes", "plain", 500, given, folder),
            measure("a hop, one write per message", "plain", 1, given, folder),
        )
        measure("a hop with a handler for each", "handled", 500, given, folder)
        measure("a conductor and one member", "chain", 500, given, folder)
        added = latency(given, folder)
    missed = plain > CPU_US_MAX or added > LATENCY_MS_MAX
    bounds = f"{CPU_US_MAX} µs of CPU and {LATENCY_MS_MAX} ms for a hop without handlers"
    print(f"{bounds}: {'missed' if missed else 'kept'}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())

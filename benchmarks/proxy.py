"""What one forwarding hop adds to a message: `python -m benchmarks.proxy`.

An agent that streams, asked directly and through a `Proxy` without handlers, in turn in the same
run.  CPU is what the hop's own process used while it passed the messages (getrusage); latency is
half of what it adds to a round trip.  The agent streams in three ways: as fast as it can in large
writes, in one write per message, and as an agent made with accord does.
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
HOP = """
import json, resource, sys
from accord.proxy import Proxy
proxy = Proxy("hop")
{handlers}
def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
import accord.proxy.link, accord.transport.stdio, accord.transport.subprocess
began = used()
try:
    proxy.run(sys.argv[2:])
finally:
    with open(sys.argv[1], "w") as file:
        file.write(str(used() - began))
"""
HANDLED = """
@proxy.on_update("agent_message_chunk")
def look(update):
    update["content"]["text"] += "."
"""


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


def through(command: list[str], folder: Path, handlers: str = "") -> tuple[list[str], Path]:
    """The same command behind a hop, and where that writes what it used."""
    script, figures = folder / "hop.py", folder / "used"
    script.write_text(HOP.format(handlers=handlers))
    return [sys.executable, str(script), str(figures), *command], figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--trips", type=int, default=3000)
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    agent = [sys.executable, "-c", AGENT]
    missed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"streams of {given.count} updates of {len(UPDATE)} bytes; medians of {given.turns}")
        print(f"{'':34}{'direct':>10}{'hop':>10}{'ratio':>8}{'CPU of the hop':>18}")
        for what, burst, handlers in (
            ("large writes", 500, ""),
            ("one write per message", 1, ""),
            ("large writes, a handler for each", 500, HANDLED),
        ):
            rows: list[tuple[float, float, float]] = []
            for _ in range(given.turns):
                direct = stream(agent, given.count, burst)
                command, figures = through(agent, folder, handlers)
                hop = stream(command, given.count, burst)
                rows.append((direct, hop, float(figures.read_text())))
            direct, hop, used = (sorted(column)[given.turns // 2] for column in zip(*rows, strict=True))
            per = used / given.count * 1e6
            rates = [given.count / seconds for seconds in (direct, hop)]
            print(f"{what:34}{rates[0]:>8.0f}/s{rates[1]:>8.0f}/s{hop / direct:>8.2f}{per:>15.2f} µs")
            missed = missed or (not handlers and per > CPU_US_MAX)
        direct_times = trips(agent, given.trips)
        hop_times = trips(through(agent, folder)[0], given.trips)
        p50, p99 = given.trips // 2, given.trips * 99 // 100
        added = (hop_times[p50] - direct_times[p50]) / 2 * 1e3
        print(f"latency of a message, ms: direct p50 {direct_times[p50] / 2 * 1e3:.3f}"
              f", hop p50 {hop_times[p50] / 2 * 1e3:.3f} p99 {hop_times[p99] / 2 * 1e3:.3f}"
              f", added p50 {added:.3f}, ratio {hop_times[p50] / direct_times[p50]:.2f}")
        missed = missed or added > LATENCY_MS_MAX
    print(f"bounds: {CPU_US_MAX} µs, {LATENCY_MS_MAX} ms: {'missed' if missed else 'kept'}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())

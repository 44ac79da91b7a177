"""What `accord record` adds to a message: `python -m benchmarks.recorder`.

A program that answers each line with the same line, asked directly and through the recorder, in
turn.  Half of the difference of a round trip is what one message pays.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

ECHO = "import os\nwhile data := os.read(0, 1 << 20): os.write(1, data)"
ROUNDS = 2000
TURNS = 3
# Longer ones do not fit into the pipes at once, and the two would wait for each other.
SIZES = (200, 5_000, 50_000)


def message(size: int) -> bytes:
    text = "a piece of text, " * (size // 17)
    update = (
        f'{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}'
    )
    params = f'{{"sessionId":"s","update":{update}}}'
    return f'{{"jsonrpc":"2.0","method":"session/update","params":{params}}}\n'.encode()


def measure(command: list[str], line: bytes, rounds: int) -> list[float]:
    """Sorted times of round trips, which are two messages each, in seconds."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        times: list[float] = []
        for number in range(rounds + 50):
            began = time.perf_counter()
            sent = memoryview(line)
            while sent:
                sent = sent[process.stdin.write(sent[:65536]) or 0 :]
            left = len(line)
            while left:
                left -= len(process.stdout.read(min(left, 1 << 20)) or b"")
            if number >= 50:
                times.append(time.perf_counter() - began)
        process.stdin.close()
    return sorted(times)


def main() -> None:
    echo = [sys.executable, "-c", ECHO]
    print("per message, in µs:       direct           recorded         added")
    print(f"{'bytes':>10}{'':>6}{'p50':>10}{'p99':>10}{'p50':>10}{'p99':>10}{'p50':>10}{'p99':>10}")
    for size in SIZES:
        line = message(size)
        turns: list[tuple[float, ...]] = []
        for _ in range(TURNS):
            with tempfile.TemporaryDirectory() as folder:
                record = [sys.executable, "-m", "accord", "record", "-o", str(Path(folder) / "r")]
                plain = measure(echo, line, ROUNDS)
                through = measure([*record, "--", *echo], line, ROUNDS)
            a, b = ((times[ROUNDS // 2], times[ROUNDS * 99 // 100]) for times in (plain, through))
            turns.append((*a, *b, b[0] - a[0], b[1] - a[1]))
        figures = [sorted(column)[TURNS // 2] / 2 * 1e6 for column in zip(*turns, strict=True)]
        print(f"{len(line):>10}{'':>6}" + "".join(f"{figure:>10.0f}" for figure in figures))


if __name__ == "__main__":
    main()

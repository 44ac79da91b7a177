"""A program in a pseudo-terminal, as a person has it before them, and what it costs.

Knows no program: whoever uses it says which one it is, what is typed, and what must be seen.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Self

COLUMNS, ROWS = 120, 40
SEEN_SECONDS_MAX = 60.0
QUIET_SECONDS = 0.15
"""After so long without anything drawn, all is drawn."""

_SEQUENCE = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """What a process has used of the processors so far, with those of its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def waited_seconds(pid: int) -> float:
    """How long the first thread of a process could have run and others had the processors."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9


def resident_mb(pid: int) -> float:
    """What a process has in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def children(pid: int) -> list[int]:
    """The processes that a process started."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += map(int, (task / "children").read_text().split())
    return found


class Program:
    """A program in a pseudo-terminal of its own."""

    def __init__(self, command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        self.terminal, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.began = perf_counter()
        self.process = subprocess.Popen(
            command,
            stdin=inner,
            stdout=inner,
            stderr=inner,
            cwd=cwd,
            start_new_session=True,
            env={**os.environ, **env, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
        )
        os.close(inner)
        self.pid = self.process.pid
        # What was drawn since the last key, as it came.
        self.drawn = b""
        self.drawn_bytes = 0

    @property
    def cpu(self) -> float:
        """Seconds of CPU so far."""
        return cpu_seconds(self.pid)

    @property
    def shown(self) -> bytes:
        """What was drawn since the last key, without the sequences between the words."""
        return _SEQUENCE.sub(b"", self.drawn)

    def read(self, seconds: float) -> bytes:
        """Whatever is drawn next, within a time."""
        if not select.select([self.terminal], [], [], max(seconds, 0))[0]:
            return b""
        try:
            data = os.read(self.terminal, 1 << 16)
        except OSError:
            raise SystemExit(f"the program ended; it drew last: {self.shown[-2000:]!r}") from None
        self.drawn += data
        self.drawn_bytes += len(data)
        return data

    def press(self, keys: str) -> float:
        """Press keys; when that was."""
        self.drawn = b""
        now = perf_counter()
        os.write(self.terminal, keys.encode())
        return now

    def wait(self, *words: str, seconds: float = SEEN_SECONDS_MAX) -> float:
        """Until all these words were drawn since the last key; when that was."""
        end = perf_counter() + seconds
        wanted = [word.encode() for word in words]
        while not all(word in self.shown for word in wanted):
            if perf_counter() > end:
                raise SystemExit(f"{words} was never drawn, but: {self.shown[-2000:]!r}")
            self.read(0.2)
        return perf_counter()

    def drain(self, quiet: float = QUIET_SECONDS) -> float:
        """Until nothing more is drawn; when the last of it came."""
        last = perf_counter()
        while self.read(quiet):
            last = perf_counter()
        return last

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End it, and what it started."""
        self.process.send_signal(signal.SIGTERM)
        while self.process.poll() is None:
            try:
                self.read(0.05)
            except SystemExit:
                self.process.wait(20)
        os.close(self.terminal)

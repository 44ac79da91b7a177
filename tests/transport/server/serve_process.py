"""A server as a process, and what it uses of the machine."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.hang_limit import HANG_SECONDS

ROOT = Path(__file__).resolve().parents[3]
AGENT = "tests.transport.server.agent_program:agent"


@dataclass
class ServeProcess:
    """A running server."""

    process: subprocess.Popen[str]
    url: str

    @property
    def port(self) -> int:
        return int(re.sub(r".*:(\d+)/.*", r"\1", self.url))

    @property
    def memory_bytes(self) -> int:
        """What the process has in memory, without what it shares."""
        text = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
        assert found is not None
        return int(found.group(1)) * 1024

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End it by a signal, and return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(HANG_SECONDS)


def serve_command(agent: str = AGENT) -> list[str]:
    """The command line of a server that has the transport alone, and no gateway."""
    return [sys.executable, "-m", "tests.transport.server.serve_program", agent]


@contextmanager
def serve_process(
    *,
    agent: str = AGENT,
    env: Mapping[str, str] | None = None,
    command: Sequence[str] | None = None,
    cwd: Path = ROOT,
) -> Iterator[ServeProcess]:
    """Start a server on a free port, and end it."""
    process = subprocess.Popen(
        command or serve_command(agent),
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"\bis at (\S+)", line)
        assert found is not None, line + process.stderr.read()
        yield ServeProcess(process, found.group(1))
    finally:
        # Not by force: it has a folder to remove.
        process.terminate()
        try:
            process.communicate(timeout=HANG_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise


__all__ = ["AGENT", "ROOT", "ServeProcess", "serve_process"]

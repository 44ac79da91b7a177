"""`accord serve` as a process, with folders of its own and a token that is known."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.hang_limit import HANG_SECONDS

ROOT = Path(__file__).resolve().parents[2]
AGENT = "tests.transport.server.agent_program:agent"
TOKEN = "a-token-of-the-tests"


@dataclass
class GatewayProcess:
    """A running gateway; `lines` is what it has said on stderr so far."""

    process: subprocess.Popen[str]
    url: str
    token: str
    lines: list[str] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(re.sub(r".*:(\d+)/.*", r"\1", self.url))

    @property
    def headers(self) -> dict[str, str]:
        """What lets a request in."""
        return {"authorization": f"Bearer {self.token}"}

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End it by a signal, and return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(HANG_SECONDS)

    def said(self, words: str) -> str:
        """Read stderr up to a line with these words."""
        assert self.process.stderr is not None
        while True:
            line = self.process.stderr.readline()
            assert line, self.lines
            self.lines.append(line)
            if words in line:
                return line


def serve_words(*words: str) -> list[str]:
    """The command line of `accord serve`."""
    return [sys.executable, "-m", "accord", "serve", *words]


def serve_environment(folder: Path, env: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """The variables of a user whose folders are below `folder`; None removes one."""
    given: dict[str, str | None] = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "ACCORD_CONFIG_DIR": str(folder / "config"),
        "ACCORD_STATE_DIR": str(folder / "state"),
        "ACCORD_SERVE_TOKEN": None,
        **(env or {}),
    }
    return {name: value for name, value in given.items() if value is not None}


@contextmanager
def gateway_process(
    folder: Path,
    *options: str,
    target: Sequence[str] = (AGENT,),
    env: Mapping[str, str | None] | None = None,
    cwd: Path = ROOT,
    token: str | None = TOKEN,
) -> Generator[GatewayProcess]:
    """Start a gateway on a free port, and end it; `token` is None for a new one, or for
    the users of a file."""
    process = subprocess.Popen(
        serve_words("--port", "0", *options, *target),
        cwd=cwd,
        env=serve_environment(folder, {"ACCORD_SERVE_TOKEN": token, **(env or {})}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        assert process.stdout is not None
        gateway = GatewayProcess(process, "", token or "")
        line = gateway.said(" is at ")
        found = re.search(r"\bis at (\S+)", line)
        assert found is not None
        gateway.url = found.group(1)
        gateway.said("sessions are stored in")
        if token is None and "--config" not in options:
            gateway.token = process.stdout.readline().removeprefix("token: ").strip()
        yield gateway
    finally:
        # Not by force: it has a folder to remove.
        process.terminate()
        try:
            process.communicate(timeout=HANG_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise


__all__ = [
    "AGENT",
    "ROOT",
    "TOKEN",
    "GatewayProcess",
    "gateway_process",
    "serve_environment",
    "serve_words",
]

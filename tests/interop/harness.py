"""Runs a client against an agent through the tap, and judges what either of them sent.

A pair is two commands.  The scripted peers on the official SDKs are found here; a test brings its
own commands for what it wants to judge.  Nothing here knows the library under test.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.hang_limit import HANG_SECONDS
from tests.interop.messages.validator import PROJECT, SCHEMAS, Side, Validator
from tests.interop.tap import Frame, read_log

Json = dict[str, Any]

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "official"
RUN_SECONDS = HANG_SECONDS


@dataclass(frozen=True)
class Peer:
    """One official SDK in one version of the protocol, as an agent and as a client."""

    name: str
    version: int
    runtime: str
    suffix: str
    needs: Path

    @property
    def agent(self) -> list[str]:
        return self._command("agent")

    @property
    def client(self) -> list[str]:
        return self._command("client")

    def _command(self, role: str) -> list[str]:
        """The command of its program.  Skips the test when the SDK is not installed."""
        if not self.needs.exists():
            name = self.needs.relative_to(PROJECT)
            pytest.skip(f"{name} is not installed; `make peers` installs it")
        if (runtime := shutil.which(self.runtime)) is None:
            pytest.skip(f"{self.runtime} is not installed")
        language, version = self.name.split("-")
        return [runtime, str(PROGRAMS / f"{role}_{language}_{version}.{self.suffix}")]


def _python_peer(name: str, version: int, environment: str) -> Peer:
    python = PROJECT / ".venvs" / environment / "bin" / "python"
    return Peer(name, version, str(python), "py", python)


PEERS = {
    peer.name: peer
    for peer in (
        _python_peer("py-v1", 1, "acp-0.12"),
        _python_peer("py-v2", 2, "acp-1.0rc"),
        Peer("ts-v1", 1, "node", "mjs", SCHEMAS.parent),
        Peer("ts-v2", 2, "node", "mjs", SCHEMAS.parent),
    )
}


class Run(NamedTuple):
    """What the client printed, and every line that passed between the two."""

    report: Json
    frames: list[Frame]

    def step(self, name: str) -> Json:
        """The report of the first step of that name."""
        found: Json = next(step for step in self.report["steps"] if step["step"] == name)
        return found


def run_pair(
    client: Sequence[str],
    agent: Sequence[str],
    log: Path,
    *,
    folder: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Run:
    """Run the client, with its steps, on the agent behind the tap; in the folder of the log, or
    in another one.

    The client starts what follows `--` as its agent and prints one line of JSON.  Both are gone
    when this returns; a pair that takes longer than RUN_SECONDS is killed and fails the test.
    """
    tap = [sys.executable, str(HERE / "tap.py"), str(log), "--", *agent]
    process = subprocess.Popen(
        [*client, "--", *tap],
        cwd=folder or log.parent,
        env={**os.environ, "PYTHONPATH": str(PROJECT), **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=RUN_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        pytest.fail(f"no end after {RUN_SECONDS} s; last lines:\n{_tail(log)}\n{errors}")
    if process.returncode != 0 or not output:
        pytest.fail(f"client ended with {process.returncode}; last lines:\n{_tail(log)}\n{errors}")
    return Run(json.loads(output), read_log(log))


def judge(frames: Sequence[Frame], side: Side, version: int, unstable: bool = False) -> list[str]:
    """What is wrong with the messages of one side, by the official schema of that version."""
    validator = Validator(version, unstable)
    found: list[str] = []
    for frame in frames:
        try:
            problems = validator.check(frame.sender, frame.message)
        except ValueError:
            problems = ["$: not JSON"]
        if frame.sender == side:
            found += [f"{problem} in {frame.line[:300]}" for problem in problems]
    return found


def _tail(log: Path, count: int = 6) -> str:
    frames = read_log(log)[-count:] if log.exists() else []
    return "\n".join(f"{frame.sender}: {frame.line[:300]}" for frame in frames)

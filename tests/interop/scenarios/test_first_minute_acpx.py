"""The first minute with the built-in agent, through acpx: a client of somebody else's, as it is.

acpx starts a process for every prompt and leaves a queue owner behind that has the agent.  The
session is made in one process of the agent and goes on in another, from its store.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.hang_limit import HANG_SECONDS
from tests.interop.harness import HERE, judge
from tests.interop.messages.validator import PROJECT
from tests.interop.scenarios import first_minute
from tests.interop.tap import read_log

ACPX = PROJECT / "node_modules" / ".bin" / "acpx"
# How long the owner of a session waits for the next prompt, in seconds.  With less, a prompt may
# come while it is leaving, which acpx answers with an error of its own.
OWNER_LIVES = "5"

pytestmark = pytest.mark.skipif(not ACPX.exists(), reason="acpx is not installed")


class Acpx:
    """acpx in a home of its own, with the agent behind the tap."""

    def __init__(self, folder: Path) -> None:
        self.project = first_minute.project(folder)
        self.log = folder / "log"
        self._home = folder / "user"
        self._home.mkdir()
        self._env: Mapping[str, str] = {
            **os.environ,
            **first_minute.home(folder),
            "HOME": str(self._home),
            "PYTHONPATH": str(PROJECT),
        }
        tap = [sys.executable, str(HERE / "tap.py"), str(self.log), "--", *first_minute.AGENT]
        self._agent = shlex.join(tap)

    def run(self, *arguments: str) -> list[dict[str, Any]]:
        """Run a command of acpx; the messages that it prints."""
        options = ["--agent", self._agent, "--cwd", str(self.project), "--approve-all"]
        options += ["--format", "json", "--ttl", OWNER_LIVES]
        done = subprocess.run(
            [str(ACPX), *options, *arguments],
            cwd=self.project,
            env=self._env,
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def said(messages: list[dict[str, Any]]) -> str:
    """What the agent said, of the messages that acpx shows."""
    chunks = [message.get("params", {}).get("update", {}) for message in messages]
    return "".join(
        chunk["content"]["text"]
        for chunk in chunks
        if chunk.get("sessionUpdate") == "agent_message_chunk"
    )


def test_the_first_minute_with_acpx(tmp_path: Path) -> None:
    """Issue 3: driven by acpx 0.19.1, word for word, over stdio."""
    acpx = Acpx(tmp_path)
    acpx.run("sessions", "new")
    expected = ("calc.py", "name 'value' is not defined", "pass", "average", "Undone")
    for sentence, words in zip(first_minute.SENTENCES, expected, strict=True):
        messages = acpx.run("prompt", sentence)
        assert messages[-1]["result"]["stopReason"] == "end_turn"
        assert words in said(messages), said(messages)
        if sentence.startswith("rename"):
            assert "def average" in (acpx.project / "calc.py").read_text()
    calc = (acpx.project / "calc.py").read_text()
    assert "def mean(values)" in calc
    assert "sum(values)" in calc
    acpx.run("sessions", "close")
    assert judge(read_log(acpx.log), "agent", 1, unstable=True) == []


def test_one_prompt_with_acpx(tmp_path: Path) -> None:
    """Issue 3: `exec`, as docs/how-to shows it."""
    acpx = Acpx(tmp_path)
    assert "calc.py" in said(acpx.run("exec", "what is this project?"))

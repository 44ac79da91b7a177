"""`accord run` in a process of its own, with a fresh home and an agent that does as it is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.hang_limit import HANG_SECONDS

SECONDS_MAX = HANG_SECONDS
AGENT = (sys.executable, str(Path(__file__).parent / "run_agent.py"))


@dataclass(frozen=True)
class Ended:
    """How a program ended and what it wrote."""

    code: int
    out: str
    error: str

    @property
    def events(self) -> list[dict[str, Any]]:
        """Standard output, read as one event per line."""
        return [json.loads(line) for line in self.out.splitlines()]


class Home:
    """A folder of the user's, and a project."""

    def __init__(self, folder: Path) -> None:
        self.config, self.state = folder / "config", folder / "state"
        self.project = folder / "project"
        self.config.mkdir()
        self.project.mkdir()
        self.env = {
            **os.environ,
            "HOME": str(folder),
            "ACCORD_CONFIG_DIR": str(self.config),
            "ACCORD_STATE_DIR": str(self.state),
            "NO_COLOR": "1",
        }

    def accord(self, *words: str, stdin: str = "", together: bool = False) -> Ended:
        """Run `accord` in the project, without a terminal; `together` is `2>&1`."""
        done = subprocess.run(
            [sys.executable, "-m", "accord", *words],
            cwd=self.project,
            env=self.env,
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if together else subprocess.PIPE,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
            # Without a controlling terminal there is nobody to ask, wherever the tests run.
            start_new_session=True,
        )
        return Ended(done.returncode, done.stdout, done.stderr or "")

    def run(self, *words: str, agent: Sequence[str] = AGENT, stdin: str = "") -> Ended:
        """`accord run` with the test's agent."""
        return self.accord("run", *words, "--", *agent, stdin=stdin)

    @property
    def audit(self) -> list[dict[str, Any]]:
        """The lines of the audit log."""
        text = (self.state / "audit.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

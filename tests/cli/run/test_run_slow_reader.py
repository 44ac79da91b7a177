"""`accord run` into a pipe that nobody reads: it stops the agent, and loses nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.home import Home
from tests.client import flood_agent
from tests.hang_limit import HANG_SECONDS, Patience

PIECES = 300_000
# Some 40 MB are there before anything is said; all the updates would take 200 MB.
MEMORY_BYTES_MAX = 110_000_000


def _wait_for(report: Path, program: subprocess.Popen[bytes]) -> str:
    """How the flood went, as the agent says."""
    patience = Patience()
    while not report.exists() or not report.read_text():
        assert program.poll() is None
        assert patience.left
        time.sleep(0.05)
    return report.read_text()


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_reader_that_does_not_read_stops_the_agent(home: Home, form: str) -> None:
    """Issue 12: into a pipe that nobody read it went from 188 MB to 1,197 MB in 10 s."""
    report = home.project / "report"
    words = [sys.executable, "-m", "accord", "run", f"flood {PIECES}", "--format", form]
    agent = [sys.executable, flood_agent.__file__, str(report)]
    with subprocess.Popen(
        [*words, "--", *agent],
        cwd=home.project,
        env=home.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as program:
        assert _wait_for(report, program) == "blocked"
        pages = Path(f"/proc/{program.pid}/statm").read_text().split()[1]
        assert int(pages) * 4096 < MEMORY_BYTES_MAX
        out, _ = program.communicate(timeout=HANG_SECONDS)
        assert program.returncode == 0
    if form == "text":
        assert out.decode() == flood_agent.PIECE * PIECES + "\n"
        return
    events = [json.loads(line) for line in out.splitlines()]
    assert [event["type"] for event in events] == ["session", *["message"] * PIECES, "end"]
    assert {event["text"] for event in events[1:-1]} == {flood_agent.PIECE}

"""The programs of README.md run as they stand there, against each other."""

import re
import subprocess
import sys
from pathlib import Path

from tests.hang_limit import HANG_SECONDS

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = re.compile(r"```python\n# (\w+\.py)\n(.*?)```", re.DOTALL)


def test_the_readme_client_runs_the_readme_agent(tmp_path: Path) -> None:
    """Ours: the first thing people copy must work."""
    for name, program in PROGRAM.findall((ROOT / "README.md").read_text()):
        (tmp_path / name).write_text(program)
    notes = tmp_path / "notes.txt"
    notes.write_text("milk\nbread\nmilk\n")

    finished = subprocess.run(
        [sys.executable, "client.py", sys.executable, "agent.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )

    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.splitlines()[-1] == "end_turn | Kept 2 lines."
    assert notes.read_text() == "bread\nmilk\n"


def test_the_readme_names_the_two_commands() -> None:
    """Issue 2: two commands, each of which does its own set-up."""
    text = (ROOT / "README.md").read_text()
    assert "./accord demo" in text
    assert "make test" in text

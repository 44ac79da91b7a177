"""The unit of systemd in the how-to, read by systemd where it is installed."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from accord.cli.main import main
from tests.hang_limit import HANG_SECONDS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "host-agents.md"
KEYS = {
    "Unit": {"Description", "After", "Wants"},
    "Service": {
        *("User", "StateDirectory", "ExecStart", "Environment", "AmbientCapabilities"),
        *("Restart", "TimeoutStopSec"),
    },
    "Install": {"WantedBy"},
}
"""What the unit uses, for machines where systemd cannot be asked."""


def unit() -> str:
    """The unit of the page."""
    (found,) = re.findall(r"```text\n(\[Unit\]\n.*?)```", PAGE.read_text(), re.DOTALL)
    return str(found)


def test_the_keys_are_those_of_systemd() -> None:
    """Issue 17: the how-to takes a newcomer to a server with systemd."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(unit())
    assert {name: set(parser[name]) for name in parser.sections()} == KEYS


def test_its_command_line_is_one_of_accord(capsys: pytest.CaptureFixture[str]) -> None:
    """Ours: every option exists."""
    (line,) = re.findall(r"^ExecStart=\S+ (.*)$", unit(), re.MULTILINE)
    words = line.split()
    assert words[0] == "serve"
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    assert all(word in told for word in words if word.startswith("--"))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_accepts_it(tmp_path: Path) -> None:
    """Issue 17: as `systemd-analyze verify` sees it, with a program and a user of this machine."""
    path = tmp_path / "accord.service"
    text = unit().replace("/opt/accord/bin/accord", sys.executable)
    path.write_text(text.replace("User=accord", "User=root"))
    told = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(path)],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert (told.returncode, told.stderr) == (0, "")

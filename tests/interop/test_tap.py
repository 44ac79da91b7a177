"""The tap between two peers: it changes nothing, hides nothing, and ends with them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hang_limit import HANG_SECONDS
from tests.interop.harness import HERE
from tests.interop.tap import read_log


def tap(log: Path, *command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, str(HERE / "tap.py"), str(log), "--", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def test_tap_passes_bytes_unchanged_and_logs_lines_with_their_sender(tmp_path: Path) -> None:
    sent = b'{"id":1}\n' + b"\xff not utf-8\n" + b"x" * 300_000 + b"\nno newline at the end"
    with tap(tmp_path / "log", "cat") as process:
        output, _ = process.communicate(sent, timeout=HANG_SECONDS)
    assert output == sent
    frames = read_log(tmp_path / "log")
    for sender in ("client", "agent"):
        lines = [frame.line for frame in frames if frame.sender == sender]
        assert lines == ['{"id":1}', r"\xff not utf-8", "x" * 300_000, "no newline at the end"]


@pytest.mark.parametrize(
    ("script", "code"),
    [("import sys; sys.stdin.read(); sys.exit(7)", 7), ("import os; os.kill(os.getpid(), 9)", 137)],
)
def test_tap_ends_as_the_agent_ended(script: str, code: int, tmp_path: Path) -> None:
    with tap(tmp_path / "log", sys.executable, "-c", script) as process:
        process.communicate(b"", timeout=HANG_SECONDS)
        assert process.returncode == code


def test_tap_ends_while_its_client_still_holds_the_pipe(tmp_path: Path) -> None:
    with tap(tmp_path / "log", sys.executable, "-c", "print('bye')") as process:
        assert process.stdout is not None
        assert process.stdout.read() == b"bye\n"
        assert process.wait(timeout=HANG_SECONDS) == 0


def test_a_signal_to_the_tap_ends_the_agent(tmp_path: Path) -> None:
    script = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    with tap(tmp_path / "log", sys.executable, "-c", script) as process:
        assert process.stdout is not None
        agent = int(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=HANG_SECONDS) == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(agent, 0)

"""No process outlives the command of ours that caused it, however either of them ends.

Every program that a test starts holds a pipe open; the end of the pipe is the end of the last.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from tests.cli.home import Home
from tests.hang_limit import HANG_SECONDS
from tests.machine.lifeline import Lifeline

pytestmark = pytest.mark.anyio


ANNOUNCED = 4
"""What an agent starts, and the agent itself."""

CHILDREN = """
sh -c 'echo child >&9; sleep 1000' &
setsid sh -c 'echo child >&9; sleep 1000' &
(setsid sh -c '(trap "" TERM HUP; echo child >&9; sleep 1000) & exit 0' &)
"""
"""One in the agent's own group, one in a session of its own, and a daemon that forked twice."""

UNMARKED = """
(env -i PATH="$PATH" setsid sh -c 'echo child >&9; sleep 1000' &)
"""
"""A daemon without our mark: found only because orphans are adopted."""

WAITS = "echo agent >&9; cat >/dev/null"
"""An agent that says nothing and leaves when its stdin is closed."""

LEAVES = "echo agent >&9; head -c 1 >/dev/null"
"""An agent that ends as soon as it is spoken to."""


def recording(folder: Path) -> Path:
    """A recording with one request of the client's."""
    from accord.tracing.recording_file import read_recording

    path = folder / "talk.jsonl"
    agent = "import sys; sys.stdin.readline()"
    subprocess.run(
        [sys.executable, "-m", "accord", "record", "-o", path, "--", sys.executable, "-c", agent],
        input=json.dumps(INITIALIZE).encode() + b"\n",
        capture_output=True,
        timeout=HANG_SECONDS,
        check=True,
    )
    with path.open("rb") as file:
        assert read_recording(file).entries
    return path


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": 2, "info": {"name": "test", "version": "1"}, "capabilities": {}},
}
COMMANDS = {
    "run": ["run", "hello"],
    "chat": ["chat", "--plain"],
    "record": ["record", "-o", "/dev/null"],
    "translate": ["translate", "--to", "2"],
    "proxy": ["proxy"],
    "replay": ["replay", "RECORDING", "--as", "client"],
    "check": ["check", "--jobs", "1", "--timeout", "1", "--only", "V1-INIT-11"],
}
SERVE_A_CLIENT = ("record", "translate", "proxy")


@contextmanager
def started(
    home: Home, tmp_path: Path, command: str, agent: list[str]
) -> Iterator[subprocess.Popen[bytes]]:
    """A command of ours with this agent."""
    words = list(COMMANDS[command])
    if "RECORDING" in words:
        words[words.index("RECORDING")] = str(recording(tmp_path))
    with subprocess.Popen(
        [sys.executable, "-m", "accord", *words, "--", *agent],
        cwd=home.project,
        env=home.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE if command in SERVE_A_CLIENT else subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        bufsize=0,
    ) as process:
        assert process.stdin is not None
        if command == "translate":
            # It starts its agent when the client has said which version it speaks.
            process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        try:
            yield process
        finally:
            process.kill()


async def announced(lifeline: Lifeline, count: int) -> None:
    with anyio.fail_after(HANG_SECONDS):
        for _ in range(count):
            assert await lifeline.word() in ("child", "agent")


async def all_gone(lifeline: Lifeline, process: subprocess.Popen[bytes]) -> None:
    with anyio.fail_after(HANG_SECONDS):
        await anyio.to_thread.run_sync(process.wait)
        await lifeline.all_dead()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
@pytest.mark.parametrize("command", COMMANDS)
async def test_nothing_outlives_a_command_that_a_signal_ends(
    home: Home, tmp_path: Path, lifeline: Lifeline, command: str, number: signal.Signals
) -> None:
    """Issue 12: our commands end every descendant, also one that called setsid."""
    unmarked = "" if number == signal.SIGKILL else UNMARKED
    agent = lifeline.shell(CHILDREN + unmarked + WAITS)
    with started(home, tmp_path, command, agent) as process:
        await announced(lifeline, ANNOUNCED + bool(unmarked))
        os.kill(process.pid, number)
        if command == "chat" and number == signal.SIGINT:
            # In a conversation the first Ctrl-C stops the turn only.
            os.kill(process.pid, number)
        await all_gone(lifeline, process)


@pytest.mark.parametrize("command", COMMANDS)
async def test_nothing_outlives_a_command_that_is_killed_as_its_agent_starts(
    home: Home, tmp_path: Path, lifeline: Lifeline, command: str
) -> None:
    """Ours: whoever cleans up has to be there before the first program is."""
    agent = lifeline.shell('setsid sleep 1000 & kill -9 "$PPID"; echo agent >&9; sleep 1000')
    with started(home, tmp_path, command, agent) as process:
        await announced(lifeline, 1)
        await all_gone(lifeline, process)


@pytest.mark.parametrize("command", COMMANDS)
async def test_nothing_outlives_a_command_whose_agent_ends(
    home: Home, tmp_path: Path, lifeline: Lifeline, command: str
) -> None:
    """Issue 12: `accord record` left the children of an agent that had ended."""
    agent = lifeline.shell(CHILDREN + UNMARKED + LEAVES)
    with started(home, tmp_path, command, agent) as process:
        await announced(lifeline, ANNOUNCED + 1)
        assert process.stdin is not None
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        if command in ("chat", "translate"):
            # They go on until the person or the client leaves.
            process.stdin.close()
        await all_gone(lifeline, process)


@pytest.mark.parametrize("agent", [WAITS, "trap '' TERM HUP INT; echo agent >&9; sleep 1000"])
@pytest.mark.parametrize("command", SERVE_A_CLIENT)
async def test_nothing_outlives_a_client_that_leaves(
    home: Home, tmp_path: Path, lifeline: Lifeline, command: str, agent: str
) -> None:
    """Issue 12: whichever side goes, the agent's whole tree goes too, also a silent one."""
    words = lifeline.shell(CHILDREN + UNMARKED + agent)
    with started(home, tmp_path, command, words) as process:
        await announced(lifeline, ANNOUNCED + 1)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.stdout.close()
        await all_gone(lifeline, process)

"""Signals end every command within a bound, also where its agent does not answer any more."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from accord.machine.processes import exit_on_signal as shutdown
from tests.cli.home import Home
from tests.hang_limit import HANG_SECONDS
from tests.machine.lifeline import Lifeline

pytestmark = pytest.mark.anyio


RUNTIME_SECONDS = 10
"""When a container runtime kills what did not leave after SIGTERM."""

SILENT = str(Path(__file__).parent / "silent_agent.py")
ACCORD = [sys.executable, "-m", "accord"]
PATIENT = """
import sys
from accord.cli.run import interruptible_turn as run_turn
from accord.cli.main import main
from accord.machine.processes import exit_on_signal as shutdown
names = ("TERMINATE_AFTER_SECONDS", "KILL_AFTER_SECONDS", "EXIT_AFTER_SECONDS")
for name, seconds in zip(names, map(float, sys.argv.pop(1).split(","))):
    setattr(shutdown, name, seconds)
run_turn.CANCEL_SECONDS_MAX = 1000.0
sys.exit(main())
"""
"""`accord` with other bounds; the first argument has them."""

INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}


@contextmanager
def started(
    home: Home, lifeline: Lifeline, words: Sequence[str], silent_at: str, program: Sequence[str]
) -> Iterator[subprocess.Popen[bytes]]:
    """A command of ours with an agent that falls silent at this method."""
    agent = (sys.executable, SILENT, silent_at, str(lifeline.path))
    with subprocess.Popen(
        [*program, *words, "--", *agent],
        cwd=home.project,
        env=home.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        bufsize=0,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


async def heard(lifeline: Lifeline, word: str) -> None:
    with anyio.fail_after(HANG_SECONDS):
        while await lifeline.word() != word:
            pass


async def ended(process: subprocess.Popen[bytes], seconds: float = HANG_SECONDS) -> tuple[str, str]:
    """What it wrote, when it has ended by itself within this time."""

    def communicate() -> tuple[bytes, bytes]:
        return process.communicate(timeout=seconds)

    out, error = await anyio.to_thread.run_sync(communicate)
    return out.decode(), error.decode()


STAGES = ("initialize", "session/new", "session/prompt", "session/cancel")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("silent_at", STAGES)
async def test_a_run_with_a_silent_agent_ends_before_it_would_be_killed(
    home: Home, lifeline: Lifeline, silent_at: str, number: signal.Signals
) -> None:
    """Issue 12: 17 seconds before; a container runtime kills after 10."""
    words = ("run", "hello", "--format", "json")
    with started(home, lifeline, words, silent_at, ACCORD) as process:
        await heard(lifeline, "prompt" if silent_at == "session/cancel" else "silent")
        os.kill(process.pid, number)
        await ended(process, RUNTIME_SECONDS)
        assert process.returncode in (130, 128 + number)
        with anyio.fail_after(HANG_SECONDS):
            await lifeline.all_dead()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(
    "words",
    [
        ("record", "-o", "/dev/null"),
        ("translate", "--to", "1"),
        ("proxy",),
        ("check", "--jobs", "1", "--only", "V1-INIT-11"),
    ],
    ids=lambda words: words[0],
)
async def test_every_command_with_a_silent_agent_ends_before_it_would_be_killed(
    home: Home, lifeline: Lifeline, words: Sequence[str], number: signal.Signals
) -> None:
    """Issue 12: bounds that hold, for every command that starts an agent."""
    with started(home, lifeline, words, "initialize", ACCORD) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        await heard(lifeline, "silent")
        os.kill(process.pid, number)
        await ended(process, RUNTIME_SECONDS)
        with anyio.fail_after(HANG_SECONDS):
            await lifeline.all_dead()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("silent_at", STAGES)
async def test_a_conversation_with_a_silent_agent_ends_before_it_would_be_killed(
    home: Home, lifeline: Lifeline, silent_at: str, number: signal.Signals
) -> None:
    """Issue 12: bounds that hold."""
    with started(home, lifeline, ("chat", "--plain"), silent_at, ACCORD) as process:
        assert process.stdin is not None
        process.stdin.write(b"hello\n")
        await heard(lifeline, "prompt" if silent_at == "session/cancel" else "silent")
        os.kill(process.pid, number)
        await ended(process, RUNTIME_SECONDS)
        assert process.returncode == 128 + number
        with anyio.fail_after(HANG_SECONDS):
            await lifeline.all_dead()


def test_the_bound_is_less_than_eight_seconds() -> None:
    """Issue 12: SIGINT and SIGTERM end `accord run` within 8 s in all."""
    steps = (
        shutdown.TERMINATE_AFTER_SECONDS,
        shutdown.KILL_AFTER_SECONDS,
        shutdown.EXIT_AFTER_SECONDS,
    )
    assert list(steps) == sorted(steps)
    assert shutdown.EXIT_AFTER_SECONDS + shutdown.LAST_LOOK_SECONDS < 8


async def test_an_agent_that_is_killed_in_the_end_costs_no_last_words(
    home: Home, lifeline: Lifeline
) -> None:
    """Issue 12: the deadline ends the waits of an orderly end; it does not replace that end."""
    program = (sys.executable, "-c", PATIENT, "0.1,0.2,1000")
    words = ("run", "hello", "--format", "json")
    with started(home, lifeline, words, "session/prompt", program) as process:
        await heard(lifeline, "silent")
        os.kill(process.pid, signal.SIGTERM)
        out, error = await ended(process)
    assert process.returncode == 130
    assert json.loads(out.splitlines()[-1])["exitCode"] == 130
    assert "cancelled" in error


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
async def test_a_second_signal_ends_it_at_once(
    home: Home, lifeline: Lifeline, second: signal.Signals
) -> None:
    """Issue 12: who asks twice does not wait for an agent, and no process is left."""
    program = (sys.executable, "-c", PATIENT, "1000,1000,1000")
    with started(home, lifeline, ("run", "hello"), "session/prompt", program) as process:
        await heard(lifeline, "silent")
        os.kill(process.pid, signal.SIGTERM)
        assert process.stderr is not None
        # It says so, and waits for the agent.
        said = await anyio.to_thread.run_sync(process.stderr.readline)
        assert b"cancelling" in said
        os.kill(process.pid, second)
        await ended(process)
        with anyio.fail_after(HANG_SECONDS):
            await lifeline.all_dead()


STUCK = """
import sys, time
from accord.machine.processes import exit_on_signal as shutdown
shutdown.TERMINATE_AFTER_SECONDS = shutdown.KILL_AFTER_SECONDS = 0.1
shutdown.EXIT_AFTER_SECONDS = 0.2
shutdown.own_process()
ready = "ready\\n"
while True:
    try:
        # The signal may come as soon as this was read.
        ready = ready and sys.stdout.write(ready) and sys.stdout.flush()
        time.sleep(1000)
    except KeyboardInterrupt:
        ready = ""
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_process_that_is_stuck_leaves_all_the_same(number: signal.Signals) -> None:
    """Issue 12: nothing hangs, whatever the main thread is busy with."""
    with subprocess.Popen(
        [sys.executable, "-c", STUCK], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        os.kill(process.pid, number)
        _, error = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 128 + number
    assert b"did not stop in time" in error

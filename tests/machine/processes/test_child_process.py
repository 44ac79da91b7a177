"""Spawning in a group, the ladder of the end, and what cancelling leaves behind: nothing."""

import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from accord.errors import SpawnFailed
from accord.machine.processes.child_process import Exit, environment, spawn
from accord.machine.processes.process_groups import live_groups
from tests.hang_limit import HANG_SECONDS
from tests.machine.lifeline import Lifeline

pytestmark = pytest.mark.anyio

"""Far above what anything here takes; a hang fails, a busy machine does not."""

WAITING = "while :; do sleep 1000 & wait; done"
STUBBORN = f"trap '' TERM; echo ready >&9; {WAITING}"


@pytest.mark.parametrize(
    ("returncode", "exit_", "words"),
    [
        (0, Exit(code=0), "exit code 0"),
        (3, Exit(code=3), "exit code 3"),
        (-9, Exit(signal="SIGKILL"), "killed by SIGKILL"),
        (-15, Exit(signal="SIGTERM"), "killed by SIGTERM"),
        (-200, Exit(signal="SIG200"), "killed by SIG200"),
    ],
)
async def test_an_exit_says_in_words_how_a_process_ended(
    returncode: int, exit_: Exit, words: str
) -> None:
    """Issue: the error says exit code or signal."""
    assert Exit.from_returncode(returncode) == exit_
    assert str(exit_) == words
    assert str(Exit()) == "exit unknown"


async def test_a_process_runs_in_a_group_of_its_own_with_pipes() -> None:
    """Design: agents live in process groups."""
    with anyio.fail_after(HANG_SECONDS):
        async with await spawn([sys.executable, "-c", PRINT_GROUP]) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            await process.stdin.send(b"hello\n")
            said = b""
            while not said.endswith(b"\n"):
                said += await process.stdout.receive()
            assert said.decode().split() == ["hello", str(process.pid), str(process.pid)]
            assert process.pid in live_groups()
        assert process.exit == Exit(code=0)
        assert process.pid not in live_groups()


PRINT_GROUP = """
import os, sys
print(input(), os.getpgid(0), os.getsid(0), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["no-such-program-anywhere"], "'no-such-program-anywhere': no such program"),
        (["/"], "'/': permission denied"),
        (["a\0b"], "null byte"),
        ([], "the command is empty"),
    ],
)
async def test_a_program_that_cannot_start_is_named(command: list[str], words: str) -> None:
    """Issue: never a hang; the error says what happened."""
    with anyio.fail_after(HANG_SECONDS), pytest.raises(SpawnFailed, match=words):
        await spawn(command)


async def test_a_missing_working_directory_is_named_instead_of_the_program(tmp_path: Path) -> None:
    """Ours: the system's error for both is the same number."""
    with (
        anyio.fail_after(HANG_SECONDS),
        pytest.raises(SpawnFailed, match="missing' does not exist"),
    ):
        await spawn(["true"], cwd=tmp_path / "missing")
    (tmp_path / "file").touch()
    with (
        anyio.fail_after(HANG_SECONDS),
        pytest.raises(SpawnFailed, match="file' is not a directory"),
    ):
        await spawn(["true"], cwd=tmp_path / "file")


async def test_closing_stdin_is_enough_for_a_process_that_listens() -> None:
    """Design: the first step of the ladder, no signal."""
    with anyio.fail_after(HANG_SECONDS):
        process = await spawn(["cat"])
        assert await process.end() == Exit(code=0)


async def test_sigterm_comes_second(lifeline: Lifeline) -> None:
    """Design: a process that ignores the end of stdin gets SIGTERM and may clean up."""
    script = f"trap 'echo bye >&9; exit 7' TERM; echo ready >&9; {WAITING}"
    with anyio.fail_after(HANG_SECONDS):
        process = await spawn(lifeline.shell(script))
        assert await lifeline.word() == "ready"
        assert await process.end(stdin_seconds=0.01) == Exit(code=7)
        assert await lifeline.word() == "bye"
        await lifeline.all_dead()


async def test_sigkill_comes_last(lifeline: Lifeline) -> None:
    """Design: nothing resists."""
    with anyio.fail_after(HANG_SECONDS):
        process = await spawn(lifeline.shell(STUBBORN))
        assert await lifeline.word() == "ready"
        ended = await process.end(stdin_seconds=0.01, terminate_seconds=0.01)
        assert ended == Exit(signal="SIGKILL")
        await lifeline.all_dead()


async def test_a_stopped_process_is_ended_too(lifeline: Lifeline) -> None:
    """Ours: SIGTERM alone would wait for ever in a stopped process."""
    with anyio.fail_after(HANG_SECONDS):
        process = await spawn(lifeline.shell("echo ready >&9; exec sleep 1000"))
        assert await lifeline.word() == "ready"
        process.group.signal(signal.SIGSTOP)
        assert await process.end(stdin_seconds=0.01) == Exit(signal="SIGTERM")


async def test_grandchildren_go_with_a_process_that_left_by_itself(lifeline: Lifeline) -> None:
    """Issue: no orphan process."""
    with anyio.fail_after(HANG_SECONDS):
        process = await spawn(lifeline.shell("sleep 1000 & echo ready >&9; exit 5"))
        assert await lifeline.word() == "ready"
        assert await process.wait() == Exit(code=5)
        assert process.group.alive()
        assert await process.end() == Exit(code=5)
        await lifeline.all_dead()


async def test_grandchildren_that_hold_the_pipe_do_not_delay_the_exit(lifeline: Lifeline) -> None:
    """Issue: the exit is known when the process exits, not when the pipe closes."""
    with anyio.fail_after(HANG_SECONDS):
        async with await spawn(lifeline.shell("sleep 1000 & exit 0")) as process:
            assert await process.wait() == Exit(code=0)
        await lifeline.all_dead()


async def test_ending_twice_and_ending_the_dead_is_fine() -> None:
    """Ours: cleaning up needs no bookkeeping."""
    with anyio.fail_after(HANG_SECONDS):
        process = await spawn(["true"])
        await process.wait()
        assert await process.end() == Exit(code=0)
        assert await process.end() == Exit(code=0)
        assert not process.group.signal(signal.SIGTERM)


async def test_a_cancelled_end_goes_straight_to_sigkill(lifeline: Lifeline) -> None:
    """Ours: cancelling hurries, it does not leave anything."""
    with anyio.fail_after(HANG_SECONDS):
        process = await spawn(lifeline.shell(STUBBORN))
        assert await lifeline.word() == "ready"
        with anyio.CancelScope() as scope:
            scope.cancel()
            await process.end()
        assert process.exit == Exit(signal="SIGKILL")
        await lifeline.all_dead()


async def test_a_cancelled_spawn_leaves_no_process(lifeline: Lifeline) -> None:
    """Issue: cancellation leaves no process behind, not even one that had just started."""
    with anyio.fail_after(HANG_SECONDS):
        before = live_groups()
        with anyio.CancelScope() as scope:
            scope.cancel()
            await spawn(lifeline.shell("echo ready >&9; exec sleep 1000"))
        assert scope.cancelled_caught
        assert live_groups() == before
        await lifeline.all_dead()


async def test_an_exception_in_the_block_ends_the_process(lifeline: Lifeline) -> None:
    """Ours: the block owns the process."""
    with anyio.fail_after(HANG_SECONDS):
        try:
            async with await spawn(lifeline.shell("echo ready >&9; exec cat")):
                assert await lifeline.word() == "ready"
                raise ZeroDivisionError
        except ZeroDivisionError:
            await lifeline.all_dead()


async def test_a_process_that_died_with_our_words_unread_still_ends() -> None:
    """Ours: a broken pipe at the end is not an error."""
    with anyio.fail_after(HANG_SECONDS):
        process = await spawn(["true"])
        await process.wait()
        assert process.stdin is not None
        try:
            await process.stdin.send(b"x" * 1_000_000)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            pass
        assert await process.end() == Exit(code=0)


async def test_a_spawned_process_may_share_nothing_with_us() -> None:
    """Ours: stdin can be nothing at all."""
    with anyio.fail_after(HANG_SECONDS):
        process = await spawn(
            ["cat"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdin is None
        assert process.stderr is None
        assert await process.wait() == Exit(code=0)
        await process.end()


async def test_the_environment_is_merged_explicitly() -> None:
    """Ours: what is left out by pattern stays out, what is named explicitly wins."""
    inherited = {"PATH": "/bin", "AWS_KEY": "k", "AWS_REGION": "r", "TOKEN": "t", "LANG": "C"}
    merged = environment(
        {"AWS_REGION": "mine", "NEW": "1"}, inherited=inherited, without=["AWS_*", "TOKEN"]
    )
    assert merged == {"PATH": "/bin", "LANG": "C", "AWS_REGION": "mine", "NEW": "1"}
    assert "PATH" in environment()

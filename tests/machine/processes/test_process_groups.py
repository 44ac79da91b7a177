"""Groups must not outlive this process, however it ends, and signals must hit nobody else."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import anyio
import pytest

from accord.machine.processes import process_groups
from accord.machine.processes.process_groups import ProcessGroup, live_groups, track
from tests.hang_limit import HANG_SECONDS
from tests.machine.lifeline import Lifeline

pytestmark = pytest.mark.anyio


PARENT = """
import os, signal, subprocess, sys
from accord.machine.processes.process_groups import track
for _ in range(2):
    child = subprocess.Popen(["/bin/sh", "-c", sys.argv[1]], start_new_session=True)
    track(child.pid)
gone = subprocess.Popen(["true"], start_new_session=True)
group = track(gone.pid)
gone.wait()
group.leader_reaped()
assert not group.alive()
sys.stdin.readline()
match sys.argv[2]:
    case "exception": raise SystemExit("by exception")
    case "return": child.returncode = 0
    case number: os.kill(os.getpid(), int(number))
"""


@pytest.mark.parametrize(
    "how", ["return", "exception", str(int(signal.SIGTERM)), str(int(signal.SIGKILL))]
)
async def test_groups_die_with_their_parent_however_it_ends(how: str, lifeline: Lifeline) -> None:
    """Design: whatever ends the client ends them all, kill -9 included."""
    script = lifeline.shell("sleep 1000 & echo ready >&9; wait")[2]
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, script, how],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        with anyio.fail_after(HANG_SECONDS):
            assert [await lifeline.word() for _ in range(2)] == ["ready", "ready"]
            assert parent.stdin is not None
            parent.stdin.write("\n")
            parent.stdin.close()
            await lifeline.all_dead()
    finally:
        parent.kill()
        parent.wait()


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A child that leads a group."""
    child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    yield child
    child.kill()
    child.wait()


def test_a_new_watchman_takes_over_when_the_old_one_was_killed(
    sleeper: subprocess.Popen[bytes],
) -> None:
    """Ours: somebody may tidy up processes he does not know."""
    first = track(sleeper.pid)
    registry = process_groups._registry
    assert registry._watchman is not None
    old = registry._watchman.pid
    os.kill(old, signal.SIGKILL)
    os.waitid(os.P_PID, old, os.WEXITED | os.WNOWAIT)
    second = track(sleeper.pid)
    assert registry._watchman is not None
    assert registry._watchman.pid != old
    first.forget()
    second.forget()


def test_without_a_shell_groups_are_still_tracked(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: the watchman is a second net, not a condition."""
    registry = process_groups._Registry()
    monkeypatch.setattr(process_groups, "_registry", registry)

    def no_shell(*_: object, **__: object) -> None:
        raise FileNotFoundError

    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "Popen", no_shell)
        track(sleeper.pid)
    assert live_groups() == {sleeper.pid}
    registry.end_all()
    assert sleeper.wait() == -signal.SIGKILL
    assert live_groups() == frozenset()


def test_a_group_id_that_a_stranger_got_is_never_signalled(
    sleeper: subprocess.Popen[bytes],
) -> None:
    """Ours: after the leader was collected, a living process with its id is somebody else."""
    group = track(sleeper.pid)
    group.leader_reaped()
    assert not group.signal(signal.SIGKILL)
    assert sleeper.poll() is None
    assert sleeper.pid not in live_groups()


def test_the_dead_that_nobody_collected_do_not_count_as_alive(
    sleeper: subprocess.Popen[bytes],
) -> None:
    """Ours: in a container the first process often collects nobody."""
    group = track(sleeper.pid)
    assert group.alive()
    assert group.signal(signal.SIGKILL)
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert group.signal(0)
    assert not group.alive()
    group.forget()
    group.forget()


def test_a_group_that_never_was_is_not_alive() -> None:
    """Ours: signalling nobody is not an error."""
    ended = subprocess.Popen(["true"], start_new_session=True)
    ended.wait()
    assert not ProcessGroup(ended.pid).signal(signal.SIGTERM)


def test_a_forked_child_leaves_its_parents_programs_alone(
    sleeper: subprocess.Popen[bytes],
) -> None:
    """Ours: a fork runs the same atexit hooks; it must not kill what is not its own."""
    program = (
        "import os, subprocess, sys\n"
        "from accord.machine.processes.process_groups import live_groups, track\n"
        "child = subprocess.Popen(['cat'], stdin=subprocess.PIPE, start_new_session=True)\n"
        "track(child.pid)\n"
        "if os.fork() == 0:\n"
        "    sys.exit(0 if not live_groups() else 3)\n"
        "code = os.waitstatus_to_exitcode(os.wait()[1])\n"
        "alive = child.poll() is None\n"
        "child.stdin.close()\n"
        "print(code, alive, child.wait())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG_SECONDS
    )
    assert done.stdout.split() == ["0", "True", "0"], done.stderr

"""Descendants are found wherever they went, and nobody else is touched."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from accord.machine.processes import descendants
from accord.machine.processes.child_process import end_tree, spawn
from accord.machine.terminals.terminals import Terminals
from tests.hang_limit import HANG_SECONDS
from tests.machine.lifeline import Lifeline

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc"),
]

DAEMON = "(setsid sh -c 'trap \"\" HUP; echo daemon >&9; sleep 1000' &)"


async def test_the_end_of_a_process_is_the_end_of_its_daemons(lifeline: Lifeline) -> None:
    """Issue 12: a setsid grandchild outlived the connection that caused it."""
    with anyio.fail_after(HANG_SECONDS):
        process = await spawn(lifeline.shell(f"{DAEMON}; cat"))
        assert await lifeline.word() == "daemon"
        await process.end()
        await lifeline.all_dead()


async def test_a_cancelled_end_leaves_no_daemon(lifeline: Lifeline) -> None:
    """Ours: cancelling hurries, and still forgets nobody."""
    with anyio.fail_after(HANG_SECONDS):
        process = await spawn(lifeline.shell(f"{DAEMON}; trap '' TERM; sleep 1000"))
        assert await lifeline.word() == "daemon"
        with anyio.CancelScope() as scope:
            scope.cancel()
            await process.end()
        await lifeline.all_dead()


async def test_a_daemon_outlives_its_command_but_not_its_terminals(lifeline: Lifeline) -> None:
    """Issue 12: what agent-tools.md says about programs that a command detaches."""
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            terminals = Terminals(tasks)
            terminal = await terminals.create(lifeline.line(DAEMON))
            assert await lifeline.word() == "daemon"
            await terminal.wait()
            await terminals.release(terminal.id)
            await terminals.create("true")
            own = descendants.read_process(os.getpid())
            assert own is not None
            mark = terminals._mark
            assert mark is not None
            assert descendants.find_members(mark=mark, started_after=own.started).members
            await terminals.close_all()
            await lifeline.all_dead()


async def test_one_agents_end_is_not_anothers(lifeline: Lifeline) -> None:
    """Ours: every program has a mark of its own."""
    with anyio.fail_after(HANG_SECONDS):
        first, second = await spawn(["cat"]), await spawn(["cat"])
        await first.end()
        assert second.exit is None
        await second.end()
        await end_tree(descendants.new_mark())


async def test_a_nested_program_belongs_to_all_above_it(
    lifeline: Lifeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: an agent that uses the library has marks of its own, and keeps those above it."""
    monkeypatch.setenv(descendants.VARIABLE, "outer.1")
    made = descendants.marked({"A": "b"}, "inner.7")
    assert made == {"A": "b", descendants.VARIABLE: "outer.1:inner.7"}
    script = lifeline.shell("echo here >&9; exec sleep 1000")
    with subprocess.Popen(script, env={**os.environ, **made}) as process:
        with anyio.fail_after(HANG_SECONDS):
            assert await lifeline.word() == "here"
        for mark in ("outer", "outer.1", "inner", "inner.7"):
            assert descendants.has_mark(process.pid, mark)
        for mark in ("oute", "outer.12", "inner.71", "inner.70"):
            assert not descendants.has_mark(process.pid, mark)
        process.kill()


PROGRAM = """
import os, signal, subprocess, sys, time
from accord.machine import adopt_orphans, end_descendants, kept
from accord.machine.processes import descendants
descendants.REAP_SECONDS = 0.0
if sys.argv[2] == "command":
    descendants.adopt_orphans_later()
    descendants.before_start(())
assert adopt_orphans()
script = sys.argv[1]
user = subprocess.Popen(["sleep", "1000"], env=kept(), start_new_session=True)
child = subprocess.Popen(["/bin/sh", "-c", script], env={"PATH": os.environ["PATH"]})
child.wait()
sys.stdin.readline()
end_descendants()
print(user.poll(), flush=True)
user.kill()
quick = subprocess.Popen(["/bin/sh", "-c", "exit 7"])
os.waitid(os.P_PID, quick.pid, os.WEXITED | os.WNOWAIT)
known = {quick.pid, user.pid}
descendants.before_start(known)
descendants.before_start(known)
dead = [one for one in descendants.process_table().values() if one.parent == os.getpid()]
print(len([one for one in dead if one.is_dead and one.pid not in known]))
print(quick.wait(), user.wait() == -signal.SIGKILL)
"""


@pytest.mark.parametrize("who", ["program", "command"])
async def test_adopted_orphans_are_ended(lifeline: Lifeline, who: str) -> None:
    """Issue 12: the library does it where the program allows it, and steals no exit status.

    Our commands collect the dead as well; in a program of others that is the program's part.
    """
    script = lifeline.shell(f"{DAEMON}; {DAEMON}; exit 0")[2]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, script, who],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        try:
            with anyio.fail_after(HANG_SECONDS):
                assert [await lifeline.word() for _ in range(2)] == ["daemon", "daemon"]
                said, _ = await anyio.to_thread.run_sync(program.communicate, "\n")
                await lifeline.all_dead()
        finally:
            program.kill()
    user, dead, statuses = said.splitlines()
    assert (user, statuses) == ("None", "7 True")
    # A daemon may have collected its own child before it was ended itself.
    assert (int(dead) > 0) == (who == "program")


def test_a_process_that_is_gone_gets_no_signal() -> None:
    """Ours: its number may be somebody else's by now."""
    with subprocess.Popen(["sleep", "1000"]) as sleeper:
        found = descendants.read_process(sleeper.pid)
        assert found is not None
        found.started -= 1
        assert not descendants.send(found, signal.SIGKILL)
        assert sleeper.poll() is None
        sleeper.kill()
    assert not descendants.send(found, 0)


def test_without_a_process_table_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: on systems without /proc there are process groups only."""

    def no_table(_: str) -> list[str]:
        raise FileNotFoundError

    monkeypatch.setattr(os, "listdir", no_table)
    assert descendants.process_table() == {}
    assert descendants.find_members(mark="m", parent=os.getpid()).members == []


COMMAND = """
import os, subprocess, sys
from accord.machine.processes import descendants
descendants.adopt_orphans_later()
descendants.before_start(())
starting = [sys.executable, "-c", *sys.argv[1:]]
subprocess.Popen(starting, env=descendants.marked()).wait()
sys.stdin.readline()
descendants.end_descendants(float(sys.argv[3]))
print("ended", flush=True)
"""

FORKER = """
import os, signal, sys, time
line = os.open(sys.argv[1], os.O_WRONLY)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.environ.clear()
if os.fork():
    os._exit(0)
os.setsid()
os.write(line, b"daemon\\n")
os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", '''
import os, time
while not os.fork():
    os.setsid()
    time.sleep(0.002)
'''], {})
"""
"""A daemon that is a new process every few milliseconds, without group, mark or parent."""

IMPOSTOR = """
import os, sys
line = os.open(sys.argv[1], os.O_WRONLY)
os.set_inheritable(line, True)
if os.fork():
    os._exit(0)
os.setsid()
mark = os.environ["ACCORD_TREE"].split(":")[-1]
os.write(line, b"daemon\\n")
os.environ["ACCORD_KEPT"] = mark.partition(".")[0]
os.execvp("sleep", ["sleep", "1000"])
"""
"""A daemon that says of itself what is said of a browser of the user's."""


@pytest.mark.parametrize("terminate_seconds", ["0", "0.1"])
@pytest.mark.parametrize("program", [FORKER, IMPOSTOR])
async def test_what_hides_is_ended(
    lifeline: Lifeline, program: str, terminate_seconds: str
) -> None:
    """Issue 12: our commands end every descendant, also one that does not want to be found."""
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, program, str(lifeline.path), terminate_seconds],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as command:
        try:
            with anyio.fail_after(HANG_SECONDS):
                assert await lifeline.word() == "daemon"
                said, _ = await anyio.to_thread.run_sync(command.communicate, "\n")
                await lifeline.all_dead()
        finally:
            command.kill()
    assert said == "ended\n"


async def test_children_from_before_our_time_are_left_alone(lifeline: Lifeline) -> None:
    """Ours: `server & exec accord run ...` does not end the server."""
    script = f'sleep 1000 >&9 & echo $! >&9; exec "{sys.executable}" -c "$0" pass - 0'
    with subprocess.Popen(
        [*lifeline.shell(script), COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as command:
        with anyio.fail_after(HANG_SECONDS):
            server = int(await lifeline.word())
            try:
                said, _ = await anyio.to_thread.run_sync(command.communicate, "\n")
                found = descendants.read_process(server)
                assert found is not None
                assert not found.is_dead
            finally:
                os.kill(server, signal.SIGKILL)
                command.kill()
    assert said == "ended\n"


def test_a_process_in_the_middle_of_exec_keeps_its_mark(tmp_path: Path) -> None:
    """Ours: while a program is replaced by another, the system shows no variables for it."""
    script = tmp_path / "again.sh"
    script.write_text(f"exec /bin/sh {script}\n")
    mark = descendants.new_mark()
    with subprocess.Popen(["/bin/sh", script], env=descendants.marked(mark=mark)) as process:
        try:
            assert all(descendants.has_mark(process.pid, mark) for _ in range(2000))
        finally:
            process.kill()


def test_a_process_that_stays_in_exec_is_no_stranger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: on a busy machine a daemon outlived a killed `accord chat`."""
    environment, looks = descendants._environment, iter(range(5))

    def in_exec_at_first(pid: int) -> bytes:
        if pid == process.pid and next(looks, None) is not None:
            raise descendants._InExecError
        return environment(pid)

    monkeypatch.setattr(descendants, "_environment", in_exec_at_first)
    mark = descendants.new_mark()
    with subprocess.Popen(["sleep", "1000"], env=descendants.marked(mark=mark)) as process:
        try:
            descendants.end_marked(mark, 0, HANG_SECONDS)
            assert process.wait(HANG_SECONDS) == -signal.SIGKILL
        finally:
            process.kill()


def test_a_slow_look_is_not_the_last_one() -> None:
    """Ours: a look may take longer than all of them together should."""
    with subprocess.Popen(["sleep", "1000"]) as first, subprocess.Popen(["sleep", "1000"]) as later:
        found = [descendants.read_process(process.pid) for process in (first, later)]
        looks = iter(found)

        def find() -> descendants.Look:
            process = next(looks, None)
            return descendants.Look([process] if process else [], is_complete=True)

        try:
            descendants.end_members(find, 0, 0)
            assert {first.wait(HANG_SECONDS), later.wait(HANG_SECONDS)} == {-signal.SIGKILL}
        finally:
            first.kill()
            later.kill()


def test_a_program_without_variables_has_no_mark() -> None:
    """Ours: `env -i` empties the environment for good, so nothing is waited for."""
    with subprocess.Popen(["/bin/cat"], env={}, stdin=subprocess.PIPE) as process:
        assert not descendants.has_mark(process.pid, descendants.process_mark())
        assert process.stdin is not None
        process.stdin.close()

"""Terminals with real commands: output, exit, kill, release, and nothing left at the end."""

import logging
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from accord.errors import SpawnFailed
from accord.machine.errors import MachineError, TerminalUnknown, TooManyTerminals
from accord.machine.processes.child_process import Exit
from accord.machine.processes.process_groups import live_groups
from accord.machine.terminals.output_buffer import OUTPUT_BYTES_DEFAULT
from accord.machine.terminals.terminals import Terminals, command_line
from tests.hang_limit import HANG_SECONDS
from tests.machine.lifeline import Lifeline

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def terminals_open(
    count_max: int = 8, without_env: tuple[str, ...] = ()
) -> AsyncIterator[Terminals]:
    """A registry with a deadline; everything is closed at the end."""
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            terminals = Terminals(tasks, count_max=count_max, without_env=without_env)
            yield terminals
            await terminals.close_all()


@pytest.mark.rule("V1-TERM-02", "V1-TERM-09")
async def test_create_returns_while_the_command_runs(lifeline: Lifeline) -> None:
    """Spec: create returns at once, and there is no exit status before the exit."""
    async with terminals_open() as terminals:
        program, *args = lifeline.shell("echo started >&9; exec sleep 1000")
        terminal = await terminals.create(program, args)
        assert await lifeline.word() == "started"
        assert terminals.output(terminal.id).exit is None
        assert len(terminals) == 1
    await lifeline.all_dead()


@pytest.mark.rule("V1-TERM-04", "V1-TERM-09")
async def test_waiting_gives_the_exit_and_the_whole_output() -> None:
    """Spec: wait answers after the exit; then the output has the exit status."""
    async with terminals_open() as terminals:
        terminal = await terminals.create("/bin/sh", ["-c", "echo out; echo err >&2; exit 3"])
        assert await terminals.wait(terminal.id) == Exit(code=3)
        assert await terminals.wait(terminal.id) == Exit(code=3)
        shown = terminals.output(terminal.id)
        assert (shown.text, shown.truncated, shown.exit) == ("out\nerr\n", False, Exit(code=3))


async def test_stdout_and_stderr_are_merged_in_the_order_of_arrival() -> None:
    """Ours: one pipe, so no order is lost."""
    script = "for i in 1 2 3; do echo out $i; echo err $i >&2; done"
    async with terminals_open() as terminals:
        terminal = await terminals.create("/bin/sh", ["-c", script])
        await terminal.wait()
        expected = [f"{stream} {i}" for i in (1, 2, 3) for stream in ("out", "err")]
        assert terminal.output().text.splitlines() == expected


async def test_without_a_byte_limit_the_default_is_kept() -> None:
    """Design: 1 MiB per terminal."""
    async with terminals_open() as terminals:
        terminal = await terminals.create("/bin/true")
        await terminal.wait()
        assert terminal._buffer.bytes_max == OUTPUT_BYTES_DEFAULT == 1024 * 1024


@pytest.mark.rule("V1-TERM-03")
async def test_the_byte_limit_cuts_the_front_at_a_character() -> None:
    """Spec: limit 10 with characters of several bytes."""
    async with terminals_open() as terminals:
        terminal = await terminals.create(
            "/bin/sh", ["-c", "printf 'aéäö€😀'"], output_byte_limit=10
        )
        await terminal.wait()
        shown = terminal.output()
        assert shown.text == "ö€😀"
        assert len(shown.text.encode()) == 9
        assert shown.truncated


async def test_much_output_is_drained_and_bounded() -> None:
    """Issue: no buffer without a bound; the newest part is kept."""
    script = "import sys\nfor i in range(40000): print(f'{i:05}' + 'x' * 60)\nprint('last')"
    async with terminals_open() as terminals:
        terminal = await terminals.create(sys.executable, ["-c", script], output_byte_limit=5000)
        await terminal.wait()
        shown = terminal.output()
        assert shown.text.endswith("39999" + "x" * 60 + "\nlast\n")
        assert len(shown.text) == 5000
        assert shown.truncated


@pytest.mark.rule("V1-TERM-05")
async def test_kill_ends_the_command_and_the_id_stays_good(lifeline: Lifeline) -> None:
    """Spec: kill, then output and wait still answer."""
    async with terminals_open() as terminals:
        program, *args = lifeline.shell("echo hello; echo ready >&9; sleep 1000; echo never")
        terminal = await terminals.create(program, args)
        assert await lifeline.word() == "ready"
        await terminals.kill(terminal.id)
        await lifeline.all_dead()
        assert await terminals.wait(terminal.id) == Exit(signal="SIGTERM")
        assert terminals.output(terminal.id).text == "hello\n"
        await terminals.kill(terminal.id)
        await terminals.release(terminal.id)


async def test_kill_reaches_a_command_that_ignores_sigterm(
    lifeline: Lifeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: SIGKILL follows after a bound."""
    monkeypatch.setattr("accord.machine.terminals.terminals.TERMINATE_SECONDS", 0.01)
    async with terminals_open() as terminals:
        program, *args = lifeline.shell("trap '' TERM; sleep 1000 & echo ready >&9; wait")
        terminal = await terminals.create(program, args)
        assert await lifeline.word() == "ready"
        await terminal.kill()
        assert terminal.output().exit == Exit(signal="SIGKILL")
        await lifeline.all_dead()


@pytest.mark.rule("V1-TERM-06")
async def test_release_ends_the_command_and_the_id(lifeline: Lifeline) -> None:
    """Spec: released terminals answer with an error; who waits is told the exit."""
    async with terminals_open() as terminals:
        program, *args = lifeline.shell("echo ready >&9; exec sleep 1000")
        terminal = await terminals.create(program, args)
        assert await lifeline.word() == "ready"
        exits: list[Exit] = []

        async def wait() -> None:
            exits.append(await terminal.wait())

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await terminals.release(terminal.id)
        assert exits == [Exit(signal="SIGTERM")]
        await lifeline.all_dead()
        with pytest.raises(TerminalUnknown):
            terminals.output(terminal.id)
        for method in (terminals.wait, terminals.kill, terminals.release):
            with pytest.raises(TerminalUnknown, match=terminal.id):
                await method(terminal.id)


async def test_grandchildren_that_hold_the_pipe_do_not_hang_wait(lifeline: Lifeline) -> None:
    """Issue: the exit is known when the command exits; the background goes with the release."""
    async with terminals_open() as terminals:
        line = lifeline.line("echo ready >&9; sleep 1000 & echo done; exit 4")
        terminal = await terminals.create(line)
        assert await terminal.wait() == Exit(code=4)
        assert terminal.output().text == "done\n"
        assert terminal.pid in live_groups()
        await terminals.release(terminal.id)
        await lifeline.all_dead()


async def test_a_daemon_that_left_the_group_does_not_hang_the_release(tmp_path: Path) -> None:
    """Ours: who calls setsid is out of reach, but must not hold us by the pipe."""
    pid_file = tmp_path / "pid"
    script = f"setsid sh -c 'echo $$ > {pid_file}; exec sleep 1000' & wait"
    async with terminals_open() as terminals:
        terminal = await terminals.create(f"{script} & until [ -s {pid_file} ]; do :; done")
        await terminal.wait()
        await terminals.release(terminal.id)
    os.kill(int(pid_file.read_text()), 9)


async def test_close_all_ends_everything_at_once(lifeline: Lifeline) -> None:
    """Issue: all gone when the connection ends."""
    async with terminals_open() as terminals:
        program, *args = lifeline.shell("echo ready >&9; sleep 1000 & wait")
        created = [await terminals.create(program, args) for _ in range(4)]
        for _ in created:
            assert await lifeline.word() == "ready"
        await terminals.close_all()
        await lifeline.all_dead()
        assert len(terminals) == 0
        with pytest.raises(MachineError, match="closed"):
            await terminals.create("true")


async def test_a_cancelled_task_group_takes_its_terminals_along(lifeline: Lifeline) -> None:
    """Issue: whatever ends the client ends them all, also without close_all."""
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            terminals = Terminals(tasks)
            program, *args = lifeline.shell("trap '' TERM; echo ready >&9; sleep 1000 & wait")
            terminal = await terminals.create(program, args)
            assert await lifeline.word() == "ready"
            tasks.cancel_scope.cancel()
        await lifeline.all_dead()
        assert await terminal.wait() == Exit(signal="SIGKILL")


async def test_a_cancelled_create_leaves_no_command(lifeline: Lifeline) -> None:
    """Issue: cancellation at each await leaves no process behind."""
    async with terminals_open() as terminals:
        program, *args = lifeline.shell("echo ready >&9; exec sleep 1000")
        with anyio.CancelScope() as scope:
            scope.cancel()
            await terminals.create(program, args)
        assert scope.cancelled_caught
        assert len(terminals) == 0
        await lifeline.all_dead()


@pytest.mark.parametrize("step", ["wait", "kill", "release", "close_all"])
async def test_cancelling_any_step_leaves_no_command(
    step: str, lifeline: Lifeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: cancellation at each await leaves no process behind once the owner has left."""
    monkeypatch.setattr("accord.machine.terminals.terminals.TERMINATE_SECONDS", 1000)
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as owner:
            terminals = Terminals(owner)
            program, *args = lifeline.shell("trap '' TERM; echo ready >&9; sleep 1000 & wait")
            terminal = await terminals.create(program, args)
            assert await lifeline.word() == "ready"
            async with anyio.create_task_group() as tasks:
                if step == "close_all":
                    tasks.start_soon(terminals.close_all)
                else:
                    tasks.start_soon(getattr(terminals, step), terminal.id)
                await anyio.wait_all_tasks_blocked()
                tasks.cancel_scope.cancel()
            if step == "wait":
                assert terminal.output().exit is None
                owner.cancel_scope.cancel()
            elif step == "kill":
                await terminal.wait()
                owner.cancel_scope.cancel()
        assert await terminal.wait() == Exit(signal="SIGKILL")
        await lifeline.all_dead()


async def test_cancelling_after_any_number_of_steps_leaves_no_command(lifeline: Lifeline) -> None:
    """Issue: a walk through a whole life, cancelled one turn of the loop later each time."""
    program, *args = lifeline.shell("echo printed; exec sleep 1000")

    async def live(terminals: Terminals) -> None:
        terminal = await terminals.create(program, args)
        await terminals.kill(terminal.id)
        await terminals.wait(terminal.id)
        await terminals.release(terminal.id)

    async def cancel_after(steps: int, scope: anyio.CancelScope) -> None:
        for _ in range(steps):
            await checkpoint()
        scope.cancel()

    with anyio.fail_after(HANG_SECONDS):
        before = live_groups()
        for steps in range(0, 60, 2):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(cancel_after, steps, tasks.cancel_scope)
                tasks.start_soon(live, Terminals(tasks))
            assert live_groups() == before
        await lifeline.all_dead()


async def test_a_command_that_starts_while_all_are_closed_is_ended(lifeline: Lifeline) -> None:
    """Ours: close_all means all, also the one that is just being started."""
    program, *args = lifeline.shell("exec sleep 1000")
    refused: list[str] = []

    async def create(terminals: Terminals) -> None:
        try:
            await terminals.create(program, args)
        except MachineError as error:
            refused.append(str(error))

    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            terminals = Terminals(tasks)
            tasks.start_soon(create, terminals)
            while not terminals._starting:
                await checkpoint()
            await terminals.close_all()
        assert refused == ["the terminals were closed"]
        await lifeline.all_dead()


async def test_a_command_that_does_not_exist_is_named() -> None:
    """Issue: a clear error and not a hang."""
    async with terminals_open() as terminals:
        with pytest.raises(SpawnFailed, match="no-such-command"):
            await terminals.create("no-such-command")
        assert len(terminals) == 0


async def test_the_number_of_terminals_is_bounded() -> None:
    """Design: everything has a bound with a name."""
    async with terminals_open(count_max=2) as terminals:
        first = await terminals.create("true")
        await terminals.create("true")
        with pytest.raises(TooManyTerminals, match="2 terminals"):
            await terminals.create("true")
        await terminals.release(first.id)
        await terminals.create("true")


async def test_a_whole_line_without_arguments_goes_through_a_shell(tmp_path: Path) -> None:
    """Real peers send `command` as a shell line."""
    async with terminals_open() as terminals:
        terminal = await terminals.create("echo one two | wc -w; pwd", cwd=tmp_path)
        await terminal.wait()
        count, directory = terminal.output().text.split()
        assert count == "2"
        assert Path(directory).resolve() == tmp_path.resolve()


async def test_environment_is_added_and_filtered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: variables of the request win, named ones of ours stay here."""
    monkeypatch.setenv("ACCORD_TEST_SECRET", "s")
    async with terminals_open(without_env=("*_SECRET",)) as terminals:
        terminal = await terminals.create(
            'echo "${ACCORD_TEST_SECRET-none} $ADDED"', env={"ADDED": "yes"}
        )
        await terminal.wait()
        assert terminal.output().text == "none yes\n"


async def test_commands_read_an_empty_stdin() -> None:
    """Ours: a command that asks gets the end of the file, not our keyboard."""
    async with terminals_open() as terminals:
        terminal = await terminals.create("cat")
        assert await terminal.wait() == Exit(code=0)


async def test_a_listener_gets_every_byte_in_order() -> None:
    """v2: an agent streams its own terminal."""
    heard = bytearray()

    async def listen(data: bytes) -> None:
        heard.extend(data)

    async with terminals_open() as terminals:
        terminal = await terminals.create(
            "/bin/sh", ["-c", "printf 'a\\377\\303'; printf '\\251b'"], on_output=listen
        )
        await terminal.wait()
        assert bytes(heard) == b"a\xff\xc3\xa9b"
        assert terminal.output().text == "a\ufffdéb"


async def test_a_listener_that_fails_is_dropped_and_the_command_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Ours: the listener's fault must not stop the command, and must not be silent."""

    async def listen(data: bytes) -> None:
        raise ZeroDivisionError

    async with terminals_open() as terminals:
        with caplog.at_level(logging.ERROR, "accord.machine"):
            terminal = await terminals.create("echo one; echo two", on_output=listen)
            assert await terminal.wait() == Exit(code=0)
        assert terminal.output().text == "one\ntwo\n"
        assert "not asked again" in caplog.text


def test_only_lines_go_to_the_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Real peers: a program is executed as it is, a line is given to a shell."""
    shell = shutil.which("bash") or "/bin/sh"
    assert command_line("ls") == ["ls"]
    assert command_line("ls", ["a b", "$HOME"]) == ["ls", "a b", "$HOME"]
    assert command_line("ls -l") == [shell, "-c", "ls -l"]
    assert command_line("a && b", shell="/bin/zsh") == ["/bin/zsh", "-c", "a && b"]
    assert command_line("$EDITOR") == [shell, "-c", "$EDITOR"]
    spaced = tmp_path / "my tool"
    spaced.write_text("#!/bin/sh\n")
    spaced.chmod(0o755)
    assert command_line(str(spaced)) == [str(spaced)]

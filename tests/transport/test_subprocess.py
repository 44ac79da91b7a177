"""An agent's process as a transport: its messages, its end, its stderr."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.errors import SpawnFailed
from accord.machine.console.stderr_passthrough import PassedOutput
from accord.machine.own_command_line import own_command
from accord.machine.processes.child_process import GroupProcess
from accord.machine.processes.process_groups import live_groups
from accord.transport.subprocess import (
    STDERR_BYTES_KEPT,
    ConnectNotices,
    SubprocessTransport,
    connect_failure,
)
from tests.machine.lifeline import Lifeline
from tests.transport.collector import SECONDS, Collecting


@pytest.fixture(autouse=True)
def no_process_is_left_behind() -> Iterator[None]:
    """After `aclose` no process of the group is alive."""
    before = live_groups()
    yield
    assert live_groups() == before


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """For processes that do not go by themselves: nobody waits long for that."""
    monkeypatch.setattr("accord.transport.subprocess.LEAVE_SECONDS_MAX", 0.1)
    monkeypatch.setattr("accord.transport.subprocess.EXIT_SECONDS_MAX", 0.1)
    monkeypatch.setattr("accord.transport.pipes.UNREAD_SECONDS_MAX", 0.1)
    bounds = GroupProcess.end.__kwdefaults__
    assert bounds is not None
    monkeypatch.setitem(bounds, "terminate_seconds", 0.1)


@asynccontextmanager
async def running(
    *command: str, **options: Any
) -> AsyncIterator[tuple[SubprocessTransport, Collecting]]:
    """A process behind a transport."""
    receiver = Collecting()
    transport = SubprocessTransport(command, **options)
    async with anyio.create_task_group() as tasks:
        await transport.start(receiver, tasks)
        try:
            yield transport, receiver
        finally:
            with anyio.CancelScope(shield=True), anyio.fail_after(SECONDS):
                await transport.aclose()
            tasks.cancel_scope.cancel()
    assert len(receiver.ends) == 1


def shell(script: str) -> tuple[str, ...]:
    """A command of the shell."""
    return "/bin/sh", "-c", script


async def test_what_is_written_comes_back_through_a_process() -> None:
    """TR-STDIO-01."""
    async with running("/bin/cat") as (transport, receiver):
        assert transport.command == ("/bin/cat",)
        assert transport.pid is not None
        transport.write(b"x" * 300_000)
        await transport.drain()
        await receiver.until(lambda: len(receiver.data) == 300_000)
        assert transport.backlog == 0


@pytest.mark.parametrize(
    ("script", "status", "reason"),
    [
        ("echo out; echo oops >&2; exit 7", "exit code 7", "exit code 7"),
        ("echo out; echo oops >&2; exit 0", "exit code 0", "exit code 0"),
        ("echo out; echo oops >&2; kill -9 $$", "killed by SIGKILL", "killed by SIGKILL"),
    ],
)
async def test_an_end_is_told_with_status_and_last_words(
    script: str, status: str, reason: str
) -> None:
    """Issue 3: the error that the caller gets says what happened."""
    async with running(*shell(script)) as (transport, receiver):
        why = await receiver.end()
        line = shlex.join(shell(script))
        assert why.reason == f"the agent `{line}` exited: {reason}"
        assert why.exit_status == status
        assert why.stderr_tail == "oops\n"
        assert not why.writable
        assert receiver.data == b"out\n"
        assert transport.stderr_tail == "oops\n"


async def test_much_stderr_never_stops_the_process_and_its_tail_is_kept() -> None:
    """TR-STDIO-06, issue 3: 200 KB and more of stderr."""
    heard: list[bytes] = []
    script = "import sys; sys.stderr.write('é' * 500_000 + 'the end'); print('done')"
    async with running(sys.executable, "-c", script, stderr=heard.append) as (_, receiver):
        why = await receiver.end()
        assert receiver.data == b"done\n"
        assert why.stderr_tail.endswith("é" * 1000 + "the end")
        assert len(why.stderr_tail.encode()) <= STDERR_BYTES_KEPT + 3
        assert len(b"".join(heard)) == 1_000_007


async def test_a_process_that_is_gone_is_not_waited_for_because_of_its_child(
    tmp_path: Path,
) -> None:
    """A fault of others: a grandchild holds stdout open.  It goes too."""
    line = Lifeline(tmp_path / "line")
    try:
        script = f'exec 9>"{line.path}"; sleep 1000 & echo out; exit 5'
        async with running(*shell(script)) as (_, receiver):
            why = await receiver.end()
            assert why.exit_status == "exit code 5"
            assert receiver.data == b"out\n"
        with anyio.fail_after(SECONDS):
            await line.all_dead()
    finally:
        line.close()


async def test_what_a_process_said_before_its_end_is_read_even_by_a_slow_reader() -> None:
    """Issue 2: updates are not lost because the agent was quick to leave."""
    script = "import sys; sys.stdout.write('x' * 900_000)"
    async with running(sys.executable, "-c", script) as (transport, receiver):
        transport.pause()
        assert transport.pid is not None
        with anyio.fail_after(SECONDS):
            # The pipe holds 1 MiB where the system allows it, and 64 KiB where not.
            await anyio.to_thread.run_sync(_gone_or_waiting, transport.pid)
        transport.resume()
        await receiver.end()
        assert len(receiver.data) == 900_000


def _gone_or_waiting(pid: int) -> None:
    """Return when a process has ended, or sleeps because the pipe is full."""
    while True:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            waits = Path(f"/proc/{pid}/wchan").read_text()
        except OSError:
            return
        if state in "ZX" or "pipe" in waits:
            return


@pytest.mark.usefixtures("hurried")
async def test_closing_goes_from_polite_to_firm(tmp_path: Path) -> None:
    """Design: stdin closed, then SIGTERM, then SIGKILL to the whole group."""
    line = Lifeline(tmp_path / "line")
    try:
        script = f'exec 9>"{line.path}"; trap "" TERM; echo up >&9; while :; do sleep 1; done'
        async with running(*shell(script)) as (transport, receiver):
            with anyio.fail_after(SECONDS):
                assert await line.word() == "up"
                await transport.aclose()
                await line.all_dead()
        assert receiver.ends[0].exit_status == "killed by SIGKILL"
    finally:
        line.close()


async def test_a_process_that_leaves_when_its_stdin_closes_is_left_in_peace() -> None:
    """No signal where none is needed."""
    async with running("/bin/cat") as (transport, receiver):
        await transport.aclose()
        await transport.aclose()
        assert receiver.ends[0].exit_status == "exit code 0"


@pytest.mark.usefixtures("hurried")
async def test_a_process_that_takes_nothing_is_lost_after_the_limit() -> None:
    """Issue 3: a peer that stops reading; the process is named."""
    async with running("/bin/sleep", "1000", stall_seconds=0.1) as (transport, receiver):
        transport.write(b"x" * (4 * 1024 * 1024))
        with anyio.fail_after(SECONDS):
            await transport.drain()
        why = await receiver.end()
        assert why.reason == "the agent `/bin/sleep 1000`: the peer read nothing for 0.1 s"
        assert why.exit_status is None


@pytest.mark.usefixtures("hurried")
async def test_a_process_that_closed_its_stdin_ends_the_transport() -> None:
    """A fault of others: the first send fails and later ones wait for ever."""
    async with running(*shell("exec 0<&-; echo ready; sleep 1000")) as (transport, receiver):
        await receiver.until(lambda: receiver.data == b"ready\n")
        transport.write(b"hello")
        transport.write(b"hello")
        why = await receiver.end()
        assert "closed its reading side" in why.reason


async def test_a_program_that_does_not_exist_is_an_error_of_ours(tmp_path: Path) -> None:
    """Issue: the error names it; no descriptor is left open."""
    before = len(os.listdir("/proc/self/fd"))
    transport = SubprocessTransport([str(tmp_path / "nothing")])
    assert transport.pid is None
    async with anyio.create_task_group() as tasks:
        with pytest.raises(SpawnFailed, match="no such program"):
            await transport.start(Collecting(), tasks)
        await transport.aclose()
    assert len(os.listdir("/proc/self/fd")) == before


async def test_a_killed_process_is_told_by_its_signal() -> None:
    """Issue 3: kill -9 from outside."""
    async with running("/bin/cat") as (transport, receiver):
        assert transport.pid is not None
        os.kill(transport.pid, signal.SIGKILL)
        why = await receiver.end()
        assert why.exit_status == "killed by SIGKILL"


def test_stderr_can_be_shown_as_it_comes(capfd: pytest.CaptureFixture[str]) -> None:
    """TR-STDIO-06: captured, forwarded or dropped, as the client likes."""
    PassedOutput()(b"a word\n")
    assert capfd.readouterr().err == "a word\n"


async def test_stderr_is_shown_without_secrets_and_to_its_end(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Issue 12: a proxy's stderr is the log of an editor; the key comes in two writes."""
    key = "sk-" + "abcd1234" * 4
    script = (
        "import sys; e = sys.stderr\n"
        f"for part in ('a {key[:9]}', '{key[9:]} b', ' bear'): e.write(part); e.flush()"
    )
    async with running(sys.executable, "-c", script, stderr=PassedOutput()) as (_, receiver):
        await receiver.end()
    assert capfd.readouterr().err == "a [secret] b bear"


async def test_no_line_of_a_private_key_is_the_last_word_of_an_agent() -> None:
    """Issue 12: whoever tells of the end takes a line or a few, without the one that says it."""
    lines = "'-----BEGIN PRIVATE KEY-----', *['MIIE'] * 60"
    script = f"import sys; print({lines}, sep='\\n', file=sys.stderr)"
    async with running(sys.executable, "-c", script) as (transport, receiver):
        why = await receiver.end()
        assert "MIIE" not in why.stderr_tail
        assert "MIIE" not in transport.stderr_tail


async def test_a_long_command_is_shown_as_far_as_it_helps() -> None:
    """Ours: the whole command names the agent, but not all of a program on the command line."""
    async with running("/bin/sh", "-c", f"exit 3; {'x' * 1000}") as (_, receiver):
        why = await receiver.end()
        assert why.reason.startswith("the agent `/bin/sh -c 'exit 3; xxx")
        assert len(why.reason) < 300
        assert why.reason.endswith("…` exited: exit code 3")


REFUSED = "cannot connect to ws://a/acp: nothing listens on port 80 of a"


@pytest.mark.parametrize(
    ("words", "stderr", "expected"),
    [
        (("accord", "connect", "ws://a/acp"), f"a warning\naccord connect: {REFUSED}\n", REFUSED),
        (("accord", "connect", "ws://a/acp"), "Traceback\nValueError: x\n", None),
        (("accord", "connect", "ws://a/acp"), "", None),
        (("accord", "agent"), f"accord connect: {REFUSED}\n", None),
        (("some-agent",), f"accord connect: {REFUSED}\n", None),
    ],
)
def test_a_connection_that_failed_is_told_from_an_agent_that_exited(
    words: tuple[str, ...], stderr: str, expected: str | None
) -> None:
    """Ours: for an agent at a URL, the exit code of our own process says nothing."""
    assert connect_failure(words, stderr) == expected


async def test_the_end_of_a_connection_has_its_reason_alone() -> None:
    """Ours: `accord connect` is a process of ours that the user knows nothing of."""
    async with running(*own_command("connect", "ws://127.0.0.1:1/acp")) as (_, receiver):
        why = await receiver.end()
    assert why.reason.startswith("cannot connect to ws://127.0.0.1:1/acp: nothing listens")
    assert (why.exit_status, why.stderr_tail) == (None, "")


def test_what_a_connection_says_meanwhile_is_handed_on() -> None:
    """Ours: in lines, however it comes; the reason of its end comes with the end."""
    said: list[str] = []
    listener = ConnectNotices.of(own_command("connect", "ws://a/acp"), said.append)
    assert listener is not None
    for piece in (b"it is inter", b"rupted\nanother\n", b"\naccord connect: it ended\n"):
        listener(piece)
    assert said == ["it is interrupted", "another"]
    assert ConnectNotices.of(("some-agent",), said.append) is None

"""Terminals for agents: real commands, and nothing left when session or connection end."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from accord.client.services import terminals as module
from accord.client.services.terminals import TerminalService
from accord.errors import LocalProtocolError, RequestError
from accord.machine import Exit, live_groups
from tests.hang_limit import HANG_SECONDS

pytestmark = pytest.mark.anyio

FOREVER = ("sleep", ["1000"])


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    before = live_groups()
    yield
    assert live_groups() == before


@asynccontextmanager
async def service(cwd: Path, **options: int) -> AsyncIterator[TerminalService]:
    """Terminals of a connection with the session `s`, closed at the end."""
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            terminals = TerminalService(**options).for_connection(tasks)  # type: ignore[arg-type]
            terminals.add_session("s", str(cwd))
            yield terminals
            await terminals.close_all()


@pytest.mark.rule("V1-TERM-02", "V1-TERM-04", "V1-TERM-09")
async def test_a_command_runs_and_is_waited_for(tmp_path: Path) -> None:
    """Spec: create returns at once, the exit is known only after it."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with service(tmp_path) as terminals:
        terminal_id = await terminals.create(
            "s", "sh", ["-c", f"cat {gate}; pwd; echo $WORD; exit 3"], env={"WORD": "hi"}
        )
        assert terminals.output("s", terminal_id).exit is None
        with gate.open("w") as opened:
            opened.write("go\n")
        assert await terminals.wait_for_exit("s", terminal_id) == Exit(code=3)
        shown = terminals.output("s", terminal_id)
        assert shown.text == f"go\n{tmp_path.resolve()}\nhi\n"
        assert shown.exit == Exit(code=3)
        assert not shown.truncated
        await terminals.release("s", terminal_id)


@pytest.mark.rule("V1-TERM-03")
async def test_output_over_the_limit_loses_its_front(tmp_path: Path) -> None:
    """Spec: oldest first, on a character boundary, `truncated` set."""
    async with service(tmp_path) as terminals:
        terminal_id = await terminals.create("s", "printf", ["aéaéaéaéaéaé"], output_byte_limit=10)
        await terminals.wait_for_exit("s", terminal_id)
        shown = terminals.output("s", terminal_id)
        assert shown.truncated
        assert "aéaéaéaéaéaé".endswith(shown.text)
        assert 9 <= len(shown.text.encode()) <= 10


@pytest.mark.rule("V1-TERM-05")
async def test_a_killed_command_keeps_its_id(tmp_path: Path) -> None:
    """Spec: output and wait still work."""
    async with service(tmp_path) as terminals:
        terminal_id = await terminals.create("s", *FOREVER)
        await terminals.kill("s", terminal_id)
        assert (await terminals.wait_for_exit("s", terminal_id)).signal == "SIGTERM"
        assert terminals.output("s", terminal_id).exit is not None
        await terminals.kill("s", terminal_id)


@pytest.mark.rule("V1-TERM-06", "V1-TERM-08")
async def test_a_released_terminal_is_unknown_but_can_still_be_shown(tmp_path: Path) -> None:
    """Spec: the id becomes invalid; what a tool call shows stays."""
    async with service(tmp_path) as terminals:
        terminal_id = await terminals.create("s", "echo", ["hello"])
        await terminals.wait_for_exit("s", terminal_id)
        assert terminals.shown(terminal_id) == terminals.output("s", terminal_id)
        await terminals.release("s", terminal_id)
        with pytest.raises(RequestError) as raised:
            terminals.output("s", terminal_id)
        assert (raised.value.code, raised.value.data) == (-32002, {"terminalId": terminal_id})
        for ask in (terminals.wait_for_exit, terminals.kill, terminals.release):
            with pytest.raises(RequestError):
                await ask("s", terminal_id)
        shown = terminals.shown(terminal_id)
        assert shown is not None
        assert shown.text == "hello\n"
        assert terminals.shown("unknown") is None


async def test_what_was_released_is_shown_within_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: everything has a bound."""
    monkeypatch.setattr(module, "RELEASED_MAX", 1)
    async with service(tmp_path) as terminals:
        ids = [await terminals.create("s", "true") for _ in range(2)]
        for terminal_id in ids:
            await terminals.release("s", terminal_id)
        assert terminals.shown(ids[0]) is None
        assert terminals.shown(ids[1]) is not None


async def test_a_terminal_belongs_to_its_session(tmp_path: Path) -> None:
    """Ours: no session reads or kills what another runs."""
    async with service(tmp_path) as terminals:
        terminals.add_session("t", str(tmp_path))
        terminal_id = await terminals.create("s", *FOREVER)
        for session_id in ("t", "unknown"):
            with pytest.raises(RequestError):
                terminals.output(session_id, terminal_id)
            with pytest.raises(RequestError):
                await terminals.kill(session_id, terminal_id)
        assert terminals.output("s", terminal_id).exit is None


async def test_the_end_of_a_session_ends_its_commands(tmp_path: Path) -> None:
    """Issue: all gone when the connection ends; a session's when it ends."""
    async with service(tmp_path) as terminals:
        terminals.add_session("t", str(tmp_path))
        for _ in range(2):
            await terminals.create("s", *FOREVER)
        kept = await terminals.create("t", *FOREVER)
        before = live_groups()
        await terminals.close_session("s")
        await terminals.close_session("s")
        assert len(live_groups()) == len(before) - 2
        assert terminals.output("t", kept).exit is None
        with pytest.raises(RequestError) as raised:
            await terminals.create("s", "true")
        assert raised.value.data == {"sessionId": "s"}


async def test_a_waiter_is_told_when_its_session_ends(tmp_path: Path) -> None:
    """Ours: none hangs."""
    got: list[Exit] = []
    async with service(tmp_path) as terminals:
        terminal_id = await terminals.create("s", *FOREVER)

        async def wait() -> None:
            got.append(await terminals.wait_for_exit("s", terminal_id))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await terminals.close_session("s")
    assert got == [Exit(signal="SIGTERM")]


async def test_cancelling_the_connection_ends_every_command(tmp_path: Path) -> None:
    """Issue: no orphan process."""
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            terminals = TerminalService().for_connection(tasks)
            terminals.add_session("s", str(tmp_path))
            await terminals.create("s", *FOREVER)
            tasks.cancel_scope.cancel()


async def test_a_session_that_ends_while_its_command_starts_leaves_nothing(tmp_path: Path) -> None:
    """Ours: starting takes a moment in which anything may happen."""
    failed: list[RequestError] = []
    async with service(tmp_path) as terminals:

        async def create() -> None:
            try:
                await terminals.create("s", *FOREVER)
            except RequestError as error:
                failed.append(error)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(create)
            # One step: the command is starting, and not yet known.
            await anyio.lowlevel.checkpoint()
            await terminals.close_session("s")
    assert [error.code for error in failed] == [-32002]


@pytest.mark.parametrize(
    ("command", "args", "env", "cwd", "field"),
    [
        ("", [], None, None, "$.command"),
        ("no-such-program-here", ["x"], None, None, "$.command"),
        ("echo", ["nul\0"], None, None, "$.command"),
        ("echo", [], {"A=B": "c"}, None, "$.env"),
        ("echo", [], {"": "c"}, None, "$.env"),
        ("echo", [], None, "/not/there", "$.cwd"),
        ("echo", [], None, "relative", "$.cwd"),
    ],
)
async def test_what_cannot_start_is_answered_with_the_field(
    tmp_path: Path,
    command: str,
    args: list[str],
    env: dict[str, str] | None,
    cwd: str | None,
    field: str,
) -> None:
    """Issue: -32602 carries the path and reason of the bad field."""
    async with service(tmp_path) as terminals:
        with pytest.raises(RequestError) as raised:
            await terminals.create("s", command, args, env=env, cwd=cwd)
        assert raised.value.code == -32602
        assert raised.value.data["path"] == field


async def test_too_many_terminals_are_refused(tmp_path: Path) -> None:
    """Ours: everything has a bound."""
    async with service(tmp_path, count_max=1) as terminals:
        await terminals.create("s", *FOREVER)
        with pytest.raises(RequestError) as raised:
            await terminals.create("s", *FOREVER)
        assert raised.value.data == {"reason": "too_many_terminals"}


async def test_a_closed_service_starts_nothing(tmp_path: Path) -> None:
    """Ours: a request that was on its way finds the connection over."""
    async with service(tmp_path) as terminals:
        await terminals.close_all()
        terminals.add_session("s", str(tmp_path))
        with pytest.raises(RequestError):
            await terminals.create("s", "true")


async def test_terminals_need_a_connection() -> None:
    """Ours: misuse raises."""
    alone = TerminalService()
    assert alone.capabilities()
    alone.add_session("s", "/")
    with pytest.raises(LocalProtocolError):
        await alone.create("s", "true")
    await alone.close_all()


async def test_a_session_can_be_added_again_while_the_old_one_ends(tmp_path: Path) -> None:
    """Ours: close and load of the same session, one right after the other."""
    async with service(tmp_path) as terminals:
        old = await terminals.create("s", *FOREVER)
        rest = terminals.close_session("s")
        terminals.add_session("s", str(tmp_path))
        new = await terminals.create("s", "echo", ["new"])
        await rest
        assert await terminals.wait_for_exit("s", new) == Exit(code=0)
        assert terminals.output("s", new).text == "new\n"
        with pytest.raises(RequestError, match="No such terminal"):
            terminals.output("s", old)


async def test_output_is_told_as_it_comes(tmp_path: Path) -> None:
    """Ours: whoever shows a terminal does not wait for its end."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    heard: list[bytes] = []
    came = anyio.Event()

    async def listen(data: bytes) -> None:
        heard.append(data)
        came.set()

    async with service(tmp_path) as terminals:
        program = f"echo one; cat {gate}"
        terminal_id = await terminals.create("s", "sh", ["-c", program], on_output=listen)
        await came.wait()
        assert b"".join(heard) == b"one\n"
        gate.write_text("two\n")
        await terminals.wait_for_exit("s", terminal_id)
        assert b"".join(heard) == b"one\ntwo\n"


class Counting(TerminalService):
    """A service of somebody who changes one thing."""

    released = 0

    async def release(self, session_id: str, terminal_id: str) -> None:
        Counting.released += 1
        await super().release(session_id, terminal_id)


async def test_a_class_of_somebody_elses_stays_that_on_every_connection(tmp_path: Path) -> None:
    """Issue 2: each of them replaceable."""
    Counting.released = 0
    async with anyio.create_task_group() as tasks:
        terminals = Counting().for_connection(tasks)
        terminals.add_session("s", str(tmp_path))
        await terminals.release("s", await terminals.create("s", "true"))
        await terminals.close_all()
    assert Counting.released == 1

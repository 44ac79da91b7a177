"""Commands of a session: in the client's terminal where it offers one, else in our own process.

Either way the user sees one tool call with the output in it, and the caller gets the same `Done`.
In v2 terminals are always ours, and the client is told what they print as it comes.
"""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from accord.agent.files import absolute
from accord.agent.tool_call import ToolCallHandle
from accord.errors import LocalProtocolError
from accord.machine import Terminals
from accord.schema import v2
from accord.schema.codec import encode, to_python
from accord.schema.struct import UNSET, Raw

if TYPE_CHECKING:
    from accord.agent.turn import Turn


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended.  `exit_code` is None when a signal ended it or it never ran."""

    exit_code: int | None
    output: str
    signal: str | None = None
    truncated: bool = False
    timed_out: bool = False
    denied: bool = False
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class _Job:
    command: str
    args: tuple[str, ...]
    cwd: str
    env: dict[str, str]
    timeout: float | None
    output_bytes: int

    @property
    def line(self) -> str:
        """The command as a person would type it."""
        return shlex.join((self.command, *self.args)) if self.args else self.command


async def run_command(
    turn: "Turn",
    command: str,
    args: Sequence[str],
    *,
    cwd: str | None,
    env: dict[str, str],
    timeout: float | None,
    title: str | None,
    reason: str | None,
    output_bytes: int,
) -> Done:
    """A whole run: announced, asked for, run, shown, final."""
    session = turn.session
    folder = absolute(session, cwd or os.fspath(session.cwd))
    job = _Job(command, tuple(args), folder, env, timeout, output_bytes)
    call = turn.tool_call(
        title or f"Run {job.line}",
        kind="execute",
        name="run",
        raw_input={"command": job.line, "cwd": folder},
        cancellable=session.wire.version != 1,
    )
    done = Done(None, "", cancelled=True)
    async with call:
        why = reason or f"Run `{job.line}` in {folder}"
        if not await call.ask(why, command=job.line, cwd=folder):
            return Done(None, "", denied=True)
        await call.start()
        if session.wire.features.terminals:
            done = await _in_client(turn, call, job)
        else:
            done = await _in_process(turn, call, job)
        if done.exit_code == 0:
            await call.complete(raw_output={"exitCode": 0})
        else:
            await call.fail(raw_output={"exitCode": done.exit_code, "signal": done.signal})
    return done


async def _in_client(turn: "Turn", call: ToolCallHandle, job: _Job) -> Done:
    session = turn.session
    scope = {"sessionId": session.id}
    created = await _ask(
        turn,
        "terminal/create",
        {
            **scope,
            "command": job.command,
            "args": list(job.args),
            "env": [{"name": name, "value": value} for name, value in job.env.items()],
            "cwd": job.cwd,
            "outputByteLimit": job.output_bytes,
        },
    )
    terminal_id = created.get("terminalId")
    if not isinstance(terminal_id, str):
        raise LocalProtocolError("the client answered terminal/create without a terminal id")
    terminal = {**scope, "terminalId": terminal_id}
    try:
        await call.show(v2.Terminal(terminal_id=terminal_id))
        with anyio.move_on_after(job.timeout) as timer:
            await _ask(turn, "terminal/wait_for_exit", terminal)
        if timer.cancelled_caught:
            await _ask(turn, "terminal/kill", terminal)
        shown = await _ask(turn, "terminal/output", terminal)
        return _done_from(shown, timed_out=timer.cancelled_caught)
    finally:
        # Also when the turn is cancelled: a terminal that is not released runs on.
        with anyio.move_on_after(5, shield=True):
            if session.connection.error is None:
                await _ask(turn, "terminal/release", terminal)


async def _ask(turn: "Turn", method: str, params: dict[str, Any]) -> dict[str, Any]:
    result: Raw = await turn.session.connection.call(method, encode(params))
    value = to_python(result)
    return value if isinstance(value, dict) else {}


def _done_from(shown: dict[str, Any], *, timed_out: bool) -> Done:
    status = shown.get("exitStatus")
    status = status if isinstance(status, dict) else {}
    code, signal = status.get("exitCode"), status.get("signal")
    output = shown.get("output")
    return Done(
        code if isinstance(code, int) else None,
        output if isinstance(output, str) else "",
        signal if isinstance(signal, str) else None,
        shown.get("truncated") is True,
        timed_out,
    )


async def _in_process(turn: "Turn", call: ToolCallHandle, job: _Job) -> Done:
    terminal_id = turn.session.new_id("term")
    await turn.emit(v2.TerminalUpdate(terminal_id=terminal_id, command=job.line, cwd=job.cwd))
    await call.show(v2.Terminal(terminal_id=terminal_id))

    async def told(data: bytes) -> None:
        await turn.emit(v2.TerminalOutputChunk(terminal_id=terminal_id, data=data))

    async with anyio.create_task_group() as tasks:
        terminals = Terminals(tasks)
        try:
            terminal = await terminals.create(
                job.command,
                job.args,
                env=job.env,
                cwd=job.cwd,
                output_byte_limit=job.output_bytes,
                on_output=told,
            )
            with anyio.move_on_after(job.timeout) as timer:
                await terminal.wait()
            if timer.cancelled_caught:
                await terminal.kill()
                await terminal.wait()
            shown = terminal.output()
        finally:
            with anyio.CancelScope(shield=True):
                await terminals.close_all()
    ended = shown.exit
    code = None if ended is None else ended.code
    signal = None if ended is None else ended.signal
    status = v2.TerminalExitStatus(
        exit_code=UNSET if code is None else code, signal=UNSET if signal is None else signal
    )
    await turn.emit(v2.TerminalUpdate(terminal_id=terminal_id, exit_status=status))
    return Done(code, shown.text, signal, shown.truncated, timer.cancelled_caught)

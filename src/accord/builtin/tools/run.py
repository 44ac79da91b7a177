"""The tool `run`: a line for the shell, in the client's terminal or in a process of ours.

What always holds
    * Every command ends: on its own, by its timeout, by cancellation, or, in the background, with
      the session.
    * A process of ours inherits no variable that holds a secret, and neither the client nor the
      result is shown a secret that is known.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from accord.agent.session.agent_session import session_state
from accord.agent.session.paths import absolute, relative
from accord.agent.terminals.command import Done, Job
from accord.agent.terminals.command_runner import carry_out, circumstances
from accord.agent.tools.always_answers import command_act
from accord.agent.turn import turn_state
from accord.builtin.tools.files.path_lookup import look_at
from accord.builtin.tools.tool_call import (
    REFUSALS,
    ToolFailed,
    ToolResult,
    capped,
    counted,
    done,
    failed,
    permit,
    shown,
)
from accord.errors import SpawnFailed
from accord.machine.redaction.secret_patterns import KNOWN_NAMES, SECRET_PATTERNS
from accord.machine.terminals.output_buffer import EARLIER_OUTPUT_OMITTED
from accord.schema import v2

if TYPE_CHECKING:
    from accord.agent.tools.tool_call import ToolCallHandle
    from accord.builtin.tools.tool_call import ToolContext

TIMEOUT_SECONDS = 120.0
"""How long a command may run when no time is named."""

TIMEOUT_SECONDS_MAX = 3600.0

OUTPUT_BYTES = 256 * 1024
"""Bytes of the newest output that are kept."""

TOLD_BYTES = {1: 64 * 1024, 2: 256 * 1024}
"""Output of a process of ours that the client is told, the oldest, by the protocol's version.

v1 has no terminals of the agent's: there the text is sent again and again as it grows.
"""

TITLE_CHARACTERS_MAX = 200

_SHELL_SIGNS = frozenset("|&;<>()$`\\\"'*?[]#~={}%!\n")


async def run_line(
    context: ToolContext,
    line: str,
    timeout: float | None,
    background: bool,
    reason: str | None,
    cwd: str | None,
) -> ToolResult:
    """Run a shell line as a tool call."""
    session = context.turn.session
    folder = absolute(session, cwd or ".")
    seconds = TIMEOUT_SECONDS if timeout is None else timeout
    call = context.turn.tool_call(
        _title("Start" if background else "Run", line),
        kind="execute",
        name="run",
        raw_input={"command": line, "cwd": folder} | ({"background": True} if background else {}),
        cancellable=session.can_cancel_tool_calls,
    )

    async def work(call: ToolCallHandle) -> ToolResult:
        if not line.strip() or "\0" in line:
            raise ToolFailed("There is no command to run.")
        if not 0 < seconds <= TIMEOUT_SECONDS_MAX:
            raise ToolFailed(f"A timeout is between 0 and {TIMEOUT_SECONDS_MAX:.0f} seconds.")
        if (await look_at(session, folder)).kind != "folder":
            raise ToolFailed(f"There is no folder {relative(session, folder)} to run it in.")
        why = reason or circumstances(session, folder, goes_on=background)
        act = command_act(session, line, folder)
        await permit(
            context, call, "execute", f"Running `{line}`", why, act, command=line, cwd=folder
        )
        await call.start()
        job = Job(
            line,
            (),
            folder,
            {},
            seconds,
            OUTPUT_BYTES,
            TOLD_BYTES[session.protocol_version],
            context.redactor.byte_stream,
            (*SECRET_PATTERNS, *KNOWN_NAMES),
        )
        if background:
            return await _leave_running(context, call, job)
        return await _finished(context, call, await _carried_out(context, call, job), seconds)

    result = await shown(call, work)
    if result.denied not in (None, "mode") and result.data is None:
        ended = Done(None, "", denied=call.status == "failed", cancelled=call.status == "cancelled")
        return failed(result.text, ended, denied=result.denied)
    return result


def _title(verb: str, line: str) -> str:
    """The first line of the command, and how many more it has."""
    lines = [" ".join(one.split()) for one in line.splitlines() if one.strip()]
    first, more = (lines[0] if lines else ""), len(lines) - 1
    short = first if len(first) <= TITLE_CHARACTERS_MAX else f"{first[:TITLE_CHARACTERS_MAX]}…"
    return f"{verb} {short}" + (f" (+{counted(more, 'line')})" if more > 0 else "")


async def _carried_out(context: ToolContext, call: ToolCallHandle, job: Job) -> Done:
    """Run the job in the form that the client accepts: words, a line, or a shell with the line."""
    if not context.turn.session.features.terminals:
        return await carry_out(turn_state(context.turn), call, job)
    if _SHELL_SIGNS.isdisjoint(job.command):
        command, *args = shlex.split(job.command)
        return await carry_out(
            turn_state(context.turn), call, job._replace(command=command, args=tuple(args))
        )
    try:
        return await carry_out(turn_state(context.turn), call, job)
    except SpawnFailed:
        shell = job._replace(command="/bin/sh", args=("-c", job.command))
        return await carry_out(turn_state(context.turn), call, shell)


async def _finished(
    context: ToolContext, call: ToolCallHandle, ended: Done, seconds: float
) -> ToolResult:
    ended = ended._replace(output=context.redactor.text(ended.output))
    left_out = f"[{EARLIER_OUTPUT_OMITTED}]\n" if ended.truncated else ""
    output = capped(f"{left_out}{ended.output}".rstrip("\n"))
    about = {"exitCode": ended.exit_code, "signal": ended.signal, "output": output[-4000:]}
    if ended.cancelled:
        await call.cancel()
        return failed(f"{output}\n[stopped by the user]", ended, denied="stopped")
    if ended.denied:
        # Allowed here, and refused by the client that owns the terminal.
        await call.fail(REFUSALS["unknown"][0])
        return failed(REFUSALS["unknown"][0], ended, denied="unknown")
    if ended.timed_out:
        unit = "second" if seconds == 1 else "seconds"
        note = f"[stopped: it did not finish within {seconds:g} {unit}]"
        await call.fail(note, raw_output={**about, "timedOut": True})
        return failed(f"{output}\n{note}".lstrip("\n"), ended)
    if ended.exit_code == 0:
        await call.complete(raw_output=about)
        return done(output or "[no output; exit code 0]", ended)
    await call.fail(raw_output=about)
    how = f"exit code {ended.exit_code}" if ended.signal is None else f"ended by {ended.signal}"
    return failed(f"{output}\n[{how}]".lstrip("\n"), ended)


async def _leave_running(context: ToolContext, call: ToolCallHandle, job: Job) -> ToolResult:
    terminal = await session_state(context.turn.session).terminals.start(job, background=True)
    await call.show(v2.Terminal(terminal_id=terminal.id))
    await call.complete(raw_output={"terminalId": terminal.id})
    return done(
        f"Started in the background as {terminal.id}; it stops when the session ends.",
        terminal,
    )

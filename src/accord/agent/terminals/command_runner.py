"""Run commands in the client's terminal if it offers one, else in a process of the agent.

Either way the user sees one tool call with the output in it, and the caller gets the same `Done`.
In v2 terminals are always the agent's, and the client gets their output as it comes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio

from accord.agent.serving.client_answer_checks import heard
from accord.agent.session.paths import absolute, relative
from accord.agent.terminals.command import Done, Job, check_environment, check_words
from accord.agent.terminals.own_terminals import TerminalHandle
from accord.agent.tools.always_answers import command_act
from accord.agent.tools.tool_call import ToolCallControl, ToolCallHandle, new_tool_call
from accord.errors import (
    AccordError,
    RateLimited,
    RemoteProtocolError,
    RequestCancelled,
    RequestFailed,
    SpawnFailed,
)
from accord.machine.redacted_logs import logger
from accord.schema import v2
from accord.schema.codec import encode, to_python
from accord.schema.struct import Raw

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from accord.agent.session.paths import HasRoots
    from accord.agent.session.session_state import SessionState
    from accord.agent.session.turn_state import TurnState

# How long a turn waits for the client to release a terminal.
RELEASE_SECONDS_MAX = 1.0
# When a rate-limited client is asked again: a terminal that is not released keeps running.
RELEASE_AGAIN_SECONDS = (0.1, 0.5, 2.0, 8.0, 16.0)

# An answer without these fields cannot be used.
_NEEDED = {"terminal/create": ("terminalId",), "terminal/output": ("output", "truncated")}

_log = logger("accord.agent")


def job_of(
    session: SessionState,
    command: str,
    args: tuple[str, ...],
    cwd: str | Path | None,
    env: Mapping[str, str] | None,
    timeout: float | None,
    output_bytes: int,
) -> Job:
    """A command as it runs in a session.

    Raises:
        LocalProtocolError: an argument of it is not text.
    """
    check_words(command, *args)
    folder = absolute(session, str(cwd or "."))
    return Job(command, args, folder, check_environment(env or {}), timeout, output_bytes)


async def run_command(turn: TurnState, job: Job, *, title: str | None, reason: str | None) -> Done:
    """Run a command as one tool call: announce it, ask for permission, run it, show its end."""
    call = _call(turn, job, title or f"Run {job.line}")
    done = Done(None, "", cancelled=True)
    async with call:
        why = reason or circumstances(turn.session, job.cwd)
        act = command_act(turn.session, job.line, job.cwd, job.env)
        if not await ToolCallControl(call).ask_for(act, why, command=job.line, cwd=job.cwd):
            return Done(None, "", denied=True)
        await call.start()
        done = await carry_out(turn, call, job)
        if done.exit_code == 0:
            await call.complete(raw_output={"exitCode": 0})
        elif done.cancelled:
            await call.cancel()
        else:
            await call.fail(raw_output={"exitCode": done.exit_code, "signal": done.signal})
    return done


def circumstances(session: HasRoots, folder: str, *, goes_on: bool = False) -> str | None:
    """What a user must know of a command besides its title, or None."""
    shown = relative(session, folder)
    parts = [] if shown == "." else [f"in {shown}"]
    if goes_on:
        parts.append("it keeps running after this turn")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}" if text else None


async def carry_out(turn: TurnState, call: ToolCallHandle, job: Job) -> Done:
    """Run a command within a tool call that has begun, and show the terminal in it.

    Raises:
        SpawnFailed: the command could not be started.
    """
    wire = turn.session.wire
    if not wire.features.terminals:
        return await _in_process(turn, call, job)
    if wire.client_requests is not None:
        return await wire.client_requests.run(turn, call, job)
    return await _in_client(turn, call, job)


def _call(turn: TurnState, job: Job, title: str) -> ToolCallHandle:
    return new_tool_call(
        turn,
        title,
        kind="execute",
        name="run",
        raw_input={"command": job.line, "cwd": job.cwd},
        cancellable=turn.session.wire.cancels_tool_calls,
    )


async def _in_client(turn: TurnState, call: ToolCallHandle, job: Job) -> Done:
    session = turn.session
    scope = {"sessionId": session.id}
    terminal_id = await _create(
        session,
        {
            **scope,
            "command": job.command,
            "args": list(job.args),
            "env": [{"name": name, "value": value} for name, value in job.env.items()],
            "cwd": job.cwd,
            "outputByteLimit": job.output_bytes,
        },
    )
    terminal = {**scope, "terminalId": terminal_id}
    try:
        await call.show(v2.Terminal(terminal_id=terminal_id))
        ended: dict[str, Any] = {}
        with anyio.move_on_after(job.timeout) as timer:
            ended = await _ask(session, "terminal/wait_for_exit", terminal)
        if timer.cancelled_caught:
            await _ask(session, "terminal/kill", terminal)
        shown = await _ask(session, "terminal/output", terminal)
        return _done_from(shown, ended, timed_out=timer.cancelled_caught)
    finally:
        # Even if the turn is cancelled: a terminal that is not released runs on.
        released = anyio.Event()
        session.connection.run(lambda: _release(session, terminal, released))
        with anyio.move_on_after(RELEASE_SECONDS_MAX, shield=True):
            await released.wait()


async def _create(session: SessionState, params: dict[str, Any]) -> str:
    """Make a terminal; one that is made after its turn was cancelled is released at once."""
    made: list[str] = []
    errors: list[Exception] = []
    wanted, answered = True, anyio.Event()

    async def ask() -> None:
        try:
            terminal_id = (await _ask(session, "terminal/create", params)).get("terminalId")
            if not isinstance(terminal_id, str):
                raise RemoteProtocolError("the client answered terminal/create without an id")
            made.append(terminal_id)
            if not wanted:
                await _release(session, {"sessionId": session.id, "terminalId": terminal_id})
        except Exception as error:  # noqa: BLE001 - it is raised to the caller below
            errors.append(not_started(error, params["command"]))
        finally:
            answered.set()

    session.connection.run(ask)
    try:
        await answered.wait()
    except BaseException:
        wanted = False
        if made:
            session.connection.run(
                lambda: _release(session, {"sessionId": session.id, "terminalId": made[0]})
            )
        raise
    if errors:
        raise errors[0]
    return made[0]


def not_started(error: Exception, command: str) -> Exception:
    """The same error for a command that the client could not start as for one of ours."""
    is_refusal = isinstance(error, RequestFailed) and (
        isinstance(error, RequestCancelled) or error.reason == "permission_denied"
    )
    if is_refusal or not isinstance(error, RequestFailed):
        return error
    failed = SpawnFailed(f"cannot start {command!r}: {error.message}")
    failed.__cause__ = error
    return failed


async def _release(
    session: SessionState, terminal: dict[str, Any], released: anyio.Event | None = None
) -> None:
    """Release a terminal, in a task of the connection, so that a slow client delays no turn."""
    try:
        for seconds in RELEASE_AGAIN_SECONDS:
            try:
                await _ask(session, "terminal/release", terminal)
                return
            except RateLimited:
                await anyio.sleep(seconds)
        await _ask(session, "terminal/release", terminal)
    except AccordError as error:
        _log.info("releasing terminal %s failed: %s", terminal["terminalId"], error)
    finally:
        if released is not None:
            released.set()


async def _ask(session: SessionState, method: str, params: dict[str, Any]) -> dict[str, Any]:
    result: Raw = await session.connection.call(method, encode(params))
    value = to_python(result)
    found = value if isinstance(value, dict) else {}
    heard(session, method, result, is_used=all(key in found for key in _NEEDED.get(method, ())))
    return found


def _done_from(shown: dict[str, Any], ended: dict[str, Any], *, timed_out: bool) -> Done:
    # Clients need not repeat how it ended beside the output.
    status = shown.get("exitStatus")
    if not isinstance(status, dict) or all(part is None for part in status.values()):
        status = ended
    code, signal = status.get("exitCode"), status.get("signal")
    output = shown.get("output")
    return Done(
        code if isinstance(code, int) else None,
        output if isinstance(output, str) else "",
        signal if isinstance(signal, str) else None,
        shown.get("truncated") is True,
        timed_out,
    )


async def _in_process(turn: TurnState, call: ToolCallHandle, job: Job) -> Done:
    terminal = await turn.session.terminals.start(job)
    try:
        await call.show(v2.Terminal(terminal_id=terminal.id))
        with anyio.move_on_after(job.timeout) as timer:
            await terminal.wait()
        if timer.cancelled_caught:
            await terminal.kill()
            await terminal.wait()
    finally:
        await terminal.end()
    return terminal.done._replace(timed_out=timer.cancelled_caught)


async def start_command(
    turn: TurnState, job: Job, *, title: str | None, reason: str | None
) -> TerminalHandle | None:
    """Start a command in the background, as one tool call that ends with the start."""
    call = _call(turn, job, title or f"Start {job.line}")
    terminal: TerminalHandle | None = None
    async with call:
        why = reason or circumstances(turn.session, job.cwd, goes_on=True)
        act = command_act(turn.session, job.line, job.cwd, job.env)
        if await ToolCallControl(call).ask_for(act, why, command=job.line, cwd=job.cwd):
            await call.start()
            terminal = await turn.session.terminals.start(job, background=True)
            await call.show(v2.Terminal(terminal_id=terminal.id))
            await call.complete(raw_output={"terminalId": terminal.id})
    return terminal

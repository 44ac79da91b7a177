"""`sandboxed_command`: the command line that runs an agent in a sandbox.

Whoever starts an agent calls it just before, and starts what it returns in its place: with the same
working directory and variables, on the same pipes.  It ends as the agent ends.

What always holds: an agent that cannot be put into a sandbox is an error, never a command line
without one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from accord.machine.own_command_line import own_file, readable_command
from accord.machine.processes.program_lookup import with_program
from accord.machine.sandbox import launcher
from accord.machine.sandbox.availability import Sandbox, find_sandbox
from accord.machine.sandbox.options import SandboxOptions, SandboxRefused
from accord.machine.sandbox.plan import to_text
from accord.machine.sandbox.plan_builder import build_plan

_URL_SCHEMES = ("ws://", "wss://", "http://", "https://")


def sandboxed_command(
    command: Sequence[str],
    *,
    folders: Sequence[str],
    options: SandboxOptions | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    sandbox: Sandbox | None = None,
) -> tuple[str, ...]:
    """The command line of an agent in a sandbox whose writable folders are those of its session.

    `env` are all variables that the agent will get, ours by default; `cwd` is where it will be
    started, here by default.  `sandbox` is the kind to use, by default the best that works.  The
    files are looked at now, so a command line is for one start.

    Raises:
        SandboxUnavailable: no sandbox works on this machine.
        SandboxRefused: this agent or these folders cannot be put into one.
        SpawnFailed: there is no such program.
    """
    refuse_remote(command)
    found = sandbox or find_sandbox()
    variables = os.environ if env is None else env
    words = with_program(command, variables)
    start = os.path.realpath(os.getcwd() if cwd is None else cwd)
    if words and not os.path.isabs(words[0]):
        words[0] = os.path.normpath(os.path.join(start, words[0]))
    plan = build_plan(
        words,
        kind=found.kind,
        bwrap=found.bwrap,
        folders=folders,
        options=options or SandboxOptions(),
        env=variables,
        cwd=start,
    )
    return (*own_file(launcher.__file__, to_text(plan)), *words)


def refuse_remote(command: Sequence[str]) -> None:
    """Refuse an agent at a URL: it runs elsewhere, and a sandbox here would not hold it.

    Raises:
        SandboxRefused: the command is one of ours and names a URL.
    """
    words = readable_command(tuple(command))
    if os.path.basename(words[0] if words else "") != "accord":
        return
    url = next((word for word in words if word.lower().startswith(_URL_SCHEMES)), None)
    if url is not None:
        raise SandboxRefused(
            "an agent at a URL runs on another machine or in another process, where --sandbox has"
            " no effect; leave out --sandbox, or put the agent into a sandbox where it is started"
        )

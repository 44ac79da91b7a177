"""Runs the command of `accord run --check` after the turn.

Must not know the agent, nor how output is shown.

What always holds
    * The shell runs it in the session's folder, with an empty standard input.
    * However the run ends, its processes are ended.
"""

from __future__ import annotations

import codecs
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import anyio

from accord.errors import SpawnFailed
from accord.machine.processes.child_process import Exit
from accord.machine.terminals.terminals import Terminals

SHELL = "/bin/sh"

OUTPUT_BYTES_MAX = 256 * 1024
"""How much of the newest output is kept for the end."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The outcome of a check; `text` is the newest part of its output."""

    command: str
    exit: Exit
    text: str = ""
    truncated: bool = False

    @property
    def passed(self) -> bool:
        """Whether the exit code is 0."""
        return self.exit.code == 0


async def run_check(
    command: str,
    folder: str,
    show: Callable[[str], Awaitable[None]],
    words: Sequence[str] | None = None,
) -> Checked:
    """Run the command; `show` gets its output as it arrives.

    `words` is the command line to start, by default that of the shell.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")

    async def printed(data: bytes) -> None:
        text = decoder.decode(data)
        if text:
            await show(text)

    checked = Checked(command, Exit(), "")
    async with anyio.create_task_group() as tasks:
        terminals = Terminals(tasks)
        try:
            program, *arguments = words or (SHELL, "-c", command)
            terminal = await terminals.create(
                program,
                arguments,
                cwd=folder,
                output_byte_limit=OUTPUT_BYTES_MAX,
                on_output=printed,
            )
            ended = await terminal.wait()
            output = terminal.output()
            checked = Checked(command, ended, output.text, output.truncated)
        except SpawnFailed as error:
            checked = Checked(command, Exit(), str(error))
        finally:
            with anyio.CancelScope(shield=True):
                await terminals.close_all()
    return checked

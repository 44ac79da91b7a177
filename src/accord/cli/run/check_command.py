"""`accord run --check COMMAND`: the user's own test of what the agent did.

Must not know the agent, nor how anything is shown.

What always holds
    * It runs by the shell, in the session's folder, with an empty standard input.
    * Whatever ends the run, its processes are gone.
"""

from __future__ import annotations

import codecs
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio

from accord.errors import SpawnFailed
from accord.machine.processes.child_process import Exit
from accord.machine.terminals.terminals import Terminals

SHELL = "/bin/sh"

OUTPUT_BYTES_MAX = 256 * 1024
"""The newest output, as far as it is kept for who is told at the end."""


@dataclass(frozen=True, slots=True)
class Checked:
    """How a check ended; `text` is the newest part of what it printed."""

    command: str
    exit: Exit
    text: str = ""
    truncated: bool = False

    @property
    def passed(self) -> bool:
        """Whether it ended with 0."""
        return self.exit.code == 0


async def run_check(command: str, folder: str, show: Callable[[str], Awaitable[None]]) -> Checked:
    """Run it to its end; `show` is told what it prints, as it comes."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")

    async def printed(data: bytes) -> None:
        text = decoder.decode(data)
        if text:
            await show(text)

    checked = Checked(command, Exit(), "")
    async with anyio.create_task_group() as tasks:
        terminals = Terminals(tasks)
        try:
            terminal = await terminals.create(
                SHELL,
                ("-c", command),
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


__all__ = ["Checked", "run_check"]

"""Conversations in line mode, with real agents, without a terminal: lines go in, lines come out."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from accord.client.permissions.permissions import Permissions
from accord.terminal.engine.chat_controller import ChatController
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.plain.display.chat_printer import ChatPrinter
from accord.terminal.plain.display.line_screen import Screen
from accord.terminal.plain.input.scripted_input import Pipe
from accord.terminal.plain.line_mode import run_plain
from accord.terminal.plain.line_terminal import LineTerminal
from tests.hang_limit import HANG_SECONDS

AGENT = (sys.executable, str(Path(__file__).parent / "line_agent.py"))


class Paper:
    """Output that is kept."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        """Nothing."""

    def isatty(self) -> bool:
        return False

    async def drain(self) -> None:
        await anyio.lowlevel.checkpoint()


@dataclass(frozen=True)
class Said:
    """How a conversation ended, and all that was written."""

    code: int
    text: str


def paper_printer(folder: str | None = None) -> tuple[Paper, ChatPrinter]:
    """A printer whose lines can be looked at."""
    paper = Paper()
    return paper, ChatPrinter(Screen(paper), folder)


async def spoken(
    folder: Path,
    *lines: str,
    agent: Sequence[str] = AGENT,
    controller: ChatController | None = None,
) -> Said:
    """Say these lines, prompts and answers as they are asked for, and then nothing more."""
    reading, writing = os.pipe()
    os.write(writing, "".join(f"{line}\n" for line in lines).encode())
    os.close(writing)
    paper = Paper()
    screen = Screen(paper)
    printer = ChatPrinter(screen, str(folder))
    terminal = LineTerminal(screen, printer, Pipe(reading, printer, screen))
    launch = LaunchOptions(command=tuple(agent), folder=str(folder))
    try:
        with anyio.fail_after(HANG_SECONDS):
            code = await run_plain(
                controller or ChatController(permissions=Permissions()), launch, terminal
            )
    finally:
        os.close(reading)
    return Said(code, paper.text)

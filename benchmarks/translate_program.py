"""The translator that `benchmarks/translate.py` measures.

`translate_program.py FIGURES OUTSIDE INSIDE COMMAND` stands before the agent that COMMAND starts,
and writes the seconds of CPU that it used since the prompt to the file FIGURES.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import anyio

from accord.proxy.relay.translated_transport import Translated, carry
from accord.transport.stdio import StdioTransport
from accord.transport.subprocess import SubprocessTransport


class TimedAgent(SubprocessTransport):
    """Notes the CPU time whenever the agent is told something; the prompt is the last of it."""

    told_at = 0.0

    def write(self, data: bytes) -> None:
        """Send bytes to the agent."""
        self.told_at = time.process_time()
        super().write(data)


async def translate(figures: str, outside: Any, inside: Any, command: list[str]) -> None:
    """Translate until the client leaves."""
    agents: list[TimedAgent] = []

    def connect() -> TimedAgent:
        agents.append(TimedAgent(command))
        return agents[-1]

    await carry(StdioTransport(), Translated(connect, to=outside, speaks=inside))
    Path(figures).write_text(str(time.process_time() - agents[-1].told_at), encoding="utf-8")


if __name__ == "__main__":
    figures, outside, inside, *command = sys.argv[1:]
    anyio.run(translate, figures, outside, inside, command)

"""The hop that `benchmarks/proxy.py` measures: `proxy_program.py KIND FIGURES COMMAND`.

It stands before the agent that COMMAND starts, and writes the seconds of CPU that it used to the
file FIGURES.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import anyio

from accord import Proxy
from accord.proxy.chain.component import in_process, program
from accord.proxy.chain.conductor import conduct
from accord.transport.stdio import StdioTransport


def plain(command: list[str]) -> None:
    """Pass everything on unread."""
    Proxy("hop").run(command)


def handled(command: list[str]) -> None:
    """Change every piece of text."""
    proxy = Proxy("hop")

    @proxy.on_update("agent_message_chunk")
    def change(update: dict[str, Any]) -> None:
        update["content"]["text"] += "."

    proxy.run(command)


def chain(command: list[str]) -> None:
    """Conduct a chain of one member and the agent."""
    components = [in_process(lambda: Proxy("hop")), program(command)]
    anyio.run(lambda: conduct(components, StdioTransport()))


KINDS = {"plain": plain, "handled": handled, "chain": chain}


if __name__ == "__main__":
    kind, figures, *words = sys.argv[1:]
    loaded = time.process_time()
    try:
        KINDS[kind](words)
    finally:
        Path(figures).write_text(str(time.process_time() - loaded), encoding="utf-8")

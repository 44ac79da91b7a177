"""`run_plain`: the line mode from the start of its agent to the end of everything."""

from __future__ import annotations

import anyio

from accord.terminal.engine.desk import Desk
from accord.terminal.engine.orders import Order
from accord.terminal.plain.line_terminal import LineTerminal
from accord.terminal.plain.talk import talk


async def run_plain(desk: Desk, order: Order, terminal: LineTerminal) -> int:
    """Talk as the order says; when this is over, so is the agent.  The exit code."""
    code = 1
    async with anyio.create_task_group() as tasks:
        await tasks.start(desk.run)
        try:
            code = await talk(desk, await desk.open_chat(order=order), terminal)
        finally:
            desk.leave()
    return code


__all__ = ["run_plain"]

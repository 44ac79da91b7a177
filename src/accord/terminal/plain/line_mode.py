"""The line mode, from the start of the agent to the exit code."""

from __future__ import annotations

from collections.abc import Mapping

import anyio

from accord.errors import AccordError
from accord.terminal.engine.chat_controller import ChatController
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.plain.conversation_loop import talk
from accord.terminal.plain.dialogs.typed_choice import meant_value, numbered
from accord.terminal.plain.input.input_requests import Ask
from accord.terminal.plain.line_terminal import LineTerminal


async def run_plain(
    controller: ChatController,
    launch: LaunchOptions | None,
    terminal: LineTerminal,
    choices: Mapping[str, LaunchOptions] | None = None,
) -> int:
    """Run a conversation in lines; the agent ends with it.  Return the exit code.

    Without launch options the user chooses one of `choices` by number or name.
    """
    if launch is None:
        launch = await _chosen(terminal, choices or {})
    if launch is None:
        return 0
    code = 1
    async with anyio.create_task_group() as tasks:
        await tasks.start(controller.run)
        try:
            code = await talk(controller, await controller.open_chat(launch=launch), terminal)
        finally:
            controller.leave()
    return code


async def _chosen(
    terminal: LineTerminal, choices: Mapping[str, LaunchOptions]
) -> LaunchOptions | None:
    rows = [(name, " ".join(launch.command)) for name, launch in choices.items()]
    numbered(terminal.printer, "Agents:", rows)
    remark = ""
    while True:
        said = await terminal.listener.read(
            Ask("line", "Which one? (press Enter to quit)", remark=remark)
        )
        await terminal.screen.drain()
        if not said or not said.strip():
            return None
        try:
            return choices[meant_value(said.strip(), [(name, name) for name in choices])]
        except AccordError as error:
            remark = str(error)

"""Going on with a stored session of the built-in agent, in the terminal or with one prompt."""

from __future__ import annotations

import sys

import anyio

from accord.errors import AccordError
from accord.machine.own_command_line import own_command
from accord.store.interface import SessionRecord

INTERRUPTED = 130


def resume(record: SessionRecord, prompt: str) -> int:
    """Talk, or say one thing; the session's own folder is where it goes on."""
    if prompt:
        from accord.cli.main import main

        # A space makes it no option of `run`, whatever it begins with.
        text = f" {prompt}" if prompt.startswith("-") else prompt
        given = ("run", "--session", record.session_id, "--cwd", record.cwd, text)
        return main([*given, "--", *own_command("agent")])
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise AccordError("this is no terminal: say a PROMPT, or use `accord run --session`")
    return _talk(record)


def _talk(record: SessionRecord) -> int:
    from accord.cli.agent_setup.chat import BUILT_IN, built_in_agent, make_desk
    from accord.discovery.config import load_config
    from accord.terminal.engine.launch_options import LaunchOptions
    from accord.terminal.model.settings import Settings
    from accord.terminal.plain.line_mode import run_plain
    from accord.terminal.plain.line_terminal import line_terminal

    desk = make_desk(load_config(), Settings(), (record.cwd,))
    place, session = record.cwd, record.session_id
    order = LaunchOptions(command=built_in_agent(), name=BUILT_IN, folder=place, session=session)
    with line_terminal(record.cwd) as terminal:
        terminal.printer.note(f"{record.title or record.session_id}, in {record.cwd}")
        code = anyio.run(run_plain, desk, order, terminal)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return code


__all__ = ["resume"]

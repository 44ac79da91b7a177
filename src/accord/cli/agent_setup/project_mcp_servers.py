"""MCP servers of the project's own file for `accord run`: asked about once, at a terminal.

What always holds
    * Without a person at the terminal no server is used that was not agreed to before; what is
      left out is said on standard error.
    * What comes from the file is shown without anything that a terminal would act on.
"""

from __future__ import annotations

import sys
from pathlib import Path

from accord.cli.agent_setup.permissions import forget_what_was_typed, has_keyboard
from accord.cli.console import complain, ends_line
from accord.discovery.user_paths import consents_file
from accord.errors import ConfigError
from accord.machine.console.control_characters import visible_line
from accord.mcp.project_file import FILE_NAME, Consents, ProjectServer, consented, read_project_file


def project_servers(folder: Path) -> dict[str, ProjectServer]:
    """The servers of the folder's `.mcp.json` that the user agrees to."""
    if not (folder / FILE_NAME).is_file():
        return {}
    try:
        found = read_project_file(folder)
    except ConfigError as error:
        # Not the user's own file, so it does not keep them from their work.
        tell(str(error))
        return {}
    attended = has_keyboard() and sys.stderr.isatty()
    allowed, left_out = consented(found, Consents(consents_file()), ask if attended else None)
    for sentence in left_out:
        tell(sentence)
    return allowed


def ask(server: ProjectServer) -> bool | None:
    """Ask the person; only a clear yes is one, and no answer is remembered as none."""
    tell(f"This project wants the MCP server {server.name}: it {server.described}.")
    # What was typed before the question was seen is no answer to it.
    forget_what_was_typed(sys.stdin.fileno())
    complain("Use it, now and later? [y/n] ", end="")
    answer = sys.stdin.readline().strip().lower()
    ends_line()
    if answer in ("y", "yes"):
        return True
    return False if answer in ("n", "no") else None


def tell(sentence: str) -> None:
    """One line for the person, beside the output; what the project wrote is shown exactly."""
    complain(f"accord: {visible_line(sentence)}")


__all__ = ["project_servers", "tell"]

"""Asks for consent to the MCP servers of the project's own file.

What always holds
    * Without a terminal, only servers with earlier consent are used; the others are reported on
      standard error.
    * Text from the file is shown with control characters escaped.
"""

from __future__ import annotations

import sys
from pathlib import Path

from accord.cli.console import complain, ends_line
from accord.cli.typed_answers import discard_typed_input, has_keyboard
from accord.configuration.user_paths import consents_file
from accord.errors import ConfigError
from accord.machine.console.control_characters import visible_line
from accord.mcp.project_file import FILE_NAME, Consents, ProjectServer, consented, read_project_file


def project_servers(folder: Path) -> dict[str, ProjectServer]:
    """Return the servers of the folder's `.mcp.json` with the user's consent."""
    if not (folder / FILE_NAME).is_file():
        return {}
    try:
        found = read_project_file(folder)
    except ConfigError as error:
        # A broken file of the project must not stop the user.
        tell(str(error))
        return {}
    attended = has_keyboard() and sys.stderr.isatty()
    allowed, left_out = consented(found, Consents(consents_file()), ask if attended else None)
    for sentence in left_out:
        tell(sentence)
    return allowed


def ask(server: ProjectServer) -> bool | None:
    """Ask the user; only a clear yes counts, and no answer is not remembered."""
    tell(f"This project uses the MCP server {server.name}: it {server.described}.")
    # Input typed before the question is not an answer.
    discard_typed_input(sys.stdin.fileno())
    complain("Use it now and in the future? [y/n] ", end="")
    answer = sys.stdin.readline().strip().lower()
    ends_line()
    if answer in ("y", "yes"):
        return True
    return False if answer in ("n", "no") else None


def tell(sentence: str) -> None:
    """Print a line on standard error, with control characters escaped."""
    complain(f"accord: {visible_line(sentence)}")

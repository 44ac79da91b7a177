"""Edit the prompt in the user's editor, in this terminal.

Invariant: the text is in a private file that is deleted afterwards, and agents keep running.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio.to_thread
from textual.app import App, SuspendNotSupported

from accord.errors import SpawnFailed
from accord.machine.processes.descendants import kept
from accord.machine.processes.program_lookup import with_program
from accord.terminal.model.prompt.content_blocks import PromptError

TEXT_BYTES_MAX = 4 << 20


async def edit_outside(app: App[Any], text: str, command: Sequence[str]) -> str:
    """Let the user edit a text in another program, and return the new text.

    Raises:
        PromptError: the program could not be started or failed.
    """
    with tempfile.TemporaryDirectory(prefix="accord-") as folder:
        path = Path(folder, "prompt.md")
        _write(path, text)
        try:
            # Do not draw over the other program.
            with app.batch_update(), app.suspend():
                code = await anyio.to_thread.run_sync(_run, [*command, str(path)])
        except SuspendNotSupported:
            raise PromptError("This terminal cannot run another program.") from None
        except SpawnFailed as error:
            raise PromptError(f"{error}.") from None
        except OSError as error:
            reason = error.strerror or str(error)
            raise PromptError(f"{command[0]} could not be started: {reason}.") from None
        if code != 0:
            raise PromptError(f"{command[0]} exited with code {code}; the prompt is unchanged.")
        return _read(path)


def _write(path: Path, text: str) -> None:
    path.touch(0o600)
    path.write_text(text + "\n", "utf-8", "replace")


def _read(path: Path) -> str:
    """The content of the file, without the final newline that editors add."""
    try:
        with path.open("rb") as file:
            data = file.read(TEXT_BYTES_MAX)
    except OSError:
        raise PromptError("The file no longer exists; the prompt is unchanged.") from None
    return data.decode("utf-8", "replace").removesuffix("\n")


def _run(command: list[str]) -> int:
    return subprocess.run(with_program(command), check=False, env=kept()).returncode

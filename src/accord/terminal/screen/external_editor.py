"""Open a file or the prompt in the user's editor, in this terminal while the app is suspended.

This module does not know its callers.

Invariants
    * Only regular files in the session's folders are opened, because an agent chose the name.
    * The text of a prompt is in a private file that is deleted afterwards.
    * While the editor has the terminal, we draw nothing, and agents keep working.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from textual.app import App, SuspendNotSupported

from accord.errors import SpawnFailed
from accord.machine.errors import FileFailure
from accord.machine.filesystem.local_files import LocalFiles
from accord.machine.processes.descendants import kept
from accord.machine.processes.program_lookup import with_program
from accord.terminal.model.external_editors import (
    NO_EDITOR,
    chosen_editor,
    editor_command,
    has_window,
)
from accord.terminal.model.prompt.content_blocks import PromptError
from accord.terminal.model.text.display_text import one_line


def open_in_editor(
    app: App[Any],
    path: str,
    line: int | None,
    roots: Sequence[str],
    editor: Sequence[str] | None = None,
) -> str:
    """Open a file at a line, counted from 1; return an error sentence, or nothing."""
    path = os.path.normpath(os.path.join(roots[0], path)) if roots else path
    try:
        if LocalFiles(roots).stat(path).kind != "file":
            return f"{one_line(path)} is not a file."
    except FileFailure as error:
        return f"Cannot open {one_line(path)}: {error.reason}."
    words = chosen_editor(editor, os.environ)
    if words is None:
        return NO_EDITOR
    command = editor_command(words, path, line)
    if has_window(words):
        return _start(command)
    app.run_worker(_edit(app, command), group="editor", exclusive=True)
    return ""


def _start(command: Sequence[str]) -> str:
    nothing = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            with_program(command),
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            start_new_session=True,
            # It belongs to the user and stays open when we quit.
            env=kept(),
        )
    except SpawnFailed as error:
        return _sentence(error)
    except OSError as error:
        return f"Cannot start {command[0]}: {error.strerror or error}."
    # Reap the process when it ends.
    threading.Thread(target=process.wait, daemon=True).start()
    return ""


def _sentence(error: SpawnFailed) -> str:
    text = one_line(str(error))
    return f"{text[:1].upper()}{text[1:]}."


async def _edit(app: App[Any], command: Sequence[str]) -> None:
    why = await lend_terminal(app, command)
    if why:
        app.notify(why, severity="error", markup=False)


async def lend_terminal(app: App[Any], command: Sequence[str]) -> str:
    """Give the terminal to a program until it ends; return an error sentence, or nothing."""
    try:
        # Both are needed: without `batch_update` we would draw over the editor.
        with app.batch_update(), app.suspend():
            async with await anyio.open_process(
                with_program(command), stdin=None, stdout=None, stderr=None, env=kept()
            ) as process:
                await process.wait()
    except SuspendNotSupported:
        return "This terminal cannot run an editor."
    except SpawnFailed as error:
        return _sentence(error)
    except OSError as error:
        return f"Cannot start {command[0]}: {error.strerror or error}."
    finally:
        app.refresh(layout=True)
    return ""


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

"""Whole files, read and written through the client where it has them, and kept in their form.

What always holds
    * A text that is read has the form of the file on this computer, if there is one.
    * After a write the file has the text that was written, or the difference is reported.
    * A file that is not UTF-8 is never overwritten with replacement characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyio import to_thread

from accord.builtin.newlines_and_bom import BOM, difference, in_form_of, same_words
from accord.builtin.tools.files.path_lookup import OwnFiles
from accord.errors import RequestFailed
from accord.machine.errors import FileFailure, NoSuchFile, NotText

if TYPE_CHECKING:
    from accord.builtin.tools.tool_call import ToolContext

WHOLE_BYTES_MAX = 4 * 1024 * 1024
"""Larger files are read by windows, and cannot be edited."""

WRITES_MAX = 3
"""Attempts to make a client save a text unchanged."""

UNREAD = "\ufffd"


async def read_whole(context: ToolContext, full: str) -> str:
    """The text of a file, the client's where it offers its files.

    Raises:
        FileNotFoundError, FileFailure, RequestFailed: there is no such text.
    """
    try:
        shown = await context.turn.read_text(full)
    except RequestFailed as error:
        if await _stored(context, full) is None:
            # Some clients have no code for a file that is missing.
            raise NoSuchFile(full) from error
        raise
    if not context.turn.session.features.read_files:
        return shown
    stored = await stored_text(context, full)
    return shown if stored is None else in_form_of(stored, shown)


async def write_whole(context: ToolContext, full: str, text: str) -> str | None:
    """Write a file; returns in words how the client saved it differently, if it did.

    Raises:
        FileFailure, RequestFailed: it was not written.
    """
    if not context.turn.session.features.write_files:
        await context.turn.write_text(full, text)
        return None
    before = await _stored(context, full)
    if before is not None and UNREAD in text and _decoded(before) is None:
        raise NotText(full, "it is not UTF-8, and writing it would damage what could not be read")
    had_mark = before is not None and before.startswith(BOM.encode())
    goal = BOM + text if had_mark and not text.startswith(BOM) else text
    saved: str | None = None
    for _ in range(WRITES_MAX):
        sending = context.workspace.sending
        await context.turn.write_text(full, sending.adapted(goal))
        data = await _stored(context, full)
        saved = None if data is None or data == before else _decoded(data)
        if saved is None or saved == goal or not same_words(saved, goal):
            # Not saved yet, saved correctly, or changed on saving, as by a formatter.
            break
        context.workspace.sending = sending.corrected(goal, saved)
        if context.workspace.sending == sending:
            break
    return None if saved is None else difference(goal, saved)


async def stored_text(context: ToolContext, full: str) -> str | None:
    """The text in the file on this computer; None where there is none that can be read."""
    data = await _stored(context, full)
    return None if data is None else _decoded(data)


async def _stored(context: ToolContext, full: str) -> bytes | None:
    with OwnFiles(context) as files:
        try:
            return await to_thread.run_sync(files.blocking.read_bytes, full)
        except FileFailure:
            return None


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None

"""What exists at a path of the session, on this computer and within the roots.

It must not know tool calls.

What always holds
    * A path that leaves the session's folders, also through a link, is refused before its content
      is read or requested from the client.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal

from anyio import to_thread

from accord.agent.session.paths import absolute, relative
from accord.builtin.tools.tool_call import ToolFailed, size_words
from accord.machine.errors import FileFailure, FileMissing, NotAFile, OutsideRoots
from accord.machine.filesystem.roots import Roots

if TYPE_CHECKING:
    from accord.agent.session.agent_session import AgentSession
    from accord.builtin.tools.tool_call import ToolContext
    from accord.machine.filesystem.async_files import Files

SNIFF_BYTES = 8 * 1024
"""How much of a file is looked at to tell a text from another file."""

ENTRIES_SHOWN_MAX = 50

Kind = Literal["text", "binary", "folder", "missing", "other"]


@dataclass(frozen=True)
class Found:
    """The kind, size and entries of what exists at a path."""

    path: str
    kind: Kind
    size: int = 0
    # Of a folder: what is in it, folders with a slash.
    entries: tuple[str, ...] = ()
    # Where a link at the path leads; the path itself where it is none.
    real: str = ""


async def look_at(session: AgentSession, path: str) -> Found:
    """What is at the path, which may be relative to the session's folder.

    Raises:
        FileFailure: it is outside the roots or not accessible.
    """
    full = absolute(session, path)
    return await to_thread.run_sync(_look, session.roots, full)


def _look(directories: tuple[str, ...], path: str) -> Found:
    roots = Roots(directories)
    try:
        opened = roots.open_beneath(path, os.O_RDONLY)
    except FileMissing:
        # Distinguish it from a name that would be created outside.
        return _missing(roots, path)
    except NotAFile:
        return Found(path, "other")
    finally:
        roots.close()
    try:
        status = os.fstat(opened)
        if stat.S_ISDIR(status.st_mode):
            return Found(path, "folder", 0, _entries(opened), _real(path))
        if not stat.S_ISREG(status.st_mode):
            return Found(path, "other")
        is_binary = b"\0" in os.read(opened, SNIFF_BYTES)
        kind: Kind = "binary" if is_binary else "text"
        return Found(path, kind, status.st_size, real=_real(path))
    finally:
        os.close(opened)


def _real(path: str) -> str:
    return os.path.realpath(path) if os.path.islink(path) else path


def _missing(roots: Roots, path: str) -> Found:
    try:
        with roots.locate(path):
            pass
    except OutsideRoots:
        raise
    except FileFailure:
        pass  # A folder on the way is missing too.
    return Found(path, "missing")


def _entries(opened: int) -> tuple[str, ...]:
    with os.scandir(opened) as found:
        return tuple(
            sorted(f"{e.name}/" if e.is_dir(follow_symlinks=False) else e.name for e in found)
        )


def require_text(session: AgentSession, found: Found) -> None:
    """Go on only with a text file, or one that is missing here and may be open in the client.

    Raises:
        ToolFailed: with a sentence about what is there instead.
    """
    name = relative(session, found.path)
    if found.kind == "folder":
        some = ", ".join(found.entries[:ENTRIES_SHOWN_MAX]) or "nothing"
        more = len(found.entries) - ENTRIES_SHOWN_MAX
        rest = f" and {more} more" if more > 0 else ""
        pattern = "**" if name == "." else f"{name}/**"
        raise ToolFailed(
            f"{name} is a folder, not a file. In it: {some}{rest}. glob with the pattern"
            f" {pattern} lists the files below it."
        )
    if found.kind == "binary":
        raise ToolFailed(
            f"{name} is a binary file of {size_words(found.size)}, not a text that can be shown"
            " or edited."
        )
    if found.kind == "other":
        raise ToolFailed(f"{name} is not a regular file but a pipe, socket or device.")


def missing_words(session: AgentSession, path: str) -> str:
    """The sentence for a missing file, with similar names."""
    full = absolute(session, path)
    folder, name = os.path.split(full)
    try:
        names = os.listdir(folder)
    except OSError:
        names = []
    near = get_close_matches(name, names, n=3, cutoff=0.6)
    hint = f" Similar names: {', '.join(near)}." if near else ""
    return f"There is no file {relative(session, full)}.{hint}"


class OwnFiles:
    """Files of our own within the session's roots, for one operation."""

    def __init__(self, context: ToolContext) -> None:
        from accord.machine.filesystem.async_files import Files

        self._files = Files(context.turn.session.roots)

    def __enter__(self) -> Files:
        return self._files

    def __exit__(self, *exc: object) -> None:
        self._files.roots.close()

"""The tool `read`, windows of numbered lines, and the text of a file for tools that change it.

A line ends with "\\n" and nothing else, as in files.

What always holds
    * What was read whole counts as seen with its hash; a window of a file that is too large to be
      read whole does not.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from accord.agent.session.paths import absolute, relative
from accord.builtin.tools.files.path_lookup import look_at, missing_words, require_text
from accord.builtin.tools.files.whole_files import WHOLE_BYTES_MAX, read_whole
from accord.builtin.tools.tool_call import ToolFailed, ToolResult, counted, done, shown, size_words
from accord.builtin.workspace import text_hash
from accord.machine.errors import TooLarge
from accord.machine.filesystem.local_files import FILE_BYTES_MAX

if TYPE_CHECKING:
    from accord.agent.session.agent_session import AgentSession
    from accord.agent.tools.tool_call import ToolCallHandle
    from accord.builtin.tools.tool_call import ToolContext

LINES_DEFAULT = 2_000
"""Lines that are shown where nobody asks for another number."""

LINE_CHARACTERS_MAX = 2_000
"""Characters that are shown of one line."""

WINDOW_CHARACTERS_MAX = 48_000
"""All characters of a window, so that the note about the rest fits the bound of a result."""


@dataclass(frozen=True)
class Window:
    """Lines `first` to `last` (counted from 1) of a text.  `total` is None where it is unknown."""

    numbered: str
    plain: str
    first: int
    last: int
    total: int | None
    # A line was too long to be shown whole.
    cut: bool

    @property
    def note(self) -> str | None:
        """What is not shown and how to get it; None when everything is."""
        notes: list[str] = []
        if self.total is None or self.first > 1 or self.last < self.total:
            of = "" if self.total is None else f" of {self.total:,}"
            notes.append(f"lines {self.first:,} to {self.last:,}{of}")
        if self.total is None or self.last < self.total:
            notes.append(f"continue with line={self.last + 1}")
        if self.cut:
            notes.append(f"lines are cut after {LINE_CHARACTERS_MAX:,} characters")
        return f"[{'; '.join(notes)}]" if notes else None


def lines_in(text: str) -> int:
    """How many lines a text has; what follows the last newline is one if it is anything."""
    return text.count("\n") + (not text.endswith("\n") and bool(text))


def window(
    text: str, line: int | None = None, limit: int | None = None, *, starts_at: int = 1
) -> Window:
    """The lines from `line` on.  `starts_at` above 1 says that the text is a part of a longer one.

    At least one line is in it, however long, if the text has that line.
    """
    first = max(line or starts_at, starts_at)
    wanted = LINES_DEFAULT if limit is None else max(limit, 1)
    position = _line_start(text, first - starts_at)
    numbered: list[str] = []
    plain_start, number, size, cut = position, first, 0, False
    while position < len(text) and number < first + wanted:
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        shown = text[position : min(end, position + LINE_CHARACTERS_MAX)].rstrip("\r")
        is_cut = end - position > LINE_CHARACTERS_MAX
        entry = f"{number:>6}\t{shown}{'…' if is_cut else ''}"
        size += len(entry) + 1
        if numbered and size > WINDOW_CHARACTERS_MAX:
            break
        cut = cut or is_cut
        numbered.append(entry)
        position = min(end + 1, len(text))
        number += 1
    plain = text[plain_start:position]
    total = starts_at - 1 + lines_in(text)
    return Window("\n".join(numbered), plain, first, number - 1, total, cut)


def _line_start(text: str, skip: int) -> int:
    position = 0
    for _ in range(skip):
        end = text.find("\n", position)
        if end < 0:
            return len(text)
        position = end + 1
    return position


WINDOW_BYTES_MAX = 1024 * 1024
"""Most bytes of one window of a file that is too large to be read whole."""


class FileIsMissing(ToolFailed):
    """There is no such file, neither here nor in the client."""


async def load(context: ToolContext, path: str, *, counts: bool = True) -> str:
    """The whole text, the client's where it offers its files; counts as seen unless told not to.

    Raises:
        ToolFailed, FileFailure, RequestFailed: there is no such text.
    """
    session = context.turn.session
    found = await look_at(session, path)
    require_text(session, found)
    if found.size > WHOLE_BYTES_MAX:
        raise ToolFailed(
            f"{relative(session, found.path)} has {size_words(found.size)}, too much to be read"
            " at once. Read a part of it with line and limit."
        )
    try:
        text = await read_whole(context, found.path)
    except FileNotFoundError:
        raise FileIsMissing(missing_words(session, path)) from None
    if "\0" in text:
        raise ToolFailed(f"{relative(session, found.path)} is a binary file, not a text.")
    if counts:
        context.workspace.seen[found.path] = text_hash(text)
    return text


async def read_file(
    context: ToolContext, path: str, line: int | None, limit: int | None
) -> ToolResult:
    """A window of a file as a tool call."""
    session = context.turn.session
    full = absolute(session, path)
    place: str | tuple[str, int] = full if line is None or line < 1 else (full, line)
    raw_input: dict[str, object] = {"path": full}
    raw_input |= {} if line is None else {"line": line}
    raw_input |= {} if limit is None else {"limit": limit}
    name = relative(session, full)
    call = context.turn.tool_call(
        f"Read {name}", kind="read", name="read", locations=[place], raw_input=raw_input
    )

    async def work(call: ToolCallHandle) -> ToolResult:
        await call.start()
        if (line or 1) < 1 or (limit is not None and limit < 1):
            raise ToolFailed("line and limit start at 1.")
        part = await _window(context, full, line, limit)
        if part.last < part.first and part.first > 1:
            raise ToolFailed(f"{name} has {part.total or 0:,} lines; there is no line {line}.")
        note = part.note
        text = part.numbered if note is None else f"{part.numbered}\n{note}"
        await call.show(note or counted(part.last, "line"))
        about = {"firstLine": part.first, "lastLine": part.last, "totalLines": part.total}
        await call.complete(raw_output=about)
        told = context.redactor.text(text) if part.plain else f"{name} is empty."
        return done(told, part.plain, () if note is None else (note,))

    return await shown(call, work)


async def _window(context: ToolContext, full: str, line: int | None, limit: int | None) -> Window:
    session = context.turn.session
    found = await look_at(session, full)
    if found.kind == "text" and found.size > WHOLE_BYTES_MAX:
        return await _part_of_large(session, full, line or 1, limit or LINES_DEFAULT)
    return window(await load(context, full), line, limit)


async def _part_of_large(session: AgentSession, full: str, line: int, limit: int) -> Window:
    """Lines of a file that is never held whole; always the disk's, a client would send it all."""
    from accord.machine.filesystem.async_files import Files

    files = Files(session.roots, bytes_max=WINDOW_BYTES_MAX)
    try:
        text = await files.read_text(full, line, min(limit, LINES_DEFAULT))
    except TooLarge as error:
        if error.bytes_max > FILE_BYTES_MAX:
            raise
        raise ToolFailed(
            f"{os.path.basename(full)} is too large to be shown, and so are the lines from"
            f" {line:,} on: more than {size_words(WINDOW_BYTES_MAX)}. Ask for fewer lines, or"
            " search it with grep."
        ) from None
    finally:
        files.roots.close()
    part = window(text, line, limit, starts_at=line)
    return Window(part.numbered, part.plain, part.first, part.last, None, part.cut)

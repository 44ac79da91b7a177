"""The tools `glob` and `grep`.

What always holds
    * A search ends within a time, whatever the pattern, and its process with it.
    * What is found has places that an editor can open.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio

from accord.agent.session.paths import absolute, relative
from accord.builtin.tools.files.path_lookup import look_at
from accord.builtin.tools.search import grep_process
from accord.builtin.tools.search.path_patterns import path_pattern
from accord.builtin.tools.search.project_files import Listing, project_files
from accord.builtin.tools.tool_call import (
    ToolFailed,
    ToolResult,
    counted,
    done,
    ended,
    shown,
    size_words,
)
from accord.machine.own_command_line import own_file
from accord.machine.redaction.secret_patterns import is_secret_name

if TYPE_CHECKING:
    from accord.agent.tools.tool_call import ToolCallHandle
    from accord.builtin.tools.tool_call import ToolContext

PATHS_SHOWN_MAX = 1_000
MATCHES_MAX = 500
LOCATIONS_MAX = 50
"""Places that the tool call names, for a client to jump to."""

LARGE_NAMED_MAX = 5
"""Files that a result names because they are too large to be searched."""

LINE_CHARACTERS_MAX = 300
FILE_BYTES_MAX = 4 * 1024 * 1024
"""Larger files are not searched."""

SEARCH_SECONDS_MAX = 20.0
OUTPUT_BYTES_MAX = 4 * 1024 * 1024
PATTERN_CHARACTERS_MAX = 1_000


@dataclass(frozen=True)
class Match:
    """One line that was found."""

    path: str
    line: int
    text: str


class Searched(NamedTuple):
    """What a search found: the lines, whether there are more, files that it left out by size."""

    matches: list[Match]
    is_cut: bool
    large: tuple[str, ...]


async def glob_files(context: ToolContext, pattern: str, path: str | None) -> ToolResult:
    """The files whose path fits a pattern."""
    session = context.turn.session
    call = context.turn.tool_call(
        _glob_title(pattern)[:200],
        kind="search",
        name="glob",
        locations=[absolute(session, path or ".")],
        raw_input={"pattern": pattern} | ({} if path is None else {"path": path}),
    )

    async def work(call: ToolCallHandle) -> ToolResult:
        await call.start()
        folder = await _folder(context, path)
        # An absolute pattern beneath the folder is meant as a relative one.
        fits = _compiled(pattern.removeprefix(f"{folder}/"))
        listing = await project_files(folder)
        found = [os.path.join(folder, name) for name in listing.paths if fits.fullmatch(name)]
        names = [relative(session, one) for one in found[:PATHS_SHOWN_MAX]]
        notes = _notes(listing, len(found) - len(names), "files")
        text = "\n".join([*names, *notes]) if names else f"No file matches {pattern}."
        await call.set_locations(*found[:LOCATIONS_MAX])
        await call.show(_shown_list(counted(len(found), "file"), names, notes))
        await call.complete(raw_output={"count": len(found)})
        return done(text, found)

    return await shown(call, work)


async def grep_files(
    context: ToolContext, pattern: str, path: str | None, glob: str | None, ignore_case: bool
) -> ToolResult:
    """The lines that fit a regular expression."""
    session = context.turn.session
    raw_input: dict[str, object] = {"pattern": pattern, "ignoreCase": ignore_case}
    raw_input |= {} if path is None else {"path": path}
    raw_input |= {} if glob is None else {"glob": glob}
    call = context.turn.tool_call(
        f"Search for {_readable(pattern)}{' (any case)' if ignore_case else ''}"[:200],
        kind="search",
        name="grep",
        locations=[absolute(session, path or ".")],
        raw_input=raw_input,
    )

    async def work(call: ToolCallHandle) -> ToolResult:
        await call.start()
        if not pattern or len(pattern) > PATTERN_CHARACTERS_MAX:
            raise ToolFailed(f"A pattern has 1 to {PATTERN_CHARACTERS_MAX:,} characters.")
        listing = await _searched(context, path, glob)
        matches, is_cut, large = await _search(listing, pattern, ignore_case)
        lines = [
            f"{relative(session, one.path)}:{one.line}: {context.redactor.text(one.text)}"
            for one in matches
        ]
        notes = [*_notes(listing, int(is_cut), "matches"), *_too_large(large)]
        files = len({one.path for one in matches})
        head = f"{counted(len(matches), 'line')} in {counted(files, 'file')}"
        await call.set_locations(*[(one.path, one.line) for one in matches[:LOCATIONS_MAX]])
        await call.show(_shown_list(head, lines, notes))
        await call.complete(raw_output={"count": len(matches), "files": files})
        text = "\n".join([*(lines or [f"Nothing matches {pattern}."]), *notes])
        return done(text, matches, notes)

    return await shown(call, work)


def _glob_title(pattern: str) -> str:
    """The title of a search, without the pattern if that means every file."""
    folder, _, name = pattern.rpartition("/")
    if name in ("**", "*") and not set("*?[{") & set(folder.removesuffix("**")):
        folder = folder.removesuffix("**").rstrip("/")
        return f"List the files in {folder}" if folder else "List the files"
    return f"Find files {pattern}"


def _readable(pattern: str) -> str:
    """The words of a pattern that is made of words alone; any other as it is."""
    words = [re.sub(r"\\(\W)", r"\1", part) for part in pattern.split("|")]
    return ", ".join(words) if "|".join(map(re.escape, words)) == pattern else pattern


def _compiled(pattern: str) -> Any:
    try:
        return path_pattern(pattern)
    except ValueError as error:
        raise ToolFailed(ended(str(error))) from None


async def _folder(context: ToolContext, path: str | None) -> str:
    """The folder to search, within the roots."""
    found = await look_at(context.turn.session, path or ".")
    if found.kind != "folder":
        name = relative(context.turn.session, found.path)
        raise ToolFailed(f"There is no folder {name} to search.")
    return found.real


async def _searched(context: ToolContext, path: str | None, glob: str | None) -> Listing:
    """The files to search: one, or those of a folder."""
    found = await look_at(context.turn.session, path or ".")
    if found.kind == "text":
        folder, name = os.path.split(found.real)
        return Listing(folder, (name,))
    listing = await project_files(await _folder(context, path))
    if glob is None:
        return listing
    fits = _compiled(glob)
    chosen = tuple(name for name in listing.paths if fits.fullmatch(name))
    return Listing(listing.folder, chosen, listing.is_cut)


def _notes(listing: Listing, left_out: int, what: str) -> list[str]:
    notes: list[str] = []
    if left_out:
        notes.append(f"[more {what} were left out: narrow the search]")
    if listing.is_cut:
        notes.append(f"[only the first {len(listing.paths):,} files were searched]")
    return notes


def _too_large(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    some = ", ".join(names[:LARGE_NAMED_MAX])
    more = " and more" if len(names) > LARGE_NAMED_MAX else ""
    return [f"[not searched because they exceed {size_words(FILE_BYTES_MAX)}: {some}{more}]"]


def _shown_list(head: str, lines: list[str], notes: list[str]) -> str:
    """The text of the tool call: a count, and the first results as code."""
    if not lines:
        return "\n".join([f"{head} found", *notes])
    some = "\n".join(lines[:LOCATIONS_MAX])
    more = len(lines) - LOCATIONS_MAX
    rest = [f"[and {more} more]"] if more > 0 else []
    return "\n".join([f"{head} found", "```", some.replace("```", "'''"), "```", *rest, *notes])


async def _search(listing: Listing, pattern: str, ignore_case: bool) -> Searched:
    if not listing.paths:
        return Searched([], False, ())
    task = {
        "pattern": pattern,
        "ignore_case": ignore_case,
        "folder": listing.folder,
        "matches_max": MATCHES_MAX,
        "bytes_max": FILE_BYTES_MAX,
        "characters_max": LINE_CHARACTERS_MAX,
    }
    names = b"".join(os.fsencode(name) + b"\0" for name in listing.paths)
    command = own_file(grep_process.__file__)
    code, output, is_late = await _process(command, json.dumps(task).encode() + b"\n" + names)
    if code == 4:
        raise ToolFailed(f"The pattern is not a valid regular expression: {output.decode()}.")
    found = read_matches(output, listing.folder)
    if is_late and not found.matches:
        raise ToolFailed(
            f"The search did not finish within {SEARCH_SECONDS_MAX:g} seconds and was stopped."
            " Make the pattern simpler or search fewer files."
        )
    return found._replace(is_cut=found.is_cut or is_late)


def read_matches(output: bytes, folder: str) -> Searched:
    """Read what the search process printed, as far as it got."""
    matches: list[Match] = []
    for line in output.split(b"\n"):
        try:
            path, number, text = json.loads(line)
        except ValueError:
            continue
        if path == "end" and isinstance(text, bool):
            return Searched(matches, text, tuple(number))
        matches.append(Match(os.path.join(folder, path), number, text))
    return Searched(matches, True, ())


async def _process(command: Sequence[str], given: bytes) -> tuple[int | None, bytes, bool]:
    """Run the search: exit code, output, and whether it was stopped."""
    env = {name: value for name, value in os.environ.items() if not is_secret_name(name)}
    output = bytearray()
    code: int | None = None
    with anyio.move_on_after(SEARCH_SECONDS_MAX) as timer:
        async with await anyio.open_process(command, env=env, stderr=subprocess.DEVNULL) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_give, process.stdin, given)
                async for piece in process.stdout:
                    output += piece
                    if len(output) > OUTPUT_BYTES_MAX:
                        process.kill()
                        break
                tasks.cancel_scope.cancel()
            code = await process.wait()
    return code, bytes(output), timer.cancelled_caught


async def _give(stream: Any, data: bytes) -> None:
    try:
        await stream.send(data)
        await stream.aclose()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # It ended without reading everything.

"""The tools that move and delete files, and the tool that undoes a turn's changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.agent.session.paths import absolute, relative
from accord.agent.tools.always_answers import files_act, move_act
from accord.builtin.newlines_and_bom import BOM, OTHER_TEXT, difference
from accord.builtin.tools.files.edit import edit_many, not_begun, remove, unchanged
from accord.builtin.tools.files.path_lookup import OwnFiles, look_at, missing_words
from accord.builtin.tools.files.read import FileIsMissing, load
from accord.builtin.tools.files.whole_files import WHOLE_BYTES_MAX, read_whole, stored_text
from accord.builtin.tools.tool_call import (
    ToolFailed,
    ToolResult,
    done,
    failed,
    permit,
    sentence,
    shown,
)
from accord.builtin.undo_journal import Change
from accord.errors import RequestFailed
from accord.machine.errors import FileFailure
from accord.translate.diffs import deletion_of, move_of

if TYPE_CHECKING:
    from accord.agent.tools.tool_call import ToolCallHandle
    from accord.builtin.tools.tool_call import ToolContext


async def delete_file(context: ToolContext, path: str, reason: str | None) -> ToolResult:
    """Delete one file, which need not be a text or have been read."""
    session = context.turn.session
    full = absolute(session, path)
    name = relative(session, full)
    before: str | None = None
    try:
        found = await look_at(session, full)
        if found.kind == "folder":
            raise ToolFailed(f"{name} is a folder. Only single files can be deleted.")
        if found.kind == "missing":
            raise ToolFailed(missing_words(session, full))
        if found.kind == "text" and found.size <= WHOLE_BYTES_MAX:
            before = await load(context, full, counts=False)
    except (ToolFailed, FileFailure, RequestFailed) as error:
        return await not_begun(context, f"Delete {name}", full, error, kind="delete")
    call = context.turn.tool_call(
        f"Delete {name}",
        kind="delete",
        name="delete",
        locations=[full],
        content=[deletion_of(full, before)],
        raw_input={"path": full},
    )

    async def work(call: ToolCallHandle) -> ToolResult:
        act = files_act(session, [("delete", full)])
        await permit(context, call, "delete", f"Deleting {name}", reason, act)
        await call.start()
        if before is not None:
            await unchanged(context, full, before)
        await remove(context, full, before)
        lost = "" if before is not None else " It was not a text file, so undo cannot restore it."
        return done(f"Deleted {name}.{lost}")

    return await shown(call, work)


async def move_file(context: ToolContext, path: str, target: str, reason: str | None) -> ToolResult:
    """Move or rename a file; the target must not exist."""
    session = context.turn.session
    full, goal = absolute(session, path), absolute(session, target)
    names = f"{relative(session, full)} to {relative(session, goal)}"
    call = context.turn.tool_call(
        f"Move {names}",
        kind="move",
        name="move",
        locations=[full, goal],
        content=[move_of(full, goal)],
        raw_input={"path": full, "target": goal},
    )

    async def work(call: ToolCallHandle) -> ToolResult:
        found = await look_at(session, full)
        if found.kind == "missing":
            raise ToolFailed(missing_words(session, full))
        is_small = found.kind == "text" and found.size <= WHOLE_BYTES_MAX
        text = await load(context, full, counts=False) if is_small else None
        if (await look_at(session, goal)).kind != "missing":
            raise ToolFailed(f"{relative(session, goal)} already exists.")
        await permit(
            context, call, "move", f"Moving {names}", reason, move_act(session, full, goal)
        )
        await call.start()
        if text is not None:
            await unchanged(context, full, text)
        with OwnFiles(context) as files:
            await files.move(full, goal)
        seen = context.workspace.seen
        if full in seen:
            seen[goal] = seen.pop(full)
        if text is None:
            return done(f"Moved {names}. It is not a text file, so undo cannot move it back.")
        gone, made = Change(full, text, None), Change(goal, None, text)
        await context.workspace.journal.record(context.turn, context.turn.text[:100], gone, made)
        return done(f"Moved {names}.")

    return await shown(call, work)


async def undo(context: ToolContext) -> ToolResult:
    """Undo the newest turn in the journal, all of it or nothing.

    Files that are already restored, as after an undo that failed half-way, are left alone.
    """
    session, journal = context.turn.session, context.workspace.journal
    last = journal.last
    if last is None:
        return failed("There is nothing to undo: no turn of this session has changed a file.")
    changes = list(last.changes.values())
    obstacles = [one for change in changes if (one := await _obstacle(context, change)) is not None]
    if obstacles:
        return failed(f"Not undone: {', '.join(obstacles)}. Nothing was touched.")
    back = {change.path: change.before for change in changes}
    with journal.paused():
        result = await edit_many(context, back, _why(last.title), "Undo the last turn's changes")
    if not result.ok:
        return result
    wrong = [one for change in changes if (one := await _left_over(context, change)) is not None]
    if wrong:
        return failed(f"Undo is incomplete: {', '.join(wrong)}.")
    await journal.forget_last()
    names = ", ".join(relative(session, path) for path in back)
    return done(f"Undone: {names}.", list(back))


async def _obstacle(context: ToolContext, change: Change) -> str | None:
    """Why a change cannot be undone: the file has changed since."""
    name = relative(context.turn.session, change.path)
    try:
        now: str | None = await load(context, change.path)
    except FileIsMissing:
        now = None
    except (ToolFailed, FileFailure, RequestFailed) as error:
        return f"{name} cannot be read now ({sentence(error).rstrip('.')})"
    if now in (change.before, change.after):
        return None
    return f"{name} was deleted since" if now is None else f"{name} changed since"


async def _left_over(context: ToolContext, change: Change) -> str | None:
    """How an undone file still differs from its earlier text."""
    name = relative(context.turn.session, change.path)
    stored = await stored_text(context, change.path)
    if change.before is None:
        return None if stored is None else f"{name} still exists"
    try:
        now = await read_whole(context, change.path)
    except FileNotFoundError:
        return f"{name} is missing"
    except (FileFailure, RequestFailed) as error:
        return f"{name} cannot be read now ({sentence(error).rstrip('.')})"
    wrong = difference(change.before, now)
    if wrong is None and stored is not None:
        wrong = difference(change.before.removeprefix(BOM), stored.removeprefix(BOM))
        if wrong == OTHER_TEXT:
            return f"{name} is restored in the client, which has not saved it"
    return None if wrong is None else f"the client saved {name} {wrong}"


def _why(title: str) -> str:
    return f"Undo what “{title}” changed" if title else "Undo the last turn's changes"

"""The tools that change what files say: edit, write, and several files at once.

What always holds
    * A file that the agent has not read, or that changed since, is not changed.
    * What is written is read again, so that what an editor makes of it on saving counts as seen.
    * Every change is in the journal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from accord.agent.session.paths import absolute, relative
from accord.agent.tools.always_answers import files_act
from accord.builtin.tools.files.path_lookup import OwnFiles, missing_words
from accord.builtin.tools.files.read import FileIsMissing, lines_in, load
from accord.builtin.tools.files.text_replacement import Mismatch, replace, with_line_ends_of
from accord.builtin.tools.files.whole_files import read_whole, write_whole
from accord.builtin.tools.tool_call import (
    ToolFailed,
    ToolResult,
    counted,
    done,
    permit,
    sentence,
    shown,
)
from accord.builtin.undo_journal import Change
from accord.builtin.workspace import text_hash
from accord.errors import RequestFailed
from accord.machine.errors import FileFailure
from accord.translate.diffs import deletion_of, diff_of

if TYPE_CHECKING:
    from accord.agent.tools.tool_call import ToolCallHandle
    from accord.builtin.tools.tool_call import ToolContext
    from accord.schema import v2

FILES_CHANGED_MAX = 200
"""Files that one permission may cover."""


async def current(context: ToolContext, path: str) -> str | None:
    """The current text, None if there is no file; only if the agent has read this version.

    Raises:
        ToolFailed: it was not read before, or changed since.
    """
    session, seen = context.turn.session, context.workspace.seen
    full = absolute(session, path)
    known = seen.get(full)
    try:
        text = await load(context, full)
    except FileIsMissing:
        return None
    name = relative(session, full)
    if known is None:
        del seen[full]
        raise ToolFailed(f"{name} has not been read yet. Read it before changing it.")
    if known != text_hash(text):
        del seen[full]
        raise ToolFailed(
            f"{name} changed since it was read: somebody else edited it. Read it again first."
        )
    return text


async def store(context: ToolContext, full: str, before: str | None, text: str) -> str:
    """Write a text, and record what the file really contains afterwards.

    Returns a note for the user that starts with a space, or an empty text.
    """
    instead = await write_whole(context, full, text)
    try:
        after = await read_whole(context, full)
    except (FileNotFoundError, FileFailure):
        after = text
    if after == before:
        # A client that writes but does not read for us may not have saved it yet.
        after = text
    context.workspace.seen[full] = text_hash(after)
    await context.workspace.journal.record(
        context.turn, context.turn.text[:100], Change(full, before, after)
    )
    name = relative(context.turn.session, full)
    return "" if instead is None else f" The client saved {name} {instead}."


async def edit_text(
    context: ToolContext, path: str, old: str, new: str, every: bool, reason: str | None
) -> ToolResult:
    """Replace exact text in a file."""
    session = context.turn.session
    full = absolute(session, path)
    name = relative(session, full)
    try:
        before = await current(context, full)
        if before is None:
            raise ToolFailed(missing_words(session, full))
        made = replace(before, old, new, every=every)
        if isinstance(made, Mismatch):
            raise ToolFailed(f"{name}: {context.redactor.text(made.reason)}")
    except (ToolFailed, FileFailure, RequestFailed) as error:
        return await not_begun(context, f"Edit {name}", full, error)
    raw_input = {"path": full, "old": old, "new": new, "all": every}
    call = context.turn.tool_call(
        f"Edit {name}",
        kind="edit",
        name="edit",
        locations=[(full, made.lines[0])],
        content=[diff_of(full, before, made.text)],
        raw_input=raw_input,
    )

    async def work(call: ToolCallHandle) -> ToolResult:
        act = files_act(session, [("edit", full)])
        await permit(context, call, "edit", f"Editing {name}", reason, act)
        await call.start()
        await unchanged(context, full, before)
        note = await store(context, full, before, made.text)
        places = len(made.lines)
        where = f"line {made.lines[0]}" if places == 1 else f"{places} places"
        return done(f"Changed {name} in {where}.{note}")

    return await shown(call, work)


async def write_file(context: ToolContext, path: str, text: str, reason: str | None) -> ToolResult:
    """Write a whole file."""
    session = context.turn.session
    full = absolute(session, path)
    name = relative(session, full)
    try:
        before = await current(context, full)
    except (ToolFailed, FileFailure, RequestFailed) as error:
        return await not_begun(context, f"Write {name}", full, error)
    if before is not None:
        text = with_line_ends_of(before, text)
        if before.startswith("\ufeff") and not text.startswith("\ufeff"):
            text = f"\ufeff{text}"
    title = f"Create {name}" if before is None else f"Write {name}"
    call = context.turn.tool_call(
        title,
        kind="edit",
        name="write",
        locations=[full],
        content=[diff_of(full, before, text)],
        raw_input={"path": full},
    )

    async def work(call: ToolCallHandle) -> ToolResult:
        act = files_act(session, [("edit", full)])
        await permit(context, call, "edit", f"Writing {name}", reason, act)
        await call.start()
        await unchanged(context, full, before)
        note = await store(context, full, before, text)
        verb = "Created" if before is None else "Wrote"
        return done(f"{verb} {name}, {counted(lines_in(text), 'line')}.{note}")

    return await shown(call, work)


async def not_begun(
    context: ToolContext, title: str, full: str, error: Exception, *, kind: str = "edit"
) -> ToolResult:
    """Report a change that cannot be made as a failed tool call."""
    call = context.turn.tool_call(
        title, kind=kind, name=kind, locations=[full], raw_input={"path": full}
    )

    async def work(_call: ToolCallHandle) -> ToolResult:
        raise error

    return await shown(call, work)


async def unchanged(context: ToolContext, full: str, before: str | None) -> None:
    """Require that the file is still what the diff showed: the user may have taken long."""
    try:
        now: str | None = await read_whole(context, full)
    except FileNotFoundError:
        now = None
    if now != before:
        context.workspace.seen.pop(full, None)
        name = relative(context.turn.session, full)
        raise ToolFailed(f"{name} changed while permission was asked for. Read it again first.")


async def edit_many(
    context: ToolContext, changes: Mapping[str, str | None], reason: str, title: str
) -> ToolResult:
    """Change several files with one permission; None deletes."""
    session = context.turn.session
    wanted = {absolute(session, path): text for path, text in changes.items()}
    before: dict[str, str | None] = {}
    try:
        if len(wanted) > FILES_CHANGED_MAX:
            raise ToolFailed(
                f"That would change {len(wanted)} files; the limit is {FILES_CHANGED_MAX} at once."
            )
        for path in wanted:
            before[path] = await current(context, path)
    except (ToolFailed, FileFailure, RequestFailed) as error:
        return await not_begun(context, title, next(iter(wanted)), error)
    real = {path: text for path, text in wanted.items() if text != before[path]}
    if not real:
        return done("Nothing to change.", [])
    call = context.turn.tool_call(
        title,
        kind="edit",
        name="edit_many",
        locations=list(real),
        content=[_shown_change(path, before[path], text) for path, text in real.items()],
        raw_input={"paths": list(real)},
    )

    async def work(call: ToolCallHandle) -> ToolResult:
        kinds = {path: "delete" if text is None else "edit" for path, text in real.items()}
        act = files_act(session, [(kind, path) for path, kind in kinds.items()])
        await permit(context, call, "edit", title, reason, act)
        await call.start()
        for path in real:
            await unchanged(context, path, before[path])
        names: list[str] = []
        notes = ""
        for path, text in real.items():
            try:
                if text is None:
                    await remove(context, path, before[path])
                else:
                    notes += await store(context, path, before[path], text)
            except (FileFailure, RequestFailed, OSError) as error:
                changed = f" Changed before that: {', '.join(names)}." if names else ""
                raise ToolFailed(f"{sentence(error)}{changed}") from error
            names.append(relative(session, path))
        said = f"Changed {counted(len(names), 'file')}: {', '.join(names)}.{notes}"
        return done(said, list(real))

    return await shown(call, work)


def _shown_change(path: str, before: str | None, after: str | None) -> v2.Diff:
    return deletion_of(path, before) if after is None else diff_of(path, before, after)


async def remove(context: ToolContext, full: str, before: str | None) -> None:
    with OwnFiles(context) as files:
        await files.delete(full)
    context.workspace.seen.pop(full, None)
    if before is not None:
        change = Change(full, before, None)
        await context.workspace.journal.record(context.turn, context.turn.text[:100], change)

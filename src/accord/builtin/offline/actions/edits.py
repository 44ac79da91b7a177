"""Actions that change files: rename a symbol, replace text, move, delete, undo.

What always holds
    * Every change was shown as a diff and allowed; a refused change is reported as not made.
"""

from __future__ import annotations

from accord.agent.session.plan import PlanHandle
from accord.builtin.offline.actions.code_questions import all_uses, one_definition
from accord.builtin.offline.actions.project_tests import run_line, summary
from accord.builtin.offline.actions.unknown_request import near_to
from accord.builtin.offline.answer_format import bullets, counted, listed
from accord.builtin.offline.prompt.intent import Intent
from accord.builtin.offline.runs.project_test_results import TestRun
from accord.builtin.offline.source_code.project_texts import Project
from accord.builtin.offline.source_code.references import definitions_of, has_word
from accord.builtin.offline.source_code.symbol_rename import rename
from accord.builtin.offline.source_code.symbols import language_of
from accord.builtin.offline.turn_context import Place, Work

READ_MAX = 200
"""Files that are read again before a rename; see `symbol_rename.FILES_MAX`."""


async def rename_symbol(work: Work, intent: Intent) -> None:
    """Rename a symbol in all files, then run the tests."""
    old, new = intent["old"], intent["new"].rpartition(".")[2]
    project = await work.project(old)
    plan = await work.turn.plan(f"Find {old}", f"Rename it to {new}", "Run the tests")
    await plan.start(0)
    if project.is_cut:
        await _give_up(plan)
        await work.say(
            f"I did not rename `{old}`: the project is too large for me to find every use."
        )
        return
    if not await work.compute(definitions_of, project.python_files, old):
        await _give_up(plan)
        await _cannot_rename(work, project, old)
        return
    definition = await one_definition(work, project.with_only_python(), old)
    if definition is None:
        await plan.complete(0)
        await plan.drop(1)
        await plan.drop(2)
        return
    project = await _as_open(work, project, definition.symbol.name)
    renaming = await work.compute(rename, project.files, definition, new)
    if renaming.refused is not None:
        await plan.complete(0)
        await plan.drop(1)
        await plan.drop(2)
        await work.say(f"I did not rename `{old}`: {renaming.refused}")
        return
    places: list[Place] = [(path, line) for path, at in renaming.places.items() for line in at]
    shown = "\n".join(f"{path}:{line}" for path, line in places[:50])
    await work.looked(f"Find every {old}", "references", {"name": old}, places, shown)
    await plan.complete(0)
    await plan.start(1)
    number = counted(len(renaming.changes), "file")
    reason = f"{counted(len(places), 'line')} in {number}"
    result = await work.tools.edit_many(renaming.changes, reason, f"Rename {old} to {new}")
    if not result.ok:
        await plan.drop(1)
        await plan.drop(2)
        await work.refused(result.text, f"`{old}` keeps its name", result.denied)
        return
    await plan.complete(1)
    before = await work.last_run()
    tested = await _test_again(work, plan, before)
    await work.say(
        f"Renamed `{old}` to `{new}`, {counted(len(places), 'line')} in {number}:",
        bullets(f"`{path}`" for path in renaming.changes),
        *renaming.warnings,
        _unread(project),
        tested,
        "`/undo` reverts it.",
    )


async def _give_up(plan: PlanHandle) -> None:
    for step in range(3):
        await plan.drop(step)


def _unread(project: Project) -> str:
    """A note about files that were not read and may contain the name."""
    paths = [path for path in project.unread if path.endswith((".py", ".pyi"))]
    if not paths:
        return ""
    return f"Not searched because they are too large or not UTF-8: {listed(paths)}."


async def _test_again(work: Work, plan: PlanHandle, before: TestRun | None) -> str:
    """Run the tests as the plan's third step; return a summary, compared with the last run."""
    work.forget_project()
    command = await work.test_command()
    if command is None:
        await plan.drop(2)
        return "There are no tests to run."
    await plan.start(2)
    run = await run_line(work, command.line, "See whether the tests still pass")
    if isinstance(run, str):
        await plan.drop(2)
        return run
    await plan.complete(2)
    if before is not None and not run.passed and run.failures:
        failing = {one.test for one in run.failures}
        if failing <= {one.test for one in before.failures}:
            return f"{summary(run)} It failed before the change too."
    return summary(run)


async def _as_open(work: Work, project: Project, name: str) -> Project:
    """Replace files that contain the name by the client's open versions, and count them as read."""
    texts: dict[str, str] = {}
    for path, text in project.python_files.items():
        if has_word(text, name) and len(texts) < READ_MAX:
            now = await work.tools.text(path)
            if now is not None:
                texts[path] = now
    return project.with_texts(texts)


async def _cannot_rename(work: Work, project: Project, old: str) -> None:
    """Explain why a name cannot be renamed, and list where it occurs."""
    uses = await work.compute(all_uses, project, old)
    places: list[Place] = [(path, use.line) for path, use in uses]
    await work.looked(f"Find {old}", "references", {"name": old}, places, f"{len(uses)} found")
    if not uses:
        near = await near_to(work, project, old)
        await work.say(f"`{old}` is not in this project, so there is nothing to rename. {near}")
        return
    languages = sorted({language_of(path) or "" for path, _ in uses})
    why = (
        "no function, class or variable at the top of a Python file or in a class has that name"
        if languages == ["Python"]
        else f"I rename exactly in Python only, and this is {', '.join(languages)}"
    )
    await work.say(
        f"I did not rename `{old}`: {why}. It occurs here:",
        bullets(f"`{path}:{use.line}`: `{use.text}`" for path, use in uses),
        f"`change '{old}' to '…' in FILE` replaces exact text.",
    )


async def change_text(work: Work, intent: Intent) -> None:
    """Replace text that occurs exactly once in a file."""
    old, new = intent["old"], intent.get("new") or ""
    project = await work.project()
    path = intent.get("path")
    if path is None:
        having = [one for one, text in project.files.items() if old in text]
        if len(having) != 1:
            where = (
                f"is in {counted(len(having), 'file')}: {listed(having)}"
                if having
                else "is in no file that I read"
            )
            await work.say(f"In which file? “{old}” {where}. Add `in FILE` to your request.")
            return
        path = having[0]
    found = project.find(path)
    if len(found) > 1:
        chosen = await work.choose(f"Which {path}?", found[:20])
        if chosen is None:
            await work.say(f"Several files match: {listed(found)}. Name one with its folder.")
            return
        found = (chosen,)
    path = found[0] if found else path
    read = await work.tools.read(path)
    if not read.ok:
        await work.say(read.text)
        return
    text = await work.tools.text(path) or ""
    count = text.count(old)
    if count > 1:
        lines = [n for n, line in enumerate(text.split("\n"), start=1) if old in line]
        await work.say(
            f"“{old}” occurs {count} times in `{path}` (lines {', '.join(map(str, lines[:10]))}), "
            "and I only change text that occurs once. Include more of the text around it."
        )
        return
    result = await work.tools.edit(path, old, new, reason=f"Change “{old}” to “{new}” in {path}")
    if result.ok:
        await work.say(f"{result.text} `/undo` reverts it.")
    else:
        await work.refused(result.text, f"`{path}` stays as it is", result.denied)


async def move(work: Work, intent: Intent) -> None:
    """Move or rename a file."""
    path, target = intent["path"], intent["target"]
    result = await work.tools.move(path, target, reason="You asked to move it")
    if not result.ok:
        await work.refused(result.text, f"`{path}` stays where it is", result.denied)
        return
    note = "Imports of it were not updated." if path.endswith(".py") else ""
    await work.say(result.text, note, "`/undo` reverts it.")


async def delete(work: Work, intent: Intent) -> None:
    """Delete a file, with permission."""
    path = intent["path"]
    result = await work.tools.delete(path, reason="You asked to delete it")
    if result.ok:
        await work.say(f"{result.text} `/undo` reverts it.")
    else:
        await work.refused(result.text, f"`{path}` is not deleted", result.denied)


async def undo(work: Work, intent: Intent) -> None:
    """Undo the changes of the last turn."""
    result = await work.tools.undo()
    if result.ok:
        await work.say(result.text)
    else:
        await work.refused(result.text, "the changes are kept", result.denied)

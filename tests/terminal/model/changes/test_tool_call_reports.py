"""Agents that write themselves: what they report is read against the disk, and never guessed."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from accord.errors import AccordError
from accord.terminal.model.changes.undo_redo import Outcome
from accord.transcript import ToolCall
from accord.transcript.changes import ToolCallChanged
from accord.transcript.items.tool_call import FileDiff, Location
from tests.hang_limit import HANG_SECONDS
from tests.terminal.model.projects import NEW, OLD, Project, project_in


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with one file."""
    return project_in(tmp_path)


@pytest.mark.parametrize(
    "diff",
    [
        FileDiff("x.py", old_text=OLD, new_text=NEW),
        FileDiff("x.py", patch="@@ -2 +2 @@\n-two\n+TWO\n@@ -5 +5 @@\n-five\n+FIVE\n"),
    ],
    ids=["texts", "patch"],
)
async def test_an_agent_that_writes_itself_tells_what_it_did(
    project: Project, diff: FileDiff
) -> None:
    """Issue 6: diffs in completed tool calls of agents that write themselves."""
    await project.agent_tells(diff, status="in_progress")
    project.write(NEW)
    await project.agent_tells(diff)
    await project.agent_tells(diff)
    change = project.journal.change(project.path)
    assert change is not None
    assert (change.before, change.after) == (OLD, NEW)
    await project.journal.undo(project.path)
    assert project.read() == OLD


async def test_a_part_of_a_file_is_enough(project: Project) -> None:
    """Ours: many agents report only the lines that they replaced."""
    project.write(NEW.replace("\n", "\r\n"))
    await project.agent_tells(FileDiff(project.path, old_text="two\nthree", new_text="TWO\nthree"))
    await project.journal.undo(project.path)
    assert project.read() == NEW.replace("TWO", "two").replace("\n", "\r\n")


async def test_a_file_seen_before_the_call_ended_needs_no_texts(project: Project) -> None:
    """Ours: agents of v2 may report no more than the name."""
    call = ToolCall("t1")
    call.patch(kind="edit", status="in_progress")
    call.replace_locations([Location(project.path)])
    project.journal.hear(ToolCallChanged(call, "", None))
    await project.journal.settle()
    project.write(NEW)
    project.tell("t1", [FileDiff(project.path)], "completed")
    await project.journal.settle()
    change = project.journal.change(project.path)
    assert change is not None
    assert change.before == OLD


async def test_several_changes_of_one_file_are_all_known(project: Project) -> None:
    """Ours: a call may replace lines at many places, and a second may be quicker than we look."""
    first = FileDiff(project.path, old_text="two\n", new_text="TWO\n")
    second = FileDiff(project.path, old_text="five", new_text="FIVE")
    project.write(NEW)
    await project.agent_tells(first, second)
    change = project.journal.change(project.path)
    assert change is not None
    assert change.before == OLD


@pytest.mark.parametrize("together", [True, False])
async def test_two_calls_that_were_quicker_than_we_look(project: Project, together: bool) -> None:
    """Ours: both are in the file when the first is told."""
    project.write(NEW)
    project.tell("t1", [FileDiff(project.path, old_text="two\n", new_text="TWO\n")], "completed")
    if not together:
        await project.journal.settle()
    project.tell("t2", [FileDiff(project.path, old_text="five", new_text="FIVE")], "completed")
    await project.journal.settle()
    change = project.journal.change(project.path)
    assert change is not None
    assert (change.before, len(change.hunks)) == (OLD, 2)


async def test_what_was_written_through_us_and_told_as_well_is_one_change(
    project: Project,
) -> None:
    """Ours: agents of v1 write through us and report the diff."""
    await project.agent_writes(NEW)
    await project.agent_tells(FileDiff(project.path, old_text=OLD, new_text=NEW))
    await project.agent_tells(FileDiff(project.path, old_text="x", new_text="three"))
    change = project.journal.change(project.path)
    assert change is not None
    assert change.before == OLD


async def test_content_that_is_added_to_a_finished_call_is_news(project: Project) -> None:
    """Ours: only content may follow a final status."""
    project.write(OLD.replace("two", "TWO"))
    diffs = [FileDiff(project.path, old_text="two\n", new_text="TWO\n")]
    project.tell("t1", diffs, "completed")
    await project.journal.settle()
    project.write(NEW)
    project.tell(
        "t1", [*diffs, FileDiff(project.path, old_text="five", new_text="FIVE")], "completed"
    )
    await project.journal.settle()
    change = project.journal.change(project.path)
    assert change is not None
    assert change.before == OLD


async def test_what_is_not_known_cannot_be_undone(project: Project) -> None:
    """Ours: nothing is guessed."""
    await project.agent_tells(FileDiff(project.path, old_text="nowhere", new_text="else"))
    await project.agent_tells(FileDiff("/etc/passwd", old_text="a", new_text="b"))
    (project.folder / "z").write_bytes(b"\xff\xfe")
    await project.agent_tells(FileDiff("z", operation="add", new_text="?"))
    states = {os.path.basename(one.path): one.why for one in project.journal.changes}
    assert states == {
        "x.py": "the agent did not report the old content",
        "passwd": "outside the allowed directories",
        "z": "it is not UTF-8 text",
    }
    with pytest.raises(AccordError, match="cannot be undone"):
        await project.journal.undo(project.path)
    assert await project.journal.undo_all() == Outcome(0)
    project.journal.keep_all()
    assert {one.state for one in project.journal.changes} == {"unknown"}
    await project.agent_writes("x\n")
    change = project.journal.change(project.path)
    assert change is not None
    assert change.before == OLD, "from now on it is known"


async def test_a_deleted_file_returns_and_a_move_is_reversed(project: Project) -> None:
    """Issue 6: deleted files restored, moves reversed."""
    journal = project.journal
    (project.folder / "x.py").unlink()
    patch = "@@ -1,5 +0,0 @@\n-one\n-two\n-three\n-four\n-five\n"
    await project.agent_tells(FileDiff(project.path, "delete", patch=patch))
    await journal.undo(project.path)
    assert project.read() == OLD
    await journal.redo(project.path)
    assert not (project.folder / "x.py").exists()
    await journal.undo(project.path)

    target = str(project.folder / "sub" / "y.py")
    (project.folder / "sub").mkdir()
    (project.folder / "x.py").rename(target)
    project.write(NEW, "sub/y.py")
    patch = "@@ -2 +2 @@\n-two\n+TWO\n@@ -5 +5 @@\n-five\n+FIVE\n"
    await project.agent_tells(FileDiff(target, "move", old_path=project.path, patch=patch))
    change = journal.change(target)
    assert change is not None
    await journal.undo(target)
    assert project.read() == OLD
    assert not os.path.exists(target)
    await journal.redo(target)
    assert project.read("sub/y.py") == NEW
    assert not (project.folder / "x.py").exists()
    project.write("mine", "x.py")
    with pytest.raises(AccordError):
        await journal.undo(target)
    assert project.read() == "mine", "what took its place is not written over"


async def test_a_pure_move_is_one_difference(project: Project) -> None:
    """Issue 6."""
    target = str(project.folder / "y.py")
    (project.folder / "x.py").rename(target)
    await project.agent_tells(FileDiff(target, "move", old_path=project.path))
    change = project.journal.change(target)
    assert change is not None
    assert (change.added, change.removed, len(change.hunks)) == (0, 0, 1)
    await project.journal.undo(target, 0)
    assert project.read() == OLD


async def test_a_past_that_is_told_again_is_not_news(project: Project) -> None:
    """Ours: a loaded session tells of changes that were made long ago."""
    project.chat.set_phase("ready")
    await project.agent_tells(FileDiff(project.path, old_text="", new_text=OLD))
    assert project.journal.changes == ()


async def test_what_is_heard_is_taken_in_by_itself(project: Project) -> None:
    """Ours: nobody has to look."""
    project.write(NEW)
    project.tell("t", [FileDiff(project.path, old_text=OLD, new_text=NEW)], "completed")
    with anyio.fail_after(HANG_SECONDS):
        while not project.journal.changes:
            await anyio.lowlevel.checkpoint()

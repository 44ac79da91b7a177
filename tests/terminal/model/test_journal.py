"""The journal: what the agent changed, kept or taken back, and never over somebody else's work."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accord.errors import AccordError
from accord.terminal.model.chat import Chat
from accord.terminal.model.file_change import FileChange
from accord.terminal.model.journal import Journal
from accord.terminal.model.journal_files import ChangedSince
from accord.terminal.model.journaled_files import JournaledFiles
from accord.terminal.model.switching import Outcome
from accord.transcript import ToolCall
from accord.transcript.tool_call import FileDiff, Location
from accord.transcript.update import ToolCallChanged
from tests.terminal.model.test_hunks import TEXTS

OLD = "one\ntwo\nthree\nfour\nfive\n"
NEW = "one\nTWO\nthree\nfour\nFIVE\n"


class Project:
    """A folder, its chat and journal, and an agent that writes through us or by itself."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.chat = Chat(str(folder))
        self.chat.set_phase("working")
        self.journal = Journal(self.chat)
        self.files = JournaledFiles(lambda session_id: self.journal)
        self.files.add_session("s", [str(folder)])
        self.path = str(folder / "x.py")

    def write(self, text: str, name: str = "x.py") -> None:
        (self.folder / name).write_bytes(text.encode())

    def read(self, name: str = "x.py") -> str:
        return (self.folder / name).read_bytes().decode()

    async def agent_writes(self, text: str, name: str = "x.py") -> FileChange | None:
        path = str(self.folder / name)
        await self.files.write_text("s", path, text)
        return self.journal.change(path)

    async def agent_tells(self, *diffs: FileDiff, status: str = "completed") -> None:
        self.tell(f"t{len(diffs)}{diffs}", diffs, status)
        await self.journal.settle()

    def tell(self, call_id: str, diffs: Sequence[FileDiff], status: str) -> None:
        call = ToolCall(call_id)
        call.report(status)
        call.replace_content(list(diffs), lambda item: (item,))
        self.journal.hear(ToolCallChanged(call, "", None))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with one file."""
    found = Project(tmp_path)
    found.write(OLD)
    return found


async def test_a_write_through_us_is_known_hunk_by_hunk(project: Project) -> None:
    """Issue 6: accept or undo per file and per hunk for edits made through us."""
    revision = project.chat.revision
    change = await project.agent_writes(NEW)
    assert change is not None
    assert (change.before, change.after) == (OLD, NEW)
    assert (change.added, change.removed, len(change.hunks)) == (2, 2, 2)
    assert change.state == "pending"
    assert project.chat.revision > revision
    assert [one.path for one in project.journal.changes] == [project.path]


async def test_a_hunk_is_undone_and_done_again(project: Project) -> None:
    """Issue 6: undo per hunk; an undo can be undone."""
    await project.agent_writes(NEW)
    journal, path = project.journal, project.path
    assert await journal.undo(path, 0) == Outcome(1)
    assert project.read() == OLD.replace("five", "FIVE")
    change = journal.change(path)
    assert change is not None
    assert (change.states, change.state) == (("undone", "pending"), "pending")
    assert await journal.undo(path, 0) == Outcome(0), "it is undone already"
    await journal.undo(path, 1)
    assert project.read() == OLD
    await journal.redo(path, 0)
    await journal.redo(path)
    assert project.read() == NEW


async def test_what_is_kept_is_not_undone_with_all(project: Project) -> None:
    """Issue 6."""
    await project.agent_writes(NEW)
    await project.agent_writes("new\n", "new.py")
    project.journal.keep(project.path, 1)
    assert await project.journal.undo_all() == Outcome(2)
    assert project.read() == OLD.replace("five", "FIVE")
    assert not (project.folder / "new.py").exists()
    change = project.journal.change(project.path)
    assert change is not None
    assert change.state == "partly"
    project.journal.keep_all()
    assert await project.journal.undo_all() == Outcome(0)
    await project.journal.undo(project.path)
    assert project.read() == OLD, "who asks for the file gets it all"


async def test_a_new_file_is_removed_and_returns(project: Project) -> None:
    """Issue 6: new files are removed; also empty ones."""
    for text in ("hello\n", ""):
        change = await project.agent_writes(text, "deep/new.py")
        assert change is not None
        path = change.path
        assert len(change.hunks) == 1
        await project.journal.undo(path)
        assert not os.path.exists(path)
        await project.journal.redo(path, 0)
        assert project.read("deep/new.py") == text
        await project.journal.undo(path)


async def test_a_second_write_keeps_the_first_text_and_what_was_kept(project: Project) -> None:
    """Issue 6: the first known text before, the latest after."""
    await project.agent_writes(NEW)
    project.journal.keep(project.path, 0)
    await project.agent_writes(NEW + "six\n")
    change = project.journal.change(project.path)
    assert change is not None
    assert (change.before, change.after) == (OLD, NEW + "six\n")
    assert change.states == ("kept", "pending")
    await project.agent_writes(OLD)
    assert project.journal.changes == (), "it is as it was"


async def test_what_the_person_wrote_between_two_writes_is_not_the_agents(
    project: Project,
) -> None:
    """Ours: undo must not take the person's own work back."""
    await project.agent_writes(NEW)
    project.write("mine\n" + NEW)
    await project.agent_writes("mine\n" + NEW + "six\n")
    await project.journal.undo(project.path)
    assert project.read() == "mine\n" + OLD


async def test_somebody_elses_change_is_left_alone(project: Project) -> None:
    """Issue 6: a hunk applies if its own lines are intact; nothing is destroyed."""
    await project.agent_writes(NEW)
    theirs = NEW.replace("TWO", "mine")
    project.write("top\n" + theirs)
    with pytest.raises(ChangedSince, match="changed since by somebody else"):
        await project.journal.undo(project.path, 0)
    assert project.read() == "top\n" + theirs
    assert await project.journal.undo(project.path) == Outcome(1, refused=1)
    assert project.read() == "top\n" + theirs.replace("FIVE", "five")
    await project.journal.redo(project.path)
    assert project.read() == "top\n" + theirs


async def test_a_new_file_that_somebody_changed_is_not_removed(project: Project) -> None:
    """Ours."""
    change = await project.agent_writes("hello\n", "new.py")
    assert change is not None
    project.write("hello\nmine\n", "new.py")
    with pytest.raises(ChangedSince):
        await project.journal.undo(change.path)
    (project.folder / "new.py").unlink()
    with pytest.raises(ChangedSince):
        await project.journal.undo(change.path)
    (project.folder / "new.py").write_bytes(b"\xff")
    with pytest.raises(ChangedSince):
        await project.journal.undo(change.path)


async def test_mode_bits_and_line_ends_stay(project: Project) -> None:
    """Issue 6: mode bits and newline style kept."""
    project.write("\ufeffa\r\nb\r\n")
    (project.folder / "x.py").chmod(0o755)
    change = await project.agent_writes("a\nB\n")
    assert change is not None
    assert project.read() == "\ufeffa\r\nB\r\n"
    assert len(change.hunks) == 1
    await project.journal.undo(project.path)
    assert project.read() == "\ufeffa\r\nb\r\n"
    assert stat.S_IMODE((project.folder / "x.py").stat().st_mode) == 0o755
    # Also where the agent changed nothing but the line ends.
    project.write("a\r\nb\r\n", "y.py")
    (project.folder / "y.py").write_bytes(b"a\nb\n")
    await project.agent_tells(
        FileDiff(str(project.folder / "y.py"), old_text="a\r\nb\r\n", new_text="a\nb\n")
    )
    await project.journal.undo(str(project.folder / "y.py"))
    assert project.read("y.py") == "a\r\nb\r\n"


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(before=TEXTS, after=TEXTS, order=st.randoms())
async def test_hunks_undone_in_any_order_restore_the_file(
    tmp_path_factory: pytest.TempPathFactory, before: str, after: str, order: object
) -> None:
    """Issue 6: exactly, on the disk."""
    project = Project(tmp_path_factory.mktemp("p"))
    project.write(before)
    project.write(after, "after")
    (project.folder / "after").replace(project.folder / "x.py")
    await project.agent_tells(FileDiff(project.path, old_text=before, new_text=after))
    change = project.journal.change(project.path)
    if before == after:
        assert change is None
        return
    assert change is not None
    for number in sorted(range(len(change.hunks)), key=lambda _: order.random()):  # type: ignore[attr-defined]
        await project.journal.undo(project.path, number)
    assert project.read() == before
    await project.journal.redo(project.path)
    assert project.read() == after


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
    call.locations = [Location(project.path)]
    project.journal.hear(ToolCallChanged(call, "", None))
    await project.journal.settle()
    project.write(NEW)
    await project.agent_tells(FileDiff(project.path))
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
        "x.py": "the agent did not tell what it was",
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
    with anyio.fail_after(5):
        while not project.journal.changes:
            await anyio.lowlevel.checkpoint()


async def test_other_roots_are_used_from_then_on(project: Project, tmp_path: Path) -> None:
    """Ours: a session has more folders than the first."""
    other = tmp_path / "other"
    other.mkdir()
    journal = Journal(Chat(str(tmp_path / "gone")), [str(tmp_path / "gone")])
    async with journal.writing(str(other / "x")):
        (other / "x").write_text("hello\n")
    assert journal.changes[0].why
    journal.set_roots([str(other)])
    async with journal.writing(str(other / "x")):
        (other / "x").write_text("hallo\n")
    assert journal.changes[0].before == "hello\n"

"""The journal: what the agent changed, kept or taken back, and never over somebody else's work."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accord.terminal.model.changes.journal import Journal
from accord.terminal.model.changes.undo_redo import ChangedSince, Outcome
from accord.terminal.model.chat import Chat
from accord.transcript.items.tool_call import FileDiff
from tests.terminal.model.changes.test_hunks import TEXTS
from tests.terminal.model.projects import NEW, OLD, Project, project_in


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with one file."""
    return project_in(tmp_path)


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
    """Ours: undo must not take the user's own work back."""
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
    with pytest.raises(ChangedSince, match="was changed in the meantime"):
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
    # Also where the agent changed nothing but the line endings.
    project.write("a\r\nb\r\n", "y.py")
    (project.folder / "y.py").write_bytes(b"a\nb\n")
    await project.agent_tells(
        FileDiff(str(project.folder / "y.py"), old_text="a\r\nb\r\n", new_text="a\nb\n")
    )
    await project.journal.undo(str(project.folder / "y.py"))
    assert project.read("y.py") == "a\r\nb\r\n"


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(before=TEXTS, after=TEXTS, seed=st.integers(0, 9999))
async def test_hunks_undone_in_any_order_restore_the_file(
    tmp_path_factory: pytest.TempPathFactory, before: str, after: str, seed: int
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
    # Nothing may be drawn while the event loop runs.
    numbers = list(range(len(change.hunks)))
    Random(seed).shuffle(numbers)
    for number in numbers:
        await project.journal.undo(project.path, number)
    assert project.read() == before
    await project.journal.redo(project.path)
    assert project.read() == after


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


async def test_what_is_remembered_is_bounded(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rule 6 of the house: the texts of the first files go, their names stay."""
    monkeypatch.setattr("accord.terminal.model.changes.journal.CHARACTERS_MAX", 100)
    await project.agent_writes("x" * 60, "a")
    await project.agent_writes("x" * 60, "b")
    assert [one.state for one in project.journal.changes] == ["unknown", "pending"]
    monkeypatch.setattr("accord.terminal.model.changes.journal.FILES_MAX", 2)
    await project.agent_writes("x", "c")
    assert [Path(one.path).name for one in project.journal.changes] == ["b", "c"]

"""The file service that tells the journal is still the service that it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.client.audit import AuditLog
from accord.client.files import FileService
from accord.errors import RequestError
from accord.terminal.model.journaled_files import JournaledFiles
from tests.terminal.model.projects import NEW, OLD, Project, project_in


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with one file."""
    return project_in(tmp_path)


async def test_a_write_that_fails_is_no_change(project: Project) -> None:
    """Ours; and bytes that are no text are changed without a journal."""
    with pytest.raises(RequestError):
        await project.files.write_text("s", str(project.folder), "x")
    with pytest.raises(RequestError):
        await project.files.write_text("s", "/etc/nowhere", "x")
    assert project.journal.changes == ()
    (project.folder / "b.bin").write_bytes(b"\xff")
    change = await project.agent_writes("text", "b.bin")
    assert change is not None
    assert change.why == "it is not UTF-8 text"


async def test_the_audit_log_is_told_as_ever(project: Project, tmp_path: Path) -> None:
    """Issue 6: it composes with the audited files."""
    log = AuditLog(tmp_path / "audit.jsonl")
    files = JournaledFiles(lambda session_id: project.journal, log).for_connection()
    files.add_session("s", [str(project.folder)])
    assert files.capabilities() == {"readTextFile": True, "writeTextFile": True}
    assert files.locate("s", project.path) == project.path
    assert files.read_now("s", project.path) in (None, OLD)
    assert await files.read_text("s", project.path) == OLD
    assert (await files.read_part("s", project.path, "utf-8", 1, 1)).text.startswith("one")
    await files.write_encoded("s", project.path, NEW, "utf-8")
    assert project.journal.change(project.path) is not None
    assert "write" in (tmp_path / "audit.jsonl").read_text()
    files.remove_session("s")
    with pytest.raises(RequestError):
        await files.read_text("s", project.path)


async def test_a_session_without_a_journal_is_served_too(project: Project) -> None:
    """Ours."""
    files = JournaledFiles(lambda session_id: None, inner=FileService())
    files.add_session("s", [str(project.folder)])
    await files.write_text("s", project.path, NEW)
    assert project.read() == NEW

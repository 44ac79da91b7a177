"""The file service that tells the journal is still the service that it was."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from accord.client.audit.log import AuditLog
from accord.client.permissions.permissions import Permissions
from accord.client.services.files import FileService
from accord.errors import RequestError
from accord.terminal.model.changes.journaled_file_service import JournaledFiles
from tests.client.scripted_agent import ScriptedAgent, connected
from tests.hang_limit import HANG_SECONDS
from tests.terminal.model.projects import NEW, OLD, Project, project_in


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with one file."""
    return project_in(tmp_path)


async def test_a_write_that_fails_is_no_change(project: Project) -> None:
    """Ours; and bytes that are not text are changed without a journal."""
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


async def test_a_write_that_nobody_waits_for_any_more_is_known(project: Project) -> None:
    """Ours: a turn that is cancelled does not undo a write."""
    written = anyio.Event()

    class Slow(FileService):
        async def write_text(
            self, session_id: str, path: str, content: str, *, at: str | None = None
        ) -> None:
            await super().write_text(session_id, path, content, at=at)
            written.set()
            await anyio.sleep_forever()

    files = JournaledFiles(lambda session_id: project.journal, inner=Slow())
    files.add_session("s", [str(project.folder)])
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(files.write_text, "s", project.path, NEW)
            await written.wait()
            tasks.cancel_scope.cancel()
    change = project.journal.change(project.path)
    assert change is not None
    assert (change.before, change.after) == (OLD, NEW)


async def test_what_an_agent_of_v1_writes_over_the_wire_is_undone(project: Project) -> None:
    """Issue 6: undo for edits made through us, from the wire to the disk."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        params = {"sessionId": "s1", "path": project.path, "content": NEW}
        await agent.answer_to(agent.request("fs/write_text_file", params))
        agent.end_turn(prompt)

    files = JournaledFiles(lambda session_id: project.journal)
    with anyio.fail_after(HANG_SECONDS):
        async with connected(script, files=files, permissions=Permissions.allow_all()) as found:
            session = await found[0].new_session(str(project.folder))
            await session.ask("write it")
            assert project.read() == NEW
            await project.journal.undo(project.path, 0)
    assert project.read() == OLD.replace("five", "FIVE")

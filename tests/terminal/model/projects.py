"""A folder with its chat and journal, and an agent that writes through us or by itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from accord.terminal.model.changes.file_change import FileChange
from accord.terminal.model.changes.journal import Journal
from accord.terminal.model.changes.journaled_file_service import JournaledFiles
from accord.terminal.model.chat import Chat
from accord.transcript import ToolCall
from accord.transcript.changes import ToolCallChanged
from accord.transcript.items.tool_call import FileDiff

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


def project_in(folder: Path) -> Project:
    """A project with one file."""
    found = Project(folder)
    found.write(OLD)
    return found


__all__ = ["NEW", "OLD", "Project", "project_in"]

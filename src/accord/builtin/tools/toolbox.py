"""All tools of one turn, as one object that both brains call.

What always holds
    * Every tool shows itself to the client, and asks first where the mode says so.
    * A tool that fails does not raise: its result says why.  Cancellation passes through.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from accord.builtin.tools import mcp_tools
from accord.builtin.tools import plan_and_task as planning
from accord.builtin.tools import run as commands
from accord.builtin.tools.files import edit as editing
from accord.builtin.tools.files import move_delete_undo as moving
from accord.builtin.tools.files import read as reading
from accord.builtin.tools.result import ToolResult
from accord.builtin.tools.search import glob_grep as searching
from accord.builtin.tools.tool_call import ToolFailed
from accord.errors import RequestFailed
from accord.machine.errors import MachineError
from accord.machine.redaction.redactor import Redactor

if TYPE_CHECKING:
    from accord.agent.turn import Turn
    from accord.builtin.workspace import Workspace

# Runs a task of its own with the tools it is given, and returns what it found.
RunTask = Callable[[str, "Toolbox"], Awaitable[str]]


class Toolbox:
    """The tools of one turn.  `mode` stands in place of the session's, as for a read-only task."""

    def __init__(
        self,
        turn: Turn,
        workspace: Workspace,
        run_task: RunTask | None = None,
        *,
        mode: str | None = None,
    ) -> None:
        self.turn = turn
        self.workspace = workspace
        self.run_task = run_task
        self._mode = mode
        # Files must stay what they are, so only values that are known count.
        self.redactor = Redactor.of_environment(*workspace.settings.secrets).by_value

    def limited_to(self, mode: str) -> Toolbox:
        """The same tools under another mode, without tasks of their own."""
        return Toolbox(self.turn, self.workspace, mode=mode)

    @property
    def mode(self) -> str | None:
        """The mode that decides what is asked for."""
        return self._mode or self.turn.mode

    # ---- looking

    async def read(
        self, path: str, line: int | None = None, limit: int | None = None
    ) -> ToolResult:
        """The lines of a file, numbered; `data` is the text without numbers."""
        return await reading.read_file(self, path, line, limit)

    async def text(self, path: str) -> str | None:
        """A file's whole text without showing a tool call; None where there is no text.

        Counts as read: the file may be edited afterwards.
        """
        try:
            return await reading.load(self, path)
        except (ToolFailed, MachineError, RequestFailed, OSError):
            return None

    async def glob(self, pattern: str, path: str | None = None) -> ToolResult:
        """The files that match; `data` is the list of absolute paths."""
        return await searching.glob_files(self, pattern, path)

    async def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        ignore_case: bool = False,
    ) -> ToolResult:
        """The lines that match a regular expression; `data` is a list of `Match`."""
        return await searching.grep_files(self, pattern, path, glob, ignore_case)

    # ---- changing

    async def edit(
        self,
        path: str,
        old: str,
        new: str,
        all: bool = False,  # noqa: A002 - the name that models are told
        reason: str | None = None,
    ) -> ToolResult:
        """Replace the one place where `old` stands, or with `all` every one."""
        return await editing.edit_text(self, path, old, new, all, reason)

    async def write(self, path: str, text: str, reason: str | None = None) -> ToolResult:
        """Make `text` the file's whole text; make the file where it is missing."""
        return await editing.write_file(self, path, text, reason)

    async def edit_many(
        self, changes: Mapping[str, str | None], reason: str, title: str
    ) -> ToolResult:
        """Change several files with one permission; None deletes a file."""
        return await editing.edit_many(self, changes, reason, title)

    async def move(self, path: str, target: str, reason: str | None = None) -> ToolResult:
        """Give a file another name."""
        return await moving.move_file(self, path, target, reason)

    async def delete(self, path: str, reason: str | None = None) -> ToolResult:
        """Delete a file."""
        return await moving.delete_file(self, path, reason)

    async def undo(self) -> ToolResult:
        """Take back what the last turn changed; refused where a file changed since."""
        return await moving.undo(self)

    # ---- doing

    async def run(
        self,
        command: str,
        timeout: float | None = None,
        background: bool = False,
        reason: str | None = None,
        cwd: str | None = None,
    ) -> ToolResult:
        """Run a shell line; `data` is the library's `Done`.

        In the background it is the `TerminalHandle` that runs it."""
        return await commands.run_line(self, command, timeout, background, reason, cwd)

    async def fetch(self, url: str) -> ToolResult:
        """The text of a page."""
        # What speaks http takes longer to load than all other tools together.
        from accord.builtin.tools.web.fetch import fetch_page

        return await fetch_page(self, url)

    async def mcp(
        self, server: str, tool: str, arguments: Mapping[str, Any] | None = None
    ) -> ToolResult:
        """Call a tool of one of the session's MCP servers; `data` is its `McpResult`."""
        return await mcp_tools.call_tool(self, server, tool, arguments or {})

    # ---- planning

    async def plan(self, entries: Sequence[str | Mapping[str, str]]) -> ToolResult:
        """Show the plan as it is now; `data` is the library's `PlanHandle`.

        An entry is its text, or a mapping with content and optionally status and priority.
        """
        return await planning.show_plan(self, entries)

    async def leave_plan(self, plan: str) -> ToolResult:
        """Ask the user to approve the plan; consent leaves plan mode."""
        return await planning.leave_plan(self, plan)

    async def task(self, prompt: str) -> ToolResult:
        """A task of its own that may look but not change, run by the brain."""
        return await planning.run_task(self, prompt)

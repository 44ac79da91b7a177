"""All tools of one turn, as one object that both brains call.

What always holds
    * Every tool reports itself to the client, and asks for permission where the mode requires it.
    * A tool that fails does not raise: its result says why.  Cancellation passes through.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from accord.builtin.modes import READ_ONLY
from accord.builtin.tools import mcp_tools, plan_and_task, run
from accord.builtin.tools.files import edit, move_delete_undo, read
from accord.builtin.tools.search import glob_grep
from accord.builtin.tools.tool_call import ToolContext, ToolFailed, ToolResult
from accord.errors import RequestFailed
from accord.machine.errors import MachineError

if TYPE_CHECKING:
    from accord.agent.turn import Turn
    from accord.builtin.workspace import Workspace

RunTask = Callable[[str, "Toolbox"], Awaitable[str]]
"""Runs a prompt as a subtask with the tools it is given, and returns the answer."""


class Toolbox:
    """The tools of one turn.  `mode` overrides the session's mode, as for a read-only subtask."""

    def __init__(
        self,
        turn: Turn,
        workspace: Workspace,
        run_task: RunTask | None = None,
        *,
        mode: str | None = None,
    ) -> None:
        self.context = ToolContext(turn, workspace, mode)
        self.run_task = run_task

    # ---- reading

    async def read(
        self, path: str, line: int | None = None, limit: int | None = None
    ) -> ToolResult:
        """Return numbered lines of a file; `data` is the text without numbers."""
        return await read.read_file(self.context, path, line, limit)

    async def text(self, path: str) -> str | None:
        """Return a file's whole text without a tool call; None if it cannot be read as text.

        Counts as read: the file may be edited afterwards.
        """
        try:
            return await read.load(self.context, path)
        except (ToolFailed, MachineError, RequestFailed, OSError):
            return None

    async def glob(self, pattern: str, path: str | None = None) -> ToolResult:
        """List the files that match; `data` is the list of absolute paths."""
        return await glob_grep.glob_files(self.context, pattern, path)

    async def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        ignore_case: bool = False,
    ) -> ToolResult:
        """List the lines that match a regular expression; `data` is a list of `Match`."""
        return await glob_grep.grep_files(self.context, pattern, path, glob, ignore_case)

    # ---- changing

    async def edit(
        self,
        path: str,
        old: str,
        new: str,
        all: bool = False,  # noqa: A002 - the name that models are told
        reason: str | None = None,
    ) -> ToolResult:
        """Replace the only occurrence of `old`, or every occurrence with `all`."""
        return await edit.edit_text(self.context, path, old, new, all, reason)

    async def write(self, path: str, text: str, reason: str | None = None) -> ToolResult:
        """Set the whole text of a file; create the file if it is missing."""
        return await edit.write_file(self.context, path, text, reason)

    async def edit_many(
        self, changes: Mapping[str, str | None], reason: str, title: str
    ) -> ToolResult:
        """Change several files with one permission; None deletes a file."""
        return await edit.edit_many(self.context, changes, reason, title)

    async def move(self, path: str, target: str, reason: str | None = None) -> ToolResult:
        """Move or rename a file."""
        return await move_delete_undo.move_file(self.context, path, target, reason)

    async def delete(self, path: str, reason: str | None = None) -> ToolResult:
        """Delete a file after asking for permission."""
        return await move_delete_undo.delete_file(self.context, path, reason)

    async def undo(self) -> ToolResult:
        """Revert the changes of the last turn; refused if a file has changed since."""
        return await move_delete_undo.undo(self.context)

    # ---- commands and servers

    async def run(
        self,
        command: str,
        timeout: float | None = None,
        background: bool = False,
        reason: str | None = None,
        cwd: str | None = None,
    ) -> ToolResult:
        """Run a shell line; `data` is a `Done`, or the `TerminalHandle` of a background command."""
        return await run.run_line(self.context, command, timeout, background, reason, cwd)

    async def fetch(self, url: str) -> ToolResult:
        """Return the text of a web page."""
        # The HTTP client takes longer to import than all other tools together.
        from accord.builtin.tools.web.fetch import fetch_page

        return await fetch_page(self.context, url)

    async def mcp(
        self, server: str, tool: str, arguments: Mapping[str, Any] | None = None
    ) -> ToolResult:
        """Call a tool of one of the session's MCP servers; `data` is the `McpResult`."""
        return await mcp_tools.call_tool(self.context, server, tool, arguments or {})

    # ---- planning

    async def plan(self, entries: Sequence[str | Mapping[str, str]]) -> ToolResult:
        """Show the current plan; `data` is a `PlanHandle`.

        An entry is its text, or a mapping with content and optionally status and priority.
        """
        return await plan_and_task.show_plan(self.context, entries)

    async def leave_plan(self, plan: str) -> ToolResult:
        """Ask the user to approve the plan; approval leaves plan mode."""
        return await plan_and_task.leave_plan(self.context, plan)

    async def task(self, prompt: str) -> ToolResult:
        """Let the brain run a subtask that may read but not change anything."""
        run_prompt = None if self.run_task is None else partial(self._run_read_only, self.run_task)
        return await plan_and_task.run_task(self.context, prompt, run_prompt)

    async def _run_read_only(self, run_task: RunTask, prompt: str) -> str:
        tools = Toolbox(self.context.turn, self.context.workspace, mode=READ_ONLY)
        return await run_task(prompt, tools)

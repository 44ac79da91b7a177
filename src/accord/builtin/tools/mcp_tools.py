"""Tools of the session's MCP servers, shown and asked for as our own are.

What always holds
    * What a server says about its tools is a hint: only full access calls one unasked, and a mode
      that changes nothing may be asked for those that say they only read.
    * A lasting answer is for one tool of one server, unless the user chose all of its tools.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from accord.agent.tools.always_answers import tool_act
from accord.agent.tools.tool_call import ToolCallHandle
from accord.builtin.tools.tool_call import ToolFailed, ToolResult, done, failed, permit, shown

if TYPE_CHECKING:
    from accord.builtin.tools.tool_call import ToolContext
    from accord.mcp.results import McpResult, McpTool

ARGUMENTS_SHOWN_MAX = 500
# A server may report faster than anyone can read, and each report is stored.
PROGRESS_SECONDS_MIN = 0.1
PROGRESS_CHARACTERS_MAX = 200
# What every provider of models accepts as the name of a tool.
NAME_CHARACTERS_MAX = 64
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def offered_name(server: str, tool: str, taken: Mapping[str, object]) -> str:
    """The name by which a model is offered a tool: unique, and one that every provider accepts."""
    name = _NOT_IN_NAMES.sub("_", f"{server}__{tool}")[:NAME_CHARACTERS_MAX]
    number = 2
    free = name
    while free in taken:
        end = f"_{number}"
        free = name[: NAME_CHARACTERS_MAX - len(end)] + end
        number += 1
    return free


async def call_tool(
    context: ToolContext, server: str, tool: str, arguments: Mapping[str, Any]
) -> ToolResult:
    """Call a tool of a server as a tool call."""
    found = await _find(context, server, tool)
    kind = "other" if found is None else found.kind
    title = f"{server}: {tool if found is None else found.title or tool}"
    call = context.turn.tool_call(
        title,
        kind=kind,
        # The usual form of the name, so that a client's rules for MCP tools match it.
        name=f"mcp__{server}__{tool}",
        raw_input={"server": server, "tool": tool, "arguments": dict(arguments)},
        cancellable=context.turn.session.can_cancel_tool_calls,
    )

    async def work(call: ToolCallHandle) -> ToolResult:
        if found is None:
            raise ToolFailed(_unknown(context, server, tool))
        given = json.dumps(dict(arguments), ensure_ascii=False)[:ARGUMENTS_SHOWN_MAX]
        # A tool that its server calls reading is still a call to a foreign program.
        asked = "fetch" if kind in ("read", "fetch") else "other"
        await permit(
            context,
            call,
            asked,
            f"Calling {tool} of {server}",
            f"Call {tool} of the MCP server {server} with {given}",
            tool_act(server, tool, _definition(context, server)),
        )
        await call.start()
        assert context.workspace.mcp is not None
        result = await context.workspace.mcp.call(
            server,
            tool,
            dict(arguments),
            on_progress=_Progress(call, title).report,
        )
        text = context.redactor.text(result.text)
        for block in result.blocks:
            await call.show(block)
        if result.ok:
            await call.complete(raw_output=_raw_output(result))
            return done(text or "[the tool returned nothing]", result)
        await call.fail(None if result.blocks else text, raw_output=_raw_output(result))
        return failed(text or f"{tool} of {server} failed.", result)

    return await shown(call, work)


async def _find(context: ToolContext, server: str, tool: str) -> McpTool | None:
    """The tool, once the servers that are being connected had their time."""
    servers = context.workspace.mcp
    if servers is None:
        return None
    await servers.settled()
    return servers.tool(server, tool)


def _definition(context: ToolContext, server: str) -> str | None:
    """Tells servers of the same name apart, where an answer also holds in other sessions."""
    for one in context.turn.session.mcp_servers:
        if getattr(one, "name", None) == server:
            return hashlib.sha256(repr(one).encode()).hexdigest()
    return None


def _unknown(context: ToolContext, server: str, tool: str) -> str:
    servers = context.workspace.mcp
    if servers is None or not servers.status:
        return "This session has no MCP servers."
    for one in servers.status:
        if one.name == server:
            if one.error:
                return f"The MCP server {server} is not available: {one.error}"
            names = ", ".join(t.name for t in servers.tools if t.server == server) or "none"
            return f"The MCP server {server} has no tool {tool}. It has: {names}."
    names = ", ".join(one.name for one in servers.status)
    return f"This session has no MCP server {server}. It has: {names}."


def _raw_output(result: McpResult) -> object:
    structured = result.structured
    return structured if structured is not None else {"text": result.text[:4000]}


class _Progress:
    """Shows the progress that a server reports in the title of the call."""

    def __init__(self, call: ToolCallHandle, title: str) -> None:
        self._call = call
        self._title = title
        self._told_at = -math.inf

    async def report(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Show one report; late reports, and those that come too fast, are dropped."""
        now = time.monotonic()
        if self._call.is_final or now - self._told_at < PROGRESS_SECONDS_MIN:
            return
        self._told_at = now
        amount = f"{progress:g}" if not total else f"{progress / total:.0%}"
        words = f" {message[:PROGRESS_CHARACTERS_MAX]}" if message else ""
        await self._call.set_title(f"{self._title} ({amount}{words})")

"""Listing the session's MCP servers and calling their tools."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from accord.builtin.offline.actions.unknown_request import search_words
from accord.builtin.offline.answer_format import bullets, fenced, listed
from accord.builtin.offline.prompt.arguments import values_of
from accord.builtin.offline.prompt.intent import Intent
from accord.builtin.offline.turn_context import Work

if TYPE_CHECKING:
    from accord.mcp.results import McpTool
    from accord.mcp.servers import McpServers


def _servers(work: Work) -> McpServers | None:
    servers: McpServers | None = work.workspace.mcp
    return servers


async def show_mcp(work: Work, intent: Intent) -> None:
    """List the servers of this session and their tools."""
    servers = _servers(work)
    if servers is None or not servers.status:
        await work.say(
            "No MCP servers are connected to this session. Add them in your editor's settings, "
            "or in Accord's `config.toml`."
        )
        return
    parts: list[str] = []
    for status in servers.status:
        tools = [one for one in servers.tools if one.server == status.name]
        problem = f" ({status.error})" if status.error else ""
        lines = bullets(f"`{status.name}.{one.name}`{_about(one)}" for one in tools)
        parts.append(f"**{status.name}**: {status.state}{problem}\n\n{lines}".rstrip())
    await work.say(*parts, 'Call one with `/call SERVER.TOOL {"name": "value"}`.')


def _about(tool: McpTool) -> str:
    known = tool.input_schema.get("properties")
    names = f" Takes {listed(list(known), 8)}." if isinstance(known, dict) and known else ""
    text = " ".join(tool.description.split())
    about = f": {text[:200]}" if text else ""
    return f"{about}{names}"


async def call(work: Work, intent: Intent) -> None:
    """Call a tool of an MCP server."""
    named, given = intent["tool"], intent.get("values") or ""
    servers = _servers(work)
    tools: Sequence[McpTool] = () if servers is None else servers.tools
    found = matching(tools, named)
    if not found:
        if not intent.slash and not tools:
            await search_words(work, named, f"There is no tool `{named}`.")
            return
        every = [f"{one.server}.{one.name}" for one in tools]
        near = difflib.get_close_matches(named, [*every, *(one.name for one in tools)], n=1)
        meant = f" Did you mean `{near[0]}`?" if near else ""
        there = (
            f"Available tools: {listed(every, 12)}." if every else "No MCP servers are connected."
        )
        await work.say(f"There is no tool `{named}`.{meant} {there}")
        return
    if len(found) > 1:
        labels = [f"{one.server}.{one.name}" for one in found]
        chosen = await work.choose(f"Which {named}?", labels)
        if chosen is None:
            await work.say(f"Several servers have it: {listed(labels)}. Name the server too.")
            return
        found = [found[labels.index(chosen)]]
    values = values_of(given)
    if values is None:
        await work.say(
            f"I cannot read `{given}` as arguments. Write a JSON object, or `name=value` pairs."
        )
        return
    tool = found[0]
    result = await work.tools.mcp(tool.server, tool.name, values)
    if result.denied is not None:
        await work.refused(result.text, f"`{named}` was not called", result.denied)
        return
    head = f"`{tool.server}.{tool.name}` " + ("answered:" if result.ok else "failed:")
    await work.say(head, fenced(result.text) if result.text.strip() else "(no output)")


def matching(tools: Sequence[McpTool], named: str) -> list[McpTool]:
    """The tools that a name means: `server.tool` exactly, else the tool of any server."""
    whole = [one for one in tools for mark in "./:" if f"{one.server}{mark}{one.name}" == named]
    return whole or [one for one in tools if one.name == named]

"""An MCP server made with the `mcp` package: one tool for everything that a client must handle.

`python workshop.py` serves stdio; `make_server()` is served over HTTP by the tests themselves.
"""

from __future__ import annotations

import base64
import os
from typing import Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from pydantic import BaseModel

PIXEL = base64.b64encode(b"\x89PNG not really").decode()


class Name(BaseModel):
    """What `greet` asks for."""

    name: str


class Sum(BaseModel):
    """What `add` returns."""

    total: int


def make_server() -> MCPServer:
    """A new one, with its own memory of what was cancelled."""
    server = MCPServer("workshop")
    seen: dict[str, Any] = {"cancelled": 0}

    @server.tool(annotations=ToolAnnotations(title="Add", read_only_hint=True))
    def add(a: int, b: int) -> Sum:
        """Add two numbers."""
        return Sum(total=a + b)

    @server.tool()
    def fail() -> str:
        """Fail."""
        raise ValueError("this tool always fails")

    @server.tool()
    def show() -> CallToolResult:
        """One block of every kind."""
        return CallToolResult(
            content=[
                TextContent(text="some text"),
                ImageContent(data=PIXEL, mime_type="image/png"),
                AudioContent(data=PIXEL, mime_type="audio/wav"),
                ResourceLink(name="notes", uri="file:///notes.txt"),
                EmbeddedResource(
                    resource=TextResourceContents(uri="file:///a.txt", text="inside a resource")
                ),
            ]
        )

    @server.tool()
    def environment(name: str) -> str:
        """A variable of this process."""
        return os.environ.get(name, "unset")

    @server.tool()
    def where() -> str:
        """The folder of this process."""
        return os.getcwd()

    @server.tool()
    async def slow(ctx: Context, steps: int = 2) -> str:
        """Report progress."""
        for step in range(steps):
            await ctx.report_progress(step + 1, steps, f"step {step + 1}")
        return "done"

    @server.tool()
    async def wait(ctx: Context) -> str:
        """Wait until the call is cancelled."""
        await ctx.report_progress(0, None, "waiting")
        try:
            await anyio.sleep_forever()
        finally:
            seen["cancelled"] += 1
        return "never"

    @server.tool()
    def cancelled() -> str:
        """How many calls of `wait` were cancelled."""
        return str(seen["cancelled"])

    @server.tool()
    async def greet(ctx: Context) -> str:
        """Ask for a name and greet."""
        answer = await ctx.elicit("Who are you?", Name)
        return f"hello {answer.data.name}" if answer.action == "accept" else answer.action

    @server.tool()
    async def log_in(ctx: Context) -> str:
        """Send the user to a page."""
        answer = await ctx.elicit_url("Log in", "https://example.com/login", "login-1")
        return answer.action

    @server.tool()
    async def roots(ctx: Context) -> str:
        """The folders that the client says it works in."""
        listed = await ctx.session.list_roots()  # pyright: ignore[reportDeprecated]
        return " ".join(str(one.uri) for one in listed.roots)

    @server.tool()
    async def learn(ctx: Context) -> str:
        """Have one tool more."""
        server.add_tool(lambda: "new", name="learned", description="Was learned.")
        await ctx.session.send_tool_list_changed()
        return "learned"

    @server.resource("memo://today")
    def today() -> str:
        """What is to be done."""
        return "write tests"

    return server


if __name__ == "__main__":
    make_server().run("stdio")

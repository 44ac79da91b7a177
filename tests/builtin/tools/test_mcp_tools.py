"""Tools of MCP servers as tool calls, with servers that are played: real ones are tried in mcp/."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from accord.builtin.tools.toolbox import Toolbox
from accord.mcp.results import McpResult, McpTool
from accord.mcp.servers import McpServers, ServerStatus
from accord.schema import v2
from tests.builtin.tools.bench import Bench, bench, everywhere, text
from tests.hang_limit import HANG_SECONDS

Progress = Callable[[float, float | None, str | None], Awaitable[None]]


class Played:
    """Servers without a wire."""

    status = (
        ServerStatus(name="maths", state="connected", tools=2),
        ServerStatus(name="gone", state="failed", error="it does not start"),
    )
    tools = (
        McpTool(server="maths", name="add", title="Add numbers"),
        McpTool(server="maths", name="look", annotations={"readOnlyHint": True}),
    )

    def __init__(self, result: McpResult | None = None) -> None:
        self.calls: list[tuple[str, str, Mapping[str, Any]]] = []
        self.result = result
        self.late: Progress | None = None

    async def settled(self) -> bool:
        return True

    def tool(self, server: str, name: str) -> McpTool | None:
        return next((t for t in self.tools if (t.server, t.name) == (server, name)), None)

    async def call(
        self, server: str, tool: str, arguments: Mapping[str, Any], on_progress: Progress
    ) -> McpResult:
        self.calls.append((server, tool, arguments))
        await on_progress(1, 2, "half way")
        await on_progress(3, None, None)
        self.late = on_progress
        if self.result is None:
            await anyio.sleep_forever()
            raise AssertionError
        return self.result


FINE = McpResult(ok=True, text="3", blocks=[v2.TextContent(text="3")], structured={"sum": 3})


async def call(b: Bench, played: Played, server: str, tool: str, **arguments: Any) -> Any:
    """Call a tool of a played server."""

    async def work(tools: Toolbox) -> Any:
        tools.context.workspace.mcp = cast(McpServers, played)
        return await tools.mcp(server, tool, arguments)

    return await b.use(work)


@everywhere
async def test_a_call_is_asked_for_shown_and_mapped(tmp_path: Path, variant: str) -> None:
    """Issue: tools called behind permission, results mapped block by block, progress shown."""
    played = Played(FINE)
    async with bench(tmp_path, variant) as b:
        result = await call(b, played, "maths", "add", x=1, y=2)
        assert (result.ok, result.text, result.data) == (True, "3", FINE)
        assert played.calls == [("maths", "add", {"x": 1, "y": 2})]
        assert "Call add of the MCP server maths with" in b.reasons()
        shown = b.last()
        assert (shown["kind"], shown["status"]) == ("other", "completed")
        assert shown["rawOutput"] == {"sum": 3}
        assert shown["rawInput"]["arguments"] == {"x": 1, "y": 2}
        # Clients know tools of servers by this name; v1 has none, and looks at the input.
        assert shown.get("name", "mcp__maths__add") == "mcp__maths__add"
        assert (shown["rawInput"]["server"], shown["rawInput"]["tool"]) == ("maths", "add")
        titles = [u.get("title") for u in b.client.updates("tool_call_update")]
        assert "maths: Add numbers (50% half way)" in titles
        assert shown["content"] == [{"type": "content", "content": {"type": "text", "text": "3"}}]
        assert played.late is not None
        await played.late(4, 4, "too late")


async def test_a_failing_tool_is_a_failed_call(tmp_path: Path) -> None:
    """Issue: bad ones fail the call, and the session goes on."""
    played = Played(McpResult.failure("MCP server 'maths': it broke"))
    async with bench(tmp_path) as b:
        assert "it broke" in text(await call(b, played, "maths", "add"), ok=False)
        assert b.last()["status"] == "failed"


async def test_an_always_counts_for_one_tool_and_hints_are_only_hints(tmp_path: Path) -> None:
    """A server that says it only reads is still somebody else's program."""
    played = Played(FINE)
    async with bench(tmp_path) as b:
        b.answer = "allow_always"
        for _ in range(2):
            assert (await call(b, played, "maths", "look")).ok
        assert len(b.asked) == 1
        assert b.last()["kind"] == "fetch"
        assert (await call(b, played, "maths", "add")).ok
        assert len(b.asked) == 2
        await b.set_mode("read-only")
        refused = await call(b, Played(FINE), "maths", "add")
        assert refused.denied == "mode"
        assert (await call(b, played, "maths", "look")).ok


@pytest.mark.parametrize(
    ("server", "tool", "said"),
    [
        ("maths", "sub", "has no tool sub. It has: add, look."),
        ("gone", "x", "is not available: it does not start"),
        ("other", "x", "has no MCP server other. It has: maths, gone."),
    ],
)
async def test_what_is_not_there(tmp_path: Path, server: str, tool: str, said: str) -> None:
    """A model may invent names."""
    async with bench(tmp_path) as b:
        assert said in text(await call(b, Played(FINE), server, tool), ok=False)
        assert b.asked == []


async def test_a_session_without_servers_says_so(tmp_path: Path) -> None:
    """And the tool call is shown failed."""
    async with bench(tmp_path) as b:
        result = await b.use(lambda t: t.mcp("a", "b"))
        assert text(result, ok=False) == "This session has no MCP servers."
        assert b.last()["status"] == "failed"


async def test_the_client_may_stop_one_call_alone(tmp_path: Path) -> None:
    """v2: a cancellable tool call; the turn goes on."""
    async with bench(tmp_path, "v2") as b:
        played = Played(None)

        async def work(tools: Toolbox) -> Any:
            tools.context.workspace.mcp = cast(McpServers, played)
            return await tools.mcp("maths", "add", {})

        b.work = work
        b.start()
        with anyio.fail_after(HANG_SECONDS):
            while not any(c.get("status") == "in_progress" for c in b.calls()):
                await b.client.update("tool_call_update")
            params = {"sessionId": b.session_id, "toolCallId": b.last()["toolCallId"]}
            await b.client.result("tool_call/cancel", params)
            assert await b.ended() == "end_turn"
        assert b.results[0].text == "It was stopped by the user."
        assert b.last()["status"] == "cancelled"

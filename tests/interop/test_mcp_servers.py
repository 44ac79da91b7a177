"""MCP servers that we did not write: the reference `everything` and `filesystem` servers."""

import socket
import subprocess
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.agent.tools.elicitation import Answer
from accord.machine.processes.child_process import environment, spawn
from accord.mcp.elicitation import Question
from accord.mcp.server_spec import ServerSpec, Transport
from accord.mcp.servers import McpServers
from accord.schema import v2
from tests.hang_limit import HANG_SECONDS
from tests.interop.harness import HERE
from tests.mcp.conftest import connected, the_status

BIN = HERE.parents[1] / "node_modules" / ".bin"
EVERYTHING = BIN / "mcp-server-everything"
FILESYSTEM = BIN / "mcp-server-filesystem"

pytestmark = [
    pytest.mark.node,
    pytest.mark.skipif(not EVERYTHING.exists(), reason="the node packages are not installed"),
]


@pytest.fixture
def anyio_backend() -> str:
    """The peers are what is tried here."""
    return "asyncio"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@asynccontextmanager
async def over_http(kind: str) -> AsyncGenerator[int]:
    """The `everything` server on a port of its own, once it listens."""
    port = free_port()
    process = await spawn(
        (str(EVERYTHING), kind), env=environment({"PORT": str(port)}), stdout=subprocess.DEVNULL
    )
    async with process:
        assert process.stderr is not None
        heard = b""
        with anyio.fail_after(HANG_SECONDS):
            while str(port).encode() not in heard:
                heard += await process.stderr.receive()
        yield port


async def answer(question: Question) -> Answer:
    """Fill every required field of a form with something that fits."""
    assert question.mode == "form"
    assert question.schema is not None
    values: dict[str, Any] = {"name": "Ada"}
    fields: Mapping[str, Any] = question.schema["properties"]
    for name in question.schema.get("required", []):
        values.setdefault(name, True if fields[name]["type"] == "boolean" else "x@example.com")
    return Answer("accept", values)


async def every_kind_of_result(servers: McpServers) -> None:
    """What every transport must give."""
    assert the_status(servers).error is None
    assert (await servers.call("peer", "echo", {"message": "hi"})).text == "Echo: hi"
    image = await servers.call("peer", "get-tiny-image")
    assert [type(one) for one in image.blocks][1] is v2.ImageContent
    links = await servers.call("peer", "get-resource-links")
    assert any(isinstance(one, v2.ResourceLink) for one in links.blocks)
    inside = await servers.call("peer", "get-resource-reference", {"resourceId": 1})
    assert any(isinstance(one, v2.EmbeddedResource) for one in inside.blocks)
    weather = await servers.call("peer", "get-structured-content", {"location": "Chicago"})
    assert set(weather.structured) == {"temperature", "conditions", "humidity"}
    heard: list[float] = []

    async def progressed(done: float, _total: float | None, _message: str | None) -> None:
        heard.append(done)

    slow = {"duration": 0.2, "steps": 2}
    long = await servers.call(
        "peer", "trigger-long-running-operation", slow, on_progress=progressed
    )
    assert long.ok
    assert heard == [1, 2]
    wrong = await servers.call("peer", "get-sum", {"a": "one"})
    assert not wrong.ok
    listed = await servers.resources()
    read = await servers.read_resource(listed[0].uri)
    assert read.ok
    assert read.text


async def test_everything_over_stdio(tmp_path: Path) -> None:
    """Issue: tested with server-everything, over stdio; elicitation too."""
    spec = ServerSpec(name="peer", transport="stdio", command=str(EVERYTHING), args=("stdio",))
    async with connected(spec, cwd=tmp_path, roots=[str(tmp_path)], elicit=answer) as servers:
        await every_kind_of_result(servers)
        # Tools that need the client's capabilities are added after the greeting, and announced.
        with anyio.fail_after(HANG_SECONDS):
            while servers.tool("peer", "trigger-elicitation-request") is None:
                await servers.call("peer", "echo", {"message": "again"})
        asked = await servers.call("peer", "trigger-elicitation-request")
        assert asked.ok
        assert "Ada" in asked.text
        assert tmp_path.name in (await servers.call("peer", "get-roots-list")).text


@pytest.mark.parametrize(
    ("kind", "transport", "path"), [("streamableHttp", "http", "mcp"), ("sse", "sse", "sse")]
)
async def test_everything_over_http(
    tmp_path: Path, kind: str, transport: Transport, path: str
) -> None:
    """Issue: the same over streamable HTTP, and SSE."""
    async with over_http(kind) as port:
        url = f"http://127.0.0.1:{port}/{path}"
        spec = ServerSpec(name="peer", transport=transport, url=url)
        async with connected(spec, cwd=tmp_path) as servers:
            await every_kind_of_result(servers)


async def test_filesystem_keeps_to_the_roots_of_the_session(tmp_path: Path) -> None:
    """Issue: tested with server-filesystem; the session's folders are the server's roots."""
    (tmp_path / "a.txt").write_text("hello")
    args = (str(tmp_path / "sub"),)
    (tmp_path / "sub").mkdir()
    spec = ServerSpec(name="peer", transport="stdio", command=str(FILESYSTEM), args=args)
    async with connected(spec, cwd=tmp_path, roots=[str(tmp_path)]) as servers:
        path = str(tmp_path / "a.txt")
        with anyio.fail_after(HANG_SECONDS):
            # It asks for the roots after the greeting, and takes them over a moment later.
            while not (read := await servers.call("peer", "read_text_file", {"path": path})).ok:
                pass
        assert read.text == "hello"
        outside = await servers.call("peer", "read_text_file", {"path": "/etc/passwd"})
        assert not outside.ok
        assert "denied" in outside.text
        kinds = {one.name: one.kind for one in servers.tools}
        assert (kinds["read_text_file"], kinds["write_file"]) == ("fetch", "other")

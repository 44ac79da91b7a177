"""MCP servers of the tests: one program, one over HTTP, and a broken one for every fault."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.machine.processes.process_groups import live_groups
from accord.mcp.server_spec import ServerSpec
from accord.mcp.servers import McpServers, ServerStatus
from tests.hang_limit import HANG_SECONDS

SERVERS = Path(__file__).parent / "servers"
SECONDS = HANG_SECONDS


@pytest.fixture
def anyio_backend() -> str:
    """The MCP package is what takes the time here; one loop is enough for most."""
    return "asyncio"


@pytest.fixture(autouse=True)
def no_process_is_left_behind() -> Iterator[None]:
    """Whatever a test does, every server that was started must be gone."""
    before = live_groups()
    yield
    assert live_groups() == before


def workshop(**more: Any) -> ServerSpec:
    """The good server, as a program."""
    args = (str(SERVERS / "workshop.py"),)
    return ServerSpec(name="shop", transport="stdio", command=sys.executable, args=args, **more)


def faulty(fault: str, **more: Any) -> ServerSpec:
    """A server that does one thing wrong."""
    args = ("-I", str(SERVERS / "faulty.py"), fault)
    return ServerSpec(name="bad", transport="stdio", command=sys.executable, args=args, **more)


@asynccontextmanager
async def connected(*specs: ServerSpec, cwd: Path, **more: Any) -> AsyncGenerator[McpServers]:
    """The servers, settled; closed at the end.  `more` goes to `McpServers.connect`."""
    async with anyio.create_task_group() as tasks:
        with anyio.fail_after(SECONDS):
            servers = await McpServers.connect(
                specs, start_soon=tasks.start_soon, cwd=str(cwd), **more
            )
            assert await servers.settled(SECONDS)
            try:
                yield servers
            finally:
                await servers.aclose()


def the_status(servers: McpServers) -> ServerStatus:
    """The status of the only server."""
    [status] = servers.status
    return status


class HttpServer:
    """The good server over HTTP, in a thread of the tests: a process would cost a second."""

    def __init__(self, *, sse: bool = False, token: str | None = None, port: int = 0) -> None:
        import uvicorn

        from tests.mcp.servers.workshop import make_server

        shop = make_server()
        app: Any = shop.sse_app() if sse else shop.streamable_http_app()
        self._path = "/sse" if sse else "/mcp"
        config = uvicorn.Config(
            _guarded(app, token) if token else app,
            port=port,
            log_level="critical",
            timeout_graceful_shutdown=0,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    def start(self) -> None:
        """Serve from now on."""
        self._thread.start()
        pause = threading.Event()
        while not self._server.started and self._thread.is_alive():
            pause.wait(0.01)

    @property
    def port(self) -> int:
        """Where it listens."""
        number: int = self._server.servers[0].sockets[0].getsockname()[1]
        return number

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}{self._path}"

    def stop(self) -> None:
        """Serve no more; clients lose their connections."""
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(HANG_SECONDS)


def _guarded(app: Any, token: str) -> Any:
    """The app behind a password."""

    async def guard(scope: Any, receive: Any, send: Any) -> None:
        wanted = (b"authorization", f"Bearer {token}".encode())
        if scope["type"] == "http" and wanted not in scope["headers"]:
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": f"not {token}".encode()})
            return
        await app(scope, receive, send)

    return guard

"""The examples with Starlette and FastAPI, on granian and uvicorn as processes."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.client import connect

from tests.hang_limit import HANG_SECONDS
from tests.transport.server.asgi_servers import answers, free_port
from tests.transport.server.raw_http import INITIALIZE, NEW_SESSION, RawClient, prompt
from tests.transport.server.serve_process import ROOT

pytestmark = pytest.mark.anyio

SERVERS = {
    "granian": ("granian", "--interface", "asgi", "--backpressure", "1000", "--no-log"),
    "uvicorn": ("uvicorn", "--log-level", "critical"),
}
EXAMPLES = {
    "starlette_app": ("/agents/hello/acp", {}),
    "fastapi_app": ("/acp", {"authorization": "Bearer token-of-ann"}),
}


@asynccontextmanager
async def running(server: str, example: str) -> AsyncIterator[int]:
    """Serve an example in a process of its own."""
    port = free_port()
    module, *options = SERVERS[server]
    command = [sys.executable, "-m", module, *options, "--port", str(port), f"{example}:app"]
    process = subprocess.Popen(
        command, cwd=ROOT / "examples", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(HANG_SECONDS):
            while not await answers(port):
                assert process.poll() is None
                await asyncio.sleep(0.01)
        yield port
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.wait, HANG_SECONDS)
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("server", SERVERS)
async def test_an_example_serves_its_agent_over_http_and_websocket(
    server: str, example: str
) -> None:
    path, headers = EXAMPLES[example]
    async with running(server, example) as port, asyncio.timeout(HANG_SECONDS):
        client = RawClient(port, dict(headers), path)
        await client.initialize()
        async with client.stream() as connection:
            await client.post(NEW_SESSION)
            session_id = (await connection.until(1))[-1]["result"]["sessionId"]
            header = {"acp-session-id": session_id}
            async with client.stream(header) as session:
                await client.post(prompt(session_id, "hi"), header)
                assert "You said: hi" in json.dumps(await session.until(2))
        url = f"ws://127.0.0.1:{port}{path}"
        async with connect(url, additional_headers=headers, compression=None) as socket:
            await socket.send(json.dumps(INITIALIZE))
            assert json.loads(await socket.recv())["result"]
        if headers:
            stranger = RawClient(port, {}, path)
            assert (await stranger.post(INITIALIZE)).status == 401
            assert (await stranger.request("GET", path="/health")).json["connections"] >= 1

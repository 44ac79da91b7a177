"""Streaming over a network: `python -m benchmarks.remote`.

Accord and the official Python SDK stream the same messages over WebSocket and over HTTP, in turn,
on this machine: a server in a process of its own, and a client that counts.  The figure is messages
per second as the client sees them; the CPU of both processes stands beside it.  The exit code is 1
when a floor is missed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
OFFICIAL = ROOT / ".venvs" / "acp-0.12" / "bin" / "python"
# Ours beside the official Python SDK's.
RATIO_MIN = 8.0

OUR_SERVER = """
import anyio, sys
from accord import Agent, RemoteServer
agent = Agent("bench", version="1")
@agent.on_prompt
async def stream(turn):
    for _ in range(int(turn.text)):
        await turn.say("x" * 40)
async def main():
    async with RemoteServer(agent.asgi()) as server:
        print(server.port, flush=True)
        await anyio.to_thread.run_sync(sys.stdin.read)
anyio.run(main)
"""
OUR_CLIENT = """
import anyio, sys, time
from accord import Client
async def main(url, count):
    async with Client.connect(url, files=False, terminals=False, versions=(1,)) as client:
        session = await client.new_session("/tmp")
        await session.ask("100")
        wall, cpu = time.perf_counter(), time.process_time()
        reply = await session.ask(str(count))
        print(time.perf_counter() - wall, time.process_time() - cpu)
        assert reply.text.count("x") == 40 * count
anyio.run(main, sys.argv[1], int(sys.argv[2]))
"""
OFFICIAL_SERVER = """
import acp, asyncio, socket, sys
from acp import schema
from acp.http.asgi import create_asgi_app
from granian.constants import Interfaces
from granian.server.embed import Server
class Agent(acp.Agent):
    def __init__(self, client):
        self.client = client
    def on_connect(self, client):
        pass
    async def initialize(self, protocol_version, **_):
        return schema.InitializeResponse(protocol_version=1)
    async def new_session(self, cwd, **_):
        return schema.NewSessionResponse(session_id="s")
    async def prompt(self, prompt, session_id, **_):
        for _ in range(int(prompt[0].text)):
            update = acp.update_agent_message_text("x" * 40)
            await self.client.session_update(session_id=session_id, update=update)
        return schema.PromptResponse(stop_reason="end_turn")
async def main():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = Server(create_asgi_app(Agent), address="127.0.0.1", port=port,
        interface=Interfaces.ASGINL, log_enabled=False)
    server.on_startup(lambda: print(port, flush=True))
    serving = asyncio.ensure_future(server.serve())
    await asyncio.to_thread(sys.stdin.read)
    server.stop()
    await serving
asyncio.run(main())
"""
OFFICIAL_CLIENT = """
import acp, asyncio, os, sys, time
class Client(acp.Client):
    count = 0
    def on_connect(self, agent):
        pass
    async def session_update(self, session_id, update, **_):
        self.count += 1
async def connect(url):
    if url.startswith("http"):
        from acp.http.client import create_http_stream
        return create_http_stream(url)
    from acp.ws.client import create_websocket_stream
    return await create_websocket_stream(url)
async def main(url, count):
    client = Client()
    agent = acp.connect_to_agent(client, await connect(url))
    await agent.initialize(protocol_version=1)
    session = await agent.new_session(cwd="/tmp", mcp_servers=[])
    await agent.prompt(session_id=session.session_id, prompt=[acp.text_block("100")])
    wall, cpu = time.perf_counter(), time.process_time()
    await agent.prompt(session_id=session.session_id, prompt=[acp.text_block(str(count))])
    while client.count < 100 + count:
        await asyncio.sleep(0)
    print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)
    os._exit(0)
asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


class Side(NamedTuple):
    """One implementation: its Python, its programs, and how much it streams in one run."""

    name: str
    python: Path
    server: str
    client: str
    count: int


class Figures(NamedTuple):
    """One run, per message."""

    per_second: float
    client_us: float
    server_us: float


SIDES = (
    Side("accord", Path(sys.executable), OUR_SERVER, OUR_CLIENT, 20_000),
    Side("official Python", OFFICIAL, OFFICIAL_SERVER, OFFICIAL_CLIENT, 3_000),
)


@contextmanager
def serving(side: Side, folder: Path) -> Iterator[tuple[int, int]]:
    """A server; its process id and its port."""
    program = folder / "server.py"
    program.write_text(side.server)
    process = subprocess.Popen(
        [side.python, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.pid, int(process.stdout.readline())
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def measure(side: Side, scheme: str) -> Figures:
    """Run a server and a client of one implementation, and return what the client saw."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "client.py").write_text(side.client)
        with serving(side, folder) as (pid, port):
            before = cpu_seconds(pid)
            url = f"{scheme}://127.0.0.1:{port}/acp"
            output = subprocess.run(
                [side.python, str(folder / "client.py"), url, str(side.count)],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            ).stdout
            wall, cpu = map(float, output.split())
            server = cpu_seconds(pid) - before
    scale = 1e6 / side.count
    return Figures(side.count / wall, cpu * scale, server * scale)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    if not OFFICIAL.exists():
        print(f"{OFFICIAL} is missing; `make peers-setup` installs it")
        return 1
    missed = 0
    for scheme in ("ws", "http"):
        runs: dict[str, list[Figures]] = {side.name: [] for side in SIDES}
        for _ in range(rounds):
            for side in SIDES:
                runs[side.name].append(measure(side, scheme))
        middle = {
            name: Figures(*map(statistics.median, zip(*figures, strict=True)))
            for name, figures in runs.items()
        }
        for name, one in middle.items():
            print(
                f"{scheme:4} {name:16} {one.per_second:9,.0f} messages/s;"
                f" CPU: client {one.client_us:6.1f} us, server {one.server_us:6.1f} us each"
            )
        ratio = middle["accord"].per_second / middle["official Python"].per_second
        missed += ratio < RATIO_MIN
        print(f"{scheme:4} {ratio:.1f} times (at least {RATIO_MIN:g})")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())

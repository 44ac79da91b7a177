"""The gateway that `benchmarks/gateway.py` measures: `gateway_program.py FILE`.

It hosts an agent that writes as many updates as it is asked for, and says `port N`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from accord.gateway.access.access import Access
from accord.gateway.agents.hosted_agent import HostedAgent
from accord.gateway.application import GatewayApplication
from accord.gateway.configuration.agent_settings import AgentSettings
from accord.gateway.configuration.config_file import GatewayConfig
from accord.gateway.configuration.limits import PrincipalLimits
from accord.gateway.engine.sqlite import SqliteEngine
from accord.gateway.gateway import Gateway
from accord.transport.server.listener.remote_server import RemoteServer
from accord.transport.subprocess import SubprocessTransport

TOKEN = "accord_token-of-the-benchmark"

# A prompt is `COUNT BURST PAUSE`: so many updates, so many at a time, with a pause in between.
AGENT = """
import json, os, sys, time

def write(data):
    data = memoryview(data)
    while data:
        data = data[os.write(1, data):]

def say(**message):
    write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\\n")

for line in sys.stdin.buffer:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        able = {"loadSession": True}
        say(id=number, result={"protocolVersion": 1, "agentCapabilities": able})
    elif method == "session/new":
        say(id=number, result={"sessionId": f"s{os.getpid()}"})
    elif method == "session/prompt":
        session = message["params"]["sessionId"]
        count, burst, pause = message["params"]["prompt"][0]["text"].split()
        content = {"type": "text", "text": "a piece of text of some forty characters"}
        update = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": content}
        params = {"sessionId": session, "update": update}
        frame = {"jsonrpc": "2.0", "method": "session/update", "params": params}
        data = (json.dumps(frame, separators=(",", ":")).encode() + b"\\n") * int(burst)
        for _ in range(int(count) // int(burst)):
            write(data)
            if float(pause):
                time.sleep(float(pause))
        say(id=number, result={"stopReason": "end_turn"})
    elif number is not None and method is not None:
        say(id=number, result={})
"""


async def serve(path: Path) -> None:
    """Serve until it is ended."""
    command = (sys.executable, "-S", "-c", AGENT)
    settings = AgentSettings(name="stream", command=command)
    access = Access(GatewayConfig(agents={settings.name: settings}), token=TOKEN)
    agents = {settings.name: HostedAgent(settings, lambda _: SubprocessTransport(command))}
    limits = PrincipalLimits(connections=0, sessions=0, processes=0, frames_per_second=0)
    async with Gateway(agents, SqliteEngine(path), limits=limits) as gateway:
        application = GatewayApplication(gateway, access=access)
        async with application, RemoteServer(application) as server:
            print(f"port {server.port}", flush=True)
            await anyio.sleep_forever()


if __name__ == "__main__":
    anyio.run(serve, Path(sys.argv[1]))

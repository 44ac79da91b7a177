"""The official Python SDK's agent on granian; prints its port, and ends with its input."""

import asyncio
import socket
import sys

import acp
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
    server = Server(
        create_asgi_app(Agent),
        address="127.0.0.1",
        port=port,
        interface=Interfaces.ASGINL,
        log_enabled=False,
    )
    server.on_startup(lambda: print(port, flush=True))
    serving = asyncio.ensure_future(server.serve())
    await asyncio.to_thread(sys.stdin.read)
    server.stop()
    await serving


asyncio.run(main())

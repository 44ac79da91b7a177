"""The official Python SDK's client: URL COUNT; prints seconds and CPU seconds."""

import asyncio
import os
import sys
import time

import acp


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

"""A conversation up to its first session, in the words of v1 or of v2."""

from typing import Any

from tests.proxy.wires import Json, Wire

VERSIONS = (1, 2)


async def opened(
    client: Wire, agent: Wire, version: int, cwd: str = "/w", *, resources: bool = False
) -> None:
    """Initialize and make the session `s`."""
    client.request("i", "initialize", {"protocolVersion": version})
    if version == 1:
        able: Json = {"agentCapabilities": {"promptCapabilities": {"embeddedContext": resources}}}
    else:
        prompt: Json = {"embeddedContext": {}} if resources else {}
        able = {"info": {"name": "a"}, "capabilities": {"session": {"prompt": prompt}}}
    agent.answer((await agent.hear())["id"], {"protocolVersion": version, **able})
    await client.hear()
    await session(client, agent, "s", cwd)


async def session(client: Wire, agent: Wire, session_id: str, cwd: str = "/w") -> None:
    """Make a session."""
    client.request("n", "session/new", {"cwd": cwd, "mcpServers": []})
    agent.answer((await agent.hear())["id"], {"sessionId": session_id})
    await client.hear()


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def prompt(client: Wire, request_id: Any, *words: str, session_id: str = "s") -> None:
    """Say something to the agent."""
    params = {"sessionId": session_id, "prompt": [text(one) for one in words]}
    client.request(request_id, "session/prompt", params)


def update(agent: Wire, **fields: Any) -> None:
    """Tell something about the session `s`."""
    agent.notify("session/update", {"sessionId": "s", "update": fields})


def said(message: Json) -> str:
    """The text of a message that was said in the conversation, in either version."""
    told = message["params"]["update"]
    content = told["content"]
    block = content[0] if isinstance(content, list) else content
    assert told["sessionUpdate"] in ("agent_message", "agent_message_chunk")
    found: str = block["text"]
    return found

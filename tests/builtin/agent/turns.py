"""What the tests of the built-in agent share: a fresh home, a client, and turns in short words."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from accord.agent.agent import Agent
from accord.builtin.agent import build_agent
from accord.builtin.agent_settings import AgentSettings
from tests.agent.raw_client import Message, RawClient

ENVIRON = {"PATH": "/usr/bin:/bin", "ACCORD_PROBE": "off"}


def made(environ: Mapping[str, str] | None = None, **more: Any) -> Agent:
    """The built-in agent with nothing of the user's in its environment but this."""
    return build_agent(AgentSettings(environ={**ENVIRON, **(environ or {})}, **more))


async def begin(client: RawClient, folder: Path, **more: Any) -> Message:
    """A new session: the whole answer."""
    params = {"cwd": str(folder), "mcpServers": [], **more}
    result: Message = await client.result("session/new", params)
    return result


async def say(client: RawClient, session_id: str, text: str) -> None:
    """A prompt, until its turn is over, in the client's version."""
    prompt = [{"type": "text", "text": text}]
    # A state that was told before, as at the end of a replay, is not the end of this turn.
    client.unread.clear()
    await client.result("session/prompt", {"sessionId": session_id, "prompt": prompt})
    if client.version == 2:
        await client.take(
            lambda message: (
                message.get("method") == "session/update"
                and message["params"]["update"].get("state") == "idle"
            )
        )


def spoken(client: RawClient) -> str:
    """Everything that the agent has said, in either version."""
    whole = [
        block["text"]
        for update in client.updates("agent_message")
        for block in update.get("content", ())
        if block["type"] == "text"
    ]
    return client.text() + "\n".join(whole)


def option(settings: Message, option_id: str) -> Message:
    """One config option of an answer, whatever the version calls its id."""
    found: Message = next(
        one
        for one in settings["configOptions"]
        if option_id in (one.get("id"), one.get("configId"))
    )
    return found

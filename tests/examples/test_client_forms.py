"""What a client of ours says has the form of what the clients of the documents say."""

from pathlib import Path
from typing import Any, TypeAlias

import anyio
import pytest

from accord.client.credential import Credential
from accord.client.options import DraftOptions
from accord.errors import RequestFailed
from accord.schema import draft, v1, v2
from tests.client.scripted_agent import ScriptedAgent
from tests.examples.examples import SESSION, Example, Json, Spoken, chosen, the
from tests.examples.gardener import shape
from tests.examples.peers import ANSWERS
from tests.examples.test_clients import client_with
from tests.hang_limit import HANG_SECONDS

# What our client sent, by version.
Sent: TypeAlias = dict[Spoken, list[Json]]

MODELS: Json = {
    "currentModelId": "small",
    "availableModels": [
        {"modelId": "small", "name": "Small"},
        {"modelId": "large", "name": "Large"},
    ],
}
HEADER = {"Authorization": "Bearer none"}
HEADERS = [v2.HttpHeader(name="Authorization", value="Bearer none")]
BLOCKS: list[Any] = [
    v2.TextContent(
        text="go on",
        annotations=v2.Annotations(
            audience=["user"], priority=0.5, last_modified="2026-04-11T06:30:00Z"
        ),
    ),
    v2.ImageContent(data=b"seed", mime_type="image/png", uri="file:///a.png"),
    v2.AudioContent(data=b"rain", mime_type="audio/wav"),
    v2.ResourceLink(
        uri="file:///a", name="a", title="A", description="an a", mime_type="text/plain", size=3
    ),
    v2.EmbeddedResource(
        resource=v2.EmbeddedResourceResource(uri="file:///b", text="b", mime_type="text/plain")
    ),
]
SERVERS: dict[Spoken, list[Any]] = {
    "v1": [
        v2.McpServerStdio(
            name="shed",
            command="/opt/shed",
            args=["-v"],
            env=[v2.EnvVariable(name="A", value="b")],
        ),
        v2.McpServerHttp(name="weather", url="https://weather.invalid", headers=HEADERS),
        v1.McpServer(
            type="sse",
            name="tides",
            url="https://tides.invalid",
            headers=[v1.HttpHeader(name="a", value="b")],
        ),
    ],
    "draft": [
        draft.McpServer(
            name="shed",
            transport=draft.McpStdio(command="shed", args=["-v"], env={"ALOUD": "2"}, cwd="/srv"),
        ),
        draft.McpServer(
            name="weather",
            transport=draft.McpHttp(url="https://weather.invalid", headers=HEADER, timeout=9000),
        ),
        draft.McpServer(
            name="tides",
            transport=draft.McpSse(url="https://tides.invalid", headers=HEADER),
        ),
    ],
}


CHUNK: Json = {
    "update": {
        "sessionUpdate": "agent_message_chunk",
        "messageId": "m",
        "content": {"type": "text", "text": "now"},
    }
}
DRAFT_CHUNK: Json = {"type": "agent_message_chunk", "data": {"content": "now"}}


def answering(spoken: Spoken, folder: Path, cancelled: anyio.Event) -> Any:
    """An agent that answers everything, and works on a prompt until it is cancelled."""

    async def script(agent: ScriptedAgent) -> None:
        held = None
        while True:
            message = await agent.next()
            method = message.get("method")
            if method == "session/cancel":
                agent.result(held or {}, {"stopReason": "cancelled"})
                cancelled.set()
            elif method == "session/prompt" and "wait" in str(message):
                held = message
                told = {"sessionId": SESSION, **(DRAFT_CHUNK if spoken == "draft" else CHUNK)}
                agent.write({"jsonrpc": "2.0", "method": "session/update", "params": told})
            elif "id" in message and method == "session/new" and spoken == "v1":
                result = {**ANSWERS["v1"][method], "models": MODELS}
                del result["configOptions"]
                agent.result(message, result)
            elif method == "session/prompt":
                agent.result(message, {"stopReason": "end_turn"})
            elif method == "session/load" and spoken == "draft":
                answer = ANSWERS["draft"][method] | {"sessionId": "s-autumn"}
                agent.result(message, answer | {"workingDirectory": str(folder)})
            elif method == "_orchard.test/count_barrels":
                error = the("v1_pages", "errors 1").message["error"]
                agent.error(message, error["code"], error["message"], error["data"])
            elif "id" in message and method is not None:
                agent.result(message, ANSWERS[spoken][method])

    return script


async def heard(spoken: Spoken, folder: Path) -> list[Json]:
    """Everything that a client does, and what the agent heard of it."""
    cancelled = anyio.Event()
    more: Json = {}
    if spoken == "draft":
        more = {"draft": DraftOptions(credential=Credential.api_key("k"))}
    script = answering(spoken, folder, cancelled)
    async with client_with(spoken, script, **more) as (client, agent):
        if spoken != "v2":
            await client.authenticate(None if spoken == "draft" else "house_key")
        more = {"system_prompt": "You look after trees."} if spoken == "draft" else {}
        session = await client.new_session(folder, mcp_servers=SERVERS.get(spoken, ()), **more)
        await session.ask(*BLOCKS)
        if spoken == "v1":
            await session.set_mode("code")
            await session.set_option("model", "large")
            await client.call_extension("_orchard.test/open_gates", {"side": "north"})
            await client.notify_extension("_orchard.test/gate_opened", {"path": "/g"})
            with pytest.raises(RequestFailed, match="-32601"):
                await client.call_extension("_orchard.test/count_barrels", {})
        if spoken == "draft":
            await session.set_mode("plan")
            await client.call_extension("_orchard/taste_fruit", {"path": "/f", "taste": "sweet"})
        async with session.prompt("wait") as turn:
            async for _ in turn:
                await turn.cancel()
        with anyio.fail_after(HANG_SECONDS):
            await cancelled.wait()
        if spoken != "v2":
            servers = SERVERS["v1"][:1] if spoken == "v1" else ()
            await client.load_session("s-autumn", folder, mcp_servers=servers)
        return list(agent.received)


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Sent:
    """What an agent of each version hears of our client."""
    folder = tmp_path_factory.mktemp("orchard")
    return {
        "v1": anyio.run(heard, "v1", folder),
        "v2": anyio.run(heard, "v2", folder),
        "draft": anyio.run(heard, "draft", folder),
    }


# Members of what is only proposed: servers that live behind an agent.
LEFT_OUT = {
    ("draft", "session/new"): {
        ".mcpServers.transport.agentUrl",
        ".mcpServers.transport.mcpServerName",
    },
}


@chosen(sender="client", kind=("request", "notification"))
def test_our_client_speaks_in_the_same_form(example: Example, sent: Sent) -> None:
    """Issue 5: in the document's own wire form, every member that the example has."""
    if example.contradiction == 28:
        # Shown with a command that runs.
        return
    ours = [one["params"] for one in sent[example.spoken] if one.get("method") == example.method]
    assert ours, example.method
    lacking = shape(example.message["params"]) - shape(ours)
    assert lacking <= LEFT_OUT.get((example.spoken, example.method), set())

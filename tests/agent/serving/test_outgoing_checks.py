"""What a program hands over is held against the schema before anything is sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

import accord
from accord import Agent, LocalProtocolError, Turn
from accord.schema import v2
from accord.schema.struct import UnknownVariant
from tests.agent.raw_client import RawClient, raw_client
from tests.agent.test_agent_mistakes import ended

VERSIONS = pytest.mark.parametrize("version", [1, 2])
Misuse = Callable[[Turn], Awaitable[Any]]


def image(data: Any) -> v2.ImageContent:
    return v2.ImageContent(data=data, mime_type="image/png")


def chunk(**fields: Any) -> v2.AgentMessageChunk:
    return v2.AgentMessageChunk(**{"message_id": "m"} | fields)


def blob(data: Any) -> v2.EmbeddedResource:
    return v2.EmbeddedResource(resource=v2.EmbeddedResourceResource(uri="file:///x", blob=data))


async def show(turn: Turn, item: Any) -> None:
    async with turn.tool_call("t") as call:
        await call.show(item)


def own(tag_field: str, tag: str, raw: bytes | None = None) -> UnknownVariant:
    return UnknownVariant(tag_field, tag, raw or f'{{"{tag_field}":"{tag}"}}'.encode())


MISUSES: dict[str, tuple[Misuse, str]] = {
    "base64 in place of bytes": (
        lambda t: t.say(image("aGk=")),
        "ImageContent must be bytes",
    ),
    "no base64 either": (lambda t: t.say(image("!!!")), "data of ImageContent must be bytes"),
    "a blob": (lambda t: t.say(blob("aGk=")), "blob of EmbeddedResourceResource must be bytes"),
    "in a thought": (lambda t: t.think(image(5)), r"at \$.data"),
    "in a stream": (lambda t: t.message().write(image(5)), r"at \$.data"),
    "a text that is none": (lambda t: t.say(v2.TextContent(text=5)), r"at \$.text"),  # type: ignore[arg-type]
    "a variant of a later version": (lambda t: t.say(own("type", "video")), "unknown variant"),
    "a variant that is not JSON": (lambda t: t.say(own("type", "_x", b"{")), "cannot be sent"),
    "too little": (lambda t: t.usage(-1, 0), r"UsageUpdate cannot be sent: .*\$.used"),
    "too many": (lambda t: t.usage(0, 2**64), "UsageUpdate cannot be sent"),
    "anything": (lambda t: t.emit({"sessionUpdate": "x"}), "dict is not a session update"),  # type: ignore[arg-type]
    "a block": (lambda t: t.emit(image(b"")), "ImageContent is not a session update"),  # type: ignore[arg-type]
    "content of a chunk": (lambda t: t.emit(chunk(content=5)), r"at \$.content"),
    "bytes of a chunk": (lambda t: t.emit(chunk(content=image("aGk="))), "must be bytes"),
    "an update of a later version": (lambda t: t.emit(own("sessionUpdate", "x")), "unknown"),
    "a title": (lambda t: t.set_title(5), r"at \$.title"),  # type: ignore[arg-type]
    "tool content": (lambda t: show(t, 5), "neither text nor a content block"),
    "bytes of a tool": (lambda t: show(t, v2.Content(content=image("aGk="))), "must be bytes"),
    "a terminal": (lambda t: show(t, v2.Terminal(terminal_id=5)), r"at \$.terminalId"),  # type: ignore[arg-type]
}


@VERSIONS
@pytest.mark.parametrize("name", MISUSES)
async def test_what_the_schema_forbids_is_refused_and_nothing_is_sent(
    version: int, name: str
) -> None:
    """Issue: a misuse gets an error that names the mistake, before anything is sent."""
    misuse, said = MISUSES[name]
    agent = Agent("careless", version="1")
    sent: list[int] = []
    client: RawClient

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        with pytest.raises(LocalProtocolError, match=said):
            await misuse(turn)
        # What the library says by itself may still be on its way.
        kinds = {one["sessionUpdate"] for one in client.updates()} - {
            "user_message",
            "state_update",
        }
        sent.append(len([kind for kind in kinds if not kind.startswith("tool_call")]))
        await turn.say("still here")

    async with raw_client(agent, version=version) as client:
        outcome = await ended(client, await client.new_session(), version)
        assert outcome["stopReason"] == "end_turn"
    assert sent == [0]


async def test_what_is_all_right_is_sent_as_before() -> None:
    """Spec: every kind of block, and names of one's own."""
    agent = Agent("careful", version="1")

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        link = v2.ResourceLink(name="x", uri="file:///x")
        await turn.say("a", image(b"hi"), blob(b"hi"), link, own("type", "_mine"))
        await turn.emit(own("sessionUpdate", "_mine"))
        await turn.usage(0, 0)
        await show(turn, image(b"hi"))

    async with raw_client(agent, version=2) as client:
        await ended(client, await client.new_session(), 2)
        (message,) = client.updates("agent_message")
        tags = [block["type"] for block in message["content"]]
        assert tags == ["text", "image", "resource", "resource_link", "_mine"]
        assert client.updates("_mine")
        assert client.updates("usage_update")


@VERSIONS
async def test_any_object_with_the_right_fields_is_a_permission_option(version: int) -> None:
    """Ours: `accord.PermissionOption` is the client's class, and means the same to everybody."""
    agent = Agent("asker", version="1")
    chosen: list[bool] = []

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        yes = accord.PermissionOption("y", "Yes", "allow_once")
        no = SimpleNamespace(option_id="n", name="No", kind="reject_once")
        async with turn.tool_call("t") as call:
            chosen.append(await call.ask(options=[yes, no]))

    async with raw_client(agent, version=version) as client:
        client.serve["session/request_permission"] = lambda _: {
            "outcome": {"outcome": "selected", "optionId": "y"}
        }
        await ended(client, await client.new_session(), version)
    assert chosen == [True]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["allow"], "option_id, name and kind, each as text: 'allow'"),
        ([accord.PermissionOption("y", "Yes", 5)], "each as text"),  # type: ignore[arg-type]
        ([accord.PermissionOption("y", "Yes", "allow")], "'allow' is not a PermissionOptionKind"),
        ([], "a permission request needs options"),
    ],
)
async def test_what_is_no_permission_option_is_named(options: Any, said: str) -> None:
    """Issue: a misuse gets an error that names the mistake, before anything is sent."""
    agent = Agent("asker", version="1")

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        async with turn.tool_call("t") as call:
            with pytest.raises(LocalProtocolError, match=said):
                await call.ask(options=options)

    async with raw_client(agent) as client:
        await client.prompt(await client.new_session())
        assert "session/request_permission" not in client.methods()

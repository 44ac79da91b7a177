"""Turns, settings and sessions with an agent of the 2026-02 draft."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.client import Client
from accord.client.permissions.permissions import Permissions
from accord.errors import (
    LocalProtocolError,
    MethodMissing,
    NotFound,
    RateLimited,
    RequestCancelled,
    RequestFailed,
)
from accord.schema import draft, v1, v2
from accord.schema.struct import UnknownVariant
from tests.client.draft.draft_script import ANSWER, PROGRAM, drafting, open_session, say, tell
from tests.client.scripted_agent import Json, ScriptedAgent

ONLY_ASYNCIO = pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)


@ONLY_ASYNCIO
@pytest.mark.rule("D26-12", "D26-13", "D26-14")
async def test_a_whole_turn_with_a_program_that_speaks_nothing_but_the_draft(
    tmp_path: Path,
) -> None:
    """Issue 5: streaming, plan, permission, file, diff, in a real process."""
    async with Client.spawn(*PROGRAM, permissions=Permissions.allow_all()) as client:
        session = await client.new_session(tmp_path)
        reply = await session.ask("hello")
        assert (reply.text, reply.stop_reason) == ("Hello.", "end_turn")
        assert reply.usage is not None
        assert reply.usage.total_tokens == 7
        assert [thought.text for thought in session.transcript.thoughts] == ["a greeting"]
        assert session.transcript.plan is not None
        assert [entry.content for entry in session.transcript.plan.entries] == ["Greet"]
        reply = await session.ask("write new/a.txt words")
        assert json.loads(reply.text) == {"bytesWritten": 5, "created": True}
        assert (tmp_path / "new" / "a.txt").read_text() == "words"
        (call,) = reply.tool_calls
        assert (call.status, call.kind) == ("completed", "edit")
        assert call.diffs[0].patch == "@@ -0,0 +1,1 @@\n+words\n"


@ONLY_ASYNCIO
@pytest.mark.rule("D26-32")
async def test_a_call_that_was_denied_is_over(tmp_path: Path) -> None:
    """Draft 8.2: denied is final; for us it is cancelled."""
    async with Client.spawn(*PROGRAM, permissions=Permissions.deny_all()) as client:
        session = await client.new_session(tmp_path)
        (call,) = (await session.ask("write a.txt words")).tool_calls
    assert call.is_final
    assert call.status == "cancelled"
    assert not (tmp_path / "a.txt").exists()


@ONLY_ASYNCIO
@pytest.mark.rule("D26-15")
async def test_a_turn_is_cancelled_in_the_words_of_the_draft(tmp_path: Path) -> None:
    """Draft 4.5: the tool call first, then the answer."""
    log = tmp_path / "log"
    async with Client.spawn(*PROGRAM, "--log", str(log)) as client:
        session = await client.new_session(tmp_path)
        async with session.prompt("wait") as turn:
            async for _ in turn:
                await turn.cancel()
        assert turn.stop_reason == "cancelled"
        assert turn.reply.tool_calls[0].status == "cancelled"
    sent = [json.loads(line) for line in log.read_text().splitlines() if "session/cancel" in line]
    assert sent[0]["params"] == {"sessionId": "sess_0", "reason": "user_requested"}


@pytest.mark.rule("D26-08")
async def test_a_turn_that_ends_with_an_error_raises_as_a_v2_turn_does() -> None:
    """The draft's table 3.5: idle `error`; what the agent kept about it is told."""
    kept = {"code": -32050, "message": "model is down", "data": {"reason": "x"}}

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent)
        for meta in ({}, {"_meta": {"acp.draft/2026-02": {"error": kept}}}):
            prompt = await agent.expect("session/prompt")
            say(agent, "so far")
            agent.result(prompt, {"stopReason": "error", **meta})

    async with drafting(script) as (client, _):
        session = await client.new_session()
        with pytest.raises(RequestFailed, match="the agent reported an error"):
            await session.ask("a")
        turn = session.prompt("b")
        with pytest.raises(RequestFailed, match="model is down") as caught:
            async with turn:
                await turn.wait()
        assert (caught.value.code, caught.value.data) == (-32050, {"reason": "x"})
        assert (turn.stop_reason, turn.reply.text) == ("error", "so far")


async def test_the_exact_reason_of_an_end_comes_back_where_the_agent_kept_it() -> None:
    """The draft's table 3.5: M keeps the exact one, and only where it fits."""
    answers = [
        ("max_tokens", "max_turn_requests", "max_turn_requests"),
        ("end_turn", "refusal", "refusal"),
        ("cancelled", "refusal", "cancelled"),
        ("max_tokens", 5, "max_tokens"),
    ]

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent)
        for said, exact, _ in answers:
            meta = {"acp.draft/2026-02": {"stopReason": exact}}
            prompt = await agent.expect("session/prompt")
            agent.result(prompt, {"stopReason": said, "_meta": meta})

    async with drafting(script) as (client, _):
        session = await client.new_session()
        found = [(await session.ask("x")).stop_reason for _ in answers]
    assert found == [expected for _, _, expected in answers]


@pytest.mark.rule("D26-33")
@pytest.mark.parametrize(
    ("code", "kind", "official"),
    [
        (-32000, NotFound, -32002),
        (-32002, RequestFailed, -32052),
        (-32003, RequestCancelled, -32800),
        (-32004, NotFound, -32002),
        (-32005, RequestFailed, -32055),
        (-32006, RequestFailed, -32056),
        (-32007, MethodMissing, -32601),
        (-32008, RateLimited, -32058),
        (-32009, RequestFailed, -32059),
        (-32601, MethodMissing, -32601),
    ],
)
async def test_an_error_has_the_meaning_of_the_draft(
    code: int, kind: type[RequestFailed], official: int
) -> None:
    """The draft's table 9: the same numbers mean other things officially."""

    async def script(agent: ScriptedAgent) -> None:
        agent.error(await agent.expect("session/load"), code, "no", {"suggestion": "try again"})

    async with drafting(script) as (client, _):
        with pytest.raises(RequestFailed) as caught:
            await client.load_session("s9")
    assert type(caught.value) is kind
    assert caught.value.code == official
    assert caught.value.data["suggestion"] == "try again"


async def test_a_prompt_has_blocks_of_every_kind_and_attachments() -> None:
    """The draft's table 6 and 3.5; what the draft has no field for is kept in `_meta`."""
    sent: list[Json] = []

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent)
        prompt = await agent.expect("session/prompt")
        sent.append(prompt["params"])
        agent.result(prompt, {"stopReason": "end_turn"})

    text = v2.EmbeddedResourceResource(uri="file:///a", text="A", mime_type="text/plain")
    blob = v2.EmbeddedResourceResource(uri="file:///b", blob=b"\0")
    async with drafting(script) as (client, _):
        session = await client.new_session()
        await session.ask(
            "words",
            v1.TextContent(text="v1", annotations=v1.Annotations(priority=1)),
            v2.ImageContent(data=b"i", mime_type="image/png"),
            v2.AudioContent(data=b"s", mime_type="audio/wav"),
            v2.ResourceLink(name="n", uri="file:///n", size=3),
            v2.EmbeddedResource(resource=text),
            v2.EmbeddedResource(resource=blob),
            draft.ImageContent(
                source=draft.MediaSource(type="url", media_type="image/png", url="http://i")
            ),
            draft.Attachment(path="/p", name="p"),
        )
        with pytest.raises(LocalProtocolError):
            session.prompt(UnknownVariant("type", "_x", b"{}"))
    meta = "acp.draft/2026-02"
    assert sent[0]["content"] == [
        {"type": "text", "text": "words"},
        {"type": "text", "text": "v1", "_meta": {meta: {"annotations": {"priority": 1}}}},
        {
            "type": "image",
            "source": {"type": "base64", "mediaType": "image/png", "data": "aQ=="},
        },
        {
            "type": "audio",
            "source": {"type": "base64", "mediaType": "audio/wav", "data": "cw=="},
        },
        {"type": "resource_link", "uri": "file:///n", "title": "n", "_meta": {meta: {"size": 3}}},
        {"type": "resource", "uri": "file:///a", "mimeType": "text/plain", "content": "A"},
        {
            "type": "resource",
            "uri": "file:///b",
            "content": "AA==",
            "_meta": {meta: {"encoding": "base64"}},
        },
        {"type": "image", "source": {"type": "url", "mediaType": "image/png", "url": "http://i"}},
    ]
    assert sent[0]["attachments"] == [{"path": "/p", "name": "p"}]


async def test_thoughts_that_are_not_for_the_user_are_kept_and_not_shown() -> None:
    """The draft's table 5: `visible: false` is for the assistant."""
    shown: list[str] = []

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent)
        prompt = await agent.expect("session/prompt")
        tell(agent, "thought_message_chunk", content="hidden", visible=False)
        tell(agent, "thought_message_chunk", content="shown", visible=True)
        agent.result(prompt, {"stopReason": "end_turn"})

    async with drafting(script) as (client, _):
        session = await client.new_session(on_update=lambda update: shown.append(update.text))
        await session.ask("x")
    assert shown == ["", "shown"]
    assert session.transcript.thoughts[0].text == "hiddenshown"


async def test_an_agent_that_cannot_be_cancelled_is_left_alone_until_it_is_done() -> None:
    """Draft, 7: `cancellation: false`; the turn ends here, and its late updates are dropped."""
    answer: Any = {**ANSWER, "capabilities": {"promptCapabilities": {"cancellation": False}}}
    given_up = anyio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent)
        prompt = await agent.expect("session/prompt")
        say(agent, "begun")
        await given_up.wait()
        say(agent, "late")
        agent.result(prompt, {"stopReason": "end_turn"})
        prompt = await agent.expect("session/prompt")
        say(agent, "next")
        agent.result(prompt, {"stopReason": "end_turn"})

    async with drafting(script, answer) as (client, agent):
        session = await client.new_session()
        async with session.prompt("a") as turn:
            async for _ in turn:
                break
        assert turn.stop_reason == "cancelled"
        given_up.set()
        assert (await session.ask("b")).text == "next"
        assert agent.sent("session/cancel") == agent.sent("$/cancel_request") == []


async def test_no_request_is_taken_back_from_an_agent_that_knows_no_such_thing() -> None:
    """The draft's table 3.8: `$/cancel_request` is never sent."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/new")
        agent.write({"jsonrpc": "2.0", "method": "_seen", "params": {}})
        await agent.ended.wait()

    async with drafting(script) as (client, agent):
        with anyio.move_on_after(0.05):
            await client.new_session()
        assert agent.sent("$/cancel_request") == []

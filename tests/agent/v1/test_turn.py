"""The turn in v1: what a prompt may hold, what comes before its result, and how it ends."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from accord.agent import Agent, Turn
from accord.errors import LocalProtocolError, RequestError
from accord.schema import v2
from tests.agent.raw_client import raw_client


def agent_with(**options: Any) -> Agent:
    """An agent without a handler."""
    return Agent("turns", version="1", **options)


@pytest.mark.rule("V1-PROMPT-03", "V1-PROMPT-06")
async def test_text_and_links_are_always_accepted() -> None:
    """Spec: the baseline of prompt content."""
    agent = agent_with()
    seen: list[Any] = []

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        seen.extend(turn.prompt)

    link = {"type": "resource_link", "uri": "file:///a", "name": "a", "_meta": {"x": 1}}
    async with raw_client(agent) as client:
        session_id = await client.new_session()
        blocks = [{"type": "text", "text": "one"}, link, {"type": "text", "text": "two"}]
        result = await client.result("session/prompt", {"sessionId": session_id, "prompt": blocks})
    assert result == {"stopReason": "end_turn"}
    assert [type(block) for block in seen] == [v2.TextContent, v2.ResourceLink, v2.TextContent]
    assert seen[1].uri == "file:///a"


@pytest.mark.parametrize(
    ("accepts", "block"),
    [
        ("image", {"type": "image", "data": "aGk=", "mimeType": "image/png"}),
        ("audio", {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}),
        ("embedded_context", {"type": "resource", "resource": {"uri": "file:///a", "text": "x"}}),
    ],
)
async def test_richer_content_needs_its_capability(accepts: Any, block: dict[str, Any]) -> None:
    """Spec: prompt capabilities; the refusal says which block."""

    async def nothing(turn: Turn) -> None:
        await turn.say(*turn.prompt)

    plain, rich = agent_with(), agent_with(accepts=(accepts,))
    plain.on_prompt(nothing)
    rich.on_prompt(nothing)
    async with raw_client(plain) as client:
        params = {"sessionId": await client.new_session(), "prompt": [block]}
        error = await client.error("session/prompt", params)
        assert (error["code"], error["data"]["path"]) == (-32602, "$.prompt[0].type")
    async with raw_client(rich) as client:
        params = {"sessionId": await client.new_session(), "prompt": [block]}
        assert (await client.result("session/prompt", params))["stopReason"] == "end_turn"
        assert client.updates("agent_message_chunk")[0]["content"] == block


@pytest.mark.rule("V1-PROMPT-08")
@pytest.mark.parametrize(
    ("returned", "told"),
    [
        (None, "end_turn"),
        ("end_turn", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("max_turn_requests", "max_turn_requests"),
        ("refusal", "refusal"),
        ("cancelled", "cancelled"),
        ("_own_reason", "end_turn"),
    ],
)
async def test_a_stop_reason_is_one_of_the_five(returned: str | None, told: str) -> None:
    """Schema: a closed set; what v1 cannot say is the end of the turn."""
    agent = agent_with()

    @agent.on_prompt
    async def answer(turn: Turn) -> str | None:
        return returned

    async with raw_client(agent) as client:
        assert await client.prompt(await client.new_session()) == {"stopReason": told}


@pytest.mark.rule("V1-PROMPT-09")
async def test_all_updates_of_a_turn_come_before_its_result() -> None:
    """Spec: order; also what the handler left open is settled first, and nothing follows."""
    agent = agent_with()
    left: list[Turn] = []

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        left.append(turn)
        await turn.tool_call("Left open", kind="read").announce()
        for number in range(500):
            await turn.say(str(number))

    async with raw_client(agent) as client:
        session_id = await client.new_session()
        turn = client.start_prompt(session_id)
        await client.answer(turn)
        at = client.frames.index(
            {"jsonrpc": "2.0", "id": turn, "result": {"stopReason": "end_turn"}}
        )
        assert client.text() == "".join(map(str, range(500)))
        assert client.updates()[-1]["status"] == "completed"
        for misuse in (
            left[0].say("late"),
            left[0].think("late"),
            left[0].usage(1, 2),
            left[0].plan("late"),
            left[0].tool_call("late").announce(),
            left[0].notice("info", "late"),
        ):
            with pytest.raises(LocalProtocolError, match="over"):
                await misuse
        with pytest.raises(LocalProtocolError, match="over"):
            left[0].message()
        await client.result("session/list", {})
        assert len(client.frames) == at + 2


async def test_a_stream_that_outlives_its_turn_takes_no_more() -> None:
    """Ours: nothing is sent for a turn that is over."""
    agent = agent_with()
    streams: list[Any] = []

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        stream = turn.message()
        streams.append(stream)
        await stream.write("in time")

    async with raw_client(agent) as client:
        await client.prompt(await client.new_session())
        with pytest.raises(LocalProtocolError, match="ended"):
            await streams[0].write("late")
    assert client.text() == "in time"


@pytest.mark.rule("V1-PROMPT-17")
async def test_every_chunk_of_a_message_has_its_id() -> None:
    """RFD: message ids; another message has another one."""
    agent = agent_with()

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        async with turn.message() as message:
            for part in ("a", "", "b"):
                await message.write(part)
        async with turn.thought() as thought:
            await thought.write("hm")
        await turn.say("c", v2.ResourceLink(uri="file:///x", name="x"))

    async with raw_client(agent) as client:
        await client.prompt(await client.new_session())
    told = [(one["sessionUpdate"], one["messageId"]) for one in client.updates()]
    ids = [message_id for _, message_id in told]
    assert [kind for kind, _ in told] == [
        "agent_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "agent_message_chunk",
        "agent_message_chunk",
    ]
    assert ids[0] == ids[1]
    assert ids[3] == ids[4]
    assert len(set(ids)) == 3


@pytest.mark.rule("LIM-04")
async def test_further_prompts_queue_in_order_and_the_eighteenth_is_refused() -> None:
    """Ours: v1 leaves two prompts at once open; sixteen wait at most."""
    agent = agent_with()
    go = anyio.Event()

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        await go.wait()
        await turn.say(turn.text + " ")

    async with raw_client(agent) as client:
        session_id = await client.new_session()
        turns = [client.start_prompt(session_id, str(number)) for number in range(17)]
        error = (await client.answer(client.start_prompt(session_id, "17")))["error"]
        assert error["code"] == -32600
        assert "16" in error["message"]
        go.set()
        for turn in turns:
            assert (await client.answer(turn))["result"] == {"stopReason": "end_turn"}
        answered = [frame["id"] for frame in client.frames if frame.get("id") in turns]
        assert answered == turns
        assert await client.prompt(session_id, "again") == {"stopReason": "end_turn"}
    assert client.text().split() == [*map(str, range(17)), "again"]


async def test_sessions_do_not_wait_for_each_other() -> None:
    """Ours: one line of prompts per session."""
    agent = agent_with()

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        if turn.text == "wait":
            await anyio.sleep_forever()

    async with raw_client(agent) as client:
        one, other = await client.new_session(), await client.new_session()
        waiting = client.start_prompt(one, "wait")
        assert await client.prompt(other) == {"stopReason": "end_turn"}
        client.cancel(one)
        assert (await client.answer(waiting))["result"] == {"stopReason": "cancelled"}


@pytest.mark.rule("V1-EXT-07")
async def test_an_unforeseen_exception_is_generic_with_an_id_that_stderr_knows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Issue: -32603, `data.correlationId`, the traceback on stderr, and the connection lives."""
    agent = agent_with()

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        if turn.text == "fail":
            raise ValueError("secret path /home/x")

    async with raw_client(agent) as client:
        session_id = await client.new_session()
        error = (await client.answer(client.start_prompt(session_id, "fail")))["error"]
        assert error["code"] == -32603
        assert error["message"] == "Internal error"
        assert list(error["data"]) == ["correlationId"]
        assert "secret" not in json.dumps(client.frames)
        assert await client.prompt(session_id) == {"stopReason": "end_turn"}
    written = capsys.readouterr().err
    assert error["data"]["correlationId"] in written
    assert "Traceback" in written
    assert "secret path" in written


@pytest.mark.rule("V1-EXT-07")
async def test_bad_params_and_missing_methods_say_what_and_where() -> None:
    """Issue: `data.method` with -32601, path and reason with -32602."""
    async with raw_client(agent_with()) as client:
        error = await client.error("session/nonsense", {})
        assert (error["code"], error["data"]["method"]) == (-32601, "session/nonsense")
        error = await client.error("session/prompt", {"sessionId": 5, "prompt": []})
        assert (error["code"], error["data"]["path"]) == (-32602, "$.sessionId")
        assert error["data"]["reason"]
        assert "Traceback" not in json.dumps(client.frames)


@pytest.mark.rule("V1-EXT-08")
async def test_errors_of_our_own_classes_reach_the_client_as_they_are() -> None:
    """Issue: they carry their text; rate limits and denials have a reason."""
    agent = agent_with()
    raised: dict[str, Exception] = {
        "limit": RequestError.rate_limited("later, please", 2.5),
        "deny": RequestError.permission_denied("not allowed", "workspace"),
        "local": LocalProtocolError("a sentence of ours"),
    }

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        raise raised[turn.text]

    async with raw_client(agent) as client:
        session_id = await client.new_session()
        errors = {
            text: (await client.answer(client.start_prompt(session_id, text)))["error"]
            for text in raised
        }
    assert errors["limit"] == {
        "code": -32058,
        "message": "later, please",
        "data": {"reason": "rate_limited", "retryAfter": 2.5},
    }
    assert errors["deny"]["code"] == -32052
    assert errors["deny"]["data"]["reason"] == "permission_denied"
    assert errors["local"] == {"code": -32603, "message": "a sentence of ours"}


async def test_an_agent_without_a_handler_says_so() -> None:
    """Ours: a program's mistake is named."""
    async with raw_client(agent_with()) as client:
        error = (await client.answer(client.start_prompt(await client.new_session())))["error"]
    assert "on_prompt" in error["message"]


async def test_the_connection_may_end_in_the_middle_of_a_turn() -> None:
    """Issue: everything stops, nothing hangs."""
    agent = agent_with()
    ended = anyio.Event()

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        try:
            await turn.say("begun")
            await anyio.sleep_forever()
        finally:
            ended.set()

    async with raw_client(agent) as client:
        client.start_prompt(await client.new_session())
        await client.update("agent_message_chunk")
    assert ended.is_set()

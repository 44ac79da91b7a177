"""Turns with a client of the 2026-02 draft: messages, tool calls, permission, and how they end."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.agent import Agent, Turn
from accord.errors import LocalProtocolError, RequestError
from accord.schema import v2
from accord.schema.struct import Raw
from tests.agent.draft.draft_client import OFFER, draft_client
from tests.agent.draft.test_permissions import asked, one_edit

M = "acp.draft/2026-02"


def agent_that(handler: Any, **more: Any) -> Agent:
    """An agent with this handler."""
    agent = Agent("turns", version="1", **more)
    agent.on_prompt(handler)
    return agent


# ---- messages


@pytest.mark.rule("D26-13", "D26-14")
async def test_messages_never_run_together() -> None:
    """The draft's table 5: index 0 starts a message, `final` ends one."""

    async def talk(turn: Turn) -> None:
        async with turn.message() as message:
            await message.write("a")
            await message.write("b")
        async with turn.message() as message:
            await message.write("c")
        await turn.say("d", v2.ResourceLink(name="x", uri="file:///x"))
        async with turn.thought() as thought:
            await thought.write("hm")

    async with draft_client(agent_that(talk)) as client:
        session = await client.new_session()
        await client.prompt(session)
        said = client.told("agent_message_chunk")
        assert [(one["content"], one["index"]) for one in said] == [
            ("a", 0), ("b", 1), ("", 2), ("c", 0), ("", 1), ("d", 0), ("[x](file:///x)", 1),
        ]  # fmt: skip
        # What is streamed has its end in a last chunk without text.
        assert [one.get("final") for one in said] == [None, None, True, None, True, None, True]
        assert said[-1]["_meta"][M]["block"]["uri"] == "file:///x"
        thought = client.told("thought_message_chunk")[0]
        assert (thought["content"], thought["index"], thought["visible"]) == ("hm", 0, True)


async def test_plans_have_steps() -> None:
    """The draft's table 5: planId, steps with ids."""

    async def plan(turn: Turn) -> None:
        plan = await turn.plan(
            "read", v2.PlanEntry(content="write", priority="high", status="pending")
        )
        await plan.start(0)

    async with draft_client(agent_that(plan)) as client:
        session = await client.new_session()
        await client.prompt(session)
        assert client.told("plan")[-1] == {
            "planId": "main",
            "steps": [
                {"id": "step_1", "description": "read", "status": "in_progress"},
                {
                    "id": "step_2",
                    "description": "write",
                    "status": "pending",
                    "_meta": {M: {"priority": "high"}},
                },
            ],
        }


async def test_what_the_draft_has_no_update_for_goes_to_a_client_that_asked_for_it() -> None:
    """The draft's table 5: dropped, or `_acp/session_update` in v1's words."""

    async def tell(turn: Turn) -> None:
        await turn.set_title("A title")
        await turn.notice("info", "by the way")
        await turn.say("x")

    async with draft_client(agent_that(tell)) as client:
        session = await client.new_session()
        await client.prompt(session)
        # The prompt, told again, and the text.
        assert client.methods() == ["session/update"] * 2
    wants = OFFER | {"_custom": {"acpUpdates": True}}
    async with draft_client(agent_that(tell), wants) as client:
        session = await client.new_session()
        await client.prompt(session)
        first = await client.next("_acp/session_update")
        assert first["params"]["update"]["sessionUpdate"] == "session_info_update"
        assert (await client.next("_acp/session_update"))["params"]["update"][
            "title"
        ] == "by the way"


async def test_prompts_bring_content_and_attachments() -> None:
    """The draft's table 3.5, 6: what the agent does not take comes as a link or as text."""
    seen: list[Any] = []

    async def look(turn: Turn) -> None:
        seen.extend(turn.prompt)

    content = [
        {"type": "text", "text": "hi"},
        {"type": "image", "source": {"type": "base64", "mediaType": "image/png", "data": "aGk="}},
        {
            "type": "image",
            "source": {"type": "url", "mediaType": "image/png", "url": "http://a/b.png"},
        },
        {"type": "audio", "source": {"type": "base64", "mediaType": "audio/wav", "data": "aGk="}},
        {"type": "resource_link", "uri": "file:///a/b.ts", "title": "B"},
        {"type": "resource", "uri": "file:///c.ts", "content": "let c", "mimeType": "text/x"},
    ]
    attachments = [
        {"path": "notes.txt"},
        {"uri": "file:///d.txt", "name": "D", "content": "dee"},
    ]
    agent = agent_that(look, accepts=("image", "embedded_context"))
    async with draft_client(agent) as client:
        session = await client.new_session("/somewhere")
        await client.prompt(session, content=content, attachments=attachments)
    text, image, link, audio, named, resource, noted, embedded = seen
    assert text == v2.TextContent(text="hi")
    assert image == v2.ImageContent(data=b"hi", mime_type="image/png")
    assert (link.uri, link.name) == ("http://a/b.png", "b.png")
    assert audio.uri == "data:audio/wav;base64,aGk="
    assert (named.name, named.title) == ("B", "B")
    assert resource.resource.text == "let c"
    assert (noted.uri, noted.name) == ("file:///somewhere/notes.txt", "notes.txt")
    assert embedded.resource.text == "dee"
    seen.clear()
    async with draft_client(agent_that(look)) as client:
        session = await client.new_session("/somewhere")
        await client.prompt(session, content=[content[1], content[5]], attachments=attachments)
    assert [type(one) for one in seen] == [
        v2.ResourceLink, v2.TextContent, v2.ResourceLink, v2.TextContent,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "source": {"type": "url", "mediaType": "image/png"}},
        {"type": "hologram"},
        {"text": "no type"},
        3,
    ],
)
async def test_content_that_is_none_is_refused_before_the_turn(block: Any) -> None:
    """The draft's table 6: neither data nor url is -32602."""

    async def never(turn: Turn) -> None:
        raise AssertionError("no turn")

    async with draft_client(agent_that(never)) as client:
        session = await client.new_session()
        params = {"sessionId": session, "content": [block]}
        assert (await client.error("session/prompt", params))["code"] == -32602


# ---- tool calls


@pytest.mark.rule("D26-32")
async def test_a_call_goes_by_its_steps_and_shows_one_thing() -> None:
    """The draft's table 5.1: missing steps are made up; output, error, duration."""

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Look", kind="search", locations=[("/a", 3), "/b"]) as call:
            await call.show("one")
            await call.show("two")
        try:
            async with turn.tool_call("Break", kind="execute", name="break"):
                raise ValueError("it broke")
        except ValueError:
            pass
        call = turn.tool_call("Change", kind="edit")
        await call.announce()
        await call.show_diff("/a", "x\ny\n", "x\nz\n")
        await call.complete(raw_output={"n": 1})

    async with draft_client(agent_that(work)) as client:
        session = await client.new_session()
        await client.prompt(session)
        look, broken, change = client.told("tool_call")
        assert (look["tool"], look["input"], look["status"]) == ("search", {}, "pending")
        assert look["location"] == {"path": "/a", "line": 3}
        assert look["_meta"][M]["title"] == "Look"
        assert [one["path"] for one in look["_meta"][M]["locations"]] == ["/a", "/b"]
        assert (broken["tool"], change["tool"]) == ("break", "fs/write_text_file")
        updates = client.told("tool_call_update")
        of_look = [one for one in updates if one["id"] == look["id"]]
        assert [one.get("status") for one in of_look] == [None, None, "in_progress", "completed"]
        assert of_look[1]["output"] == {"type": "text", "text": "one\ntwo"}
        assert isinstance(of_look[-1]["duration"], int)
        last = [one for one in updates if one["id"] == broken["id"]][-1]
        assert (last["status"], last["error"]) == ("failed", "ValueError: it broke")
        diff, begun, done = [one for one in updates if one["id"] == change["id"]]
        assert diff["output"]["path"] == "/a"
        (hunk,) = diff["output"]["hunks"]
        assert (hunk["oldStart"], hunk["oldLines"], hunk["newStart"], hunk["newLines"]) == (
            1, 2, 1, 2,
        )  # fmt: skip
        assert hunk["content"] == "@@ -1,2 +1,2 @@\n x\n-y\n+z\n"
        assert (begun["status"], done["status"]) == ("in_progress", "completed")
        assert done["_meta"][M]["rawOutput"] == {"n": 1}


async def test_a_call_is_announced_when_its_input_is_known() -> None:
    """Issue 15: a model writes the input of a call while it is announced already."""

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Read", kind="read") as call:
            await turn.emit(
                v2.ToolCallUpdate(
                    tool_call_id=call.id,
                    raw_input=Raw(b'{"path":"/a"}'),
                    locations=[v2.ToolCallLocation(path="/a", line=2)],
                )
            )
            await call.ask("Because")

    async with draft_client(agent_that(work)) as client:
        session = await client.new_session()
        prompt, request = await asked(client, session)
        (announced,) = client.told("tool_call")
        assert announced["input"] == {"path": "/a"}
        assert announced["location"] == {"path": "/a", "line": 2}
        assert announced["requiresPermission"] is True
        client.grant(request)
        await client.answer(prompt)


async def test_a_call_that_is_cancelled_has_not_failed() -> None:
    """Issue 15: "cancelled", "denied" and "failed" are told apart, also within one turn."""

    async def work(turn: Turn) -> None:
        call = turn.tool_call("Wait", kind="other")
        await call.announce()
        await call.start()
        await call.cancel()

    async with draft_client(agent_that(work)) as client:
        session = await client.new_session()
        assert (await client.prompt(session))["stopReason"] == "end_turn"
        assert client.statuses() == ["pending", "in_progress", "cancelled"]


# ---- ends


@pytest.mark.rule("D26-08")
@pytest.mark.parametrize(
    ("reason", "said", "exact"),
    [
        (None, "end_turn", None),
        ("max_tokens", "max_tokens", None),
        ("max_turn_requests", "max_tokens", "max_turn_requests"),
        ("refusal", "end_turn", "refusal"),
        ("_own", "end_turn", "_own"),
    ],
)
async def test_a_turn_ends_with_one_of_four_reasons(
    reason: str | None, said: str, exact: str | None
) -> None:
    """The draft's table 3.5: the exact one is kept."""

    async def stop(turn: Turn) -> str | None:
        turn.count_tokens(input=15, output=4, thought=2)
        return reason

    async with draft_client(agent_that(stop)) as client:
        session = await client.new_session()
        result = await client.prompt(session)
        assert result["stopReason"] == said
        assert result["usage"] == {"inputTokens": 15, "outputTokens": 4}
        assert result.get("_meta", {}).get(M, {}).get("stopReason") == exact


@pytest.mark.rule("D26-08", "D26-33")
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RequestError.authentication_required(), -32001),
        (RequestError.session_missing("s"), -32000),
        (RequestError.resource_missing("file:///a"), -32004),
        (RequestError.permission_denied("no"), -32002),
        (RequestError.rate_limited("slow down", 3), -32008),
        (RequestError(-32603, "too slow", {"reason": "model_timed_out"}), -32009),
        (TimeoutError(), -32009),
        (RequestError(-32001, "an own number"), -32603),
        (LocalProtocolError("a slip"), -32603),
        (KeyError("x"), -32603),
    ],
)
async def test_a_failure_after_the_turn_began_is_its_stop_reason(
    error: Exception, code: int
) -> None:
    """The draft's table 3.5: the error is beside it, in the draft's numbers."""

    async def fail(turn: Turn) -> None:
        raise error

    async with draft_client(agent_that(fail)) as client:
        session = await client.new_session()
        result = await client.prompt(session)
        assert result["stopReason"] == "error"
        assert result["_meta"][M]["error"]["code"] == code
        # And for the eye.
        assert "failed" in client.told("agent_message_chunk")[-1]["content"]
        # The session lives.
        assert (await client.prompt(session))["stopReason"] == "error"


@pytest.mark.rule("D26-08")
async def test_an_error_that_cannot_be_sent_still_ends_the_turn(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Ours: the data of an error may have no JSON form; its author sees that on stderr."""

    async def fail(turn: Turn) -> None:
        raise RequestError(-32001, "odd", {"data": object()})

    async with draft_client(agent_that(fail)) as client:
        session = await client.new_session()
        for _ in range(2):
            result = await client.prompt(session)
            assert result["stopReason"] == "error"
            error = result["_meta"][M]["error"]
            assert error["code"] == -32603
            assert error["data"]["correlationId"] in capsys.readouterr().err


@pytest.mark.rule("D26-15")
async def test_a_cancelled_turn_cancels_its_calls_first() -> None:
    """The draft's table 3.8: the call, then the turn; the reason is for people."""
    begun = anyio.Event()

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Wait", kind="other") as call:
            await call.start()
            begun.set()
            await anyio.sleep_forever()

    async with draft_client(agent_that(work)) as client:
        session = await client.new_session()
        running = client.start_prompt(session)
        waiting = client.start_prompt(session)
        await begun.wait()
        client.notify("session/cancel", {"sessionId": session, "reason": "user_requested"})
        assert (await client.answer(running))["result"] == {"stopReason": "cancelled"}
        assert (await client.answer(waiting))["result"] == {"stopReason": "cancelled"}
        assert client.statuses() == ["pending", "in_progress", "cancelled"]
        places = [
            frame.get("id") or frame["params"]["data"].get("status") for frame in client.frames[2:]
        ]
        assert places.index("cancelled") < places.index(running)


@pytest.mark.rule("D26-15", "D26-32")
async def test_a_turn_that_is_cancelled_while_permission_is_open_ends_denied() -> None:
    """The draft's table 5.1: from `awaiting_permission` there is no other way."""
    async with draft_client(agent_that(one_edit)) as client:
        session = await client.new_session()
        prompt, request = await asked(client, session)
        client.notify("session/cancel", {"sessionId": session})
        assert (await client.answer(prompt))["result"]["stopReason"] == "cancelled"
        assert client.statuses() == ["pending", "awaiting_permission", "denied"]
        assert "$/cancel_request" not in client.methods()
        # Its late answer changes nothing.
        client.grant(request, scope="always")
        prompt, request = await asked(client, session)
        client.grant(request)
        assert (await client.answer(prompt))["result"]["stopReason"] == "end_turn"


async def test_a_failure_in_a_cancelled_turn_is_still_cancelled() -> None:
    """The draft's table 3.5: cancelling stays `cancelled`, never `error`."""

    async def fail(turn: Turn) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            raise RuntimeError("while leaving")

    async with draft_client(agent_that(fail)) as client:
        session = await client.new_session()
        prompt = client.start_prompt(session)
        client.notify("session/cancel", {"sessionId": session})
        assert (await client.answer(prompt))["result"]["stopReason"] == "cancelled"

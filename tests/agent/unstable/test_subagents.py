"""Child sessions: announced, seen, cancelled where that was granted, and never prompted."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.agent import Agent, Turn
from accord.agent.tools.elicitation import FormField
from accord.errors import LocalProtocolError
from tests.agent.raw_client import Message, RawClient, raw_client
from tests.agent.unstable.play import (
    CLIENT_OFFERS,
    again,
    first_naming,
    idle,
    made,
    named_sessions,
    reopen,
    run_turn,
)
from tests.hang_limit import HANG_SECONDS


def children(client: RawClient) -> list[Message]:
    return client.updates("subagent_update")


async def delegate(turn: Turn) -> None:
    async with turn.subagent(
        "Reviewer", description="Reads the code", cancellable=True, cwd="sub"
    ) as child:
        await child.instruct("review it")
        await child.say("reading")
        async with child.tool_call("Read", kind="read"):
            pass
        child.count_tokens(input=10, output=2)
        await child.report("fine")
    turn.count_tokens(input=1, output=1)


@pytest.mark.rule("V1-PROXY-08")
async def test_a_child_is_announced_on_its_parent_before_anything_else_names_it(
    version: int,
) -> None:
    """Spec: the first message with the child's id is the parent's `subagent_update`."""
    async with raw_client(
        made(delegate), version=version, capabilities=CLIENT_OFFERS[version]
    ) as client:
        parent = await client.new_session()
        await run_turn(client, version, parent)
        child = children(client)[0]["sessionId"]
        first = first_naming(client, child)["params"]
        assert first["sessionId"] == parent
        assert first["update"] == {
            "sessionUpdate": "subagent_update",
            "sessionId": child,
            "title": "Reviewer",
            "description": "Reads the code",
            "capabilities": {"cancel": {}},
            "cwd": "/tmp/sub",
        }
        assert named_sessions(client) == [parent, child]
        said = [f["params"] for f in client.frames if f.get("params", {}).get("sessionId") == child]
        kinds = [one["update"]["sessionUpdate"] for one in said]
        assert "tool_call" in kinds or "tool_call_update" in kinds
        assert any(kind.startswith("agent_message") for kind in kinds)


async def test_the_parent_mirrors_the_state_of_its_child(version: int) -> None:
    """Spec: running while it works, idle with a reason and its cost afterwards."""
    async with raw_client(
        made(delegate), version=version, capabilities=CLIENT_OFFERS[version]
    ) as client:
        parent = await client.new_session()
        result = await run_turn(client, version, parent)
        states = [one["state"] for one in children(client)[1:]]
        cost = {"totalTokens": 12, "inputTokens": 10, "outputTokens": 2}
        assert states == [
            {"state": "running"},
            {"state": "idle", "stopReason": "end_turn", "usage": cost},
        ]
        # What a child costs its parent has paid.
        assert result["usage"] == {"totalTokens": 14, "inputTokens": 11, "outputTokens": 3}


async def test_messages_between_the_two_are_seen_in_both_transcripts(version: int) -> None:
    """Spec: each view has its own id and names the other's."""
    async with raw_client(
        made(delegate), version=version, capabilities=CLIENT_OFFERS[version]
    ) as client:
        parent = await client.new_session()
        await run_turn(client, version, parent)
        child = children(client)[0]["sessionId"]
        seen = [
            (frame["params"]["sessionId"], frame["params"]["update"])
            for frame in client.frames
            if frame.get("params", {}).get("update", {}).get("sessionUpdate") == "session_message"
        ]
        assert [where for where, _ in seen] == [parent, child, child, parent]
        for (_, sent), (_, received) in (seen[:2], seen[2:]):
            assert sent["recipientMessageId"] == received["messageId"]
            assert received["senderMessageId"] == sent["messageId"]
            assert sent["content"] == received["content"]
        ways = [(one["senderSessionId"], one["recipientSessionId"]) for _, one in seen]
        assert ways == [(parent, child)] * 2 + [(child, parent)] * 2


@pytest.mark.rule("V1-PROXY-09")
async def test_a_v1_client_without_subagents_hears_of_none() -> None:
    """Spec: only with the client's `subagents`; what is done is shown as the parent's doing."""

    async def ask(turn: Turn) -> None:
        async with (
            turn.subagent("Editor") as child,
            child.subagent("Helper") as grandchild,
            grandchild.tool_call("Write it", kind="edit") as call,
        ):
            await grandchild.say("unheard")
            await child.report("unheard")
            assert await call.ask()

    async with raw_client(made(ask), version=1) as client:
        parent = await client.new_session()
        prompt = client.start_prompt(parent)
        asked = await client.next("session/request_permission")
        assert asked["params"]["sessionId"] == parent
        option = asked["params"]["options"][0]["optionId"]
        client.reply(asked, {"outcome": {"outcome": "selected", "optionId": option}})
        await client.answer(prompt)
        assert named_sessions(client) == [parent]
        assert children(client) == []
        assert "unheard" not in str(client.frames)
        assert any(one.get("title") == "Write it" for one in client.updates("tool_call"))


async def test_a_hidden_child_asks_in_its_parents_name_and_its_parent_waits(version: int) -> None:
    """Ours: with the switch off the session itself asks, waits and goes on."""

    async def ask(turn: Turn) -> None:
        async with turn.subagent("Asker") as child:
            answer = await child.ask("How many?", count=FormField("integer"))
            await turn.say(f"{answer.values['count']} it is")

    agent = Agent("off", version="1.0")
    agent.on_prompt(ask)
    offers: Message = {"elicitation": {"form": {}}}
    async with raw_client(agent, version=version, capabilities=offers) as client:
        parent = await client.new_session()
        prompt = client.start_prompt(parent)
        asked = await client.next("elicitation/create")
        assert asked["params"]["sessionId"] == parent
        client.reply(asked, {"action": "accept", "content": {"count": 3}})
        await client.answer(prompt)
        if version == 2:
            await idle(client, parent)
            states = [one["state"] for one in client.updates("state_update")]
            assert states == ["running", "requires_action", "running", "idle"]
        assert "3 it is" in str(client.frames)


async def test_a_client_that_hangs_up_ends_the_child_as_well(version: int) -> None:
    """Ours: nothing is said to nobody, and nothing is left behind."""
    stopped = anyio.Event()

    async def work(turn: Turn) -> None:
        try:
            async with turn.subagent("Searcher"):
                await anyio.sleep_forever()
        finally:
            stopped.set()

    offers = CLIENT_OFFERS[version]
    async with raw_client(made(work), version=version, capabilities=offers) as client:
        client.start_prompt(await client.new_session())
        while len(children(client)) < 2:
            await client.update("subagent_update")
    with anyio.fail_after(HANG_SECONDS):
        await stopped.wait()


async def test_a_question_of_a_child_bears_the_childs_id_and_shows_in_its_state(
    version: int,
) -> None:
    """Spec: requests of a child follow its announcement; the parent mirrors `requires_action`."""

    async def ask(turn: Turn) -> None:
        async with turn.subagent("Editor") as child, child.tool_call("Write", kind="edit") as call:
            await call.ask()

    offers = CLIENT_OFFERS[version]
    async with raw_client(made(ask), version=version, capabilities=offers) as client:
        parent = await client.new_session()
        client.start_prompt(parent)
        asked = await client.next("session/request_permission")
        child = children(client)[0]["sessionId"]
        assert asked["params"]["sessionId"] == child
        assert children(client)[-1]["state"] == {"state": "requires_action"}
        client.reply(asked, {"outcome": {"outcome": "cancelled"}})
        while children(client)[-1]["state"]["state"] != "idle":
            await client.update("subagent_update")
        states = [one["state"]["state"] for one in children(client)[1:]]
        assert states == ["running", "requires_action", "running", "idle"]


@pytest.mark.parametrize("granted", [True, False])
async def test_a_child_is_cancelled_alone_and_only_where_that_was_granted(
    version: int, granted: bool
) -> None:
    """Spec: `session/cancel` on a child needs its `cancel`."""
    go_on = anyio.Event()

    async def work(turn: Turn) -> None:
        async with turn.subagent("Searcher", cancellable=granted) as child:
            await child.say("searching")
            await go_on.wait()
        await turn.say("goes on")

    offers = CLIENT_OFFERS[version]
    async with raw_client(made(work), version=version, capabilities=offers) as client:
        parent = await client.new_session()
        prompt = client.start_prompt(parent)
        while len(children(client)) < 2:
            await client.update("subagent_update")
        announced = children(client)[0]
        assert announced["capabilities"] == ({"cancel": {}} if granted else {})
        client.cancel(announced["sessionId"])
        if not granted:
            # The answer shows that the cancellation was read before the work went on.
            await client.result("session/status", {"sessionId": parent})
            assert children(client)[-1]["state"] == {"state": "running"}
            go_on.set()
        answer = await client.answer(prompt)
        stopped = answer["result"] if version == 1 else await idle(client, parent)
        assert stopped["stopReason"] == "end_turn"
        reason = "cancelled" if granted else "end_turn"
        assert children(client)[-1]["state"] == {"state": "idle", "stopReason": reason}
        assert "goes on" in str(client.frames)


async def test_cancelling_the_parent_cancels_its_children(version: int) -> None:
    """Ours: a child never outlives the turn that it works for."""

    async def work(turn: Turn) -> None:
        async with turn.subagent("Searcher"):
            await anyio.sleep_forever()

    offers = CLIENT_OFFERS[version]
    async with raw_client(made(work), version=version, capabilities=offers) as client:
        parent = await client.new_session()
        prompt = client.start_prompt(parent)
        while len(children(client)) < 2:
            await client.update("subagent_update")
        client.cancel(parent)
        answer = await client.answer(prompt)
        stopped = answer["result"] if version == 1 else await idle(client, parent)
        assert stopped["stopReason"] == "cancelled"
        assert children(client)[-1]["state"] == {"state": "idle", "stopReason": "cancelled"}


async def test_a_child_that_fails_says_so_and_its_parent_decides(version: int) -> None:
    """Ours: the exception goes on; the child's state has the error without its details."""

    async def work(turn: Turn) -> None:
        with pytest.raises(ZeroDivisionError):
            async with turn.subagent("Calculator"):
                raise ZeroDivisionError("secret")
        await turn.say("well then")

    offers = CLIENT_OFFERS[version]
    async with raw_client(made(work), version=version, capabilities=offers) as client:
        await run_turn(client, version, await client.new_session())
        state = children(client)[-1]["state"]
        assert (state["stopReason"], state["error"]["code"]) == ("error", -32603)
        assert "secret" not in str(client.frames)


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("session/prompt", {"prompt": [{"type": "text", "text": "you?"}]}),
        ("session/close", {}),
        ("session/delete", {}),
        ("session/archive", {}),
        ("session/set_title", {"title": "mine"}),
        ("session/fork", {"cwd": "/tmp"}),
        ("session/resume", {"cwd": "/tmp"}),
        ("session/set_config_option", {"configId": "x", "value": "y", "type": "id"}),
    ],
)
async def test_a_child_is_changed_by_nobody_but_its_parent(
    version: int, method: str, more: dict[str, Any]
) -> None:
    """Spec: a mutation needs an explicit capability of the child."""
    go_on = anyio.Event()

    async def work(turn: Turn) -> None:
        async with turn.subagent("Searcher", cancellable=True) as child:
            await go_on.wait()
            await child.say("undisturbed")

    offers = CLIENT_OFFERS[version]
    async with raw_client(made(work), version=version, capabilities=offers) as client:
        parent = await client.new_session()
        prompt = client.start_prompt(parent)
        while len(children(client)) < 2:
            await client.update("subagent_update")
        child = children(client)[0]["sessionId"]
        error = await client.error(method, {"sessionId": child, **more})
        assert (error["code"], error["data"]["path"]) == (-32602, "$.sessionId")
        go_on.set()
        await client.answer(prompt)
        if version == 2:
            await idle(client, parent)
        assert "undisturbed" in str(client.frames)


async def test_a_replay_shows_the_child_at_rest(version: int) -> None:
    """Ours: a child's history is not kept, but that it was there and is done is."""
    offers = CLIENT_OFFERS[version]
    async with raw_client(made(delegate), version=version, capabilities=offers) as client:
        parent = await client.new_session()
        await run_turn(client, version, parent)
        await client.result("session/close", {"sessionId": parent})
        start = len(children(client))
        await client.result(again(version), reopen(version, parent))
        told = children(client)[start:]
        assert [one.get("title") for one in told] == ["Reviewer", None]
        assert told[-1]["state"]["state"] == "idle"


async def test_a_child_speaks_inside_its_block_alone(version: int) -> None:
    """Ours: misuse is named before anything is sent."""
    complaints: list[str] = []

    async def work(turn: Turn) -> None:
        child = turn.subagent("Late")
        for step in (child.say, child.report):
            with pytest.raises(LocalProtocolError) as raised:
                await step("too early")
            complaints.append(str(raised.value))
        async with child:
            with pytest.raises(LocalProtocolError):
                await child.__aenter__()
        for step in (child.say, child.instruct):
            with pytest.raises(LocalProtocolError) as raised:
                await step("too late")
            complaints.append(str(raised.value))

    offers = CLIENT_OFFERS[version]
    async with raw_client(made(work), version=version, capabilities=offers) as client:
        await run_turn(client, version, await client.new_session())
        assert "too" not in str(client.updates("agent_message_chunk"))
    assert len(complaints) == 4

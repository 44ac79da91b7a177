"""Functions that wait: what follows them, what they ask, who withdraws them."""

from typing import Any

import anyio
import pytest

from accord.errors import ConnectionLost, RequestFailed
from accord.proxy import Proxy
from accord.proxy.message import Message, Response
from tests.proxy.wires import Wire, around, chunk

pytestmark = pytest.mark.anyio


async def test_what_follows_a_function_that_waits_stays_behind_it() -> None:
    """Issue 5: an async handler of a notification keeps order with what follows it."""
    proxy = Proxy()
    go = anyio.Event()

    @proxy.on_notification("_slow", of="client")
    async def slow(message: Message) -> None:
        await go.wait()
        message.params["slow"] = True

    @proxy.on_request("_ask")
    async def ask(message: Message, forward: Any) -> Any:
        await anyio.lowlevel.checkpoint()
        return await forward(message)

    async with around(proxy) as (client, agent, _, _):
        client.say(
            {"method": "_slow", "params": {}},
            {"method": "_n", "params": {}},
            {"id": 1, "method": "_ask", "params": {}},
            {"method": "_n2", "params": {}},
            {"id": 2, "method": "_plain", "params": {}},
        )
        agent.notify("_the other way")
        assert (await client.hear())["method"] == "_the other way"
        assert not agent.unheard()
        go.set()
        heard = [(await agent.hear())["method"] for _ in range(5)]
        assert heard == ["_slow", "_n", "_ask", "_n2", "_plain"]


async def test_what_follows_an_answer_stays_behind_it_while_a_function_works_on_it() -> None:
    """Agents send a session's commands right behind the answer to session/new."""
    proxy = Proxy()
    go = anyio.Event()

    @proxy.on_request("session/new")
    async def new(message: Message, forward: Any) -> Any:
        answer = await forward(message)
        await go.wait()
        return answer

    async with around(proxy) as (client, agent, _, _):
        client.request(1, "session/new")
        client.request(2, "_other")
        first, other = await agent.hear(), await agent.hear()
        agent.say(
            {"id": first["id"], "result": {"sessionId": "s"}},
            {"method": "session/update", "params": chunk("a")},
            {"id": other["id"], "result": {}},
        )
        await anyio.wait_all_tasks_blocked()
        assert not client.unheard()
        go.set()
        assert [(await client.hear()).get("id") for _ in range(3)] == [1, None, 2]


async def test_a_function_may_ask_both_sides_for_something_while_it_works() -> None:
    """Ours: what it holds up never keeps its own answers away."""
    proxy = Proxy()

    @proxy.on_request("session/prompt")
    async def prompt(message: Message, forward: Any) -> Any:
        said = await message.client.request("_may I", {})
        known = await message.agent.request("_do you", {})
        answer = await forward(message)
        more = await message.agent.request("session/prompt", {"more": True})
        return {**answer, "said": said, "known": known, "more": more}

    async with around(proxy) as (client, agent, _, _):
        client.request(1, "session/prompt", {"sessionId": "s"})
        asked = await client.hear()
        assert asked["method"] == "_may I"
        client.answer(asked["id"], 1)
        asked = await agent.hear()
        assert asked["method"] == "_do you"
        # The agent cannot answer before the client has answered it.
        agent.request("f", "fs/read_text_file")
        client.answer((await client.hear())["id"], {"content": ""})
        assert (await agent.hear())["id"] == "f"
        agent.answer(asked["id"], 2)
        asked = await agent.hear()
        assert asked["params"] == {"sessionId": "s"}
        agent.answer(asked["id"], {"stopReason": "end_turn"})
        asked = await agent.hear()
        assert asked["params"] == {"more": True}
        agent.request("g", "fs/read_text_file")
        client.answer((await client.hear())["id"], {"content": ""})
        assert (await agent.hear())["id"] == "g"
        agent.answer(asked["id"], 3)
        result = (await client.hear())["result"]
        assert result == {"stopReason": "end_turn", "said": 1, "known": 2, "more": 3}


async def test_functions_for_notifications_and_responses_may_ask_too() -> None:
    """Ours: the agent asks the client something before it answers, and is not held up."""
    proxy = Proxy()

    @proxy.on_notification("_note", of="agent")
    async def note(message: Message) -> None:
        message.params["known"] = await message.agent.request("_do you", {})

    @proxy.on_response("_ask", of="client")
    async def asked(response: Response) -> None:
        response.result["known"] = await response.request.agent.request("_do you", {})

    async def answer_after_asking(client: Wire, agent: Wire) -> None:
        question = await agent.hear()
        assert question["method"] == "_do you"
        agent.request("f", "fs/read_text_file")
        client.answer((await client.hear())["id"], {})
        assert (await agent.hear())["id"] == "f"
        agent.answer(question["id"], "yes")

    async with around(proxy) as (client, agent, _, _):
        agent.notify("_note")
        await answer_after_asking(client, agent)
        assert (await client.hear())["params"] == {"known": "yes"}
        client.request(1, "_ask")
        agent.answer((await agent.hear())["id"], {})
        await answer_after_asking(client, agent)
        assert (await client.hear())["result"] == {"known": "yes"}


async def test_an_error_that_a_function_does_not_catch_goes_back_as_it_came() -> None:
    """Ours: what the agent says about a request, the client hears."""
    proxy = Proxy()
    caught: list[RequestFailed] = []

    @proxy.on_request("_a")
    async def a(message: Message, forward: Any) -> Any:
        return await forward(message)

    @proxy.on_request("_b")
    async def b(message: Message, forward: Any) -> Any:
        try:
            return await forward(message)
        except RequestFailed as error:
            caught.append(error)
            return {"instead": True}

    async with around(proxy) as (client, agent, _, _):
        error = {"code": -32002, "message": "no", "data": {"uri": "x"}}
        for number, method in enumerate(("_a", "_b")):
            client.request(number, method)
            agent.say({"id": (await agent.hear())["id"], "error": error})
        assert (await client.hear())["error"] == error
        assert (await client.hear())["result"] == {"instead": True}
        assert caught[0].code == -32002


async def test_a_withdrawn_request_reaches_the_agent_or_ends_the_function() -> None:
    """Issue 5: `$/cancel_request` mapped and kept in order, also around handlers."""
    proxy = Proxy()
    stuck = anyio.Event()

    @proxy.on_request("_forwards")
    async def forwards(message: Message, forward: Any) -> Any:
        return await forward(message)

    @proxy.on_request("_stuck")
    async def gets_stuck(message: Message, forward: Any) -> Any:
        stuck.set()
        await anyio.sleep_forever()

    async with around(proxy) as (client, agent, _, _):
        client.request(1, "_forwards")
        asked = await agent.hear()
        client.notify("$/cancel_request", {"requestId": 1})
        assert (await agent.hear())["params"] == {"requestId": asked["id"]}
        agent.say({"id": asked["id"], "error": {"code": -32800, "message": "cancelled"}})
        assert (await client.hear())["error"]["code"] == -32800
        client.request(2, "_stuck")
        client.request(3, "_waits behind")
        await stuck.wait()
        client.notify("$/cancel_request", {"requestId": 3})
        answer = await client.hear()
        assert (answer["id"], answer["error"]["code"]) == (3, -32800)
        client.notify("$/cancel_request", {"requestId": 2})
        answer = await client.hear()
        assert (answer["id"], answer["error"]["code"]) == (2, -32800)
        client.notify("_after")
        assert (await agent.hear())["method"] == "_after"


async def test_a_function_that_waits_for_an_agent_that_goes_is_told() -> None:
    """Issue 5: both peers dying; nothing hangs."""
    proxy = Proxy()
    lost: list[ConnectionLost] = []

    @proxy.on_request("_a")
    async def a(message: Message, forward: Any) -> Any:
        return await forward(message)

    @proxy.on_request("_b")
    async def b(message: Message, forward: Any) -> Any:
        try:
            await message.agent.request("_x", {})
        except ConnectionLost as error:
            lost.append(error)
            raise

    async with around(proxy) as (client, agent, _, _):
        client.request(1, "_a")
        client.request(2, "_b")
        await agent.hear()
        await agent.hear()
        await agent.transport.aclose()
        answers = [await client.hear(), await client.hear()]
        assert {one["id"] for one in answers} == {1, 2}
        for one in answers:
            assert one["error"]["data"]["reason"] == "component_gone"
        assert lost


async def test_a_question_of_ours_that_nobody_waits_for_is_withdrawn() -> None:
    """Ours: a cancelled wait cancels what it waited for."""
    proxy = Proxy()

    @proxy.on_request("_a")
    async def a(message: Message, forward: Any) -> Any:
        with anyio.move_on_after(0):
            await message.agent.request("_slow", {})
        return {}

    async with around(proxy) as (client, agent, _, _):
        client.request(1, "_a")
        asked = await agent.hear()
        cancel = await agent.hear()
        assert cancel["params"] == {"requestId": asked["id"]}
        assert (await client.hear())["id"] == 1

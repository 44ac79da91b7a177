"""What the functions of a proxy can do with messages, and what they cannot break."""

from typing import Any

import anyio
import pytest

from accord.errors import LocalProtocolError, RequestError
from accord.proxy import Proxy
from accord.proxy.message import Message, Neighbour, Response
from tests.proxy.wires import around, chunk, settled

pytestmark = pytest.mark.anyio


async def test_a_request_can_be_changed_on_its_way_and_its_answer_too() -> None:
    """Issue 5: a component in a few lines."""
    proxy = Proxy("polite")

    @proxy.on_request("session/prompt")
    async def prompt(message: Message, forward: Any) -> Any:
        message.params["prompt"].append({"type": "text", "text": "please"})
        answer = await forward(message)
        answer["_meta"] = {"polite": True}
        return answer

    async with around(proxy) as (client, agent, _, _):
        client.request(3, "session/prompt", {"sessionId": "s", "prompt": []})
        asked = await agent.hear()
        assert asked["params"]["prompt"] == [{"type": "text", "text": "please"}]
        agent.answer(asked["id"], {"stopReason": "end_turn"})
        answer = await client.hear()
        assert answer["result"] == {"stopReason": "end_turn", "_meta": {"polite": True}}


async def test_a_function_that_only_looks_leaves_the_bytes_alone() -> None:
    """Issue 5: the bytes that came, as far as nobody changed them."""
    proxy = Proxy()
    seen: list[Any] = []

    @proxy.on_request("_look")
    async def look(message: Message, forward: Any) -> Any:
        seen.append(message.params["n"])
        answer = await forward(message)
        seen.append(answer["m"])
        return answer

    @proxy.on_notification("_note")
    def note(message: Message) -> None:
        seen.append(message.params["n"])

    async with around(proxy) as (client, agent, _, _):
        client.write(b'{"jsonrpc":"2.0","id":1,"method":"_look","params":{"n" : 1.50}}')
        assert b'{"n" : 1.50}' in await agent.line()
        agent.write(b'{"jsonrpc":"2.0","id":1,"result":{ "m":2.50}}')
        assert b'{ "m":2.50}' in await client.line()
        agent.write(b'{"jsonrpc":"2.0", "method":"_note","params":{"n" : 3.50}}')
        assert await client.line() == b'{"jsonrpc":"2.0", "method":"_note","params":{"n" : 3.50}}'
        assert seen == [1.5, 2.5, 3.5]


async def test_a_function_can_answer_by_itself_or_refuse() -> None:
    """Issue 5: or answer itself."""
    proxy = Proxy()

    @proxy.on_request("_mine")
    def mine(message: Message) -> Any:
        return {"of": message.params["n"]}

    @proxy.on_request("_never")
    def never(message: Message) -> Any:
        raise RequestError.permission_denied("not here")

    @proxy.on_request("_changed")
    def changed(message: Message) -> None:
        message.params["n"] += 1

    async with around(proxy) as (client, agent, _, _):
        client.request(1, "_mine", {"n": 5})
        assert (await client.hear())["result"] == {"of": 5}
        client.request(2, "_never")
        error = (await client.hear())["error"]
        assert (error["code"], error["message"]) == (-32052, "not here")
        client.request(3, "_changed", {"n": 5})
        assert (await agent.hear())["params"] == {"n": 6}


async def test_a_function_that_cannot_read_params_refuses_them() -> None:
    """Ours: Python has no number for 1e400; who does not look passes it."""
    proxy = Proxy()

    @proxy.on_request("_look")
    def look(message: Message) -> None:
        assert message.params

    async with around(proxy) as (client, _, _, _):
        client.write(b'{"jsonrpc":"2.0","id":1,"method":"_look","params":{"n":1e400}}')
        assert (await client.hear())["error"]["code"] == -32602


async def test_a_function_that_fails_costs_its_request_and_says_whose_it_is(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Issue 5: an error naming the proxy, and the connection goes on."""
    proxy = Proxy("clumsy")

    @proxy.on_request("_now")
    def now(message: Message) -> Any:
        return 1 / 0

    @proxy.on_request("_later")
    async def later(message: Message, forward: Any) -> Any:
        await forward(message)
        return object()

    @proxy.on_notification("_note")
    def note(message: Message) -> None:
        raise ValueError("secret detail")

    @proxy.on_response("_seen")
    def seen(response: Response) -> None:
        raise ValueError("too")

    async with around(proxy) as (client, agent, _, _):
        client.request(1, "_now")
        error = (await client.hear())["error"]
        assert error["code"] == -32603
        assert "'clumsy'" in error["message"]
        assert error["data"]["proxy"] == "clumsy"
        client.request(2, "_later")
        agent.answer((await agent.hear())["id"], {})
        assert "'clumsy'" in (await client.hear())["error"]["message"]
        client.notify("_note")
        client.request(3, "_seen")
        asked = await agent.hear()
        assert asked["method"] == "_seen"
        agent.answer(asked["id"], {})
        assert "'clumsy'" in (await client.hear())["error"]["message"]
        client.notify("_after")
        assert (await agent.hear())["method"] == "_after"
    assert "secret detail" in capfd.readouterr().err


async def test_updates_are_chosen_by_kind_and_changed_replaced_or_dropped() -> None:
    """Issue 5: handlers for the messages it cares about."""
    proxy = Proxy()

    @proxy.on_update("agent_message_chunk")
    def louder(update: dict[str, Any]) -> Any:
        text = update["content"]["text"]
        if text == "drop":
            return False
        if text == "other":
            return {"sessionUpdate": "plan", "entries": []}
        update["content"]["text"] = text.upper()
        return None

    async with around(proxy) as (client, agent, _, _):
        agent.notify("session/update", chunk("hello"))
        assert (await client.hear())["params"] == chunk("HELLO")
        agent.notify("session/update", chunk("drop"))
        agent.notify("session/update", chunk("other"))
        assert (await client.hear())["params"]["update"]["sessionUpdate"] == "plan"
        other = b'{"jsonrpc":"2.0", "method":"session/update","params":%b}'
        other %= b'{"update":{"sessionUpdate":"x"}}'
        agent.write(other, b'{"jsonrpc":"2.0", "method":"session/update","params":{"n":1}}')
        assert await client.line() == other
        assert (await client.hear())["params"] == {"n": 1}


async def test_responses_can_be_changed_by_functions_that_wait_or_not() -> None:
    """Issue 5: on_response."""
    proxy = Proxy()

    @proxy.on_response("session/new")
    def first(response: Response) -> None:
        response.result["first"] = response.request.params["cwd"]

    @proxy.on_response("session/new", of="client")
    async def second(response: Response) -> None:
        await anyio.lowlevel.checkpoint()
        response.result = {**response.result, "second": True}

    async with around(proxy) as (client, agent, _, _):
        client.request(1, "session/new", {"cwd": "/x"})
        asked = await agent.hear()
        agent.answer(asked["id"], {"sessionId": "s"})
        agent.notify("session/update", chunk("a"))
        assert (await client.hear())["result"] == {"sessionId": "s", "first": "/x", "second": True}
        assert (await client.hear())["method"] == "session/update"


async def test_functions_that_cannot_be_called_are_refused_when_they_are_given() -> None:
    """Ours: a mistake of the program is told at once."""
    proxy = Proxy()

    async def none() -> None: ...
    def not_async(message: Message, forward: Any) -> None: ...
    def good(*messages: Message) -> None: ...

    with pytest.raises(LocalProtocolError, match=r"\(message\) or \(message, forward\)"):
        proxy.on_request("_x")(none)
    with pytest.raises(LocalProtocolError, match="async def"):
        proxy.on_request("_x")(not_async)
    with pytest.raises(LocalProtocolError, match="'client' or 'agent'"):
        proxy.on_notification("_x", of="nobody")(good)  # type: ignore[arg-type]
    proxy.on_request("_x", of="client")(none_of := lambda message: None)
    with pytest.raises(LocalProtocolError, match="already"):
        proxy.on_request("_x")(none_of)

    async def late(client: Neighbour) -> None: ...

    with pytest.raises(LocalProtocolError, match="must not be"):
        proxy.on_end()(late)


async def test_all_requests_and_all_notifications_can_be_looked_at() -> None:
    """Ours: `*`, for whoever watches everything."""
    proxy = Proxy()
    seen: list[str] = []

    @proxy.on_request("*", of="client")
    async def any_request(message: Message) -> None:
        seen.append(message.method)

    @proxy.on_notification("*", of="agent")
    def any_notification(message: Message) -> None:
        seen.append(message.method)

    async with around(proxy) as (client, agent, _, _):
        client.request(1, "_a")
        agent.notify("_b")
        assert (await agent.hear())["method"] == "_a"
        assert (await client.hear())["method"] == "_b"
        assert sorted(seen) == ["_a", "_b"]


async def test_the_client_can_be_told_something_when_the_agent_has_gone(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Ours: whoever keeps something back says it then; one that fails costs nothing else."""
    proxy = Proxy("p")

    @proxy.on_end()
    def fails(client: Neighbour) -> None:
        raise ValueError(client)

    @proxy.on_end()
    def last(client: Neighbour) -> None:
        client.notify("_x/last", {})

    async with around(proxy) as (client, agent, _, ended):
        agent.notify("_x/first")
        assert (await client.hear())["method"] == "_x/first"
        await agent.transport.aclose()
        assert (await client.hear())["method"] == "_x/last"
        await settled(lambda: ended)
        assert ended[0][0] == "agent"
    assert "'p' failed at the end of the conversation" in capfd.readouterr().err


async def test_jobs_beside_the_messages_may_fail_alone(capfd: pytest.CaptureFixture[str]) -> None:
    """Ours: the conversation goes on."""
    proxy = Proxy("busy")

    @proxy.on_notification("_go")
    def go(message: Message) -> None:
        async def job(text: str) -> None:
            message.agent.notify("_job", {"text": text})
            raise ValueError("the job failed")

        message.conversation.start_soon(job, "hi")

    async with around(proxy) as (client, agent, _, _):
        client.notify("_go")
        heard = [(await agent.hear())["method"] for _ in range(2)]
        assert sorted(heard) == ["_go", "_job"]
        await settled(lambda: True)
    assert "the job failed" in capfd.readouterr().err

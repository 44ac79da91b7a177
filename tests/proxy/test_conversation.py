"""A proxy without handlers: bytes, ids, order, cancellation, ends."""

import json
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.proxy import Proxy
from accord.transport.transport import BACKLOG_BYTES_MAX
from tests.proxy.wires import Json, around, settled

pytestmark = pytest.mark.anyio

ODD = (
    b'{"jsonrpc":"2.0", "method":"session/update","_x":1, "params":'
    b'{"sessionId":"s","n":1e400,"big":123456789012345678901234567890,"_meta":{"a":[1.0]}}}'
)


async def test_a_notification_passes_as_the_bytes_that_came() -> None:
    """Issue 5: everything else forwarded as the bytes that came, `_meta` and all."""
    async with around(Proxy()) as (client, agent, _, _):
        agent.write(ODD)
        assert await client.line() == ODD
        client.write(ODD)
        assert await agent.line() == ODD


async def test_a_request_keeps_the_bytes_of_its_params_and_of_its_result() -> None:
    """Issue 5: ids are mapped, the rest is not touched."""
    params = b'{"n":1e400, "deep":{"x" : [1.50]}}'
    async with around(Proxy()) as (client, agent, _, _):
        client.write(b'{"jsonrpc":"2.0","id":"abc","method":"_odd","params":' + params + b"}")
        line = await agent.line()
        assert params in line
        call_id = json.loads(line)["id"]
        agent.write(b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (call_id, params))
        answer = await client.line()
        assert answer == b'{"jsonrpc":"2.0","id":"abc","result":' + params + b"}"


async def test_an_error_comes_back_with_its_code_its_text_and_its_data() -> None:
    """Issue 5: an error is an answer like any other."""
    async with around(Proxy()) as (client, agent, _, _):
        client.request(7, "session/new")
        asked = await agent.hear()
        error = {"code": -32000, "message": "log in", "data": {"authMethods": [], "x": None}}
        agent.say({"id": asked["id"], "error": error})
        assert await client.hear() == {"jsonrpc": "2.0", "id": 7, "error": error}


async def test_a_request_without_params_stays_one() -> None:
    """Ours: what was not said is not made up."""
    async with around(Proxy()) as (client, agent, _, _):
        client.say({"id": 1, "method": "_x"})
        assert "params" not in await agent.hear()


@pytest.mark.rule("V1-PROXY-04")
async def test_a_cancellation_names_the_id_that_the_next_hop_knows() -> None:
    """The protocol: ids are of one wire; cancelling goes from hop to hop."""
    async with around(Proxy()) as (client, agent, _, _):
        client.request("my id", "session/prompt")
        asked = await agent.hear()
        client.notify("session/update")
        client.notify("$/cancel_request", {"requestId": "my id", "_meta": {"why": 1}})
        assert (await agent.hear())["method"] == "session/update"
        cancel = await agent.hear()
        assert cancel["method"] == "$/cancel_request"
        assert cancel["params"] == {"requestId": asked["id"], "_meta": {"why": 1}}
        client.notify("$/cancel_request", {"requestId": "other id"})
        client.notify("$/cancel_request", {"requestId": [1]})
        client.notify("_after")
        assert (await agent.hear())["method"] == "_after"


@pytest.mark.parametrize("version", [1, 2])
async def test_null_as_an_id_is_refused_once_v2_is_agreed(version: int) -> None:
    """The protocol: v2 has no such ids, v1 has."""
    capabilities = "agentCapabilities" if version == 1 else "capabilities"
    async with around(Proxy()) as (client, agent, _, _):
        client.request(1, "initialize")
        asked = await agent.hear()
        agent.answer(asked["id"], {"protocolVersion": version, capabilities: {}})
        await client.hear()
        client.request(None, "_x")
        if version == 1:
            agent.answer((await agent.hear())["id"], {})
            assert (await client.hear())["id"] is None
        else:
            assert (await client.hear())["error"]["code"] == -32600


async def test_a_question_about_a_request_names_it_as_its_asker_does() -> None:
    """The protocol: `elicitation/create` may name the request that it is about."""
    async with around(Proxy()) as (client, agent, _, _):
        client.request("mine", "authenticate")
        asked = await agent.hear()
        agent.request(1, "elicitation/create", {"mode": "url", "requestId": asked["id"]})
        assert (await client.hear())["params"] == {"mode": "url", "requestId": "mine"}
        agent.request(2, "elicitation/create", {"mode": "url", "requestId": 99})
        assert (await agent.hear())["error"]["code"] == -32602
        agent.request(3, "elicitation/create", {"mode": "form", "sessionId": "s"})
        assert (await client.hear())["params"] == {"mode": "form", "sessionId": "s"}


async def test_when_the_agent_goes_open_requests_are_answered_behind_its_last_words() -> None:
    """Issue 5: nothing hangs, and nothing is lost that was read."""
    async with around(Proxy()) as (client, agent, _, ended):
        client.request(1, "session/prompt")
        await agent.hear()
        agent.notify("session/update", {"n": 1})
        await agent.transport.aclose()
        assert (await client.hear())["params"] == {"n": 1}
        answer = await client.hear()
        assert answer["id"] == 1
        assert answer["error"]["code"] == -32603
        assert "the agent is gone" in answer["error"]["message"]
        assert answer["error"]["data"]["component"] == "the agent"
        await client.close()
        await settled(lambda: ended)
        assert ended[0][0] == "agent"


async def test_when_the_client_goes_the_agent_is_closed() -> None:
    """Issue 5: both peers dying is handled."""
    async with around(Proxy()) as (client, agent, _, ended):
        client.request(1, "session/prompt")
        await agent.hear()
        await client.transport.aclose()
        await agent.close()
        await settled(lambda: ended)
        assert ended[0][0] == "client"


async def test_a_line_that_is_no_message_is_answered_here_and_goes_nowhere() -> None:
    """Ours: the other side is never sent something that is not a message."""
    async with around(Proxy()) as (client, agent, _, _):
        client.write(b"hello", b"[]", b"", b'{"jsonrpc":"2.0","id":5,"result":{}}')
        client.notify("_after")
        assert (await client.hear())["error"]["code"] == -32700
        assert (await client.hear())["error"]["code"] == -32600
        assert (await agent.hear())["method"] == "_after"


async def test_a_frame_over_the_limit_ends_the_connection_with_answers() -> None:
    """Ours: every buffer has a bound."""
    async with around(Proxy(frame_bytes_max=1000)) as (client, agent, _, _):
        client.request(1, "session/prompt")
        await agent.hear()
        agent.transport.write(b"x" * 200_000)
        answer = await client.hear()
        assert "too long" in answer["error"]["message"]
        await client.close()
        await agent.close()


async def test_a_client_that_does_not_read_is_not_sent_more_than_a_bound() -> None:
    """Issue 5: the reading side pauses while the other is backed up."""
    async with around(Proxy()) as (client, agent, _, _):
        client.transport.pause()
        line = b'{"jsonrpc":"2.0","method":"_x","params":{"t":"%b"}}' % (b"x" * 10_000)
        for _ in range(50):
            agent.write(*([line] * 10))
            await anyio.wait_all_tasks_blocked()
        waiting = agent.transport.backlog
        assert waiting > 3_000_000
        client.transport.resume()
        for _ in range(500):
            assert await client.line() == line
        assert agent.transport.backlog < BACKLOG_BYTES_MAX


async def test_content_length_framing_is_spoken_with_whoever_speaks_it() -> None:
    """Ours: an agent answers in the framing that it hears, and so does a proxy."""
    async with around(Proxy()) as (client, agent, _, _):
        body = b'{"jsonrpc":"2.0","method":"_x",\n"params":{"a":1}}'
        client.transport.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert (await agent.hear())["params"] == {"a": 1}
        agent.notify("_y")
        assert (await client.line()).startswith(b"Content-Length")


_scripts = st.lists(
    st.tuples(st.sampled_from("cas"), st.sampled_from(["request", "notify", "answer", "cancel"])),
    max_size=40,
)


@given(_scripts, st.randoms(use_true_random=False))
def test_in_any_conversation_ids_fit_and_order_is_kept(
    script: list[tuple[str, str]], random: Any
) -> None:
    """Issue 5: ids mapped per hop, order kept, each request answered once with its own answer."""
    anyio.run(_converse, script, random)


async def _converse(script: list[tuple[str, str]], random: Any) -> None:
    async with around(Proxy()) as (client, agent, _, _):
        sides = {"c": client, "a": agent, "s": client}
        said: dict[str, list[Json]] = {"c": [], "a": []}
        open_at: dict[str, list[Json]] = {"c": [], "a": []}
        for number, (who, what) in enumerate(script):
            who = "c" if who == "s" else who
            me, you = sides[who], "a" if who == "c" else "c"
            if what == "request":
                request_id = random.choice([number, f"id {number}"])
                me.request(request_id, f"_m{number}", {"n": number})
                said[who].append({"n": number, "id": request_id})
                heard = await sides[you].hear()
                assert heard["method"] == f"_m{number}"
                open_at[you].append({**heard, "asker": who, "first": request_id})
            elif what == "notify":
                me.notify("_n", {"n": number})
                assert (await sides[you].hear())["params"] == {"n": number}
            elif what == "answer" and open_at[who]:
                one = open_at[who].pop(random.randrange(len(open_at[who])))
                me.answer(one["id"], {"of": one["params"]["n"]})
                heard = await sides[you].hear()
                assert heard["id"] == one["first"]
                assert type(heard["id"]) is type(one["first"])
                assert heard["result"] == {"of": one["params"]["n"]}
            elif what == "cancel" and open_at[you]:
                one = random.choice(open_at[you])
                me.notify("$/cancel_request", {"requestId": one["first"]})
                assert (await sides[you].hear())["params"]["requestId"] == one["id"]
        assert not client.unheard()
        assert not agent.unheard()

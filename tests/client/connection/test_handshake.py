"""The handshake: what the client asks for, and what it makes of every answer."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.client import Client, Implementation
from accord.connection.limits import Limits
from accord.errors import (
    ConnectionLost,
    LocalProtocolError,
    RemoteProtocolError,
    RequestFailed,
    VersionMismatch,
)
from tests.client.scripted_agent import (
    BARE,
    V1_ANSWER,
    V2_ANSWER,
    ScriptedAgent,
    connected,
    playing,
)


async def idle(agent: ScriptedAgent) -> None:
    """A script that does nothing."""


async def agreed(answer: dict[str, Any], **options: Any) -> tuple[Client, dict[str, Any]]:
    """The client after an answer, and the request that it sent."""
    request: dict[str, Any] = {}

    async def script(agent: ScriptedAgent) -> None:
        request.update(await agent.shake_hands(answer))

    async with (
        playing(script) as (_, transport),
        Client.connect(transport, **{**BARE, **options}) as client,
    ):
        return client, request["params"]


@pytest.mark.rule("V1-INIT-01", "V1-INIT-02", "V1-INIT-03", "V1-CAP-03", "V2-INIT-01")
async def test_the_first_message_names_the_newest_version_in_the_words_of_both() -> None:
    """The draft's table 1.2: one initialize, keys of v1 and v2 side by side."""
    info = Implementation("editor", "1.2", "The Editor")
    _, params = await agreed(V1_ANSWER, info=info)
    named = {"name": "editor", "version": "1.2", "title": "The Editor"}
    assert params["protocolVersion"] == 2
    assert params["info"] == params["clientInfo"] == named
    assert params["capabilities"] == {}
    assert params["clientCapabilities"]["session"]["configOptions"] == {"boolean": {}}
    assert "fs" not in params["clientCapabilities"]


async def test_a_client_of_one_version_sends_the_keys_of_that_version_alone() -> None:
    """Ours: for agents that refuse keys which they do not know."""
    client, params = await agreed(V1_ANSWER, versions=(1,))
    assert set(params) == {"protocolVersion", "clientInfo", "clientCapabilities"}
    assert (params["protocolVersion"], client.protocol_version) == (1, 1)
    _, params = await agreed(V2_ANSWER, versions=(2,))
    assert set(params) == {"protocolVersion", "info", "capabilities"}


@pytest.mark.rule("V1-INIT-09", "V2-GEN-04")
@pytest.mark.parametrize(
    ("answer", "version"),
    [
        (V1_ANSWER, 1),
        (V2_ANSWER, 2),
        ({**V1_ANSWER, "protocolVersion": 2}, 1),
        ({"protocolVersion": 1}, 1),
        ({"protocolVersion": 2, "authMethods": []}, 1),
        ({**V2_ANSWER, "protocolVersion": 1}, 2),
    ],
    ids=["v1", "v2", "v1 that echoes 2", "only a version", "only an echo", "v2 that says 1"],
)
async def test_the_shape_of_the_answer_decides(answer: dict[str, Any], version: int) -> None:
    """The draft's table 1.2: agents that echo the number are met every day."""
    client, _ = await agreed(answer)
    assert client.protocol_version == version


@pytest.mark.rule("V1-INIT-08", "V2-INIT-04")
@pytest.mark.parametrize("version", [0, 3, 42])
async def test_a_version_that_we_do_not_speak_closes_the_connection(version: int) -> None:
    """D1 initialization: close, tell the user, send nothing more."""
    agents: list[ScriptedAgent] = []

    async def script(agent: ScriptedAgent) -> None:
        agents.append(agent)
        await agent.shake_hands({**V1_ANSWER, "protocolVersion": version})
        await agent.ended.wait()

    async with playing(script) as (_, transport):
        with pytest.raises(VersionMismatch, match=f"version {version}") as caught:
            async with Client.connect(transport, **BARE):
                pytest.fail("no version was agreed on")
    assert caught.value.supported == (version,)
    assert len(agents[0].received) == 1


@pytest.mark.rule("V1-INIT-10")
@pytest.mark.parametrize("version", ["1", 1.5, -1, 70000, None])
async def test_a_version_that_is_no_version_is_the_agents_mistake(version: object) -> None:
    """N1 ProtocolVersion: an integer from 0 to 65535."""
    with pytest.raises(RemoteProtocolError):
        await agreed({**V1_ANSWER, "protocolVersion": version})


@pytest.mark.parametrize("answer", [[], "no", 5, None, {}])
async def test_an_answer_that_is_none_is_the_agents_mistake(answer: Any) -> None:
    """Ours: bad input is an error that says what came."""

    async def script(agent: ScriptedAgent) -> None:
        agent.result(await agent.expect("initialize"), answer)

    async with playing(script) as (_, transport):
        with pytest.raises(RemoteProtocolError):
            async with Client.connect(transport, **BARE):
                pytest.fail("nothing was agreed on")


async def refused(code: int, message: str, data: Any = None) -> None:
    async def script(agent: ScriptedAgent) -> None:
        while True:
            agent.error(await agent.expect("initialize"), code, message, data)

    async with playing(script) as (_, transport), Client.connect(transport, **BARE):
        pytest.fail("initialize was refused")


async def test_a_refusal_of_the_version_says_what_the_agent_supports() -> None:
    """The draft's table 1.2: -32022."""
    with pytest.raises(VersionMismatch, match="supports 3, 4") as caught:
        await refused(-32022, "no", {"requested": 2, "supported": [3, 4]})
    assert caught.value.supported == (3, 4)


async def test_a_refusal_of_the_params_says_what_to_try() -> None:
    """The draft's table 1.2: -32602 is a strict peer or the draft."""
    with pytest.raises(RequestFailed) as caught:
        await refused(-32602, "unknown key")
    assert caught.value.code == -32602
    assert "versions=(1,)" in caught.value.__notes__[0]


async def test_an_agent_that_does_not_answer_is_ended_in_time() -> None:
    """Design: 30 s by default."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("initialize")
        await agent.ended.wait()

    async with playing(script) as (_, transport):
        with pytest.raises(ConnectionLost, match=r"initialize within 0\.05 s"):
            async with Client.connect(transport, limits=Limits(initialize_seconds=0.05), **BARE):
                pytest.fail("it never answered")


async def test_an_agent_that_ends_before_its_answer_is_lost() -> None:
    """Issue 2: the error says what happened."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("initialize")
        await agent.transport.aclose()

    async with playing(script) as (_, transport):
        with pytest.raises(ConnectionLost, match="the peer closed the connection"):
            async with Client.connect(transport, **BARE):
                pytest.fail("it is gone")


@pytest.mark.rule("V1-GEN-12", "V1-GEN-13", "V2-AUTH-06")
async def test_what_the_agent_says_about_itself_is_read_tolerantly() -> None:
    """N1 x-deserialize marks: malformed counts as absent, bad items are skipped."""
    answer = {
        **V1_ANSWER,
        "agentInfo": 5,
        "authMethods": [{"id": "a", "name": "A"}, 7, {"id": "t", "name": "T", "type": "terminal"}],
    }
    client, _ = await agreed(answer)
    assert client.agent_info is None
    assert [(m.method_id, m.kind) for m in client.auth_methods] == [
        ("a", "agent"),
        ("t", "terminal"),
    ]
    answer = {
        **V2_ANSWER,
        "authMethods": [
            {"type": "agent", "methodId": "a", "name": "A"},
            {"type": "_x", "methodId": "x", "name": "X", "secret": 1},
            {"type": "_y"},
        ],
    }
    client, _ = await agreed(answer)
    assert client.agent_info == Implementation("scripted", "2")
    assert [(m.method_id, m.kind) for m in client.auth_methods] == [("a", "agent"), ("x", "_x")]


@pytest.mark.rule("V1-CAP-01", "V2-INIT-09")
async def test_capabilities_count_as_each_version_says() -> None:
    """v1: true or an object; v2: an object and nothing else."""
    odd = {"loadSession": 1, "promptCapabilities": {"image": True, "audio": "yes"}}
    client, _ = await agreed({"protocolVersion": 1, "agentCapabilities": odd})
    found = client.capabilities
    assert (found.load, found.image, found.audio, found.close) == (False, True, False, False)
    assert (found.sessions, found.mcp_stdio) == (True, True)
    session = {"prompt": {"image": True, "audio": {}}}
    client, _ = await agreed({**V2_ANSWER, "capabilities": {"session": session}})
    found = client.capabilities
    assert (found.load, found.image, found.audio, found.delete) == (True, False, True, False)
    assert not found.mcp_stdio


@pytest.mark.rule("V2-INIT-11")
async def test_an_agent_without_sessions_is_not_asked_for_one() -> None:
    """N2 AgentCapabilities.session."""
    client, _ = await agreed({**V2_ANSWER, "capabilities": {}})
    with pytest.raises(LocalProtocolError, match="does not offer sessions"):
        await client.new_session()


@pytest.mark.rule("V1-SESS-01", "V2-SESS-01")
async def test_requests_of_the_agent_before_its_answer_are_refused() -> None:
    """Ours, as the agent's side must do it too: nothing is served before the handshake."""

    async def script(agent: ScriptedAgent) -> None:
        request = await agent.expect("initialize")
        asked = agent.request("session/request_permission", {})
        answer = await agent.answer_to(asked)
        assert answer["error"]["code"] == -32600
        agent.update({"sessionUpdate": "plan", "entries": []})
        agent.result(request, V1_ANSWER)

    async with playing(script) as (_, transport), Client.connect(transport, **BARE) as client:
        assert client.protocol_version == 1


async def test_what_comes_in_the_chunk_of_the_answer_is_already_served() -> None:
    """Ours: the version is agreed on in wire order, not when a task wakes up."""
    done = anyio.Event()

    async def script(agent: ScriptedAgent) -> None:
        request = await agent.expect("initialize")
        agent.write(
            {"jsonrpc": "2.0", "id": request["id"], "result": V1_ANSWER},
            {"jsonrpc": "2.0", "id": 9, "method": "_x/y", "params": {}},
        )
        answer = await agent.next()
        assert answer["error"] == {
            "code": -32601,
            "message": "Method not found: _x/y",
            "data": {"method": "_x/y"},
        }
        done.set()

    async with playing(script) as (_, transport), Client.connect(transport, **BARE):
        await done.wait()


async def test_the_blocks_own_exception_comes_out_as_it_went_in() -> None:
    """Ours: nobody can catch an exception group by the class of what is in it."""
    with pytest.raises(KeyError):
        async with connected(idle):
            raise KeyError("mine")


async def test_options_that_cannot_be_are_refused() -> None:
    """Issue 2, bad input: an error that names the mistake, before anything is sent."""
    async with playing(idle) as (agent, transport):
        for options, word in [
            ({"versions": (3,)}, "versions"),
            ({"versions": ()}, "versions"),
            ({"framing": "xml"}, "framing"),
            ({"permisions": 1}, "permisions"),
        ]:
            with pytest.raises(LocalProtocolError, match=word):
                Client.connect(transport, **options)  # type: ignore[arg-type]
        with pytest.raises(LocalProtocolError, match="empty"):
            Client.spawn()
        assert agent.received == []

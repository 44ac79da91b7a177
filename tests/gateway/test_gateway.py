"""Sessions that outlive connections, processes and the gateway itself."""

from typing import Any

import anyio
import pytest

from accord import Agent, RequestFailed, Turn
from accord.gateway.engine.memory import MemoryDisk
from tests.gateway.hosting import echoing_agent, hosting
from tests.gateway.sessions.test_hosted_session import texts, until

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("version", [1, 2])
async def test_a_session_outlives_its_connection(version: int) -> None:
    """Issue 17: a client comes back to its session from another device."""
    async with hosting(echoing_agent()) as one:
        wire = await one.raw("ann", version=version)
        wire.request(1, "session/new", {"cwd": "/", "mcpServers": []})
        session_id = (await reply(wire, 1))["result"]["sessionId"]
        await wire.transport.aclose()
        ann = await one.client("ann", version=version)
        session = await ann.load_session(session_id, cwd="/")
        await session.ask("again")
        assert texts(session) == ["again", "you said again"]


async def test_a_client_that_comes_back_starts_no_process() -> None:
    """Nor does one that only looks: thousands may be connected."""
    async with hosting(echoing_agent()) as one:
        wire = await one.raw("ann")
        wire.request(1, "session/new", {"cwd": "/", "mcpServers": []})
        session_id = (await reply(wire, 1))["result"]["sessionId"]
        # One for the question which version the agent speaks, and one for the session.
        assert len(one.processes) == 2
        again = await one.raw("ann")
        again.request(1, "session/list")
        assert (await reply(again, 1))["result"]["sessions"][0]["sessionId"] == session_id
        again.request(2, "session/load", {"sessionId": session_id, "cwd": "/", "mcpServers": []})
        assert "result" in await reply(again, 2)
        assert len(one.processes) == 2


async def reply(wire: Any, request_id: Any) -> Any:
    """The answer to a request, whatever is said before it."""
    while True:
        message = await wire.hear()
        if message.get("id") == request_id and "method" not in message:
            return message


async def test_a_turn_goes_on_while_nobody_is_connected() -> None:
    """Issue 17: what was said meanwhile is there when somebody comes back."""
    go = anyio.Event()
    agent = Agent("slow", version="1")

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        await turn.say("begun")
        await go.wait()
        await turn.say("done")

    async with hosting(agent) as one:
        wire = await one.raw("ann", version=2)
        wire.request(1, "session/new", {"cwd": "/"})
        session_id = (await reply(wire, 1))["result"]["sessionId"]
        params = {"sessionId": session_id, "prompt": [{"type": "text", "text": "work"}]}
        wire.request(2, "session/prompt", params)
        await reply(wire, 2)
        await wire.transport.aclose()
        go.set()
        ann = await one.client("ann")
        session = await ann.load_session(session_id, cwd="/")
        await until(session, "work", "begun", "done")


async def test_when_the_process_dies_the_request_ends_and_the_session_goes_on() -> None:
    """Issue 17: one clear error; the next prompt starts the agent again."""
    async with hosting(echoing_agent()) as one:
        ann = await one.client("ann")
        session = await ann.new_session(cwd="/")
        await session.ask("before")
        async with session.prompt("wait") as turn:
            await until(session, "wait", "waiting")
            await one.kill()
            with pytest.raises(RequestFailed, match="agent is gone"):
                await turn.wait()
        await session.ask("after")
        assert texts(session)[-2:] == ["after", "you said after"]


async def test_an_agent_that_cannot_load_says_so_when_its_process_has_ended() -> None:
    """A v1 agent without loadSession: the error tells what to do."""
    async with hosting(echoing_agent()) as one:
        one.hosted._connect = without_load(one.hosted._connect)
        ann = await one.client("ann", version=1)
        session = await ann.new_session(cwd="/")
        await session.ask("before")
        await one.kill()
        with pytest.raises(RequestFailed, match="start a new one"):
            await session.ask("after")


def without_load(connect: Any) -> Any:
    """An agent of v1 that can neither load nor resume."""
    from accord.proxy import Proxy
    from accord.transport.memory import memory_pair

    proxy = Proxy("forgetful")

    @proxy.on_request("initialize")
    async def initialize(message: Any, forward: Any) -> Any:
        message.params["protocolVersion"] = 1
        message.params.pop("info", None)
        message.params.pop("capabilities", None)
        message.params.setdefault("clientCapabilities", {})
        answer = await forward(message)
        answer["agentCapabilities"].pop("loadSession", None)
        answer["agentCapabilities"].get("sessionCapabilities", {}).pop("resume", None)
        return answer

    class Between:
        def __init__(self, agent: Any) -> None:
            self.agent = agent
            self.near, self.far = memory_pair()

        def __getattr__(self, name: str) -> Any:
            return getattr(self.near, name)

        async def start(self, receiver: Any, tasks: Any) -> None:
            tasks.start_soon(proxy.serve, self.far, self.agent)
            await self.near.start(receiver, tasks)

    return lambda folder: Between(connect(folder))


async def test_the_process_of_a_session_that_nobody_follows_ends_after_the_grace_time() -> None:
    """Issue 17: parked, and brought back by resume."""
    async with hosting(echoing_agent(), grace_seconds=0.0) as one:
        wire = await one.raw("ann", version=2)
        wire.request(1, "session/new", {"cwd": "/"})
        session_id = (await reply(wire, 1))["result"]["sessionId"]
        await wire.transport.aclose()
        while one.gateway.sessions.live:
            await anyio.sleep(0)
        assert one.gateway.processes.count("test") == 0
        ann = await one.client("ann")
        session = await ann.load_session(session_id, cwd="/")
        await session.ask("back")
        assert texts(session) == ["back", "you said back"]


async def test_after_a_restart_everything_that_was_shown_is_there() -> None:
    """Issue 17: and a turn that ran is said to have been interrupted, once."""
    disk = MemoryDisk()
    agent = echoing_agent()
    async with hosting(agent, disk=disk) as one:
        ann = await one.client("ann")
        session = await ann.new_session(cwd="/")
        await session.ask("before")
        turn = session.prompt("wait")
        await turn.__aenter__()
        await until(session, "wait", "waiting")
        shown = texts(session)
        one.tasks.cancel_scope.cancel()
    for _ in range(2):
        async with hosting(agent, disk=disk) as one:
            ann = await one.client("ann")
            again = await ann.load_session(session.id, cwd="/")
            assert texts(again)[: len(shown)] == shown
            assert len([text for text in texts(again) if "interrupted" in text]) == 1
            await again.ask("after")


async def test_ids_that_an_agent_uses_twice_are_told_apart() -> None:
    """An agent may count its sessions from 1 in each process."""
    agent = echoing_agent()
    async with hosting(agent) as one:
        one.hosted._connect = counting(one.hosted._connect)
        ann, bob = await one.client("ann"), await one.client("bob")
        hers, his = await ann.new_session(cwd="/"), await bob.new_session(cwd="/")
        assert hers.id == "1"
        assert his.id != "1"
        assert (await hers.ask("one")).text == "you said one"
        assert (await his.ask("two")).text == "you said two"


def counting(connect: Any) -> Any:
    """Agents whose first session has the id 1."""
    from accord.proxy import Proxy
    from accord.transport.memory import memory_pair

    class Between:
        def __init__(self, agent: Any) -> None:
            self.agent = agent
            self.near, self.far = memory_pair()
            self.proxy = proxy = Proxy("counting")
            self.real = ""

            @proxy.on_request("session/new")
            async def new(message: Any, forward: Any) -> Any:
                answer = await forward(message)
                self.real, answer["sessionId"] = answer["sessionId"], "1"
                return answer

            @proxy.on_request("session/prompt")
            async def prompt(message: Any, forward: Any) -> Any:
                message.params["sessionId"] = self.real
                return await forward(message)

            @proxy.on_notification("session/update")
            def update(message: Any) -> None:
                if message.params["sessionId"] == self.real:
                    message.params["sessionId"] = "1"

        def __getattr__(self, name: str) -> Any:
            return getattr(self.near, name)

        async def start(self, receiver: Any, tasks: Any) -> None:
            tasks.start_soon(self.proxy.serve, self.far, self.agent)
            await self.near.start(receiver, tasks)

    return lambda folder: Between(connect(folder))


async def test_programs_that_a_client_names_are_not_started() -> None:
    """Issue 17: refused with a clear error, never dropped in silence."""
    async with hosting(echoing_agent()) as one:
        one.hosted._connect = without_load(one.hosted._connect)
        wire = await one.raw("ann", version=1)
        server = {"name": "mine", "command": "/bin/sh", "args": [], "env": []}
        wire.request(1, "session/new", {"cwd": "/", "mcpServers": [server]})
        error = (await reply(wire, 1))["error"]
        assert error["code"] == -32602
        assert "'mine' would run a program" in error["message"]
        assert error["data"] == {
            "reason": "stdio_mcp_server",
            "server": "mine",
            "policy": "refused",
        }


async def test_a_v2_client_is_not_offered_to_name_programs() -> None:
    async with hosting(echoing_agent()) as one:
        ann = await one.client("ann")
        assert not ann.capabilities.mcp_stdio


async def test_files_are_asked_of_one_client_only() -> None:
    """Issue 17: the primary one."""
    async with hosting(echoing_agent()) as one:
        one.hosted._connect = without_load(one.hosted._connect)
        ann = await one.raw("ann", version=1, fs={"readTextFile": True})
        ann.request(1, "session/new", {"cwd": "/", "mcpServers": []})
        session_id = (await reply(ann, 1))["result"]["sessionId"]
        bob = await one.raw("ann", version=1, fs={"readTextFile": True})
        bob.request(1, "session/load", {"sessionId": session_id, "cwd": "/", "mcpServers": []})
        await reply(bob, 1)
        prompt = [{"type": "text", "text": "read"}]
        bob.request(2, "session/prompt", {"sessionId": session_id, "prompt": prompt})
        while (asked := await ann.hear()).get("method") != "fs/read_text_file":
            pass
        ann.answer(asked["id"], {"content": "the notes"})
        await reply(bob, 2)
        assert "the notes" in str(bob.lines)
        assert "fs/read_text_file" not in str(bob.lines)

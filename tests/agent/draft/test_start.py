"""The first exchange with a client of the 2026-02 draft, and what must never be mixed with it."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime
from typing import Any

import pytest

from accord.agent import Agent, Turn
from tests.agent.draft.draft_client import OFFER, draft_client, hello
from tests.agent.raw_client import initialize_params, raw_client
from tests.hang_limit import HANG_SECONDS


def talker(**more: Any) -> Agent:
    """An agent that answers."""
    agent = Agent("talker", version="3.1", **more)

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        await turn.say("hello")

    return agent


def with_settings() -> Agent:
    """An agent with modes and options."""
    agent = talker(accepts="embedded_context", mcp="http")
    agent.add_mode("ask", "Ask", "Asks for permission before changes")
    agent.add_mode("plan", "Plan")
    agent.add_option("model", "Model", ["small", "large"], category="model")
    agent.add_switch("autoApprove", "Approve")
    return agent


@pytest.mark.rule("D26-04")
async def test_the_offer_is_in_the_drafts_names_and_true() -> None:
    """The draft's table 3.1, 7: agentInfo, capabilities; modes and options are those there are."""
    async with draft_client(with_settings(), initialize=False) as client:
        result = await client.result("initialize", hello())
    assert result == {
        "protocolVersion": 1,
        "agentInfo": {"name": "talker", "version": "3.1"},
        "capabilities": {
            "loadSession": True,
            "mcpCapabilities": {"servers": True, "transport": ["stdio", "http"]},
            "promptCapabilities": {"streaming": True, "cancellation": True, "attachments": True},
            "sessionCapabilities": {
                # The official `ask` asks for permission; the draft's only answers questions.
                "modes": ["ask_permission", "plan"],
                "configOptions": ["model", "autoApprove"],
                "persistence": False,
            },
        },
    }


async def test_an_agent_without_embedded_content_says_so() -> None:
    """The draft's table 7: `attachments` is what v1 calls embedded context."""
    async with draft_client(talker(), initialize=False) as client:
        offer = (await client.result("initialize", hello()))["capabilities"]
    assert offer["promptCapabilities"]["attachments"] is False
    assert offer["sessionCapabilities"]["modes"] == []


async def test_what_an_agent_declares_behind_the_answer_is_in_it_for_the_draft() -> None:
    """Issue 5: capabilities say the truth, also those of the built-in agent."""
    agent = talker()
    runs: list[int] = []

    def declare() -> None:
        runs.append(1)
        agent.add_mode("code", "Code")

    agent.on_initialized(declare)
    async with draft_client(agent, initialize=False) as client:
        offer = (await client.result("initialize", hello()))["capabilities"]
        await client.new_session()
    assert offer["sessionCapabilities"]["modes"] == ["code"]
    assert runs == [1]


@pytest.mark.rule("D26-04")
@pytest.mark.parametrize("key", ["protocolVersion", "clientInfo"])
async def test_a_missing_key_is_refused(key: str) -> None:
    """Rules: D26-04; without `capabilities` it is a client of v1 (the draft's table 1.1 row 6)."""
    params = hello()
    del params[key]
    async with draft_client(talker(), initialize=False) as client:
        assert (await client.error("initialize", params))["code"] == -32602
        # And a second, good one is served.
        assert "capabilities" in await client.result("initialize", hello())


@pytest.mark.rule("D26-18")
async def test_a_client_that_lacks_what_the_agent_requires_is_refused_clearly() -> None:
    """The draft's table 3.1: -32007, and it says what is missing."""
    agent = talker(requires=("fs.readTextFile", "terminal", "_meta.pairing"))
    async with draft_client(agent, initialize=False) as client:
        offer = {"fs": {"read": True}, "terminal": {"create": False}, "_custom": {"pairing": True}}
        error = await client.error("initialize", hello(offer))
        assert error["code"] == -32007
        assert error["data"]["missing"] == ["terminal.create"]
        result = await client.result("initialize", hello(OFFER | {"_custom": {"pairing": {}}}))
        # Also when it is said a second time.
        assert (await client.error("initialize", hello(offer)))["code"] == -32007
    assert result["requiredClientCapabilities"] == {
        "fs": {"read": True},
        "terminal": {"create": True},
    }


@pytest.mark.rule("D26-18")
async def test_what_the_draft_does_not_have_cannot_be_required_of_its_clients() -> None:
    """The draft's table 7: elicitation is off."""
    async with draft_client(talker(requires="elicitation.form"), initialize=False) as client:
        assert (await client.error("initialize", hello()))["code"] == -32007


@pytest.mark.rule("D26-20")
@pytest.mark.parametrize(
    "method",
    ["session/list", "session/resume", "session/close", "session/delete", "logout", "_x/y",
     "session/fork", "auth/status", "providers/list", "session/set_model"],
)  # fmt: skip
async def test_methods_that_the_draft_lacks_do_not_exist(method: str) -> None:
    """The draft's table 3.8."""
    async with draft_client(talker(unstable=True)) as client:
        assert (await client.error(method, {}))["code"] == -32601


@pytest.mark.rule("D26-20")
async def test_methods_of_the_agents_own_are_served_and_advertised() -> None:
    """The draft's table 2: custom capabilities sit under `_custom`."""
    agent = talker()

    @agent.method("_vendor/double")
    async def double(params: dict[str, int]) -> int:
        return 2 * params["n"]

    async with draft_client(agent, initialize=False) as client:
        offer = (await client.result("initialize", hello()))["capabilities"]
        assert await client.result("_vendor/double", {"n": 4}) == 8
    assert offer["_custom"] == {"accord.extensions": {"methods": ["_vendor/double"]}}


@pytest.mark.rule("D26-19")
async def test_meta_is_ignored() -> None:
    """Rules: D26-19."""
    async with draft_client(talker()) as client:
        session = await client.new_session(_meta={"trace": 1})
        assert (await client.prompt(session, _meta={"x": {}}))["stopReason"] == "end_turn"


@pytest.mark.rule("D26-19")
@pytest.mark.parametrize("meta", [5, "x", [], True])
async def test_meta_that_is_no_object_is_refused(meta: Any) -> None:
    """Rules: D26-19."""
    async with draft_client(talker()) as client:
        params = {"workingDirectory": "/tmp", "_meta": meta}
        error = await client.error("session/new", params)
        assert (error["code"], error["data"]["path"]) == (-32602, "$._meta")


async def test_an_update_says_when_it_was() -> None:
    """Issue 15: `timestamp`, and advice with errors."""
    async with draft_client(talker()) as client:
        session = await client.new_session()
        await client.prompt(session)
        updates = [one["params"] for one in client.frames if one.get("method") == "session/update"]
        assert all(datetime.fromisoformat(one["timestamp"]).tzinfo for one in updates)
        error = await client.error("session/load", {"sessionId": "no"})
        assert "session/new" in error["data"]["suggestion"]


@pytest.mark.rule("D26-33")
async def test_errors_have_the_drafts_numbers() -> None:
    """The draft's table 9: -32000 is a missing session here, and -32002 never is."""
    async with draft_client(talker()) as client:
        blocks = [{"type": "text", "text": "x"}]
        error = await client.error("session/prompt", {"sessionId": "no", "content": blocks})
        assert error["code"] == -32000
        assert error["data"]["sessionId"] == "no"
        assert (await client.error("session/load", {"sessionId": "no"}))["code"] == -32000
        assert (await client.error("session/set_mode", {"sessionId": "no", "mode": "x"}))[
            "code"
        ] == -32000
        option = {"sessionId": "no", "key": "x", "value": 1}
        assert (await client.error("session/set_config_option", option))["code"] == -32000
        relative = {"workingDirectory": "here"}
        assert (await client.error("session/new", relative))["code"] == -32602


# ---- mixtures


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session/new", {"cwd": "/tmp", "mcpServers": []}),
        ("session/new", {"cwd": "/tmp", "workingDirectory": "/tmp"}),
        ("session/prompt", {"sessionId": "s", "prompt": []}),
        ("session/load", {"sessionId": "s", "cwd": "/tmp", "mcpServers": []}),
        ("session/set_mode", {"sessionId": "s", "modeId": "plan"}),
        ("session/set_config_option", {"sessionId": "s", "configId": "a", "value": "b"}),
        ("authenticate", {"methodId": "token"}),
        ("terminal/output", {"sessionId": "s"}),
    ],
)
async def test_official_words_on_a_connection_of_the_draft_are_refused(
    method: str, params: dict[str, Any]
) -> None:
    """Issue 5, bad input: who mixes dialects gets -32602."""
    async with draft_client(with_settings()) as client:
        assert (await client.error(method, params))["code"] == -32602
        assert await client.new_session()


async def test_a_connection_keeps_the_dialect_that_it_began_with() -> None:
    """Issue 5, bad input: a second `initialize` does not change it."""
    async with draft_client(talker()) as client:
        again = initialize_params(1, {})
        assert (await client.error("initialize", again))["code"] == -32602
        assert await client.new_session()
        assert (await client.error("initialize", again))["code"] == -32602
        assert (await client.error("initialize", hello()))["code"] == -32600
    async with raw_client(talker()) as official:
        assert (await official.error("initialize", hello()))["code"] == -32602
        assert await official.new_session()


@pytest.mark.parametrize(
    "capabilities", [None, {"fs": {"readTextFile": True}, "terminal": True}, {"fs": 3}]
)
async def test_the_first_request_may_show_the_draft(capabilities: Any) -> None:
    """The draft's table 1.3: `workingDirectory` on a connection without official traffic."""
    agent = talker()
    read: list[bool] = []

    @agent.on_prompt
    async def look(turn: Turn) -> None:
        read.append(turn.session.features.read_files)
        await turn.say("seen")

    params = {"protocolVersion": 1}
    if capabilities is not None:
        params["clientCapabilities"] = capabilities
    async with draft_client(agent, initialize=False) as client:
        # The answer is v1's: nothing showed the draft yet.
        client.start("initialize", params)
        answer = await client.take(lambda message: "result" in message)
        assert "agentCapabilities" in answer["result"]
        client.problems.clear()
        session = await client.new_session()
        assert (await client.prompt(session))["stopReason"] == "end_turn"
        assert client.text() == "seen"
    assert read == [bool(capabilities and capabilities["fs"] != 3)]


async def test_a_late_fingerprint_behind_official_traffic_is_refused() -> None:
    """The draft's table 1.3: later hits are errors."""
    async with raw_client(talker()) as client:
        session = await client.new_session()
        assert (await client.error("session/new", {"workingDirectory": "/tmp"}))["code"] == -32602
        blocks = [{"type": "text", "text": "x"}]
        params = {"sessionId": session, "content": blocks}
        assert (await client.error("session/prompt", params))["code"] == -32602
        assert await client.prompt(session) == {"stopReason": "end_turn"}


async def test_nothing_is_served_before_initialize() -> None:
    """As in every dialect."""
    async with draft_client(talker(), initialize=False) as client:
        assert (await client.error("session/new", {"workingDirectory": "/tmp"}))["code"] == -32600


async def test_a_withdrawn_request_goes_on() -> None:
    """The draft's table 3.8: `$/cancel_request` is dropped."""
    async with draft_client(talker()) as client:
        session = await client.new_session()
        prompt = client.start_prompt(session)
        client.notify("$/cancel_request", {"requestId": prompt})
        assert (await client.answer(prompt))["result"]["stopReason"] == "end_turn"


async def test_a_client_that_offers_v1_names_is_one_of_v1() -> None:
    """The draft's table 1.1: `readTextFile` under `capabilities` is a mixture, and read as v1."""
    async with raw_client(talker(), initialize=False) as client:
        offer = {"fs": {"readTextFile": True}, "terminal": True}
        result = await client.result("initialize", hello(offer))
    assert "agentCapabilities" in result


async def test_a_refused_client_may_go_on_in_another_dialect() -> None:
    """No dialect was chosen: the next `initialize` decides, with official numbers."""
    async with raw_client(talker(requires="fs.readTextFile"), initialize=False) as client:
        assert (await client.error("initialize", hello({})))["code"] == -32007
        await client.result("initialize", initialize_params(1, {"fs": {"readTextFile": True}}))
        blocks = [{"type": "text", "text": "x"}]
        error = await client.error("session/prompt", {"sessionId": "no", "prompt": blocks})
        assert error["code"] == -32002


async def test_a_strict_agent_serves_a_client_that_keeps_the_draft() -> None:
    """Strict is for mistakes, and the draft is none."""
    agent = with_settings()
    agent._definition.strict = True
    async with draft_client(agent, OFFER | {"_custom": {"x": 1}}) as client:
        session = await client.new_session(
            mcpServers=[], systemPrompt="x", initialMode="my_own", configOptions={"model": "small"}
        )
        await client.result("session/set_mode", {"sessionId": session, "mode": "plan"})
        attachments = [{"path": "/a", "name": "a"}]
        result = await client.prompt(session, attachments=attachments)
        assert result["stopReason"] == "end_turn"


def test_a_client_of_v1_loads_nothing_of_the_draft() -> None:
    """Start-up time is the user's time: the draft is loaded where it is spoken."""
    program = """
import sys, anyio
from accord import Agent
from accord.transport.memory import memory_pair
agent = Agent("a", version="1")
class Receiver:
    def data_received(self, data):
        print([m for m in sys.modules if "draft" in m or "connection.translation" in m])
    def ended(self, why): pass
async def main():
    ours, theirs = memory_pair()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(agent.serve, theirs)
        await ours.start(Receiver(), tasks)
        ours.write(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\\n')
        await anyio.wait_all_tasks_blocked()
        await ours.aclose()
anyio.run(main)
"""
    command = [sys.executable, "-c", program.replace("\\\\", "\\")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_SECONDS, check=True)
    assert done.stdout.splitlines()[0] == "[]"

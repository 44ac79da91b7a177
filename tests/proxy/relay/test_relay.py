"""The relay between two wires: whom it asks how, what it answers, and that nothing is lost."""

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord import Client
from accord.errors import LocalProtocolError
from accord.proxy.relay.translated_transport import Translated, carry
from accord.proxy.relay.translators import Settings
from accord.transport.memory import memory_pair
from accord.transport.transport import BACKLOG_BYTES_MAX
from tests.hang_limit import HANG_SECONDS
from tests.proxy.relay.scripted import ANSWERS, INITIALIZE, End, Json, speaking, staged

PROMPT = [{"type": "text", "text": "go"}]


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Both loops."""
    return str(request.param)


# ---- envelopes


async def test_before_initialize_nothing_is_served_and_after_it_no_other() -> None:
    async with staged(speaking("v1")) as stage:
        early = await stage.client.ask(5, "session/new", {"cwd": "/", "mcpServers": []})
        assert early["error"]["code"] == -32600
        stage.client.send({"method": "session/cancel", "params": {"sessionId": "s"}})
        await stage.opened("v1")
        again = await stage.client.ask(6, "initialize", INITIALIZE["v1"])
        assert again["error"]["code"] == -32600


async def test_what_comes_before_the_answer_waits_and_nothing_is_lost() -> None:
    held: list[Json] = []

    def serve(start: int, message: Json) -> Json | None:
        held.append(message)
        return None

    async with staged(serve) as stage:
        stage.client.send({"id": 0, "method": "initialize", "params": INITIALIZE["v1"]})
        new = {"cwd": "/", "mcpServers": []}
        stage.client.send({"id": 1, "method": "session/new", "params": new})
        await anyio.wait_all_tasks_blocked()
        assert [one["method"] for one in held] == ["initialize"]
        stage.agent.send({"id": held[0]["id"], "result": ANSWERS["v1"]})
        await stage.client.answer(0)
        asked = await stage.agent.method("session/new")
        stage.agent.send({"id": asked["id"], "result": {"sessionId": "s"}})
        assert (await stage.client.answer(1))["result"]["sessionId"] == "s"


async def test_ids_are_each_hops_own_and_cancellation_finds_them() -> None:
    async with staged(speaking("v1")) as stage:
        await stage.opened("v1")
        stage.client.send({"id": "mine", "method": "_x/slow", "params": {"a": [1, 2]}})
        asked = await stage.agent.method("_x/slow")
        assert asked["id"] != "mine"
        assert asked["params"] == {"a": [1, 2]}
        stage.client.send({"method": "$/cancel_request", "params": {"requestId": "mine"}})
        cancel = await stage.agent.method("$/cancel_request")
        assert cancel["params"]["requestId"] == asked["id"]
        stage.client.send({"method": "$/cancel_request", "params": {"requestId": "other"}})
        error = {"code": -32800, "message": "stopped", "data": {"k": 1}}
        stage.agent.send({"id": asked["id"], "error": error})
        assert (await stage.client.answer("mine"))["error"] == error
        assert stage.agent.unread == []


async def test_a_form_about_a_request_names_it_on_both_sides() -> None:
    """The translation's table 11: the id of that hop."""
    async with staged(speaking("v1")) as stage:
        await stage.client.ask(
            0,
            "initialize",
            {**INITIALIZE["v1"], "clientCapabilities": {"elicitation": {"form": {}}}},
        )
        stage.client.send({"id": 77, "method": "authenticate", "params": {"methodId": "k"}})
        asked = await stage.agent.method("authenticate")
        schema = {"type": "object", "properties": {}}
        form = {"mode": "form", "message": "m", "requestedSchema": schema, "requestId": asked["id"]}
        stage.agent.send({"id": 5, "method": "elicitation/create", "params": form})
        shown = await stage.client.method("elicitation/create")
        assert shown["params"]["requestId"] == 77


async def test_bad_input_is_answered_by_its_own_side_and_passed_to_nobody() -> None:
    async with staged(speaking("v1")) as stage:
        await stage.opened("v1")
        bad = await stage.client.ask(1, "session/prompt", {"prompt": PROMPT})
        assert (bad["error"]["code"], bad["error"]["data"]["path"]) == (-32602, "$.sessionId")
        stage.client.send_bytes(b"nonsense\n[1]\n")
        assert (await stage.client.answer(None))["error"]["code"] in (-32700, -32600)
        stage.client.send({"method": "session/cancel", "params": {"sessionId": 5}})
        stage.agent.send({"id": 99, "result": {}})
        stage.agent.send({"method": "session/update", "params": {"sessionId": "s"}})
        await anyio.wait_all_tasks_blocked()
        assert stage.agent.unread == []


@pytest.mark.rule("V2-GEN-06", "TR-BATCH-04")
async def test_an_array_of_a_v2_side_is_taken_apart_and_answered_as_one() -> None:
    """Issue 13: the other side hears single messages."""
    async with staged(speaking("v1"), to="v2") as stage:
        await stage.opened("v2")
        new = {"jsonrpc": "2.0", "method": "session/new", "params": {"cwd": "/"}}
        bad = {"jsonrpc": "2.0", "id": "c", "method": "session/prompt", "params": {}}
        stage.client.send_bytes(json.dumps([{**new, "id": "a"}, 5, bad]).encode() + b"\n")
        asked = await stage.agent.method("session/new")
        stage.agent.send({"id": asked["id"], "result": {"sessionId": "s"}})
        (answers,) = await stage.client.arrays(1)
        assert [one["id"] for one in answers] == [None, "c", "a"]
        assert ["error" in one for one in answers] == [True, True, False]
        stage.client.send_bytes(b"[5]\n")
        assert (await stage.client.arrays(2))[1][0]["error"]["code"] == -32600
        stage.agent.send_bytes(b'[{"jsonrpc":"2.0","method":"session/update","params":{}}]\n')
        refused = await stage.agent.take(lambda message: "error" in message)
        assert (refused["id"], refused["error"]["code"]) == (None, -32600)


@pytest.mark.rule("V2-GEN-06")
async def test_an_array_of_a_v2_agent_is_translated_entry_by_entry() -> None:
    """Issue 13: a v1 client gets messages of v1, and no array."""
    async with staged(speaking("v2")) as stage:
        await stage.opened("v1")
        stage.client.send({"id": 1, "method": "session/new", "params": NEW})
        asked = await stage.agent.method("session/new")
        stage.agent.send({"id": asked["id"], "result": {"sessionId": "s"}})
        await stage.client.answer(1)
        words = {"type": "text", "text": "hi"}
        chunk = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": words}
        told = {
            "jsonrpc": "2.0",
            "method": "session/update",
            "params": {"sessionId": "s", "update": chunk},
        }
        stage.agent.send_bytes(json.dumps([told, told, 5]).encode() + b"\n")
        for _ in range(2):
            update = (await stage.client.method("session/update"))["params"]["update"]
            assert update["content"]["text"] == "hi"
        assert [one["id"] for one in (await stage.agent.arrays(1))[0]] == [None]


NEW: Json = {"cwd": "/", "mcpServers": []}


async def test_an_answer_of_the_agent_that_cannot_be_read_is_an_error() -> None:
    async with staged(speaking("v1")) as stage:
        await stage.opened("v1")
        new = {"cwd": "/", "mcpServers": []}
        stage.client.send({"id": 1, "method": "session/new", "params": new})
        asked = await stage.agent.method("session/new")
        stage.agent.send({"id": asked["id"], "result": {"sessionId": 5}})
        error = (await stage.client.answer(1))["error"]
        assert error["code"] == -32603
        assert error["data"]["path"] == "$.sessionId"


# ---- ends


async def test_when_the_agent_dies_every_open_request_is_answered_and_the_end_told() -> None:
    async with staged(speaking("v2")) as stage:
        await stage.opened("v1")
        for number in (1, 2):
            stage.client.send({"id": number, "method": "_x/slow", "params": {}})
        await stage.agent.method("_x/slow")
        await stage.agent.transport.aclose()
        for number in (1, 2):
            error = (await stage.client.answer(number))["error"]
            assert "the agent is gone" in error["message"]
        await stage.client.end()


@pytest.mark.rule("D26-08")
async def test_an_agent_of_the_draft_that_dies_in_a_turn_ends_it_with_a_stop_reason() -> None:
    """The draft's table 3.5, where client and agent both speak it."""
    async with staged(speaking("draft")) as stage:
        await stage.opened("draft")
        content = [{"type": "text", "text": "go"}]
        params = {"sessionId": "s", "content": content}
        stage.client.send({"id": 1, "method": "session/prompt", "params": params})
        await stage.agent.method("session/prompt")
        told = {"sessionId": "s", "type": "agent_message_chunk", "data": {"content": "so"}}
        stage.agent.send({"method": "session/update", "params": told})
        await stage.client.method("session/update")
        await stage.agent.transport.aclose()
        assert (await stage.client.answer(1))["result"]["stopReason"] == "error"


async def test_a_client_that_says_too_much_at_once_is_cut_off() -> None:
    async with staged(speaking("v1")) as stage:
        await stage.opened("v1")
        stage.client.send_bytes(b"x" * (64 * 1024 * 1024 + 10))
        assert "too long" in (await stage.client.end()).reason


async def test_an_agent_that_says_too_much_at_once_is_gone() -> None:
    async with staged(speaking("v1")) as stage:
        await stage.opened("v1")
        stage.client.send({"id": 1, "method": "_x/slow", "params": {}})
        await stage.agent.method("_x/slow")
        stage.agent.send_bytes(b"x" * (64 * 1024 * 1024 + 10))
        assert "too long" in (await stage.client.answer(1))["error"]["message"]


async def test_nothing_is_delivered_while_paused_and_all_of_it_after() -> None:
    async with staged(speaking("v1")) as stage:
        await stage.opened("v2")
        stage.translated.pause()
        for number in range(3):
            stage.client.send({"id": number, "method": "nope", "params": {}})
        await anyio.wait_all_tasks_blocked()
        assert stage.client.unread == []
        stage.translated.resume()
        for number in range(3):
            assert (await stage.client.answer(number))["error"]["code"] == -32601
        await stage.translated.drain()
        assert stage.translated.backlog == 0
        assert stage.translated.losses == {}


async def test_a_wrapper_that_was_never_started_does_nothing() -> None:
    translated = Translated(memory_pair()[0])
    translated.write(b"x")
    translated.pause()
    translated.resume()
    await translated.drain()
    await translated.finish()
    await translated.aclose()
    assert (translated.backlog, translated.losses, translated.unstarted) == (0, {}, None)


# ---- the machine


async def test_files_and_commands_of_a_v1_agent_are_this_machines(tmp_path: Path) -> None:
    """The adapter serves them, and the v2 client sees a terminal of the agent's."""
    (tmp_path / "a.txt").write_text("words\n")
    host = Settings(host=frozenset(("fs", "terminal")))
    async with staged(speaking("v1"), settings=host) as stage:
        await stage.opened("v2")
        capabilities = stage.agent.frames[0]["params"]["clientCapabilities"]
        assert capabilities["terminal"] is True
        stage.client.send({"id": 1, "method": "session/new", "params": {"cwd": str(tmp_path)}})
        asked = await stage.agent.method("session/new")
        stage.agent.send({"id": asked["id"], "result": {"sessionId": "s"}})
        await stage.client.answer(1)
        stage.client.send(
            {"id": 2, "method": "session/prompt", "params": {"sessionId": "s", "prompt": PROMPT}}
        )
        prompt = await stage.agent.method("session/prompt")

        async def ask(number: int, method: str, **params: Any) -> Json:
            return await stage.agent.ask(number, method, {"sessionId": "s", **params})

        async def allowed(number: int, method: str, **params: Any) -> Json:
            message = {"id": number, "method": method, "params": {"sessionId": "s", **params}}
            stage.agent.send(message)
            question = await stage.client.method("session/request_permission")
            outcome = {"outcome": "selected", "optionId": "allow"}
            stage.client.send({"id": question["id"], "result": {"outcome": outcome}})
            return await stage.agent.answer(number)

        path = str(tmp_path / "a.txt")
        assert (await ask(1, "fs/read_text_file", path=path))["result"]["content"] == "words\n"
        assert "result" in await allowed(2, "fs/write_text_file", path=path, content="new")
        assert (tmp_path / "a.txt").read_text() == "new"
        outside = await ask(3, "fs/read_text_file", path="/etc/passwd")
        assert outside["error"]["code"] == -32052
        env = [{"name": "GREETING", "value": "hello"}]
        created = await allowed(
            4, "terminal/create", command="sh", args=["-c", "echo $GREETING; exit 3"], env=env
        )
        terminal_id = created["result"]["terminalId"]
        ended = await ask(5, "terminal/wait_for_exit", terminalId=terminal_id)
        assert ended["result"]["exitCode"] == 3
        output = await ask(6, "terminal/output", terminalId=terminal_id)
        assert output["result"]["output"] == "hello\n"
        assert output["result"]["exitStatus"]["exitCode"] == 3
        assert "result" in await ask(7, "terminal/kill", terminalId=terminal_id)
        assert "result" in await ask(8, "terminal/release", terminalId=terminal_id)
        assert (await ask(9, "terminal/output", terminalId=terminal_id))["error"]["code"] == -32002
        stage.agent.send({"id": prompt["id"], "result": {"stopReason": "end_turn"}})

        def is_exit(message: Json) -> bool:
            update = message.get("params", {}).get("update", {})
            return update.get("sessionUpdate") == "terminal_update" and "exitStatus" in update

        await stage.client.take(is_exit)


# ---- carrying


async def test_a_client_that_has_said_its_last_still_gets_its_answers() -> None:
    """Nothing is lost when a script closes its side after the last request."""
    client_end, outer = memory_pair()
    async with anyio.create_task_group() as tasks:
        ours, theirs = memory_pair()
        agent = End(theirs)
        agent.on_request = lambda message: (
            {"result": ANSWERS["v1"]} if message["method"] == "initialize" else {"result": {}}
        )
        await theirs.start(agent, tasks)
        client = End(client_end)
        await client_end.start(client, tasks)
        client.send({"id": 0, "method": "initialize", "params": INITIALIZE["v2"]})
        done: list[Any] = []

        async def serve() -> None:
            done.append(await carry(outer, Translated(ours)))

        tasks.start_soon(serve)
        assert "result" in await client.answer(0)
        await client_end.aclose()
        with anyio.fail_after(HANG_SECONDS):
            while not done:
                await anyio.wait_all_tasks_blocked()
        assert done == [None]
        await theirs.aclose()
        tasks.cancel_scope.cancel()


async def test_an_agent_that_floods_waits_for_its_client() -> None:
    """Backpressure: what the client does not take is not read from the agent without bound."""
    client_end, outer = memory_pair()
    async with anyio.create_task_group() as tasks:
        ours, theirs = memory_pair()
        agent = End(theirs)
        agent.on_request = lambda message: speaking("v1")(0, message)
        await theirs.start(agent, tasks)
        client = End(client_end)
        await client_end.start(client, tasks)
        tasks.start_soon(carry, outer, Translated(ours))
        client.send({"id": 0, "method": "initialize", "params": INITIALIZE["v1"]})
        await client.answer(0)
        client_end.pause()
        big = {"method": "_x/n", "params": {"text": "x" * 100_000}}
        for _ in range(40):
            agent.send(big)
            await anyio.wait_all_tasks_blocked()
        assert outer.backlog < 2 * BACKLOG_BYTES_MAX
        client_end.resume()
        with anyio.fail_after(HANG_SECONDS):
            for _ in range(40):
                await client.method("_x/n")
        tasks.cancel_scope.cancel()


# ---- as a library


async def test_a_program_is_wrapped_in_one_line_and_driven_by_a_client() -> None:
    """Issue 5: as a library, one class that wraps a transport."""
    hello = str(Path(__file__).parents[3] / "examples" / "hello_agent.py")
    agent = Translated.spawn(sys.executable, hello, to=2, speaks=1)
    async with Client.connect(agent) as client:
        session = await client.new_session(cwd=".")
        assert (await session.ask("hi")).text == "You said: hi"
    assert agent.losses == {}


def test_a_version_that_nobody_has_is_named_at_once() -> None:
    with pytest.raises(LocalProtocolError, match="unknown version 3"):
        Translated.spawn("x", to=3)  # type: ignore[arg-type]


async def test_strictly_a_notification_that_is_not_passed_on_is_told_at_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nothing is lost silently: there is no request whose answer could say it."""
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "cancelled"}
    async with staged(speaking("v2"), settings=Settings(strict=True)) as stage:
        await stage.opened("v1")
        stage.client.send(
            {"id": 1, "method": "session/new", "params": {"cwd": "/w", "mcpServers": []}}
        )
        asked = await stage.agent.method("session/new")
        stage.agent.send({"id": asked["id"], "result": {"sessionId": "s"}})
        await stage.client.answer(1)
        params = {"sessionId": "s", "update": update}
        stage.agent.send({"method": "session/update", "params": params})
        await anyio.wait_all_tasks_blocked()
        assert stage.translated.losses["tool status"] == 1
        assert "session/update was not translated" in caplog.text


async def test_an_agent_of_the_draft_is_sent_the_key_that_this_process_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A v1 client has no credential to give; what the environment has is for the agent alone."""
    monkeypatch.setenv("ACCORD_AGENT_API_KEY", "swordfish")
    async with staged(speaking("draft"), speaks="draft") as stage:
        await stage.opened("v1")
        for number, (method, secrets) in enumerate(
            [("api_key", {"apiKey": "swordfish"}), ("oauth2", {})], start=1
        ):
            params = {"methodId": method}
            stage.client.send({"id": number, "method": "authenticate", "params": params})
            asked = await stage.agent.method("authenticate")
            assert asked["params"]["credentials"] == secrets
            stage.agent.send({"id": asked["id"], "result": {"success": True}})
            assert "swordfish" not in str(await stage.client.answer(number))


async def test_an_update_of_another_dialect_is_not_passed_on_and_counts_as_lost() -> None:
    """Issue 5: the other side is sent nothing invalid, and nothing is lost silently."""
    async with staged(speaking("v1")) as stage:
        await stage.opened("v2")
        params = {"sessionId": "s", "type": "agent_message_chunk", "data": {"content": "hm"}}
        stage.agent.send({"method": "session/update", "params": params})
        await anyio.wait_all_tasks_blocked()
        assert len(stage.client.frames) == 1
        assert stage.translated.losses == {"session/update of the agent that cannot be read": 1}

"""Cancelling in v1, at every step of a turn: always a result `cancelled`, never an error."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.agent import Agent, Turn
from accord.agent.session import turn_run
from accord.agent.tools.elicitation import FormField
from tests.agent.raw_client import OPEN, SECONDS, RawClient, raw_client

CANCELLED = {"stopReason": "cancelled"}
ALL = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "elicitation": {"form": {}, "url": {}},
    "session": {"compaction": {}, "notices": {}},
}
OWN = {**ALL, "terminal": False, "fs": {}}

Handler = Callable[[Turn], Awaitable[None]]
Reached = Callable[[RawClient], Awaitable[Any]]


def allow(_params: Any) -> Any:
    """Consent."""
    return {"outcome": {"outcome": "selected", "optionId": "allow_once"}}


async def before_anything(turn: Turn) -> None:
    await anyio.sleep_forever()


async def in_a_message(turn: Turn) -> None:
    async with turn.message() as message:
        while True:
            await message.write("x")


async def in_a_tool_call(turn: Turn) -> None:
    async with turn.tool_call("Work", kind="other") as call:
        await call.start()
        await anyio.sleep_forever()


async def in_a_nested_tool_call(turn: Turn) -> None:
    async with turn.tool_call("Outer", kind="other"), turn.tool_call("Inner", kind="read"):
        await anyio.sleep_forever()


async def in_a_thread(turn: Turn) -> None:
    async with turn.tool_call("Work", kind="other") as call:
        await call.run(anyio.sleep_forever)


async def in_a_permission(turn: Turn) -> None:
    async with turn.tool_call("Work", kind="edit") as call:
        await call.ask("May I?")


async def in_a_read(turn: Turn) -> None:
    await turn.read_text("a.txt")


async def in_a_write(turn: Turn) -> None:
    await turn.write_text("a.txt", "x")


async def in_a_run(turn: Turn) -> None:
    await turn.run("sleep", "60")


async def in_an_own_process(turn: Turn) -> None:
    # So much that the client is told of it while the command runs.
    await turn.run("sh", "-c", "head -c 9000 /dev/zero | tr '\\0' x; exec sleep 60")


async def in_a_form(turn: Turn) -> None:
    await turn.ask("Which?", name=FormField())


async def in_a_page(turn: Turn) -> None:
    await turn.ask_to_visit("Look", "https://example.com/")


async def in_a_compaction(turn: Turn) -> None:
    async with turn.compaction() as compaction:
        await compaction.write("short")
        await anyio.sleep_forever()


async def in_a_task_group(turn: Turn) -> None:
    await turn.say("x")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(anyio.sleep_forever)
        tasks.start_soon(anyio.sleep_forever)


async def into_another_error(turn: Turn) -> None:
    await turn.say("x")
    try:
        await anyio.sleep_forever()
    finally:
        raise ValueError("the abort of the model call")


def update(kind: str) -> Reached:
    return lambda client: client.update(kind)


def call(method: str) -> Reached:
    return lambda client: client.next(method)


async def at_once(client: RawClient) -> None:
    """Without waiting for any sign."""


async def process(client: RawClient) -> None:
    """The command runs: its tool call shows what it printed."""
    await client.take(lambda m: "content" in m.get("params", {}).get("update", {}))


STEPS: dict[str, tuple[Handler, dict[str, Any], Reached]] = {
    "at once": (before_anything, ALL, at_once),
    "in a message stream": (in_a_message, ALL, update("agent_message_chunk")),
    "in a tool call": (in_a_tool_call, ALL, update("tool_call_update")),
    "in a nested tool call": (in_a_nested_tool_call, ALL, update("tool_call")),
    "in the work of a tool call": (in_a_thread, ALL, update("tool_call_update")),
    "in a permission request": (in_a_permission, ALL, call("session/request_permission")),
    "in a read": (in_a_read, ALL, call("fs/read_text_file")),
    "in a write": (in_a_write, ALL, call("fs/write_text_file")),
    "in terminal/create": (in_a_run, ALL, call("terminal/create")),
    "in terminal/wait_for_exit": (in_a_run, ALL, call("terminal/wait_for_exit")),
    "in an own process": (in_an_own_process, OWN, process),
    "in a form": (in_a_form, ALL, call("elicitation/create")),
    "in a page": (in_a_page, ALL, call("elicitation/create")),
    "in a compaction": (in_a_compaction, ALL, update("compaction_summary_chunk")),
    "in a task group": (in_a_task_group, ALL, update("agent_message_chunk")),
    "into another error": (into_another_error, ALL, update("agent_message_chunk")),
}


def served(step: str, client: RawClient) -> None:
    """Answers of a client that lets the turn get as far as this step."""
    if step != "in a permission request":
        client.serve["session/request_permission"] = allow
    if step == "in terminal/wait_for_exit":
        client.serve["terminal/create"] = lambda _params: {"terminalId": "t1"}
        client.serve["terminal/release"] = lambda _params: {}


@pytest.mark.rule(
    "V1-CANCEL-04", "V1-CANCEL-05", "V1-CANCEL-06", "V1-CANCEL-07", "V1-CANCEL-09", "V1-TOOL-13"
)
@pytest.mark.parametrize("how", ["session/cancel", "$/cancel_request"])
@pytest.mark.parametrize("step", STEPS)
async def test_a_cancelled_turn_ends_cancelled_at_every_step(
    step: str, how: str, tmp_path: Path
) -> None:
    """Spec: cancellation; the walk over all steps that the issue asks for."""
    handler, capabilities, reached = STEPS[step]
    agent = Agent("walker", version="1")
    agent.on_prompt(handler)
    async with raw_client(agent, capabilities=capabilities) as client:
        served(step, client)
        session_id = await client.new_session(str(tmp_path))
        turn = client.start_prompt(session_id)
        queued = client.start_prompt(session_id, "queued")
        await reached(client)
        if how == "session/cancel":
            client.cancel(session_id)
        else:
            client.notify("$/cancel_request", {"requestId": queued})
            client.notify("$/cancel_request", {"requestId": turn})
        with anyio.fail_after(SECONDS):
            assert (await client.answer(turn))["result"] == CANCELLED
            assert (await client.answer(queued))["result"] == CANCELLED
        check_end(client, turn)
        # The session lives on.
        agent.on_prompt(say_yes)
        assert await client.prompt(session_id) == {"stopReason": "end_turn"}


async def say_yes(turn: Turn) -> None:
    await turn.say("yes")


def check_end(client: RawClient, turn: Any) -> None:
    """Nothing of the turn is left open, and nothing of it comes after its result."""
    answers = [frame if "method" not in frame else {} for frame in client.frames]
    at = next(i for i, frame in enumerate(answers) if frame.get("id") == turn)
    late = [f for f in client.frames[at + 1 :] if f.get("method") == "session/update"]
    assert late == []
    last: dict[str, str] = {}
    for one in client.updates():
        if "status" in one:
            last[one.get("toolCallId") or one["compactionId"]] = one["status"]
    assert set(last.values()) <= {"failed", "completed", "cancelled"}


@pytest.mark.rule("V1-TERM-07")
async def test_a_terminal_that_is_made_after_the_cancel_is_released_all_the_same() -> None:
    """Spec: every terminal is released; the client had no chance to know."""
    agent = Agent("late", version="1")
    agent.on_prompt(in_a_run)
    async with raw_client(agent, capabilities=ALL) as client:
        client.serve["session/request_permission"] = allow
        session_id = await client.new_session()
        turn = client.start_prompt(session_id)
        create = await client.next("terminal/create")
        client.cancel(session_id)
        assert (await client.answer(turn))["result"] == CANCELLED
        client.reply(create, {"terminalId": "late"})
        release = await client.next("terminal/release")
        assert release["params"] == {"sessionId": session_id, "terminalId": "late"}
        client.reply(release, {})


@pytest.mark.rule("V1-CANCEL-04")
async def test_a_client_that_never_answers_a_release_holds_up_no_turn() -> None:
    """Ours: the request goes out, the turn does not wait for long."""
    agent = Agent("slow", version="1")
    agent.on_prompt(in_a_run)
    async with raw_client(agent, capabilities=ALL) as client:
        client.serve["session/request_permission"] = allow
        client.serve["terminal/create"] = lambda _params: {"terminalId": "t"}
        client.serve["terminal/release"] = lambda _params: OPEN
        session_id = await client.new_session()
        turn = client.start_prompt(session_id)
        await client.next("terminal/wait_for_exit")
        client.cancel(session_id)
        assert (await client.answer(turn))["result"] == CANCELLED
        methods = client.methods()
        assert methods.count("terminal/create") == methods.count("terminal/release") == 1


@pytest.mark.rule("V1-CANCEL-04", "V1-PROMPT-09")
async def test_a_handler_that_ignores_cancellation_is_left_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Issue: a handler that ignores cancellation; it can say nothing afterwards."""
    monkeypatch.setattr(turn_run, "CANCEL_SECONDS_MAX", 0.05)
    agent = Agent("deaf", version="1")
    go, errors = anyio.Event(), list[Exception]()

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        if turn.text != "go":
            await turn.say("fine")
            return
        with anyio.move_on_after(SECONDS, shield=True):
            async with turn.tool_call("Deaf", kind="other") as call:
                await call.start()
                await go.wait()
                try:
                    await turn.say("late")
                except Exception as error:
                    errors.append(error)

    async with raw_client(agent) as client:
        session_id = await client.new_session()
        turn = client.start_prompt(session_id)
        await client.update("tool_call_update")
        client.cancel(session_id)
        assert (await client.answer(turn))["result"] == CANCELLED
        check_end(client, turn)
        assert await client.prompt(session_id, "more") == {"stopReason": "end_turn"}
        go.set()
        await client.result("session/list", {})
    assert "over" in str(errors[0])
    assert client.text() == "fine"


async def test_a_cancel_when_nothing_runs_is_ignored() -> None:
    """Spec: and the next prompt is not touched by it."""
    agent = Agent("idle", version="1")
    agent.on_prompt(say_yes)
    async with raw_client(agent) as client:
        session_id = await client.new_session()
        client.cancel(session_id)
        client.cancel("nobody")
        assert await client.prompt(session_id) == {"stopReason": "end_turn"}


async def test_a_cancel_reaches_only_its_own_session() -> None:
    """Spec: a session's turn."""
    agent = Agent("two", version="1")
    agent.on_prompt(before_anything)
    async with raw_client(agent) as client:
        one, other = await client.new_session(), await client.new_session()
        first, second = client.start_prompt(one), client.start_prompt(other)
        client.cancel(one)
        assert (await client.answer(first))["result"] == CANCELLED
        assert not any(frame.get("id") == second for frame in client.frames)
        client.cancel(other)
        assert (await client.answer(second))["result"] == CANCELLED


async def test_one_queued_prompt_can_be_withdrawn_alone() -> None:
    """Ours: `$/cancel_request` names one request."""
    agent = Agent("line", version="1")
    go = anyio.Event()

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        await go.wait()
        await turn.say(turn.text)

    async with raw_client(agent) as client:
        session_id = await client.new_session()
        turns = [client.start_prompt(session_id, text) for text in "abc"]
        client.notify("$/cancel_request", {"requestId": turns[1]})
        assert (await client.answer(turns[1]))["result"] == CANCELLED
        go.set()
        assert (await client.answer(turns[2]))["result"] == {"stopReason": "end_turn"}
    assert client.text() == "ac"


@pytest.mark.rule("V1-CREQ-02")
async def test_a_cancelled_request_is_still_answered() -> None:
    """Spec: a result or -32800; here a method of the agent's own and a slow session hook."""
    agent = Agent("slow", version="1")

    @agent.method("_slow")
    async def slow(params: dict[str, Any]) -> None:
        await anyio.sleep_forever()

    @agent.on_session
    async def wait(session: Any) -> None:
        await anyio.sleep_forever()

    async with raw_client(agent) as client:
        one = client.start("_slow", {}, id_="one")
        two = client.start("session/new", {"cwd": "/tmp", "mcpServers": []})
        client.notify("$/cancel_request", {"requestId": one})
        client.notify("$/cancel_request", {"requestId": two})
        assert (await client.answer(one))["error"]["code"] == -32800
        assert (await client.answer(two))["error"]["code"] == -32800
        assert (await client.result("session/list", {}))["sessions"] == []


@pytest.mark.rule("V1-CREQ-05", "V1-CREQ-01")
async def test_cancelling_what_is_answered_or_unknown_is_ignored() -> None:
    """RFD: no error comes back."""
    agent = Agent("done", version="1")
    agent.on_prompt(say_yes)
    async with raw_client(agent) as client:
        session_id = await client.new_session()
        turn = client.start_prompt(session_id)
        await client.answer(turn)
        seen = len(client.frames)
        for request_id in (turn, str(turn), 999, None, True):
            client.notify("$/cancel_request", {"requestId": request_id})
        await client.result("session/list", {})
        assert len(client.frames) == seen + 1


@pytest.mark.rule("V1-CREQ-04")
async def test_an_abort_of_our_own_ends_open_requests_as_cancelled() -> None:
    """Spec: internal cancellation, such as a shutdown of the agent."""
    agent = Agent("closing", version="1")
    begun = anyio.Event()

    @agent.method("_slow")
    async def slow(params: dict[str, Any]) -> None:
        begun.set()
        await anyio.sleep_forever()

    async with raw_client(agent) as client:
        request = client.start("_slow", {})
        with anyio.fail_after(SECONDS):
            await begun.wait()
        client.stop_agent()
        assert (await client.answer(request))["error"]["code"] == -32800

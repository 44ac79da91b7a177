"""Terminals of a client of the 2026-02 draft: pushed output, streams apart, timed ends."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.agent import Agent, Turn
from accord.agent.serving.draft import client_requests as module
from accord.agent.terminals.command import Done
from accord.errors import SpawnFailed
from tests.agent.draft.draft_client import OFFER, DraftClient, draft_client
from tests.agent.raw_client import Message


def runner(got: list[Any], *, asks: bool = False, **how: Any) -> Agent:
    """An agent that runs a command and keeps what came of it."""
    agent = Agent("runs", version="1")
    agent.add_mode("default", "Default", allow=() if asks else "execute")

    @agent.on_prompt
    async def run(turn: Turn) -> None:
        try:
            got.append(await turn.run("make", "test", cwd="/w", **how))
        except Exception as error:
            got.append(error)

    return agent


class Shell:
    """The client's terminals, played by hand."""

    def __init__(self, client: DraftClient) -> None:
        self.client = client
        self.made = 0

    async def create(self, **more: Any) -> Message:
        request = await self.client.next("terminal/create")
        self.made += 1
        self.client.reply(request, {"terminalId": f"t{self.made}", **more})
        return request

    def push(self, data: str, terminal: str = "t1", **more: Any) -> None:
        params = {"terminalId": terminal, "data": data, **more}
        self.client.notify("terminal/output", params)

    async def exit(self, **how: Any) -> Message:
        request = await self.client.next("terminal/wait_for_exit")
        self.client.reply(request, how)
        return request

    async def release(self) -> None:
        request = await self.client.next("terminal/release")
        self.client.reply(request, {"released": True})


async def test_a_command_runs_in_the_clients_terminal() -> None:
    """Draft, 4.3: no session, env as an object, output pushed, pid read, streams apart."""
    got: list[Any] = []
    async with draft_client(runner(got, env={"A": "b"}, timeout=60)) as client:
        shell = Shell(client)
        session = await client.new_session("/w")
        prompt = client.start_prompt(session)
        request = await shell.create(pid=4711)
        assert request["params"] == {
            "command": "make",
            "args": ["test"],
            "cwd": "/w",
            "env": {"A": "b"},
            "timeout": 60000,
        }
        pushed = {"terminalId": "t1", "data": "one\n", "stream": "stdout"}
        assert await client.result("terminal/output", pushed) == {"received": True}
        shell.push("oops\n", stream="stderr")
        shell.push("two\n")
        waited = await shell.exit(exitCode=0)
        assert waited["params"] == {"terminalId": "t1", "timeout": 60000}
        # The last words may come behind the exit.
        shell.push("three\n")
        await shell.release()
        assert (await client.answer(prompt))["result"]["stopReason"] == "end_turn"
        last = client.told("tool_call_update")[-1]
    assert got == [
        Done(
            0,
            "one\noops\ntwo\nthree\n",
            stdout="one\ntwo\nthree\n",
            stderr="oops\n",
            pid=4711,
        )
    ]
    assert last["status"] == "completed"
    assert last["output"] == {
        "type": "terminal",
        "terminalId": "t1",
        "command": "make test",
        "exitCode": 0,
        "stdout": "one\ntwo\nthree\n",
        "stderr": "oops\n",
    }


async def test_output_of_a_terminal_that_is_none_of_ours_is_not_received() -> None:
    """The draft's table 4.3: false for an unknown terminal; with and without an id."""
    async with draft_client(runner([])) as client:
        pushed = {"terminalId": "t9", "data": "x"}
        assert await client.result("terminal/output", pushed) == {"received": False}
        client.notify("terminal/output", pushed)
        client.notify("terminal/output", {"data": 3})
        assert (await client.error("terminal/output", {"data": "x"}))["code"] == -32602
        assert await client.new_session()


async def test_output_that_comes_before_the_answer_is_kept() -> None:
    """A quick command prints before its start was answered."""
    got: list[Any] = []
    async with draft_client(runner(got)) as client:
        shell = Shell(client)
        session = await client.new_session()
        prompt = client.start_prompt(session)
        request = await client.next("terminal/create")
        shell.push("early ")
        for number in range(40):
            shell.push("noise", f"x{number}")
        client.reply(request, {"terminalId": "t1"})
        shell.push("late")
        await shell.exit(exitCode=3)
        await shell.release()
        await client.answer(prompt)
    assert (got[0].output, got[0].exit_code) == ("early late", 3)


@pytest.mark.parametrize(
    ("exit_", "code", "signal"),
    [
        ({"exitCode": 2}, 2, None),
        ({"exitCode": 143, "signal": "SIGTERM"}, None, "SIGTERM"),
        ({"exitCode": None, "signal": "SIGKILL"}, None, "SIGKILL"),
        ({}, None, None),
        ({"exitCode": "x", "signal": 3}, None, None),
    ],
)
async def test_an_end_is_read_as_it_was(exit_: Message, code: Any, signal: Any) -> None:
    """The draft's table 4.3; what is malformed is unknown."""
    got: list[Any] = []
    async with draft_client(runner(got)) as client:
        shell = Shell(client)
        session = await client.new_session()
        prompt = client.start_prompt(session)
        await shell.create()
        await shell.exit(**exit_)
        await shell.release()
        await client.answer(prompt)
        assert client.statuses()[-1] == "failed"
    assert (got[0].exit_code, got[0].signal) == (code, signal)


async def test_a_command_that_takes_too_long_is_ended_by_a_signal_then_by_force() -> None:
    """The draft's table 4.3: `timedOut`, then SIGTERM, then force."""
    got: list[Any] = []
    async with draft_client(runner(got, timeout=30)) as client:
        shell = Shell(client)
        session = await client.new_session()
        prompt = client.start_prompt(session)
        await shell.create()
        await shell.exit(exitCode=-1, timedOut=True)
        kill = await client.next("terminal/kill")
        assert kill["params"] == {"terminalId": "t1", "signal": "SIGTERM"}
        client.reply(kill, {"killed": True})
        waited = await shell.exit(exitCode=-1, timedOut=True)
        assert waited["params"]["timeout"] == 2000
        kill = await client.next("terminal/kill")
        assert kill["params"] == {"terminalId": "t1", "signal": "SIGKILL", "force": True}
        client.reply(kill, {"killed": True})
        await shell.exit(exitCode=137, signal="SIGKILL")
        await shell.release()
        await client.answer(prompt)
    assert (got[0].timed_out, got[0].signal) == (True, "SIGKILL")


async def test_a_client_that_forgets_the_time_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A bound of our own behind the client's."""
    monkeypatch.setattr(module, "GRACE_SECONDS", 0.01)
    monkeypatch.setattr(module, "KILL_SECONDS", 0.01)
    got: list[Any] = []
    async with draft_client(runner(got, timeout=0.01)) as client:
        shell = Shell(client)
        session = await client.new_session()
        prompt = client.start_prompt(session)
        await shell.create()
        for _ in range(4):
            client.reply(await client.next("terminal/kill"), {"killed": False})
        await shell.release()
        await client.answer(prompt)
    assert got[0].timed_out is True
    assert got[0].exit_code is None


async def test_no_more_commands_run_than_the_client_allows() -> None:
    """The draft's table 7: `maxConcurrent`."""
    got: list[Any] = []
    agent = Agent("many", version="1")
    agent.add_mode("default", "Default", allow="execute")

    @agent.on_prompt
    async def run(turn: Turn) -> None:
        async def one() -> None:
            got.append((await turn.run("sleep")).exit_code)

        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(one)

    offer = OFFER | {"terminal": {"create": True, "maxConcurrent": 2}}
    async with draft_client(agent, offer) as client:
        shell = Shell(client)
        session = await client.new_session()
        prompt = client.start_prompt(session)
        most = 0
        for done in range(4):
            while shell.made < min(done + 2, 4):
                await shell.create()
            most = max(most, client.methods().count("terminal/create") - done)
            await shell.exit(exitCode=done)
            await shell.release()
        await client.answer(prompt)
        assert most == 2
    assert sorted(got) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "terminal", [{"create": True, "maxConcurrent": 0}, {"create": False}, {}, None]
)
@pytest.mark.rule("D26-17")
async def test_without_terminals_a_command_is_a_process_of_ours(terminal: Any) -> None:
    """The draft's table 7: the intersection; what it prints is shown as a terminal all the same."""
    got: list[Any] = []
    agent = Agent("own", version="1")
    agent.add_mode("default", "Default", allow="execute")

    @agent.on_prompt
    async def run(turn: Turn) -> None:
        got.append(await turn.run("/bin/echo", "hello", cwd="/"))

    async with draft_client(
        agent, {"terminal": terminal} if terminal is not None else {}
    ) as client:
        session = await client.new_session()
        await client.prompt(session)
        shown = [one["output"] for one in client.told("tool_call_update") if "output" in one][-1]
        assert (shown["command"], shown["stdout"]) == ("/bin/echo hello", "hello\n")
        assert shown["exitCode"] == 0
        assert not any(one.startswith("terminal/") for one in client.methods())
    assert got[0].output == "hello\n"


@pytest.mark.parametrize("answer", [{}, {"terminalId": 3}, None, -32603, -32007])
async def test_a_terminal_that_is_not_made_is_a_failure_of_the_command(answer: Any) -> None:
    """And its place is free for the next one."""
    got: list[Any] = []
    offer = OFFER | {"terminal": {"create": True, "maxConcurrent": 1}}
    async with draft_client(runner(got), offer) as client:
        session = await client.new_session()
        for _ in range(2):
            prompt = client.start_prompt(session)
            request = await client.next("terminal/create")
            if isinstance(answer, int):
                client.refuse(request, answer)
            else:
                client.reply(request, answer)
            assert (await client.answer(prompt))["result"]["stopReason"] == "end_turn"
            assert client.statuses()[-1] == "failed"
    if isinstance(answer, int):
        assert all(isinstance(one, SpawnFailed) for one in got)


@pytest.mark.rule("D26-15")
@pytest.mark.parametrize("at", ["terminal/create", "terminal/wait_for_exit", "terminal/kill"])
async def test_a_cancelled_turn_leaves_nothing_running(at: str) -> None:
    """A terminal that was made is ended and released, whenever the turn was cancelled."""
    got: list[Any] = []
    offer = OFFER | {"terminal": {"create": True, "maxConcurrent": 1}}
    async with draft_client(runner(got, timeout=60), offer) as client:
        shell = Shell(client)
        session = await client.new_session()
        prompt = client.start_prompt(session)
        if at != "terminal/create":
            await shell.create()
        if at == "terminal/kill":
            await shell.exit(exitCode=-1, timedOut=True)
        await client.next(at)
        client.serve["terminal/kill"] = lambda _params: {"killed": True}
        client.serve["terminal/wait_for_exit"] = lambda _params: {"exitCode": 143}
        client.notify("session/cancel", {"sessionId": session})
        if at == "terminal/create":
            assert (await client.answer(prompt))["result"]["stopReason"] == "cancelled"
            created = next(one for one in client.frames if one.get("method") == at)
            client.reply(created, {"terminalId": "t1"})
            await shell.release()
        else:
            await shell.release()
            assert (await client.answer(prompt))["result"]["stopReason"] == "cancelled"
        assert client.statuses()[-1] == "cancelled"
        assert "terminal/kill" in client.methods()
        del client.serve["terminal/kill"], client.serve["terminal/wait_for_exit"]
        # The place is free again.
        shell.made = 1
        prompt = client.start_prompt(session)
        await shell.create()
        await shell.exit(exitCode=0)
        await shell.release()
        assert (await client.answer(prompt))["result"]["stopReason"] == "end_turn"
    assert got[-1].exit_code == 0


async def test_a_command_that_waits_for_a_place_can_be_cancelled() -> None:
    """And takes nobody's place."""
    got: list[Any] = []
    offer = OFFER | {"terminal": {"create": True, "maxConcurrent": 1}}
    async with draft_client(runner(got), offer) as client:
        shell = Shell(client)
        first, second = await client.new_session(), await client.new_session()
        running = client.start_prompt(first)
        await shell.create()
        waiting = client.start_prompt(second)
        await client.take(
            lambda one: (
                one.get("params", {}).get("data", {}).get("status") == "in_progress"
                and one["params"]["sessionId"] == second
            )
        )
        client.notify("session/cancel", {"sessionId": second})
        assert (await client.answer(waiting))["result"]["stopReason"] == "cancelled"
        await shell.exit(exitCode=0)
        await shell.release()
        await client.answer(running)
        assert shell.made == 1


async def test_a_client_that_does_not_release_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The turn goes on after a moment."""
    monkeypatch.setattr(module, "RELEASE_SECONDS_MAX", 0.01)
    got: list[Any] = []
    async with draft_client(runner(got)) as client:
        shell = Shell(client)
        session = await client.new_session()
        prompt = client.start_prompt(session)
        await shell.create()
        await shell.exit(exitCode=0)
        assert (await client.answer(prompt))["result"]["stopReason"] == "end_turn"
    assert got[0].exit_code == 0


@pytest.mark.rule("D26-34")
async def test_a_command_is_asked_for_before_it_runs() -> None:
    """The draft's table 4.1: `terminal_execute` on the command."""
    got: list[Any] = []
    async with draft_client(runner(got, asks=True)) as client:
        session = await client.new_session()
        prompt = client.start_prompt(session)
        request = await client.next("session/request_permission")
        assert request["params"]["operation"] == "terminal_execute"
        assert request["params"]["resource"] == "make test"
        client.reply(request, {"granted": False})
        await client.answer(prompt)
        assert client.statuses()[-1] == "denied"
    assert got[0].denied is True

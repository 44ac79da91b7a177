"""Work behind the turns in v2: listed, announced, ended, and cancelled one by one."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.agent import Turn
from accord.agent.terminals.own_terminals import TerminalHandle
from accord.machine.processes.process_groups import live_groups
from tests.agent.raw_client import Message, RawClient
from tests.agent.v2.play import (
    allow,
    chosen,
    idle,
    insert,
    kinds,
    made,
    playing,
    settle,
    states,
    turn,
)

SERVER = "echo up; sleep 60"


async def start(turn: Turn) -> str | None:
    """`start` a server, or do something else beside it."""
    if turn.text == "start":
        await turn.start(SERVER)
    elif turn.text == "start soon over":
        await turn.start("echo brief")
    elif turn.text == "wait":
        await anyio.sleep_forever()
    elif turn.text == "ask":
        async with turn.tool_call("Edit", kind="edit") as call:
            await call.ask("May I?")
    return None


def listed(state: Message) -> list[str]:
    """The terminals that a state lists."""
    assert all(one["type"] == "terminal" for one in state["background"])
    return [one["terminalId"] for one in state["background"]]


async def started(client: RawClient) -> tuple[str, str]:
    """A session with a server in the background: (session, terminal)."""
    allow(client)
    session_id = await client.new_session()
    state = await turn(client, session_id, "start")
    await client.update("terminal_output_chunk")
    (terminal_id,) = listed(state)
    return session_id, terminal_id


def stop(session_id: str, terminal_id: str) -> Message:
    """The params of `terminal/cancel`."""
    return {"sessionId": session_id, "terminalId": terminal_id}


async def exit_of(client: RawClient, terminal_id: str) -> Message:
    """The update that tells a terminal's exit."""
    found = await client.take(
        lambda frame: (
            frame.get("method") == "session/update"
            and frame["params"]["update"].get("terminalId") == terminal_id
            and "exitStatus" in frame["params"]["update"]
        )
    )
    update: Message = found["params"]["update"]
    return update


@pytest.mark.rule("V2-PROMPT-22", "V2-PROMPT-23", "V2-PROMPT-24", "V2-UPS-16")
async def test_a_command_goes_on_after_its_turn_and_every_state_says_so() -> None:
    """Spec: announced, then listed once and as its terminal, then always reported."""
    async with playing(made(start)) as client:
        session_id, terminal_id = await started(client)
        order = kinds(client)
        first = next(i for i, u in enumerate(client.updates()) if "background" in u)
        announced = next(
            i for i, u in enumerate(client.updates()) if u.get("terminalId") == terminal_id
        )
        assert announced < first
        assert "terminal_update" in order
        await turn(client, session_id, "else")
        with_it = [one for one in client.updates("state_update") if "background" in one]
        after = client.updates("state_update")[-len(with_it) :]
        assert with_it == after
        assert all(listed(one) == [terminal_id] for one in with_it)
        calls = client.updates("tool_call_update")
        assert calls[-1]["status"] == "completed"
        told = client.updates("terminal_update")[0]
        assert (told["command"], told["cwd"]) == (SERVER, "/tmp")
        assert told["capabilities"] == {"cancel": {}}


@pytest.mark.rule("V2-PROMPT-21", "V2-PROMPT-23")
async def test_a_command_that_ends_by_itself_leaves_the_list_and_the_state_alone() -> None:
    """Spec: the exit before it vanishes; background updates do not change the foreground."""
    async with playing(made(start)) as client:
        allow(client)
        session_id = await client.new_session()
        await insert(client, session_id, "start soon over")
        terminal_id = (await client.update("terminal_update"))["terminalId"]
        ended = await exit_of(client, terminal_id)
        assert ended["exitStatus"] == {"exitCode": 0}
        assert ended["capabilities"] is None
        while (state := await client.update("state_update")).get("background") != []:
            pass
        exit_at = client.updates().index(ended)
        lists = [(i, u) for i, u in enumerate(client.updates()) if "background" in u]
        assert all(listed(u) == [terminal_id] for i, u in lists if i < exit_at)
        assert all(listed(u) == [] for i, u in lists if i > exit_at)
        assert state["state"] in ("running", "idle")


@pytest.mark.rule("V2-PROMPT-21")
async def test_what_happens_behind_an_idle_session_leaves_it_idle() -> None:
    """Spec: output and exit while idle; each state that is told is still that idle."""
    async with playing(made(start)) as client:
        session_id, terminal_id = await started(client)
        seen = len(states(client))
        await client.result("terminal/cancel", stop(session_id, terminal_id))
        await exit_of(client, terminal_id)
        state = await idle(client)
        assert (state["stopReason"], state["background"]) == ("end_turn", [])
        assert states(client)[seen:] == ["idle"]


@pytest.mark.rule("V2-CANCEL-09", "V2-CANCEL-07")
async def test_cancelling_the_session_leaves_listed_work_alone() -> None:
    """Spec: `session/cancel` is for the foreground."""
    async with playing(made(start)) as client:
        session_id, terminal_id = await started(client)
        await insert(client, session_id, "wait")
        client.cancel(session_id)
        state = await idle(client)
        assert state["stopReason"] == "cancelled"
        assert listed(state) == [terminal_id]
        client.cancel(session_id)
        await settle(client)
        assert len(live_groups()) == 1
        assert not [one for one in client.updates("terminal_update") if "exitStatus" in one]


@pytest.mark.rule("V2-CANCEL-17", "V2-CANCEL-18", "V2-CANCEL-19", "V2-CANCEL-20")
async def test_a_background_terminal_is_cancelled_alone() -> None:
    """Spec: `{}` first, then the exit; the foreground goes on as it was; then it is final."""
    async with playing(made(start)) as client:
        session_id, terminal_id = await started(client)
        await insert(client, session_id, "wait")
        before = states(client)
        request_id = client.start("terminal/cancel", stop(session_id, terminal_id))
        assert (await client.answer(request_id))["result"] == {}
        ended = await exit_of(client, terminal_id)
        assert ended["exitStatus"] == {"signal": "SIGTERM"}
        answered = kinds(client).index(f"result {request_id}")
        assert "exitStatus" not in str(client.frames[:answered])
        await settle(client)
        assert states(client) == [*before, "running"]
        again = await client.error("terminal/cancel", stop(session_id, terminal_id))
        assert again["code"] == -32602
        client.cancel(session_id)
        await idle(client)
    assert not live_groups()


@pytest.mark.rule("V2-SESS-15", "V2-PROMPT-23")
async def test_close_ends_the_background_too_and_tells_it() -> None:
    """Spec: foreground and background work stop; the exit is told before the result."""
    async with playing(made(start)) as client:
        session_id, terminal_id = await started(client)
        await insert(client, session_id, "wait")
        request_id = client.start("session/close", {"sessionId": session_id})
        await client.answer(request_id)
        ended = await exit_of(client, terminal_id)
        assert "exitStatus" in ended
        last = client.updates("state_update")[-1]
        assert (last["state"], last["stopReason"], last["background"]) == ("idle", "cancelled", [])
        assert kinds(client)[-1] == f"result {request_id}"
        assert not live_groups()


@pytest.mark.rule("V2-SESS-11", "V2-PROMPT-22")
async def test_resume_says_what_goes_on_in_the_background() -> None:
    """Spec: the state before the result is whole."""
    async with playing(made(start)) as client:
        session_id, terminal_id = await started(client)
        await client.result("session/resume", {"sessionId": session_id, "cwd": "/tmp"})
        assert listed(client.updates("state_update")[-1]) == [terminal_id]


async def test_a_lost_client_ends_the_background() -> None:
    """Design: no orphans, whatever ends the client."""
    async with playing(made(start)) as client:
        await started(client)
        assert len(live_groups()) == 1
        await client.close()
    assert not live_groups()


async def test_a_command_that_is_refused_is_not_started() -> None:
    """Ours: `start` asks as `run` does; a no is None."""
    seen: list[Any] = []

    async def work(turn: Turn) -> None:
        seen.append(await turn.start(SERVER))

    async with playing(made(work)) as client:
        client.serve["session/request_permission"] = lambda params: chosen("reject_once")
        session_id = await client.new_session()
        await turn(client, session_id)
    assert seen == [None]
    assert client.updates("terminal_update") == []
    assert all("background" not in one for one in client.updates("state_update"))


async def test_a_session_may_start_a_command_of_its_own() -> None:
    """Ours: outside of a turn, for agents that watch something; it asks nobody."""
    terminals: list[TerminalHandle] = []

    async def work(turn: Turn) -> None:
        terminals.append(await turn.session.start_command("echo", "done", cwd="."))
        done = await terminals[0].wait()
        await turn.say(f"{done.exit_code} {done.output.strip()}")

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        await turn(client, session_id)
        assert client.updates("agent_message")[0]["content"][0]["text"] == "0 done"
    assert "session/request_permission" not in client.methods()

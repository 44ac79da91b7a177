"""Turns: what a program sees of a prompt, and how it ends, in both versions."""

from __future__ import annotations

import anyio
import pytest
from anyio.lowlevel import checkpoint

from accord.client import PromptTurn
from accord.connection.limits import Limits
from accord.errors import RequestFailed
from tests.client.scripted_agent import Json, ScriptedAgent, chunk, connected


async def fail_at_once(turn: PromptTurn) -> None:
    """A program with a mistake in its loop."""
    async with turn:
        async for _update in turn:
            raise KeyError


VERSIONS = pytest.mark.parametrize("version", [1, 2])


@VERSIONS
async def test_a_turn_yields_what_the_agent_says_and_ends_with_its_stop_reason(
    version: int,
) -> None:
    """Ours: a client program looks the same whatever the agent speaks."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        agent.say("Hel")
        agent.say("lo")
        agent.end_turn(prompt)

    async with connected(script, version) as (client, _):
        session = await client.new_session()
        async with session.prompt("Hi") as turn:
            kinds = [(update.kind, update.text) async for update in turn]
        assert kinds == [("message", "Hel"), ("message", "lo")]
        assert turn.stop_reason == "end_turn"
        assert [(m.role, m.text) for m in session.transcript.messages] == [
            ("user", "Hi"),
            ("agent", "Hello"),
        ]
        assert turn.reply.text == "Hello"


@VERSIONS
@pytest.mark.rule("V1-SESS-23", "V1-PROMPT-01")
async def test_ask_gives_the_whole_answer(version: int) -> None:
    """Design: a blank line between the messages of a turn."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        assert prompt["params"]["sessionId"] == "s1"
        assert prompt["params"]["prompt"] == [{"type": "text", "text": "Hi"}]
        agent.say("one", "m1")
        agent.update({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Look"})
        agent.say("two", "m2")
        agent.end_turn(prompt, "max_tokens")

    async with connected(script, version) as (client, agent):
        session = await client.new_session()
        reply = await session.ask("Hi")
        assert (reply.text, reply.stop_reason) == ("one\n\ntwo", "max_tokens")
        assert [call.title for call in reply.tool_calls] == ["Look"]
        assert [message.role for message in reply.messages] == ["user", "agent", "agent"]
        methods = [message["method"] for message in agent.received]
        assert methods == ["initialize", "session/new", "session/prompt"]


@VERSIONS
async def test_ten_thousand_updates_come_in_order(version: int) -> None:
    """Issue 2: order, and a response never overtakes an update that was sent before it."""
    count = 10_000

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        for start in range(0, count, 100):
            numbers = range(start, start + 100)
            agent.write(*[agent.update_message(chunk(f"{n} ", "m")) for n in numbers])
            await agent.transport.drain()
        agent.end_turn(prompt)

    async with connected(script, version) as (client, _):
        session = await client.new_session()
        async with session.prompt("count") as turn:
            seen = [update.text async for update in turn]
        assert seen == [f"{n} " for n in range(count)]
        assert session.transcript.messages[-1].text == "".join(seen)


@VERSIONS
async def test_a_slow_consumer_slows_the_agent(version: int) -> None:
    """Design: over the bound reading pauses, so memory does not fill."""
    said = anyio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        for n in range(200):
            agent.say(f"{n} ")
            await checkpoint()
        agent.end_turn(prompt)
        said.set()

    limits = Limits(turn_updates=10)
    async with connected(script, version, limits=limits) as (client, agent):
        session = await client.new_session()
        async with session.prompt("count") as turn:
            await said.wait()
            await anyio.wait_all_tasks_blocked()
            assert 10 <= len(turn._inbox) <= 12
            assert agent.transport.backlog > 0
            assert [update.text async for update in turn] == [f"{n} " for n in range(200)]


async def test_a_call_inside_a_full_loop_is_no_deadlock() -> None:
    """Design: except while a task waits for a call on this connection."""

    async def script(agent: ScriptedAgent) -> None:
        modes = {"currentModeId": "a", "availableModes": [{"id": m, "name": m} for m in "ab"]}
        await agent.open_session(modes=modes)
        prompt = await agent.begin_turn()
        for n in range(50):
            agent.say(f"{n} ")
        request = await agent.expect("session/set_mode")
        for n in range(50, 100):
            agent.say(f"{n} ")
        agent.result(request, {})
        agent.end_turn(prompt)

    async with connected(script, limits=Limits(turn_updates=4)) as (client, _):
        session = await client.new_session()
        seen: list[str] = []
        async with session.prompt("count") as turn:
            async for update in turn:
                if not seen:
                    await session.set_mode("b")
                seen.append(update.text)
        assert "".join(seen) == "".join(f"{n} " for n in range(100))
        assert session.transcript.modes.current == "b"


@pytest.mark.parametrize("how", ["ask", "leave", "iterate"])
async def test_another_turn_inside_a_full_loop_is_no_deadlock(how: str) -> None:
    """Design: who waits for the end of another turn waits for what is behind the full one."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session(sessionId="one")
        await agent.open_session(sessionId="two")
        first = await agent.begin_turn()
        agent.session_id = "one"
        for n in range(50):
            agent.say(f"{n} ")
        second = await agent.begin_turn()
        for n in range(50, 100):
            agent.say(f"{n} ")
        if how == "leave":
            await agent.expect("session/cancel")
        agent.end_turn(second)
        agent.end_turn(first)

    async with connected(script, limits=Limits(turn_updates=4)) as (client, _):
        one, two = await client.new_session(), await client.new_session()
        seen: list[str] = []
        async with one.prompt("count") as turn:
            async for update in turn:
                if not seen and how == "ask":
                    await two.ask("and?")
                elif not seen:
                    async with two.prompt("and?") as other:
                        if how == "iterate":
                            assert [one async for one in other] == []
                seen.append(update.text)
        assert "".join(seen) == "".join(f"{n} " for n in range(100))


@VERSIONS
@pytest.mark.parametrize("how", ["break", "raise", "timeout"])
async def test_leaving_early_cancels_the_turn_and_waits_for_it(version: int, how: str) -> None:
    """Design: leaving a block early cancels the turn and waits for its end."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        agent.say("working")
        await agent.expect("session/cancel")
        agent.say("more")
        agent.end_turn(prompt, "cancelled")

    async with connected(script, version) as (client, _):
        session = await client.new_session()
        turn = session.prompt("work")
        if how == "break":
            async with turn:
                async for _update in turn:
                    break
        elif how == "raise":
            with pytest.raises(KeyError):
                await fail_at_once(turn)
        else:
            with anyio.move_on_after(0.02):
                async with turn:
                    async for _update in turn:
                        pass
        assert turn.stop_reason == "cancelled"
        assert not session.is_busy
        assert session.transcript.messages[-1].text == "workingmore"


@VERSIONS
async def test_an_agent_that_ignores_a_cancel_is_not_waited_for(version: int) -> None:
    """Design: within a bound."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await agent.begin_turn()
        await agent.expect("session/cancel")
        if version == 1:
            await agent.expect("$/cancel_request")
        prompt = await agent.begin_turn()
        agent.say("second")
        agent.end_turn(prompt)

    async with connected(script, version, limits=Limits(close_seconds=0.02)) as (client, _):
        session = await client.new_session()
        async with session.prompt("work") as turn:
            pass
        assert turn.stop_reason == "cancelled"
        assert (await session.ask("again")).text == "second"


@VERSIONS
@pytest.mark.rule("V1-CANCEL-09")
async def test_cancel_ends_the_turn_with_its_reason_and_no_error(version: int) -> None:
    """D1 prompt-turn: a cancelled turn is not a failed one."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        agent.say("working")
        await agent.expect("session/cancel")
        agent.end_turn(prompt, "cancelled")

    async with connected(script, version) as (client, _):
        session = await client.new_session()
        async with session.prompt("work") as turn:
            async for _update in turn:
                await turn.cancel()
        assert turn.stop_reason == "cancelled"


@VERSIONS
async def test_a_prompt_that_is_answered_by_request_cancelled_is_cancelled(version: int) -> None:
    """v2's pages 5.6: held prompts get -32800; v1 agents answer so too."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        agent.error(await agent.expect("session/prompt"), -32800, "Request cancelled")

    async with connected(script, version) as (client, _):
        session = await client.new_session()
        reply = await session.ask("work")
        assert reply.stop_reason == "cancelled"
        shown = [message.text for message in session.transcript.messages]
        assert shown == (["work"] if version == 1 else [])


@VERSIONS
async def test_updates_after_the_end_reach_the_session_and_not_the_turn(version: int) -> None:
    """Issue 2: updates after a prompt's result reach the session."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        end = (
            {"jsonrpc": "2.0", "id": prompt["id"], "result": {"stopReason": "end_turn"}}
            if version == 1
            else agent.update_message(
                {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}
            )
        )
        agent.write(
            agent.update_message(chunk("in", "m")), end, agent.update_message(chunk("late", "n"))
        )

    async with connected(script, version) as (client, _):
        session = await client.new_session()
        stream = session.updates()
        async with session.prompt("a") as turn:
            seen = [update.text async for update in turn]
        assert seen == ["in"]
        watched = [(await anext(stream)).text for _ in range(2 if version == 1 else 4)]
        assert watched[-1] == "late"
        assert session.transcript.messages[-1].text.endswith("late")


@VERSIONS
async def test_two_prompts_at_once_are_two_turns_and_the_first_gets_the_updates(
    version: int,
) -> None:
    """v1's pages 4.5: a second prompt queues; v2's pages 5.5: it may be held."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        first = await agent.begin_turn()
        agent.say("one", "m1")
        second = await agent.expect("session/prompt")
        agent.end_turn(first)
        if version == 2:
            agent.result(second, {"messageId": "u2"})
            agent.state("running")
        agent.say("two", "m2")
        agent.end_turn(second)

    async with connected(script, version) as (client, _):
        session = await client.new_session()
        async with session.prompt("a") as first:
            assert (await anext(first)).text == "one"
            async with session.prompt("b") as second:
                assert [update.text async for update in second] == ["two"]
            assert [update.text async for update in first] == []
        assert (first.stop_reason, second.stop_reason) == ("end_turn", "end_turn")


@VERSIONS
async def test_a_prompt_that_is_given_up_while_it_is_entered_is_never_sent(version: int) -> None:
    """Ours: no turn may run that nobody waits for."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        assert prompt["params"]["prompt"][0]["text"] == "second"
        agent.end_turn(prompt)

    async with connected(script, version) as (client, agent):
        session = await client.new_session()
        with anyio.CancelScope() as scope:
            scope.cancel()
            await session.ask("first")
        assert not session.is_busy
        assert session.transcript.messages == []
        assert (await session.ask("second")).stop_reason == "end_turn"
        assert agent.sent("session/cancel") == []


async def test_output_that_is_told_beside_a_call_is_an_update_of_its_terminal() -> None:
    """Issue 14: pi-acp runs commands itself; `accord run` showed nothing of what they printed."""

    def call(**meta: object) -> Json:
        return {"sessionUpdate": "tool_call_update", "toolCallId": "c", "_meta": meta}

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        turn = await agent.begin_turn()
        agent.update(call(terminal_info={"terminal_id": "t"}))
        agent.update(call(terminal_output={"terminal_id": "t", "data": "out"}))
        agent.update(call(terminal_exit={"terminal_id": "t", "exit_code": 2}))
        agent.end_turn(turn)

    async with connected(script) as (client, _):
        session = await client.new_session()
        watched = session.updates()
        async with session.prompt("run it") as turn:
            seen = [(update.kind, update.text) async for update in turn]
        assert seen == [
            *(("tool_call", ""), ("terminal", "")),
            *(("tool_call", ""), ("terminal", "out")),
            *(("tool_call", ""), ("terminal", "")),
        ]
        assert watched.waiting == len(seen)


@pytest.mark.parametrize("version", [1, 2])
async def test_an_internal_error_after_a_cancel_ends_the_turn_cancelled(version: int) -> None:
    """Issue 14: the agent's request to its model was cut off, which is what we asked for."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        turn = await agent.begin_turn()
        agent.update({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "t"})
        await agent.expect("session/cancel")
        if version == 1:
            agent.error(turn, -32603, "aborted")
        else:
            error = {"code": -32603, "message": "aborted"}
            agent.state("idle", stopReason="error", error=error)
        other = await agent.begin_turn()
        if version == 1:
            agent.error(other, -32603, "broken")
        else:
            error = {"code": -32603, "message": "broken"}
            agent.state("idle", stopReason="error", error=error)

    async with connected(script, version) as (client, _):
        session = await client.new_session()
        async with session.prompt("go") as turn:
            async for _update in turn:
                await turn.cancel()
            reply = await turn.wait()
        assert reply.stop_reason == "cancelled"
        with pytest.raises(RequestFailed, match="broken"):
            await session.ask("again")


async def test_calls_of_a_cancelled_v1_turn_end_cancelled() -> None:
    """Issue 14: v1 has no such status, and some agents leave such calls pending for ever."""

    def call(name: str, status: str) -> Json:
        return {"sessionUpdate": "tool_call", "toolCallId": name, "title": name, "status": status}

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        first = await agent.begin_turn()
        agent.update(call("earlier", "in_progress"))
        agent.end_turn(first)
        turn = await agent.begin_turn()
        agent.update(call("done", "completed"))
        agent.update(call("broken", "failed"))
        agent.update(call("left", "pending"))
        agent.update(call("stopped", "in_progress"))
        await agent.expect("session/cancel")
        agent.update({**call("stopped", "failed"), "sessionUpdate": "tool_call_update"})
        agent.end_turn(turn, "cancelled")

    async with connected(script) as (client, _):
        session = await client.new_session()
        await session.ask("first")
        seen: list[tuple[str, str]] = []
        async with session.prompt("second") as turn:
            async for update in turn:
                assert update.kind == "tool_call"
                seen.append((update.item.tool_call_id, update.item.status))
                if update.item.tool_call_id == "stopped" and not update.item.cancelled:
                    await turn.cancel()
        assert seen[-2:] == [("stopped", "cancelled"), ("left", "cancelled")]
        assert {one.tool_call_id: one.status for one in session.transcript.tool_calls} == {
            "earlier": "in_progress",
            "done": "completed",
            "broken": "failed",
            "left": "cancelled",
            "stopped": "cancelled",
        }

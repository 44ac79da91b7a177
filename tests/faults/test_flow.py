"""Order, bounds and backpressure, seen from outside a real agent process."""

import json

import pytest

from tests.faults.process import AgentProcess, agent_process

MEBIBYTE = 1024 * 1024
# A peer that is not heard any more can send no more: this long is waited to see that it is so.
FLOOD_SECONDS = 3.0


async def test_ten_thousand_updates_arrive_in_order_and_before_the_answer() -> None:
    """Issue 2: in order, and a response never overtakes an update sent before it."""
    async with agent_process() as agent:
        await agent.initialize()
        session_id = await agent.new_session()
        prompt = await agent.prompt(session_id, "stream 10000")
        await agent.answer(prompt)
        assert agent.texts() == [f"{number} " for number in range(10_000)]
        last_update = max(at for at, one in enumerate(agent.messages) if "method" in one)
        answered = next(at for at, one in enumerate(agent.messages) if one.get("id") == prompt)
        assert last_update < answered


async def test_prompts_of_many_sessions_at_once_keep_their_own_order() -> None:
    """Issue 2."""
    async with agent_process() as agent:
        await agent.initialize()
        sessions = [await agent.new_session() for _ in range(20)]
        prompts = [await agent.prompt(session_id, "stream 200") for session_id in sessions]
        for prompt in prompts:
            assert (await agent.answer(prompt))["result"] == {"stopReason": "end_turn"}
        for session_id in sessions:
            said = [
                one["params"]["update"]["content"]["text"]
                for one in agent.messages
                if one.get("method") == "session/update"
                and one["params"]["sessionId"] == session_id
                and one["params"]["update"]["sessionUpdate"] == "agent_message_chunk"
            ]
            assert said == [f"{number} " for number in range(200)]


async def heard(agent: AgentProcess, count: int) -> None:
    """Wait until the agent has heard so many questions; it says so on stderr."""
    await agent.until(lambda: agent.stderr.count(b"heard") == count)


async def test_a_slow_reader_slows_the_writer() -> None:
    """Issue: `say` waits, and memory stays bounded; then everything arrives."""
    async with agent_process() as agent:
        await agent.initialize()
        session_id = await agent.new_session()
        before = agent.memory()
        agent.stop_reading()
        prompt = await agent.prompt(session_id, "large 1600 65536")
        said, questions = -1, 0
        # It says as much as pipes and backlog take, and then no more, while it still listens.
        while said != (said := agent.stderr.count(b"said")):
            for _ in range(20):
                questions += 1
                await agent.start("_murmur", {})
                await heard(agent, questions)
        assert said * 65536 < 8 * MEBIBYTE
        assert agent.memory() - before < 32 * MEBIBYTE
        agent.read_on()
        assert (await agent.answer(prompt))["result"] == {"stopReason": "end_turn"}
        assert [len(text) for text in agent.texts()] == [65536] * 1600


@pytest.mark.parametrize("version", [1, 2])
async def test_a_peer_that_takes_nothing_is_lost_after_the_limit(version: int) -> None:
    """Issue 3, a peer that stops reading: the agent says so and goes."""
    async with agent_process(limits={"stall_seconds": 0.3}) as agent:
        await agent.initialize(version)
        session_id = await agent.new_session()
        agent.stop_reading()
        await agent.prompt(session_id, f"large 50 {MEBIBYTE}")
        await agent.until(lambda: b"the peer read nothing for 0.3 s" in agent.stderr)
        agent.read_on()
        assert await agent.exit_code() == 0
        assert len(agent.texts()) < 50


async def test_a_peer_that_asks_without_reading_is_not_heard_for_ever() -> None:
    """A fault of others: 122,900 requests accepted in 8 s, the answers all in memory."""
    async with agent_process() as agent:
        await agent.initialize()
        agent.stop_reading()
        before = agent.memory()
        padding = "x" * 8192
        echo = json.dumps(
            {"jsonrpc": "2.0", "id": 0, "method": "_echo", "params": {"padding": padding}}
        )
        sent = 0

        async def flood() -> None:
            nonlocal sent
            while sent < 20_000:
                lines = [echo.replace('"id": 0', f'"id": "f{sent + at}"') for at in range(100)]
                await agent.write("\n".join(lines).encode() + b"\n")
                sent += 100

        with pytest.raises(TimeoutError):
            await agent.within(FLOOD_SECONDS, flood)
        # 160 MiB of questions were offered; what was taken is far less, and so is what it keeps.
        assert sent < 10_000
        assert agent.memory() - before < 96 * MEBIBYTE
        agent.read_on()
        await agent.until(lambda: len(agent.messages) >= sent)


@pytest.mark.rule("LIM-02")
async def test_one_request_too_many_is_refused_and_the_open_ones_are_not_touched() -> None:
    """Issue 3: 1,024 open, two more refused; one is freed, and one more is taken."""
    async with agent_process() as agent:
        await agent.initialize()
        for number in range(1024):
            await agent.start("_hold", {"n": number}, id_=f"h{number}")
        for name in ("over1", "over2"):
            error = (await agent.answer(await agent.start("_hold", {}, id_=name)))["error"]
            assert error["code"] == -32603
            assert error["data"] == {"reason": "too_many_requests"}
        params = {"requestId": "h5"}
        await agent.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params})
        assert (await agent.answer("h5"))["error"]["code"] == -32800
        await agent.start("_release", {}, id_="release")
        assert (await agent.answer("release"))["result"] == {}
        for number in (0, 4, 6, 1023):
            assert (await agent.answer(f"h{number}"))["result"] == {"n": number}
        refused = [one for one in agent.messages if "error" in one]
        assert len(refused) == 3


@pytest.mark.rule("LIM-04")
async def test_prompts_queue_in_one_session_up_to_the_limit() -> None:
    """17 prompts behind a running one: the last is refused; the others all end, in order."""
    async with agent_process() as agent:
        await agent.initialize()
        session_id = await agent.new_session()
        first = await agent.prompt(session_id, "wait")
        await agent.until(lambda: agent.texts() == ["waiting"])
        queued = [await agent.prompt(session_id, f"say {number}") for number in range(17)]
        assert (await agent.answer(queued[16]))["error"]["code"] == -32600
        params = {"requestId": first}
        await agent.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params})
        for prompt in queued[:16]:
            assert (await agent.answer(prompt))["result"] == {"stopReason": "end_turn"}
        assert agent.texts() == ["waiting", *map(str, range(16))]
        answered = [one["id"] for one in agent.messages if one.get("id") in [first, *queued[:16]]]
        assert answered == [first, *queued[:16]]

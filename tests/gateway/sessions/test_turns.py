"""One order of prompts, their ends, and what is taken back before the agent has it."""

import anyio
import pytest

from tests.gateway.scripted_agent import scripted

pytestmark = pytest.mark.anyio
TURN = "_accord.session/turn"
CANCELLED = {"stopReason": "cancelled"}


async def test_r4_prompts_run_in_one_order_with_their_authors() -> None:
    """R4: a v1 agent gets one at a time; the agent and everybody else learn who wrote each."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair()
        first, second = ann.prompt(session_id, "first"), bob.prompt(session_id, "second")
        asked = await one.agent_wire.hears("session/prompt")
        assert asked["params"]["_meta"]["accord.author"] == {"user": "ann", "displayName": "Ann"}
        await bob.synced()
        assert not one.agent_wire.heard
        one.agent_wire.answer(asked["id"], {"stopReason": "end_turn"})
        asked = await one.agent_wire.hears("session/prompt")
        assert asked["params"]["_meta"]["accord.author"]["user"] == "bob"
        one.agent_wire.answer(asked["id"], {"stopReason": "end_turn"})
        assert (await ann.answer_to(first))["result"] == {"stopReason": "end_turn"}
        assert (await bob.answer_to(second))["result"] == {"stopReason": "end_turn"}
        late = await one.person("ann")
        await late.load(session_id)
        assert late.texts() == ["first", "second"]


async def test_a_client_that_claims_another_author_is_not_believed() -> None:
    """R4: the gateway says who somebody is."""
    async with scripted() as one:
        ann = await one.person("ann")
        session_id = await ann.new()
        meta = {"accord.author": {"user": "eve"}, "mine": 1}
        ann.ask("session/prompt", {"sessionId": session_id, "prompt": [], "_meta": meta})
        asked = await one.agent_wire.hears("session/prompt")
        author = {"user": "ann", "displayName": "Ann"}
        assert asked["params"]["_meta"] == {"accord.author": author, "mine": 1}


async def test_an_answer_comes_behind_the_updates_that_the_agent_sent_before_it() -> None:
    async with scripted() as one:
        ann, bob, session_id = await one.pair()
        request_id = ann.prompt(session_id, "go")
        asked = await one.agent_wire.hears("session/prompt")
        for number in range(100):
            one.agent_wire.chunk(session_id, str(number))
        one.agent_wire.answer(asked["id"], {"stopReason": "end_turn"})
        await ann.answer_to(request_id)
        assert ann.texts() == [str(number) for number in range(100)]
        while len(bob.texts()) < 101:
            await bob.next()
        assert bob.texts() == ["go", *ann.texts()]


@pytest.mark.parametrize("how", ["session/cancel", "$/cancel_request"])
async def test_a_prompt_that_is_cancelled_at_once_never_reaches_the_agent(how: str) -> None:
    """It is on its way through the log when the cancellation comes, in the same chunk."""
    async with scripted() as one:
        ann = await one.person("ann")
        session_id = await ann.new()
        prompt = {"sessionId": session_id, "prompt": [{"type": "text", "text": "no"}]}
        cancel = {"sessionId": session_id} if how == "session/cancel" else {"requestId": 99}
        ann.wire.say(
            {"id": 99, "method": "session/prompt", "params": prompt},
            {"method": how, "params": cancel},
        )
        assert (await ann.answer_to(99))["result"] == CANCELLED
        ann.prompt(session_id, "yes")
        asked = await one.agent_wire.hears("session/prompt")
        assert asked["params"]["prompt"][0]["text"] == "yes"


async def test_cancelling_answers_the_prompts_that_wait_and_asks_the_agent_to_stop() -> None:
    """R2: an editor may cancel what somebody else has begun."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair()
        running = ann.prompt(session_id, "long")
        asked = await one.agent_wire.hears("session/prompt")
        waiting = ann.prompt(session_id, "more")
        await ann.synced()
        bob.wire.notify("session/cancel", {"sessionId": session_id})
        assert (await ann.answer_to(waiting))["result"] == CANCELLED
        await one.agent_wire.hears("session/cancel")
        one.agent_wire.answer(asked["id"], CANCELLED)
        assert (await ann.answer_to(running))["result"] == CANCELLED


async def test_a_viewer_cannot_cancel() -> None:
    """R2: a notification has no answer, so it is dropped."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair("viewer")
        ann.prompt(session_id, "long")
        await one.agent_wire.hears("session/prompt")
        bob.wire.notify("session/cancel", {"sessionId": session_id})
        await bob.synced()
        assert not one.agent_wire.heard


async def test_too_many_prompts_are_refused_and_the_rest_runs() -> None:
    async with scripted() as one:
        ann = await one.person("ann")
        session_id = await ann.new()
        ids = [ann.prompt(session_id, str(number)) for number in range(18)]
        refused = await ann.answer_to(ids[-1])
        assert refused["error"]["data"]["reason"] == "too_many_prompts"
        for number in range(17):
            asked = await one.agent_wire.hears("session/prompt")
            assert asked["params"]["prompt"][0]["text"] == str(number)
            one.agent_wire.answer(asked["id"], {"stopReason": "end_turn"})
        assert "result" in await ann.answer_to(ids[-2])


@pytest.mark.parametrize("prompt", [None, "text", {"type": "text"}, ["text"]])
async def test_a_prompt_without_blocks_is_refused_at_once(prompt: object) -> None:
    async with scripted() as one:
        ann = await one.person("ann")
        session_id = await ann.new()
        answer = await ann.call("session/prompt", {"sessionId": session_id, "prompt": prompt})
        assert answer["error"]["code"] == -32602
        assert not one.agent_wire.heard


async def test_somebody_who_is_removed_in_a_turn_gets_the_answers_and_sends_nothing_more() -> None:
    """What ran goes on for the others; what waited is refused."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair()
        running, waiting = bob.prompt(session_id, "mine"), bob.prompt(session_id, "and this")
        asked = await one.agent_wire.hears("session/prompt")
        await ann.call("_accord.session/remove", {"sessionId": session_id, "user": "bob"})
        refused = (await bob.answer_to(waiting))["error"]
        assert refused["data"]["reason"] == "role"
        assert (await bob.hears("_accord.session/closed"))["params"]["reason"] == "removed"
        one.agent_wire.chunk(session_id, "secret")
        one.agent_wire.answer(asked["id"], {"stopReason": "end_turn"})
        assert "result" in await bob.answer_to(running)
        await bob.synced()
        assert "secret" not in bob.texts()
        while "secret" not in ann.texts():
            await ann.next()


async def test_a_turn_goes_on_without_the_person_who_began_it() -> None:
    """A connection that is cut takes nothing back."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair()
        ann.prompt(session_id, "go on")
        asked = await one.agent_wire.hears("session/prompt")
        await ann.wire.transport.aclose()
        await bob.hears("_accord.session/presence", event="leave")
        one.agent_wire.chunk(session_id, "done")
        one.agent_wire.answer(asked["id"], {"stopReason": "end_turn"})
        while bob.texts() != ["go on", "done"]:
            await bob.next()
        assert not one.agent_wire.heard


async def test_an_answer_survives_that_its_asker_joins_again_meanwhile() -> None:
    """Joining again replaces the view; the request of the old one is still answered once."""
    async with scripted() as one:
        ann = await one.person("ann")
        session_id = await ann.new()
        request_id = ann.prompt(session_id, "go")
        asked = await one.agent_wire.hears("session/prompt")
        one.agent_wire.chunk(session_id, "a")
        one.agent_wire.answer(asked["id"], {"stopReason": "end_turn"})
        again = ann.ask("session/load", {"sessionId": session_id, "cwd": "/", "mcpServers": []})
        assert "result" in await ann.answer_to(request_id)
        assert "result" in await ann.answer_to(again)


async def test_prompts_that_come_while_no_process_runs_start_one() -> None:
    """Not one each, and in their order."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair()
        ann.prompt(session_id, "before")
        asked = await one.agent_wire.hears("session/prompt")
        one.agent_wire.answer(asked["id"], {"stopReason": "end_turn"})
        await ann.synced()
        before = len(one.agents)
        await one.kill()
        while one.gateway.sessions.live[session_id].process is not None:
            await anyio.lowlevel.checkpoint()
        for number in range(3):
            ann.prompt(session_id, str(number))
        bob.ask("session/set_mode", {"sessionId": session_id, "modeId": "m"})
        while len(one.agents) == before:
            await anyio.lowlevel.checkpoint()
        for number in range(3):
            asked = await one.agent_wire.hears("session/prompt")
            assert asked["params"]["prompt"][0]["text"] == str(number)
            one.agent_wire.answer(asked["id"], {"stopReason": "end_turn"})
        await one.agent_wire.hears("session/set_mode")
        assert len(one.agents) == before + 1


async def test_everybody_learns_whose_turn_runs_and_when_it_is_over() -> None:
    """A v1 agent reports no state, so the gateway says it, also to latecomers."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair("viewer")
        ann.prompt(session_id, "first")
        asked = await one.agent_wire.hears("session/prompt")
        told = (await bob.hears(TURN))["params"]
        hers = {"user": "ann", "displayName": "Ann"}
        assert told == {"sessionId": session_id, "turn": hers}
        answer = await bob.call("_accord.session/members", {"sessionId": session_id})
        assert answer["result"]["turn"] == hers
        ann.prompt(session_id, "second")
        await ann.synced()
        one.agent_wire.answer(asked["id"], {"stopReason": "end_turn"})
        turns = [(await bob.hears(TURN))["params"]["turn"] for _ in range(2)]
        assert turns == [None, hers]
        await one.kill()
        assert (await bob.hears(TURN))["params"]["turn"] is None
        answer = await bob.call("_accord.session/members", {"sessionId": session_id})
        assert answer["result"]["turn"] is None


async def test_a_v2_agent_tells_its_state_itself() -> None:
    async with scripted(2) as one:
        ann, bob, session_id = await one.pair()
        request_id = ann.prompt(session_id, "go")
        asked = await one.agent_wire.hears("session/prompt")
        one.agent_wire.answer(asked["id"], {})
        await ann.answer_to(request_id)
        await bob.synced()
        assert not [message for message in bob.heard if message.get("method") == TURN]


@pytest.mark.parametrize("early", [False, True])
async def test_a_v2_turn_is_over_when_the_agent_is_idle(early: bool) -> None:
    """Also if the agent says so before it has answered the prompt."""
    async with scripted(2) as one:
        ann = await one.person("ann")
        session_id = await ann.new()
        request_id = ann.prompt(session_id, "go")
        asked = await one.agent_wire.hears("session/prompt")
        session = one.gateway.sessions.live[session_id]
        assert session.is_busy
        if not early:
            one.agent_wire.answer(asked["id"], {})
        one.agent_wire.update(session_id, sessionUpdate="state_update", state="running")
        one.agent_wire.update(session_id, sessionUpdate="state_update", state="idle")
        if early:
            one.agent_wire.answer(asked["id"], {})
        await ann.answer_to(request_id)
        await ann.synced()
        assert not session.facts.turn_open

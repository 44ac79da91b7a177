"""R5 of the draft's collaborative sessions: who is asked, and whose answer counts."""

from typing import Any

import anyio
import pytest

from accord.gateway.sessions.requests import shared_requests
from tests.gateway.scripted_agent import AgentWire, Person, scripted

pytestmark = pytest.mark.anyio

OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
ASKED = "session/request_permission"
YES = {"outcome": {"outcome": "selected", "optionId": "yes"}}
NO = {"outcome": {"outcome": "selected", "optionId": "no"}}


def ask(agent: AgentWire, session_id: str, request_id: str = "q") -> None:
    """The agent asks for permission."""
    call = {"toolCallId": "c", "title": "Delete it"}
    params = {"sessionId": session_id, "toolCall": call, "options": OPTIONS}
    agent.request(request_id, ASKED, params)


async def settled(person: Person) -> tuple[str, str]:
    """Who settled the question, and how, as somebody hears it."""
    params = (await person.hears("_accord.session/settled"))["params"]
    return params["by"], params["outcome"]


async def test_r5_the_first_answer_wins_and_the_others_are_withdrawn() -> None:
    async with scripted() as one:
        ann, bob, session_id = await one.pair("admin")
        ask(one.agent_wire, session_id)
        hers, his = await ann.hears(ASKED), await bob.hears(ASKED)
        bob.wire.answer(his["id"], NO)
        assert (await one.agent_wire.hears(None))["result"] == NO
        await ann.hears("$/cancel_request", requestId=hers["id"])
        assert await settled(ann) == await settled(bob) == ("bob", "answered")
        ann.wire.answer(hers["id"], YES)
        await ann.synced()
        assert not one.agent_wire.heard


async def test_r5_both_answer_in_the_same_moment() -> None:
    """The agent gets one of them."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair("admin")
        ask(one.agent_wire, session_id)
        hers, his = await ann.hears(ASKED), await bob.hears(ASKED)
        ann.wire.answer(hers["id"], YES)
        bob.wire.answer(his["id"], NO)
        answer = await one.agent_wire.hears(None)
        by, _ = await settled(ann)
        assert answer["result"] == {"ann": YES, "bob": NO}[by]
        await ann.synced()
        await bob.synced()
        assert not one.agent_wire.heard


@pytest.mark.parametrize(
    "answer",
    [
        {"outcome": {"outcome": "selected", "optionId": "root"}},
        {"outcome": {"outcome": "selected"}},
        {"outcome": "yes"},
        {},
        [],
    ],
)
async def test_r5_an_answer_that_was_not_offered_does_not_count(answer: Any) -> None:
    """The question stays open for the others; when nobody is left, the agent gets an error."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair("admin")
        for last in (bob, ann):
            ask(one.agent_wire, session_id)
            hers, his = await ann.hears(ASKED), await bob.hears(ASKED)
            first, then = (ann, bob) if last is bob else (bob, ann)
            ids = {id(ann): hers["id"], id(bob): his["id"]}
            first.wire.answer(ids[id(first)], answer)
            await first.synced()
            assert not one.agent_wire.heard
            then.wire.answer(ids[id(then)], YES if last is bob else answer)
            got = await one.agent_wire.hears(None)
            assert ("result" in got) is (last is bob)


async def test_r5_viewers_and_editors_are_not_asked() -> None:
    async with scripted() as one:
        ann, bob, session_id = await one.pair("editor")
        ask(one.agent_wire, session_id)
        hers = await ann.hears(ASKED)
        await bob.synced()
        assert ASKED not in [message.get("method") for message in bob.heard]
        ann.wire.answer(hers["id"], YES)
        assert await settled(bob) == ("ann", "answered")


async def test_r5_who_becomes_an_admin_is_asked_and_who_was_one_no_longer_answers() -> None:
    async with scripted() as one:
        ann, bob, session_id = await one.pair("editor")
        ask(one.agent_wire, session_id)
        await ann.hears(ASKED)
        await ann.lets_in(session_id, "bob", "admin")
        his = await bob.hears(ASKED)
        await ann.lets_in(session_id, "bob", "viewer")
        await bob.hears("$/cancel_request", requestId=his["id"])
        bob.wire.answer(his["id"], YES)
        await bob.synced()
        assert not one.agent_wire.heard


async def test_r5_a_request_waits_for_somebody_who_may_answer() -> None:
    """Nobody is connected when the agent asks, and it is still there for whoever comes."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair("editor")
        ann.prompt(session_id, "go")
        await one.agent_wire.hears("session/prompt")
        await ann.wire.transport.aclose()
        await bob.hears("_accord.session/presence", event="leave")
        ask(one.agent_wire, session_id)
        await bob.synced()
        again = await one.person("ann")
        await again.load(session_id)
        hers = await again.hears(ASKED)
        again.wire.answer(hers["id"], YES)
        assert (await one.agent_wire.hears(None))["result"] == YES


async def test_r5_who_goes_without_an_answer_refuses_nothing() -> None:
    """A connection that is cut is not an answer."""
    async with scripted() as one:
        ann, _, session_id = await one.pair("admin")
        ask(one.agent_wire, session_id)
        await ann.hears(ASKED)
        await ann.wire.transport.aclose()
        again = await one.person("ann")
        await again.load(session_id)
        hers = await again.hears(ASKED)
        assert not one.agent_wire.heard
        again.wire.answer(hers["id"], NO)
        assert (await one.agent_wire.hears(None))["result"] == NO


async def test_r5_what_nobody_can_answer_fails_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_requests, "UNANSWERED_SECONDS_MAX", 0.0)
    async with scripted() as one:
        ann, bob, session_id = await one.pair("editor")
        await ann.wire.transport.aclose()
        await bob.hears("_accord.session/presence", event="leave")
        ask(one.agent_wire, session_id)
        error = (await one.agent_wire.hears(None))["error"]
        assert error["data"] == {"reason": "nobody"}


async def test_cancelling_a_turn_answers_its_questions() -> None:
    """By anybody who may cancel: the agent must not wait for an admin."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair("editor")
        ask(one.agent_wire, session_id)
        hers = await ann.hears(ASKED)
        bob.wire.notify("session/cancel", {"sessionId": session_id})
        await ann.hears("$/cancel_request", requestId=hers["id"])
        assert (await one.agent_wire.hears(None))["result"] == {"outcome": {"outcome": "cancelled"}}
        assert await settled(ann) == ("bob", "cancelled")


async def test_what_the_agent_takes_back_is_answered_even_before_anybody_was_asked() -> None:
    """It asks and takes back in one chunk; the log has the question later."""
    async with scripted() as one:
        ann, _, session_id = await one.pair("admin")
        params = {"sessionId": session_id, "toolCall": {"toolCallId": "c"}, "options": OPTIONS}
        one.agent_wire.say(
            {"id": "q", "method": ASKED, "params": params},
            {"method": "$/cancel_request", "params": {"requestId": "q"}},
        )
        assert (await one.agent_wire.hears(None))["error"]["code"] == -32800
        await ann.synced()
        assert ASKED not in [message.get("method") for message in ann.heard]
        assert not one.gateway.sessions.live[session_id].shared.open


async def test_when_the_asker_is_gone_the_question_goes() -> None:
    async with scripted() as one:
        ann, bob, session_id = await one.pair("admin")
        ask(one.agent_wire, session_id)
        hers, his = await ann.hears(ASKED), await bob.hears(ASKED)
        await one.kill()
        await ann.hears("$/cancel_request", requestId=hers["id"])
        await bob.hears("$/cancel_request", requestId=his["id"])
        assert await settled(bob) == ("", "withdrawn")
        ann.wire.answer(hers["id"], YES)
        await ann.synced()
        late = await one.person("ann")
        await late.load(session_id)
        await late.synced()
        assert ASKED not in [message.get("method") for message in late.heard]


@pytest.mark.parametrize("answer", [{"action": "cancel"}, {"action": "maybe"}])
async def test_questions_of_the_agent_go_to_editors_too(answer: Any) -> None:
    """Forms: any editor answers, with one of the three actions."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair("editor")
        params = {"sessionId": session_id, "mode": "form", "message": "?", "requestedSchema": {}}
        one.agent_wire.request("f", "elicitation/create", params)
        hers, his = await ann.hears("elicitation/create"), await bob.hears("elicitation/create")
        bob.wire.answer(his["id"], answer)
        if answer["action"] == "maybe":
            await bob.synced()
            ann.wire.answer(hers["id"], {"action": "decline"})
            answer = {"action": "decline"}
        assert (await one.agent_wire.hears(None))["result"] == answer


async def test_a_question_is_behind_what_the_agent_said_before_it() -> None:
    """Also for somebody who reads slowly, and for one who comes while it is open."""
    async with scripted() as one:
        ann = await one.person("ann")
        session_id = await ann.new()
        for number in range(300):
            one.agent_wire.chunk(session_id, str(number))
        ask(one.agent_wire, session_id)
        await ann.hears(ASKED)
        late = await one.person("ann")
        await late.load(session_id)
        await late.hears(ASKED)
        assert late.texts() == ann.texts() == [str(number) for number in range(300)]
        await anyio.lowlevel.checkpoint()

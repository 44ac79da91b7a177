"""An admin lets somebody in by a code."""

from typing import Any

import anyio
import pytest

from accord.gateway.sessions.people.invites import INVITES_MAX, has_invite, make_invite, use_invite
from accord.gateway.sessions.session_facts import SessionFacts
from tests.gateway.scripted_agent import scripted

JOIN = "_accord.session/join"


def facts() -> SessionFacts:
    nothing: dict[str, Any] = {}
    return SessionFacts("s", "a", "v1", "s", "ann", "/", nothing, nothing, nothing)


def test_a_code_works_once_and_is_not_stored() -> None:
    of = facts()
    code, _ = make_invite(of, "editor", 60)
    assert code not in str(of.invites)
    assert has_invite(of, code)
    assert use_invite(of, code, None) == "editor"
    assert not has_invite(of, code)
    assert use_invite(of, code, None) is None


def test_a_code_ends() -> None:
    of = facts()
    code, until = make_invite(of, "editor", 60, now=lambda: 1000.0)
    assert until == 1060.0
    assert has_invite(of, code, now=lambda: 1059.0)
    assert not has_invite(of, code, now=lambda: 1060.0)
    assert use_invite(of, code, None, now=lambda: 1060.0) is None


def test_a_code_takes_nothing_away() -> None:
    of = facts()
    code, _ = make_invite(of, "viewer", 60)
    assert use_invite(of, code, "admin") == "admin"


def test_codes_have_a_bound_and_the_first_to_end_makes_room() -> None:
    of = facts()
    codes = [make_invite(of, "viewer", 60 + number)[0] for number in range(INVITES_MAX + 1)]
    assert [has_invite(of, code) for code in codes] == [False] + [True] * INVITES_MAX


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
async def test_r2_who_has_a_code_becomes_a_member_with_its_role(version: int) -> None:
    async with scripted(version) as one:
        ann, eve = await one.person("ann"), await one.person("eve")
        session_id = await ann.new()
        asked = {"sessionId": session_id, "role": "editor", "seconds": 60}
        code = (await ann.call("_accord.session/invite", asked))["result"]["code"]
        wrong = await eve.call(JOIN, {"sessionId": session_id, "code": "guess"})
        unknown = await eve.call(JOIN, {"sessionId": "nowhere", "code": "guess"})
        assert str(wrong["error"]).replace(session_id, "nowhere") == str(unknown["error"])
        joined = await eve.call(JOIN, {"sessionId": session_id, "code": code})
        assert joined["result"]["you"]["role"] == "editor"
        assert "result" in await eve.load(session_id)
        cem = await one.person("cem")
        assert "error" in await cem.call(JOIN, {"sessionId": session_id, "code": code})


@pytest.mark.anyio
async def test_r2_only_an_admin_invites() -> None:
    async with scripted() as one:
        _, bob, session_id = await one.pair("editor")
        asked = {"sessionId": session_id, "role": "viewer"}
        refused = await bob.call("_accord.session/invite", asked)
        assert refused["error"]["data"]["needed"] == "admin"


@pytest.mark.anyio
@pytest.mark.parametrize("more", [{"role": "owner"}, {"seconds": 0}, {"seconds": "1"}])
async def test_an_invitation_that_makes_no_sense_is_refused(more: Any) -> None:
    async with scripted() as one:
        ann = await one.person("ann")
        session_id = await ann.new()
        asked = {"sessionId": session_id, "role": "viewer", **more}
        assert (await ann.call("_accord.session/invite", asked))["error"]["code"] == -32602


@pytest.mark.anyio
async def test_r2_an_invitation_outlives_the_process_and_brings_the_session_back() -> None:
    """Issue 17: a session that is parked, and one that is on its way out."""
    async with scripted(grace_seconds=0.0) as one:
        ann = await one.person("ann")
        session_id = await ann.new()
        request = ann.prompt(session_id, "hello")
        agent = one.agent_wire
        agent.answer((await agent.hears("session/prompt"))["id"], {"stopReason": "end_turn"})
        await ann.answer_to(request)
        codes = []
        for _ in range(2):
            asked = {"sessionId": session_id, "role": "editor"}
            codes.append((await ann.call("_accord.session/invite", asked))["result"]["code"])
        eve, cem = await one.person("eve"), await one.person("cem")
        # While it leaves, and afterwards: who joins finds it whole.
        await ann.wire.transport.aclose()
        while session_id not in one.gateway.idle_sessions._leaving:
            await anyio.lowlevel.checkpoint()
        for person, code in zip((eve, cem), codes, strict=True):
            joined = await person.call(JOIN, {"sessionId": session_id, "code": code})
            assert joined["result"]["you"]["role"] == "editor"
            assert one.gateway.sessions.live[session_id].facts.members[person_name(joined)]
        assert "result" in await eve.load(session_id)
        assert "hello" in eve.texts()
        request = eve.prompt(session_id, "again")
        agent, prompt = await one.hears("session/prompt")
        agent.answer(prompt["id"], {"stopReason": "end_turn"})
        assert "result" in await eve.answer_to(request)


def person_name(joined: Any) -> str:
    """Who somebody is, in the answer to a join."""
    name: str = joined["result"]["you"]["user"]
    return name

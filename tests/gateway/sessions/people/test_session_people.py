"""R2 and R3 of the draft's collaborative sessions: roles, and who is here."""

from typing import Any

import anyio
import pytest

from accord.gateway.sessions.people import session_people
from tests.gateway.scripted_agent import Person, scripted

pytestmark = pytest.mark.anyio
PRESENCE = "_accord.session/presence"
VERSIONS = (1, 2)


async def members(person: Person, session_id: str) -> dict[str, Any]:
    """What the gateway says about the people of a session."""
    answer = await person.call("_accord.session/members", {"sessionId": session_id})
    found: dict[str, Any] = answer["result"]
    return found


@pytest.mark.parametrize("version", VERSIONS)
async def test_r3_everybody_learns_who_is_here_and_what_they_may_do(version: int) -> None:
    """R3: with user id and display name; and one's own role."""
    async with scripted(version) as one:
        ann, bob, session_id = await one.pair("viewer")
        joined = (await ann.hears(PRESENCE, event="join"))["params"]
        assert (joined["user"], joined["displayName"], joined["role"]) == ("bob", "Bob", "viewer")
        found = await members(bob, session_id)
        assert found["you"] == {"user": "bob", "displayName": "Bob", "role": "viewer"}
        here = {"here": True, "typing": False, "focus": False}
        assert found["members"] == [
            {"user": "ann", "displayName": "Ann", "role": "admin", **here},
            {"user": "bob", "displayName": "Bob", "role": "viewer", **here},
        ]
        await bob.wire.transport.aclose()
        await ann.hears(PRESENCE, event="leave", user="bob")
        found = await members(ann, session_id)
        assert found["members"][1] == {"user": "bob", "role": "viewer", "here": False}


async def test_r3_a_person_with_two_devices_comes_once_and_goes_once() -> None:
    async with scripted() as one:
        ann, bob, session_id = await one.pair()
        again = await one.person("bob")
        await again.load(session_id)
        await bob.wire.transport.aclose()
        await again.synced()
        await ann.synced()
        events = [m["params"]["event"] for m in ann.heard if m.get("method") == PRESENCE]
        assert events == ["join"]
        await again.wire.transport.aclose()
        await ann.hears(PRESENCE, event="leave")


async def test_r2_a_new_role_holds_at_once_and_everybody_is_told() -> None:
    async with scripted() as one:
        ann, bob, session_id = await one.pair("viewer")
        refused = await bob.answer_to(bob.prompt(session_id, "no"))
        assert refused["error"]["message"] == "session/prompt needs an editor; your role is viewer"
        await ann.lets_in(session_id, "bob", "editor")
        told = (await bob.hears("_accord.session/members"))["params"]["members"]
        assert {one["user"]: one["role"] for one in told} == {"ann": "admin", "bob": "editor"}
        bob.prompt(session_id, "yes")
        asked = await one.agent_wire.hears("session/prompt")
        assert asked["params"]["prompt"][0]["text"] == "yes"


async def test_r2_who_is_removed_sees_nothing_more_and_may_not_come_back() -> None:
    async with scripted() as one:
        ann, bob, session_id = await one.pair()
        await ann.call("_accord.session/remove", {"sessionId": session_id, "user": "bob"})
        await bob.hears("_accord.session/closed", reason="removed")
        one.agent_wire.chunk(session_id, "secret")
        while "secret" not in ann.texts():
            await ann.next()
        refused = await bob.load(session_id)
        assert refused["error"]["code"] == -32002
        assert bob.texts() == []


@pytest.mark.parametrize("change", ["set_role", "remove", "invite"])
async def test_r2_a_change_is_stored_before_it_is_answered(change: str, monkeypatch: Any) -> None:
    """Ours: a gateway that is killed behind the answer still knows who may do what."""
    async with scripted() as one:
        ann, _, session_id = await one.pair()
        engine = one.gateway.sessions._engine
        put, may_store, answers = engine.put, anyio.Event(), list[Any]()

        async def slow(record: Any) -> Any:
            await may_store.wait()
            return await put(record)

        async def ask() -> None:
            params = {"sessionId": session_id, "user": "bob", "role": "viewer"}
            answers.append(await ann.call(f"_accord.session/{change}", params))

        monkeypatch.setattr(engine, "put", slow)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            assert answers == []
            may_store.set()
        assert "result" in answers[0]


async def test_r2_somebody_may_leave_for_good_but_remove_nobody_else() -> None:
    async with scripted() as one:
        ann, bob, session_id = await one.pair()
        await ann.lets_in(session_id, "cem", "viewer")
        remove = "_accord.session/remove"
        refused = await bob.call(remove, {"sessionId": session_id, "user": "cem"})
        assert refused["error"]["data"]["needed"] == "admin"
        gone = await bob.call(remove, {"sessionId": session_id, "user": "bob"})
        assert [one["user"] for one in gone["result"]["members"]] == ["ann", "cem"]
        assert "error" in await bob.load(session_id)


async def test_r2_an_admin_of_the_agent_stays_one_and_a_viewer_of_it_only_looks() -> None:
    """The configuration decides first; a session gives no more than it allows."""
    async with scripted() as one:
        ann = await one.person("ann")
        session_id = await ann.new()
        root = await one.person("root", "admin")
        assert "result" in await root.load(session_id)
        await ann.lets_in(session_id, "root", "viewer")
        root.prompt(session_id, "mine")
        await one.agent_wire.hears("session/prompt")
        await ann.lets_in(session_id, "guest", "admin")
        guest = await one.person("guest", "viewer")
        await guest.load(session_id)
        refused = await guest.answer_to(guest.prompt(session_id, "no"))
        assert refused["error"]["data"] == {"reason": "role", "role": "viewer", "needed": "editor"}


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"user": "ann", "role": "viewer"}, "$.user"),
        ({"user": "", "role": "viewer"}, "$.user"),
        ({"user": "x" * 257, "role": "viewer"}, "$.user"),
        ({"user": "bob", "role": "owner"}, "$.role"),
        ({"user": "new", "role": "viewer"}, "$.user"),
    ],
)
async def test_r2_a_role_is_one_of_three_and_the_owner_keeps_theirs(
    params: Any, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_people, "MEMBERS_MAX", 1)
    async with scripted() as one:
        ann, _, session_id = await one.pair()
        answer = await ann.call("_accord.session/set_role", {"sessionId": session_id, **params})
        assert answer["error"]["code"] == -32602
        assert path in str(answer["error"])


async def test_r2_roles_outlive_the_gateway() -> None:
    """They are in the session's record, also if the session is parked at once."""
    async with scripted(grace_seconds=0.0) as one:
        ann, bob, session_id = await one.pair("viewer")
        await bob.wire.transport.aclose()
        await ann.wire.transport.aclose()
        while one.gateway.sessions.live:
            await anyio.lowlevel.checkpoint()
        again = await one.person("bob")
        await again.load(session_id)
        assert (await members(again, session_id))["you"]["role"] == "viewer"


@pytest.mark.parametrize("version", VERSIONS)
async def test_when_the_session_is_closed_everybody_is_told_and_nothing_stays_open(
    version: int,
) -> None:
    """By an admin; the others' requests end, and they may come back."""
    async with scripted(version) as one:
        ann, bob, session_id = await one.pair()
        bob.prompt(session_id, "long")
        await one.agent_wire.hears("session/prompt")
        mode = bob.ask("session/set_mode", {"sessionId": session_id, "modeId": "m"})
        await one.agent_wire.hears("session/set_mode")
        assert "result" in await ann.call("session/close", {"sessionId": session_id})
        error = (await bob.answer_to(mode))["error"]
        assert error["message"] == "Ann has closed the session"
        assert error["data"]["reason"] == "closed"
        await bob.hears("_accord.session/closed", reason="closed")
        gone = await bob.answer_to(bob.prompt(session_id, "more"))
        assert "load or resume it first" in gone["error"]["message"]
        assert "result" in await bob.load(session_id)


async def test_when_the_session_is_deleted_it_is_gone_for_everybody() -> None:
    async with scripted() as one:
        ann, bob, session_id = await one.pair()
        running = bob.prompt(session_id, "long")
        await one.agent_wire.hears("session/prompt")
        assert "result" in await ann.call("session/delete", {"sessionId": session_id})
        assert (await bob.answer_to(running))["result"] == {"stopReason": "cancelled"}
        await bob.hears("_accord.session/closed", reason="deleted")
        assert (await bob.load(session_id))["error"]["code"] == -32002


async def test_an_editor_who_closes_a_session_only_leaves_it() -> None:
    """R2: for the others it goes on."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair()
        assert "result" in await bob.call("session/close", {"sessionId": session_id})
        await ann.hears(PRESENCE, event="leave", user="bob")
        ann.prompt(session_id, "on")
        await one.agent_wire.hears("session/prompt")

"""Several people in one session.  The R items are those of the draft's collaborative sessions."""

from typing import Any

import anyio
import pytest

from accord import Client, Permissions, RequestFailed
from accord.schema.codec import to_python
from tests.gateway.hosting import Hosting, echoing_agent, hosting

pytestmark = pytest.mark.anyio
VERSIONS = (1, 2)


def texts(session: Any) -> list[str]:
    """The messages of a session as somebody sees them."""
    return [message.text for message in session.transcript.messages]


async def until(session: Any, *wanted: str) -> None:
    """Wait until somebody sees these messages."""
    while texts(session)[-len(wanted) :] != list(wanted):
        await anyio.sleep(0)


async def shared(one: Hosting, owner: Client, principal: str, role: str, **options: Any) -> Any:
    """Let somebody into a new session of the owner; return both views of it."""
    session = await owner.new_session(cwd="/")
    await owner.call_extension(
        "_accord.session/set_role", {"sessionId": session.id, "user": principal, "role": role}
    )
    guest = await one.client(principal, **options)
    return session, await guest.load_session(session.id, cwd="/")


@pytest.mark.parametrize("mine", VERSIONS)
@pytest.mark.parametrize("yours", VERSIONS)
async def test_r1_each_update_reaches_everybody(mine: int, yours: int) -> None:
    """R1, R4, R6: in whatever version they speak, and the prompts of others too."""
    async with hosting(echoing_agent()) as one:
        ann = await one.client("ann", version=mine)
        hers, his = await shared(one, ann, "bob", "editor", version=yours)
        await hers.ask("one")
        await until(his, "one", "you said one")
        await his.ask("two")
        await until(hers, "one", "you said one", "two", "you said two")
        await until(his, "one", "you said one", "two", "you said two")


@pytest.mark.parametrize("version", VERSIONS)
async def test_r2_a_viewer_reads_and_does_nothing_else(version: int) -> None:
    """R2: refused with a sentence that names both roles; nothing reaches the agent."""
    async with hosting(echoing_agent()) as one:
        ann = await one.client("ann")
        hers, his = await shared(one, ann, "bob", "viewer", version=version)
        with pytest.raises(RequestFailed, match="needs an editor; your role is viewer") as caught:
            await his.ask("mine")
        assert caught.value.data["reason"] == "role"
        await hers.ask("hers")
        await until(his, "hers", "you said hers")


async def test_r2_only_an_admin_gives_roles_and_deletes() -> None:
    async with hosting(echoing_agent()) as one:
        ann = await one.client("ann")
        _, his = await shared(one, ann, "bob", "editor")
        bob = await one.client("bob")
        asked = {"sessionId": his.id, "user": "bob", "role": "admin"}
        with pytest.raises(RequestFailed, match="needs an admin"):
            await bob.call_extension("_accord.session/set_role", asked)
        with pytest.raises(RequestFailed, match="needs an admin"):
            await bob.delete_session(his.id)


async def test_r2_a_role_that_is_taken_away_ends_the_view() -> None:
    async with hosting(echoing_agent()) as one:
        ann = await one.client("ann")
        hers, his = await shared(one, ann, "bob", "editor")
        await ann.call_extension("_accord.session/remove", {"sessionId": hers.id, "user": "bob"})
        with pytest.raises(RequestFailed, match="no session"):
            await his.ask("still here?")
        await hers.ask("alone")
        assert texts(his) == []


async def test_a_stranger_does_not_learn_that_a_session_exists() -> None:
    async with hosting(echoing_agent()) as one:
        ann, eve = await one.client("ann"), await one.client("eve")
        session = await ann.new_session(cwd="/")
        known = await failure(eve.load_session(session.id, cwd="/"))
        unknown = await failure(eve.load_session("nowhere", cwd="/"))
        assert known.code == unknown.code
        assert known.message.replace(session.id, "nowhere") == unknown.message
        assert [one async for one in eve.list_sessions()] == []


async def failure(work: Any) -> RequestFailed:
    with pytest.raises(RequestFailed) as caught:
        await work
    return caught.value


async def test_r3_people_see_who_comes_types_and_goes() -> None:
    heard: list[Any] = []
    async with hosting(echoing_agent()) as one:
        ann = await one.client("ann", heard=heard)
        hers, his = await shared(one, ann, "bob", "editor")
        bob = await one.client("bob")
        again = await bob.load_session(his.id, cwd="/")
        await bob.notify_extension(
            "_accord.session/presence", {"sessionId": again.id, "event": "typing"}
        )
        while [event for name, event in heard if event.get("event") == "typing"] == []:
            await anyio.sleep(0)
        events = [(p["event"], p["user"], p["displayName"]) for n, p in heard if n == "presence"]
        assert ("join", "bob", "Bob") in events
        assert ("typing", "bob", "Bob") in events
        del hers


@pytest.mark.parametrize("version", VERSIONS)
async def test_r4_a_prompt_has_its_author(version: int) -> None:
    """The `_meta` of the echo names who sent it."""
    async with hosting(echoing_agent()) as one:
        ann = await one.client("ann")
        hers, his = await shared(one, ann, "bob", "editor", version=version)
        await hers.ask("one")
        await until(his, "one", "you said one")
        author = {"user": "ann", "displayName": "Ann"}
        seen = [entry for entry in his.transcript.messages if entry.text == "one"]
        assert to_python(seen[0].meta["accord.author"]) == author


async def test_r5_the_first_valid_answer_to_a_permission_wins() -> None:
    """R5: everybody who may answer is asked, the others are told that it is settled."""
    asked = anyio.Event()
    heard: list[Any] = []

    async def never(request: Any) -> Any:
        del request
        asked.set()
        await anyio.sleep_forever()

    async def yes(request: Any) -> Any:
        await asked.wait()
        return True

    async with hosting(echoing_agent()) as one:
        ann = await one.client("ann", permissions=Permissions.ask(never), heard=heard)
        hers, his = await shared(one, ann, "bob", "admin", permissions=Permissions.ask(yes))
        reply = await hers.ask("ask")
        assert reply.text == "allowed"
        await until(his, "ask", "allowed")
        while not any(name == "settled" for name, _ in heard):
            await anyio.sleep(0)
        settled = [event for name, event in heard if name == "settled"]
        assert [(event["by"], event["outcome"]) for event in settled] == [("bob", "answered")]


async def test_r5_an_editor_is_not_asked_for_permission() -> None:
    """Only an admin answers; the editor's client is not even asked."""

    async def wrong(request: Any) -> Any:
        del request
        raise AssertionError("an editor was asked")

    async with hosting(echoing_agent()) as one:
        ann = await one.client("ann")
        hers, his = await shared(one, ann, "bob", "editor", permissions=Permissions.ask(wrong))
        assert (await his.ask("ask")).text == "allowed"
        await until(hers, "ask", "allowed")


@pytest.mark.parametrize("version", VERSIONS)
async def test_r6_who_comes_late_sees_everything(version: int) -> None:
    """Also in the middle of a turn."""
    async with hosting(echoing_agent()) as one:
        ann = await one.client("ann")
        session = await ann.new_session(cwd="/")
        await session.ask("before")
        async with session.prompt("wait") as turn:
            await until(session, "wait", "waiting")
            late = await one.client("ann", version=version)
            his = await late.load_session(session.id, cwd="/")
            assert texts(his) == ["before", "you said before", "wait", "waiting"]
            await turn.cancel()
        assert turn.stop_reason == "cancelled"

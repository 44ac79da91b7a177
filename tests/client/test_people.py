"""The people of a session that a gateway shares, as a client's author sees them."""

from typing import Any

import anyio
import pytest

from accord import RequestFailed
from accord.client import Author, Member, People, PeopleEvent, SessionPeople, author_of
from accord.client.connection.extensions import Extensions
from accord.errors import AccordError
from tests.gateway.hosting import Hosting, echoing_agent, hosting

pytestmark = pytest.mark.anyio
VERSIONS = (1, 2)


class Person:
    """Somebody's client, and what it heard."""

    def __init__(self) -> None:
        self.events: list[PeopleEvent] = []
        self.extensions = Extensions()
        self.people = People(self.extensions, on_event=self.events.append)
        self.client: Any = None

    async def hears(self, kind: str, **wanted: str) -> PeopleEvent:
        """Wait for an event."""
        while True:
            for event in self.events:
                if event.kind == kind and all(
                    getattr(event, key) == value for key, value in wanted.items()
                ):
                    self.events.remove(event)
                    return event
            await anyio.lowlevel.checkpoint()


async def person(one: Hosting, name: str, version: int = 2) -> Person:
    made = Person()
    made.client = await one.client(name, version=version, extensions=made.extensions)
    return made


async def pair(one: Hosting, version: int, role: Any) -> tuple[Any, ...]:
    """Ann's session, and Bob in it: both people, both sessions, both lists."""
    ann, bob = await person(one, "ann", version), await person(one, "bob", version)
    hers = await ann.client.new_session(cwd="/")
    her_people = await ann.people.of(ann.client, hers.id)
    assert her_people is not None
    await her_people.set_role("bob", role)
    his = await bob.client.load_session(hers.id, cwd="/")
    his_people = await bob.people.of(bob.client, hers.id)
    await ann.hears("join")
    return ann, bob, hers, his, her_people, his_people


@pytest.mark.parametrize("version", VERSIONS)
async def test_r3_people_know_who_is_here_and_their_own_role(version: int) -> None:
    async with hosting(echoing_agent()) as one:
        _, bob, _, _, hers, his = await pair(one, version, "viewer")
        assert isinstance(his, SessionPeople)
        assert (his.role, his.may_prompt, his.you) == (
            "viewer",
            False,
            Member("bob", "viewer", "Bob", here=True),
        )
        assert [member.name for member in his.others] == ["Ann"]
        assert [member.name for member in hers.others] == ["Bob"]
        assert (hers.role, hers.may_prompt) == ("admin", True)
        await hers.set_role("bob", "editor")
        await bob.hears("members")
        assert (his.role, his.may_prompt) == ("editor", True)


async def test_r3_people_see_what_others_do_and_when_they_leave() -> None:
    async with hosting(echoing_agent()) as one:
        ann, _, _, his_session, hers, his = await pair(one, 2, "editor")
        await his.tell("typing")
        await ann.hears("typing", display_name="Bob")
        assert [member.typing for member in hers.others] == [True]
        await his.tell("focus")
        await ann.hears("focus")
        await his.tell("idle")
        await ann.hears("idle")
        assert [(member.typing, member.focus) for member in hers.others] == [(False, True)]
        await his_session.close()
        await ann.hears("leave", user="bob")
        assert hers.others == ()


@pytest.mark.parametrize("version", VERSIONS)
async def test_r4_prompts_have_authors(version: int) -> None:
    async with hosting(echoing_agent()) as one:
        _, _, hers, his, _, _ = await pair(one, version, "editor")
        await hers.ask("one")
        while not his.transcript.messages:
            await anyio.lowlevel.checkpoint()
        assert author_of(his.transcript.messages[0]) == Author("ann", "Ann")
        while len(his.transcript.messages) < 2:
            await anyio.lowlevel.checkpoint()
        assert author_of(his.transcript.messages[1]) is None


async def test_somebody_who_is_removed_is_told_and_may_not_prompt() -> None:
    async with hosting(echoing_agent()) as one:
        _, bob, _, _, hers, his = await pair(one, 2, "editor")
        await hers.remove("bob")
        assert (await bob.hears("closed")).reason == "removed"
        assert his.is_over
        assert not his.may_prompt
        assert [member.user for member in hers.members] == ["ann"]


async def test_a_code_lets_somebody_in() -> None:
    async with hosting(echoing_agent()) as one:
        ann, eve = await person(one, "ann"), await person(one, "eve")
        session = await ann.client.new_session(cwd="/")
        people = await ann.people.of(ann.client, session.id)
        assert people is not None
        code = await people.invite("viewer", seconds=60)
        with pytest.raises(RequestFailed, match="there is no session"):
            await eve.people.join(eve.client, session.id, "guess")
        await eve.people.join(eve.client, session.id, code)
        await eve.client.load_session(session.id, cwd="/")
        hers = await eve.people.of(eve.client, session.id)
        assert hers is not None
        assert hers.role == "viewer"


async def test_an_agent_without_a_gateway_has_no_people() -> None:
    from accord.transport.memory import memory_pair

    async with anyio.create_task_group() as tasks:
        ours, theirs = memory_pair()
        tasks.start_soon(echoing_agent().serve, theirs)
        made = Person()
        from accord import Client, Permissions

        async with Client.connect(
            ours, extensions=made.extensions, permissions=Permissions.deny_all()
        ) as client:
            session = await client.new_session(cwd="/")
            assert await made.people.of(client, session.id) is None
            with pytest.raises(AccordError, match="not behind a gateway"):
                await made.people.join(client, session.id, "code")
        tasks.cancel_scope.cancel()

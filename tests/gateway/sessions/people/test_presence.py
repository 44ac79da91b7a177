"""R3 of the draft's collaborative sessions: who types, and who looks."""

from typing import Any

import anyio
import pytest

from accord.gateway.sessions.people.presence import PRESENCE_SECONDS_MIN
from tests.gateway.scripted_agent import Person, scripted

pytestmark = pytest.mark.anyio
PRESENCE = "_accord.session/presence"


def does(person: Person, session_id: str, *events: Any) -> None:
    """Say what somebody does, all in one chunk."""
    person.wire.say(
        *(
            {"method": PRESENCE, "params": {"sessionId": session_id, "event": event}}
            for event in events
        )
    )


@pytest.mark.parametrize("event", ["typing", "idle", "focus", "blur"])
async def test_r3_what_somebody_does_reaches_the_others(event: str) -> None:
    """R3: a viewer's too; and who asks later sees it."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair("viewer")
        does(bob, session_id, event)
        told = (await ann.hears(PRESENCE, event=event))["params"]
        assert (told["user"], told["displayName"]) == ("bob", "Bob")
        answer = await ann.call("_accord.session/members", {"sessionId": session_id})
        his = answer["result"]["members"][1]
        assert (his["typing"], his["focus"]) == (event == "typing", event == "focus")


async def test_r3_of_many_events_the_last_is_told() -> None:
    """A bound: one message in a quarter of a second for each person."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair()
        began = anyio.current_time()
        does(bob, session_id, *(["typing", "idle"] * 500), "focus")
        await ann.hears(PRESENCE, event="focus")
        events = [m["params"]["event"] for m in ann.heard if m.get("method") == PRESENCE]
        assert len(events) <= 2 + (anyio.current_time() - began) / PRESENCE_SECONDS_MIN


@pytest.mark.parametrize("event", ["dancing", None, 5, ["typing"]])
async def test_what_is_no_event_is_ignored(event: Any) -> None:
    async with scripted() as one:
        ann, bob, session_id = await one.pair()
        does(bob, session_id, event, "typing")
        await ann.hears(PRESENCE, event="typing")
        events = [m["params"]["event"] for m in ann.heard if m.get("method") == PRESENCE]
        assert events == ["join"]


async def test_a_client_that_does_not_know_it_is_told_nothing() -> None:
    """A client of anybody else's, which knows only the protocol."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair()
        plain = await one.raw("ann", version=1)
        plain.request(1, "session/load", {"sessionId": session_id, "cwd": "/", "mcpServers": []})
        does(bob, session_id, "typing")
        await ann.hears(PRESENCE, event="typing")
        plain.request(2, "session/list")
        while (await plain.hear()).get("id") != 2:
            pass
        assert b"_accord" not in b"".join(plain.lines[1:])

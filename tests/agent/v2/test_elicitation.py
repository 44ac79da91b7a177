"""Forms and pages in v2: scope, schema, states, and what counts as an answer."""

from __future__ import annotations

from typing import Any

import pytest

from accord.agent import Turn
from accord.agent.tools.elicitation import FormField
from accord.errors import LocalProtocolError
from tests.agent.v2.play import idle, insert, made, playing, states, text, turn

OFFERS: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}


async def ask(turn: Turn) -> None:
    """A form with a field of every kind."""
    answer = await turn.ask(
        "How?",
        name=FormField(title="Name", description="Yours", default="me"),
        age=FormField("integer"),
        height=FormField("number", required=False),
        sure=FormField("boolean"),
        colour=FormField(choices=("red", "blue")),
        days=FormField(choices=("mo", "tu"), many=True, required=False),
    )
    await turn.say(f"{answer.action} {dict(answer.values)}")


GOOD: dict[str, Any] = {"name": "x", "age": 3, "sure": True, "colour": "red"}


@pytest.mark.rule("V2-ELIC-01", "V2-ELIC-03", "V2-ELIC-05")
async def test_a_form_belongs_to_its_session_and_the_session_waits() -> None:
    """Spec: one scope, `type: object` with properties, requires_action and running again."""
    async with playing(made(ask), OFFERS) as client:
        session_id = await client.new_session()
        await insert(client, session_id)
        request = await client.next("elicitation/create")
        params = request["params"]
        assert params["sessionId"] == session_id
        assert "requestId" not in params
        schema = params["requestedSchema"]
        assert schema["type"] == "object"
        assert list(schema["properties"]) == ["name", "age", "height", "sure", "colour", "days"]
        assert schema["required"] == ["name", "age", "sure", "colour"]
        assert schema["properties"]["colour"] == {"type": "string", "enum": ["red", "blue"]}
        assert states(client) == ["running", "requires_action"]
        client.reply(request, {"action": "accept", "content": GOOD})
        await idle(client)
        assert states(client) == ["running", "requires_action", "running", "idle"]
        assert client.updates("agent_message")[0]["content"] == text(f"accept {GOOD}")


@pytest.mark.rule("V2-ELIC-04")
@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ({"action": "decline"}, "decline"),
        ({"action": "cancel"}, "cancel"),
        ({"action": "_later"}, "cancel"),
        ({"action": "approved", "content": GOOD}, "cancel"),
        ({}, "cancel"),
        (None, "cancel"),
        ({"action": "accept"}, "cancel"),
        ({"action": "accept", "content": GOOD | {"age": "three"}}, "cancel"),
        ({"action": "accept", "content": GOOD | {"age": True}}, "cancel"),
        ({"action": "accept", "content": GOOD | {"colour": "green"}}, "cancel"),
        ({"action": "accept", "content": GOOD | {"days": ["su"]}}, "cancel"),
        ({"action": "accept", "content": {"name": "x"}}, "cancel"),
    ],
)
async def test_what_is_no_whole_answer_is_none(answer: Any, read: str) -> None:
    """Spec: an unknown action is `cancel`; ours: so are values that do not fit the form."""
    async with playing(made(ask), OFFERS) as client:
        client.serve["elicitation/create"] = lambda params: answer
        session_id = await client.new_session()
        await turn(client, session_id)
    assert client.updates("agent_message")[0]["content"] == text(read + " {}")


@pytest.mark.rule("V2-ELIC-01")
async def test_a_page_is_asked_for_with_an_id_of_its_own() -> None:
    """Spec: full URL, one scope; acceptance is not completion."""

    async def work(turn: Turn) -> None:
        for _ in range(2):
            answer = await turn.ask_to_visit("Sign in", "https://example.com/in")
            await turn.say(answer.action)
        with pytest.raises(LocalProtocolError):
            await turn.ask_to_visit("Sign in", "example.com")
        with pytest.raises(LocalProtocolError):
            await turn.ask("Nothing")

    async with playing(made(work), OFFERS) as client:
        client.serve["elicitation/create"] = lambda params: {"action": "accept"}
        session_id = await client.new_session()
        await turn(client, session_id)
    pages = [f["params"] for f in client.frames if f.get("method") == "elicitation/create"]
    assert all(one["sessionId"] == session_id and "requestId" not in one for one in pages)
    assert len({one["elicitationId"] for one in pages}) == 2
    assert [one["content"] for one in client.updates("agent_message")] == [text("accept")] * 2
    assert "elicitation/complete" not in client.methods()


async def test_a_client_without_the_mode_is_asked_nothing() -> None:
    """Spec: gated by the client's capabilities; the handler is told."""

    async def work(turn: Turn) -> None:
        form = await turn.ask("Who?", name=FormField())
        page = await turn.ask_to_visit("Look", "https://example.com")
        await turn.say(f"{form.action} {page.action}")

    async with playing(made(work), {"elicitation": {"form": {}}}) as client:
        client.serve["elicitation/create"] = lambda params: {"action": "decline"}
        session_id = await client.new_session()
        await turn(client, session_id)
    assert client.updates("agent_message")[0]["content"] == text("decline unsupported")
    assert client.methods().count("elicitation/create") == 1

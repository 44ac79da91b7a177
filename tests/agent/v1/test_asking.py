"""Elicitation in v1: forms, pages, and what a user or a client may do with them."""

from __future__ import annotations

from typing import Any

import pytest

from accord.agent import Agent, Turn
from accord.agent.tools.elicitation import Answer, FormField
from accord.errors import LocalProtocolError
from tests.agent.raw_client import raw_client

FORM: dict[str, Any] = {"elicitation": {"form": {}}}
URL: dict[str, Any] = {"elicitation": {"url": {}}}
BOTH: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}

FIELDS = {
    "name": FormField(title="Name", description="Yours", default="Ada"),
    "age": FormField("integer", required=False),
    "ratio": FormField("number", required=False),
    "sure": FormField("boolean", required=False, default=True),
    "colour": FormField(choices=("red", "blue"), required=False),
    "tags": FormField(choices=("a", "b"), many=True, required=False),
    "mail": FormField(format="email", required=False),
}


def asking_agent(answers: list[Answer]) -> Agent:
    """An agent that asks by a form, or by a page when the prompt is a URL."""
    agent = Agent("asker", version="1")

    @agent.on_prompt
    async def ask(turn: Turn) -> None:
        if turn.text.startswith("https:"):
            answers.append(await turn.ask_to_visit("Please look", turn.text))
        else:
            answers.append(await turn.ask("Who are you?", **FIELDS))

    return agent


@pytest.mark.rule("V1-ELIC-20", "V1-ELIC-19")
async def test_a_form_is_an_object_schema_with_defaults() -> None:
    """RFD: `type` and `properties` are always sent."""
    answers: list[Answer] = []
    async with raw_client(asking_agent(answers), capabilities=FORM) as client:
        session_id = await client.new_session()
        turn = client.start_prompt(session_id)
        request = await client.next("elicitation/create")
        client.reply(request, {"action": "accept", "content": {"name": "Bo", "tags": ["a"]}})
        await client.answer(turn)
    params = request["params"]
    assert (params["mode"], params["sessionId"]) == ("form", session_id)
    schema = params["requestedSchema"]
    assert schema["type"] == "object"
    assert list(schema["properties"]) == list(FIELDS)
    assert schema["required"] == ["name"]
    assert schema["properties"]["name"] == {
        "type": "string",
        "title": "Name",
        "description": "Yours",
        "default": "Ada",
    }
    assert schema["properties"]["mail"]["format"] == "email"
    assert answers == [Answer("accept", {"name": "Bo", "tags": ["a"]})]


@pytest.mark.rule("V1-ELIC-18", "V1-ELIC-19")
@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ({"action": "decline"}, "decline"),
        ({"action": "cancel"}, "cancel"),
        ({"action": "_later"}, "cancel"),
        ({}, "cancel"),
        (None, "cancel"),
        ({"action": "accept"}, "cancel"),
        ({"action": "accept", "content": None}, "cancel"),
        ({"action": "accept", "content": {"name": 5}}, "cancel"),
        ({"action": "accept", "content": {"name": "x", "age": 1.5}}, "cancel"),
        ({"action": "accept", "content": {"name": "x", "age": True}}, "cancel"),
        ({"action": "accept", "content": {"name": "x", "sure": 1}}, "cancel"),
        ({"action": "accept", "content": {"name": "x", "colour": "green"}}, "cancel"),
        ({"action": "accept", "content": {"name": "x", "tags": ["a", "z"]}}, "cancel"),
        ({"action": "accept", "content": {"name": "x", "tags": "a"}}, "cancel"),
        ({"action": "accept", "content": {"name": "x", "ratio": 2, "sure": False}}, "accept"),
    ],
)
async def test_success_is_never_assumed(reply: Any, action: str) -> None:
    """Spec: decline, cancel, failures and values that do not fit."""
    answers: list[Answer] = []
    async with raw_client(asking_agent(answers), capabilities=FORM) as client:
        client.serve["elicitation/create"] = lambda _params: reply
        assert await client.prompt(await client.new_session()) == {"stopReason": "end_turn"}
    assert [answer.action for answer in answers] == [action]
    assert answers[0].accepted == (action == "accept")
    assert bool(answers[0].values) == (action == "accept")


@pytest.mark.parametrize("code", [-32602, -32603, -32800])
async def test_a_client_that_fails_to_ask_is_heard(code: int) -> None:
    """Ours: withdrawn is `cancel`; any other failure is raised in the handler."""
    answers: list[Answer] = []
    async with raw_client(asking_agent(answers), capabilities=FORM) as client:
        turn = client.start_prompt(await client.new_session())
        client.refuse(await client.next("elicitation/create"), code)
        answer = await client.answer(turn)
    if code == -32800:
        assert answers == [Answer("cancel", {})]
    else:
        assert answers == []
        assert answer["error"]["code"] == -32603
        assert answer["error"]["data"] == {"method": "elicitation/create", "code": code}


@pytest.mark.rule("V1-ELIC-01", "V1-ELIC-04", "V1-ELIC-10")
@pytest.mark.parametrize(
    ("capabilities", "forms", "pages"),
    [
        ({}, False, False),
        ({"elicitation": {}}, False, False),
        ({"elicitation": {"form": None, "url": None}}, False, False),
        (FORM, True, False),
        (URL, False, True),
        (BOTH, True, True),
    ],
)
async def test_only_modes_that_were_advertised_are_used(
    capabilities: dict[str, Any], forms: bool, pages: bool
) -> None:
    """Spec: no form stands in for a page; the handler is told and decides."""
    answers: list[Answer] = []
    async with raw_client(asking_agent(answers), capabilities=capabilities) as client:
        client.serve["elicitation/create"] = lambda _params: {"action": "decline"}
        session_id = await client.new_session()
        await client.prompt(session_id, "form")
        await client.prompt(session_id, "https://example.com/login")
    told = [answer.action for answer in answers]
    assert told == ["decline" if one else "unsupported" for one in (forms, pages)]
    modes = [f["params"]["mode"] for f in client.frames if f.get("method") == "elicitation/create"]
    assert modes == ["form"] * forms + ["url"] * pages


@pytest.mark.rule("V1-ELIC-14", "V1-ELIC-16")
async def test_a_page_ends_once_on_its_own_connection_and_by_its_own_id() -> None:
    """Spec: ids are unique among open ones; complete goes to the client that was asked."""
    answers: list[Answer] = []
    agent = asking_agent(answers)
    turns: list[Turn] = []

    @agent.command("done", "Tell that a page is done")
    async def done(turn: Turn, argument: str) -> None:
        turns.append(turn)
        await turn.visited(answers[int(argument)])

    async with (
        raw_client(agent, capabilities=URL) as one,
        raw_client(agent, capabilities=URL) as other,
    ):
        for client in (one, other):
            client.serve["elicitation/create"] = lambda _params: {"action": "accept"}
        mine, theirs = await one.new_session(), await other.new_session()
        await one.prompt(mine, "https://example.com/a")
        await one.prompt(mine, "https://example.com/b")
        ids = [
            f["params"]["elicitationId"]
            for f in one.frames
            if f.get("method") == "elicitation/create"
        ]
        assert len(set(ids)) == 2
        # Not over another connection, whatever its session.
        error = (await other.answer(other.start_prompt(theirs, "/done 0")))["error"]
        assert "page" in error["message"]
        assert await one.prompt(mine, "/done 1") == {"stopReason": "end_turn"}
        assert (await one.next("elicitation/complete"))["params"] == {"elicitationId": ids[1]}
        # Not twice.
        assert "error" in await one.answer(one.start_prompt(mine, "/done 1"))
        # Also after the turn, by the session.
        await turns[-1].session.visited(answers[0])
        assert (await one.next("elicitation/complete"))["params"] == {"elicitationId": ids[0]}
    assert "elicitation/complete" not in other.methods()


async def test_a_page_that_was_declined_never_ends() -> None:
    """Ours: there is nothing to tell the end of."""
    answers: list[Answer] = []
    agent = asking_agent(answers)

    @agent.command("done", "Tell that a page is done")
    async def done(turn: Turn, argument: str) -> None:
        await turn.visited(answers[0])

    async with raw_client(agent, capabilities=URL) as client:
        client.serve["elicitation/create"] = lambda _params: {"action": "decline"}
        session_id = await client.new_session()
        await client.prompt(session_id, "https://example.com/a")
        assert "error" in await client.answer(client.start_prompt(session_id, "/done"))
    assert answers == [Answer("decline", {})]
    assert "elicitation/complete" not in client.methods()


@pytest.mark.rule("V1-ELIC-24", "V1-ELIC-12")
@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com",
        "/path",
        "https://",
        "https:///path",
        "https://a b/",
        "https://a/\n",
        "https://[::1",
        "https://a:99999/",
        "https://user:secret@example.com/",
    ],
)
async def test_what_is_no_whole_url_is_never_sent(url: str) -> None:
    """RFD: a valid URL; and one that carries a password is refused too."""
    agent = Agent("asker", version="1")

    @agent.on_prompt
    async def ask(turn: Turn) -> None:
        with pytest.raises(LocalProtocolError, match="URL"):
            await turn.ask_to_visit("Look", url)

    async with raw_client(agent, capabilities=BOTH) as client:
        assert await client.prompt(await client.new_session()) == {"stopReason": "end_turn"}
    assert "elicitation/create" not in client.methods()


@pytest.mark.rule("V1-ELIC-27", "V1-ELIC-23")
async def test_words_of_ones_own_start_with_an_underscore_and_are_kept() -> None:
    """RFD: own formats are kept, and an answer is not refused because of one."""
    for mistake in (
        {"type": "colour"},
        {"format": "colour"},
        {"type": "integer", "format": "email"},
        {"many": True},
        {"type": "integer", "default": "x"},
    ):
        with pytest.raises(LocalProtocolError):
            FormField(**mistake)
    answers: list[Answer] = []
    agent = Agent("asker", version="1")

    @agent.on_prompt
    async def ask(turn: Turn) -> None:
        answers.append(await turn.ask("Which?", colour=FormField(format="_colour")))
        with pytest.raises(LocalProtocolError, match="at least one"):
            await turn.ask("Nothing")

    async with raw_client(agent, capabilities=FORM, validate=False) as client:
        client.serve["elicitation/create"] = lambda _params: {
            "action": "accept",
            "content": {"colour": "#fff", "_note": 1},
        }
        assert await client.prompt(await client.new_session()) == {"stopReason": "end_turn"}
    sent = next(f for f in client.frames if f.get("method") == "elicitation/create")
    assert sent["params"]["requestedSchema"]["properties"]["colour"]["format"] == "_colour"
    assert answers[0].values["colour"] == "#fff"

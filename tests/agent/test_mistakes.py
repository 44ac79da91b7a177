"""Mistakes that people make when they write their first agent, and what they are told."""

from typing import Any

import pytest

from accord import Agent, LocalProtocolError, Turn
from tests.agent.raw_client import RawClient, raw_client
from tests.agent.v2 import play

VERSIONS = pytest.mark.parametrize("version", [1, 2])


async def ended(client: RawClient, session: str, version: int) -> dict[str, Any]:
    """How one turn ends: v1 answers the prompt with it, v2 tells it as a state."""
    if version == 2:
        return await play.turn(client, session)
    answer = await client.answer(client.start_prompt(session))
    return answer.get("result") or {"error": answer["error"]}


def saying(what: Any) -> Agent:
    agent = Agent("mistaken", version="1")

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        await turn.say(what)

    return agent


@VERSIONS
@pytest.mark.parametrize("returned", [5, "done", "You said hi", ["end_turn"]])
async def test_what_is_no_stop_reason_ends_the_turn_and_is_told(
    version: int, returned: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: returning the answer instead of saying it is the commonest mistake of all."""
    agent = Agent("mistaken", version="1")

    @agent.on_prompt
    async def answer(turn: Turn) -> Any:
        return returned

    async with raw_client(agent, version=version) as client:
        session = await client.new_session()
        assert (await ended(client, session, version))["stopReason"] == "end_turn"
        assert (await ended(client, session, version))["stopReason"] == "end_turn"
    assert "turn.say()" in caplog.text


@VERSIONS
async def test_own_stop_reasons_are_passed_on_where_there_are_any(version: int) -> None:
    """V2-UPS-11: a name of one's own starts with `_`; v1 has no room for it."""
    agent = Agent("own", version="1")

    @agent.on_prompt
    async def answer(turn: Turn) -> str:
        return "_tired"

    async with raw_client(agent, version=version) as client:
        outcome = await ended(client, await client.new_session(), version)
    assert outcome["stopReason"] == ("end_turn" if version == 1 else "_tired")


@VERSIONS
@pytest.mark.parametrize("what", [5, None, {"type": "text"}])
async def test_what_cannot_be_said_is_refused_before_anything_is_sent(
    version: int, what: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue: a program that misuses the library gets an error that names the mistake."""
    async with raw_client(saying(what), version=version) as client:
        session = await client.new_session()
        error = (await ended(client, session, version))["error"]
        assert error["code"] == -32603
        assert "neither text nor a content block" in error["message"]
    assert "neither text nor a content block" in capsys.readouterr().err


def test_modes_allow_kinds_of_tools_and_nothing_else() -> None:
    """Ours: a word that matches nothing would silently ask for everything."""
    agent = Agent("modes", version="1")
    with pytest.raises(LocalProtocolError, match="'edits' is no ToolKind"):
        agent.add_mode("code", "Code", allow=["edits"])
    agent.add_mode("code", "Code", allow="edit")
    assert agent.offer.modes["code"].allow == {"edit"}


def test_the_last_prompt_function_counts_and_the_program_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Ours: two of them are mostly a mistake."""
    agent = saying("one")

    @agent.on_prompt
    async def other(turn: Turn) -> None: ...

    assert agent.prompt_handler is other
    assert "twice" in caplog.text


def test_content_that_an_agent_may_accept_is_listed() -> None:
    """Ours: the error has the words to choose from."""
    with pytest.raises(LocalProtocolError, match=r"images; there are audio, .*image"):
        Agent("pictures", version="1", accepts=["images"])  # type: ignore[list-item]


async def test_a_plan_is_given_entry_by_entry() -> None:
    """Ours: a list where entries are wanted is named."""
    agent = Agent("planner", version="1")
    errors: list[str] = []

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        try:
            await turn.plan(["one", "two"])  # type: ignore[arg-type]
        except LocalProtocolError as error:
            errors.append(str(error))

    async with raw_client(agent) as client:
        await client.prompt(await client.new_session())
    assert errors == ["an entry of a plan is its text, not a list: plan(*entries)"]

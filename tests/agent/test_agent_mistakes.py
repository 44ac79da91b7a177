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
    with pytest.raises(LocalProtocolError, match="'edits' is not a ToolKind"):
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

    assert agent._definition.prompt_handler is other
    assert "twice" in caplog.text


def test_content_that_an_agent_may_accept_is_listed() -> None:
    """Ours: the error has the words to choose from."""
    with pytest.raises(LocalProtocolError, match=r"images; known are audio, .*image"):
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
    assert errors == ["an entry of a plan is text, not a list: use plan(*entries)"]


async def test_an_entry_of_a_plan_may_say_how_much_it_matters() -> None:
    """Schema: high, medium, low; no class is needed for it."""
    agent = Agent("planner", version="1")

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        plan = await turn.plan("one", ("two", "high"))
        await plan.replace("three")
        with pytest.raises(LocalProtocolError, match="'urgent' is not a PlanEntryPriority"):
            await turn.plan(("one", "urgent"))

    async with raw_client(agent) as client:
        await client.prompt(await client.new_session())
    told = [[(e["content"], e["priority"]) for e in one["entries"]] for one in client.updates()]
    assert told == [[("one", "medium"), ("two", "high")], [("three", "medium")]]


def test_a_function_must_take_what_it_will_be_given() -> None:
    """Ours: told where it is registered, not with the first prompt."""
    agent = Agent("mistaken", version="1")

    async def nothing() -> None: ...
    async def two(turn: Turn, argument: str) -> None: ...

    for register in (agent.on_prompt, agent.on_session, agent.command("x", "X")):
        with pytest.raises(LocalProtocolError, match="nothing must take"):
            register(nothing)  # type: ignore[arg-type]
    with pytest.raises(LocalProtocolError, match=r"two must take \(turn\)"):
        agent.on_prompt(two)  # type: ignore[arg-type]
    agent.command("y", "Y")(two)


def test_a_login_method_has_its_id_for_itself() -> None:
    """Ours: the second would silently take the place of the first."""
    agent = Agent("mistaken", version="1")
    agent.add_auth_method("key", "A key")
    with pytest.raises(LocalProtocolError, match="already"):
        agent.add_auth_method("key", "Another key")


def test_choices_are_a_list() -> None:
    """Ours: one text would be taken for its letters."""
    with pytest.raises(LocalProtocolError, match="a list"):
        Agent("mistaken", version="1").add_option("model", "Model", "big")


@VERSIONS
async def test_half_a_character_is_named(version: int) -> None:
    """Ours: a text that was cut inside an emoji cannot be written as UTF-8."""
    agent = Agent("mistaken", version="1")
    errors: list[str] = []

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        async with turn.message() as message:
            for say in (turn.say, message.write):
                try:
                    await say("cut \ud83d here")
                except LocalProtocolError as error:
                    errors.append(str(error))

    async with raw_client(agent, version=version) as client:
        await ended(client, await client.new_session(), version)
    assert len(errors) == 2
    assert all(r"half a character: 'cut \ud83d here'" in error for error in errors)


@VERSIONS
async def test_a_command_is_words_and_not_a_list(version: int) -> None:
    """Issue 2: an error of ours that names the mistake, before anything is sent."""
    agent = Agent("mistaken", version="1")

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        for run in (turn.run, turn.start):
            with pytest.raises(LocalProtocolError, match="run\\('git', 'status'\\)"):
                await run(["git", "status"])  # type: ignore[arg-type]

    async with raw_client(agent, version=version) as client:
        end = await ended(client, await client.new_session(), version)
    assert end["stopReason"] == "end_turn"
    assert "session/request_permission" not in client.methods()


@pytest.mark.parametrize(
    ("keywords", "told"),
    [
        ({"name": 5}, "an agent's name must be text"),
        ({"version": 1.0}, "an agent's version must be text"),
        ({"version": ""}, "an agent's version must be text"),
        ({"title": 5}, "an agent's title must be text"),
        ({"store": "sessions.db"}, r"not a store, such as SqliteStore\(path\): 'sessions.db'"),
    ],
)
def test_what_an_agent_is_made_of(keywords: dict[str, Any], told: str) -> None:
    """Ours: told where it is made; the client would get a number where the protocol has a text."""
    facts = {"name": "mistaken", "version": "1"} | keywords
    with pytest.raises(LocalProtocolError, match=told):
        Agent(**facts)


async def _tool(turn: Turn, **facts: Any) -> None:
    async with turn.tool_call("Tool", **facts) as call:
        await call.complete(raw_output=facts.get("raw_output", 5))


MISUSES: dict[str, Any] = {
    "lines count from 1, there is no line 0": lambda turn: turn.read_text("a", line=0),
    "a number of lines cannot be negative: -1": lambda turn: turn.read_text("a", limit=-1),
    "the text of a file must be text, not int: 5": lambda turn: turn.edit("a", 5),
    "the text of a file must be text, not bytes": lambda turn: turn.write_text("a", b"x"),
    "a command needs the name of a program": lambda turn: turn.run(""),
    "the variable 'A' of a command must be text, not int": lambda turn: turn.run("a", env={"A": 5}),
    "the variable 'A' of a command must be text, not bool": (
        lambda turn: turn.session.start_command("a", env={"A": True})
    ),
    "field 'city' of a form must be a FormField, not 'x'": lambda turn: turn.ask("?", city="x"),
    "raw_input cannot be sent: object has no JSON form": (
        lambda turn: _tool(turn, raw_input=object())
    ),
}


@VERSIONS
@pytest.mark.parametrize("told", MISUSES)
async def test_a_mistake_is_named_before_anything_is_sent(version: int, told: str) -> None:
    """Issue 2: an error of ours; nobody is asked for a permission first."""
    agent = Agent("mistaken", version="1")

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        with pytest.raises(LocalProtocolError) as caught:
            await MISUSES[told](turn)
        assert str(caught.value).startswith(told)

    async with raw_client(agent, version=version) as client:
        end = await ended(client, await client.new_session(), version)
    assert end["stopReason"] == "end_turn"
    assert {one["sessionUpdate"] for one in client.updates()} <= {"user_message", "state_update"}
    assert set(client.methods()) <= {"session/update"}


async def test_what_a_tool_gave_back_must_have_a_json_form() -> None:
    """Issue 2: an error of ours; the call is failed with that text, and not left open."""
    agent = Agent("mistaken", version="1")

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        with pytest.raises(LocalProtocolError, match="raw_output cannot be sent"):
            async with turn.tool_call("Tool") as call:
                await call.complete(raw_output=object())

    async with raw_client(agent) as client:
        await client.prompt(await client.new_session())
    assert client.updates("tool_call_update")[-1]["status"] == "failed"


@pytest.mark.parametrize("given", ["a.py", ["a.py"], ("a.py", 3), [("a.py", 3)]])
async def test_one_place_is_a_place(given: Any) -> None:
    """Ours: the letters of a name are not places."""
    agent = Agent("mistaken", version="1")

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        await _tool(turn, locations=given, content="look there")

    async with raw_client(agent) as client:
        await client.prompt(await client.new_session("/project"))
    (told,) = client.updates("tool_call")
    assert [place["path"] for place in told["locations"]] == ["/project/a.py"]
    assert [one["content"]["text"] for one in told["content"]] == ["look there"]

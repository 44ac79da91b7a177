"""Config options, slash commands and plans in v2."""

from __future__ import annotations

from typing import Any

import pytest

from accord.agent import Agent, Turn
from accord.agent.session.options_and_commands import Choice
from accord.errors import LocalProtocolError
from accord.schema import v2
from tests.agent.raw_client import Message, RawClient
from tests.agent.v2.play import made, playing, text, turn


def rich(**more: Any) -> Agent:
    """An agent with options of every kind; its answer says what they are set to."""

    async def tell(turn: Turn) -> None:
        if turn.text.startswith("set "):
            _, option_id, value = turn.text.split()
            await turn.set_option(option_id, value)
        await turn.say(" ".join(f"{key}={value}" for key, value in turn.options.items()))

    agent = made(tell, **more)
    agent.add_mode("ask", "Ask", "Asks first")
    agent.add_mode("code", "Code")
    agent.add_option(
        "model",
        "Model",
        [Choice("s", "Small", group="Fast"), Choice("l", "Large", "Slow", group="Good")],
        category="model",
        description="Who thinks",
    )
    agent.add_option("depth", "Depth", ["low", ("high", "High")], default="high")
    agent.add_switch("verbose", "Verbose", default=True)
    return agent


def setting(session_id: str, config_id: str, **more: Any) -> Message:
    """The params of `session/set_config_option`."""
    return {"sessionId": session_id, "configId": config_id, **more}


def values(options: list[Message]) -> dict[str, Any]:
    """What a list of options is set to, after a look at the rules of such a list."""
    for option in options:
        if option["type"] == "select":
            listed = [
                item["value"]
                for entry in option["options"]
                for item in entry.get("options", [entry])
            ]
            assert listed
            assert len(set(listed)) == len(listed)
            assert option["currentValue"] in listed
        else:
            assert isinstance(option["currentValue"], bool)
    return {option["configId"]: option["currentValue"] for option in options}


async def opened(client: RawClient) -> tuple[str, list[Message]]:
    """A session and the options that it starts with."""
    result = await client.result("session/new", {"cwd": "/tmp"})
    return result["sessionId"], result["configOptions"]


@pytest.mark.rule("V2-CFG-03", "V2-CFG-04")
async def test_every_option_has_a_legal_value_from_the_start() -> None:
    """Spec: at least one value, unique across groups, the current one among them; defaults."""
    async with playing(rich()) as client:
        _, options = await opened(client)
    assert values(options) == {"mode": "ask", "model": "s", "depth": "high", "verbose": True}
    groups = options[1]["options"]
    assert [(group["groupId"], group["name"]) for group in groups] == [
        ("Fast", "Fast"),
        ("Good", "Good"),
    ]
    assert [option.get("category") for option in options] == ["mode", "model", None, None]


@pytest.mark.rule("V2-CFG-01", "V2-CFG-04", "V2-CFG-03")
async def test_setting_an_option_answers_with_the_whole_list() -> None:
    """Spec: works wherever options are advertised; the turn sees the new value."""
    async with playing(rich()) as client:
        session_id, before = await opened(client)
        changes: list[dict[str, Any]] = [
            {"config_id": "model", "type": "id", "value": "l"},
            {"config_id": "verbose", "type": "boolean", "value": False},
            {"config_id": "mode", "type": "id", "value": "code"},
        ]
        for change in changes:
            config_id = change.pop("config_id")
            params = setting(session_id, config_id, **change)
            result = await client.result("session/set_config_option", params)
            after = values(result["configOptions"])
            assert after.keys() == values(before).keys()
            assert after[config_id] == change["value"]
        await turn(client, session_id)
        said = client.updates("agent_message")[0]["content"]
        assert said == text("mode=code model=l depth=high verbose=False")
        resumed = await client.result("session/resume", {"sessionId": session_id, "cwd": "/tmp"})
        assert values(resumed["configOptions"]) == after
        # Another session has its own.
        _, other = await opened(client)
        assert values(other) == values(before)


@pytest.mark.rule("V2-CFG-01", "V2-CFG-02")
@pytest.mark.parametrize(
    ("config_id", "more"),
    [
        ("model", {"value": "l"}),
        ("model", {"type": "text", "value": "l"}),
        ("model", {"type": "_own", "value": "l"}),
        ("model", {"type": "id", "value": "xl"}),
        ("model", {"type": "id", "value": True}),
        ("model", {"type": "boolean", "value": True}),
        ("model", {"type": "id"}),
        ("verbose", {"type": "id", "value": "true"}),
        ("verbose", {"type": "boolean", "value": "no"}),
        ("flavour", {"type": "id", "value": "l"}),
    ],
)
async def test_a_bad_setting_is_refused_and_changes_nothing(
    config_id: str, more: dict[str, Any]
) -> None:
    """Spec: -32602 for a missing type, unknown id, value or type."""
    async with playing(rich()) as client:
        session_id, before = await opened(client)
        params = setting(session_id, config_id, **more)
        assert (await client.error("session/set_config_option", params))["code"] == -32602
        resumed = await client.result("session/resume", {"sessionId": session_id, "cwd": "/tmp"})
        assert resumed["configOptions"] == before
        assert client.updates("config_option_update") == []


@pytest.mark.rule("V2-CFG-04", "V2-CFG-03")
async def test_the_agent_changes_an_option_and_tells_the_whole_list() -> None:
    """Spec: `config_option_update` is complete, never a delta."""
    async with playing(rich()) as client:
        session_id, before = await opened(client)
        await turn(client, session_id, "set depth low")
        (told,) = client.updates("config_option_update")
        assert values(told["configOptions"]) == {**values(before), "depth": "low"}


@pytest.mark.rule("V2-CFG-03")
def test_options_that_break_the_rules_cannot_be_added() -> None:
    """Spec: at least one value, unique across groups, a default among them; one id, one option."""
    agent = made()
    wrong: list[Any] = [
        [],
        ["a", "a"],
        [Choice("a", "A", group="one"), Choice("a", "A", group="two")],
    ]
    for choices in wrong:
        with pytest.raises(LocalProtocolError):
            agent.add_option("o", "O", choices)
    with pytest.raises(LocalProtocolError):
        agent.add_option("o", "O", ["a"], default="b")
    agent.add_option("o", "O", ["a"])
    with pytest.raises(LocalProtocolError):
        agent.add_switch("o", "O")
    with pytest.raises(LocalProtocolError):
        agent.add_option("mode", "Mode", ["a"])


@pytest.mark.rule("V2-CFG-06")
async def test_commands_are_listed_with_the_session_and_run_by_their_name() -> None:
    """Spec: `type: "command"`, no slash, no space, unique."""
    agent = made()

    @agent.command("greet", "Say hello", hint="name")
    async def greet(turn: Turn, argument: str) -> None:
        await turn.say(f"hello {argument}")

    @agent.command("quit", "Stop")
    async def stop(turn: Turn, argument: str) -> str:
        return "refusal"

    async with playing(agent) as client:
        result = await client.result("session/new", {"cwd": "/tmp"})
        assert result["availableCommands"] == [
            {
                "type": "command",
                "name": "greet",
                "description": "Say hello",
                "input": {"type": "text", "hint": "name"},
            },
            {"type": "command", "name": "quit", "description": "Stop"},
        ]
        session_id = result["sessionId"]
        await turn(client, session_id, "/greet the world")
        await turn(client, session_id, "/unknown thing")
        said = [one["content"] for one in client.updates("agent_message")]
        assert said == [text("hello the world"), text("/unknown thing")]
        assert (await turn(client, session_id, "/quit"))["stopReason"] == "refusal"


@pytest.mark.rule("V2-CFG-06")
@pytest.mark.parametrize("name", ["", "/x", "a b", "a\tb", "a/b", "twice"])
def test_a_command_that_breaks_the_rules_cannot_be_added(name: str) -> None:
    """Spec: names have no slash and no whitespace, and there is one of each."""
    agent = made()

    async def handler(turn: Turn, argument: str) -> None: ...

    agent.command("twice", "Once")(handler)
    with pytest.raises(LocalProtocolError):
        agent.command(name, "Wrong")(handler)


@pytest.mark.rule("V2-CFG-08")
async def test_every_plan_has_its_id_and_all_of_its_entries_each_time() -> None:
    """Spec: `planId` always, and the list is whole."""

    async def work(turn: Turn) -> None:
        plan = await turn.plan("one", v2.PlanEntry(content="2", priority="high", status="pending"))
        other = await turn.plan("else", plan_id="other")
        await plan.start(0)
        await plan.complete(0)
        await plan.drop(1)
        await other.replace(["x", "y", "z"])
        with pytest.raises(LocalProtocolError):
            await plan.complete(2)

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        await turn(client, session_id)
    plans = [one["plan"] for one in client.updates("plan_update")]
    assert all(one["type"] == "items" for one in plans)
    assert [(one["planId"], [e["status"] for e in one["entries"]]) for one in plans] == [
        ("main", ["pending", "pending"]),
        ("other", ["pending"]),
        ("main", ["in_progress", "pending"]),
        ("main", ["completed", "pending"]),
        ("main", ["completed", "cancelled"]),
        ("other", ["pending", "pending", "pending"]),
    ]

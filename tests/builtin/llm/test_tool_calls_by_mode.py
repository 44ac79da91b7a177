"""Tools in the hands of a model: offered by the mode, asked for, refused, misused, handed on."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from accord.builtin.llm.tool_calls import BadArguments, fitted
from accord.builtin.models.model_loader import LoadedModel
from accord.builtin.models.providers import ModelChoice
from tests.agent.draft.draft_client import draft_client
from tests.builtin.llm.talk import Load, choice_of, made, talk
from tests.fake_llm import FakeLLM

VERSIONS = pytest.mark.parametrize("version", [1, 2])
EDIT = (
    '[[tool read {"path": "calc.py"}]]'
    '[[tool edit {"path": "calc.py", "old": "len(value)", "new": "len(values)",'
    ' "reason": "the name is misspelt"}]][[say $RESULT]]'
)


@VERSIONS
async def test_an_edit_is_asked_for_with_its_reason_and_made(
    version: int, llm: FakeLLM, project: Path
) -> None:
    """Issue 3: one set of tools, which asks; the card is the one that the model began."""
    async with talk(made(choice_of("anthropic", llm)), project, version=version) as session:
        assert (await session.say(EDIT))["stopReason"] == "end_turn"
        assert len(session.asked) == 1
        assert "the name is misspelt" in json.dumps(session.asked)
        read, edit = session.last_of_calls()
        assert (read["status"], edit["status"]) == ("completed", "completed")
        assert edit["kind"] == "edit"
    assert "len(values)" in (project / "calc.py").read_text()


@pytest.mark.parametrize("granted", [True, False])
async def test_a_draft_client_learns_the_place_and_the_question_with_the_call(
    granted: bool, llm: FakeLLM, project: Path
) -> None:
    """Issue 15: `input`, `location` and `requiresPermission` come also when a model works."""
    (project / "AGENTS.md").write_text("Be brief.\n")
    offer: dict[str, Any] = {"fs": {"read": True}, "ui": {"permissionDialogs": True}}
    async with draft_client(made(choice_of("chat", llm)), offer) as client:
        client.serve["fs/read_text_file"] = lambda asked: {
            "content": Path(asked["path"]).read_text(),
            "encoding": "utf-8",
        }
        client.serve["session/request_permission"] = lambda _: {"granted": granted}
        session = await client.new_session(str(project))
        await client.prompt(session, EDIT)
        read, edit = client.told("tool_call")
        path = str(project / "calc.py")
        assert (read["input"]["path"], read["location"]) == (path, {"path": path})
        assert "requiresPermission" not in read
        assert (edit["input"]["path"], edit["location"]) == (path, {"path": path, "line": 2})
        assert edit["requiresPermission"] is True
        ends = [one["status"] for one in client.told("tool_call_update") if "status" in one]
        assert ends[-1] == ("completed" if granted else "denied")


async def test_a_refusal_is_told_to_the_model_and_nothing_is_changed(
    llm: FakeLLM, project: Path
) -> None:
    """Ours: the model reads that the user said no."""
    before = (project / "calc.py").read_text()
    async with talk(made(choice_of("chat", llm)), project) as session:
        session.answer = "reject_once"
        await session.say(EDIT)
        assert "The user said no." in session.text
        assert session.last_of_calls()[1]["status"] == "failed"
    assert (project / "calc.py").read_text() == before


async def test_a_mode_offers_only_what_it_allows(llm: FakeLLM, project: Path) -> None:
    """Ours: a model does not try what would be refused anyway."""
    async with talk(made(choice_of("chat", llm)), project) as session:
        await session.say("[[tools]]")
        await session.set("mode", "read-only")
        await session.say("[[tools]]")
        await session.set("mode", "plan")
        await session.say("[[tools]]")
    ask, read_only, plan = (part.split() for part in session.text.split("tools: ")[1:])
    assert {"edit", "run", "task", "plan"} <= set(ask)
    assert "leave_plan" not in ask
    assert not {"edit", "write", "run", "delete"} & set(read_only)
    assert "leave_plan" in plan
    assert "edit" not in plan


async def test_leaving_plan_mode_asks_and_gives_the_tools_back(llm: FakeLLM, project: Path) -> None:
    """Issue 3: a plan mode whose exit asks permission."""
    async with talk(made(choice_of("chat", llm)), project) as session:
        await session.set("mode", "plan")
        session.answer = "auto-edit"
        await session.say('[[tool leave_plan {"plan": "1. do it"}]][[tools]]')
        assert len(session.asked) == 1
        assert "edit" in session.text.split()


async def test_a_plan_is_shown_as_a_plan(llm: FakeLLM, project: Path) -> None:
    """Spec: plans are updates of their own, not tool calls."""
    script = '[[tool plan {"entries": [{"content": "look"}, {"content": "do"}]}]][[say ok]]'
    async with talk(made(choice_of("chat", llm)), project, version=1) as session:
        await session.say(script)
        (plan,) = session.client.updates("plan")
        assert [entry["content"] for entry in plan["entries"]] == ["look", "do"]
        assert session.calls() == []


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ('[[tool fly {"to": "moon"}]]', "There is no tool 'fly'."),
        ("[[tool read {}]]", "missing: path"),
        ('[[tool read {"path": "calc.py", "colour": 1}]]', "unknown: colour"),
        ('[[tool read {"path": "calc.py", "line": "x"}]]', "line must be of type integer"),
        ('[[tool read {"path": "gone.py"}]]', "There is no file"),
    ],
)
async def test_a_call_that_cannot_be_made_is_a_sentence_for_the_model(
    call: str, told: str, llm: FakeLLM, project: Path
) -> None:
    """Ours: it tries again; the user sees a failed call."""
    async with talk(made(choice_of("chat", llm)), project) as session:
        end = await session.say(f"{call}[[say $RESULT]]")
        assert end["stopReason"] == "end_turn"
        assert told in session.text
        assert session.last_of_calls()[0]["status"] == "failed"


def test_arguments_are_read_as_they_were_meant() -> None:
    """Ours: small models write numbers and switches as text, and null for nothing."""
    schema = {
        "properties": {
            "count": {"type": "integer", "minimum": 1},
            "share": {"type": "number"},
            "all": {"type": "boolean"},
            "words": {"type": "array"},
            "kind": {"type": "string", "enum": ["a", "b"]},
            "any": {},
        },
        "required": ["count"],
    }
    given = {"count": "3", "share": "0.5", "all": "True", "any": [1], "kind": None, "more": 1}
    read = {"count": 3, "share": 0.5, "all": True, "any": [1], "more": 1}
    assert fitted(schema, given) == read
    assert fitted(schema, {"count": 2.0}) == {"count": 2}
    for wrong in ({"count": True}, {"count": 0}, {"count": 1, "kind": "c"}, {"count": 2.5}):
        with pytest.raises(BadArguments):
            fitted(schema, wrong)


async def test_a_task_looks_and_does_not_change(llm: FakeLLM, project: Path) -> None:
    """Issue 3: a sub-run, read-only by default; its answer is the tool's result."""
    inner = r"[[tool grep {\"pattern\": \"mean\"}]][[say mean is in calc.py:1]]"
    script = f'[[tool task {{"prompt": "{inner}"}}]][[say It said: $RESULT]]'
    async with talk(made(choice_of("chat", llm)), project) as session:
        end = await session.say(script)
        assert end["stopReason"] == "end_turn"
        assert "It said: mean is in calc.py:1" in session.text
        task, grep = session.last_of_calls()
        assert (task["name"], task["status"]) == ("task", "completed")
        assert (grep["kind"], grep["status"]) == ("search", "completed")
    offered = [tool["function"]["name"] for tool in llm.asked[1]["tools"]]
    assert "read" in offered
    assert not {"edit", "write", "run", "task", "delete"} & set(offered)


def scripted(*turns: Callable[[list[Any], Any], AsyncIterator[Any]]) -> Load:
    """A loader for a model that is a function for every request."""

    async def load(choice: ModelChoice) -> LoadedModel:
        from pydantic_ai.models.function import FunctionModel

        rest = list(turns)

        async def stream(messages: list[Any], info: Any) -> AsyncIterator[Any]:
            async for piece in rest.pop(0)(messages, info):
                yield piece

        return LoadedModel(FunctionModel(stream_function=stream), choice, 100_000)

    return load


async def test_a_scripted_model_works_as_a_real_one_does(project: Path) -> None:
    """Issue 3: tested against pydantic-ai's FunctionModel too."""
    from pydantic_ai.models.function import DeltaThinkingPart, DeltaToolCall

    seen: list[Any] = []

    async def first(messages: list[Any], info: Any) -> AsyncIterator[Any]:
        seen.append([tool.name for tool in info.function_tools])
        yield {0: DeltaThinkingPart(content="thinking")}
        yield {1: DeltaToolCall(name="glob", json_args='{"patt', tool_call_id="c1")}
        yield {1: DeltaToolCall(json_args='ern": "*.py"}')}

    async def second(messages: list[Any], info: Any) -> AsyncIterator[Any]:
        seen.append(messages[-1].parts[0].content)
        yield "All "
        yield "done."

    choice = ModelChoice("ollama", "scripted")
    async with talk(made(choice, load=scripted(first, second)), project) as session:
        end = await session.say("go")
        assert end["stopReason"] == "end_turn"
        assert (session.thoughts, session.text) == ("thinking", "All done.")
    assert "read" in seen[0]
    assert "calc.py" in seen[1]


async def test_tools_of_mcp_servers_are_offered_under_names_that_every_provider_takes(
    project: Path,
) -> None:
    """Ours: letters, digits, `_` and `-`, at most 64, never twice."""
    from accord.builtin.llm.offered_tools import offered_tools

    def tool(server: str, name: str) -> Any:
        about = {"title": None, "description": "d", "input_schema": None}
        return SimpleNamespace(server=server, name=name, **about)

    tools = [tool("my server", "do.it"), tool("my_server", "do_it"), tool("s" * 80, "x")]
    features = SimpleNamespace(elicit_form=False)
    context = SimpleNamespace(
        mode="ask",
        turn=SimpleNamespace(session=SimpleNamespace(features=features)),
        workspace=SimpleNamespace(mcp=SimpleNamespace(tools=tools)),
    )
    toolbox: Any = SimpleNamespace(run_task=None, context=context)
    offered = offered_tools(toolbox)
    names = [name for name, one in offered.items() if one.server is not None]
    assert names == ["my_server__do_it", "my_server__do_it_2", "s" * 64]
    assert (offered[names[0]].server, offered[names[0]].method) == ("my server", "do.it")


ASK = '[[tool ask_user {"question": "Which one?", "choices": ["left", "right"]}]][[say $RESULT]]'


@VERSIONS
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"action": "accept", "content": {"answer": "left"}}, "left"),
        ({"action": "decline"}, "The user did not answer."),
    ],
)
async def test_a_question_of_the_model_is_a_form_for_the_user(
    version: int, answer: dict[str, Any], told: str, llm: FakeLLM, project: Path
) -> None:
    """Issue 3: elicitation for a choice the agent needs."""
    agent = made(choice_of("chat", llm))
    forms: dict[str, Any] = {"elicitation": {"form": {}}}
    async with talk(agent, project, version=version, capabilities=forms) as session:
        session.client.serve["elicitation/create"] = lambda _: answer
        assert (await session.say(ASK))["stopReason"] == "end_turn"
        assert session.text.startswith(told)
        assert session.calls() == []


async def test_a_client_without_forms_is_asked_nothing(llm: FakeLLM, project: Path) -> None:
    """Ours: the tool is not offered there."""
    async with talk(made(choice_of("chat", llm)), project) as session:
        await session.say("[[tools]]")
        assert "ask_user" not in session.text

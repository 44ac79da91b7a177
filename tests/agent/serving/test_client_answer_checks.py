"""Bad answers of a client: never used, logged by default, the end in strict mode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.agent import Agent, Turn
from accord.agent.tools.elicitation import FormField
from accord.errors import AccordError
from tests.agent.raw_client import raw_client
from tests.hang_limit import HANG_SECONDS

CAPABILITIES = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "elicitation": {"form": {}},
}
ALLOWED = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
TERMINALS: dict[str, Any] = {
    "session/request_permission": ALLOWED,
    "terminal/create": {"terminalId": "t"},
    "terminal/wait_for_exit": {"exitCode": 3},
    "terminal/output": {"output": "out", "truncated": False},
    "terminal/release": {},
}


async def ask(turn: Turn) -> None:
    async with turn.tool_call("Do it", kind="edit") as call:
        await turn.say(str(await call.ask("because")))


async def form(turn: Turn) -> None:
    await turn.say((await turn.ask("who?", name=FormField())).action)


async def read(turn: Turn) -> None:
    await turn.say(await turn.read_text("a.txt"))


async def run(turn: Turn) -> None:
    done = await turn.run("make")
    await turn.say(f"{done.exit_code} {done.signal} {done.output}")


def always(answer: Any) -> Any:
    return lambda _params: answer


def agent_of(handler: Any, *, strict: bool = False) -> Agent:
    agent = Agent("listener", version="1", strict=strict)
    agent.on_prompt(handler)
    return agent


PERMISSION = "session/request_permission"
FORM = "elicitation/create"
READ = "fs/read_text_file"
BAD = pytest.mark.parametrize(
    ("handler", "method", "answer", "said", "logged"),
    [
        (ask, PERMISSION, {}, "False", "missing required key (at $.outcome)"),
        (ask, PERMISSION, {"outcome": {"outcome": "yes"}}, "False", "unknown variant 'yes'"),
        (
            ask,
            PERMISSION,
            {"outcome": {"outcome": "selected", "optionId": "yes"}},
            "False",
            "chooses 'yes', which was not offered",
        ),
        (form, FORM, {"action": "yes"}, "cancel", "unknown variant 'yes' (at $.action)"),
        (form, FORM, {"action": "accept", "content": {}}, "cancel", "name is missing"),
        (
            form,
            FORM,
            {"action": "accept", "content": {"name": 5}},
            "cancel",
            "is not valid for its form: name is wrong",
        ),
    ],
)


@BAD
@pytest.mark.parametrize("version", [1, 2])
async def test_what_cannot_be_used_is_logged(
    handler: Any,
    method: str,
    answer: Mapping[str, Any],
    said: str,
    logged: str,
    version: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Issue 2: by default logged and tolerated; the author of the client sees why it is a no."""
    async with raw_client(
        agent_of(handler), version=version, capabilities=CAPABILITIES, validate=False
    ) as client:
        client.serve[method] = lambda _params: answer
        prompt = client.start_prompt(await client.new_session())
        await client.answer(prompt)
        if version == 2:
            await client.take(lambda one: "idle" in str(one))
    assert said in str(client.updates())
    (line,) = (one.getMessage() for one in caplog.records)
    assert f"the answer to {method}" in line
    assert logged in line


@BAD
async def test_strict_agents_end_it(
    handler: Any, method: str, answer: Mapping[str, Any], said: str, logged: str
) -> None:
    """Issue 2: strict makes broken rules fail at once."""
    agent = agent_of(handler, strict=True)
    async with raw_client(agent, capabilities=CAPABILITIES, validate=False) as client:
        client.serve[method] = lambda _params: answer
        client.start_prompt(await client.new_session())
        with anyio.fail_after(HANG_SECONDS):
            await client.ended.wait()
    assert said not in client.text()


@pytest.mark.parametrize(
    ("handler", "answers"),
    [
        (ask, {PERMISSION: ALLOWED | {"more": 1}}),
        (read, {READ: {"content": "x", "more": 1}}),
        (run, TERMINALS | {"terminal/wait_for_exit": {"exitCode": 0, "more": 1}}),
    ],
)
async def test_strict_agents_know_every_key_of_an_answer(
    handler: Any, answers: Mapping[str, Any]
) -> None:
    """Issue 2: unknown root fields fail at once; by default nobody looks twice at a good answer."""
    for strict in (False, True):
        agent = agent_of(handler, strict=strict)
        async with raw_client(agent, capabilities=CAPABILITIES, validate=False) as client:
            for method, answer in answers.items():
                client.serve[method] = always(answer)
            prompt = client.start_prompt(await client.new_session())
            with anyio.fail_after(HANG_SECONDS):
                if strict:
                    await client.ended.wait()
                else:
                    assert "result" in await client.answer(prompt)


@pytest.mark.parametrize(
    ("exit_status", "said"),
    [
        (None, "3 None out"),
        ({}, "3 None out"),
        ({"exitCode": None, "signal": None}, "3 None out"),
        ({"exitCode": 4}, "4 None out"),
        ({"signal": "SIGTERM"}, "None SIGTERM out"),
    ],
)
async def test_how_a_command_ended_is_told_by_either_answer(exit_status: Any, said: str) -> None:
    """Schema: `exitStatus` beside the output is optional; waiting for the end has it anyway."""
    output = {"output": "out", "truncated": False}
    shown = output if exit_status is None else output | {"exitStatus": exit_status}
    async with raw_client(agent_of(run), capabilities=CAPABILITIES) as client:
        for method, answer in (TERMINALS | {"terminal/output": shown}).items():
            client.serve[method] = always(answer)
        await client.prompt(await client.new_session())
    assert client.text() == said


async def test_an_output_without_a_text_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: the command has ended all the same, and how is known."""
    async with raw_client(agent_of(run), capabilities=CAPABILITIES) as client:
        for method, answer in (TERMINALS | {"terminal/output": {}}).items():
            client.serve[method] = always(answer)
        await client.prompt(await client.new_session())
    assert client.text() == "3 None "
    assert "the answer to terminal/output: missing required key (at $.output)" in caplog.text


@pytest.mark.parametrize("version", [1, 2])
async def test_a_missing_file_that_nobody_catches_is_named(version: int, tmp_path: Path) -> None:
    """Issue 2: our own errors carry their text; `Internal error` would help nobody to find it."""
    wanted = f"{tmp_path / 'a.txt'}: no such file"
    async with raw_client(agent_of(read), version=version) as client:
        answer = await client.answer(client.start_prompt(await client.new_session(str(tmp_path))))
        if version == 2:
            answer = await client.take(lambda one: "idle" in str(one))
    assert wanted in str(answer)
    assert "correlationId" not in str(answer)


async def write(turn: Turn) -> None:
    await turn.edit("a.txt", "new\n")


async def extension(turn: Turn) -> None:
    await turn.call_extension("_beyond", {}, dict[str, int])


GOOD: dict[str, Any] = TERMINALS | {
    READ: {"content": "text"},
    "fs/write_text_file": {},
    FORM: {"action": "accept", "content": {"name": "me"}},
    "_beyond": {"x": 1},
}
CALLS = [
    (ask, PERMISSION),
    (form, FORM),
    (read, READ),
    (write, READ),
    (write, PERMISSION),
    (write, "fs/write_text_file"),
    *((run, method) for method in TERMINALS),
    (extension, "_beyond"),
]
WRONG: tuple[Any, ...] = (None, True, 5, "x", [], [1], {}, {"x": 1})


def wrong_answers(good: Any) -> Iterator[Any]:
    """The answer with each of its parts wrong, or missing."""
    yield from WRONG
    for key, part in good.items() if isinstance(good, dict) else ():
        yield {name: value for name, value in good.items() if name != key}
        for changed in wrong_answers(part):
            yield {**good, key: changed}


@pytest.mark.parametrize(("handler", "method"), CALLS)
@pytest.mark.parametrize("version", [1, 2])
async def test_handlers_meet_no_errors_but_ours(
    handler: Any, method: str, version: int, tmp_path: Path
) -> None:
    """Issue 14: whatever a client answers, the library raises its own errors and goes on."""
    (tmp_path / "a.txt").write_text("old\n", encoding="utf-8")
    foreign: list[BaseException] = []

    async def watched(turn: Turn) -> None:
        try:
            await handler(turn)
        except AccordError:
            pass
        except Exception as error:
            foreign.append(error)

    answers = dict(GOOD)

    def answer_of(name: str, _params: Any) -> Any:
        return answers[name]

    async with raw_client(
        agent_of(watched), version=version, capabilities=CAPABILITIES, validate=False
    ) as client:
        for name in GOOD:
            client.serve[name] = partial(answer_of, name)
        session_id = await client.new_session(str(tmp_path))
        for answer in wrong_answers(GOOD[method]):
            answers[method] = answer
            prompt = client.start_prompt(session_id)
            assert "result" in await client.answer(prompt)
            if version == 2:
                await client.take(lambda one: "idle" in str(one))
            assert not foreign, f"{answer!r} made {foreign[0]!r}"

"""A client of ours answers the requests of the documents' agents, and takes what they say."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from accord.client import Client
from accord.client.permissions.permissions import Permissions
from accord.errors import RequestFailed
from tests.client.draft.draft_script import drafting
from tests.client.scripted_agent import ScriptedAgent, playing_with
from tests.examples.examples import SESSION, Example, Json, Spoken, chosen, the
from tests.examples.gardener import ANY, is_like, shape
from tests.examples.peers import ANSWERS
from tests.examples.test_decoded import OF_THE_CHANGE, is_in, leaves

Step = Callable[[ScriptedAgent], Awaitable[None]]
FREE: Json = {"permissions": Permissions.allow_all(), "files": True, "terminals": True}
PEAR = "planted 1971\n"


@asynccontextmanager
async def client_with(
    spoken: Spoken, script: Step, answer: Json | None = None, **more: Any
) -> AsyncIterator[tuple[Client, ScriptedAgent]]:
    """A client that has shaken hands with an agent of a version, which plays the script."""
    hello = answer or ANSWERS[spoken]["initialize"]
    options = {**FREE, **more}
    if spoken == "draft":
        async with drafting(script, hello, **options) as found:
            yield found
        return
    version = 1 if spoken == "v1" else 2
    async with playing_with(hello, script, version, **options) as found:
        yield found


def in_a_turn(spoken: Spoken, step: Step, stop: Json | None = None) -> Step:
    """Opens a session, and does something while a prompt is open, as the documents' agents do."""

    async def script(agent: ScriptedAgent) -> None:
        agent.result(await agent.expect("session/new"), ANSWERS[spoken]["session/new"])
        prompt = await agent.expect("session/prompt")
        await step(agent)
        # Also in the first pages about v2: at the end, with the reason.
        agent.result(prompt, stop or {"stopReason": "end_turn"})

    return script


async def turn(folder: Path, spoken: Spoken, step: Step, **more: Any) -> Any:
    """A whole turn of our client; the session and the reply."""
    async with client_with(spoken, in_a_turn(spoken, step), **more) as (client, _):
        session = await client.new_session(folder)
        reply = await session.ask("go on")
        return session, reply


async def answer_to(agent: ScriptedAgent, request_id: int) -> Json:
    """The client's answer; what it tells of terminals meanwhile is acknowledged."""
    while True:
        message = await agent.next()
        if "method" not in message:
            assert message["id"] == request_id
            return message
        assert message["method"] == "terminal/output"
        agent.result(message, {"received": True})


# ---- what it is asked

ANSWERED: dict[tuple[Spoken, str], Json] = {
    ("v1", "session/request_permission"): {"outcome": {"outcome": "selected", "optionId": ANY}},
    ("v1", "fs/read_text_file"): {"content": ANY},
    ("v1", "fs/write_text_file"): {},
    ("v1", "terminal/create"): {"terminalId": ANY},
    ("v1", "terminal/output"): {
        "output": ANY,
        "truncated": False,
        "exitStatus": {"exitCode": 0},
    },
    ("v1", "terminal/wait_for_exit"): {"exitCode": 0},
    ("v1", "terminal/kill"): {},
    ("v1", "terminal/release"): {},
    ("v2", "session/request_permission"): {"outcome": {"outcome": "selected", "optionId": ANY}},
    ("draft", "session/request_permission"): {"granted": True},
    ("draft", "fs/read_text_file"): {"content": PEAR, "encoding": "utf-8", "totalLines": 1},
    ("draft", "fs/write_text_file"): {"bytesWritten": 27, "created": False},
    ("draft", "terminal/create"): {"terminalId": ANY, "pid": ANY},
    ("draft", "terminal/wait_for_exit"): {"exitCode": 0},
    ("draft", "terminal/release"): {"released": True},
}


async def asked(example: Example, folder: Path) -> Json:
    """What our client answers to a request of an agent in a running turn."""
    for name in ("trees/pear.txt", "log/diary.txt", "rows.toml"):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(PEAR)
    answers: list[Json] = []

    async def step(agent: ScriptedAgent) -> None:
        message = example.moved(folder)
        params = message["params"]
        if example.method.startswith("terminal/") and example.method != "terminal/create":
            whose = {} if example.spoken == "draft" else {"sessionId": SESSION}
            command = {**whose, "command": "echo", "args": ["apples"]}
            made = await answer_to(agent, agent.request("terminal/create", command))
            assert "result" in made, made
            params["terminalId"] = made["result"]["terminalId"]
            ended = {**whose, "terminalId": params["terminalId"]}
            await answer_to(agent, agent.request("terminal/wait_for_exit", ended))
        agent.write(message)
        answers.append(await answer_to(agent, message["id"]))

    await turn(folder, example.spoken, step)
    return answers[0]


@chosen(kind="request", sender="agent")
async def test_every_request_is_answered_as_its_document_says(
    example: Example, tmp_path: Path
) -> None:
    """Issue 5: in the document's own wire form; each row of contradictions by its number.

    7: a tool call beside the options is read.  17: an object where the v1 pages show null.
    """
    answer = await asked(example, tmp_path)
    if example.method == "_mcp/request":
        # Planned only; the draft, 13.2: a method that nobody knows.
        assert answer["error"]["code"] == -32601
        return
    assert "result" in answer, answer
    assert is_like(answer["result"], ANSWERED[example.spoken, example.method]), answer
    if example.method == "session/request_permission" and example.spoken != "draft":
        first = example.message["params"]["options"][0]
        assert answer["result"]["outcome"]["optionId"] == first["optionId"]


# What may be left out, or comes only then.
ABSENT = {"draft": {".remember", ".scope"}}


@chosen(kind="answer", sender="client")
async def test_our_client_answers_in_the_same_form(example: Example, tmp_path: Path) -> None:
    """Issue 5: every member that the answer of the document has; row 10: cancelled is its own."""
    if example.message["result"] == {"outcome": {"outcome": "cancelled"}}:
        return
    documents = [example.document, "v1_pages"]
    names = {
        "session/request_permission": {
            "v1_pages": "tool calls 3",
            "v1_summary": "whole turn 4",
            "v2_first_pages_tool_calls": "permission 1",
            "draft_2026_02": "A.2 9",
        },
        "fs/read_text_file": {"draft_2026_02": "A.2 4", "v1_pages": "files 1"},
        "fs/write_text_file": {"draft_2026_02": "A.2 11", "v1_pages": "files 3"},
        "terminal/create": {"v1_pages": "terminals 1", "draft_2026_02": "diagram 5.2.4 1"},
        "terminal/output": {"v1_pages": "terminals 4"},
        "terminal/wait_for_exit": {"v1_pages": "terminals 6", "draft_2026_02": "diagram 5.2.4 5"},
        "terminal/release": {"draft_2026_02": "diagram 5.2.4 7"},
    }[example.method]
    document = next(one for one in documents if one in names)
    answer = await asked(the(document, names[document]), tmp_path)
    lacking = shape(example.message["result"]) - shape(answer["result"])
    assert lacking <= ABSENT.get(example.spoken, set())


# ---- what it is told


@chosen(is_update=True)
async def test_every_update_is_in_the_transcript_of_our_client(
    example: Example, tmp_path: Path
) -> None:
    """Issue 5: decodes and folds; rows 4, 6 and 8: the forms of the first pages are read."""

    async def step(agent: ScriptedAgent) -> None:
        agent.write(example.message)

    session, reply = await turn(tmp_path, example.spoken, step)
    assert reply.stop_reason == "end_turn"
    shown = json.dumps(session.transcript.dump(), ensure_ascii=False, default=str)
    assert not session.transcript.unknown
    for leaf in leaves(example.update, OF_THE_CHANGE if example.spoken == "draft" else ()):
        assert is_in(leaf, shown), leaf


# ---- what it is answered


@chosen(kind="answer", sender="agent", method="initialize")
async def test_every_answer_to_initialize_is_understood(example: Example, tmp_path: Path) -> None:
    """Issue 5: and a session can be had."""

    async def nothing(agent: ScriptedAgent) -> None:
        del agent

    result = example.message["result"]
    script = in_a_turn(example.spoken, nothing)
    async with client_with(example.spoken, script, result) as (client, _):
        assert client.capabilities.load is (
            result.get("agentCapabilities", result.get("capabilities")).get("loadSession", False)
        )
        session = await client.new_session(tmp_path)
        assert (await session.ask("go on")).stop_reason == "end_turn"


@chosen(kind="answer", sender="agent", method="session/new")
async def test_every_new_session_is_understood(example: Example, tmp_path: Path) -> None:
    """Issue 5; row 45: modes with their own words."""
    result = example.message["result"]

    async def script(agent: ScriptedAgent) -> None:
        agent.result(await agent.expect("session/new"), result)

    async with client_with(example.spoken, script) as (client, _):
        session = await client.new_session(tmp_path)
        assert session.id == result["sessionId"]
        if "modes" in result:
            shown = session.transcript.modes
            assert shown.current == result["modes"]["currentModeId"]
            assert [one.mode_id for one in shown.available] == [
                one["id"] for one in result["modes"]["availableModes"]
            ]


@chosen(kind="answer", sender="agent", method="session/prompt")
async def test_every_end_of_a_turn_is_understood(example: Example, tmp_path: Path) -> None:
    """Issue 5; row 4: the first pages about v2 answer a prompt at its end.

    Row 26: a missing session has the draft's number, and is known for what it is.
    """

    async def nothing(agent: ScriptedAgent) -> None:
        del agent

    async def refuse(agent: ScriptedAgent) -> None:
        agent.result(await agent.expect("session/new"), ANSWERS[example.spoken]["session/new"])
        error = example.message["error"]
        prompt = await agent.expect("session/prompt")
        agent.error(prompt, error["code"], error["message"], error["data"])

    if "error" in example.message:
        async with client_with(example.spoken, refuse) as (client, _):
            session = await client.new_session(tmp_path)
            with pytest.raises(RequestFailed) as failed:
                await session.ask("go on")
            assert failed.value.data["sessionId"] == example.message["error"]["data"]["sessionId"]
        return
    stop = example.message["result"]
    script = in_a_turn(example.spoken, nothing, stop)
    async with client_with(example.spoken, script) as (client, _):
        reply = await (await client.new_session(tmp_path)).ask("go on")
        assert reply.stop_reason == stop["stopReason"]

"""Where the documents contradict each other, one row of the table rules: what we do, row by row.

Rows 1, 4, 9 and 26 are in `test_agents.py`.
"""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.agent import Turn
from accord.client.permissions.request import Decision, PermissionRequest
from accord.schema import v2
from accord.transcript import Transcript
from accord.translate.message import AGENT, CLIENT
from tests.client.scripted_agent import ScriptedAgent
from tests.examples.bench import Bench
from tests.examples.draft_updates import as_v1
from tests.examples.examples import ROOT, Json, Spoken, the
from tests.examples.gardener import client_of, gardener, opened, shape
from tests.examples.peers import ASKED
from tests.examples.test_clients import answer_to, client_with, in_a_turn
from tests.examples.test_clients import asked as asked_of_client
from tests.examples.test_clients import turn as turn_of_client
from tests.examples.test_decoded import decoded
from tests.hang_limit import HANG_SECONDS

PROMPT = "v2_first_pages_prompt"
TOOLS = "v2_first_pages_tool_calls"
DRAFT = "draft_2026_02"


async def test_contradiction_6_a_plan_of_the_first_pages_has_an_id(tmp_path: Path) -> None:
    """Row 6: `planId` is written, `id` is read."""
    example = the(PROMPT, "output 2")
    transcript = Transcript()
    transcript.apply(decoded(example).update)
    assert [one.plan_id for one in transcript.plans] == [example.update["plan"]["id"]]
    bench = Bench("v2", "v2")
    bench.begin(prompt=True)
    told: Any = bench.tell(AGENT, "session/update", example.message["params"])[-1]
    assert told.params["update"]["plan"]["planId"] == example.update["plan"]["id"]


async def test_contradiction_7_a_tool_call_beside_the_options_is_wrapped(tmp_path: Path) -> None:
    """Row 7: read as a subject, and passed on as one."""
    example = the(TOOLS, "permission 1")
    answer = await asked_of_client(example, tmp_path)
    assert answer["result"] == the(TOOLS, "permission 2").message["result"]
    bench = Bench("v2", "v2")
    bench.begin(prompt=True)
    bench.ask(AGENT, example.method, example.message["params"])
    request: Any = next(
        one for one in bench.said[CLIENT] if getattr(one, "method", "") == example.method
    )
    subject = {"type": "tool_call", "toolCall": example.message["params"]["toolCall"]}
    assert request.params["subject"] == subject
    assert "toolCall" not in request.params


def test_contradiction_8_a_diff_of_two_texts_is_converted() -> None:
    """Row 8: `changes` and a patch; what is shown is the same."""
    example = the(TOOLS, "content 2")
    transcript = Transcript()
    transcript.apply(decoded(example).update)
    [diff] = transcript.tool_calls[0].diffs
    assert (diff.path, diff.old_text, diff.new_text) == (f"{ROOT}/lawn.txt", "leaves\n", "grass\n")
    bench = Bench("v2", "v2")
    bench.begin(prompt=True)
    told: Any = bench.tell(AGENT, "session/update", example.message["params"])[-1]
    [content] = told.params["update"]["content"]
    assert content["changes"] == [{"operation": "modify", "path": f"{ROOT}/lawn.txt"}]
    assert "-leaves\n+grass\n" in content["patch"]["text"]


@pytest.mark.parametrize("spoken", ["v1", "v2"])
async def test_contradiction_10_an_open_question_of_a_cancelled_turn_is_cancelled(
    spoken: Spoken, tmp_path: Path
) -> None:
    """Row 10: the outcome `cancelled`, also for the first pages of v2."""
    example = the("v1_summary", "permission 1") if spoken == "v1" else the(TOOLS, "permission 1")
    wanted = the("v1_summary", "permission 3") if spoken == "v1" else the(TOOLS, "permission 3")
    answers: list[Json] = []
    waiting = anyio.Event()

    class Slow:
        async def decide(self, request: PermissionRequest) -> Decision:
            waiting.set()
            await anyio.sleep_forever()
            raise AssertionError(request)

    async def step(agent: ScriptedAgent) -> None:
        agent.write(example.message)
        while len(answers) < 1:
            message = await agent.next()
            if "method" not in message:
                answers.append(message)

    stop = {"stopReason": "cancelled"}
    script = in_a_turn(spoken, step, stop)
    async with client_with(spoken, script, permissions=Slow()) as (client, _):
        session = await client.new_session(tmp_path)
        async with session.prompt("go on") as turn:
            with anyio.fail_after(HANG_SECONDS):
                await waiting.wait()
                await turn.cancel()
                reply = await turn.wait()
        assert reply.stop_reason == "cancelled"
    assert answers[0]["result"] == wanted.message["result"]


async def test_contradiction_17_an_empty_result_is_an_object(tmp_path: Path) -> None:
    """Row 17: we write an object, and read the null of the v1 pages."""
    assert the("v1_pages", "files 4").message["result"] is None
    answer = await asked_of_client(the("v1_pages", "files 3"), tmp_path)
    assert answer["result"] == {}
    async with client_of(gardener(), "v1") as client:
        session_id = await opened(client, "v1", tmp_path)
        load = the("v1_pages", "sessions 3").moved(tmp_path)["params"] | {"sessionId": session_id}
        assert isinstance(await client.result("session/load", load), dict)


async def test_contradiction_19_capabilities_of_a_client_are_in_its_request(tmp_path: Path) -> None:
    """Row 19: the v1 pages once say that they are in the answer."""
    (tmp_path / "a").write_text("the disk's")
    seen: list[str] = []
    agent = gardener()

    @agent.on_prompt
    async def look(turn: Turn) -> None:
        seen.append(await turn.read_text("a"))

    hello: Json = the("v1_pages", "initialize 1").message["params"]
    for params in (hello, {**hello, "clientCapabilities": {}}):
        async with client_of(agent, "v1", initialize=False) as client:
            await client.result("initialize", params)
            await client.prompt(await opened(client, "v1", tmp_path))
    assert seen == ["planted 1971\n", "the disk's"]


def test_contradiction_23_a_cost_may_be_in_other_units() -> None:
    """Row 23: three letters are not a rule any more."""
    example = the(PROMPT, "output 7")
    update = json.loads(json.dumps(example.update).replace("USD", "credits"))
    for one in (example.update, update):
        transcript = Transcript()
        bench = Bench("v2", "v2")
        bench.begin()
        params = {**example.message["params"], "update": one}
        told: Any = bench.tell(AGENT, "session/update", params)[-1]
        assert told.params["update"]["cost"] == one["cost"]
        transcript.apply(decoded(example).update)
        assert transcript.usage.cost is not None


async def test_contradiction_28_output_is_told_in_the_draft_and_asked_for_in_v1(
    tmp_path: Path,
) -> None:
    """Row 28: our agent takes it, and our client tells it, in the form of the draft's diagram."""
    push, taken = the(DRAFT, "diagram 5.2.4 3"), the(DRAFT, "diagram 5.2.4 4")
    agent = gardener()

    @agent.on_prompt
    async def press(turn: Turn) -> None:
        await turn.say((await turn.run("press")).output)

    async with client_of(agent, "draft", initialize=False) as client:
        await client.result("initialize", ASKED["draft"]["initialize"])
        del client.serve["terminal/wait_for_exit"]
        session_id = await opened(client, "draft", tmp_path)
        blocks = [{"type": "text", "text": "go on"}]
        asked = {"sessionId": session_id, "content": blocks}
        prompt = client.start("session/prompt", asked)
        waiting = await client.next("terminal/wait_for_exit")
        answer = await client.request(push.method, push.message["params"])
        assert answer["result"] == taken.message["result"]
        client.reply(waiting, the(DRAFT, "diagram 5.2.4 6").message["result"])
        assert (await client.answer(prompt))["result"]["stopReason"] == "end_turn"
        assert client.text() == push.message["params"]["data"]
    told: list[Json] = []

    async def step(agent: ScriptedAgent) -> None:
        command = {"command": "echo", "args": ["apples"]}
        made = await answer_to(agent, agent.request("terminal/create", command))
        wait = {"terminalId": made["result"]["terminalId"]}
        await answer_to(agent, agent.request("terminal/wait_for_exit", wait))
        told.extend(one["params"] for one in agent.sent("terminal/output"))

    await turn_of_client(tmp_path, "draft", step)
    assert told
    assert shape(push.message["params"]) <= shape(told)
    assert "".join(one["data"] for one in told) == "apples\n"


async def test_contradiction_32_a_model_is_an_option(tmp_path: Path) -> None:
    """Row 32: accepted where there is an option of that category, refused where there is none."""
    example = the("v1_summary", "models 1")
    agent = gardener()
    models: list[Any] = []

    @agent.on_prompt
    async def look(turn: Turn) -> None:
        models.append(turn.options["model"])

    async with client_of(agent, "v1") as client:
        session_id = await opened(client, "v1", tmp_path)
        assert await client.result(example.method, example.moved("/", session_id)["params"]) == {}
        await client.prompt(session_id)
    assert models == [example.message["params"]["modelId"]]


@pytest.mark.parametrize(
    ("document", "name"), [("v1_pages", "cancelling 1"), ("v1_pages", "client flow 6")]
)
async def test_contradiction_44_a_cancelled_turn_is_no_error(
    document: str, name: str, tmp_path: Path
) -> None:
    """Row 44: the result says it; a request that is cancelled is another thing."""
    async with client_of(gardener(), "v1") as client:
        session_id = await opened(client, "v1", tmp_path)
        prompt = client.start_prompt(session_id, "wait")
        await client.update("tool_call")
        client.send(the(document, name).moved(tmp_path, session_id))
        assert (await client.answer(prompt))["result"] == {"stopReason": "cancelled"}


def test_contradiction_45_one_word_for_two_modes_is_kept_apart() -> None:
    """Row 45: matched by what they do, not by the id."""
    bench = Bench("v1", "draft")
    bench.instead[AGENT, "initialize"] = the(DRAFT, "12 1").message
    bench.ask(CLIENT, "initialize")
    answer: Any = bench.answers[bench.ask(CLIENT, "session/new")]
    modes = [one["id"] for one in answer.result["modes"]["availableModes"]]
    assert modes == ["default", "plan", "code", "architect", "ask_questions"]
    for name in ("modes 1", "sessions 2"):
        document = "v1_pages" if name == "modes 1" else "v1_summary"
        bench = Bench("draft", "v1")
        bench.instead[AGENT, "session/new"] = the(document, name).message
        bench.begin()
        bench.instead[AGENT, "session/set_mode"] = {"result": {}}
        params = {"sessionId": "s-orchard", "mode": "ask_permission"}
        bench.ask(CLIENT, "session/set_mode", params)
        asked: Any = bench.said[AGENT][-1]
        assert asked.params["modeId"] == "ask"


async def test_contradiction_46_what_is_in_meta_changes_nothing(tmp_path: Path) -> None:
    """Row 46: the answer and what is told are the same with it and without."""
    with_meta = the(DRAFT, "13 1").message["params"]
    assert with_meta["_meta"]
    without = {name: item for name, item in with_meta.items() if name != "_meta"}
    said: list[Any] = []
    for params in (with_meta, without):
        async with client_of(gardener(), "draft") as client:
            session_id = await opened(client, "draft", tmp_path)
            result = await client.result("session/prompt", {**params, "sessionId": session_id})
            told = [one["params"]["data"] for one in client.frames if "method" in one]
            # Message ids differ between runs.
            said.append([result, [{**one, "_meta": None} for one in told]])
    assert said[0] == said[1]


def test_contradiction_48_steps_that_the_drafts_examples_leave_out_are_taken() -> None:
    """Row 48: pending to completed, and denied without a question; what we send has every step.

    That our own steps are the draft's is judged by the client of all tests of draft agents.
    """
    transcript = Transcript()
    names = ("A.2 3", "A.2 6", "A.2 8", "A.2 13", "16.2 5", "16.2 7")
    for update in as_v1(the(DRAFT, name).message["params"] for name in names):
        transcript.apply(update)
    found = [(one.tool_call_id, one.status) for one in transcript.tool_calls]
    assert found == [("label-1", "completed"), ("label-2", "completed"), ("dig-1", "cancelled")]


async def test_contradiction_50_audio_of_the_draft_is_taken(tmp_path: Path) -> None:
    """Row 50: the text of the draft has it, its schema does not."""
    agent = gardener()
    seen: list[v2.ContentBlock] = []

    @agent.on_prompt
    async def look(turn: Turn) -> None:
        seen.extend(turn.prompt)

    async with client_of(agent, "draft") as client:
        session_id = await opened(client, "draft", tmp_path)
        asked = the(DRAFT, "9 3").moved(tmp_path, session_id)["params"]
        assert (await client.result("session/prompt", asked))["stopReason"] == "end_turn"
    assert [type(one) for one in seen] == [v2.AudioContent]

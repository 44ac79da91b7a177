"""Prompts in v2: insertion and echo, states, stop reasons, prompts that wait."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.agent import Turn
from accord.errors import RequestError
from accord.schema import v2
from accord.store import MemoryStore, SessionLog, SessionRecord
from tests.agent.raw_client import OPEN
from tests.agent.v2.play import chosen, idle, insert, kinds, made, playing, settle, states, text

BLOCKS: list[dict[str, Any]] = [
    {"type": "text", "text": "look", "_meta": {"example.com/a": {"b": 1}}},
    {"type": "resource_link", "name": "x", "uri": "file:///x", "annotations": {"priority": 0.5}},
]


@pytest.mark.rule("V2-PROMPT-04", "V2-PROMPT-05", "V2-PROMPT-09", "V2-PROMPT-10", "V2-PROMPT-11")
async def test_a_prompt_is_answered_when_it_is_inserted_and_the_work_goes_on() -> None:
    """Spec: echo and result name one id; running at the start, idle with a reason at the end."""
    go_on = anyio.Event()

    async def work(turn: Turn) -> None:
        await go_on.wait()
        await turn.say("done")

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        result = await client.result("session/prompt", {"sessionId": session_id, "prompt": BLOCKS})
        assert states(client) == ["running"]
        go_on.set()
        assert (await idle(client))["stopReason"] == "end_turn"
        echoes = client.updates("user_message")
        assert [(one["messageId"], one["content"]) for one in echoes] == [
            (result["messageId"], BLOCKS)
        ]
        assert states(client) == ["running", "idle"]
        assert kinds(client)[-1] == "state_update idle"


@pytest.mark.rule("V2-GEN-10", "V2-GEN-11")
async def test_what_we_do_not_know_in_a_prompt_comes_back_in_echo_and_replay() -> None:
    """Spec: unknown values and `_meta` are kept, and mean nothing to us."""
    blocks = [
        {
            "type": "text",
            "text": "hi",
            "annotations": {"audience": ["_robot"]},
            "_meta": {"behave": "differently", "stopReason": "refusal"},
        }
    ]
    async with playing(made()) as client:
        session_id = await client.new_session()
        prompt = {"sessionId": session_id, "prompt": blocks, "_meta": {"cancel": True}}
        await client.result("session/prompt", prompt)
        assert (await idle(client))["stopReason"] == "end_turn"
        cursor = {"sessionId": session_id, "cwd": "/tmp", "replayFrom": {"type": "start"}}
        await client.result("session/resume", cursor)
        assert [one["content"] for one in client.updates("user_message")] == [blocks, blocks]


@pytest.mark.rule("V2-PROMPT-02", "V2-PROMPT-03", "V2-PROMPT-07", "V2-GEN-07")
@pytest.mark.parametrize(
    "prompt",
    [
        [{"type": "_x"}],
        [{"type": "video", "data": "AAAA"}],
        [{"type": "image", "data": "AAAA", "mimeType": "image/png"}],
        [{"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}],
        [{"type": "resource", "resource": {"uri": "file:///x", "text": "x"}}],
        [{"type": "text"}],
        [{"type": "text", "text": "fine"}, {"type": "text", "text": 5}],
        [],
        "text",
        None,
    ],
)
async def test_a_prompt_that_cannot_be_taken_leaves_no_trace(prompt: Any) -> None:
    """Spec: -32602, nothing inserted, no echo, no state; a known tag is never read as unknown."""
    async with playing(made()) as client:
        session_id = await client.new_session()
        params = {"sessionId": session_id, "prompt": prompt}
        error = await client.error("session/prompt", params)
        assert error["code"] == -32602
        assert error["data"]["path"].startswith("$.prompt")
        await settle(client)
        assert client.updates() == []


@pytest.mark.rule("V2-PROMPT-02", "V2-INIT-12")
async def test_content_that_was_offered_is_taken() -> None:
    """Spec: by the markers of `session.prompt`."""
    blocks = [
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "file:///x", "text": "x"}},
    ]
    seen: list[Any] = []

    async def look(turn: Turn) -> None:
        seen.extend(turn.prompt)

    async with playing(made(look, accepts=["image", "audio", "embedded_context"])) as client:
        session_id = await client.new_session()
        await client.result("session/prompt", {"sessionId": session_id, "prompt": blocks})
        await idle(client)
    assert [type(one) for one in seen] == [v2.ImageContent, v2.AudioContent, v2.EmbeddedResource]
    assert seen[0].data == b"\0\0\0"


@pytest.mark.rule("V2-PROMPT-06", "V2-PROMPT-17", "V2-PROMPT-18", "V2-PROMPT-19")
@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (RuntimeError("secret"), -32603),
        (TimeoutError("the model took too long"), -32603),
        (RequestError.rate_limited("slow down", 3), -32058),
        (RequestError.authentication_required(), -32000),
    ],
)
async def test_work_that_fails_after_insertion_ends_idle_with_the_error(
    problem: Exception, code: int
) -> None:
    """Spec: the result stays a success; own failures are `error`, with the error object."""

    async def fail(turn: Turn) -> None:
        raise problem

    async with playing(made(fail)) as client:
        session_id = await client.new_session()
        message_id = await insert(client, session_id)
        state = await idle(client)
        assert state["stopReason"] == "error"
        assert state["error"]["code"] == code
        assert "secret" not in str(state)
        assert client.updates("user_message")[0]["messageId"] == message_id
        assert not [frame for frame in client.frames if "error" in frame]
        # The connection and the session live.
        await insert(client, session_id)
        await idle(client)


class _BrokenLog:
    """A log whose disk is full."""

    def __init__(self, fails: list[bool]) -> None:
        self._fails = fails

    def append(self, update: Any) -> None:
        if self._fails[0]:
            raise OSError("disk full")

    async def replay(self) -> Any:
        if self._fails[0]:
            yield None


class _BrokenStore(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self.fails = [False]

    async def create(self, record: SessionRecord) -> SessionLog:
        await super().create(record)
        return _BrokenLog(self.fails)

    async def put(self, record: SessionRecord) -> None:
        if self.fails[0]:
            raise OSError("disk full")
        await super().put(record)


@pytest.mark.rule("V2-PROMPT-07", "V2-PROMPT-19")
async def test_a_failure_before_insertion_is_an_error_answer_without_an_echo() -> None:
    """Spec: not inserted, so no user message and no state; then the next prompt works."""
    store = _BrokenStore()
    async with playing(made(store=store)) as client:
        session_id = await client.new_session()
        store.fails[0] = True
        params = {"sessionId": session_id, "prompt": text("hi")}
        assert (await client.error("session/prompt", params))["code"] == -32603
        assert client.updates() == []
        store.fails[0] = False
        await insert(client, session_id)
        assert (await idle(client))["stopReason"] == "end_turn"


@pytest.mark.rule("V2-PROMPT-06", "V2-PROMPT-10")
async def test_a_store_that_fails_in_the_middle_ends_the_turn_and_nothing_else() -> None:
    """Ours: the connection lives; spec: idle comes all the same."""
    store = _BrokenStore()

    async def work(turn: Turn) -> None:
        store.fails[0] = True
        await turn.say("lost")

    async with playing(made(work, store=store)) as client:
        session_id = await client.new_session()
        await insert(client, session_id)
        state = await idle(client)
        assert (state["stopReason"], state["error"]["code"]) == ("error", -32603)
        assert "result" in await client.request("session/list", {})


@pytest.mark.rule("V2-PROMPT-06", "V2-PROMPT-10")
async def test_a_call_that_cannot_be_ended_ends_the_turn_with_the_error() -> None:
    """Ours: the client waits for the idle state, whatever goes wrong on the way there."""
    store = _BrokenStore()

    async def work(turn: Turn) -> None:
        await turn.tool_call("Left open").announce()
        store.fails[0] = True

    async with playing(made(work, store=store)) as client:
        session_id = await client.new_session()
        await insert(client, session_id)
        state = await idle(client)
        assert (state["stopReason"], state["error"]["code"]) == ("error", -32603)


@pytest.mark.rule("V2-PROMPT-10")
async def test_an_error_that_cannot_be_sent_still_ends_the_turn(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Ours: the data of an error may have no JSON form; its author sees that on stderr."""

    async def work(turn: Turn) -> None:
        raise RequestError(-32001, "odd", {"data": object()})

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        await insert(client, session_id)
        state = await idle(client)
        assert (state["stopReason"], state["error"]["code"]) == ("error", -32603)
        assert state["error"]["data"]["correlationId"] in capsys.readouterr().err
        await insert(client, session_id)
        await idle(client)


@pytest.mark.rule("V2-PROMPT-11", "V2-PROMPT-14", "V2-UPS-11")
@pytest.mark.parametrize(
    ("returned", "told"),
    [
        (None, "end_turn"),
        ("max_tokens", "max_tokens"),
        ("max_turn_requests", "max_turn_requests"),
        ("refusal", "refusal"),
        ("cancelled", "cancelled"),
        ("_bored", "_bored"),
        ("bored", "end_turn"),
    ],
)
async def test_the_handler_says_why_the_work_ended(returned: str | None, told: str) -> None:
    """Spec: known reasons and those that start with `_`; any other word is nobody's."""

    async def work(turn: Turn) -> str | None:
        return returned

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        await insert(client, session_id)
        assert (await idle(client))["stopReason"] == told
        assert {"running", "idle"} <= set(states(client))


@pytest.mark.rule("V2-PROMPT-12", "V2-PROMPT-09")
async def test_waiting_for_the_user_is_told_and_so_is_going_on() -> None:
    """Spec: requires_action while everything waits, then running again, then idle."""

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Edit", kind="edit") as call:
            await call.ask("May I?")

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        await insert(client, session_id)
        request = await client.next("session/request_permission")
        assert states(client) == ["running", "requires_action"]
        client.reply(request, chosen("allow_once"))
        await idle(client)
        assert states(client) == ["running", "requires_action", "running", "idle"]


@pytest.mark.rule("V2-PROMPT-12")
async def test_two_open_questions_are_one_wait() -> None:
    """Spec: nothing can move until the last of them is answered."""

    async def ask(turn: Turn) -> None:
        async with turn.tool_call("Edit", kind="edit") as call:
            await call.ask("May I?")

    async def work(turn: Turn) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, turn)
            tasks.start_soon(ask, turn)

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        await insert(client, session_id)
        first = await client.next("session/request_permission")
        second = await client.next("session/request_permission")
        client.reply(first, chosen("allow_once"))
        await settle(client)
        assert states(client) == ["running", "requires_action"]
        client.reply(second, chosen("allow_once"))
        await idle(client)
        assert states(client) == ["running", "requires_action", "running", "idle"]


@pytest.mark.rule("V2-PROMPT-20", "V2-PROMPT-09", "V2-PROMPT-10")
async def test_prompts_that_come_while_busy_wait_and_are_inserted_in_order() -> None:
    """Spec: held prompts are answered at their own insertion, in the order of their arrival."""
    steps = {word: anyio.Event() for word in ("one", "two", "three", "four")}

    async def work(turn: Turn) -> None:
        await steps[turn.text].wait()
        await turn.say(turn.text)

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        ids = {word: client.start_prompt(session_id, word) for word in steps}
        assert "result" in await client.answer(ids["one"])
        await settle(client)
        assert len(client.updates("user_message")) == 1
        for word, following in zip(steps, [*list(steps)[1:], None], strict=True):
            steps[word].set()
            await idle(client)
            if following is not None:
                answer = await client.answer(ids[following])
                assert answer["result"]["messageId"]
        inserted = [one["content"][0]["text"] for one in client.updates("user_message")]
        assert inserted == list(steps)
        assert states(client) == ["running", "idle"] * 4


@pytest.mark.rule("V2-PROMPT-20")
async def test_sessions_do_not_wait_for_each_other() -> None:
    """Spec: the foreground is a session's own."""
    go_on = anyio.Event()

    async def work(turn: Turn) -> None:
        if turn.text == "slow":
            await go_on.wait()

    async with playing(made(work)) as client:
        slow, quick = await client.new_session(), await client.new_session()
        await insert(client, slow, "slow")
        await insert(client, quick, "quick")
        await idle(client)
        assert states(client) == ["running", "running", "idle"]
        go_on.set()
        await idle(client)


@pytest.mark.rule("V2-PROMPT-26")
async def test_an_answer_that_comes_after_the_end_changes_nothing() -> None:
    """Spec: late answers for ended work are ignored."""

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Edit", kind="edit") as call:
            if await call.ask("May I?"):
                await turn.say("edited")

    async with playing(made(work)) as client:
        client.serve["session/request_permission"] = lambda params: OPEN
        session_id = await client.new_session()
        await insert(client, session_id)
        request = await client.next("session/request_permission")
        client.cancel(session_id)
        assert (await idle(client))["stopReason"] == "cancelled"
        seen = len(client.frames)
        client.reply(request, chosen("allow_once"))
        await settle(client)
        assert len(client.frames) == seen + 1
        assert client.updates("agent_message") == []

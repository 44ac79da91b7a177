"""A model that fails: the user is told what happened and what to do, and the session goes on."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from accord.builtin.llm.errors import failure_of
from accord.builtin.models.providers import ModelChoice, Secret
from tests.builtin.llm.talk import FORMATS, KEY, Talk, choice_of, made, talk
from tests.fake_llm import FakeLLM

EVERY_FORMAT = pytest.mark.parametrize("form", FORMATS)
VERSIONS = pytest.mark.parametrize("version", [1, 2])


async def goes_on(session: Talk) -> None:
    """The next prompt is answered."""
    end = await session.say("[[say still here]]")
    assert end["stopReason"] == "end_turn"
    assert session.text.endswith("still here")


@EVERY_FORMAT
@pytest.mark.parametrize("status", [401, 403])
async def test_a_key_that_is_not_accepted_asks_for_a_login(
    form: str, status: int, llm: FakeLLM, project: Path
) -> None:
    """Issue 3: 401 and 403 are a clear sentence and the code that makes clients offer a login."""
    async with talk(made(choice_of(form, llm)), project, version=1) as session:
        end = await session.say(f"[[error {status} bad key {KEY}]]")
        error = end["error"]
        assert (error["code"], error["data"]["reason"]) == (-32000, "auth_required")
        assert "does not accept the key (key from a test)" in error["message"]
        assert KEY not in json.dumps(error)
        await goes_on(session)
    assert len(llm.asked) == 2


@EVERY_FORMAT
async def test_a_busy_server_is_asked_again_after_the_time_it_wants(
    form: str, llm: FakeLLM, project: Path
) -> None:
    """Issue 3: retries on 429 with a notice; Retry-After is respected."""
    async with talk(made(choice_of(form, llm)), project) as session:
        end = await session.say(f"[[flaky 2 429 0.02 slow {form}]][[say here I am]]")
        assert end["stopReason"] == "end_turn"
        assert session.text == "here I am"
        notices = [update["title"] for update in session.client.updates("notice")]
    assert [notice.rpartition(" (")[2] for notice in notices] == ["1 of 2).", "2 of 2)."]
    assert f"accepts no more requests for now (429): slow {form}. Trying again in" in notices[0]
    assert len(llm.asked) == 3


@pytest.mark.parametrize("status", [500, 502, 503, 529])
async def test_a_server_that_fails_is_asked_again_and_given_up_in_the_end(
    status: int, llm: FakeLLM, project: Path
) -> None:
    """Issue 3: bounded, and the last failure is the answer."""
    async with talk(made(choice_of("anthropic", llm)), project, version=1) as session:
        end = await session.say(f"[[error {status} broken]]")
        assert end["error"]["data"] == {"reason": "model_unavailable"}
        assert "Gave up after 3 tries" in end["error"]["message"]
        await goes_on(session)
    assert len(llm.asked) == 4


async def test_a_client_without_notices_reads_of_a_retry_in_a_thought(
    llm: FakeLLM, project: Path
) -> None:
    """Ours: nobody waits for a minute without a word."""
    agent = made(choice_of("chat", llm))
    async with talk(agent, project, version=1, notices=False) as session:
        await session.say("[[flaky 1 503 0.01 thought]][[say done]]")
        assert "Trying again in" in session.thoughts
        assert session.client.updates("notice") == []


async def test_a_server_that_wants_more_patience_than_we_have_is_left(
    llm: FakeLLM, project: Path
) -> None:
    """Ours: an hour is not waited for; the client learns how long it would be."""
    async with talk(made(choice_of("chat", llm)), project, version=1) as session:
        end = await session.say("[[flaky 1 429 3600 come back]][[say no]]")
        assert (end["error"]["code"], end["error"]["data"]["retryAfter"]) == (-32058, 3600)


async def test_waiting_for_another_try_can_be_cancelled(llm: FakeLLM, project: Path) -> None:
    """Issue 3: cancellable."""
    async with talk(made(choice_of("chat", llm)), project) as session:
        turn = session.start("[[flaky 1 429 1 wait]][[say no]]")
        await session.client.update("notice")
        session.client.notify("session/cancel", {"sessionId": session.session_id})
        assert (await session.ended(turn))["stopReason"] == "cancelled"


@EVERY_FORMAT
@VERSIONS
async def test_half_a_stream_is_kept_and_told(
    form: str, version: int, llm: FakeLLM, project: Path
) -> None:
    """Issue 3: what the user has read stays in the history; it is not asked for again."""
    async with talk(made(choice_of(form, llm)), project, version=version) as session:
        end = await session.say("[[say half of it]][[drop]]")
        assert "The answer was cut off." in end["error"]["message"]
        assert session.text == "half of it"
        await goes_on(session)
    assert len(llm.asked) == 2
    assert "half of it" in json.dumps(llm.asked[1]).replace("[[say half of it]]", "")


async def test_a_tool_call_that_was_never_finished_is_ended(llm: FakeLLM, project: Path) -> None:
    """Ours: no card stays open for a call that will not be made."""
    async with talk(made(choice_of("chat", llm)), project) as session:
        await session.say(
            '[[tool read {"path": "calc.py"}]][[&tool grep {"pattern": "x"}]][[drop]]'
        )
        end = await session.say("[[say x]]")
        assert end["stopReason"] == "end_turn"
        statuses = [call["status"] for call in session.last_of_calls()]
    assert all(status in ("completed", "failed") for status in statuses)


@EVERY_FORMAT
async def test_an_answer_that_is_none_is_a_sentence(form: str, llm: FakeLLM, project: Path) -> None:
    """Issue 3: garbage."""
    async with talk(made(choice_of(form, llm)), project, version=1) as session:
        end = await session.say("[[garbage]]")
        assert "Internal error" not in end["error"]["message"]
        assert end["error"]["data"]["reason"] in ("bad_answer", "model_unreachable")
        await goes_on(session)


@EVERY_FORMAT
async def test_a_server_that_is_not_there_is_named(form: str, llm: FakeLLM, project: Path) -> None:
    """Ours: the address is in the sentence, since it is the commonest mistake."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
    choice = choice_of(form, llm)
    nowhere = ModelChoice(choice.provider, choice.model, address, choice.key, api=choice.api)
    async with talk(made(nowhere), project, version=1) as session:
        end = await session.say("hello")
    assert end["error"]["data"] == {"reason": "model_unreachable"}
    assert address in end["error"]["message"]


async def test_a_model_without_a_key_is_not_asked(llm: FakeLLM, project: Path) -> None:
    """Issue 3: authentication, when a chosen provider has no key."""
    async with talk(made(ModelChoice("anthropic", "claude-sonnet-5")), project, version=1) as one:
        end = await one.say("hello")
    assert end["error"]["code"] == -32000
    assert "ANTHROPIC_API_KEY" in end["error"]["message"]
    assert llm.requests == []


async def test_a_prompt_that_the_model_cannot_take_is_forgotten(
    llm: FakeLLM, project: Path
) -> None:
    """Ours: else every later request would be refused for it too."""
    async with talk(made(choice_of("chat", llm)), project, version=1) as session:
        end = await session.say("poison [[error 400 no such thing]]")
        assert end["error"]["data"] == {"reason": "request_rejected"}
        await goes_on(session)
    assert "poison" not in json.dumps(llm.asked[-1])


async def test_a_model_that_does_not_exist_is_named(llm: FakeLLM, project: Path) -> None:
    """Ours."""
    async with talk(made(choice_of("chat", llm)), project, version=1) as session:
        end = await session.say("[[error 404 nothing here]]")
    assert "has no model 'gpt-5'" in end["error"]["message"]


@pytest.mark.parametrize(
    "body",
    [
        f"Incorrect key: {KEY}",
        {"error": {"message": "Incorrect API key provided: sk-abc12345***def."}},
        {"detail": "Bearer abcdefghijklmnop is wrong"},
        {"error": "key AIzaSyA1234567890123 is wrong"},
    ],
)
def test_no_sentence_has_a_key_in_it(body: Any) -> None:
    """Issue 3: keys are never in errors."""
    from pydantic_ai.exceptions import ModelHTTPError

    choice = ModelChoice("openai", "gpt-5", key=Secret(KEY))
    sentence = failure_of(ModelHTTPError(400, "gpt-5", body), choice).sentence
    assert "[secret]" in sentence
    for piece in ("sk-", "AIza", "abcdefghijklmnop"):
        assert piece not in sentence


async def test_a_server_of_ones_own_that_does_not_run_is_not_waited_for(
    llm: FakeLLM, project: Path
) -> None:
    """Ours: nobody wants to wait half a minute to hear that Ollama was not started."""
    choice = ModelChoice("ollama", "qwen3", "http://127.0.0.1:1/v1")
    async with talk(made(choice), project, version=2) as session:
        end = await session.say("hello")
        assert "Is it running?" in end["error"]["message"]
        assert session.client.updates("notice") == []

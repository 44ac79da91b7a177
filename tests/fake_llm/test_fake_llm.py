"""The fake model keeps its own promises, in every format."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fake_llm import FakeLLM, serve

SCRIPT = '[[think hm]][[say Hi.]][[tool echo {"m": "a]]b"}]][[say Got $RESULT]]'
ARGUMENTS = {"m": "a]]b"}
USER = [{"role": "user", "content": SCRIPT}]
CHAT_TOOLS = [{"type": "function", "function": {"name": "echo", "parameters": {}}}]
OTHER_TOOLS = [{"type": "function", "name": "echo", "parameters": {}, "input_schema": {}}]
GEMINI_TOOLS = [{"functionDeclarations": [{"name": "echo"}]}]
GEMINI_USER = [{"role": "user", "parts": [{"text": SCRIPT}]}]


@pytest.fixture(scope="module")
def llm() -> Iterator[FakeLLM]:
    with serve() as server:
        yield server


def post(llm: FakeLLM, path: str, **body: Any) -> str:
    data = json.dumps({"model": "m", **body}).encode()
    request = urllib.request.Request(llm.url + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        text: str = answer.read().decode()
    return text


def whole(llm: FakeLLM, path: str, **body: Any) -> Any:
    return json.loads(post(llm, path, **body))


def events(text: str) -> list[Any]:
    lines = text.replace("\r", "").splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


def test_chat_completions_stream_text_and_the_arguments_of_a_tool(llm: FakeLLM) -> None:
    """Ours."""
    streamed = post(llm, "/v1/chat/completions", stream=True, tools=CHAT_TOOLS, messages=USER)
    choices = [event["choices"][0] for event in events(streamed) if event["choices"]]
    assert "".join(one["delta"].get("content") or "" for one in choices) == "Hi."
    calls = [one["delta"]["tool_calls"][0] for one in choices if "tool_calls" in one["delta"]]
    assert json.loads("".join(call["function"]["arguments"] for call in calls)) == ARGUMENTS
    assert choices[-1]["finish_reason"] == "tool_calls"


def test_chat_completions_go_on_after_the_result_of_a_tool(llm: FakeLLM) -> None:
    """Ours: how far the script is used up is read off the messages."""
    called = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "echo"}}]}
    result = {"role": "tool", "tool_call_id": "c", "content": "R"}
    answer = whole(llm, "/chat/completions", tools=CHAT_TOOLS, messages=[*USER, called, result])
    assert answer["choices"][0]["message"]["content"] == "Got R"


def test_responses_stream_and_go_on_by_the_id_of_the_response(llm: FakeLLM) -> None:
    """Ours."""
    streamed = post(llm, "/v1/responses", stream=True, tools=OTHER_TOOLS, input=SCRIPT)
    last = events(streamed)[-1]
    items = last["response"]["output"]
    call = next(item for item in items if item["type"] == "function_call")
    assert last["type"] == "response.completed"
    assert json.loads(call["arguments"]) == ARGUMENTS
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "R"}
    answer = whole(
        llm,
        "/v1/responses",
        tools=OTHER_TOOLS,
        previous_response_id=last["response"]["id"],
        input=[result],
    )
    assert answer["output"][0]["content"][0]["text"] == "Got R"


def test_anthropic_messages_stream_blocks_and_come_whole(llm: FakeLLM) -> None:
    """Ours."""
    streamed = events(post(llm, "/v1/messages", stream=True, tools=OTHER_TOOLS, messages=USER))
    starts = [one["content_block"]["type"] for one in streamed if "content_block" in one]
    assert starts == ["thinking", "text", "tool_use"]
    ends = next(event for event in streamed if event["type"] == "message_delta")
    assert ends["delta"]["stop_reason"] == "tool_use"
    used = {"type": "tool_use", "id": "t", "name": "echo", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "R"}
    turns = [{"role": "assistant", "content": [used]}, {"role": "user", "content": [result]}]
    answer = whole(llm, "/v1/messages", tools=OTHER_TOOLS, messages=[*USER, *turns])
    assert answer["content"] == [{"type": "text", "text": "Got R"}]


def test_gemini_streams_parts_and_comes_whole(llm: FakeLLM) -> None:
    """Ours."""
    streamed = post(
        llm,
        "/v1beta/models/g:streamGenerateContent?alt=sse",
        contents=GEMINI_USER,
        tools=GEMINI_TOOLS,
    )
    parts = [
        part for event in events(streamed) for part in event["candidates"][0]["content"]["parts"]
    ]
    assert any(part.get("thought") for part in parts)
    assert any(part.get("functionCall", {}).get("args") == ARGUMENTS for part in parts)
    called = {"role": "model", "parts": [{"functionCall": {"name": "echo", "args": {}}}]}
    response = {"name": "echo", "response": {"output": "R"}}
    result = {"role": "user", "parts": [{"functionResponse": response}]}
    answer = whole(
        llm,
        "/v1beta/models/g:generateContent",
        contents=[*GEMINI_USER, called, result],
        tools=GEMINI_TOOLS,
    )
    assert answer["candidates"][0]["content"]["parts"][0]["text"] == "Got R"


def test_a_schema_gets_the_smallest_value_that_fits_it(llm: FakeLLM) -> None:
    """Ours: titles and the like are asked for without tools."""
    schema = {
        "type": "OBJECT",
        "properties": {"a": {"type": "STRING", "enum": ["x"]}},
        "required": ["a"],
    }
    answer = whole(
        llm,
        "/v1beta/models/g:generateContent",
        contents=GEMINI_USER,
        generationConfig={"responseSchema": schema},
    )
    text = answer["candidates"][0]["content"]["parts"][0]["text"]
    assert json.loads(text) == {"a": "x"}


@pytest.mark.parametrize("stream", [False, True])
def test_ollama_speaks_in_lines_or_in_one(llm: FakeLLM, stream: bool) -> None:
    """Ours."""
    text = post(llm, "/api/chat", stream=stream, tools=CHAT_TOOLS, messages=USER)
    messages = [json.loads(line)["message"] for line in text.splitlines()]
    calls = [call for message in messages for call in message.get("tool_calls", [])]
    assert calls[0]["function"]["arguments"] == ARGUMENTS


def test_a_request_without_tools_gets_a_title_and_never_a_tool_call(llm: FakeLLM) -> None:
    """Ours."""
    messages = [{"role": "user", "content": "[[tool echo {}]]"}]
    answer = whole(llm, "/v1/chat/completions", messages=messages)
    assert answer["choices"][0]["message"]["content"] == "Fake title"


def test_failures_are_those_of_the_format(llm: FakeLLM) -> None:
    """Ours."""
    messages = [{"role": "user", "content": "[[error 429 slow down]]"}]
    with pytest.raises(urllib.error.HTTPError) as failure:
        post(llm, "/v1/messages", messages=messages, tools=OTHER_TOOLS)
    with failure.value as answer:
        assert answer.code == 429
        assert json.load(answer)["error"]["type"] == "rate_limit_error"


def test_a_flaky_model_fails_so_often_and_then_answers(llm: FakeLLM) -> None:
    """Ours."""
    messages = [{"role": "user", "content": "[[flaky 1 503 0.5 busy]][[say fine]]"}]
    with pytest.raises(urllib.error.HTTPError) as failure:
        post(llm, "/v1/chat/completions", messages=messages, tools=CHAT_TOOLS)
    with failure.value as answer:
        assert (answer.code, answer.headers["Retry-After"]) == (503, "0.5")
    answer = whole(llm, "/v1/chat/completions", messages=messages, tools=CHAT_TOOLS)
    assert answer["choices"][0]["message"]["content"] == "fine"


def test_what_follows_a_failure_in_one_text_is_the_next_prompt(llm: FakeLLM) -> None:
    """Ours: agents glue a failed prompt and the next one together."""
    messages = [{"role": "user", "content": "[[error 400]]\n[[say fine]]"}]
    answer = whole(llm, "/v1/chat/completions", messages=messages, tools=CHAT_TOOLS)
    assert answer["choices"][0]["message"]["content"] == "fine"

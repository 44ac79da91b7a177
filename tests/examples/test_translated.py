"""Every example message is translated to the other versions, and what comes out is valid there."""

import json
from typing import Any

import pytest

from accord.proxy.relay.translators import Outside
from accord.translate.message import AGENT, CLIENT, HOST, Failure, Notification, Result
from tests.examples.bench import Bench
from tests.examples.examples import EXAMPLES, SESSION, Example, Json, Spoken

VERSIONS: tuple[Spoken, ...] = ("v1", "v2", "draft")


def targets(example: Example) -> list[Spoken]:
    """The versions that it is translated to; the first pages of v2 also to today's."""
    return [one for one in VERSIONS if example.spoken == "v2" or one != example.spoken]


def pairs(**wanted: Any) -> pytest.MarkDecorator:
    """Once for every example that fits and every other version."""
    found = [
        pytest.param(one, target, id=f"{one} to {target}")
        for one in EXAMPLES
        if all(getattr(one, name) == value for name, value in wanted.items())
        for target in targets(one)
    ]
    return pytest.mark.parametrize(("example", "target"), found)


def bench_for(example: Example, target: Spoken) -> Bench:
    """The sender speaks its version, the other side the target."""
    if example.sender == "agent":
        return Bench(target, example.spoken)
    outside: Outside = "v2-early" if example.spoken == "v2" else example.spoken
    return Bench(outside, target)


def words(value: Any, inside: str = "") -> list[str]:
    """What it says to people: texts, names, titles, commands."""
    if isinstance(value, dict):
        return [one for name, item in value.items() for one in words(item, name)]
    if isinstance(value, list):
        return [one for item in value for one in words(item, inside)]
    spoken = ("text", "content", "title", "description", "newText", "stdout", "command", "error")
    return [value] if isinstance(value, str) and inside in spoken and value else []


def is_told(word: str, said: str) -> bool:
    """Whole, or line by line where it became a patch."""
    lines = word.splitlines() or [word]
    return all(json.dumps(line, ensure_ascii=False)[1:-1] in said for line in lines)


def is_echo(example: Example) -> bool:
    """An echo of the running prompt is not sent back, in versions that have none."""
    return example.update.get("sessionUpdate") in ("user_message", "user_message_chunk")


# The draft has no update for these: they count as lost, or go to the peer that asked for them.
WITHOUT_FORM = {("draft", "usage_update")}


@pairs(is_update=True)
def test_every_update_is_told_in_the_other_version(example: Example, target: Spoken) -> None:
    """Issue 5: translates; nothing that is said is lost."""
    bench = bench_for(example, target)
    bench.begin(prompt=not is_echo(example))
    told = bench.tell(AGENT, "session/update", example.message["params"])
    if (target, example.update.get("sessionUpdate")) in WITHOUT_FORM:
        assert not told
        assert bench.translator.losses
        return
    heard = json.dumps([one for one in told if isinstance(one, Notification)], ensure_ascii=False)
    assert heard != "[]"
    for word in words(example.update):
        assert is_told(word, heard), word


# The only refusals, by document, example and version that it goes to: code and why.
REFUSED: dict[tuple[str, str, Spoken], tuple[int, str]] = {
    ("v1_summary", "servers 3", "v2"): (-32602, "v2 has no SSE"),
    ("draft_2026_02", "11 4", "v2"): (-32007, "v2 has no SSE, in the draft's own number"),
    ("draft_2026_02", "11 5", "v1"): (-32007, "a server behind an agent is only proposed"),
    ("draft_2026_02", "11 5", "v2"): (-32007, "a server behind an agent is only proposed"),
}
# What an answer would be needed for, but who asks has no such request.
LOST = {("v1_pages", "sessions 3", "draft")}


@pairs(kind="request", sender="client")
def test_every_request_of_a_client_is_asked_and_answered(example: Example, target: Spoken) -> None:
    """Issue 5: translates; the answer is valid in the version of the caller."""
    bench = bench_for(example, target)
    if example.method != "initialize":
        bench.begin(session=example.method != "session/load")
    key = bench.ask(CLIENT, example.method, example.message["params"])
    if example.method == "session/prompt" and target == "v2":
        bench.tell(AGENT, "session/update", idle("end_turn"))
    answer = bench.answers[key]
    refused = REFUSED.get((example.document, example.name, target))
    if refused is not None:
        assert isinstance(answer, Failure)
        assert answer.code == refused[0]
        return
    assert isinstance(answer, Result), answer
    if (example.document, example.name, target) in LOST:
        assert bench.translator.losses
        return
    heard = bench.text(AGENT)
    for word in words(example.message["params"]):
        assert is_told(word, heard), word


def idle(stop_reason: str) -> Json:
    """The params of an update of v2 that ends a turn."""
    update = {"sessionUpdate": "state_update", "state": "idle", "stopReason": stop_reason}
    return {"sessionId": SESSION, "update": update}


@pairs(kind="request", sender="agent")
def test_every_request_of_an_agent_is_asked_and_answered(example: Example, target: Spoken) -> None:
    """Issue 5: translates; what v2 has no request for is done by the host."""
    bench = bench_for(example, target)
    bench.begin(prompt=True)
    if example.method.startswith("terminal/") and example.method != "terminal/create":
        bench.ask(AGENT, "terminal/create")
    key = bench.ask(AGENT, example.method, example.message["params"])
    answer = bench.answers[key]
    if example.method == "_mcp/request":
        # Planned only: it goes through as any method of somebody's own.
        assert answer == Failure(key, -32601, "no such method", None)
        return
    assert isinstance(answer, Result), answer
    heard = bench.text(CLIENT) + bench.text(HOST)
    for word in words(example.message["params"]):
        assert is_told(word, heard), word


@pairs(kind="notification", sender="client")
def test_every_notification_of_a_client_is_passed_on(example: Example, target: Spoken) -> None:
    """Issue 5: translates."""
    bench = bench_for(example, target)
    prompt = bench.begin(prompt=True)
    told = bench.tell(CLIENT, example.method, example.message["params"])
    assert Notification in map(type, told)
    if example.method != "session/cancel":
        assert told[-1] == Notification(example.method, example.message["params"])
        return
    bench.instead[AGENT, "session/prompt"] = {"result": CANCELLED[target]}
    bench.release("session/prompt")
    if target == "v2":
        bench.tell(AGENT, "session/update", idle("cancelled"))
    assert prompt is not None
    answer = bench.answers[prompt]
    assert isinstance(answer, Result)
    assert answer.result["stopReason"] == "cancelled"


CANCELLED: dict[Spoken, Json] = {
    "v1": {"stopReason": "cancelled"},
    "v2": {"messageId": "u-1"},
    "draft": {"stopReason": "cancelled"},
}


# What the other version calls it, where that differs.
CALLED: dict[tuple[Spoken, str], str] = {
    ("v2", "authenticate"): "auth/login",
}


@pairs(kind="answer", sender="agent")
def test_every_answer_of_an_agent_reaches_who_asked(example: Example, target: Spoken) -> None:
    """Issue 5: translates; an error has the number that it has in that version."""
    bench = bench_for(example, target)
    bench.instead[AGENT, example.method] = example.message
    if example.method == "terminal/output":
        # Row 28: such an agent is told what others ask for, so it answers nobody but the bridge.
        bench.begin(prompt=True)
        bench.ask(AGENT, "terminal/create")
        bench.ask(AGENT, "terminal/wait_for_exit")
        assert "terminal/output" in [getattr(one, "method", "") for one in bench.said[AGENT]]
        return
    opened = ("initialize", "session/new", "authenticate")
    if example.method != "initialize":
        bench.begin(session=example.method not in opened)
    key = bench.ask(CLIENT, CALLED.get((target, example.method), example.method))
    answer = bench.answers[key]
    if "error" in example.message:
        assert isinstance(answer, Failure)
        assert answer.code == ERRORS[example.message["error"]["code"]]
        assert answer.message == example.message["error"]["message"]
        return
    assert isinstance(answer, Result), answer
    said: Json = example.message["result"]
    if example.method == "session/new":
        assert answer.result["sessionId"] == said["sessionId"]
    if example.method == "session/prompt":
        heard = bench.text(CLIENT)
        assert f'"stopReason": "{said["stopReason"]}"' in heard


# Code of the example to code in the other version: a session that is not there has another number.
ERRORS = {-32601: -32601, -32000: -32002}


@pairs(kind="answer", sender="client")
def test_every_answer_of_a_client_reaches_who_asked(example: Example, target: Spoken) -> None:
    """Issue 5: translates."""
    if target == "v2" and example.method != "session/request_permission":
        # Such an agent asks nobody for files and terminals.
        return
    bench = bench_for(example, target)
    bench.begin(prompt=True)
    asked = example.method
    bench.instead[CLIENT, asked] = example.message
    if asked == "terminal/output" and target == "draft":
        # It is polled for an agent that waits to be told.
        bench.ask(AGENT, "terminal/create")
        key = bench.ask(AGENT, "terminal/wait_for_exit")
        assert is_told(example.message["result"]["output"], bench.text(AGENT))
    elif asked.startswith("terminal/") and asked != "terminal/create":
        bench.ask(AGENT, "terminal/create")
        key = bench.ask(AGENT, asked)
    else:
        key = bench.ask(AGENT, asked)
    answer = bench.answers[key]
    assert isinstance(answer, Result), answer
    heard = json.dumps(answer.result, ensure_ascii=False)
    for word in words(example.message["result"]):
        assert is_told(word, heard), word

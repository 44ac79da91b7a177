"""Output of tool calls that is told again while it grows: no half of a secret, all in the end."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accord.proxy.builtin.guard import tool_output_redaction
from accord.proxy.message import Neighbour
from tests.proxy.builtin.guard.streams import KEY, REDACTOR, VALUE, Conversation, text, tool
from tests.proxy.wires import Json

WORDS = st.lists(st.sampled_from([VALUE, KEY, "sk-", " ", "\n", "plain", "s"]), max_size=5)


def call(*words: str, **more: Any) -> Json:
    """An update of the call `c` with texts in it."""
    content = [{"type": "content", "content": text(one)} for one in words]
    return {"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": content, **more}


def shown(update: Json) -> list[str]:
    return [one["content"]["text"] for one in update["content"]]


@given(WORDS.map("".join), st.sampled_from(["completed", "idle", "gone"]))
@settings(max_examples=60)
def test_output_that_grows_letter_by_letter_shows_no_part_of_a_secret(words: str, end: str) -> None:
    """Issue 5: secret redaction; and all of the rest is told in the end."""
    conversation = Conversation()
    for size in range(1, len(words) + 1):
        conversation.tell(**call(words[:size], status="in_progress"))
    if end == "completed":
        done = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}
        conversation.tell(**done)
    elif end == "idle":
        conversation.tell(sessionUpdate="state_update", state="idle")
    else:
        conversation.pieces.agent_gone(Neighbour(conversation.link, "client"))
    whole = REDACTOR.text(words)
    looks = [shown(one)[0] for one in conversation.take() if "content" in one]
    for look in looks:
        assert whole.startswith(look.removesuffix("[secret]"))
    assert (looks[-1] if looks else "") == whole


def test_what_was_left_out_comes_with_the_end_of_the_call() -> None:
    """Ours: in one update; what the end tells itself counts."""
    conversation = Conversation()
    conversation.tell(**call("so s", rawOutput={"stdout": "x sk-", "code": 0}))
    done: Json = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed"}
    conversation.tell(**done, rawOutput="over")
    first, last = conversation.take()
    assert (shown(first), first["rawOutput"]) == (["so "], {"stdout": "x ", "code": 0})
    assert (shown(last), last["rawOutput"], last["status"]) == (["so s"], "over", "failed")
    conversation.tell(sessionUpdate="state_update", state="idle")
    assert len(conversation.take()) == 1


@pytest.mark.parametrize(
    "output",
    [
        {"content": [{"type": "diff", "path": "/w/x", "newText": "s"}]},
        {"content": [{"type": "terminal", "terminalId": "s"}, "s", None]},
        {"content": [{"type": "content", "content": {"type": "resource_link", "uri": "a://s"}}]},
        {"content": None},
        {"rawOutput": {"code": "s", "stdout": None}},
        {"rawOutput": 5},
        {"toolCallId": 5, "content": [{"type": "content", "content": text("s")}]},
    ],
)
def test_what_is_no_output_is_told_as_it_is(output: Json) -> None:
    """Ours: changes of files, links and everything that is not text."""
    conversation = Conversation()
    update = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", **output}
    conversation.tell(**update)
    assert conversation.take() == [update]


def test_output_may_be_one_text() -> None:
    """Ours: of its own, or under one of the usual names."""
    conversation = Conversation()
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "c"}
    conversation.tell(**update, rawOutput="so s")
    conversation.tell(**update, rawOutput={"output": "so s"})
    conversation.tell(**update, rawOutput=f"so {KEY}")
    told = [one["rawOutput"] for one in conversation.take()]
    assert told == ["so ", {"output": "so "}, "so [secret]"]


def test_a_call_that_is_over_shows_all_at_once() -> None:
    conversation = Conversation()
    conversation.tell(**call(f"{KEY} s", rawOutput=f"{VALUE} s", status="completed"))
    (update,) = conversation.take()
    assert (shown(update), update["rawOutput"]) == (["[secret] s"], "[secret] s")


def test_content_is_whole_before_more_is_added_to_it() -> None:
    """Version 2 may go on in pieces."""
    conversation = Conversation()
    conversation.tell(**call("so s"))
    conversation.tell(**tool("c", b"more"))
    first, rest, chunk = conversation.take()
    assert (shown(first), shown(rest)) == (["so "], ["so s"])
    assert chunk == tool("c", b"more")


def test_calls_are_bounded_and_the_oldest_is_told_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: an agent may make up as many as it likes."""
    monkeypatch.setattr(tool_output_redaction, "CALLS_MAX", 1)
    conversation = Conversation()
    conversation.tell(**call("s"))
    conversation.tell(**call("s", toolCallId="d"))
    first, rest, second = conversation.take()
    assert (shown(first), shown(rest), shown(second)) == ([""], ["s"], [""])
    conversation.pieces.turn_ends(conversation.message("another"))
    conversation.pieces.agent_gone(Neighbour(Conversation().link, "client"))
    assert conversation.take() == []

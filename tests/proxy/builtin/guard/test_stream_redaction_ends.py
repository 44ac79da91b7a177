"""When a stream ends, what waits of it is said; and what is not a stream passes."""

from base64 import b64decode

import pytest

from accord.proxy.builtin.guard import stream_redaction
from accord.proxy.message import Message, Neighbour
from accord.schema.codec import encode
from tests.proxy.builtin.guard.streams import (
    KEY,
    Conversation,
    agent,
    b64,
    summary,
    terminal,
    text,
    thought,
    told_terminal,
    tool,
)
from tests.proxy.wires import Json

# ---- ends


def _said(update: Json) -> str:
    found: str = update["content"]["text"]
    return found


@pytest.mark.parametrize(
    ("update", "is_ended"),
    [
        ({"sessionUpdate": "agent_thought_chunk", "content": text("t")}, True),
        ({"sessionUpdate": "user_message", "messageId": "m", "content": []}, True),
        ({"sessionUpdate": "plan", "entries": []}, True),
        ({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T"}, True),
        ({"sessionUpdate": 5}, True),
        ({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}, False),
        ({"sessionUpdate": "usage_update", "used": 1, "size": 2}, False),
        (terminal("t", b"out"), False),
        ({"sessionUpdate": "state_update", "state": "running"}, False),
    ],
)
def test_a_message_without_a_name_ends_where_a_reader_sees_something_else(
    update: Json, is_ended: bool
) -> None:
    """Ours: its end must not stand behind what came after it."""
    conversation = Conversation()
    chunk = {"sessionUpdate": "agent_message_chunk"}
    conversation.tell(**chunk, content=text("s"))
    conversation.tell(**update)
    heard = conversation.take()
    assert heard[-1] == update
    assert [_said(one) for one in heard[:-1]] == (["s"] if is_ended else [])


def test_messages_with_names_go_on_beside_each_other() -> None:
    """Ours: where pieces are put together by their name, nothing between them tears them apart."""
    conversation = Conversation()
    conversation.tell(**agent("m", b"sk-abcdef"))
    conversation.tell(**thought("t", b"thinking"))
    conversation.tell(sessionUpdate="plan_update", plan={})
    conversation.tell("another", **agent("n", b"hello"))
    conversation.tell(**agent("m", b"ghijklmnop"))
    # A second one of the same kind ends it, and so does the whole of it.
    conversation.tell(**agent("n", b"s"))
    whole = {"sessionUpdate": "agent_message", "messageId": "n", "content": []}
    conversation.tell(**whole)
    said = [one["content"]["text"] for one in conversation.heard_of("agent_message_chunk")]
    assert said == ["hello", "[secret]", "s"]
    assert conversation.take()[-1] == whole


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (tool("c", b"s"), {"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": []}),
        (
            tool("c", b"s"),
            {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed"},
        ),
        (
            terminal("t", b"s"),
            {"sessionUpdate": "terminal_update", "terminalId": "t", "exitStatus": {"exitCode": 1}},
        ),
        (
            terminal("t", b"s"),
            {"sessionUpdate": "terminal_update", "terminalId": "t", "output": None},
        ),
        (
            told_terminal("t", b"s"),
            {
                "sessionUpdate": "tool_call_update",
                "toolCallId": "c",
                "_meta": {"terminal_exit": {"terminal_id": "t", "exit_code": 0}},
            },
        ),
        (
            summary("c", b"s"),
            {"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed"},
        ),
        (tool("c", b"s"), {**tool("c", b""), "content": {"type": "diff", "path": "/w/a"}}),
        (summary("c", b"s"), {**summary("c", b""), "content": {"type": "image", "data": ""}}),
        (terminal("t", b"s"), {**terminal("t", b""), "data": "no base64"}),
    ],
)
def test_what_waits_is_said_before_its_stream_ends(first: Json, then: Json) -> None:
    """Ours: and what concerns another stream, or says nothing of an end, lets it wait."""
    conversation = Conversation()
    conversation.tell(**first)
    for other in (
        {"sessionUpdate": "tool_call_update", "toolCallId": "d", "status": "completed"},
        {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress"},
        {"sessionUpdate": "terminal_update", "terminalId": "u", "exitStatus": {"exitCode": 1}},
        {"sessionUpdate": "terminal_update", "terminalId": "t", "cwd": "/w"},
        {"sessionUpdate": "compaction_update", "compactionId": "d", "status": "completed"},
    ):
        conversation.tell(**other)
    assert first not in conversation.take()
    conversation.tell(**then)
    assert conversation.take() == [first, then]


def test_the_end_of_a_terminal_may_be_told_with_its_last_output() -> None:
    """Ours: `terminal_output` and `terminal_exit` in one update; a whole output and the status."""
    conversation = Conversation()
    conversation.tell(**told_terminal("t", KEY[:5].encode()))
    last = told_terminal("t", KEY[5:].encode())
    last["_meta"]["terminal_exit"] = {"terminal_id": "t", "exit_code": 0}
    conversation.tell(**last)
    ended = {"data": b64(b"so s")}, {"exitCode": 0}
    update = {"sessionUpdate": "terminal_update", "terminalId": "u"}
    conversation.tell(**update, output=ended[0], exitStatus=ended[1])
    told, whole = conversation.take()
    assert told["_meta"]["terminal_output"]["data"] == "[secret]"
    assert told["_meta"]["terminal_exit"] == {"terminal_id": "t", "exit_code": 0}
    assert whole["output"] == ended[0]


@pytest.mark.parametrize(
    ("whole", "then"),
    [
        (
            {
                "sessionUpdate": "agent_message",
                "messageId": "m",
                "content": [text("x"), text(f"so {KEY[:6]}")],
            },
            agent("m", KEY[6:].encode() + b" "),
        ),
        (
            {
                "sessionUpdate": "terminal_update",
                "terminalId": "t",
                "output": {"data": b64(f"so {KEY[:6]}".encode())},
            },
            terminal("t", KEY[6:].encode() + b" "),
        ),
    ],
)
def test_what_is_told_as_a_whole_may_go_on_in_pieces(whole: Json, then: Json) -> None:
    """Ours: pieces are added to it, so a secret may be cut there."""
    conversation = Conversation()
    conversation.tell(**whole)
    conversation.tell(**then)
    first, second = conversation.take()
    if "output" in whole:
        assert (b64decode(first["output"]["data"]), b64decode(second["data"])) == (
            b"so ",
            b"[secret] ",
        )
    else:
        assert [one["text"] for one in first["content"]] == ["x", "so "]
        assert _said(second) == "[secret] "


# ---- corners


def test_metadata_of_a_piece_that_waits_is_not_kept_back() -> None:
    """Nothing is lost, and nothing told twice."""
    conversation = Conversation()
    conversation.tell(**agent("m", b"s"), _meta={"a": KEY})
    conversation.tell(**{**agent("m", b"k"), "content": text("k", annotations={"priority": 1})})
    conversation.pieces.turn_ends(conversation.message())
    first, rest = conversation.take()
    assert (first["_meta"], _said(first)) == ({"a": "[secret]"}, "")
    assert rest == {**agent("m", b""), "content": text("sk", annotations={"priority": 1})}


def test_an_empty_piece_passes() -> None:
    """Ours: it waits for nothing."""
    conversation = Conversation()
    conversation.tell(**agent("m", b""))
    assert conversation.take() == [agent("m", b"")]


@pytest.mark.parametrize(
    "update",
    [
        {"sessionUpdate": "agent_message_chunk", "messageId": [], "content": text("s")},
        {"sessionUpdate": "agent_message_chunk", "content": 5},
        {"sessionUpdate": "agent_message", "messageId": "m", "content": []},
        {"sessionUpdate": "agent_message", "messageId": "m", "content": [{"type": "image"}]},
        {"sessionUpdate": "agent_message", "messageId": "m", "content": ["s"]},
        {"sessionUpdate": "terminal_output_chunk", "terminalId": 5, "data": "AAAA"},
        {"sessionUpdate": "terminal_update", "terminalId": "t", "output": {"data": 5}},
        {"sessionUpdate": "tool_call", "toolCallId": "c", "_meta": {"terminal_output": 5}},
        {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": []},
        {"sessionUpdate": {}, "content": text("s")},
    ],
)
def test_what_cannot_be_read_as_a_piece_passes(update: Json) -> None:
    """Ours: it is not ours to judge."""
    conversation = Conversation()
    conversation.tell(**update)
    assert conversation.take() == [update]


@pytest.mark.parametrize(
    ("method", "params"),
    [("session/update", {"update": KEY}), ("session/update", {"sessionId": "s", "update": [KEY]})],
)
def test_what_is_no_update_has_no_secrets_either(method: str, params: Json) -> None:
    """Ours: in all that the agent tells."""
    conversation = Conversation()
    message = Message(conversation.link, "agent", method, encode(params))
    assert conversation.pieces.told(message) is None
    assert encode(message.params) == encode(params).replace(KEY.encode(), b"[secret]")


def test_streams_are_bounded_and_the_oldest_is_said_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: an agent may make up as many as it likes."""
    monkeypatch.setattr(stream_redaction, "STREAMS_MAX", 2)
    conversation = Conversation()
    for name in "abc":
        conversation.tell(**terminal(name, b"s"))
    assert conversation.take() == [terminal("a", b"s")]
    conversation.pieces.agent_gone(Neighbour(Conversation().link, "client"))
    assert conversation.take() == []
    conversation.pieces.agent_gone(Neighbour(conversation.link, "client"))
    assert conversation.take() == [terminal("b", b"s"), terminal("c", b"s")]

"""The transcript as a whole: dispatch, marks, terminals of the client, what it refuses."""

import json
import subprocess
import sys

import pytest

from accord.schema import v1, v2
from accord.schema.codec import decode
from accord.schema.struct import UnknownVariant
from accord.transcript import KINDS, Kind, Message, Transcript
from accord.transcript.unknown_variants import fields_of, plain
from tests.transcript.wire_updates import (
    folding_v1,
    folding_v2,
    text,
    v1_update,
    v2_update,
)


def test_a_transcript_loads_the_types_of_no_version_before_it_must() -> None:
    """Ours: a connection pays for its own version only."""
    program = (
        "import sys, accord.transcript as t\n"
        "t.Transcript('v1')\n"
        "versions = ('accord.schema.v', 'accord.schema.d')\n"
        "raise SystemExit(', '.join(m for m in sys.modules if m.startswith(versions)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stderr.strip() == ""


def test_one_transcript_can_take_several_versions() -> None:
    """Ours: the view is the same for all."""
    transcript = Transcript()
    transcript.apply(v1_update("agent_message_chunk", messageId="a", content=text("one")))
    transcript.apply(v2_update("agent_message_chunk", messageId="b", content=text("two")))
    assert transcript.text_since(0) == "one\n\ntwo"


def test_a_transcript_of_one_dialect_refuses_the_others() -> None:
    """Ours: that is a mistake of the program, not of the peer."""
    transcript = Transcript("v2")
    with pytest.raises(TypeError, match="another dialect"):
        transcript.apply(v1_update("agent_message_chunk", content=text("x")))
    with pytest.raises(TypeError, match="another dialect"):
        transcript.session_setup(v1.LoadSessionResponse())
    transcript.session_setup(v2.NewSessionResponse(session_id="s"))
    assert transcript.state.is_idle


def test_what_is_no_update_is_refused() -> None:
    """Ours."""
    transcript = Transcript()
    with pytest.raises(TypeError, match="another dialect"):
        transcript.apply("hello")
    with pytest.raises(TypeError, match="PromptResponse is not an update"):
        transcript.apply(v2.PromptResponse(message_id="m"))
    with pytest.raises(TypeError, match="PromptResponse sets up no session"):
        transcript.session_setup(v2.PromptResponse(message_id="m"))


def test_the_kinds_are_those_of_the_documentation() -> None:
    """Ours: programs compare with these words."""
    expected: tuple[Kind, ...] = (
        "user_message",
        "message",
        "thought",
        "tool_call",
        "plan",
        "terminal",
        "commands",
        "mode",
        "config_options",
        "session_info",
        "usage",
        "notice",
        "compaction",
        "state",
        "subagent",
        "session_message",
        "unknown",
    )
    assert expected == KINDS


def test_the_reply_of_a_turn_is_what_the_agent_said_since_the_mark() -> None:
    """The design: agent messages, joined by a blank line."""
    fold = folding_v1()
    fold("agent_message_chunk", content=text("before"))
    mark = fold.transcript.mark()
    fold.transcript.prompt_sent([v1.TextContent(text="ask")])
    fold("agent_message_chunk", content=text("one"))
    fold("agent_thought_chunk", content=text("hm"))
    fold("agent_message_chunk", content=text("two"))
    fold("tool_call", toolCallId="c", title="T")
    fold.ignored("agent_message_chunk", content=text(""))
    since = fold.transcript.messages_since(mark)
    assert [(message.role, message.text) for message in since] == [
        ("user", "ask"),
        ("agent", "one"),
        ("agent", "two"),
    ]
    assert fold.transcript.text_since(mark) == "one\n\ntwo"
    assert fold.transcript.text_since(fold.transcript.mark()) == ""


@pytest.mark.parametrize("kind", ["agent_message_chunk", "agent_thought_chunk"])
@pytest.mark.parametrize(("version", "message_id"), [(1, None), (1, "m"), (2, "m")])
def test_an_empty_chunk_begins_no_message(kind: str, version: int, message_id: str | None) -> None:
    """Issue 14: agents send them before their first word and behind their last."""
    fold = folding_v1() if version == 1 else folding_v2()
    named = {} if message_id is None else {"messageId": message_id}
    assert fold.ignored(kind, content=text(""), **named)
    assert not fold.transcript.timeline
    fold(kind, content=text("word"), **named)
    assert fold(kind, content=text(""), **named).text == ""
    assert [entry.text for entry in fold.transcript.timeline if isinstance(entry, Message)] == [
        "word"
    ]


def test_the_reply_of_a_turn_ends_where_the_next_one_begins() -> None:
    """Ours: a reply that is looked at later must not have grown."""
    fold = folding_v1()
    start = fold.transcript.mark()
    fold("agent_message_chunk", content=text("one"))
    end = fold.transcript.mark()
    fold.transcript.turn_started()
    fold("agent_message_chunk", content=text("two"))
    assert fold.transcript.text_since(start, end) == "one"
    assert [message.text for message in fold.transcript.messages_since(end)] == ["two"]


def test_a_queued_prompt_does_not_cut_the_message_that_is_being_written() -> None:
    """Ours: v1's chunks need no ids, so the place of the prompt must not decide."""
    fold = folding_v1()
    fold("agent_message_chunk", content=text("Hel"))
    fold.transcript.prompt_sent([v1.TextContent(text="next")], queued=True)
    fold("agent_message_chunk", content=text("lo"))
    assert fold.texts() == [("agent", "Hello"), ("user", "next")]


def test_a_mark_holds_when_a_message_before_it_goes() -> None:
    """Ours: an echo that is fused with its prompt moves nobody's mark."""
    fold = folding_v2()
    prompt = fold.transcript.prompt_sent([v2.TextContent(text="ask")])
    fold("user_message", messageId="m", content=[text("Ask")])
    mark = fold.transcript.mark()
    fold("agent_message", messageId="a", content=[text("answer")])
    fold.transcript.prompt_inserted(prompt, "m")
    assert fold.transcript.text_since(mark) == "answer"


def test_a_new_turn_ends_an_open_message() -> None:
    """Ours: an answer never runs into the one before it."""
    fold = folding_v1()
    fold("agent_message_chunk", content=text("a"))
    fold.transcript.turn_started()
    fold("agent_message_chunk", content=text("b"))
    assert fold.texts() == [("agent", "a"), ("agent", "b")]
    assert repr(fold.transcript.messages[0]) == "Message('agent', None, 'a')"


def test_terminals_of_the_client_are_shown_like_those_of_an_agent() -> None:
    """Ours: in v1 the client owns them."""
    transcript = Transcript()
    started = transcript.terminal_started("t", "make", "/w")
    output = transcript.terminal_output("t", "é".encode()[:1])
    more = transcript.terminal_output("t", "é".encode()[1:])
    exited = transcript.terminal_exited("t", 2, "SIGTERM")
    assert started.item is output.item is more.item is exited.item is transcript.terminal("t")
    assert [update.text for update in (started, output, more, exited)] == ["", "", "é", ""]
    [dumped] = transcript.dump()["terminals"]
    assert (dumped["command"], dumped["cwd"]) == ("make", "/w")
    assert dumped["exitStatus"] == {"exitCode": 2, "signal": "SIGTERM"}


def test_a_dump_is_json() -> None:
    """Ours: tests and tools read it."""
    fold = folding_v2()
    fold("agent_message", messageId="m", content=[text("x")], meta_={"k": [1]})
    fold("tool_call_update", toolCallId="c", rawInput={"a": 1.5})
    fold("terminal_update", terminalId="t", size={"cols": 1, "rows": 2})
    fold("_x", y=1)
    dumped = fold.transcript.dump()
    assert json.loads(json.dumps(dumped)) == dumped
    assert len(dumped["timeline"]) == 4
    assert dumped["terminals"][0]["size"] == {"cols": 1, "rows": 2}


def test_a_dump_keeps_numbers_that_no_float_can_hold_as_text() -> None:
    """Ours, found by fuzzing: any JSON may be the input of a tool, and a dump must not fail."""
    update = (
        b'{"sessionUpdate":"tool_call_update","toolCallId":"c",'
        b'"rawInput":[1e400,-0.5,12345678901234567890123,7]}'
    )
    params = b'{"sessionId":"s","update":' + update + b"}"
    transcript = Transcript()
    transcript.apply(decode(v2.UpdateSessionNotification, params).update)
    dumped = transcript.dump()
    assert dumped["toolCalls"][0]["rawInput"] == ["1e400", -0.5, 12345678901234567890123, 7]
    assert json.loads(json.dumps(dumped)) == dumped


@pytest.mark.parametrize("raw", [b"[1]", b"5", b"{", b'{"a":1}', b"\xff"])
def test_a_variant_without_words_has_no_fields(raw: bytes) -> None:
    """Ours: whatever its JSON is."""
    assert fields_of(UnknownVariant("type", "_x", raw)) == {}


def test_text_that_is_no_json_has_no_value() -> None:
    """Ours."""
    assert plain(b"{") is None
    assert plain(b'{"a":[1]}') == {"a": [1]}


def test_the_parts_of_apply_do_what_it_does() -> None:
    """Ours: whoever folds very often may do so without its call."""
    transcript = Transcript("v1")
    folds, view = transcript.folding
    update = v1.AgentMessageChunk(content=v1.TextContent(text="a"))
    assert type(update) not in folds
    transcript.apply(update)
    folds[type(update)](view, update)
    assert [message.text for message in transcript.messages] == ["aa"]

"""The past of a v1 agent's session as a v2 client gets it: lasting ids, and nothing twice."""

from typing import Any

import pytest

from accord.translate.message import Json
from accord.translate.v1_agent.message_ids import PROMPTS_KEPT, MessageIds, PromptIds
from accord.translate.v1_agent.session_replay import MESSAGE_BYTES_MAX, Replay
from accord.translate.v1_agent.sessions.start import ANSWERED_AFTER
from tests.translate.v1_agent.agent_messages import chunk, tool
from tests.translate.v1_agent.scripted_peers import ABLE, Stage

START = {"type": "start"}
MESSAGES = MessageIds("s", "t", is_known=True)
COMMANDS: Json = {
    "sessionUpdate": "available_commands_update",
    "availableCommands": [{"name": "map", "description": "Show it"}],
}


def text(words: str) -> list[Json]:
    """A prompt of one block."""
    return [{"type": "text", "text": words}]


def user(words: str, **more: Any) -> Json:
    """A piece of the past that the user said."""
    return chunk(words, "user_message_chunk", **more)


def asked(stage: Stage, words: str, *said: Json) -> str:
    """A whole turn; the id of its prompt."""
    key = stage.prompt(words)
    for update in said:
        stage.update(update)
    stage.wait(0.05)
    stage.end()
    message_id: str = stage.answer(key)["messageId"]
    return message_id


def loaded(stage: Stage, *past: Json, method: str = "session/load", **more: Any) -> list[Json]:
    """Resume; what the client is told, with the answer last."""
    stage.updates()
    key = stage.ask("session/resume", {"sessionId": "s1", "cwd": "/work", **more})
    for update in past:
        stage.update(update)
    stage.reply(method, {})
    stage.wait(ANSWERED_AFTER)
    return [*stage.updates(), stage.answer(key)]


def ids(told: list[Json]) -> list[str]:
    """The ids of the user's messages."""
    return [one["messageId"] for one in told if one.get("sessionUpdate") == "user_message"]


@pytest.mark.rule("V2-SESS-10", "V2-SESS-28")
@pytest.mark.parametrize("again", [False, True])
def test_a_prompt_of_the_past_has_the_id_that_its_answer_gave(again: bool) -> None:
    """V2-SESS-28: in the same process and in another, with the agent's own ids or without."""
    stage = Stage()
    stage.start()
    stage.new()
    given = [asked(stage, words, chunk("yes")) for words in ("go\nnow", "on", "go\nnow")]
    assert len(set(given)) == 3
    if again:
        stage = Stage()
        stage.start()
    reminder = user("\n<reminder>be kind</reminder>", messageId="3")
    past = [
        user("go\nnow", messageId="1"),
        chunk("yes"),
        user("on"),
        chunk("yes"),
        user("go\nnow", messageId="3"),
        reminder,
    ]
    told = loaded(stage, *past, replayFrom=START)
    assert ids(told) == given
    assert told[-3]["content"] == text("go\nnow\n<reminder>be kind</reminder>")
    assert ids(loaded(stage, *past, replayFrom=START)) == given
    # And what is said now is new.
    assert asked(stage, "on") not in given


# A row of prompts that the agent had no words for, such as cancelled ones; each is its blocks.
ROWS = [
    [["go"], ["on"]],
    [["go"], ["go"], ["go"]],
    [["go", "on"], ["on"], ["go"]],
    [["go", "go"], ["go"]],
    [["go\nnow"], ["go\nthen"], ["on"]],
]


def asked_blocks(stage: Stage, words: list[str]) -> str:
    """A turn without a word of the agent; the id of its prompt."""
    blocks = [block for one in words for block in text(one)]
    key = stage.ask("session/prompt", {"sessionId": "s1", "prompt": blocks})
    stage.wait(0.05)
    stage.end()
    message_id: str = stage.answer(key)["messageId"]
    return message_id


@pytest.mark.rule("V2-SESS-28")
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("addition", ["", "<reminder>be kind</reminder>"])
def test_prompts_with_nothing_between_them_keep_their_ids(
    row: list[list[str]], addition: str
) -> None:
    """V2-SESS-28: the agent gives no ids; each prompt has the blocks that it had, or more."""
    stage = Stage()
    stage.start()
    stage.new()
    given = [asked_blocks(stage, words) for words in row]
    past = [user(one) for words in row for one in [*words, *filter(None, [addition])]]
    told = loaded(stage, *past, replayFrom=START)
    assert ids(told) == given
    contents = [one["content"] for one in told if one.get("sessionUpdate") == "user_message"]
    assert contents == [text("".join([*words, addition])) for words in row]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("is_shown", [False, True])
def test_prompts_that_are_replayed_as_one_do_not_lend_their_ids(
    row: list[list[str]], is_shown: bool
) -> None:
    """Ours: another process cannot tell them apart, but the client may hold each of them."""
    first = Stage()
    first.start()
    first.new()
    given = [asked_blocks(first, words) for words in row]
    past = [user(one) for words in row for one in words]
    second = Stage()
    second.start({"loadSession": True})
    more: Json = {"replayFrom": START} if is_shown else {}
    loaded(second, *past, **more)
    later = [asked_blocks(second, words) for words in row]
    assert set(given).isdisjoint(later)
    third = Stage()
    third.start()
    told = loaded(third, *past, chunk("yes"), *past[:1], chunk("yes"), replayFrom=START)
    assert ids(told) == [given[0], later[0]]


@pytest.mark.rule("V2-SESS-10")
def test_the_ids_last_where_the_past_was_left_out() -> None:
    """V2-SESS-28: what the user said before is counted all the same."""
    stage = Stage()
    stage.start({"loadSession": True})
    before = user("go"), tool(title="Did"), user("go"), chunk("yes")
    assert ids(loaded(stage, *before)) == []
    mine = asked(stage, "go")
    later = Stage()
    later.start()
    assert ids(loaded(later, *before, user("go"), replayFrom=START))[-1] == mine


def test_a_prompt_in_a_session_whose_past_is_unknown_has_an_id_of_its_own() -> None:
    """Ours: rather than one that an older message may have."""
    stage = Stage()
    stage.start()
    loaded(stage, method="session/resume")
    mine = asked(stage, "go")
    other = Stage()
    other.start()
    other.new()
    assert asked(other, "go") != mine
    assert ids(loaded(stage, user("go"), replayFrom=START)) == [mine]


def test_a_refused_prompt_does_not_count() -> None:
    """Ours: it is in no past."""
    stage = Stage()
    stage.start()
    stage.new()
    stage.prompt("go")
    stage.fail("session/prompt", -32000)
    mine = asked(stage, "go")
    assert ids(loaded(stage, user("go"), replayFrom=START)) == [mine]


@pytest.mark.rule("V2-SESS-10", "V2-SESS-27")
def test_what_is_told_again_in_pieces_is_first_said_to_be_empty() -> None:
    """V2-SESS-27: also where the agent has no ids, which then are those of before."""
    stage = Stage()
    stage.start()
    stage.new()
    said = chunk("hm", "agent_thought_chunk"), chunk("a"), tool(title="Did"), chunk("b"), chunk("c")
    asked(stage, "go", *said)
    live = held(stage.updates())
    assert sorted(live.values()) == ["a", "bc", "hm"]
    told = loaded(stage, user("go"), *said, replayFrom=START)
    assert held(told) == live
    empty = [one["sessionUpdate"] for one in told if one.get("content") == []]
    assert empty == ["agent_thought", "agent_message", "agent_message"]
    # What comes now goes on behind the past.
    asked(stage, "more", chunk("new"))
    assert held(stage.updates()).keys().isdisjoint(live)


def held(told: list[Json]) -> dict[str, str]:
    """What a client holds of the agent's messages."""
    texts: dict[str, str] = {}
    for update in told:
        kind = update.get("sessionUpdate", "")
        if kind in ("agent_message", "agent_thought"):
            texts[update["messageId"]] = ""
        elif kind in ("agent_message_chunk", "agent_thought_chunk"):
            text = update["content"]["text"]
            texts[update["messageId"]] = texts.get(update["messageId"], "") + text
    return texts


def test_new_messages_have_ids_of_their_own_when_a_load_fails() -> None:
    stage = Stage()
    stage.start()
    stage.new()
    asked(stage, "go", chunk("a"))
    live = held(stage.updates())
    stage.ask("session/resume", {"sessionId": "s1", "cwd": "/work", "replayFrom": START})
    stage.fail("session/load", -32603, "busy")
    asked(stage, "on", chunk("b"))
    assert held(stage.updates()).keys().isdisjoint(live)


@pytest.mark.rule("V2-SESS-11")
@pytest.mark.parametrize("more", [{}, {"replayFrom": START}])
def test_nothing_but_states_follows_the_answer(more: Json) -> None:
    """Issue 13: commands that come right behind the agent's answer are listed in ours."""
    stage = Stage()
    stage.start()
    method = "session/load" if more else "session/resume"
    key = stage.ask("session/resume", {"sessionId": "s1", "cwd": "/work", **more})
    stage.reply(method, {})
    assert key not in stage.answers
    stage.update({"sessionUpdate": "session_info_update", "title": "T"})
    stage.update(COMMANDS)
    assert [one["name"] for one in stage.answer(key)["availableCommands"]] == ["map"]
    assert stage.said() == ["session_info_update", "idle"]
    assert stage.adapter.wake_at is None


def test_something_new_does_not_wait_for_the_answer() -> None:
    stage = Stage()
    stage.start()
    key = stage.ask("session/resume", {"sessionId": "s1", "cwd": "/work"})
    stage.reply("session/resume", {})
    mode = {"sessionUpdate": "current_mode_update", "currentModeId": "none"}
    stage.update(mode)
    stage.update(chunk("by myself"))
    assert stage.answer(key) == {}
    assert stage.said() == ["idle", "running", "agent_message by myself"]


def test_a_session_that_is_resumed_twice_at_once_is_answered_twice() -> None:
    stage = Stage()
    stage.start()
    keys = [stage.ask("session/resume", {"sessionId": "s1", "cwd": "/work"}) for _ in range(2)]
    for _ in keys:
        stage.reply("session/resume", {})
    assert [stage.answer(key) for key in keys] == [{}, {}]
    assert stage.said() == ["idle", "idle"]


def test_an_agent_that_goes_right_behind_its_answer_has_answered() -> None:
    stage = Stage()
    stage.start()
    key = stage.ask("session/resume", {"sessionId": "s1", "cwd": "/work"})
    stage.reply("session/resume", {})
    stage.die()
    assert stage.answer(key) == {}


def test_terminals_of_the_past_are_empty_first() -> None:
    """V2-SESS-27: their output is told in pieces too."""
    meta = {"terminal_info": {"terminal_id": "x"}, "terminal_output": {"terminal_id": "x"}}
    meta["terminal_output"]["data"] = "up"
    stage = Stage()
    stage.start()
    told = loaded(stage, {**tool(title="Run"), "_meta": meta}, replayFrom=START)
    outputs = [(one.get("output"), one.get("data")) for one in told if "terminalId" in one]
    assert outputs == [(None, None), ({"data": ""}, None), (None, "dXA=")]


# ---- the parts themselves


def test_a_log_says_messages_whole_once() -> None:
    """What the adapter kept by itself has its ids already."""
    replay = Replay(PromptIds("s", is_known=True), MESSAGES)
    whole = {"sessionUpdate": "agent_message", "messageId": "m", "content": text("a")}
    more = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": text("b")[0]}
    bare = {"sessionUpdate": "agent_message", "messageId": "n", "_meta": {}}
    assert replay.whole(whole) == [whole]
    assert replay.whole(more) == [more]
    assert replay.whole(bare) == [bare]
    assert len(replay.whole({**more, "messageId": "n"})) == 2
    mine = {"sessionUpdate": "user_message_chunk", "messageId": "u", "content": text("b")[0]}
    assert [one["sessionUpdate"] for one in replay.whole(mine)] == [
        "user_message",
        "user_message_chunk",
    ]


def test_blocks_of_other_types_are_kept_and_an_image_alone_has_an_id() -> None:
    image: Json = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    prompts = PromptIds("s", is_known=True)
    given = prompts.fresh([image], "x"), prompts.fresh([image, *text(" \n look\nhere")], "x")
    replay = Replay(prompts, MESSAGES)
    pieces = [image], [image, *text(" "), *text("look\nhere"), *text("!")]
    told = [
        one
        for number, blocks in enumerate(pieces)
        for block in blocks
        for one in replay.add(
            {"sessionUpdate": "user_message_chunk", "messageId": number, "content": dict(block)}
        )
    ]
    told += replay.rest()
    assert [one["messageId"] for one in told] == list(given)
    assert told[1]["content"] == [image, *text(" look\nhere!")]
    assert replay.rest() == []


def test_a_message_that_is_very_long_does_not_wait_for_its_end() -> None:
    replay = Replay(PromptIds("s", is_known=True), MESSAGES)
    long = {"type": "text", "text": "x" * MESSAGE_BYTES_MAX}
    piece = {"sessionUpdate": "user_message_chunk", "messageId": "u", "content": long}
    (told,) = replay.add(piece)
    assert told["sessionUpdate"] == "user_message"


def test_ids_have_a_bound_and_are_not_guessed_behind_it() -> None:
    prompts = PromptIds("s", is_known=True)
    for number in range(PROMPTS_KEPT):
        prompts.fresh(text(str(number)), "x")
    assert prompts.fresh(text("over"), "first") != "first"
    assert prompts.fresh(text("over"), "second") == "second"
    prompts.begin_past()
    assert len({prompts.replayed(text("over")) for _ in range(3)}) == 3
    prompts.end_past()
    assert prompts.fresh(text("over"), "third") == "third"


def test_what_is_not_offered_is_refused() -> None:
    """Issue 13: an image that no agent can see does not count as an image."""
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    sound = {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}
    file = {"type": "resource", "resource": {"uri": "file:///a", "text": "a"}}
    link = {"type": "resource_link", "uri": "file:///a", "name": "a"}
    for able, taken in (({}, [link]), (ABLE, [image, file, link])):
        stage = Stage()
        stage.start(able)
        stage.new()
        for block in (image, sound, file, link):
            key = stage.ask("session/prompt", {"sessionId": "s1", "prompt": [block]})
            if block in taken:
                stage.end()
                assert "messageId" in stage.answer(key)
            else:
                assert stage.error(key).code == -32602
                assert stage.to_agent == []


def test_calls_of_earlier_turns_are_left_alone_when_a_turn_is_cancelled() -> None:
    """Issue 13: agents leave calls pending when their turn ends."""
    stage = Stage()
    stage.start()
    stage.new()
    asked(
        stage,
        "go",
        tool(title="Old", status="pending"),
        tool(toolCallId="t2", title="Also", status="pending"),
    )
    stage.prompt("on")
    stage.update(tool(toolCallId="t3", title="New", status="in_progress"))
    stage.update({"sessionUpdate": "tool_call_update", "toolCallId": "t2", "status": "in_progress"})
    stage.updates()
    stage.tell("session/cancel", {"sessionId": "s1"})
    stage.end("cancelled")
    assert stage.said() == ["tool t2 cancelled", "tool t3 cancelled", "idle cancelled"]


def test_the_metadata_of_a_user_message_is_told_with_it() -> None:
    """V2: that of a chunk is not the message's, which may say who wrote it."""
    stage = Stage()
    stage.start()
    stage.new()
    past = [
        user("go", messageId="1", _meta={"author": "ann"}),
        user(" on", messageId="1", _meta={"more": 1}),
        chunk("yes"),
        user("and", messageId="2", _meta=None),
    ]
    told = loaded(stage, *past, replayFrom=START)
    told = [one for one in told if one.get("sessionUpdate") == "user_message"]
    assert [one.get("_meta") for one in told] == [{"author": "ann", "more": 1}, None]
    for update in (
        user("a", messageId="3", _meta={"author": "ann"}),
        user("b", messageId="3", _meta={"author": "ann"}),
        user("c", messageId="4"),
    ):
        stage.update(update)
    told = [one for one in stage.updates() if one["sessionUpdate"].startswith("user_message")]
    assert told == [
        {
            "sessionUpdate": "user_message",
            "messageId": "3",
            "content": text("a"),
            "_meta": {"author": "ann"},
        },
        user("b", messageId="3", _meta={"author": "ann"}),
        user("c", messageId="4"),
    ]

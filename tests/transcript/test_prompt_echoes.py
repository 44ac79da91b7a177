"""Prompts of ours and their echoes: never shown twice, never mixed up with others."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.schema import v1, v2
from accord.transcript.prompt_echoes import PROMPTS_AWAITING_ECHO_MAX
from tests.transcript.wire_updates import folding_v1, folding_v2, image, text

ECHO = "user_message"
CHUNK = "user_message_chunk"


def said(*words: str) -> list[Any]:
    return [v2.TextContent(text=word) for word in words]


PICTURE = v2.ImageContent(data=b"1234", mime_type="image/png")


def test_a_prompt_is_shown_at_once() -> None:
    """Ours."""
    fold = folding_v2()
    message = fold.transcript.prompt_sent(said("hello"))
    assert fold.texts() == [("user", "hello")]
    assert (message.role, message.message_id, message.is_own) == ("user", None, True)
    assert fold.transcript.timeline == [message]


@pytest.mark.rule("V2-PROMPT-08")
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("answer_first", [True, False])
def test_the_echo_is_the_prompt_whichever_comes_first(whole: bool, answer_first: bool) -> None:
    """v2: echo and answer have no fixed order, and the echo comes whole or in chunks."""
    fold = folding_v2()
    message = fold.transcript.prompt_sent(said("hello world"))
    if answer_first:
        fold.transcript.prompt_inserted(message, "m")
    if whole:
        update = fold(ECHO, messageId="m", content=[text("hello world")])
        assert (update.item, update.text) == (message, "")
    else:
        for words in ("hello", " ", "world"):
            update = fold(CHUNK, messageId="m", content=text(words))
            assert (update.item, update.text) == (message, "")
            assert fold.texts() == [("user", "hello world")]
    if not answer_first:
        fold.transcript.prompt_inserted(message, "m")
    assert fold.texts() == [("user", "hello world")]
    assert message.message_id == "m"
    assert fold(CHUNK, messageId="m", content=text("!")).text == "!"
    assert fold.texts() == [("user", "hello world!")]


@pytest.mark.rule("V2-PROMPT-08")
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("answer_first", [True, False])
def test_an_echo_with_other_words_is_still_the_prompt(whole: bool, answer_first: bool) -> None:
    """v2: the id decides, and the agent knows best what it inserted."""
    fold = folding_v2()
    message = fold.transcript.prompt_sent(said("/fix it"))
    if answer_first:
        fold.transcript.prompt_inserted(message, "m")
    if whole:
        fold(ECHO, messageId="m", content=[text("Fix the bug")], meta_={"k": 1})
    else:
        fold(CHUNK, messageId="m", content=text("Fix "))
        fold(CHUNK, messageId="m", content=text("the bug"))
    if not answer_first:
        # Until the answer comes, nothing says that this is our prompt.
        assert len(fold.texts()) == 2
        fold.transcript.prompt_inserted(message, "m")
    assert fold.texts() == [("user", "Fix the bug")]
    assert fold.transcript.messages[0] is message
    assert fold.transcript.timeline == [message]
    assert list(message.meta) == (["k"] if whole else [])


def test_an_echo_that_begins_alike_and_goes_on_differently_replaces_a_named_prompt() -> None:
    """Ours."""
    fold = folding_v2()
    message = fold.transcript.prompt_sent(said("hello world"), "m")
    fold(CHUNK, messageId="m", content=text("hello "))
    update = fold(CHUNK, messageId="m", content=text("there"))
    assert (update.item, update.text) == (message, "hello there")
    assert fold.texts() == [("user", "hello there")]


@pytest.mark.parametrize("message_id", ["x", None])
def test_a_message_that_only_begins_like_our_prompt_is_another_message(
    message_id: str | None,
) -> None:
    """Ours: what was taken for an echo is given back whole."""
    fold = folding_v1()
    message = fold.transcript.prompt_sent([v1.TextContent(text="hello world")])
    fold(CHUNK, messageId=message_id, content=text("hello "))
    update = fold(CHUNK, messageId=message_id, content=text("there"))
    assert update.text == "hello there"
    assert fold.texts() == [("user", "hello world"), ("user", "hello there")]
    assert message.message_id is None
    fold("agent_message_chunk", content=text("reply"))
    fold(CHUNK, content=text("hello world"))
    assert len(fold.texts()) == 3


def test_an_agent_of_v1_that_echoes_without_ids_does_not_double_the_prompt() -> None:
    """Ours: such agents are met; the echo may come in pieces and with a picture."""
    fold = folding_v1()
    blocks = [
        v1.TextContent(text="look"),
        v1.ImageContent(data=b"1234", mime_type="image/png"),
        v1.TextContent(text="here"),
    ]
    fold.transcript.prompt_sent(blocks)
    for block in (text("lo"), text("ok"), image(), text("here")):
        assert fold(CHUNK, content=block).text == ""
    fold("agent_message_chunk", content=text("yes"))
    assert fold.texts() == [("user", "lookhere"), ("agent", "yes")]
    fold(CHUNK, content=text("look"))
    assert fold.texts()[-1] == ("user", "look")


def test_a_picture_that_was_not_sent_is_no_echo() -> None:
    """Ours."""
    fold = folding_v1()
    fold.transcript.prompt_sent([v1.TextContent(text="look")])
    fold(CHUNK, content=image())
    fold("agent_message_chunk", content=text("hm"))
    assert fold.texts() == [("user", "look"), ("user", ""), ("agent", "hm")]


def test_two_prompts_at_once_are_echoed_one_after_the_other() -> None:
    """Ours: the second echo is not taken for more of the first."""
    fold = folding_v1()
    for words in ("first", "second"):
        fold.transcript.prompt_sent([v1.TextContent(text=words)])
    fold(CHUNK, content=text("first"))
    fold(CHUNK, content=text("second"))
    assert fold.texts() == [("user", "first"), ("user", "second")]


@pytest.mark.rule("V2-PROMPT-08")
def test_prompts_with_the_same_words_get_the_ids_that_the_agent_says() -> None:
    """v2: the guess by words gives way to the answer."""
    fold = folding_v2()
    one = fold.transcript.prompt_sent(said("go"))
    two = fold.transcript.prompt_sent(said("go"))
    fold(ECHO, messageId="m2", content=[text("go")])
    assert [entry.message_id for entry in (one, two)] == ["m2", None]
    fold.transcript.prompt_inserted(two, "m2")
    assert [entry.message_id for entry in (one, two)] == [None, "m2"]
    fold(ECHO, messageId="m1", content=[text("go")])
    fold.transcript.prompt_inserted(one, "m1")
    assert [entry.message_id for entry in (one, two)] == ["m1", "m2"]
    assert fold.texts() == [("user", "go"), ("user", "go")]


def test_words_like_ours_from_somebody_else_become_a_message_again() -> None:
    """Ours: the answer names another id than the one we guessed by the words."""
    fold = folding_v2()
    message = fold.transcript.prompt_sent(said("go"))
    fold(ECHO, messageId="theirs", content=[text("go")])
    assert fold.texts() == [("user", "go")]
    fold.transcript.prompt_inserted(message, "ours")
    assert [(entry.message_id, entry.text) for entry in fold.transcript.messages] == [
        ("ours", "go"),
        ("theirs", "go"),
    ]
    fold(CHUNK, messageId="ours", content=text("go"))
    assert len(fold.texts()) == 2


def test_an_empty_upsert_before_the_answer_leaves_our_words_alone() -> None:
    """v2: it may announce the message before it says anything."""
    fold = folding_v2()
    message = fold.transcript.prompt_sent(said("go"))
    fold(ECHO, messageId="m", meta_={"k": 1})
    assert len(fold.texts()) == 2
    fold.transcript.prompt_inserted(message, "m")
    assert fold.texts() == [("user", "go")]
    assert "k" in message.meta


def test_blocks_that_are_no_text_count_in_a_whole_echo() -> None:
    """Ours: the same words with a picture are another message."""
    fold = folding_v2()
    fold.transcript.prompt_sent(said("go"))
    fold(ECHO, messageId="x", content=[text("go"), image()])
    assert len(fold.texts()) == 2
    message = fold.transcript.prompt_sent([*said("look"), PICTURE])
    update = fold(ECHO, messageId="y", content=[text("look"), image()])
    assert update.item is message


def test_a_rejected_prompt_is_taken_out_again() -> None:
    """v2: an error means that it was never inserted."""
    fold = folding_v2()
    fold("agent_message", messageId="a", content=[text("hi")])
    kept = fold.transcript.prompt_sent(said("one"), "m1")
    gone = fold.transcript.prompt_sent(said("two"))
    fold("agent_message", messageId="b", content=[text("there")])
    fold.transcript.prompt_rejected(gone)
    fold.transcript.prompt_rejected(gone)
    assert fold.texts() == [("agent", "hi"), ("user", "one"), ("agent", "there")]
    assert gone not in fold.transcript.timeline
    assert kept in fold.transcript.timeline
    fold(CHUNK, messageId="m1", content=text("o"))
    fold.transcript.prompt_rejected(kept)
    assert fold.texts() == [("agent", "hi"), ("agent", "there")]


def test_only_so_many_prompts_wait_for_an_echo() -> None:
    """Ours: most v1 agents never echo."""
    fold = folding_v1()
    for number in range(PROMPTS_AWAITING_ECHO_MAX + 1):
        fold.transcript.prompt_sent([v1.TextContent(text=f"<{number}>")])
    fold(CHUNK, content=text("<0>"))
    assert len(fold.texts()) == PROMPTS_AWAITING_ECHO_MAX + 2
    fold("agent_message_chunk", content=text("x"))
    fold(CHUNK, content=text("<1>"))
    assert len(fold.texts()) == PROMPTS_AWAITING_ECHO_MAX + 3


@given(st.text(min_size=1, max_size=12), st.lists(st.integers(0, 12), max_size=5), st.booleans())
def test_an_echo_in_any_pieces_is_never_shown_twice(
    words: str, cuts: list[int], with_id: bool
) -> None:
    """Ours."""
    fold = folding_v1()
    fold.transcript.prompt_sent([v1.TextContent(text=words)])
    places = sorted({min(cut, len(words)) for cut in cuts} | {0, len(words)})
    for start, end in pairwise(places):
        fold(CHUNK, messageId="m" if with_id else None, content=text(words[start:end]))
    assert fold.texts() == [("user", words)]

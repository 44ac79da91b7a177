"""Ids of messages that a v1 agent gives none: the same in every process, and never used twice."""

from copy import deepcopy
from itertools import groupby

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accord.translate.message import Json
from accord.translate.v1_agent.message_ids import MessageIds
from tests.translate.v1_agent.agent_messages import chunk, tool
from tests.translate.v1_agent.scripted_peers import ABLE, Stage
from tests.translate.v1_agent.test_session_replay import START, asked, held, loaded, user

MESSAGES = ("agent_message_chunk", "agent_thought_chunk")
# A tool call ends a message, a plan does not.
OTHERS: dict[str, Json] = {
    "tool_call": tool(title="Did"),
    "plan": {"sessionUpdate": "plan", "entries": []},
}
KINDS = (*MESSAGES, *OTHERS)
# A turn is a prompt and the kinds of what the agent says in it.
Turn = tuple[str, list[str]]
turns = st.lists(
    st.tuples(
        st.sampled_from(["go", "on", "go\nnow"]),
        # Prompts without anything between them are told as one.
        st.lists(st.sampled_from(KINDS), min_size=1, max_size=6),
    ),
    max_size=4,
)


def said(conversation: list[Turn]) -> list[list[Json]]:
    """The updates of each turn, each text another one."""
    return [
        [
            deepcopy(OTHERS[kind]) if kind in OTHERS else chunk(f"{number}.{at};", kind)
            for at, kind in enumerate(kinds)
        ]
        for number, (_, kinds) in enumerate(conversation)
    ]


def started(process: str, can: Json = ABLE) -> Stage:
    """An adapter in a process, which has fresh names of its own."""
    stage = Stage()
    stage.around.process = process
    stage.start(can)
    return stage


def lived(conversation: list[Turn]) -> tuple[Stage, dict[str, str]]:
    """A new session in which all of this was said, and what its client holds."""
    stage = started("first")
    stage.new()
    stage.updates()
    for (words, _), updates in zip(conversation, said(conversation), strict=True):
        asked(stage, words, *updates)
    return stage, held(stage.updates())


def past_of(conversation: list[Turn]) -> list[Json]:
    """What an agent tells when it loads the session."""
    return [
        update
        for (words, _), updates in zip(conversation, said(conversation), strict=True)
        for update in (user(words), *updates)
    ]


@pytest.mark.rule("V2-SESS-27")
@given(turns, st.booleans())
@example([("go", ["agent_message_chunk"]), ("go", ["agent_message_chunk"])], True)
def test_a_message_of_the_past_has_the_id_that_it_had_when_it_was_new(
    conversation: list[Turn], is_same_process: bool
) -> None:
    """V2-SESS-27: a client that still holds the messages shows none twice."""
    stage, live = lived(conversation)
    messages = [
        kind
        for _, kinds in conversation
        for kind, _ in groupby(kind for kind in kinds if kind != "plan")
        if kind in MESSAGES
    ]
    assert len(live) == len(messages)
    stage = stage if is_same_process else started("second")
    assert held(loaded(stage, *past_of(conversation), replayFrom=START)) == live


@given(turns, st.booleans(), turns)
@example([("go", ["agent_message_chunk", "plan", "agent_message_chunk"])], False, [])
def test_what_is_new_has_an_id_of_its_own_and_keeps_it(
    conversation: list[Turn], is_shown: bool, later: list[Turn]
) -> None:
    """Ours: behind a past that was told or left out, with a prompt or without one."""
    _, live = lived(conversation)
    more: Json = {"replayFrom": START} if is_shown else {}
    stage = started("second", {"loadSession": True})
    loaded(stage, *past_of(conversation), **more)
    stage.update(tool(title="Did"))
    stage.update(chunk("unasked"))
    stage.wait(3)
    for (words, _), updates in zip(later, said(later), strict=True):
        asked(stage, words, *updates)
    new = held(stage.updates())
    assert live.keys().isdisjoint(new)
    whole = [*past_of(conversation), tool(title="Did"), chunk("unasked"), *past_of(later)]
    assert held(loaded(started("third"), *whole, replayFrom=START)) == live | new


@given(turns, turns, st.booleans())
def test_a_past_that_was_told_in_part_does_not_lend_its_ids(
    conversation: list[Turn], lost: list[Turn], is_failure: bool
) -> None:
    """Ours: the client may still hold what the agent has lost."""
    stage, live = lived([*conversation, *lost])
    stage.ask("session/resume", {"sessionId": "s1", "cwd": "/work", "replayFrom": START})
    for update in past_of(conversation):
        stage.update(update)
    if is_failure:
        stage.fail("session/load", -32603, "busy")
    else:
        stage.reply("session/load", {})
    stage.wait(3)
    stage.updates()
    stage.update(tool(title="Did"))
    stage.update(chunk("unasked"))
    assert live.keys().isdisjoint(held(stage.updates()))


def test_messages_of_a_session_whose_past_is_unknown_have_ids_of_no_other_process() -> None:
    """Ours: rather than one that an older message may have."""
    found = []
    for process in ("first", "second"):
        stage = started(process)
        loaded(stage, method="session/resume")
        stage.update(chunk("unasked"))
        found.append(held(stage.updates()))
    new = started("third")
    new.new()
    new.update(chunk("unasked"))
    found.append(held(new.updates()))
    assert [list(one.values()) for one in found] == [["unasked"]] * 3
    assert len(set().union(*found)) == 3


def test_a_past_that_was_asked_for_twice_ends_once() -> None:
    """Ours: what was counted before both is kept."""
    ids = MessageIds("s", "t", is_known=True)
    first = ids.fresh("agent_message_chunk")
    ids.begin_past()
    ids.begin_past()
    ids.end_past(is_whole=True)
    ids.end_past(is_whole=True)
    assert ids.fresh("agent_message_chunk") != first

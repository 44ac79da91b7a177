"""v2 to the draft and back to v2: the same as through v1 alone, up to the points that are named.

Four translators stand between a v2 client and a v2 agent, with v1 spoken in the middle twice and
the draft once.  What v1 itself cannot carry is the business of `test_v2_through_v1.py`, so here
a line through the draft is compared with a line through v1, message by message and in the end.
"""

import copy
import json
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from accord.schema.codec import encode
from accord.translate.chain import Chain
from accord.translate.draft.agent import DraftAgent
from accord.translate.draft.client import DraftClient
from accord.translate.message import Json, Surroundings
from accord.translate.meta_store import DRAFT
from accord.translate.v1_agent import V1Agent
from accord.translate.v2_agent import V2Agent
from tests.schema.generation import BASE64, PATHS, FromSchema
from tests.schema.official_schema import load
from tests.translate.round_trips.chain_v2 import Line, folded
from tests.translate.v2_agent.scripted_peers import X

IDS = st.sampled_from(["a", "b"])
THEIRS = FromSchema(
    load("v2").unstable,
    {
        "ImageContent.data": BASE64,
        "AudioContent.data": BASE64,
        "BlobResourceContents.blob": BASE64,
        "ContentChunk.messageId": IDS,
        "ToolCallUpdate.toolCallId": IDS,
        "ToolCallContentChunk.toolCallId": IDS,
        "ToolCallLocation.path": PATHS,
        "PlanItems.planId": IDS,
        "Command.name": st.sampled_from(["go", "stop"]),
        "SubagentUpdate.cwd": st.none() | PATHS,
        "SubagentUpdate.additionalDirectories": st.none() | st.lists(PATHS, max_size=2),
        "SubagentUpdate.sessionId": st.just("child"),
    },
)
# What is compared elsewhere: the states are the translators' own, and so are the user's words;
# options are told by key in the draft (test_v1_through_draft.py).
NOT_HERE = (
    "state_update",
    "user_message",
    "user_message_chunk",
    "terminal_update",
    "terminal_output_chunk",
    "config_option_update",
)
QUICKLY = (Phase.explicit, Phase.generate)


class DraftLine(Line):
    """Both ends speak v2; the draft is spoken in the middle."""

    def between(self, surroundings: Surroundings, strict: bool, unstable: bool) -> Any:
        """Outside in: v2 to v1, v1 to the draft, the draft to v1, v1 to v2."""
        outer = Chain(
            V1Agent(surroundings, unstable=unstable), DraftAgent(surroundings, unstable=unstable)
        )
        inner = Chain(
            DraftClient(surroundings, unstable=unstable),
            V2Agent(surroundings, strict=strict, unstable=unstable),
        )
        return Chain(outer, inner)


def opened(kind: type[Line]) -> Line:
    """A line in which a session is open and nothing else has happened."""
    made = kind(unstable=True, is_exact=False)
    made.initialize({})
    made.new()
    return made


def said(value: Any) -> Any:
    """Without what translators keep, and without `_meta` that is empty by that."""
    if isinstance(value, list):
        return [said(one) for one in value]
    if not isinstance(value, dict):
        return value
    made = {name: said(one) for name, one in value.items() if name not in (X, DRAFT)}
    return {
        name: one for name, one in made.items() if one is not None and (name, one) != ("_meta", {})
    }


@settings(max_examples=25, phases=QUICKLY)
@given(st.lists(THEIRS.definition("SessionUpdate"), min_size=1, max_size=5))
def test_a_session_through_the_draft_is_the_same_as_through_v1(generated: list[Json]) -> None:
    """Issue 5: message by message and in the final transcript."""
    lines = [opened(Line), opened(DraftLine)]
    for one in lines:
        one.begin()
    for update in generated:
        if update["sessionUpdate"] in NOT_HERE:
            continue
        heard: list[Any] = []
        for one in lines:
            one.pass_time(1)
            told = one.update(copy.deepcopy(update))
            one.pass_time(1)
            heard.append(said(told))
        if heard[1] == [] and [set(one) for one in heard[0]] == [{"sessionUpdate", "toolCallId"}]:
            # Lossy: a change of nothing is not told.
            continue
        assert heard[1] == heard[0]
    for one in lines:
        one.idle("end_turn")
    first, second = (
        json.loads(encode(said(json.loads(encode(folded(one.updates()).dump()))))) for one in lines
    )
    assert second == first


def test_a_turn_through_the_draft() -> None:
    """Issue 5: words, a tool call, a plan, the end."""
    line = opened(DraftLine)
    line.begin()
    told: list[Any] = []
    for update in (
        {
            "sessionUpdate": "agent_message_chunk",
            "messageId": "m",
            "content": {"type": "text", "text": "hi"},
        },
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "c",
            "title": "Dig",
            "status": "pending",
        },
        {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"},
    ):
        line.pass_time(1)
        told += line.update(update)
    assert [one["sessionUpdate"] for one in told] == [
        "agent_message_chunk",
        "tool_call_update",
        "tool_call_update",
    ]
    line.idle("end_turn")
    end = [one for one in line.updates() if one["sessionUpdate"] == "state_update"][-1]
    assert (end["state"], end["stopReason"]) == ("idle", "end_turn")

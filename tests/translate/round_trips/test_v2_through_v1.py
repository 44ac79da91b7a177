"""v2 to v1 and back to v2: what a v2 client is told through both translators, beside the truth.

Sessions are generated from the official schema of v2, unknown words and variants included.  They
are compared message by message and in the transcript that they add up to.  The generated ones
leave out what the tables name as lost in v1's words even where both translators are ours; each of
these points has a test of its own in `test_v2_requests_through_v1.py`.
"""

import json
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from accord.schema.codec import encode
from accord.translate.message import Json
from tests.schema.generation import BASE64, PATHS, FromSchema
from tests.schema.official_schema import load
from tests.translate.round_trips.chain_v2 import clean, folded, line

IDS = st.sampled_from(["a", "b"])
TIMES = st.sampled_from([None, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5+01:00"])
SPECIAL = {
    "ImageContent.data": BASE64,
    "AudioContent.data": BASE64,
    "BlobResourceContents.blob": BASE64,
    "SubagentUpdate.cwd": st.none() | PATHS,
    "SubagentUpdate.additionalDirectories": st.none() | st.lists(PATHS, max_size=2),
    "SubagentUpdate.sessionId": st.just("child"),
    "SessionInfoUpdate.updatedAt": TIMES,
    "Command.name": st.sampled_from(["go", "stop"]),
    "ContentChunk.messageId": IDS,
    "SessionMessage.messageId": IDS,
    "SessionMessageChunk.messageId": IDS,
    "ToolCallUpdate.toolCallId": IDS,
    "ToolCallContentChunk.toolCallId": IDS,
    "PlanItems.planId": IDS,
    "PlanFile.planId": IDS,
    "PlanMarkdown.planId": IDS,
    "PlanRemoved.planId": IDS,
    "CompactionUpdate.compactionId": IDS,
    "CompactionSummaryChunk.compactionId": IDS,
}
THEIRS = FromSchema(load("v2").unstable, SPECIAL)
UPDATES = THEIRS.definition("SessionUpdate")
# What fails here is large, and making it small takes minutes.
QUICKLY = (Phase.explicit, Phase.generate)

WHOLE = {"agent_message": "agent_message_chunk", "agent_thought": "agent_thought_chunk"}
# The same message arrives, but for what is attached to an entity, which is told as a whole.
SAME = {
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call_update",
    "plan_update",
    "plan_removed",
    "available_commands_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
    "notice",
    "compaction_update",
    "compaction_summary_chunk",
    "subagent_update",
    "session_message",
    "session_message_chunk",
}


def _tamed(update: Json, number: int) -> Json | None:
    """An update without what v1 cannot carry; None if nothing is left of it."""
    kind = update["sessionUpdate"]
    if kind in WHOLE:
        # Point 1: what was said is not replaced, and no message is empty; v1 has chunks only, so
        # that what is attached is attached to one of them.
        update.pop("_meta", None)
        return {**update, "messageId": f"whole {number}"} if update.get("content") else None
    if kind == "tool_call_content_chunk":
        return None if update["content"]["type"] == "terminal" else update
    if kind not in SAME:
        # User's words and states are the translators' own; terminals are point 6.
        return None
    if kind == "tool_call_update":
        # Points 4 and 6.
        update.pop("capabilities", None)
        if update.get("content"):
            content: list[Json] = update["content"]
            update["content"] = [item for item in content if item["type"] != "terminal"]
    elif kind == "available_commands_update":
        commands = {one["name"]: one for one in update["availableCommands"] if _is_named(one)}
        update["availableCommands"] = list(commands.values())
    elif kind == "config_option_update":
        # Options that v1 does not have come back behind the others.
        update["configOptions"].sort(key=_is_new_option)
    elif kind == "subagent_update" and isinstance(update.get("state"), dict):
        # Point 4.
        update["state"].pop("background", None)
    return update


def _is_new_option(option: Json) -> bool:
    return option["type"] not in ("select", "boolean")


def _is_named(command: Json) -> bool:
    name: str = command["name"]
    return bool(name) and not name.startswith("/") and not any(char.isspace() for char in name)


def _expected(update: Json, is_first: bool) -> list[Json] | None:
    """What the client should be told for an update; None where only the transcript tells."""
    kind = update["sessionUpdate"]
    if kind in WHOLE:
        chunk = {"sessionUpdate": WHOLE[kind], "messageId": update["messageId"]}
        return [{**chunk, "content": block} for block in update["content"]]
    if kind == "tool_call_content_chunk":
        return None
    if kind == "tool_call_update":
        # The first that is heard of a call sets what is there; later, no items mean no items.
        return [_patch(update, is_first)]
    return [update]


def _patch(update: Json, is_first: bool) -> Json:
    patch = {name: value for name, value in update.items() if value is not None or not is_first}
    for name in ("content", "locations"):
        if name in patch and patch[name] is None:
            patch[name] = []
    if is_first and patch.get("title") is None:
        patch.pop("title", None)
    return patch


def _bare(updates: list[Json]) -> Any:
    """To compare: without what is attached to the entity as a whole."""
    return [
        clean({name: value for name, value in update.items() if name != "_meta"})
        for update in updates
    ]


def _told(transcript: Any) -> Any:
    """A transcript as plain values, without what the translators say of their own."""
    dumped = clean(json.loads(encode(transcript.dump())))
    for name in ("timeline", "messages"):
        dumped[name] = [one for one in dumped[name] if one.get("role") != "user"]
    return dumped


@settings(max_examples=60, phases=QUICKLY)
@given(st.lists(UPDATES, min_size=1, max_size=8), st.sampled_from(["end_turn", "_odd", None]))
def test_a_session_is_the_same_message_by_message_and_in_the_end(
    generated: list[Json], reason: str | None
) -> None:
    """translate: the lossy points are the only exceptions."""
    far = line()
    far.begin()
    direct: list[Json] = [{"sessionUpdate": "state_update", "state": "running"}]
    calls: set[str] = set()
    for number, made in enumerate(generated):
        update = _tamed(made, number)
        if update is None:
            continue
        direct.append(json.loads(encode(update)))
        far.pass_time(1)
        received = far.update(update)
        is_first = update.get("toolCallId") not in calls
        calls |= {update["toolCallId"]} if "toolCallId" in update else set()
        expected = _expected(direct[-1], is_first)
        if expected is not None:
            got = (
                [_patch(one, is_first) for one in received] if "toolCallId" in update else received
            )
            assert _bare(got) == _bare(expected)
    far.idle(reason)
    end: Json = {"sessionUpdate": "state_update", "state": "idle"}
    direct.append(end if reason is None else {**end, "stopReason": reason})
    assert _told(folded(far.updates())) == _told(folded(direct))
    assert not far.open

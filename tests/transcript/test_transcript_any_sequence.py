"""Whatever sequence of updates comes: nothing raises, and the view is what a simple model says."""

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.transcript import KINDS, Transcript
from tests.transcript.wire_updates import image, text, v1_update, v2_update

WORDS = st.text(max_size=4)
IDS = st.sampled_from(["a", "b", ""])
BLOCK = st.one_of(WORDS.map(text), st.just(image()), st.just({"type": "_x", "y": 1}))
ITEM = st.one_of(
    BLOCK.map(lambda block: {"type": "content", "content": block}),
    st.just({"type": "diff", "path": "/a", "newText": "n"}),
    st.just({"type": "diff", "changes": [{"operation": "add", "path": "/a"}]}),
    IDS.map(lambda terminal_id: {"type": "terminal", "terminalId": terminal_id}),
    st.just({"type": "_x"}),
)
STATUS = st.sampled_from(["pending", "in_progress", "completed", "failed", "cancelled", "_x"])
META = st.dictionaries(st.sampled_from("xyz"), st.none() | st.integers(0, 3), max_size=2)
DATA = st.binary(max_size=4).map(lambda data: b64encode(data).decode())


def fields(required: dict[str, Any], **optional: Any) -> st.SearchStrategy[dict[str, Any]]:
    """An object: optional members are absent, null or a value."""
    return st.fixed_dictionaries(
        required, optional={key: st.none() | value for key, value in optional.items()}
    )


TOOL_CALL = fields(
    {"toolCallId": IDS},
    title=WORDS,
    name=WORDS,
    kind=st.sampled_from(["edit", "other", "_x"]),
    status=STATUS,
    content=st.lists(ITEM, max_size=2),
    locations=st.lists(st.just({"path": "/p", "line": 1}), max_size=2),
    rawInput=st.integers(0, 2),
    rawOutput=st.integers(0, 2),
    meta_=META,
)
MESSAGE = fields({"messageId": IDS}, content=st.lists(BLOCK, max_size=2), meta_=META)
STATE = st.sampled_from(["running", "idle", "requires_action", "unknown", "_x"])
BACKGROUND = st.lists(st.just({"type": "tool_call", "toolCallId": "a"}), max_size=1)
COMPACTION = fields(
    {"compactionId": IDS, "status": STATUS}, summary=st.lists(BLOCK, max_size=2), error=WORDS
)
USAGE = fields(
    {"used": st.just(1), "size": st.just(2)}, cost=st.just({"amount": 1, "currency": "EUR"})
)
SHARED: dict[str, Any] = {
    "tool_call_update": TOOL_CALL,
    "plan_removed": fields({"planId": IDS}),
    "session_info_update": fields({}, title=WORDS, updatedAt=WORDS, meta_=META),
    "usage_update": USAGE,
    "notice": fields({"severity": WORDS, "title": st.just("N")}, description=WORDS),
    "compaction_update": COMPACTION,
    "compaction_summary_chunk": fields({"compactionId": IDS, "content": BLOCK}),
    "subagent_update": fields(
        {"sessionId": IDS},
        title=WORDS,
        state=STATE.map(lambda word: {"state": word}),
        capabilities=st.just({"cancel": {}}),
        additionalDirectories=st.just(["/x"]),
    ),
    "session_message": MESSAGE,
    "session_message_chunk": fields({"messageId": IDS, "content": BLOCK}),
    "plan_update": st.one_of(
        IDS.map(lambda plan_id: {"plan": {"type": "items", "planId": plan_id, "entries": []}}),
        IDS.map(lambda plan_id: {"plan": {"type": "_x", "planId": plan_id}}),
        st.just({"plan": {"type": "_x"}}),
    ),
    "_x": fields({}, y=WORDS),
}
V1: dict[str, Any] = {
    **SHARED,
    "user_message_chunk": fields({"content": BLOCK}, messageId=IDS),
    "agent_message_chunk": fields({"content": BLOCK}, messageId=IDS),
    "agent_thought_chunk": fields({"content": BLOCK}, messageId=IDS),
    "tool_call": TOOL_CALL.map(lambda call: {**call, "title": "T"}),
    "plan": st.just({"entries": []}),
    "current_mode_update": fields({"currentModeId": IDS}),
}
CHUNK = fields({"messageId": IDS, "content": BLOCK})
V2: dict[str, Any] = {
    **SHARED,
    "user_message_chunk": CHUNK,
    "agent_message_chunk": CHUNK,
    "agent_thought_chunk": CHUNK,
    "user_message": MESSAGE,
    "agent_message": MESSAGE,
    "agent_thought": MESSAGE,
    "state_update": fields({"state": STATE}, stopReason=WORDS, background=BACKGROUND),
    "tool_call_content_chunk": fields({"toolCallId": IDS, "content": ITEM}),
    "terminal_update": fields(
        {"terminalId": IDS},
        output=DATA.map(lambda data: {"data": data}),
        exitStatus=st.just({"exitCode": 0}),
        command=WORDS,
    ),
    "terminal_output_chunk": fields({"terminalId": IDS, "data": DATA}),
}


def sequences(table: dict[str, Any]) -> st.SearchStrategy[list[tuple[str, dict[str, Any]]]]:
    step = st.sampled_from(sorted(table)).flatmap(
        lambda tag: table[tag].map(lambda body: (tag, body))
    )
    return st.lists(step, max_size=12)


@pytest.mark.parametrize("version", ["v1", "v2"])
@given(st.data())
def test_no_sequence_of_updates_raises(version: str, data: st.DataObject) -> None:
    """Ours: bad input is data."""
    table, make = {"v1": (V1, v1_update), "v2": (V2, v2_update)}[version]
    transcript = Transcript()
    for tag, body in data.draw(sequences(table)):
        update = transcript.apply(make(tag, **body))
        assert update is None or update.kind in KINDS
    assert len({id(entry) for entry in transcript.timeline}) == len(transcript.timeline)
    assert len(transcript.dump()["timeline"]) == len(transcript.timeline)


def patched_meta(meta: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    if "meta_" not in body:
        return meta
    if body["meta_"] is None:
        return {}
    return {key: value for key, value in {**meta, **body["meta_"]}.items() if value is not None}


@pytest.mark.rule("V2-UPS-02", "V2-GEN-12", "V2-GEN-13")
@given(sequences({key: V2[key] for key in ("agent_message", "agent_message_chunk")}))
def test_messages_of_v2_follow_the_table_of_three_states(
    steps: list[tuple[str, dict[str, Any]]],
) -> None:
    """v2: against a model that keeps lists of blocks."""
    transcript = Transcript("v2")
    model: dict[str, tuple[list[Any], dict[str, Any]]] = {}
    for tag, body in steps:
        transcript.apply(v2_update(tag, **body))
        blocks, meta = model.get(body["messageId"], ([], {}))
        if tag == "agent_message_chunk":
            if body["messageId"] not in model and body["content"].get("text") == "":
                continue
            blocks = [*blocks, body["content"]]
        else:
            blocks = list(body.get("content", blocks) or ())
            meta = patched_meta(meta, body)
        model[body["messageId"]] = (blocks, meta)
    found = transcript.dump()["messages"]
    assert [(entry["messageId"], entry["text"], entry["meta"]) for entry in found] == [
        (message_id, "".join(block.get("text", "") for block in blocks), meta)
        for message_id, (blocks, meta) in model.items()
    ]


DEFAULTS = {"title": "", "name": None, "kind": "other", "status": "pending"}
FINAL = ("completed", "failed", "cancelled")


@pytest.mark.rule("V2-UPS-07", "V2-UPS-08", "V2-UPS-10")
@given(sequences({key: V2[key] for key in ("tool_call_update", "tool_call_content_chunk")}))
def test_tool_calls_of_v2_follow_the_table_of_three_states(
    steps: list[tuple[str, dict[str, Any]]],
) -> None:
    """v2: against a model of plain dictionaries; a final status stays."""
    transcript = Transcript("v2")
    model: dict[str, dict[str, Any]] = {}
    for tag, body in steps:
        transcript.apply(v2_update(tag, **body))
        call = model.setdefault(body["toolCallId"], {**DEFAULTS, "content": [], "meta": {}})
        if tag == "tool_call_content_chunk":
            call["content"] = [*call["content"], body["content"]]
            continue
        for key in ("title", "name", "kind"):
            if key in body:
                call[key] = DEFAULTS[key] if body[key] is None else body[key]
        if call["kind"] == "_x":
            call["kind"] = "other"
        if "status" in body and call["status"] not in FINAL:
            word = body["status"] or "pending"
            call["status"] = "in_progress" if word == "_x" else word
        if "content" in body:
            call["content"] = body["content"] or []
        call["meta"] = patched_meta(call["meta"], body)
    found = {call["toolCallId"]: call for call in transcript.dump()["toolCalls"]}
    assert list(found) == list(model)
    for tool_call_id, call in model.items():
        # The diff of the first drafts is written back with the list that it lacked.
        items = [{"changes": [], **item} if "newText" in item else item for item in call["content"]]
        assert {key: found[tool_call_id][key] for key in call} == {**call, "content": items}

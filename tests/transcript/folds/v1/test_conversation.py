"""What updates of v1 add up to."""

import pytest

from accord.transcript import FileDiff, Location, Message, Plan, ToolCall
from tests.transcript.wire_updates import folding_v1, image, text

CHUNK = "agent_message_chunk"


@pytest.mark.rule("V1-PROMPT-19")
def test_the_same_id_groups_chunks_and_another_starts_a_message() -> None:
    """v1: also when something else came in between."""
    fold = folding_v1()
    fold(CHUNK, messageId="a", content=text("one "))
    fold(CHUNK, messageId="b", content=text("two"))
    fold("tool_call", toolCallId="c", title="T")
    fold(CHUNK, messageId="a", content=text("more"))
    assert fold.texts() == [("agent", "one more"), ("agent", "two")]


@pytest.mark.rule("V1-PROMPT-18")
def test_message_ids_are_opaque() -> None:
    """v1: no trimming, no folding of case, no normal forms."""
    fold = folding_v1()
    odd = ["", " ", "A", "a", "1", "1.0", "é", "e\u0301", "a/b\n"]
    for message_id in odd:
        fold(CHUNK, messageId=message_id, content=text("x"))
    assert [message.message_id for message in fold.transcript.messages] == odd


def test_chunks_without_ids_are_one_message_until_something_else_is_shown() -> None:
    """v1: a change of kind ends the message."""
    fold = folding_v1()
    fold(CHUNK, content=text("a"))
    fold(CHUNK, content=text("b"))
    fold("agent_thought_chunk", content=text("hm"))
    fold("agent_thought_chunk", content=text("m"))
    fold(CHUNK, content=text("c"))
    fold("tool_call", toolCallId="c", title="T")
    fold(CHUNK, content=text("d"))
    fold("plan", entries=[])
    fold(CHUNK, messageId=None, content=text("e"))
    assert [words for _, words in fold.texts()] == ["ab", "c", "d", "e"]
    assert [thought.text for thought in fold.transcript.thoughts] == ["hmm"]


def test_facts_about_the_session_end_no_message() -> None:
    """Ours: they are not part of the conversation."""
    fold = folding_v1()
    fold(CHUNK, content=text("a"))
    fold("usage_update", used=1, size=2)
    fold("session_info_update", title="T")
    fold("current_mode_update", currentModeId="m")
    fold("config_option_update", configOptions=[])
    fold("available_commands_update", availableCommands=[])
    fold(CHUNK, content=text("b"))
    assert fold.texts() == [("agent", "ab")]


def test_a_chunk_without_an_id_continues_a_message_that_has_one() -> None:
    """v1: null equals omitted, and neither is another id."""
    fold = folding_v1()
    fold(CHUNK, messageId="a", content=text("1"))
    fold(CHUNK, content=text("2"))
    fold(CHUNK, messageId=None, content=text("3"))
    fold(CHUNK, messageId="b", content=text("4"))
    assert fold.texts() == [("agent", "123"), ("agent", "4")]


def test_metadata_of_a_prompt_stays_with_it() -> None:
    """Ours: version 1 has no whole prompt, so a gateway puts its author beside a chunk."""
    fold = folding_v1()
    fold("user_message_chunk", messageId="u", content=text("a"), meta_={"author": {"user": "ada"}})
    fold("user_message_chunk", messageId="u", content=text("b"))
    assert [entry["meta"] for entry in fold.dumped("timeline")] == [{"author": {"user": "ada"}}]


def test_an_update_says_what_came_and_where_it_went() -> None:
    """Ours: kind, live entity, new text, the struct."""
    fold = folding_v1()
    first = fold(CHUNK, content=text("a"))
    second = fold(CHUNK, content=image())
    assert (first.kind, first.text, second.text) == ("message", "a", "")
    assert first.item is second.item is fold.transcript.messages[0]
    assert type(first.wire).__name__ == "AgentMessageChunk"
    thought = fold("agent_thought_chunk", content=image())
    assert (thought.kind, thought.text) == ("thought", "")
    assert repr(first).startswith("MessageChanged(Message('agent', None")


# Tool calls


@pytest.mark.rule("V1-TOOL-05")
def test_a_minimal_tool_call_is_pending_and_of_kind_other() -> None:
    """v1."""
    fold = folding_v1()
    update = fold("tool_call", toolCallId="c", title="T")
    call = fold.transcript.tool_calls[0]
    assert update.kind == "tool_call"
    assert update.item is call
    assert (call.title, call.kind, call.status) == ("T", "other", "pending")


@pytest.mark.rule("V1-TOOL-06")
def test_lists_in_an_update_replace_the_whole_list() -> None:
    """v1."""
    fold = folding_v1()
    fold(
        "tool_call",
        toolCallId="c",
        title="T",
        content=[
            {"type": "content", "content": text("a")},
            {"type": "terminal", "terminalId": "t"},
        ],
        locations=[{"path": "/a", "line": 3}, {"path": "/b"}, {"path": "/c", "line": 0}],
    )
    call = fold.transcript.tool_calls[0]
    assert call.locations == [Location("/a", 3), Location("/b"), Location("/c")]
    assert call.text == "a"
    fold(
        "tool_call_update",
        toolCallId="c",
        content=[{"type": "content", "content": text("b")}],
        locations=[{"path": "/d", "line": 1}],
    )
    assert call.text == "b"
    assert call.locations == [Location("/d", 1)]
    fold("tool_call_update", toolCallId="c", content=[], locations=[])
    assert (call.text, call.locations) == ("", [])


@pytest.mark.rule("V1-TOOL-07")
def test_null_in_a_tool_call_update_changes_nothing() -> None:
    """v1: null equals omission, for every field."""
    fold = folding_v1()
    fold(
        "tool_call",
        toolCallId="c",
        title="T",
        name="n",
        kind="edit",
        status="in_progress",
        content=[{"type": "content", "content": text("a")}],
        locations=[{"path": "/a"}],
        rawInput={"in": 1},
        rawOutput=[2],
        meta_={"k": 1},
    )
    before = fold.dumped("toolCalls")
    nulls: dict[str, object] = dict.fromkeys(
        (
            "title",
            "name",
            "kind",
            "status",
            "content",
            "locations",
            "rawInput",
            "rawOutput",
            "meta_",
        )
    )
    fold("tool_call_update", toolCallId="c", **nulls)
    assert fold.dumped("toolCalls") == before
    assert before[0]["rawInput"] == {"in": 1}
    assert before[0]["rawOutput"] == [2]
    assert before[0]["meta"] == {"k": 1}


@pytest.mark.rule("V1-TOOL-08")
def test_an_update_for_an_unseen_id_creates_the_call() -> None:
    """v1: many agents do that."""
    fold = folding_v1()
    fold("tool_call_update", toolCallId="c", status="completed")
    call = fold.transcript.tool_call("c")
    assert call is not None
    assert (call.title, call.kind, call.status) == ("", "other", "completed")
    assert fold.transcript.tool_call("d") is None


@pytest.mark.rule("V1-TOOL-13")
def test_after_a_final_status_only_content_is_taken() -> None:
    """v1 (S003)."""
    fold = folding_v1()
    fold("tool_call", toolCallId="c", title="T", status="completed")
    content = [{"type": "content", "content": text("late")}]
    fold("tool_call_update", toolCallId="c", status="in_progress", content=content)
    fold("tool_call", toolCallId="c", title="T", status="pending")
    call = fold.transcript.tool_calls[0]
    assert (call.status, call.text) == ("completed", "late")
    assert len(fold.transcript.tool_calls) == 1


def test_diffs_are_told_file_by_file() -> None:
    """Ours: without an old text the file is new."""
    fold = folding_v1()
    fold(
        "tool_call",
        toolCallId="c",
        title="T",
        content=[
            {"type": "diff", "path": "/new", "newText": "n"},
            {"type": "content", "content": text("words")},
            {"type": "diff", "path": "/old", "oldText": "o", "newText": "n"},
        ],
    )
    assert fold.transcript.tool_calls[0].diffs == [
        FileDiff("/new", "add", new_text="n"),
        FileDiff("/old", "modify", old_text="o", new_text="n"),
    ]


# Plans


@pytest.mark.rule("V1-PLAN-03")
def test_a_plan_replaces_the_one_before() -> None:
    """v1: the list may be shorter than before."""
    fold = folding_v1()
    entry = {"content": "do", "priority": "high", "status": "pending"}
    fold("plan", entries=[entry, entry, entry])
    plan = fold.transcript.plan
    fold("plan", entries=[{"content": "done", "priority": "low", "status": "completed"}])
    assert isinstance(plan, Plan)
    assert fold.transcript.plan is plan
    assert [(entry.content, entry.priority, entry.status) for entry in plan.entries] == [
        ("done", "low", "completed")
    ]
    assert fold.transcript.plans == [plan]
    assert repr(plan) == "Plan('main', 'items', 1 entries)"


def test_plans_with_ids_take_every_form_and_can_be_removed() -> None:
    """v1 (unstable)."""
    fold = folding_v1()
    fold("plan_update", plan={"type": "items", "planId": "a", "entries": []})
    fold("plan_update", plan={"type": "markdown", "planId": "b", "content": "# B"})
    fold("plan_update", plan={"type": "file", "planId": "c", "uri": "file:///c"})
    fold("plan_update", plan={"type": "_map", "planId": "a", "x": 1})
    assert [(plan.plan_id, plan.form) for plan in fold.transcript.plans] == [
        ("a", "_map"),
        ("b", "markdown"),
        ("c", "file"),
    ]
    latest = fold.transcript.plan
    assert latest is not None
    assert latest.plan_id == "a"
    assert latest.received.tag == "_map"
    assert (fold.transcript.plans[1].markdown, fold.transcript.plans[2].uri) == ("# B", "file:///c")
    removed = fold("plan_removed", planId="a")
    assert removed.item is latest
    assert latest.removed
    latest = fold.transcript.plan
    assert latest is not None
    assert latest.plan_id == "c"
    assert fold.ignored("plan_removed", planId="a")
    assert len(fold.transcript.timeline) == 3


def test_a_plan_of_unknown_form_without_an_id_is_kept_as_unknown() -> None:
    """Ours."""
    fold = folding_v1()
    update = fold("plan_update", plan={"type": "_map", "planId": 5})
    assert update.kind == "unknown"
    assert fold.transcript.plan is None
    assert [variant.tag for variant in fold.transcript.unknown] == ["_map"]


# Unknown things, cancellation


def test_an_unknown_update_is_kept_whole() -> None:
    """Ours: in the timeline too, where it ends the message before it."""
    fold = folding_v1()
    fold(CHUNK, content=text("a"))
    update = fold("_sparkle", colour="red")
    fold(CHUNK, content=text("b"))
    assert (update.kind, update.text) == ("unknown", "")
    variant = fold.transcript.unknown[0]
    assert update.item is variant
    assert b"red" in variant.raw
    assert [type(entry) for entry in fold.transcript.timeline] == [Message, type(variant), Message]
    assert fold.dumped("timeline")[1]["received"] == {"sessionUpdate": "_sparkle", "colour": "red"}


@pytest.mark.rule("V1-CANCEL-02", "V1-CANCEL-08")
def test_cancelling_marks_unfinished_calls_at_once_and_late_updates_are_still_taken() -> None:
    """V1-CANCEL-02; issue 14: `failed` is the only word that v1 has for a call that was stopped."""
    fold = folding_v1()
    fold("tool_call", toolCallId="before", title="B", status="in_progress")
    fold.transcript.turn_started()
    fold("tool_call", toolCallId="done", title="D", status="completed")
    fold("tool_call", toolCallId="open", title="O", status="in_progress")
    fold("tool_call", toolCallId="waiting", title="W")
    marked = fold.transcript.turn_cancelled()
    assert [call.tool_call_id for call in marked] == ["open", "waiting"]
    assert {call.tool_call_id: call.cancelled for call in fold.transcript.tool_calls} == {
        "before": False,
        "done": False,
        "open": True,
        "waiting": True,
    }
    content = [{"type": "content", "content": text("partial")}]
    update = fold("tool_call_update", toolCallId="open", status="failed", content=content)
    assert isinstance(update.item, ToolCall)
    assert (update.item.status, update.item.reported_status) == ("cancelled", "failed")
    assert (update.item.text, update.item.cancelled) == ("partial", True)


@pytest.mark.parametrize(
    ("late", "status"),
    [("completed", "completed"), ("failed", "cancelled"), ("pending", "cancelled")],
)
def test_a_call_that_was_cut_off_may_still_end_as_reported(late: str, status: str) -> None:
    """Issue 14: hermes leaves calls pending; what is final and was told counts more."""
    fold = folding_v1()
    fold("tool_call", toolCallId="open", title="O", status="in_progress")
    (call,) = fold.transcript.turn_cancelled()
    call.end_cancelled()
    assert (call.status, call.is_final) == ("cancelled", True)
    fold("tool_call_update", toolCallId="open", status=late)
    assert call.status == status
    fold("tool_call_update", toolCallId="open", status="in_progress")
    assert call.status == status

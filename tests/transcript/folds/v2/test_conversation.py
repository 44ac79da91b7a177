"""What updates of v2 add up to: messages and tool calls."""

import pytest

from accord.schema import v2
from accord.schema.codec import decode, encode
from accord.transcript import FileDiff, Location
from tests.transcript.wire_updates import Folding, folding_v2, image, text

# Messages


@pytest.mark.rule("V2-UPS-02")
@pytest.mark.parametrize("whole", ["agent_message", "agent_thought", "user_message"])
def test_arrays_replace_chunks_append_and_no_content_keeps(whole: str) -> None:
    """v2 (S002): in the order of arrival, for every type of message."""
    fold = folding_v2()

    def now() -> str:
        return [*fold.transcript.messages, *fold.transcript.thoughts][0].text

    fold(f"{whole}_chunk", messageId="m", content=text("A"))
    fold(f"{whole}_chunk", messageId="m", content=text("B"))
    assert now() == "AB"
    assert fold(whole, messageId="m", content=[text("C")]).text == "C"
    assert fold(f"{whole}_chunk", messageId="m", content=text("D")).text == "D"
    assert now() == "CD"
    assert fold(whole, messageId="m").text == ""
    assert now() == "CD"
    fold(whole, messageId="m", content=[])
    assert now() == ""
    fold(f"{whole}_chunk", messageId="m", content=text("E"))
    fold(whole, messageId="m", content=None)
    assert now() == ""
    assert len(fold.transcript.timeline) == 1


@pytest.mark.rule("V2-UPS-04")
def test_the_same_id_in_two_types_is_two_messages() -> None:
    """v2: each type has ids of its own."""
    fold = folding_v2()
    fold("agent_message", messageId="m1", content=[text("said")])
    fold("agent_thought", messageId="m1", content=[text("thought")])
    fold("user_message", messageId="m1", content=[text("asked")])
    assert [(entry["role"], entry["text"]) for entry in fold.dumped("timeline")] == [
        ("agent", "said"),
        ("thought", "thought"),
        ("user", "asked"),
    ]


@pytest.mark.rule("V2-UPS-05")
def test_chunks_of_different_messages_may_interleave() -> None:
    """v2."""
    fold = folding_v2()
    for message_id, words in (("a", "a1"), ("b", "b1"), ("a", "a2"), ("b", "b2")):
        fold("agent_message_chunk", messageId=message_id, content=text(words))
    assert fold.texts() == [("agent", "a1a2"), ("agent", "b1b2")]
    assert fold("agent_message_chunk", messageId="a", content=image()).text == ""
    assert fold("agent_thought_chunk", messageId="a", content=image()).text == ""


@pytest.mark.rule("V2-GEN-12")
@pytest.mark.parametrize(
    ("tag", "key"),
    [
        ("agent_message", {"messageId": "m"}),
        ("user_message", {"messageId": "m"}),
        ("tool_call_update", {"toolCallId": "c"}),
        ("terminal_update", {"terminalId": "t"}),
        ("compaction_update", {"compactionId": "k", "status": "in_progress"}),
        ("subagent_update", {"sessionId": "s"}),
        ("session_message", {"messageId": "m"}),
    ],
)
def test_metadata_is_patched_by_its_top_level_keys(tag: str, key: dict[str, object]) -> None:
    """v2: absent keeps, null clears, an object patches, a null member removes, nothing deeper."""
    fold = folding_v2()

    def meta_after(**fields: object) -> object:
        fold(tag, **key, **fields)
        return fold.dumped("timeline")[0]["meta"]

    assert meta_after(meta_={"a": {"x": 1}, "b": 2}) == {"a": {"x": 1}, "b": 2}
    assert meta_after() == {"a": {"x": 1}, "b": 2}
    assert meta_after(meta_={}) == {"a": {"x": 1}, "b": 2}
    assert meta_after(meta_={"a": {"y": 3}, "b": None, "c": None}) == {"a": {"y": 3}}
    assert meta_after(meta_=None) == {}


@pytest.mark.rule("V2-GEN-12")
def test_metadata_of_the_session_is_patched_too() -> None:
    """v2."""
    fold = folding_v2()
    fold("session_info_update", meta_={"a": 1})
    fold("session_info_update", title="T", meta_={"b": 2})
    assert fold.dumped("info") == {"title": "T", "updatedAt": None, "meta": {"a": 1, "b": 2}}


@pytest.mark.rule("V2-GEN-13")
def test_metadata_of_a_chunk_changes_nothing_stored() -> None:
    """v2."""
    fold = folding_v2()
    fold("agent_message", messageId="m", meta_={"a": 1})
    fold("agent_message_chunk", messageId="m", content=text("x"), meta_={"a": 2, "b": 3})
    fold("user_message_chunk", messageId="u", content=text("y"), meta_={"b": 3})
    item = {"type": "content", "content": text("x")}
    fold("tool_call_content_chunk", toolCallId="c", content=item, meta_={"b": 3})
    fold("terminal_output_chunk", terminalId="t", data="", meta_={"b": 3})
    assert [entry["meta"] for entry in fold.dumped("timeline")] == [{"a": 1}, {}, {}, {}]


# Tool calls


@pytest.mark.rule("V2-UPS-07")
def test_a_tool_call_is_created_at_first_sight_and_patched_from_then_on() -> None:
    """v2: omitted keeps, null clears, a value replaces, arrays whole."""
    fold = folding_v2()

    def after(**fields: object) -> dict[str, object]:
        fold("tool_call_update", toolCallId="c", **fields)
        call: dict[str, object] = fold.dumped("toolCalls")[0]
        return call

    first = after()
    assert (first["title"], first["kind"], first["status"], first["content"]) == (
        "",
        "other",
        "pending",
        [],
    )
    titled = after(title="T", kind="edit", status="in_progress", name="n", rawInput=1)
    assert (titled["title"], titled["kind"], titled["name"]) == ("T", "edit", "n")
    assert after(kind=None) == {**titled, "kind": "other"}
    item = {"type": "content", "content": text("a")}
    place = {"path": "/a", "line": 1}
    assert after(content=[item], locations=[place])["content"] == [item]
    assert fold.transcript.tool_calls[0].locations == [Location("/a", 1)]
    cleared = after(content=None, locations=None, title=None, name=None, status=None, rawInput=None)
    assert cleared == first
    assert after(rawOutput={"a": [1]})["rawOutput"] == {"a": [1]}
    assert after(rawOutput=None)["rawOutput"] is None


@pytest.mark.rule("V2-UPS-08")
def test_a_content_chunk_appends_and_a_later_array_replaces_all() -> None:
    """v2 (S000)."""
    fold = folding_v2()

    def item(words: str) -> dict[str, object]:
        return {"type": "content", "content": text(words)}

    fold("tool_call_update", toolCallId="c", content=[item("A")])
    chunk = fold("tool_call_content_chunk", toolCallId="c", content=item("B"))
    fold("tool_call_update", toolCallId="c", content=[item("C")])
    fold("tool_call_content_chunk", toolCallId="c", content=item("D"))
    assert fold.dumped("toolCalls")[0]["content"] == [item("C"), item("D")]
    assert (chunk.kind, chunk.text) == ("tool_call", "B")
    assert fold.transcript.tool_calls[0].text == "C\nD"


@pytest.mark.rule("V2-UPS-10")
def test_unknown_kind_and_status_have_a_meaning() -> None:
    """v2."""
    fold = folding_v2()
    fold("tool_call_update", toolCallId="c", kind="_x", status="_x")
    call = fold.dumped("toolCalls")[0]
    assert (call["kind"], call["status"]) == ("other", "in_progress")


def test_capabilities_replace_the_whole_set_and_nonsense_takes_them_away() -> None:
    """v2: the safe side."""
    fold = folding_v2()
    steps: list[tuple[object, bool]] = [
        ({"cancel": {}}, True),
        ({}, False),
        ({"cancel": {}}, True),
        (5, False),
        ({"cancel": None}, False),
        ({"cancel": {}}, True),
        (None, False),
    ]
    for capabilities, expected in steps:
        fold("tool_call_update", toolCallId="c", capabilities=capabilities)
        fold("terminal_update", terminalId="t", capabilities=capabilities)
        fold("subagent_update", sessionId="k", capabilities=capabilities)
        assert fold.transcript.tool_calls[0].cancellable is expected
        assert fold.transcript.terminals[0].cancellable is expected
        assert fold.transcript.subagents[0].cancellable is expected


def diffs(fold: Folding, **diff: object) -> list[FileDiff]:
    fold("tool_call_update", toolCallId="c", content=[{"type": "diff", **diff}])
    return fold.transcript.tool_calls[0].diffs


@pytest.mark.rule("V2-UPS-20")
def test_a_diff_without_a_patch_still_says_which_files_changed() -> None:
    """v2: `changes` is the truth."""
    changes = [
        {"operation": "add", "path": "/a", "fileType": "binary"},
        {"operation": "delete", "path": "/b"},
        {"operation": "modify", "path": "/c"},
        {"operation": "move", "path": "/e", "oldPath": "/d"},
        {"operation": "copy", "path": "/g", "oldPath": "/f"},
        {"operation": "_swap", "path": "/h"},
    ]
    assert diffs(folding_v2(), changes=changes) == [
        FileDiff("/a", "add"),
        FileDiff("/b", "delete"),
        FileDiff("/c", "modify"),
        FileDiff("/e", "move", old_path="/d"),
        FileDiff("/g", "copy", old_path="/f"),
        FileDiff("/h", "_swap"),
    ]


def test_each_file_has_its_own_part_of_the_patch() -> None:
    """Ours: and where it cannot be found, the whole of it."""
    one = "diff --git /a /a\n--- /a\n+++ /a\n@@ -1 +1 @@\n-x\n+y"
    two = "diff --git /b /b\n--- /b\n+++ /b\n@@ -1 +1 @@\n-x\n+y\n"
    patch = {"format": "git_patch", "text": f"{one}\n{two}"}
    changes = [{"operation": "modify", "path": path} for path in ("/b", "/a", "/odd path")]
    found = [diff.patch for diff in diffs(folding_v2(), changes=changes, patch=patch)]
    assert found == [two, one, f"{one}\n{two}"]
    [only] = diffs(folding_v2(), changes=changes[:1], patch=patch)
    assert only.patch == f"{one}\n{two}"
    assert diffs(folding_v2(), changes=[], patch=patch) == []


def test_diffs_of_the_first_drafts_are_read() -> None:
    """S000: path and texts instead of changes."""
    assert diffs(folding_v2(), path="/a", newText="n") == [FileDiff("/a", "add", new_text="n")]
    assert diffs(folding_v2(), path="/a", oldText="o", newText="n") == [
        FileDiff("/a", "modify", old_text="o", new_text="n")
    ]


@pytest.mark.rule("V2-PERM-04", "V2-PERM-05")
def test_the_subject_of_a_permission_request_is_applied_like_an_update() -> None:
    """v2: an unseen id creates, and the words of the request change no tool call."""
    fold = folding_v2()
    fold("tool_call_update", toolCallId="known", title="T")

    def request(tool_call: dict[str, object]) -> v2.ToolCallPatch:
        body = {
            "sessionId": "s",
            "title": "P",
            "description": "why",
            "subject": {"type": "tool_call", "toolCall": tool_call},
            "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}],
        }
        subject = decode(v2.RequestPermissionRequest, encode(body)).subject
        assert isinstance(subject, v2.ToolCallPermissionSubject)
        return subject.tool_call

    transcript = fold.transcript
    transcript.apply_permission_subject(request({"toolCallId": "known", "kind": "edit"}))
    update = transcript.apply_permission_subject(request({"toolCallId": "new", "title": "N"}))
    assert update is not None
    assert update.item is transcript.tool_call("new")
    assert [(call["title"], call["kind"]) for call in fold.dumped("toolCalls")] == [
        ("T", "edit"),
        ("N", "other"),
    ]


@pytest.mark.rule("V2-CANCEL-12")
def test_cancelling_marks_the_foreground_and_spares_the_background() -> None:
    """v2: work that is listed goes on; late updates are taken."""
    fold = folding_v2()
    fold.transcript.turn_started()
    for tool_call_id in ("front", "back", "done"):
        fold("tool_call_update", toolCallId=tool_call_id, title="T", status="in_progress")
    fold("tool_call_update", toolCallId="done", status="completed")
    background = [
        {"type": "tool_call", "toolCallId": "back"},
        {"type": "terminal", "terminalId": "front"},
    ]
    fold("state_update", state="running", background=background)
    fold.transcript.turn_cancelled()
    marks = {call.tool_call_id: call.cancelled for call in fold.transcript.tool_calls}
    assert marks == {"front": True, "back": False, "done": False}
    fold("tool_call_update", toolCallId="front", status="cancelled", title="Late")
    call = fold.transcript.tool_call("front")
    assert call is not None
    assert (call.status, call.title, call.cancelled) == ("cancelled", "Late", True)

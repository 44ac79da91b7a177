"""Updates in the words of the 2026-02 draft, without a connection."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.agent.serving.draft.hunks import outputs_of
from accord.agent.serving.draft.wire import DraftWire
from accord.agent.serving.wire import Features
from accord.schema import v2
from accord.schema.draft import CLIENT_METHODS, decode_update
from accord.schema.struct import UnknownVariant
from accord.translate.diffs import diff_of
from accord.translate.draft.mode_names import ModeNames
from accord.translate.draft.vocabulary import NEXT_STATUSES
from accord.translate.file_changes import deletion_of, move_of

M = "acp.draft/2026-02"


def new_wire() -> DraftWire:
    """A wire of nobody's."""
    return DraftWire(Features(), ModeNames())


def said(wire: DraftWire, *updates: Any) -> list[dict[str, Any]]:
    """Type and data of what is said, each held against the draft's types."""
    found: list[dict[str, Any]] = []
    for update in updates:
        for raw in wire.updates("s", update):
            decode_update(
                CLIENT_METHODS["session/update"].decode_params(raw, strict=True), strict=True
            )
            params = json.loads(raw)
            found.append({"type": params["type"], **params["data"]})
    return found


def text(words: str) -> v2.Content:
    """Tool content of one text."""
    return v2.Content(content=v2.TextContent(text=words))


STATUSES = ["pending", "in_progress", "paused", "completed", "failed", "cancelled", "_own"]
step = st.one_of(
    st.builds(lambda status: ("status", status), st.sampled_from(STATUSES)),
    st.just(("content", "x")),
    st.just(("title", "t")),
    st.just(("ask", "")),
    st.just(("refuse", "")),
    st.just(("replay", "")),
)


@pytest.mark.rule("D26-32")
@given(st.lists(step, max_size=12))
def test_whatever_an_agent_does_its_calls_go_by_the_drafts_steps(steps: list[Any]) -> None:
    """The draft's table 5.1: one announcement, legal pairs, nothing after a final status."""
    wire = new_wire()
    told: list[dict[str, Any]] = []
    for kind, value in steps:
        if kind == "status":
            told += said(wire, v2.ToolCallUpdate(tool_call_id="c", status=value))
        elif kind == "content":
            told += said(wire, v2.ToolCallContentChunk(tool_call_id="c", content=text(value)))
        elif kind == "title":
            told += said(wire, v2.ToolCallUpdate(tool_call_id="c", title=value))
        elif kind == "ask":
            encoded = wire.encoded("s", wire.calls.asking("s", "c"))
            told += [{"type": "tool_call_update", **json.loads(raw)["data"]} for raw in encoded]
        elif kind == "refuse":
            wire.calls.refused("s", "c")
        else:
            wire.calls.telling_past.add("s")
            wire.forget("s")
            wire.calls.telling_past.discard("s")
    assert [one["type"] for one in told].count("tool_call") == bool(told)
    assert not told or told[0]["type"] == "tool_call"
    statuses = [one["status"] for one in told if "status" in one]
    assert statuses[:1] in ([], ["pending"])
    for before, after in pairwise(statuses):
        assert after in NEXT_STATUSES[before]
    assert wire.calls.status("s", "c") == (statuses[-1] if statuses else None)


def test_several_things_are_one_output_and_the_rest_is_kept() -> None:
    """The draft's table 5.1: first diff, else terminal, else joined text."""
    wire = new_wire()
    items: list[Any] = [
        text("one"),
        v2.Terminal(terminal_id="t"),
        diff_of("/a", None, "new\n"),
        text("two"),
    ]
    _, shown = said(wire, v2.ToolCallUpdate(tool_call_id="c", content=items))
    assert shown["output"]["type"] == "diff"
    kept = shown["_meta"][M]["outputs"]
    assert [one["type"] for one in kept] == ["diff", "terminal", "text"]
    assert kept[2]["text"] == "one\ntwo"


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (v2.ImageContent(data=b"x", mime_type="image/png"), "[image image/png]"),
        (v2.AudioContent(data=b"x", mime_type="audio/wav"), "[audio audio/wav]"),
        (v2.ResourceLink(name="n", uri="file:///n"), "[n](file:///n)"),
        (
            v2.EmbeddedResource(resource=v2.EmbeddedResourceResource(uri="file:///e", text="in")),
            "in",
        ),
        (
            v2.EmbeddedResource(resource=v2.EmbeddedResourceResource(uri="file:///e", blob=b"x")),
            "[resource file:///e]",
        ),
        (UnknownVariant("type", "_odd", b'{"type":"_odd"}'), "[_odd]"),
    ],
)
def test_what_is_no_text_has_a_placeholder_and_is_kept(block: Any, words: str) -> None:
    """The draft's table 5: readable, with the raw block beside it."""
    wire = new_wire()
    (chunk,) = said(wire, v2.AgentMessageChunk(message_id="m", content=block))
    assert chunk["content"] == words
    assert (
        chunk["_meta"][M]["block"]["type"]
        == json.loads(json.dumps(chunk["_meta"]))[M]["block"]["type"]
    )
    _, shown = said(wire, v2.ToolCallUpdate(tool_call_id="c", content=[v2.Content(content=block)]))
    assert shown["output"] == {"type": "text", "text": words}


def test_a_thought_for_the_assistant_alone_is_not_visible() -> None:
    """The draft's table 5: `visible` false."""
    hidden = v2.TextContent(text="x", annotations=v2.Annotations(audience=["assistant"]))
    (thought,) = said(new_wire(), v2.AgentThoughtChunk(message_id="m", content=hidden))
    assert thought["visible"] is False


def test_a_terminal_of_ours_is_shown_as_it_grows() -> None:
    """The draft's table 5.1: command, output and exit code; not for every line of it."""
    wire = new_wire()
    started = v2.TerminalUpdate(terminal_id="t", command="make")
    call = v2.ToolCallUpdate(tool_call_id="c", content=[v2.Terminal(terminal_id="t")])
    _, shown = said(wire, started, call)
    assert shown["output"] == {
        "type": "terminal", "terminalId": "t", "command": "make", "exitCode": None,
        "stdout": "", "stderr": "",
    }  # fmt: skip
    assert said(wire, v2.TerminalOutputChunk(terminal_id="t", data=b"little")) == []
    (shown,) = said(wire, v2.TerminalOutputChunk(terminal_id="t", data=b"x" * 5000))
    assert len(shown["output"]["stdout"]) == 5006
    replaced = v2.TerminalUpdate(terminal_id="t", output=v2.TerminalOutput(data=b"anew"))
    assert said(wire, replaced) == []
    ended = v2.TerminalUpdate(terminal_id="t", exit_status=v2.TerminalExitStatus(exit_code=3))
    (shown,) = said(wire, ended)
    assert (shown["output"]["exitCode"], shown["output"]["stdout"]) == (3, "anew")
    # One that nobody shows is nobody's.
    gone = v2.TerminalUpdate(terminal_id="u", exit_status=v2.TerminalExitStatus(signal="SIGKILL"))
    assert said(wire, v2.TerminalOutputChunk(terminal_id="u", data=b"y" * 9000), gone) == []


def test_plans_that_are_texts_or_gone() -> None:
    """A removed plan is empty; a plan of text is a message, once."""
    wire = new_wire()
    items = v2.PlanItems(
        plan_id="p", entries=[v2.PlanEntry(content="a", priority="medium", status="cancelled")]
    )
    written = v2.PlanUpdate(plan=v2.PlanMarkdown(plan_id="q", content="# Plan"))
    plan, words, gone = said(
        wire, v2.PlanUpdate(plan=items), written, written, v2.PlanRemoved(plan_id="p")
    )
    assert plan["steps"] == [{"id": "step_1", "description": "a", "status": "cancelled"}]
    assert (words["type"], words["content"]) == ("agent_message_chunk", "# Plan")
    assert gone == {"type": "plan", "planId": "p", "steps": []}


def test_old_calls_are_let_go() -> None:
    """Memory of a long session is bounded: what old calls show is forgotten, not that they were."""
    wire = new_wire()
    for number in range(70):
        done = v2.ToolCallUpdate(
            tool_call_id=f"c{number}",
            status="completed",
            content=[text("x"), v2.Terminal(terminal_id=f"t{number}")],
        )
        said(wire, v2.TerminalUpdate(terminal_id=f"t{number}", command="x"), done)
        if number:
            ended = v2.TerminalExitStatus(exit_code=0)
            said(wire, v2.TerminalUpdate(terminal_id=f"t{number}", exit_status=ended))
    assert wire.calls.status("s", "c1") == "completed"
    assert "t1" not in wire.terminals
    assert "t0" in wire.terminals
    assert "t69" in wire.terminals
    wire.forget("s")
    assert wire.terminals.keys() <= {"t0"} | {f"t{n}" for n in range(1, 6)}


# ---- hunks


def test_hunks_are_those_of_the_patch() -> None:
    """The draft's table 5.1: numbers and content, with the header in it."""
    old = "".join(f"{n}\n" for n in range(40))
    new = old.replace("3\n", "three\n", 1).replace("\n30\n", "\nthirty", 1)
    (output,) = outputs_of(diff_of("/a b.txt", old, new))
    assert output.path == "/a b.txt"
    assert [(one.old_start, one.new_start) for one in output.hunks] == [(1, 1), (28, 28)]
    assert output.hunks[0].content.startswith("@@ -1,7 +1,7 @@\n 0\n")
    (added,) = outputs_of(diff_of("/n", None, "x"))
    assert added.hunks[0].content == "@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
    assert (added.hunks[0].old_lines, added.hunks[0].new_lines) == (0, 1)


def test_hunks_are_made_where_there_are_only_texts() -> None:
    """Early v2 has no patch."""
    texts = v2.Diff(changes=[], path="/a", old_text="x\n", new_text="y")
    (output,) = outputs_of(texts)
    assert output.hunks[0].content == "@@ -1 +1 @@\n-x\n+y\n\\ No newline at end of file\n"
    (fresh,) = outputs_of(v2.Diff(changes=[], path="/a", new_text="y\n"))
    assert fresh.hunks[0].new_lines == 1
    huge = v2.Diff(changes=[], path="/a", old_text="x\n" * 15_000, new_text="y\n" * 15_000)
    assert outputs_of(huge)[0].hunks == []


def test_changes_without_lines_have_no_hunks() -> None:
    """A move, a deletion of what is no text, a patch of several files."""
    (moved,) = outputs_of(move_of("/a", "/b"))
    assert (moved.path, moved.hunks) == ("/b", [])
    (deleted,) = outputs_of(deletion_of("/a", "x\n"))
    assert deleted.hunks[0].content.endswith("-x\n")
    assert outputs_of(v2.Diff(changes=[])) == []
    patch = (
        "diff --git a/x a/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n"
        "diff --git a/y a/y\n--- a/y\n+++ b/y\n@@ -5 +5 @@\n-3\n+4\n"
    )
    changes: list[Any] = [
        v2.DiffModify(path="/x"),
        v2.DiffModify(path="/y"),
        v2.DiffModify(path="/z"),
    ]
    both = v2.Diff(changes=changes, patch=v2.DiffPatch(format="git_patch", text=patch))
    first, second, third = outputs_of(both)
    assert (first.hunks[0].old_start, second.hunks[0].old_start, third.hunks) == (1, 5, [])

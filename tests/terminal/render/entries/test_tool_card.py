"""The card of a tool call: whatever is reported, a user sees what it is and where it stands."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accord.terminal.model.labels.stop_reasons_and_exit_codes import stop_words
from accord.terminal.model.questions import Question
from accord.terminal.render.block import Fold, OpenFile, OpenLink
from accord.terminal.render.conversation_colours import NONE
from accord.terminal.render.entries.tool_card import DETAILS, ToolCard
from tests.terminal.render.scene import FOLDER, Scene, a_look, check, text, text_of


def card(scene: Scene, at: int = -1) -> ToolCard:
    block = scene.block(at)
    assert isinstance(block, ToolCard)
    return block


def test_one_line_says_what_it_is_where_it_stands_and_how_long_it_took() -> None:
    """Issue 6: icon by kind, status, title, duration."""
    scene = Scene()
    scene.call(title="Read a.py", kind="read", status="in_progress")
    scene.now += 1.25
    assert scene.shown() == "◐ ≡ Read a.py  running · 1.2 s"
    assert card(scene).is_unsettled is False
    block = card(scene)
    block.render(a_look(), scene.chat)
    assert block.is_unsettled
    scene.call(status="completed")
    scene.now += 60
    assert scene.shown() == "✓ ≡ Read a.py  done · 1.2 s"
    assert scene.shown(unicode=False) == "+ r Read a.py  done - 1.2 s"


@pytest.mark.rule("V1-TOOL-12")
def test_the_name_of_the_tool_is_a_second_label() -> None:
    """v1: `name` may be shown beside the title."""
    scene = Scene()
    scene.call(title="Edit a.py", kind="edit", name="write_file")
    assert "Edit a.py  write_file  pending" in scene.shown()


@pytest.mark.rule("V1-TERM-08")
def test_output_stays_on_the_card_after_the_terminal_was_released() -> None:
    """v1: output that a tool call shows is kept when the terminal is released."""
    scene = Scene()
    transcript = scene.chat.transcript
    transcript.terminal_started("t", "make", FOLDER)
    scene.call(title="Build", kind="execute", content=[{"type": "terminal", "terminalId": "t"}])
    transcript.terminal_output("t", b"\x1b[32mcompiling\x1b[0m\n10%\r100%\n")
    block = card(scene)
    before = text_of(block.render(a_look(), scene.chat))
    assert "│ compiling\n  │ 100%" in before
    transcript.terminal_exited("t", 2)
    scene.call(status="failed")
    block.invalidate()
    after = text_of(block.render(a_look(), scene.chat))
    assert "│ compiling\n  │ 100%\n  │ exit code 2" in after
    # Even where nobody knows the terminal anymore.
    scene.chat.transcript._view.terminals_by_id.clear()
    block.invalidate()
    assert "│ compiling" in text_of(block.render(a_look(), scene.chat))


@pytest.mark.rule("V1-PROMPT-15")
@pytest.mark.parametrize("width", [60, 100])
def test_a_refusal_is_told_in_the_conversation(width: int) -> None:
    """v1: after `refusal` it is shown that the prompt and what follows left the context."""
    scene = Scene()
    scene.chat.remark(stop_words("refusal").text, "warning")
    assert "It removed your prompt" in " ".join(scene.shown(width=width).split())


def test_unknown_kinds_and_statuses_are_shown_with_their_own_words() -> None:
    """Issue 6: unknown kinds and statuses are shown generically, never dropped."""
    scene = Scene()
    scene.call(title="Go", kind="_teleport", status="_beaming")
    assert scene.shown() == "· • Go  _teleport  _beaming"


def test_unknown_content_is_shown_generically_and_whole_on_demand() -> None:
    """Issue 6: unknown content is never dropped."""
    scene = Scene()
    strange = {"type": "_hologram", "title": "A cube", "sides": [1, 2]}
    scene.call(title="Show", content=[strange, {"type": "content", "content": strange}])
    folded = scene.shown()
    assert folded.count("_hologram") == 2
    assert folded.count("A cube") == 2
    assert '"sides": [' in scene.unfolded()


def test_a_denied_call_says_no_once() -> None:
    """Issue 14: who said no, and not again what the tool answers to that; unfolding shows it."""
    scene = Scene()
    answer = {"type": "content", "content": {"type": "text", "text": "The user said no."}}
    scene.call("a", title="a", kind="edit", status="failed", content=[answer])
    scene.call("b", title="b", kind="edit", status="failed", rawOutput="rejected by the user")
    for call_id in ("a", "b"):
        scene.chat.deny(call_id, "you said no")
    assert scene.shown(0) == "⊘ ✎ a  denied: you said no"
    assert scene.shown(1) == "⊘ ✎ b  denied: you said no"
    assert "The user said no." in scene.unfolded(0)
    assert "rejected by the user" in scene.unfolded(1)
    scene.chat.deny("a", "one of your rules says no: edit src/** in this folder")
    assert scene.shown(0) == (
        "⊘ ✎ a  denied\n  one of your rules says no: edit src/** in this folder"
    )


def test_waiting_denied_and_cancelled_are_shown_apart() -> None:
    """Issue 6: waiting, denied and cancelled are shown apart."""
    scene = Scene()
    for call_id in ("w", "d", "c"):
        scene.call(call_id, title=call_id, kind="edit", status="pending")
    asked = scene.chat.transcript.tool_call("w")
    request: Any = type("Asked", (), {"tool_call": asked})
    scene.chat.questions._waiting.append(Question("permission", request, 0.0))
    scene.chat.deny("d", "A rule of yours says no.")
    denied = scene.chat.transcript.tool_call("c")
    assert denied is not None
    denied.cancelled = True
    assert scene.shown(0) == "? ✎ w  waiting for you"
    assert scene.shown(1) == "⊘ ✎ d  denied: A rule of yours says no."
    assert scene.shown(2) == "◌ ✎ c  cancelled"


def test_a_long_title_is_wrapped_and_its_state_stands_beneath() -> None:
    """Issue 6: narrow terminals still work."""
    scene = Scene()
    scene.call(title="cat " + "some/long/path " * 20, kind="execute", status="completed")
    lines = scene.shown(width=40).split("\n")
    assert len(lines) == 4
    assert lines[2].endswith("…")
    assert lines[3].strip() == "done"


def test_places_are_shown_and_open_where_the_title_does_not_say_them() -> None:
    """Issue 6: locations; open at line in the editor."""
    scene = Scene()
    places = [{"path": f"{FOLDER}/src/{name}.py", "line": 7} for name in "abc"]
    scene.call(title="Look", kind="read", locations=places)
    block = card(scene)
    assert text_of(block.render(a_look(), scene.chat)).split("\n")[1] == "  src/a.py:7 and 2 more"
    assert block.target_at(1) == OpenFile(f"{FOLDER}/src/a.py", 7)
    assert block.target_at(0) == Fold()
    assert block.file == OpenFile(f"{FOLDER}/src/a.py", 7)
    block.folded = False
    assert text_of(block.render(a_look(), scene.chat)).count(":7") == 3
    scene.call("n", title="Read src/a.py", kind="read", locations=[{"path": f"{FOLDER}/src/a.py"}])
    assert "\n" not in scene.shown()
    assert card(scene_with_nothing()).file is None


def scene_with_nothing() -> Scene:
    scene = Scene()
    scene.call(title="x")
    return scene


def test_long_text_is_folded_and_counted() -> None:
    """Issue 6: folded output."""
    scene = Scene()
    scene.call(
        title="Run", content=[text("```\n" + "\n".join(f"line {n}" for n in range(50)) + "\n```")]
    )
    folded = scene.shown()
    assert "line 5" in folded
    assert "line 6" not in folded
    assert "… 44 more lines" in folded
    assert "line 49" in scene.unfolded()


def test_neighbouring_texts_are_one_and_their_markdown_is_read() -> None:
    """v2: content comes in pieces."""
    scene = Scene(2)
    scene.call(title="Run")
    for said in ("**bold**", "and `code`"):
        scene.update(sessionUpdate="tool_call_content_chunk", toolCallId="c", content=text(said))
    assert scene.shown().split("\n")[1:] == ["  bold", "  and code"]


def test_text_that_is_not_meant_for_the_user_is_folded() -> None:
    """Issue 6: content whose audience leaves out the user is folded."""
    scene = Scene()
    scene.call(
        title="Run", content=[text("for the model", annotations={"audience": ["assistant"]})]
    )
    assert "for the model" not in scene.shown()
    assert "for the agent only" in scene.shown()
    assert "for the model" in scene.unfolded()


def test_raw_values_are_shown_on_demand() -> None:
    """Issue 6: raw input on demand."""
    scene = Scene()
    scene.call(title="Find", rawInput={"pattern": "TODO"}, content=[text("found")])
    block = card(scene)
    assert "TODO" not in text_of(block.render(a_look(), scene.chat))
    assert block.toggle(DETAILS)
    shown = text_of(block.render(a_look(), scene.chat))
    assert '"pattern": "TODO"' in shown
    assert "output: nothing" in shown
    assert '"pattern": "TODO"' in block.text()
    assert not block.toggle("no such part")
    assert block.toggle()
    assert block.folded is False


@pytest.mark.parametrize(
    ("output", "shown"),
    [("plain\ntext", "│ plain\n  │ text"), ({"a": [1]}, '│   "a": ['), (None, None), ({}, None)],
)
def test_a_result_is_shown_where_that_is_all_there_is(output: Any, shown: str | None) -> None:
    """Ours: some agents report nothing but `rawOutput`."""
    scene = Scene()
    scene.call(title="Do", status="completed", rawOutput=output)
    assert (shown in scene.shown()) if shown else ("\n" not in scene.shown())


def test_a_terminal_that_was_never_created_is_named() -> None:
    """v1: a terminal id may be embedded that nobody knows."""
    scene = Scene()
    scene.call(title="Run", content=[{"type": "terminal", "terminalId": "t\x1b[1m9"}])
    assert scene.shown().split("\n")[1] == "  terminal t9: no information"


def test_terminals_that_an_agent_tells_of_in_meta_are_shown() -> None:
    """claude-agent-acp: `_meta.terminal_info`, `terminal_output`, `terminal_exit`."""
    scene = Scene()
    told = {"terminal_info": {"terminal_id": "t", "cwd": "/srv"}}
    item = {"type": "terminal", "terminalId": "t"}
    scene.call(title="Run", rawInput={"command": "make"}, content=[item], _meta=told)
    scene.call(_meta={"terminal_output": {"terminal_id": "t", "data": "one\n"}})
    scene.call(_meta={"terminal_output": {"terminal_id": "t", "data": "two\n"}})
    call = next(at for at, entry in enumerate(scene.chat.entries) if hasattr(entry, "tool_call_id"))
    assert "  $ make\n  │ one\n  │ two" in scene.shown(call)
    assert "in /srv" in scene.unfolded(call)
    # The terminal stands on the card alone.
    assert [scene.shown(at) for at in range(len(scene.chat.entries)) if at != call] == [""]


def test_calls_of_sub_agents_are_marked() -> None:
    """Issue 6: sub-agents' updates are marked."""
    scene = Scene()
    scene.call(title="Look", kind="read", _meta={"claudeCode": {"parentToolUseId": "p"}})
    assert scene.shown().startswith("  ↳ ○ ≡ Look")


def test_many_parts_are_counted() -> None:
    """Ours: a card stays small."""
    scene = Scene()
    link = {
        "type": "content",
        "content": {"type": "resource_link", "uri": "https://x.example", "name": "x"},
    }
    scene.call(title="Find", content=[link] * 9)
    block = card(scene)
    assert "… 5 more parts" in text_of(block.render(a_look(), scene.chat))
    assert block.target_at(1) == OpenLink("https://x.example")


def test_a_card_concerns_its_terminals_and_is_cheap_to_ask() -> None:
    """Ours: output changes the card that shows it."""
    scene = Scene()
    scene.chat.transcript.terminal_started("t", "ls", FOLDER)
    scene.chat.transcript.terminal_started("u", "ls", FOLDER)
    scene.call(title="Run", content=[{"type": "terminal", "terminalId": "t"}])
    block, terminals = card(scene), scene.chat.transcript.terminals
    assert block.concerns(block.entry)
    assert [block.concerns(one) for one in terminals] == [True, False]
    assert block.render(a_look(), scene.chat) is block.render(a_look(), scene.chat)
    assert block.estimate(a_look()) == len(block.render(a_look(), scene.chat))
    block.forget()
    assert block.estimate(a_look()) > 1
    assert "Run" in block.text()


def test_the_draft_dialect_tells_how_long_it_took() -> None:
    """Draft: durations are in milliseconds."""
    scene = Scene()
    scene.chat.set_phase("ready")
    scene.call(title="Run", status="completed", _meta={"duration": 2500})
    assert scene.shown().endswith("done · 2.5 s")


@pytest.mark.parametrize("width", [20, 33, 60])
def test_narrow_cards_keep_their_width_without_colours(width: int) -> None:
    """Issue 6: narrow terminals still work; no colour."""
    scene = Scene()
    scene.call(
        title="漢字" * 30,
        name="a_long_name_of_a_tool",
        kind="_long_unknown_kind",
        status="failed",
        locations=[{"path": "/a/very/long/path/" + "x" * 50}],
        content=[
            {"type": "diff", "path": "/p/" + "y" * 60, "oldText": "a" * 90, "newText": "b" * 90},
            text("words " * 40),
        ],
        rawInput=json.loads('{"k": "' + "v" * 100 + '"}'),
    )
    block = card(scene)
    block.folded = False
    block.details = True
    strips = block.render(a_look(width, NONE), scene.chat)
    check(strips, width)
    assert all(one.style is None or one.style.color is None for strip in strips for one in strip)

"""Updates that this client does not know, and child sessions."""

from __future__ import annotations

import json

import pytest

from accord.schema.struct import Raw, UnknownVariant
from accord.terminal.render.block import Fold, OpenSession
from accord.terminal.render.content.non_text_blocks import unknown_line
from accord.terminal.render.entries.subagent import state_words, subagent_block
from accord.terminal.render.json_lines import json_lines, json_text, verbatim_lines
from accord.transcript import BackgroundItem, Subagent
from tests.terminal.render.scene import Scene, a_look, check, text_of


def test_an_unknown_update_is_named_and_unfolds_to_its_json() -> None:
    """Issue 6: unknown kinds are shown generically, never dropped."""
    scene = Scene()
    scene.update(sessionUpdate="_weather", title="Sunny\x1b[1m", sky=[1, {"a": None}])
    assert scene.shown() == "◦ _weather  unknown to this client  Sunny"
    assert '"sky": [' in scene.unfolded()
    block = scene.block()
    assert block.is_foldable
    assert (block.estimate(a_look()), block.target_at(0)) == (1, Fold())
    assert json.loads(block.text())["sky"] == [1, {"a": None}]
    assert block.toggle()
    assert block.estimate(a_look()) > 1


def test_an_unknown_thing_without_words_says_its_size() -> None:
    """Ours: there is always something to see."""
    variant = UnknownVariant("type", "", b"[1]")
    assert unknown_line(variant, a_look(unicode=False), "what").text == "o something  what  3 bytes"


def test_json_is_indented_or_shown_as_it_came() -> None:
    """Ours: bounded, whatever was sent."""
    assert json_text(Raw(b'{"a":"\\u00e9"}')) == '{\n  "a": "é"\n}'
    assert json_text(b"{broken") == "{broken"
    assert json_text(b"null") == "null"
    big = b'["' + b"x" * 300_000 + b'"]'
    assert len(json_text(big)) == 200_000
    strips = json_lines(big, a_look(), 10)
    check(strips, 80)
    assert len(strips) == 11
    assert "more line" in strips[-1].text
    assert text_of(verbatim_lines("a\nb\nc\n", a_look(), 2)) == "│ a\n│ b\n… 1 more line"


def test_a_sub_agent_says_who_it_is_and_what_it_does() -> None:
    """Issue 6: sub-agents are marked."""
    scene = Scene(2)
    scene.update(
        sessionUpdate="subagent_update",
        sessionId="kid",
        title="Look \x1b[1minto it",
        description="Finds out\nwhy",
        cwd="/srv",
        additionalDirectories=["/opt"],
    )
    block = scene.block()
    folded = scene.shown().split("\n")
    assert folded[0].startswith("↳ sub-agent Look into it  ")
    assert folded[1] == "  Finds out …"
    assert block.target_at(0) == OpenSession("kid")
    assert block.target_at(1) is None
    unfolded = scene.unfolded().split("\n")
    assert unfolded[1:] == ["  Finds out", "  why", "  session kid", "  in /srv", "  and /opt"]
    assert "kid" in block.text()
    assert scene.block().estimate(a_look()) == 2


@pytest.mark.parametrize(
    ("state", "stop_reason", "said"),
    [
        ("running", None, "running"),
        ("requires_action", None, "waiting for an answer"),
        ("idle", "end_turn", "idle"),
        ("idle", "_tired\x1b[1m", "idle: _tired"),
        ("_dreaming", None, "_dreaming"),
        (None, None, "state unknown"),
    ],
)
def test_what_a_sub_agent_does_in_words(
    state: str | None, stop_reason: str | None, said: str
) -> None:
    """Issue 6: unknown statuses and stop reasons are shown generically."""
    child = Subagent("kid")
    if state is not None:
        child.state.report(
            state, stop_reason=stop_reason, background=[BackgroundItem("terminal", "t")]
        )
    assert state_words(child) == said
    scene = Scene(2)
    block = subagent_block(child, scene.chat)
    block.folded = False
    shown = text_of(block.render(a_look(), scene.chat))
    assert ("1 task in the background" in shown) is (state is not None)
    assert shown.split("\n")[1] == "  session kid"

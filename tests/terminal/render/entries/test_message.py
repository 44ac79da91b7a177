"""What was said, as blocks: by the user, by the agent, and thoughts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.schema import v1
from accord.terminal.render.block import Fold, OpenFile, OpenLink
from accord.terminal.render.conversation_colours import NONE
from accord.terminal.render.entries.message import USER_LINES_MAX
from tests.terminal.render.scene import PALETTES, Scene, a_look, check, text_of


def said(scene: Scene, text: str, role: str = "agent_message", **more: object) -> None:
    content = {"type": "text", "text": text, **more}
    scene.update(sessionUpdate=f"{role}_chunk", content=content)


@pytest.mark.rule("V1-PROMPT-13")
def test_what_the_agent_says_is_markdown() -> None:
    """Rule: text blocks are rendered as Markdown."""
    scene = Scene()
    said(scene, "## A\n\n*b* `c`")
    assert scene.shown() == "A\n\nb c"


def test_what_we_said_is_shown_as_it_was_typed() -> None:
    """Nobody wants to see `__init__` in bold in what they typed."""
    scene = Scene()
    scene.chat.transcript.prompt_sent([v1.TextContent(text="see __init__\n* a\n* b")])
    scene.chat.set_phase("working")
    assert scene.shown() == "❯ see __init__\n│ * a\n│ * b"


def test_what_a_message_brings_along_can_be_looked_at() -> None:
    """Issue 6: embedded resources, links and content that is not known; nothing is dropped."""
    scene = Scene()
    resource = {"uri": "file:///home/me/project/a.py", "text": "x = 1\ny = 2\n"}
    link = {"type": "resource_link", "name": "n", "uri": "file:///n", "description": "About it"}
    for block in ({"type": "resource", "resource": resource}, link, {"type": "smell", "of": 7}):
        scene.update(sessionUpdate="agent_message_chunk", content=block)
    folded = scene.shown()
    assert "a.py" in folded
    assert "smell" in folded
    assert "x = 1" not in folded
    assert scene.block().is_foldable
    unfolded = scene.unfolded()
    for words in ("x = 1", "y = 2", "About it", '"of": 7'):
        assert words in unfolded


def test_a_link_in_a_message_opens_what_it_names() -> None:
    """Issue 6: resource links; addresses of the agent are only ever told."""
    scene = Scene()
    said(scene, "See:")
    for uri in ("file:///home/me/project/a.py", "https://example.org/x"):
        link = {"type": "resource_link", "name": "n", "uri": uri}
        scene.update(sessionUpdate="agent_message_chunk", content=link)
    block = scene.block()
    block.render(a_look(), scene.chat)
    assert block.target_at(0) is None
    assert block.target_at(2) == OpenFile("/home/me/project/a.py")
    assert block.target_at(4) == OpenLink("https://example.org/x")


def test_what_was_said_elsewhere_is_marked() -> None:
    """Required: own and others' messages are told apart, and history is nobody's."""
    scene = Scene()
    said(scene, "from the other window", "user_message")
    assert scene.shown() == "❯ from the other window\n│ sent from elsewhere"
    scene.chat.loaded()
    assert scene.shown() == "❯ from the other window"


def test_a_long_prompt_is_folded_and_unfolds_at_its_last_line() -> None:
    """A pasted file does not fill the screen."""
    scene = Scene()
    scene.chat.transcript.prompt_sent([v1.TextContent(text="\n".join(map(str, range(40))))])
    scene.chat.set_phase("working")
    block = scene.block()
    lines = block.render(a_look(), scene.chat)
    assert len(lines) == USER_LINES_MAX + 1
    assert lines[-1].text.endswith("26 more lines")
    assert block.is_foldable
    assert block.target_at(USER_LINES_MAX) == Fold()
    assert block.target_at(0) is None
    assert block.toggle()
    assert len(block.render(a_look(), scene.chat)) == 40


def test_a_thought_is_one_line_until_it_is_unfolded() -> None:
    """Required: thoughts are folded."""
    scene = Scene()
    said(scene, "**Looking** at it\n\nand more", "agent_thought")
    assert scene.shown() == "▸ Thinking: Looking at it and more"
    assert scene.unfolded() == "▾ Thinking\n│ Looking at it\n│\n│ and more"
    said(scene, "Done.")
    assert scene.shown(0) == "▸ Thought: Looking at it and more"


def test_a_thought_settles_when_the_turn_is_over() -> None:
    """What depends on the turn is rendered again when that ends."""
    scene = Scene()
    said(scene, "hm", "agent_thought")
    block = scene.block()
    block.render(a_look(), scene.chat)
    assert block.is_unsettled
    scene.chat.set_phase("ready")
    block.invalidate()
    assert text_of(block.render(a_look(), scene.chat)) == "▸ Thought: hm"
    assert not block.is_unsettled


def test_what_is_not_meant_for_the_user_is_folded_not_dropped() -> None:
    """Required: content whose audience leaves out the user is folded."""
    scene = Scene()
    said(scene, "for you")
    said(scene, "for the model", annotations={"audience": ["assistant"]})
    said(scene, "for both", annotations={"audience": ["assistant", "user"]})
    assert scene.shown() == "for you\n\n▸ text, 13 characters; for the agent only\n\nfor both"
    assert scene.block().is_foldable
    assert "for the model" in scene.unfolded()


def test_a_picture_between_words_is_shown_at_its_place() -> None:
    """Required: content other than text is shown."""
    scene = Scene()
    said(scene, "before")
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    scene.update(sessionUpdate="agent_message_chunk", content=image)
    said(scene, "after")
    first, *middle, last = scene.shown().split("\n")
    assert (first, last) == ("before", "after")
    assert "png" in "".join(middle).lower()


def test_pieces_with_metadata_of_their_own_are_one_text() -> None:
    """Agents that put `_meta` on every piece do not break their words."""
    scene = Scene()
    for piece in ("one ", "**two", "** three"):
        said(scene, piece, _meta={"n": 1})
    assert scene.shown() == "one two three"


def test_rendering_again_gives_the_same_strips() -> None:
    """The promise of a block."""
    scene = Scene()
    said(scene, "one\n\ntwo\n\nthree\n\nfour")
    block, look = scene.block(), a_look()
    before = block.render(look, scene.chat)
    assert block.render(look, scene.chat) is before
    said(scene, " and more")
    block.invalidate()
    after = block.render(look, scene.chat)
    assert [one is two for one, two in zip(before, after, strict=True)][:3] == [True] * 3
    block.forget()
    assert text_of(block.render(look, scene.chat)) == text_of(after)


def test_ascii_marks_where_nothing_else_can_be_shown() -> None:
    """Required: dumb terminals."""
    scene = Scene()
    said(scene, "hm " * 60, "agent_thought")
    shown = scene.shown(width=30, palette=NONE, unicode=False)
    assert shown.isascii()


@given(st.text(min_size=1), st.integers(4, 60), st.sampled_from(PALETTES), st.booleans())
def test_no_text_breaks_a_message(text: str, width: int, palette: object, folded: bool) -> None:
    """Required: nothing an agent or a user says commands the terminal or is too wide."""
    for role in ("agent_message", "agent_thought", "user_message"):
        scene = Scene()
        said(scene, text, role)
        block = scene.block()
        block.folded = folded
        assert block.estimate(a_look(width)) >= 0
        check(block.render(a_look(width, palette), scene.chat), width)  # type: ignore[arg-type]


def test_the_beginning_of_a_very_long_text_is_folded() -> None:
    """Required: no text makes the client slow; nothing is dropped."""
    scene = Scene()
    said(scene, "".join(f"paragraph {number}\n\n" for number in range(20_000)))
    block = scene.block()
    first, blank, second, *_ = text_of(block.render(a_look(), scene.chat)).split("\n")
    assert first.endswith("characters above")
    assert (blank, second[:10]) == ("", "paragraph ")
    assert block.is_foldable
    assert block.target_at(0) == Fold()
    assert block.target_at(2) is None

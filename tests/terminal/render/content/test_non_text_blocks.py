"""Blocks of content, of all versions and of none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accord.schema import draft, v1
from accord.schema.codec import decode
from accord.schema.struct import UnknownVariant
from accord.terminal.render.block import OpenFile, OpenLink
from accord.terminal.render.content.non_text_blocks import (
    content_lines,
    content_target,
    is_for_user,
    is_text,
)
from tests.terminal.render.scene import FOLDER, a_look, check, png, text_of


def block(**members: Any) -> Any:
    params = {"type": "content", "content": members}
    update = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "", "content": [params]}
    raw = json.dumps({"sessionId": "s", "update": update}).encode()
    told: Any = decode(v1.SessionNotification, raw).update
    return told.content[0].content


def shown(one: object, unfolded: bool = False) -> str:
    strips = content_lines(one, a_look(), folder=FOLDER, unfolded=unfolded)
    check(strips, 80)
    return text_of(strips)


def test_links_show_where_they_lead() -> None:
    """Issue 6: resource links."""
    link = block(
        type="resource_link",
        uri="https://x.example/\x1b[1ma",
        name="a",
        title="The page",
        description="More\nwords",
        size=12_345,
        mimeType="text/html",
    )
    assert shown(link) == "↗ The page  https://x.example/a  text/html  12 kB"
    assert shown(link, unfolded=True).split("\n")[1:] == ["  More", "  words"]
    assert content_target(link) == OpenLink("https://x.example/a")
    local = block(type="resource_link", uri=f"file://{FOLDER}/a%20b.py", name="a b.py")
    assert shown(local) == "↗ a b.py"
    assert content_target(local) == OpenFile(f"{FOLDER}/a b.py")


def test_embedded_resources_are_named_and_unfold() -> None:
    """Issue 6: audio and binary resources are shown with type and size."""
    text = block(
        type="resource",
        resource={
            "uri": f"file://{FOLDER}/a.py",
            "text": "x = 1\ny = 2\n",
            "mimeType": "text/x-python",
        },
    )
    assert shown(text) == "▤ a.py  text/x-python  2 lines"
    assert shown(text, unfolded=True).split("\n")[1:] == ["  │ x = 1", "  │ y = 2"]
    assert content_target(text) == OpenFile(f"{FOLDER}/a.py")
    blob = block(type="resource", resource={"uri": "x:y", "blob": "AAAA"})
    assert shown(blob) == "▤ x:y  3 bytes"
    picture = v1.EmbeddedResource(
        resource=v1.EmbeddedResourceResource(uri="x:p", blob=png(8, 4), mime_type="image/png")
    )
    assert shown(picture).startswith("▣ image/png  8×4")


def test_pictures_and_sounds() -> None:
    """Issue 6: images as a placeholder with size; audio with type and size."""
    image = v1.ImageContent(data=png(8, 4), mime_type="image/png", uri=f"file://{FOLDER}/p.png")
    assert shown(image).endswith("p.png")
    audio = block(type="audio", data="AAAA", mimeType="audio/\x07wav")
    assert shown(audio) == "♪ audio/⟨U+0007⟩wav  3 bytes"
    assert content_target(audio) is None


def test_the_draft_dialect_has_forms_of_its_own() -> None:
    """Draft: sources, and resources with their content beside."""
    source = draft.MediaSource(type="url", media_type="image/png", url="https://x.example/p.png")
    image = draft.ImageContent(source=source)
    assert shown(image) == "▣ image/png  0 bytes  https://x.example/p.png"
    assert content_target(image) == OpenLink("https://x.example/p.png")
    resource = draft.EmbeddedResource(uri="file:///w/a.txt", content="one\ntwo")
    assert shown(resource) == "▤ /w/a.txt  2 lines"


@pytest.mark.parametrize(
    ("audience", "is_meant"),
    [(None, True), ([], True), (["user"], True), (["assistant"], False), (["user", "x"], True)],
)
def test_whom_a_block_is_for(audience: list[str] | None, is_meant: bool) -> None:
    """Issue 6: content whose audience leaves out the user is folded."""
    annotations = {} if audience is None else {"annotations": {"audience": audience}}
    text = block(type="text", text="said", **annotations)
    assert is_for_user(text) is is_meant
    assert is_text(text)
    assert ("said" in shown(text)) is is_meant
    assert "said" in shown(text, unfolded=True)


def test_what_is_folded_says_what_it_is() -> None:
    """Ours: one can decide whether to look."""
    for_agent = {"audience": ["assistant"]}
    image = block(type="image", data="", mimeType="image/png", annotations=for_agent)
    link = block(type="resource_link", uri="x:y", name="y", annotations=for_agent)
    assert shown(image) == "▸ image; for the agent only"
    assert shown(link) == "▸ a link; for the agent only"


def test_blocks_that_nobody_knows_are_shown() -> None:
    """Issue 6: unknown content is shown generically, never dropped."""
    unknown = block(type="_smell", name="roses")
    assert isinstance(unknown, UnknownVariant)
    assert shown(unknown) == "◦ _smell  content unknown to this client  roses"
    assert '"name": "roses"' in shown(unknown, unfolded=True)
    assert shown(object()).startswith("◦ <object")

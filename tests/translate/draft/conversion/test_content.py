"""Content blocks and attachments of the draft in v1's form, and back."""

from typing import Any

import pytest
from hypothesis import given, settings

from accord.schema import draft, v1
from accord.schema.codec import decode, encode, to_python
from accord.translate.draft.conversion.content import (
    attachment_from_draft,
    attachment_of,
    block_from_draft,
    block_to_draft,
    placeholder,
    within,
)
from accord.translate.draft.conversion.paths import is_absolute, is_inside, last_part, resolved
from accord.translate.meta_store import DRAFT
from tests.schema.draft.strategies import values
from tests.translate.draft.generated_messages import OFFICIAL


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(one) for key, one in value.items() if one is not None}
    return value


def _kept(**kept: Any) -> Any:
    return {"_meta": {DRAFT: kept}}


BASE64 = {"type": "base64", "mediaType": "image/png", "data": "AAAA"}
ROWS: list[tuple[Any, Any]] = [
    ({"type": "text", "text": "a"}, {"type": "text", "text": "a"}),
    (
        {"type": "text", "text": "a", "_meta": {"x": 1}},
        {"type": "text", "text": "a", "_meta": {"x": 1}},
    ),
    (
        {"type": "image", "source": BASE64},
        {"type": "image", "mimeType": "image/png", "data": "AAAA"},
    ),
    (
        {"type": "image", "source": {**BASE64, "url": "https://x/a.png"}},
        {"type": "image", "mimeType": "image/png", "data": "AAAA", **_kept(url="https://x/a.png")},
    ),
    (
        {"type": "audio", "source": {**BASE64, "mediaType": "audio/wav"}},
        {"type": "audio", "mimeType": "audio/wav", "data": "AAAA"},
    ),
    (
        {
            "type": "image",
            "source": {"type": "url", "mediaType": "image/png", "url": "https://x/a.png"},
        },
        {
            "type": "resource_link",
            "uri": "https://x/a.png",
            "mimeType": "image/png",
            "name": "a.png",
            **_kept(block="image"),
        },
    ),
    (
        {
            "type": "audio",
            "source": {"type": "url", "mediaType": "audio/wav", "url": "https://x/a"},
        },
        {
            "type": "resource_link",
            "uri": "https://x/a",
            "mimeType": "audio/wav",
            "name": "a",
            **_kept(block="audio"),
        },
    ),
    (
        {"type": "resource_link", "uri": "file:///b/a.txt"},
        {"type": "resource_link", "uri": "file:///b/a.txt", "name": "a.txt"},
    ),
    (
        {"type": "resource_link", "uri": "u", "title": "T", "mimeType": "text/plain"},
        {"type": "resource_link", "uri": "u", "title": "T", "mimeType": "text/plain", "name": "T"},
    ),
    (
        {"type": "resource", "uri": "u", "content": "c"},
        {"type": "resource", "resource": {"uri": "u", "text": "c"}},
    ),
    (
        {"type": "resource", "uri": "u", "content": "c", "mimeType": "m", "title": "T"},
        {
            "type": "resource",
            "resource": {"uri": "u", "mimeType": "m", "text": "c"},
            **_kept(title="T"),
        },
    ),
]


@pytest.mark.parametrize(("block", "official"), ROWS)
def test_blocks_of_the_draft_in_v1_and_back(block: Any, official: Any) -> None:
    """The draft's table 6."""
    assert block_from_draft(dict(block)) == official
    assert block_to_draft(dict(official)) == block


OFFICIAL_ROWS: list[tuple[Any, Any]] = [
    (
        {"type": "text", "text": "a", "annotations": {"priority": 1.0}},
        {"type": "text", "text": "a", **_kept(annotations={"priority": 1.0})},
    ),
    (
        {"type": "image", "mimeType": "i", "data": "", "uri": "u", "annotations": {}},
        {
            "type": "image",
            "source": {"type": "base64", "mediaType": "i", "data": ""},
            **_kept(uri="u", annotations={}),
        },
    ),
    (
        {"type": "resource_link", "uri": "u", "name": "n", "size": 3, "description": "d"},
        {"type": "resource_link", "uri": "u", **_kept(name="n", size=3, description="d")},
    ),
    (
        {"type": "resource", "resource": {"uri": "u", "blob": "AAAA"}, "annotations": {}},
        {
            "type": "resource",
            "uri": "u",
            "content": "AAAA",
            **_kept(encoding="base64", annotations={}),
        },
    ),
    (
        {"type": "resource", "resource": {"uri": "u", "text": "t", "_meta": {"x": 1}}},
        {"type": "resource", "uri": "u", "content": "t", **_kept(resource={"_meta": {"x": 1}})},
    ),
    (
        {"type": "hologram", "x": 1},
        {"type": "text", "text": "[hologram]", **_kept(block={"type": "hologram", "x": 1})},
    ),
]


@pytest.mark.parametrize(("official", "block"), OFFICIAL_ROWS)
def test_blocks_of_v1_in_the_draft(official: Any, block: Any) -> None:
    """The draft's table 6: what has no field is kept."""
    assert block_to_draft(dict(official)) == block
    if official["type"] != "hologram":
        assert block_from_draft(dict(block)) == official


def test_a_block_of_the_draft_that_nobody_knows_is_text() -> None:
    """Ours: v1 is sent nothing that it does not know."""
    made = block_from_draft({"type": "hologram", "x": 1})
    assert made == {
        "type": "text",
        "text": "[hologram]",
        **_kept(block={"type": "hologram", "x": 1}),
    }
    known = {"type": "image", "source": BASE64}
    assert block_to_draft({"type": "text", "text": "x", **_kept(block=known)}) == known


def test_a_block_that_was_kept_comes_back_if_it_is_one() -> None:
    """The draft's table 5."""
    image = {"type": "image", "mimeType": "i", "data": ""}
    assert block_from_draft({"type": "text", "text": "x", **_kept(block=image)}) == image
    odd = {"type": "text", "text": "x", **_kept(block={"type": "image"})}
    assert block_from_draft(dict(odd)) == odd


def test_content_that_is_no_base64_is_text() -> None:
    """Issue 5: the other side is never sent something invalid."""
    made = block_from_draft(
        {"type": "resource", "uri": "u", "content": "ü", **_kept(encoding="base64")}
    )
    assert made["resource"] == {"uri": "u", "text": "ü"}


def test_nulls_of_v1_are_left_out() -> None:
    """The draft has no null there."""
    link = {"type": "resource_link", "uri": "u", "name": "u", "title": None, "mimeType": None}
    assert block_to_draft(link) == {"type": "resource_link", "uri": "u"}
    media = {"type": "resource_link", "uri": "u", "name": "other", **_kept(block="image")}
    source = {"type": "url", "mediaType": "", "url": "u"}
    assert block_to_draft(media) == {"type": "image", "source": source, **_kept(name="other")}


@settings(max_examples=30)
@given(values(draft.ContentBlock))
def test_every_block_of_the_draft_is_valid_in_v1_and_comes_back(block: Any) -> None:
    """Issue 5."""
    given_block = to_python(encode(block))
    made = block_from_draft(to_python(encode(block)))
    decode(v1.ContentBlock, encode(made), strict=True)  # type: ignore[arg-type]
    back = block_to_draft(made)
    decode(draft.ContentBlock, encode(back), strict=True)  # type: ignore[arg-type]
    if isinstance(block, draft.ResourceLink | draft.TextContent | draft.EmbeddedResource):
        assert {**back, "_meta": 0} == {**given_block, "_meta": 0}


@settings(max_examples=30)
@given(OFFICIAL.definition("ContentBlock"))
def test_every_block_of_v1_is_valid_in_the_draft(block: Any) -> None:
    """Issue 5."""
    made = block_to_draft(dict(block))
    decode(draft.ContentBlock, encode(made), strict=True)  # type: ignore[arg-type]
    back = block_from_draft(made)
    if block.get("type") in ("text", "image", "audio", "resource") and "_meta" not in block:
        assert _without_nulls(back) == _without_nulls(block)


# ---- attachments


@pytest.mark.parametrize(
    ("attachment", "block"),
    [
        (
            {"path": "a b.txt"},
            {"type": "resource_link", "uri": "file:///srv/a%20b.txt", "name": "a b.txt"},
        ),
        (
            {"path": "C:\\a.txt"},
            {"type": "resource_link", "uri": "file:///C%3A/a.txt", "name": "a.txt"},
        ),
        (
            {"uri": "u", "name": "N", "mimeType": "m"},
            {"type": "resource_link", "uri": "u", "name": "N", "mimeType": "m"},
        ),
        ({"uri": "u", "content": "c"}, {"type": "resource", "resource": {"uri": "u", "text": "c"}}),
    ],
)
def test_attachments_are_more_blocks_and_come_back(attachment: Any, block: Any) -> None:
    """The draft's table 3.5."""
    made = attachment_from_draft(attachment, "/srv")
    assert {**made, "_meta": 0} == {**block, "_meta": 0}
    assert attachment_of(made, "/srv") == attachment


def test_an_attachment_that_says_something_else_than_its_block_is_not_believed() -> None:
    """contradiction 46: no path comes out of `_meta`."""
    made = attachment_from_draft({"path": "/a"}, "/srv")
    forged = {**made, **_kept(attachment={"path": "/etc/shadow"})}
    assert attachment_of(forged, "/srv") is None
    assert attachment_of({**made, **_kept(attachment={})}, "/srv") is None


# ---- what stands for others


def test_a_picture_with_an_address_is_a_link_to_it() -> None:
    """The draft's table 6."""
    image = {"type": "image", "mimeType": "i", "data": "", "uri": "u"}
    assert within(image, {})["uri"] == "u"
    assert within(image, {"image": True}) == image


def test_words_for_blocks() -> None:
    """The draft's table 5."""
    assert placeholder({"type": "resource"}) == "[resource]"
    assert last_part("http://[bad") == "[bad"
    assert last_part("") == "resource"


def test_paths_as_text() -> None:
    """The draft's table 10: relative paths count from the working directory."""
    assert is_absolute("/a")
    assert is_absolute("C:\\a")
    assert not is_absolute("C:")
    assert resolved("./a", "/srv/") == "/srv/a"
    assert resolved("a", "C:\\x") == "C:\\x\\a"
    assert is_inside("/srv/a", "/srv")
    assert not is_inside("/srv-2", "/srv")

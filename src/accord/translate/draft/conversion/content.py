"""Content blocks and attachments of the draft in v1's form, and back.

The draft keeps the bytes of pictures and sounds in a `source`, may only name their address, and
puts the text of a resource on the block itself.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final

from accord.schema import draft, v1
from accord.translate.draft.conversion.meta_restore import (
    fits,
    fits_openly,
    keep_all,
    restore,
    tags,
    taken,
    without_nulls,
)
from accord.translate.draft.conversion.paths import file_uri, last_part, resolved
from accord.translate.message import Json
from accord.translate.meta_store import DRAFT, kept

_TAGS: Final = tags(v1.ContentBlock)
_INNER: Final = ("uri", "mimeType", "text", "blob")
_MEDIA: Final = ("image", "audio")
# The types of block that the draft has.
BLOCK_TYPES: Final = tags(draft.ContentBlock)
_LINK_EXTRAS: Final = ("name", "description", "size", "annotations")


def placeholder(block: Json) -> str:
    """Make a text that replaces a block without a counterpart."""
    kind = block.get("type")
    if kind == "resource":
        resource = block.get("resource")
        if isinstance(resource, dict):
            text = resource.get("text")
            return text if isinstance(text, str) else f"[resource {resource.get('uri')}]"
    if kind == "resource_link":
        return f"[{block.get('title') or block.get('name')}]({block.get('uri')})"
    return f"[{kind} {block.get('mimeType')}]" if kind in _MEDIA else f"[{kind}]"


def is_block(value: Any) -> bool:
    """Whether a value is a block of v1; unknown types count."""
    return fits_openly(v1.ContentBlock, value, "type", _TAGS)


# ---- from the draft


def block_from_draft(block: Json) -> Json:
    """Convert a block of the draft to v1."""
    kind = block["type"]
    if kind == "text":
        return _text_from_draft(block)
    if kind in _MEDIA:
        return _media_from_draft(block)
    if kind == "resource_link":
        return _link_from_draft(block)
    if kind == "resource":
        return _resource_from_draft(block)
    made: Json = {"type": "text", "text": placeholder(block)}
    keep_all(made, {"block": block})
    return made


def _text_from_draft(block: Json) -> Json:
    if "_meta" not in block:
        return block
    plain = dict(block)
    had = taken(plain)
    whole: Any = had.get("block")
    if is_block(whole):
        return dict(whole)
    made = restore(plain, had, ("annotations",), v1.TextContent)
    keep_all(made, had)
    return made


def _media_from_draft(block: Json) -> Json:
    made = {name: value for name, value in block.items() if name != "source"}
    had = taken(made)
    source = block["source"]
    data, url, media_type = source.get("data"), source.get("url"), source["mediaType"]
    if data is None:
        link = {**made, "type": "resource_link", "uri": url, "mimeType": media_type}
        link["name"] = last_part(url)
        link = restore(link, had, _LINK_EXTRAS, v1.ResourceLink)
        keep_all(link, {**had, "block": block["type"]})
        return link
    made["mimeType"], made["data"] = media_type, data
    wanted = v1.ImageContent if block["type"] == "image" else v1.AudioContent
    names = ("annotations", "uri") if block["type"] == "image" else ("annotations",)
    made = restore(made, had, names, wanted)
    keep_all(made, had if url is None else {**had, "url": url})
    return made


def _link_from_draft(block: Json) -> Json:
    made = dict(block)
    had = taken(made)
    made["name"] = made.get("title") or last_part(made["uri"])
    made = restore(made, had, _LINK_EXTRAS, v1.ResourceLink)
    keep_all(made, had)
    return made


def _resource_from_draft(block: Json) -> Json:
    made = {
        name: value
        for name, value in block.items()
        if name not in ("uri", "mimeType", "title", "content")
    }
    had = taken(made)
    inner: Json = {"uri": block["uri"]}
    if "mimeType" in block:
        inner["mimeType"] = block["mimeType"]
    if had.get("encoding") == "base64" and _is_base64(block["content"]):
        inner["blob"] = block["content"]
        del had["encoding"]
    else:
        inner["text"] = block["content"]
    rest = had.get("resource")
    if isinstance(rest, dict) and fits(v1.EmbeddedResourceResource, {**rest, **inner}):
        inner = {**had.pop("resource"), **inner}
    made["resource"] = inner
    made = restore(made, had, ("annotations",), v1.EmbeddedResource)
    keep_all(made, {**had, "title": block["title"]} if "title" in block else had)
    return made


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def attachment_from_draft(attachment: Json, folder: str) -> Json:
    """Convert an attachment to a block of a prompt."""
    path = attachment.get("path")
    uri = attachment.get("uri") or file_uri(resolved(path or "", folder))
    mime_type = attachment.get("mimeType")
    named = {"mimeType": mime_type} if mime_type is not None else {}
    if "content" in attachment:
        made: Json = {
            "type": "resource",
            "resource": {"uri": uri, **named, "text": attachment["content"]},
        }
    else:
        name = attachment.get("name") or last_part(uri)
        made = {"type": "resource_link", "uri": uri, "name": name, **named}
    keep_all(made, {"attachment": attachment})
    return made


def within(block: Json, allowed: Json) -> Json:
    """Return the block, or its replacement if the agent's prompt capabilities exclude it."""
    kind = block["type"]
    if kind in _MEDIA and not allowed.get(kind):
        uri = block.get("uri") or f"data:{block['mimeType']};base64,{block['data']}"
        link: Json = {"type": "resource_link", "uri": uri, "name": kind}
        link["mimeType"] = block["mimeType"]
        if "_meta" in block:
            link["_meta"] = block["_meta"]
        keep_all(link, {"block": kind})
        return link
    if kind == "resource" and not allowed.get("embeddedContext"):
        made: Json = {"type": "text", "text": placeholder(block)}
        if "_meta" in block:
            made["_meta"] = block["_meta"]
        return made
    return block


# ---- to the draft


def block_to_draft(block: Json) -> Json:
    """Convert a block of v1 to the draft."""
    kind = block["type"]
    if kind == "text":
        return _text_to_draft(block)
    if kind in _MEDIA:
        return _media_to_draft(block)
    if kind == "resource_link":
        return _link_to_draft(block)
    if kind == "resource":
        return _resource_to_draft(block)
    return _stand_in(block)


def _stand_in(block: Json) -> Json:
    made: Json = {"type": "text", "text": placeholder(block)}
    keep_all(made, {"block": block})
    return made


def _text_to_draft(block: Json) -> Json:
    if len(block) == 2:
        return block
    made = dict(block)
    whole = kept(made, DRAFT).get("block")
    if isinstance(whole, dict) and fits(draft.ContentBlock, whole):
        return whole
    _keep_annotations(made)
    return made


def _keep_annotations(made: Json) -> None:
    if "annotations" in made:
        keep_all(made, {"annotations": made.pop("annotations")})


def _media_to_draft(block: Json) -> Json:
    made = {name: value for name, value in block.items() if name not in ("mimeType", "data", "uri")}
    had = taken(made)
    source: Json = {"type": "base64", "mediaType": block["mimeType"], "data": block["data"]}
    source = restore(source, had, ("url",), draft.MediaSource)
    made["source"] = source
    if "uri" in block:
        had["uri"] = block["uri"]
    keep_all(made, had)
    _keep_annotations(made)
    return made


def _link_to_draft(block: Json) -> Json:
    made = dict(block)
    had = taken(made)
    if had.get("block") in _MEDIA:
        kind = had.pop("block")
        source = {"type": "url", "mediaType": made.pop("mimeType", None) or "", "url": made["uri"]}
        uri = made.pop("uri")
        if made.get("name") == last_part(uri):
            del made["name"]
        made.update(type=kind, source=source)
    else:
        without_nulls(made, ("mimeType", "title"))
        if made["name"] == (made.get("title") or last_part(made["uri"])):
            del made["name"]
    for name in _LINK_EXTRAS:
        if name in made:
            had[name] = made.pop(name)
    keep_all(made, had)
    return made


def _resource_to_draft(block: Json) -> Json:
    inner = block["resource"]
    made = {name: value for name, value in block.items() if name != "resource"}
    had = taken(made)
    made["uri"] = inner["uri"]
    if inner.get("mimeType") is not None:
        made["mimeType"] = inner["mimeType"]
    if "text" in inner:
        made["content"] = inner["text"]
    else:
        made["content"] = inner["blob"]
        had["encoding"] = "base64"
    rest = {name: value for name, value in inner.items() if name not in _INNER}
    if rest:
        had["resource"] = rest
    made = restore(made, had, ("title",), draft.EmbeddedResource)
    keep_all(made, had)
    _keep_annotations(made)
    return made


def attachment_of(block: Json, folder: str) -> Json | None:
    """Return the attachment that this block was made from, if it has the same content."""
    attachment: Any = kept(block, DRAFT).get("attachment")
    if not isinstance(attachment, dict) or not fits(draft.Attachment, attachment):
        return None
    return attachment if attachment_from_draft(attachment, folder) == block else None

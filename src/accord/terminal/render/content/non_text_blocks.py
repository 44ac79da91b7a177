"""Render content blocks: images, audio, links, embedded resources and unknown ones.

Used for messages and tool calls.  This module does not know the protocol version.

Invariant: every block has at least one line, whatever its kind; one that is not meant for the user
is folded, not dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from textual.strip import Strip

from accord.machine.console.control_characters import visible
from accord.schema.struct import UnknownVariant
from accord.terminal.model.labels.amounts_and_durations import counted, size_words
from accord.terminal.model.text.display_text import one_line, path_words
from accord.terminal.render.block import OpenFile, OpenLink, Target
from accord.terminal.render.content.image_lines import image_lines
from accord.terminal.render.json_lines import json_lines, verbatim_lines
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import Run, shortened, strip_of, wrapped
from accord.transcript.unknown_variants import fields_of

# Fields that probably contain text for a user, in this order.
_WORDS = ("title", "text", "message", "name", "description", "content")

TEXT_CHARACTERS_MAX = 100_000


def is_for_user(block: object) -> bool:
    """Whether the block's audience includes the user; without an audience it does."""
    audience = getattr(getattr(block, "annotations", None), "audience", None)
    return not isinstance(audience, list) or not audience or "user" in audience


def is_text(block: object) -> bool:
    """Whether a block is text, shown as Markdown."""
    return isinstance(getattr(block, "text", None), str)


def content_lines(
    block: object, look: Look, *, folder: str = "", unfolded: bool = False
) -> list[Strip]:
    """Render a block; `unfolded` shows all of it, even if it is not meant for the user."""
    if not is_for_user(block) and not unfolded:
        mark = look.mark("▸", ">")
        said = f"{mark} {_described(block)}; for the agent only"
        return [strip_of(*shortened([(said, look.palette.dim)], look.width))]
    show = _SHOWN.get(type(block).__name__, _other)
    return show(block, look, folder, unfolded)


def content_target(block: object) -> Target | None:
    """The target of the first line of a block."""
    resource = getattr(block, "resource", block)
    uri = _word(resource, "uri") or _word(getattr(block, "source", None), "url")
    if not uri:
        return None
    path = _path_of(uri)
    return OpenFile(path) if path else OpenLink(one_line(uri))


def _word(value: object, name: str) -> str:
    found = getattr(value, name, None)
    return found if isinstance(found, str) else ""


def _bytes(value: object, name: str) -> bytes:
    found = getattr(value, name, None)
    return found if isinstance(found, bytes) else b""


def _path_of(uri: str) -> str | None:
    return unquote(uri.removeprefix("file://")) if uri.startswith("file:///") else None


def _described(block: object) -> str:
    if is_text(block):
        return f"text, {counted(len(_word(block, 'text')), 'character')}"
    kind = type(block).__name__.removesuffix("Content")
    words = {"ResourceLink": "a link", "EmbeddedResource": "a resource"}
    return words.get(kind, kind.lower() if kind in ("Image", "Audio") else "something")


# ---- by kind

_Show = Callable[[Any, Look, str, bool], list[Strip]]


def _text(block: Any, look: Look, folder: str, unfolded: bool) -> list[Strip]:
    del folder, unfolded
    clean = visible(block.text[:TEXT_CHARACTERS_MAX])
    return [strip_of((line, look.palette.text)) for line in wrapped(clean, look.width)]


def _image(block: Any, look: Look, folder: str, unfolded: bool) -> list[Strip]:
    del unfolded
    source = getattr(block, "source", block)
    uri = _word(source, "url") or _word(block, "uri")
    name = path_words(_path_of(uri) or uri, folder)
    return image_lines(_bytes(source, "data"), _media_type(source), look, name)


def _audio(block: Any, look: Look, folder: str, unfolded: bool) -> list[Strip]:
    del folder, unfolded
    source = getattr(block, "source", block)
    size = size_words(len(_bytes(source, "data")))
    return [_about(look, "♪", "~", _media_type(source) or "audio", [size, _word(source, "url")])]


def _media_type(value: object) -> str:
    return _word(value, "mime_type") or _word(value, "media_type")


def _link(block: Any, look: Look, folder: str, unfolded: bool) -> list[Strip]:
    uri = _word(block, "uri")
    path = _path_of(uri)
    place = path_words(path, folder) if path else one_line(uri)
    name = one_line(_word(block, "title") or _word(block, "name")) or place
    size = getattr(block, "size", None)
    facts = [
        place if place != name else "",
        _media_type(block),
        size_words(size) if isinstance(size, int) else "",
    ]
    found = [_about(look, "↗", "@", name, facts, is_link=True)]
    description = _word(block, "description")
    if description and unfolded:
        lines = wrapped(visible(description), max(look.width - 2, 4))
        found += [strip_of((f"  {line}", look.palette.dim)) for line in lines]
    return found


def _resource(block: Any, look: Look, folder: str, unfolded: bool) -> list[Strip]:
    resource = getattr(block, "resource", block)
    uri = _word(resource, "uri")
    path = _path_of(uri)
    name = path_words(path, folder) if path else one_line(uri)
    text = getattr(resource, "text", None)
    if not isinstance(text, str):
        text = _word(block, "content") or None
    media_type = _media_type(resource)
    if text is None:
        blob = _bytes(resource, "blob")
        if media_type.startswith("image/"):
            return image_lines(blob, media_type, look, name)
        return [_about(look, "▤", "#", name or "a resource", [media_type, size_words(len(blob))])]
    lines = counted(len(text.splitlines()), "line")
    found = [_about(look, "▤", "#", name or "a text", [media_type, lines])]
    if unfolded:
        language = name.rpartition("/")[2]
        found += verbatim_lines(text, look, indent="  ", language=language)
    return found


def _other(block: Any, look: Look, folder: str, unfolded: bool) -> list[Strip]:
    del folder
    if isinstance(block, UnknownVariant):
        found = [unknown_line(block, look, "content unknown to this client")]
        return [*found, *json_lines(block.raw, look, indent="  ")] if unfolded else found
    said = f"{look.mark('◦', 'o')} {one_line(repr(block), 200)}"
    return [strip_of(*shortened([(said, look.palette.dim)], look.width))]


def _about(
    look: Look, sign: str, plain: str, name: str, facts: list[str], *, is_link: bool = False
) -> Strip:
    palette = look.palette
    runs: list[Run] = [
        (f"{look.mark(sign, plain)} ", palette.accent),
        (one_line(name), palette.link if is_link else palette.strong),
    ]
    runs += [(f"  {one_line(fact, 200)}", palette.dim) for fact in facts if fact]
    return strip_of(*shortened(runs, look.width))


_SHOWN: dict[str, _Show] = {
    "TextContent": _text,
    "TextOutput": _text,
    "ImageContent": _image,
    "AudioContent": _audio,
    "ResourceLink": _link,
    "EmbeddedResource": _resource,
}


def unknown_line(variant: UnknownVariant, look: Look, what: str, indent: str = "") -> Strip:
    """Render one line with the name of the variant and its first words, if any."""
    palette = look.palette
    tag = one_line(variant.tag, 40) or "something"
    runs: list[Run] = [
        (f"{indent}{look.mark('◦', 'o')} ", palette.dim),
        (tag, palette.strong),
        (f"  {what}", palette.dim),
    ]
    members = fields_of(variant)
    said = next((members[key] for key in _WORDS if members.get(key)), "")
    runs.append(
        (f"  {one_line(said)}" if said else f"  {size_words(len(variant.raw))}", palette.dim)
    )
    return strip_of(*shortened(runs, look.width))

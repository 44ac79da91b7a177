"""Prompts of the 2026-02 draft as blocks of v2: content, attachments, and what an agent takes.

The draft has no capability per kind of block, so its clients cannot know what an agent takes.
What this one does not take is therefore handed over as a link or as text instead of refused.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from accord.errors import RequestError
from accord.schema import draft, v2
from accord.schema.struct import UNSET, UnknownVariant


def blocks_of(
    content: Sequence[draft.ContentBlock],
    attachments: Sequence[draft.Attachment],
    cwd: str,
    takes: Collection[str],
) -> list[v2.ContentBlock]:
    """The blocks of a prompt, its attachments behind them.

    Raises:
        RequestError: a kind of block that the draft does not know.
    """
    blocks: list[v2.ContentBlock] = []
    for index, block in enumerate(content):
        if isinstance(block, UnknownVariant):
            raise RequestError.invalid_params(
                f"unknown kind of content {block.tag!r}", f"$.content[{index}].type"
            )
        blocks.append(_block(block, takes))
    blocks += [_attached(one, cwd, takes) for one in attachments]
    return blocks


def _block(block: Any, takes: Collection[str]) -> v2.ContentBlock:
    if isinstance(block, draft.TextContent):
        return v2.TextContent(text=block.text, meta=block.meta)
    if isinstance(block, draft.ImageContent):
        return _media(v2.ImageContent, "image", block, takes)
    if isinstance(block, draft.AudioContent):
        return _media(v2.AudioContent, "audio", block, takes)
    if isinstance(block, draft.ResourceLink):
        title = block.title if isinstance(block.title, str) else None
        return v2.ResourceLink(
            uri=block.uri,
            name=title or _last_part(block.uri),
            title=title or UNSET,
            mime_type=block.mime_type,
            meta=block.meta,
        )
    return _embedded(block.uri, block.content, block.mime_type, takes)


def _media(wanted: Any, kind: str, block: Any, takes: Collection[str]) -> v2.ContentBlock:
    source = block.source
    if isinstance(source.data, bytes) and kind in takes:
        made: v2.ContentBlock = wanted(
            data=source.data, mime_type=source.media_type, meta=block.meta
        )
        return made
    uri = source.url
    if not isinstance(uri, str):
        uri = f"data:{source.media_type};base64,{b64encode(source.data).decode()}"
    name = kind if uri.startswith("data:") else _last_part(uri)
    return v2.ResourceLink(uri=uri, name=name, mime_type=source.media_type, meta=block.meta)


def _embedded(uri: str, text: str, mime_type: Any, takes: Collection[str]) -> v2.ContentBlock:
    if "resource" in takes:
        held = v2.EmbeddedResourceResource(uri=uri, text=text, mime_type=mime_type)
        return v2.EmbeddedResource(resource=held)
    return v2.TextContent(text=f"{uri}:\n{text}")


def _attached(one: draft.Attachment, cwd: str, takes: Collection[str]) -> v2.ContentBlock:
    uri = one.uri if isinstance(one.uri, str) else _file_uri(str(one.path), cwd)
    if isinstance(one.content, str):
        return _embedded(uri, one.content, one.mime_type, takes)
    name = one.name if isinstance(one.name, str) and one.name else _last_part(uri)
    return v2.ResourceLink(uri=uri, name=name, mime_type=one.mime_type, meta=one.meta)


def _file_uri(path: str, cwd: str) -> str:
    """Relative paths are those of the working folder."""
    return f"file://{quote(os.path.normpath(os.path.join(cwd, path)))}"


def _last_part(uri: str) -> str:
    try:
        path = unquote(urlsplit(uri).path)
    except ValueError:
        path = uri
    return PurePosixPath(path).name or uri


__all__ = ["blocks_of"]

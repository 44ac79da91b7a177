"""Converts a prompt to the model library's types: text, attached files, images, audio.

What always holds
    * Content that the model does not accept is replaced by a note.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, cast
from urllib.parse import unquote, urlsplit

from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)

from accord.builtin.models.accepted_content import takes_media
from accord.builtin.models.providers import ModelChoice
from accord.builtin.tools.tool_call import capped
from accord.schema import v2

EMBEDDED_CHARACTERS_MAX: Final = 200_000
BLOB_BYTES_MAX: Final = 20 << 20


def user_content(prompt: Sequence[v2.ContentBlock], choice: ModelChoice) -> list[UserContent]:
    """Convert all blocks, in order; adjacent texts are joined."""
    parts: list[UserContent] = []
    for block in prompt:
        part = _part(block, choice)
        if isinstance(part, str) and parts and isinstance(parts[-1], str):
            parts[-1] = f"{parts[-1]}\n\n{part}"
        elif part:
            parts.append(part)
    return parts or [""]


def _part(block: v2.ContentBlock, choice: ModelChoice) -> UserContent:
    match block:
        case v2.TextContent():
            return block.text
        case v2.ImageContent() | v2.AudioContent():
            return data_content(block.data, block.mime_type, choice, "attachment")
        case v2.ResourceLink():
            title = block.title if isinstance(block.title, str) else block.name
            return f"[The user refers to “{title}”: {_place(block.uri)}]"
        case v2.EmbeddedResource(resource=resource):
            if isinstance(resource.text, str):
                text = capped(resource.text, EMBEDDED_CHARACTERS_MAX)
                return f'<file path="{_place(resource.uri)}">\n{text}\n</file>'
            data = resource.blob if isinstance(resource.blob, bytes) else b""
            kind = resource.mime_type if isinstance(resource.mime_type, str) else ""
            return data_content(data, kind, choice, _place(resource.uri))
        case _:
            return "[The prompt has content of a type that cannot be shown to you]"


def data_content(data: bytes, media_type: str, choice: ModelChoice, name: str) -> UserContent:
    """Data for the model, or a note in its place."""
    if media_type and takes_media(choice, media_type) and len(data) <= BLOB_BYTES_MAX:
        return BinaryContent(data=data, media_type=media_type)
    about = f"{media_type or 'unknown type'}, {len(data):,} bytes"
    return f"[“{name}” ({about}) cannot be shown to you: this model does not take it]"


def readable(messages: Sequence[ModelMessage], choice: ModelChoice) -> list[ModelMessage]:
    """The messages without data that this model does not accept."""
    return [
        replace(message, parts=[_readable(part, choice) for part in message.parts])
        if isinstance(message, ModelRequest)
        else message
        for message in messages
    ]


def _readable(part: ModelRequestPart, choice: ModelChoice) -> ModelRequestPart:
    if isinstance(part, UserPromptPart | ToolReturnPart) and isinstance(part.content, list):
        pieces = [
            data_content(piece.data, piece.media_type, choice, "attachment")
            if isinstance(piece, BinaryContent)
            else piece
            for piece in part.content
        ]
        return cast("ModelRequestPart", replace(cast("Any", part), content=pieces))
    return part


def _place(uri: str) -> str:
    """A file's path, or the address of anything else."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        # Such as an address with half a bracket.
        return uri
    return unquote(parts.path) if parts.scheme == "file" else uri

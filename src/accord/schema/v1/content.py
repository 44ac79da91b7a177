"""Content blocks: what prompts, messages and tool results are made of.

The shapes are those of MCP, so that tool output can be passed through unchanged.
Must not know: which blocks a prompt may hold; that is a capability.
"""

from typing import TYPE_CHECKING, Literal, TypeAlias

from accord.schema.struct import (
    ES,
    UNSET,
    E,
    Int64,
    Omit,
    Patch,
    UnknownVariant,
    WireStruct,
)

Role: TypeAlias = Literal["assistant", "user"] | str


class Annotations(WireStruct, frozen=True, kw_only=True):
    """Hints on who a block is for and how much it matters."""

    audience: ES[Patch[list[Role]]] = UNSET
    last_modified: E[Patch[str]] = UNSET
    priority: E[Patch[float]] = UNSET


class TextContent(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """Plain or Markdown text."""

    annotations: E[Patch[Annotations]] = UNSET
    text: str


class ImageContent(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="image"):
    """An image, its bytes inline."""

    annotations: E[Patch[Annotations]] = UNSET
    data: bytes
    mime_type: str
    uri: E[Patch[str]] = UNSET


class AudioContent(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="audio"):
    """A sound, its bytes inline."""

    annotations: E[Patch[Annotations]] = UNSET
    data: bytes
    mime_type: str


class ResourceLink(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="resource_link"):
    """A pointer to something the agent can fetch itself."""

    annotations: E[Patch[Annotations]] = UNSET
    description: E[Patch[str]] = UNSET
    mime_type: E[Patch[str]] = UNSET
    name: str
    size: E[Patch[Int64]] = UNSET
    title: E[Patch[str]] = UNSET
    uri: str


class EmbeddedResourceResource(WireStruct, frozen=True, kw_only=True):
    """The contents of a resource: `text` or `blob`, told apart by which key is there."""

    mime_type: E[Patch[str]] = UNSET
    text: Omit[str] = UNSET
    blob: Omit[bytes] = UNSET
    uri: str

    def __post_init__(self) -> None:
        if self.text is UNSET and self.blob is UNSET:
            raise ValueError("an embedded resource needs `text` or `blob`")


class EmbeddedResource(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="resource"):
    """A resource with its contents inline."""

    annotations: E[Patch[Annotations]] = UNSET
    resource: EmbeddedResourceResource


if TYPE_CHECKING:
    ContentBlock: TypeAlias = (
        TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource | UnknownVariant
    )
else:
    ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
